"""Regular expressions that users write: compiled once, and given up when they search too long.

A pattern such as ``(a+)+$`` may try more ways than there are atoms before it says no. Python's own
``re`` cannot be interrupted; the package ``regex`` takes a time limit.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import regex

from nes_spark.errors import ConfigError

#: Seconds that one pattern may search one text: a text of two million characters takes a tenth.
LIMIT = 5.0
#: The same for a trial of a thousand characters.
TRIAL = 0.5


class Pattern:
    """A user's regular expression with a time limit for each text.

    Parameters
    ----------
    text : str
        The expression; syntax and meaning of Python's ``re``.
    where : str
        The configuration key it comes from, for messages.
    limit : float
        Seconds that a search may take.

    Raises
    ------
    ConfigError
        When it is not a regular expression.
    """

    def __init__(self, text: str, where: str, limit: float = LIMIT) -> None:
        self.text = text
        self.where = where
        self.limit = limit
        self._compiled = _compiled(text, where)

    def __reduce__(self) -> tuple[Any, ...]:
        return Pattern, (self.text, self.where, self.limit)

    def fullmatch(self, text: str) -> bool:
        """Whether the expression matches the whole text."""
        try:
            return self._compiled.fullmatch(text, timeout=self.limit) is not None
        except TimeoutError:
            raise self._slow() from None

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        """Yield start and end of every match that is not empty, from left to right.

        Raises
        ------
        ConfigError
            When all searches of the text together take longer than the limit.
        """
        try:
            for found in self._compiled.finditer(text, timeout=self.limit):
                if found.end() > found.start():
                    yield found.span()
        except TimeoutError:
            raise self._slow() from None

    def _slow(self) -> ConfigError:
        return ConfigError(
            f"{self.where}: the pattern {self.text!r} searched one text for more than "
            f"{self.limit:g} s; write it without nested repetition such as (a+)+ or (a|a)*"
        )


def check_pattern(text: str, where: str = "pattern") -> None:
    """Refuse an expression that is none, or that takes for ever on simple repetitions.

    It is tried on a thousand times each of its own characters and some more. What passes can still
    be slow on other texts, so that searches have a time limit too.

    Raises
    ------
    ConfigError
        With the expression and what to do.
    """
    tried = Pattern(text, where, TRIAL)
    own = sorted({c for c in text if c.isprintable()})[:40]
    for character in dict.fromkeys([*own, "a", "A", "0", " ", "é"]):
        for _ in tried.spans(character * 1000 + "\n!"):
            pass


@lru_cache(maxsize=256)
def _compiled(text: str, where: str) -> Any:
    try:
        return regex.compile(text, regex.V0)
    except regex.error as error:
        raise ConfigError(f"{where}: {text!r} is not a regular expression: {error}") from None
