"""What a word becomes where it is generalised: "tanker" a vehicle, "soybeans" crops.

The list is made by :mod:`nes_spark.building.general_words` from WordNet's hypernyms and by hand:
few general words, each of which says of what kind the thing is and stands for hundreds (Sanchez,
Batet & Viejo, "Automatic general-purpose sanitization of textual documents", IEEE Transactions on
Information Forensics and Security 8, 2013, replace terms by hypernyms too).
"""

from __future__ import annotations

from collections.abc import Collection
from functools import cache
from pathlib import Path
from typing import NamedTuple

from nes_spark.entities.lists import read_lists
from nes_spark.entities.terms import form_of, kin_of, stem, term_word

#: Before another noun these say nothing ("person improvements", of a tenant's).
_NO_MODIFIERS = frozenset({"person"})
_LIST = Path(__file__).parent / "data" / "generalised.txt"


class General(NamedTuple):
    """A general word: one thing, several, and as what needs no article ('' for none)."""

    noun: str
    plural: str
    mass: str


@cache
def _general() -> dict[str, General]:
    found = {}
    for section, words in read_lists(_LIST).items():
        noun, plural, mass = (part.strip() for part in section.split("|"))
        general = General(noun, plural, "" if mass == "-" else mass)
        found.update({stem(word): general for word in words})
    return found


@cache
def general_words() -> frozenset[str]:
    """Return the general words with their kin: what bars one of them (:func:`general_word`)."""
    words = {word for general in _general().values() for word in general if word}
    return frozenset(kin for word in {*words, "units"} for kin in kin_of(word))


def general_word(term: str, barred: Collection[str] = ()) -> str:
    """Return the general word for a term, in its form; '' for none.

    Parameters
    ----------
    term : str
        An entity of category Term. Of a compound the last word tells what it is.
    barred : collection of str
        Entities that must not come in: those of the document, with their kin
        (:func:`~nes_spark.entities.terms.kin_of`).

    Examples
    --------
    >>> [general_word(t) for t in ("tanker", "soybeans", "lumber/mass", "wind turbine/modifier")]
    ['vehicle', 'crops', 'material', 'machine']
    >>> general_word("molecular/adjective"), general_word("RFID"), general_word("blorbs")
    ('', '', '')
    >>> general_word("tankers", kin_of("vehicle")), general_word("gigawatts/unit")
    ('', 'units')
    """
    form = form_of(term)
    if form in ("adjective", "letters", "other", "people", "unit"):
        return ""
    general = _general().get(stem(term_word(term).rpartition(" ")[2]))
    if form == "units":
        word = form
    elif general is None or (form == "modifier" and general.noun in _NO_MODIFIERS):
        return ""
    else:
        word = {"plural": general.plural, "mass": general.mass}.get(form, general.noun)
    return "" if any(kin in barred for kin in kin_of(word)) else word
