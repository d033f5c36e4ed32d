"""What a language model answered, and whether it is right.

An answer is one of: ``answered`` (a ticker, name or label and nothing else), ``verbose`` (it is
wrapped in words; counted as the one label that it names, or as none), ``refused``, ``empty``,
``malformed`` (something else than what was asked for). Only the first two can be right.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from cleanco import basename

from nes_spark.errors import ConfigError

_QUOTES = "\"'`“”‘’«»*_ \t\r\n"
_TICKER = re.compile(
    r"\$?(?:(?P<exchange>[A-Za-z]{2,10})\s*:\s*)?(?P<symbol>[A-Za-z0-9]{1,6}(?:[.\-][A-Za-z0-9]{1,4})?)"
)
_SYMBOL_IN_TEXT = re.compile(r"(?<![\w.])[A-Z0-9]{2,6}(?:[.\-][A-Z0-9]{1,4})?(?![\w])")
_MARKED_SYMBOL = re.compile(r"(?:\$|\(|:\s*|\*\*)([A-Z])(?![\w])")
_PLAIN_WORD = re.compile(r"[^\W_]+")
_REFUSAL = re.compile(
    r"(?:i['’]?m |i am )?(?:very |really |so )?(?:sorry|unable|afraid)\b"
    r"|i (?:can(?:no|['’])?t|cannot|do not|don['’]t|won['’]t|will not)\b"
    r"|(?:can(?:no|['’])?t|cannot|could not|not possible to|impossible to|unable to)\b"
    r"|(?:there is )?(?:not enough|insufficient|no) (?:information|context|data)\b"
    r"|as an ai\b|unknown\b|undetermined\b|unidentifiable\b|none\b|n/?a\b"
    r"|not (?:known|sure|available)\b",
    re.IGNORECASE,
)


_QUARTERS = {"1": 1, "2": 2, "3": 3, "4": 4, "first": 1, "second": 2, "third": 3, "fourth": 4}
_YEAR = r"(?:fiscal |fy ?|of |in |year |')*(?P<year>(?:19|20)?\d\d)\b"
_PERIODS = tuple(
    re.compile(pattern)
    for pattern in (
        r"\b(?P<year>(?:19|20)\d\d)[ \-/]?q(?P<quarter>[1-4])\b",
        rf"\bq(?P<quarter>[1-4])[ \-/]?{_YEAR}",
        rf"\b(?P<quarter>[1-4])q[ \-/]?{_YEAR}",
        rf"\b(?P<quarter>first|second|third|fourth) quarter,? {_YEAR}",
    )
)


@dataclass(frozen=True)
class Parsed:
    """An answer after parsing.

    Attributes
    ----------
    answer : str or None
        The metadata it stands for; the answer itself where it is nobody we know; None for none.
    outcome : str
        answered, verbose, refused, empty or malformed.
    """

    answer: str | None
    outcome: str


def normalise(text: str) -> str:
    """Fold case, width, quotes, commas and white space, so that spellings can be compared."""
    folded = unicodedata.normalize("NFKC", text).casefold().replace("’", "'").replace(",", " ")
    return " ".join(folded.split()).strip(_QUOTES + ".,;:!?$()[]")


def spellings(labels: Mapping[str, Iterable[str]], strip_legal_form: bool = True) -> dict[str, str]:
    """Return which metadata each accepted spelling stands for.

    Parameters
    ----------
    labels : mapping of str to iterable of str
        Metadata to accepted spellings: tickers, names. The metadata itself is one of them.
    strip_legal_form : bool
        Accept names without ``Inc.``, ``AG`` and the like, where that leaves no doubt.

    Returns
    -------
    dict of str to str
        Normalised spelling to metadata.

    Raises
    ------
    ConfigError
        When a spelling stands for two.
    """
    found: dict[str, str] = {}
    doubtful = set()
    for metadata in sorted(labels):
        for spelling in (metadata, *labels[metadata]):
            key = normalise(spelling)
            if key and found.setdefault(key, metadata) != metadata:
                doubtful.add(key)
    if doubtful:
        raise ConfigError(
            f"audit.labels: {len(doubtful)} spellings stand for more than one document's metadata, "
            f"for example {sorted(doubtful)[0]!r}; give each spelling to one of them"
        )
    if strip_legal_form:
        short: dict[str, set[str]] = {}
        for key, metadata in found.items():
            bare = normalise(basename(key))
            if len(bare) > 2 and bare not in found:
                short.setdefault(bare, set()).add(metadata)
        found |= {key: owners.pop() for key, owners in short.items() if len(owners) == 1}
    return found


def periods_in(text: str) -> list[str]:
    """Return the quarters that a text names, each once, as ``2020Q3``.

    Examples
    --------
    >>> periods_in("I would say Q3 2020, or the second quarter of 2020.")
    ['2020Q3', '2020Q2']
    """
    folded = normalise(text)
    found = []
    for pattern in _PERIODS:
        for match in pattern.finditer(folded):
            year = int(match["year"])
            year += 2000 if year < 100 else 0
            found.append(f"{year}Q{_QUARTERS[match['quarter']]}")
    return list(dict.fromkeys(found))


def parse_answer(
    content: str | None,
    kind: str,
    accepted: Mapping[str, str],
    finish_reason: str | None = None,
    refusal: str | None = None,
) -> Parsed:
    """Parse what a language model answered.

    Parameters
    ----------
    content : str or None
        The message.
    kind : str
        What was asked for: ``ticker``, ``name``, ``label`` or ``period``.
    accepted : mapping of str to str
        :func:`spellings`.
    finish_reason : str or None
        As the endpoint reports it; ``content_filter`` is a refusal.
    refusal : str or None
        The endpoint's own field for refusals.

    Returns
    -------
    Parsed

    Examples
    --------
    >>> parse_answer("**SNPS**", "ticker", {"snps": "Synopsys"})
    Parsed(answer='Synopsys', outcome='answered')
    >>> parse_answer("My guess is SNPS.", "ticker", {"snps": "Synopsys"})
    Parsed(answer='Synopsys', outcome='verbose')
    """
    if refusal or finish_reason == "content_filter":
        return Parsed(None, "refused")
    text = (content or "").strip()
    bare = text.strip(_QUOTES + ".,;:!?")
    if not bare:
        return Parsed(None, "empty" if not text.strip(_QUOTES) else "malformed")
    known = accepted.get(normalise(text))
    if known is not None:
        return Parsed(known, "answered")
    if kind == "period" and (told := periods_in(text)):
        words = len(bare.split())
        if len(told) > 1:
            return Parsed(None, "verbose")
        return Parsed(
            accepted.get(normalise(told[0]), told[0]), "answered" if words <= 5 else "verbose"
        )
    symbol = _TICKER.fullmatch(bare.strip("()[]"))
    refused = _REFUSAL.match(bare) is not None
    if kind == "ticker" and symbol is not None and not refused:
        known = accepted.get(normalise(symbol["symbol"]))
        if known is not None:
            return Parsed(known, "answered")
        if bare == bare.upper():
            return Parsed(symbol["symbol"], "answered")
        return Parsed(None, "malformed")
    named = _labels_in(text, kind, accepted)
    if len(named) == 1:
        return Parsed(named.pop(), "verbose")
    if refused:
        return Parsed(None, "refused")
    words = len(bare.split())
    if kind == "name" and words <= 8 and "\n" not in bare and not named:
        return Parsed(bare, "answered")
    if words > 1:
        # A short answer that is not on the list is malformed; a long one avoids the question.
        return Parsed(
            None, "malformed" if kind in ("label", "period") and words <= 4 else "verbose"
        )
    return Parsed(None, "malformed")


def _plain(text: str) -> str:
    return " ".join(_PLAIN_WORD.findall(text))


def _labels_in(text: str, kind: str, accepted: Mapping[str, str]) -> set[str]:
    """Return the metadata that a longer answer names."""
    found = set()
    if kind == "ticker":
        symbols = _SYMBOL_IN_TEXT.findall(text) + _MARKED_SYMBOL.findall(text)
        found = {accepted[key] for key in map(normalise, symbols) if key in accepted}
        if found:
            return found
    padded = f" {_plain(normalise(text))} "
    for spelling, metadata in accepted.items():
        plain = _plain(spelling)
        # Short spellings are tickers, and words of the language too ("IT", "ON").
        if len(plain) > 4 and f" {plain} " in padded:
            found.add(metadata)
    return found
