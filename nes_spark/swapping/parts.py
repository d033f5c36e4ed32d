"""Parts of names: what a short form of one name is in another.

A surname is replaced by a surname, a given name by a given name, an acronym by an acronym, the
first words of a company by the first words of the other.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from nes_spark.entities.distinctive import distinctive_words, is_acronym
from nes_spark.entities.linking import initials, without_legal_form
from nes_spark.entities.quantities import QUANTITY, cased_as, connected_as, quantity_text
from nes_spark.entities.terms import TERM, in_capitals, term_word
from nes_spark.swapping.spans import after_title, is_abbreviation
from nes_spark.text.sentences import word_set

#: Category of dates.
DATE = "Date"
#: Categories without proper names: nothing is looked for or taken apart in them.
NO_NAMES = (DATE, QUANTITY, TERM)
_SUFFIX = re.compile(r",?\s+(?:Jr|Sr|II|III|IV)\.?$")
_PARTICLES = word_set("van von de der den del della da di du la le ter ten zu bin al st st.")
_INITIALISM = re.compile(r"(?:[^\W\d_]\.)+[^\W\d_]")
_LETTERS = re.compile(r"[A-Z](?:[&.]?[A-Z0-9]){1,6}\.?")


def presentable(name: str, category: str) -> str:
    """Return a name as it may stand in any text: without title and stray marks, initials dotted.

    Examples
    --------
    >>> presentable("Dr. Ana Orr", "Person"), presentable("U.S", "Location")
    ('Ana Orr', 'U.S.')
    """
    clean = name.strip(" \t\n,;:")
    if category == "Person":
        clean = clean[after_title(clean) :]
    if _INITIALISM.fullmatch(clean):
        return clean + "."
    if clean.endswith(".") and len(clean) > 1 and not is_abbreviation(clean):
        clean = clean.rstrip(".")
    return clean or name


def as_written(name: str, category: str) -> str:
    """Return a name as it may stand in a text, where only its entity is known."""
    if category == TERM:
        return term_word(name)
    return quantity_text(name) if category == QUANTITY else name


def surname(name: str) -> str:
    """Return the last name of a full name, with its particles and without "Jr.".

    Examples
    --------
    >>> surname("Ludwig van der Berg"), surname("Alan Moss Jr."), surname("Moss")
    ('van der Berg', 'Moss', 'Moss')
    """
    words = _SUFFIX.sub("", name).split()
    at = len(words) - 1
    while at > 1 and words[at - 1].casefold() in _PARTICLES:
        at -= 1
    return " ".join(words[at:]) or name


def given_name(name: str) -> str:
    """Return the first word of a full name."""
    return name.split()[0] if name.split() else name


def short_name(name: str, category: str) -> str:
    """Return the form by which a text goes on about a name that it has told in full.

    Legal forms are dropped; then the words up to the first distinctive one are left, all of them
    where none is.

    Examples
    --------
    >>> [short_name(n, "Organization") for n in ("Zimmer Biomet Inc.", "Bank of Mexico")]
    ['Zimmer', 'Bank of Mexico']
    """
    if category == "Person":
        return surname(name)
    bare = without_legal_form(name)
    if category not in ("Organization", "Product"):
        return name
    telling = distinctive_words(bare, category)
    if not telling:
        return bare
    words = bare.split()
    for count, word in enumerate(words, start=1):
        # "MD" alone is not what a person would call MD Anderson
        if any(w in word for w in telling) and not (is_acronym(word) and count < len(words)):
            return " ".join(words[:count])
    return bare


def is_letters(name: str) -> bool:
    """Return whether a name is written as letters: FDA, AT&T, U.S."""
    return _LETTERS.fullmatch(name) is not None


def counterpart(
    form: str,
    old: str,
    old_forms: Sequence[str],
    new: str,
    new_forms: Sequence[str],
    category: str,
    titled: bool = False,
) -> str:
    """Return what stands for a form of one name when another name comes in its place.

    Parameters
    ----------
    form : str
        The form to be replaced, without endings and title.
    old : str
        Canonical name.
    old_forms : sequence of str
        Forms that its chunk has, longest first.
    new : str
        Canonical name of what comes in.
    new_forms : sequence of str
        Forms of it in the chunk that it comes from, longest first.
    category : str
    titled : bool
        Whether a title stands before the form.

    Examples
    --------
    >>> moss = ("Alan Moss", ["Alan Moss", "Moss"], "Ana Orr", ["Ana Orr"], "Person")
    >>> counterpart("Alan Moss", *moss), counterpart("Moss", *moss), counterpart("Alan", *moss)
    ('Ana Orr', 'Orr', 'Ana')
    >>> [counterpart(f, "cement", [], "tag", [], "Term") for f in ("Cement", "CEMENT")]
    ['Tag', 'TAG']
    """
    if category in NO_NAMES:
        # one new form for each old one, in the same order
        if category == TERM:
            # any word may open a sentence
            word = term_word(new)
            if form.isupper() and not in_capitals(term_word(old)):
                return word.upper()  # in a heading
            opens = form[:1].isupper() and not in_capitals(form.partition(" ")[0])
            return word[0].upper() + word[1:] if opens else word
        if category == QUANTITY:
            # its chunk may write it in another currency, and a range with another word in it
            return cased_as(connected_as(quantity_text(new), form), form)
        rank = old_forms.index(form) if form in old_forms else 0
        return new_forms[min(rank, len(new_forms) - 1)]
    ours = [f[after_title(f) :] if category == "Person" else f for f in old_forms]
    theirs = list(dict.fromkeys(presentable(f, category) for f in new_forms)) or [
        presentable(new, category)
    ]
    theirs.sort(key=len, reverse=True)
    if category == "Person":
        # never more of a name than its own chunk told
        return _person(form, [old, *ours], theirs, titled)
    longest = max([*ours, old], key=len)
    if is_letters(form) and not is_letters(longest) and " " in longest:
        letters = [f for f in theirs if is_letters(f)]
        if letters:
            return letters[0]
        # letters of our own making only where the name in full stands in the text too
        if any(" " in f for f in ours) and (
            made := sorted(initials(without_legal_form(theirs[0])))
        ):
            return max(made, key=len)
        return theirs[0]
    rank = ours.index(form) if form in ours else max(len(ours), 1)
    if rank < len(theirs):
        return theirs[rank]
    shorter = short_name(theirs[-1], category)
    return shorter if rank else theirs[0]


def _person(form: str, ours: Sequence[str], theirs: Sequence[str], titled: bool) -> str:
    full = next((f for f in ours if " " in f), "")
    new = next((f for f in theirs if " " in f), theirs[0])
    if full and form.casefold() == given_name(full).casefold():
        return given_name(new)
    if full and form.casefold() in (surname(full).casefold(), full.split()[-1].casefold()):
        return surname(new)
    if " " in form:
        return new
    return surname(new) if full or titled else new
