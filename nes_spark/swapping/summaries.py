"""Which summaries of a chunk may be published in its place."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Mapping, Sequence

from nes_spark.entities.clues import (
    CLUE,
    clue_mentions,
    read_clues,
    words_besides_talk,
    words_that_tell,
)
from nes_spark.entities.distinctive import FUNCTION_WORDS
from nes_spark.entities.mentions import PLACEHOLDER as BRACKETS
from nes_spark.entities.mentions import Mention
from nes_spark.entities.terms import TERM
from nes_spark.swapping.forms import entity_of
from nes_spark.swapping.parts import NO_NAMES
from nes_spark.swapping.short_forms import given_away
from nes_spark.text.forms import WORD, squeeze
from nes_spark.text.normalizing import latin_looks, tidied

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
#: Words that a name may be written in, and letters that tell it from chance.
_MOST_WORDS, _LEAST_LETTERS = 6, 3
#: Letters of a term that is looked for with its words in one, or parted.
_LEAST_PARTED = 6


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
    found: set[str] = set()
    # "[V]ega" reads as Vega, and "[Vega]grew" has it
    for bare in (re.sub(r"[\[\]]", put, summary) for put in (" ", "")):
        plain, runs = _plain(bare), _runs(bare)
        found |= {
            name
            for name in {m.surface for m in names}
            if _stands(name, plain) or _is_run(name, runs)
        }
        found |= {
            name
            for name in others
            if (name in bare and _stands(name, plain, exactly=True))
            or _is_run(name, runs, exactly=True)
        }
        gone = {(m.category, entity_of(m)): "" for m in names}
        found |= set(given_away(text, names, gone, bare))
    return sorted(found)


def _runs(text: str) -> dict[str, set[str]]:
    """Return letters and digits of a few words in a row -> as they are written."""
    words = [(match.start(), match.end()) for match in WORD.finditer(text)]
    found: dict[str, set[str]] = {}
    for i, (start, _) in enumerate(words):
        for _, end in words[i : i + _MOST_WORDS]:
            found.setdefault(squeeze(text[start:end]), set()).add(text[start:end])
    return found


def _is_run(name: str, runs: Mapping[str, Collection[str]], exactly: bool = False) -> bool:
    """Return whether words in a row have the letters of a name: "Wal Mart", "Walmart", "A T & T".

    Exactly: with a capital at least.
    """
    letters = squeeze(name)
    written = [w for end in ("", "s", "es") for w in runs.get(f"{letters}{end}", ())]
    if len(letters) < _LEAST_LETTERS or letters in FUNCTION_WORDS:
        # "G.M." is GM, "us" is nobody
        return name.isupper() and any(w != name and w.isupper() for w in written)
    return any(not exactly or w != w.lower() for w in written)


def unbracketed(summary: str, shown: str = "") -> str:
    """Return a summary without square brackets, but for placeholders that its writer was shown.

    Examples
    --------
    >>> unbracketed("[Executive 1] of [[Vega]] says [Term].", "[Executive 1] says so.")
    '[Executive 1] of Vega says [Term].'
    """
    kept = {PLACEHOLDER, *BRACKETS.findall(shown)}
    out, at = [], 0
    for found in BRACKETS.finditer(summary):
        out.append(re.sub(r"[\[\]]", "", summary[at : found.start()]))
        out.append(found[0] if found[0] in kept else found[0][1:-1])
        at = found.end()
    return "".join([*out, re.sub(r"[\[\]]", "", summary[at:])])


def without_terms(
    mentions: Iterable[Mention],
    summary: str,
    elsewhere: Collection[str] = (),
    every_word: bool = False,
) -> str:
    """Return a summary with ``[Term]`` wherever a term or a clue stands in it, or a piece of one.

    Parameters
    ----------
    mentions : iterable of Mention
        Of the chunk.
    summary : str
        Nothing is looked for in its placeholders (:func:`unbracketed`).
    elsewhere : collection of str
        Clues of other chunks of the same secret. Of them a single word that everybody uses, a verb
        or a number stays (:func:`~nes_spark.entities.clues.read_clue`).
    every_word : bool, default False
        Whether each word of a clue besides grammar and talk tells, whatever it is, as telling words
        do (:mod:`nes_spark.entities.telling`).

    Examples
    --------
    >>> without_terms([Mention(0, 5, "Term", "Tires", "tire")], "We sold more tires and oil.")
    'We sold more [Term] and oil.'
    >>> turbines = [Mention(0, 13, "Term", "Wind turbines", "wind turbines")]
    >>> without_terms(turbines, "We sell turbines.", ["King Air"])
    'We sell [Term].'
    >>> without_terms([], "They fired us.", ["fired kilns"], every_word=True)
    'They [Term] us.'
    """
    told = [m.surface for m in mentions if m.category in (TERM, CLUE)]
    words = {read.clue.words for read in read_clues(told, summary)}
    words |= {(word,) for clue in told for word in words_that_tell(clue)}
    words |= {read.clue.words for read in read_clues(elsewhere, summary) if read.clue.wide}
    if every_word:
        words |= {(word,) for clue in (*told, *elsewhere) for word in words_besides_talk(clue)}
    out, at = [], 0
    for found in clue_mentions(summary, words):
        out += [summary[at : found.start], PLACEHOLDER]
        ending = _POSSESSIVE.match(summary, found.end)
        at = ending.end() if ending else found.end
    shown = "".join([*out, summary[at:]])
    several = {clue for clue in elsewhere if len(clue.split()) > 1}
    for surface in sorted({*told, *several}, key=lambda s: (-len(s), s)):
        if pattern := _otherwise(surface):
            shown = _outside(pattern, shown)
    return shown


def _otherwise(surface: str) -> str:
    """Match a term with its words in one or parted, and one in capitals as it stands ("OR")."""
    letters = squeeze(surface).removesuffix("s")
    if surface.isupper() and surface.casefold() in FUNCTION_WORDS:
        return rf"(?<![^\W_]){re.escape(surface)}(?![^\W_])"
    if len(letters) < _LEAST_PARTED:
        return ""
    parted = r"[-\s]?".join(map(re.escape, letters))
    return rf"(?i:(?<![^\W_]){parted}(?:e?s)?(?![^\W_]))"


def _outside(pattern: str, text: str) -> str:
    """Put a placeholder wherever a pattern is found outside placeholders."""
    parts, at = [], 0
    for kept in BRACKETS.finditer(text):
        parts += [re.sub(pattern, PLACEHOLDER, text[at : kept.start()]), kept[0]]
        at = kept.end()
    return "".join([*parts, re.sub(pattern, PLACEHOLDER, text[at:])])


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
    elsewhere: Collection[str] = (),
    every_word: bool = False,
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
    elsewhere, every_word
        As for :func:`without_terms`.

    Returns
    -------
    str or None
        Without the terms of the chunk (:func:`without_terms`). None for nothing, for a text that is
        longer than the chunk or what was shown, and for one that holds a name (:func:`names_held`).
    """
    read = text if shown is None else shown
    told = unbracketed(" ".join(tidied(summary or "").text.split()), read)
    longest = min(len(text), len(read))
    if not told or len(told) > longest or names_held(text, mentions, told, others):
        return None
    return without_terms(mentions, told, elsewhere, every_word)
