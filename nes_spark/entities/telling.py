"""Telling words: what sets the texts of a secret apart, whatever words these are.

Terms are things: nouns, and adjectives before nouns. A reader who remembers a company goes by its
verbs as well, and by ordinary words that it uses more than others do. The *telling words* of a
secret are those with the highest TF-IDF of all its words besides grammar and talk
(:func:`nes_spark.entities.terms.weight`), as many as make up a share of its text. What is left out
grows with the share, and with it what is lost: nothing in a sentence is spared but its grammar.

Words are compared as those of clues are (:mod:`nes_spark.entities.clues`): without case and
accents, singular and plural as one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from nes_spark.entities.clues import (
    Clues,
    clues_and_terms,
    is_of_a_subject,
    words_at,
    words_besides_talk,
)
from nes_spark.entities.mentions import Mention
from nes_spark.entities.quantities import QUANTITY
from nes_spark.entities.terms import TERM, weight
from nes_spark.errors import parameter_error

#: Categories of which much stays as it is: "last fiscal year", "prior to".
_KEPT = frozenset({"Date", QUANTITY})


class Said(NamedTuple):
    """How often a text says a word.

    Attributes
    ----------
    places : int
        All of them, outside other mentions and placeholders.
    free : int
        Those outside terms.
    kept : int
        Those in dates and figures, of which much stays as it is ("fiscal").
    """

    places: int
    free: int
    kept: int = 0

    def plus(self, other: Said) -> Said:
        """Return how often two texts say it."""
        return Said(self.places + other.places, self.free + other.free, self.kept + other.kept)


def count_words(text: str, mentions: Iterable[Mention] = ()) -> dict[str | None, Said]:
    """Count the words of a text that may tell whose it is, and together those that do not.

    Parameters
    ----------
    text : str
    mentions : iterable of Mention
        Nothing is counted inside them, nor inside placeholders, but inside terms.

    Returns
    -------
    dict
        Word, as clues have it -> how often it is said. Under None stand words of grammar and of
        talk ("um", "think"; :func:`~nes_spark.entities.terms.is_talk`), single letters, numbers and
        parts of abbreviations ("SG&A"); there is no None where there are none.

    Examples
    --------
    >>> found = count_words("The kilns of [Company Name] and its kiln run.")
    >>> found["kiln"].places, found[None].places
    (2, 4)
    """
    known = [*mentions]
    terms = iter(sorted((m.start, m.end) for m in known if m.category == TERM))
    none = (len(text) + 1,) * 2
    begin, stop = next(terms, none)
    keys: list[str | None] = []
    covered: Counter[str | None] = Counter()
    for start, end, word, plain in words_at(text, (m for m in known if m.category != TERM)):
        tells = plain and is_of_a_subject(word) and not _is_abbreviated(text, start, end)
        key = word if tells else None
        keys.append(key)
        while stop <= start:
            begin, stop = next(terms, none)
        if begin <= start:
            covered[key] += 1
    places = Counter(keys)
    kept: Counter[str | None] = Counter()
    for mention in known:
        if mention.category in _KEPT:
            kept.update(words_besides_talk(text[mention.start : mention.end]))
    return {
        key: Said(places[key], places[key] - covered[key], kept[key]) for key in {**places, **kept}
    }


def _is_abbreviated(text: str, start: int, end: int) -> bool:
    """Whether a word is a part of an abbreviation: "SG&A" would become "[Term]&A"."""
    return text[end : end + 1] == "&" or text[start - 1 : start] == "&"


def telling_mentions(
    texts: Mapping[str, str],
    metadata: Mapping[str, str],
    mentions: Mapping[str, Sequence[Mention]],
    share: float,
) -> dict[str, list[Mention]]:
    """Return all mentions of texts that fit one process, with telling words as clues.

    Parameters
    ----------
    texts, metadata : mapping of str to str
        chunk_id -> text, and the secret of its document.
    mentions : mapping of str to sequence of Mention
        chunk_id -> what is known, terms among them.
    share : float
        See :func:`telling_words`.

    Returns
    -------
    dict
        chunk_id -> mentions, for every chunk: those that are known, but for terms that became part
        of a clue (:func:`~nes_spark.entities.clues.clues_and_terms`).

    Examples
    --------
    >>> found = telling_mentions({"a": "Kilns ran.", "b": "We ran."}, {"a": "A", "b": "B"}, {}, 0.5)
    >>> [m.surface for m in found["a"]], found["b"]
    (['Kilns'], [])
    """
    said: dict[str, dict[str | None, Said]] = {secret: {} for secret in metadata.values()}
    for chunk, text in texts.items():
        mine = said[metadata[chunk]]
        for word, n in count_words(text, mentions.get(chunk, ())).items():
            mine[word] = mine.get(word, Said(0, 0)).plus(n)
    secrets = Counter(
        word for mine in said.values() for word, n in mine.items() if word is not None and n.places
    )
    told = {
        secret: Clues((word,) for word in telling_words(mine, secrets, len(said), share))
        for secret, mine in said.items()
    }
    found = {}
    for chunk, text in texts.items():
        held = mentions.get(chunk, ())
        rest = [m for m in held if m.category != TERM]
        found[chunk] = rest + clues_and_terms(text, told[metadata[chunk]], held)
    return found


def telling_words(
    said: Mapping[str | None, Said], secrets: Mapping[str, int], total: int, share: float
) -> list[str]:
    """Return the words that tell the texts of a secret, most telling first.

    Parameters
    ----------
    said : mapping of str or None to Said
        Of all texts of the secret (:func:`count_words`).
    secrets : mapping of str to int
        Word -> number of secrets whose texts have it.
    total : int
        Number of all secrets.
    share : float
        How many of the words of ``said`` are to be gone, from 0 up to 1, those of terms among them.

    Returns
    -------
    list of str
        In the order of their weight, then of the alphabet, until the share is reached: with all
        places of the last one it may be more. A larger share has the words of a smaller one and
        more. What the texts of every secret have is none, nor what stands in dates and figures as
        often as elsewhere.

    Raises
    ------
    ValueError
        For another share.

    Examples
    --------
    >>> said = {None: Said(5, 5), "kiln": Said(2, 2), "fire": Said(2, 2), "grow": Said(1, 1)}
    >>> telling_words(said, {"kiln": 1, "fire": 9, "grow": 20}, 20, 0.3)
    ['kiln', 'fire']
    """
    if not 0 <= share < 1:
        raise parameter_error("telling_words", "share", "from 0 up to 1", share)
    left = share * sum(n.places for n in said.values())
    left -= sum(n.places - n.free for n in said.values())
    weighed = sorted(
        (-weight(n.places, secrets[word], total), word)
        for word, n in said.items()
        if word is not None and n.free > n.kept and secrets[word] < total
    )
    found = []
    for _, word in weighed:
        if left <= 0:
            break
        left -= said[word].free
        found.append(word)
    return found
