"""A language model behind any OpenAI-compatible address as a recogniser, by spacy-llm.

Needs the extra ``spacy-llm``. spacy-llm's own client asks the maker's server whether a model
exists, whatever the address; this one talks to the configured address only, with the ``openai``
package's retries, and never lets an unusable answer pass for "no entities".
"""

from __future__ import annotations

import os
import typing
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from nes_spark.errors import ConfigError, InfrastructureError

Prompts = Iterable[Iterable[str]]


def assemble(path: str | Path) -> Any:
    """Build a pipeline from a spaCy configuration file that names spacy-llm components.

    Raises
    ------
    ConfigError
        When spacy-llm is not installed, or the file is no such configuration.
    """
    try:
        from spacy_llm.registry import registry
        from spacy_llm.util import assemble as build
    except ImportError:
        raise ConfigError(
            f"entities.recognizer: {path} needs spacy-llm; install it with "
            "`pip install nes_spark[spacy-llm]`"
        ) from None
    registry.llm_models.register("nes_spark.Chat.v1", func=chat_model)
    try:
        return build(path)
    except (ValueError, KeyError, OSError) as error:
        lines = str(error).strip().splitlines()
        reason = lines[0] if lines else type(error).__name__
        raise ConfigError(
            f"entities.recognizer: {path} is no usable pipeline configuration: {reason}"
        ) from None


def chat_model(
    name: str,
    base_url: str,
    api_key_env: str = "OPENAI_API_KEY",
    temperature: float = 0.0,
    max_tokens: int = 1000,
    timeout: float = 60.0,
    max_retries: int = 5,
    concurrency: int = 8,
) -> Callable[[Prompts], Iterable[Iterable[str]]]:
    """Return what spacy-llm calls a model: prompts in, answers out.

    Parameters
    ----------
    name : str
        The model's name at the server.
    base_url : str
        Address of an OpenAI-compatible server, with its ``/v1``.
    api_key_env : str
        Environment variable that holds the key; a server without keys needs none.
    temperature, max_tokens
        As in the protocol; 0 for answers that vary least.
    timeout : float
        Seconds per request.
    max_retries : int
        Retries after 408, 409, 429, 5xx and broken connections, with growing pauses.
    concurrency : int
        Requests under way at a time.
    """
    from openai import OpenAI, OpenAIError

    client = OpenAI(
        base_url=base_url,
        api_key=os.environ.get(api_key_env) or "none",
        timeout=timeout,
        max_retries=max_retries,
    )

    def ask(prompt: str) -> str:
        try:
            answer = client.chat.completions.create(
                model=name,
                messages=[{"role": "user", "content": prompt}],
                temperature=temperature,
                max_tokens=max_tokens,
            )
        except OpenAIError as error:
            raise InfrastructureError(
                f"the model {name!r} at {base_url} gave no answer: {type(error).__name__}"
            ) from None
        choices = answer.choices or []
        if not choices or choices[0].finish_reason == "length" or not choices[0].message.content:
            raise InfrastructureError(
                f"the model {name!r} at {base_url} gave an empty or cut answer; "
                "raise max_tokens or take another model"
            )
        return choices[0].message.content

    def call(prompts: Prompts) -> Iterable[Iterable[str]]:
        groups = [list(group) for group in prompts]
        with ThreadPoolExecutor(max_workers=concurrency) as pool:
            answers = iter(list(pool.map(ask, [p for group in groups for p in group])))
        return [[next(answers) for _ in group] for group in groups]

    # spacy-llm compares the annotations with those of the typing module, by name
    nested = typing.Iterable[typing.Iterable[str]]
    call.__annotations__ = {"prompts": nested, "return": nested}
    return call
