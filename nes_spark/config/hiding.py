"""Whom a release hides from: what a configuration can do, or leave, and what each step costs.

Names are the first thing that tells whose a text is, not the last: who knows the words of a trade,
or remembers the texts, needs none. Three readers, each of whom knows more than the one before:

``names``
    knows names: they are exchanged, dates shifted.
``words``
    knows a few words of each candidate as well: figures, terms and the most telling tenth of the
    words go too, and passages are short.
``memory``
    remembers the texts, as a large language model does: passages are released by themselves,
    without the three tenths of their words that tell most.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from nes_spark.config.loading import build_config
from nes_spark.config.sections import Config
from nes_spark.errors import ConfigError

#: Whom a release is to hide from, each of whom knows more than the one before.
READERS = ("names", "words", "memory")
#: Whom a release hides from where nobody says: names alone leave most texts of a known source open.
USUAL = "words"
#: Share of the words to leave out (``entities.telling``) against a reader.
TELLING = {"names": 0.0, "words": 0.1, "memory": 0.3}
#: Words of a short passage.
PASSAGE = 50
#: What is no name, and tells whose a text is all the same.
FURTHER = ("Quantity", "Term")


@dataclass(frozen=True)
class Step:
    """Settings that hide more than a configuration does, or leave more of what the texts mean.

    Attributes
    ----------
    settings : dict
        Dotted key -> value.
    what : str
        What goes or stays then, and what that costs, in a few words.
    """

    settings: Mapping[str, Any]
    what: str

    @property
    def options(self) -> str:
        """The settings as options of ``nes-spark run``.

        Examples
        --------
        >>> print(Step({"entities.telling": 0.1, "releases.further": ["Term"]}, "").options)
        --set entities.telling=0.1 --set 'releases.further=[Term]'
        """
        return " ".join(
            f"--set {shlex.quote(f'{key}={_told(value)}')}" for key, value in self.settings.items()
        )


def _told(value: Any) -> str:
    """A value as it is written behind ``--set``."""
    if isinstance(value, list):
        return f"[{','.join(map(_told, value))}]"
    return value if isinstance(value, str) else json.dumps(value)


def further_steps(config: Config) -> list[Step]:
    """Return what a configuration can still do to hide more, the step that costs least first.

    Parameters
    ----------
    config : Config
        As it is.

    Returns
    -------
    list of Step
        Each makes a valid configuration by itself; empty where all is done.
    """
    return [step for step in _steps(config) if _is_valid(config, step)]


def milder_steps(config: Config) -> list[Step]:
    """Return what a configuration can leave as it is, the step that gives up least first.

    Parameters
    ----------
    config : Config
        As it is.

    Returns
    -------
    list of Step
        Each makes a valid configuration by itself; empty where names alone change.
    """
    return [step for step in _milder(config) if _is_valid(config, step)]


def _milder(config: Config) -> Iterator[Step]:
    telling = config.entities.telling
    if telling > TELLING["words"]:
        yield Step(
            {"entities.telling": TELLING["words"]},
            "a tenth of the words goes and no more: who remembers the texts finds more",
        )
    elif telling > 0:
        yield Step(
            {"entities.telling": 0},
            "words that tell stay, but for terms: who knows words of a source finds more",
        )
    if config.releases.further:
        what = " and ".join(
            {"Quantity": "figures", "Term": "terms"}.get(c, c) for c in config.releases.further
        )
        yield Step({"releases.further": []}, f"{what} stay: who knows them finds more")


def _steps(config: Config) -> Iterator[Step]:
    releases, entities = config.releases, config.entities
    if releases.plan != "whole":
        yield Step({"releases.plan": "whole"}, "all names, until nothing can be exchanged")
        return  # what follows is for that plan
    missing = [c for c in FURTHER if c not in releases.further]
    if missing:
        categories = [*entities.categories, *(c for c in missing if c not in entities.categories)]
        yield Step(
            {"entities.categories": categories, "releases.further": list(FURTHER)},
            "figures, and the words that set a text apart",
        )
    if entities.telling < TELLING["words"]:
        yield Step(
            {"entities.telling": TELLING["words"]},
            "a tenth of the words, those that tell most: who knows words of a source finds less",
        )
    elif entities.telling < TELLING["memory"]:
        yield Step(
            {"entities.telling": TELLING["memory"]},
            "three tenths of the words: who remembers the texts finds less; little is left to read",
        )
    apart: dict[str, Any] = {}
    if config.chunking.max_words is None or config.chunking.max_words > PASSAGE:
        apart["chunking.max_words"] = PASSAGE
    if config.output.publish != "chunks":
        apart["output.publish"] = "chunks"
    if apart:
        yield Step(
            apart, "short passages, each by itself: the less one holds, the less tells whose it is"
        )


def _is_valid(config: Config, step: Step) -> bool:
    content = config.model_dump()
    for dotted, value in step.settings.items():
        *sections, key = dotted.split(".")
        inner = content
        for section in sections:
            inner = inner[section]
        inner[key] = value
    try:
        build_config(content)
    except ConfigError:
        return False
    return True
