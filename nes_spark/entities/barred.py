"""Words of clues that no other document gives back, and what their words are like.

Beside :mod:`nes_spark.entities.clues`, as plans need no more of it than that.
"""

from __future__ import annotations

from itertools import pairwise

from nes_spark.entities.distinctive import FUNCTION_WORDS
from nes_spark.entities.terms import is_people, kin_of

#: Category of clues.
CLUE = "Clue"
#: What an apostrophe cuts off, and all words of grammar of a clue; those have the apostrophe.
CUT_OFF = frozenset({"s", "t", "d", "m", "ll", "re", "ve"})
GRAMMAR = FUNCTION_WORDS | {"ll", "re", "ve"} | {f"'{word}" for word in CUT_OFF}
#: Nouns whose plural ends in -ves, and longer ones of them. "Believes" is none of "belief".
IN_F = (
    "calf", "elf", "half", "hoof", "knife", "leaf", "life", "loaf", "scarf", "thief", "wife", "wolf"
)  # fmt: skip
#: Letters of what may be an abbreviation at most.
_SHORT = 5


def barred_by(entity: str) -> list[str]:
    """Return the terms that would give back what a clue told: its words, with their kin.

    Parameters
    ----------
    entity : str
        Of a mention of category :data:`CLUE`.

    Returns
    -------
    list of str
        Entities of terms (:func:`nes_spark.entities.terms.kin_of`), in small letters and capitals,
        and of two words side by side what they are together.

    Examples
    --------
    >>> found = set(barred_by("the turbo prop of ev"))
    >>> {"props", "turbo-prop", "turboprops/modifier", "EV"} <= found, "the" in found
    (True, False)
    """
    words = entity.split()
    told = {word for word in words if word not in GRAMMAR}
    pairs = [pair for pair in pairwise(words) if told.issuperset(pair)]
    told |= {joint.join(pair) for pair in pairs for joint in ("", "-")}
    for word in [*told]:
        if len(word) <= _SHORT:
            told.add(word.upper())
        if is_people(word.capitalize()):
            told.add(word.capitalize())
        if word.endswith(IN_F):
            told.add(word.rstrip("e")[:-1] + "ves")
        if word.endswith("sis"):
            told.add(word[:-2] + "es")
    return sorted({kin for word in told for kin in kin_of(word)})
