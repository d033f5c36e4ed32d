"""Placeholders: the numbers in them, and their place in the text."""

from __future__ import annotations

from collections.abc import Sequence

from nes_spark.text.forms import name_words, squeeze
from nes_spark.text.matching import Identifier, Match, Matcher, is_in_small_letters
from nes_spark.text.spots import back_from


def number_matches(matches: Sequence[Match]) -> list[Match]:
    """Replace ``#`` in placeholders by numbers in order of first appearance.

    Different texts (addresses, phone numbers) or identifiers that share a placeholder share one
    count.
    """
    counts: dict[str, dict[str, int]] = {}
    numbered = []
    for match in matches:
        if "#" in match.placeholder:
            seen = counts.setdefault(match.placeholder, {})
            number = seen.setdefault(squeeze(match.value), len(seen) + 1)
            match = match._replace(placeholder=match.placeholder.replace("#", str(number)))
        numbered.append(match)
    return numbered


def replace_matches(text: str, matches: Sequence[Match]) -> str:
    """Return `text` with each match replaced by its placeholder."""
    parts, end = [], 0
    for match in matches:
        parts += [text[end : match.start], match.placeholder]
        end = match.end
    return "".join([*parts, text[end:]])


def find_all(text: str, matcher: Matcher, found: Sequence[Match] | None = None) -> list[Match]:
    """Return all that stands for an identifier, also what does so beside placeholders alone.

    In "Ann, B&B" the capitals may be a part of somebody's name; in "[Executive 1], B&B" they are
    none, and whoever reads the text sees it so. Texts are looked at again with what was found
    replaced, until nothing more is. In speech without capitals parts of names need none.

    Parameters
    ----------
    text : str
        Any text.
    matcher : Matcher
        The identifiers of its document.
    found : sequence of Match, optional
        What :meth:`~nes_spark.text.matching.Matcher.find` finds, where that is known.

    Returns
    -------
    list of Match
        In order, without overlaps, placeholders not yet numbered.
    """
    small = is_in_small_letters(text)
    matches = list(matcher.find(text, small) if found is None else found)
    matches = sorted([*matches, *matcher.begun(text, matches)])
    while matches:
        shown = number_matches(matches)
        back = back_from((match.start, match.end, len(match.placeholder)) for match in shown)
        more = []
        for match in matcher.find(replace_matches(text, shown), small):
            start, stop = back(match.start, match.end)
            more.append(match._replace(start=start, end=stop))
        if not more:
            break
        matches = sorted([*matches, *more])
    return matches


def number_identifiers(text: str, plain: list[Identifier], matcher: Matcher) -> list[Identifier]:
    """Number the placeholders of identifiers by first appearance in `text`, absent ones last.

    `matcher` is that of the same identifiers.
    """
    matches = matcher.find(text)
    order = {(m.kind, m.value): n for n, m in reversed(list(enumerate(matches)))}
    ranked = sorted(range(len(plain)), key=lambda n: (order.get(_key(plain[n]), len(text)), n))
    numbers: dict[str, dict[str, int]] = {}
    labels: dict[int, str] = {}
    for n in ranked:
        item = plain[n]
        if "#" in item.placeholder:
            seen = numbers.setdefault(item.placeholder, {})
            number = seen.setdefault(_person_key(item.value), len(seen) + 1)
            labels[n] = item.placeholder.replace("#", str(number))
    return [
        Identifier(item.kind, item.value, labels.get(n, item.placeholder))
        for n, item in enumerate(plain)
    ]


def _key(item: Identifier) -> tuple[str, str]:
    return item.kind, item.value


def _person_key(value: str) -> str:
    """One person under two labels ("Ms. Ann Roe", "Ann Roe") has one number."""
    return squeeze(" ".join(name_words(value))) or squeeze(value)
