"""Which summaries of a chunk may be published in its place."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Sequence

from nes_spark.entities.barred import CLUE
from nes_spark.entities.clues import clue_mentions, words_of
from nes_spark.entities.distinctive import FUNCTION_WORDS
from nes_spark.entities.mentions import PLACEHOLDER as BRACKETS
from nes_spark.entities.mentions import Mention
from nes_spark.entities.terms import TERM
from nes_spark.swapping.forms import entity_of
from nes_spark.swapping.parts import NO_NAMES
from nes_spark.swapping.short_forms import given_away
from nes_spark.text.normalizing import latin_looks

#: What may come in the place of a chunk that is listed, from what hides least to what hides most; a
#: brief one is a summary of the summary. Column ``instead`` of a list is empty or one of the last.
A_SUMMARY, BRIEF, NOTHING = "summary", "brief", "nothing"
#: What stands in the place of a term.
PLACEHOLDER = f"[{TERM}]"
#: Categories without names, words that told somebody among them.
NAMELESS = (*NO_NAMES, CLUE)
#: What parts the words of a form: a space or hyphen in one text may be the other in the next.
_GAP = r"[\s\-\u2010-\u2015]+"
_QUOTE = "['\u2019\u02bc]"
_POSSESSIVE = re.compile(rf"{_QUOTE}s?(?!\w)")


def is_name(mention: Mention) -> bool:
    """Return whether a mention is of a name: dates, quantities, terms and clues are none."""
    return mention.category not in NAMELESS


def names_held(
    text: str, mentions: Iterable[Mention], summary: str, others: Collection[str] = ()
) -> list[str]:
    """Return the names of a chunk, and of its document, that its summary still holds.

    Parameters
    ----------
    text : str
        The chunk.
    mentions : iterable of Mention
        Its mentions, of every category. Only names count (:func:`is_name`).
    summary : str
        Square brackets in it hide nothing.
    others : collection of str
        Names as other chunks of the document have them, which a model may remember. They count
        with their capitals alone, as a name may be a word of everybody's ("Vision").

    Returns
    -------
    list of str
        Forms, and distinctive words of names of the chunk; sorted. Case, marks on letters, hyphens
        and quotes do not count, but that "us" is not the US.

    Examples
    --------
    >>> mentions = [Mention(0, 13, "Organization", "Orion Widgets")]
    >>> names_held("Orion Widgets grew.", mentions, "Sales at Orion rose.")
    ['Orion']
    >>> names_held("Orion Widgets grew.", mentions, "Sales rose.", ["Vega"])
    []
    """
    names = [m for m in mentions if is_name(m)]
    bare = re.sub(r"[\[\]]", " ", summary)
    plain = _plain(bare)
    found = {m.surface for m in names if _stands(m.surface, plain)}
    found |= {name for name in others if name in bare and _stands(name, plain, exactly=True)}
    gone = {(m.category, entity_of(m)): "" for m in names}
    return sorted(found | set(given_away(text, names, gone, bare)))


def without_terms(mentions: Iterable[Mention], summary: str, shown: str = "") -> str:
    """Return a summary with ``[Term]`` wherever a term or a clue of its chunk stands in it.

    Parameters
    ----------
    mentions : iterable of Mention
        Of the chunk.
    summary : str
    shown : str, optional
        What the model read: placeholders that stand there are none of its own.

    Examples
    --------
    >>> without_terms([Mention(0, 5, "Term", "Tires", "tire")], "We sold more tires and oil.")
    'We sold more [Term] and oil.'
    """
    # only placeholders that were shown are any: nothing is looked for inside them
    kept = {PLACEHOLDER, *BRACKETS.findall(shown)}
    summary = BRACKETS.sub(lambda found: found[0] if found[0] in kept else found[0][1:-1], summary)
    words = [words_of(m.surface) for m in mentions if m.category in (TERM, CLUE)]
    out, at = [], 0
    for found in clue_mentions(summary, words):
        out += [summary[at : found.start], PLACEHOLDER]
        ending = _POSSESSIVE.match(summary, found.end)
        at = ending.end() if ending else found.end
    return "".join([*out, summary[at:]])


def _spelt(form: str) -> str:
    """Match a form, however its words are parted and its quotes written."""
    words = (word for word in re.split(_GAP, form) if word)
    return _GAP.join(re.sub(_QUOTE, lambda _: _QUOTE, re.escape(word)) for word in words)


def _plain(text: str) -> str:
    """Return a text without marks on its letters."""
    apart = unicodedata.normalize("NFKD", latin_looks(text))
    return "".join(letter for letter in apart if not unicodedata.combining(letter))


def _stands(name: str, plain: str, exactly: bool = False) -> bool:
    """Return whether a name stands in a text without marks, in the plural or possessive too."""
    if not re.search(r"[^\W_]", name):
        return False
    pattern = rf"(?<![^\W_]){_spelt(_plain(name))}(?:e?s|{_QUOTE}s)?(?![^\W_])"
    flags = 0 if exactly else re.IGNORECASE
    for hit in re.finditer(pattern, plain, flags):
        word = hit.group()
        # "us" and "it" of everybody are not the US and IT
        if not (word != name and name.isupper() and word.lower() in FUNCTION_WORDS):
            return True
    return False


def accepted(
    text: str,
    mentions: Sequence[Mention],
    summary: str | None,
    shown: str | None = None,
    others: Collection[str] = (),
) -> str | None:
    """Return a summary as it is to be published, None where it must not be.

    Parameters
    ----------
    text : str
        The chunk.
    mentions : sequence of Mention
        Its mentions.
    summary : str or None
        What a language model gave.
    shown : str, optional
        What it was shown, where that is not the chunk.
    others : collection of str
        As for :func:`names_held`.

    Returns
    -------
    str or None
        Without the terms of the chunk (:func:`without_terms`). None for nothing, for a text that is
        longer than the chunk or what was shown, and for one that holds a name (:func:`names_held`).
    """
    told = " ".join((summary or "").split())
    read = text if shown is None else shown
    longest = min(len(text), len(read))
    if not told or len(told) > longest or names_held(text, mentions, told, others):
        return None
    return without_terms(mentions, told, read)
