"""Short names that a text itself gives a company: 'Acme Holdings Ltd ("Acme")'."""

from __future__ import annotations

import re

from nes_spark.text.forms import WORD, fold, is_generic, squeeze
from nes_spark.text.matching import Matcher

#: A bracket, and how near before it the name ends: at once, or before its legal form. In it is a
#: name in quotation marks or one word.
_BRACKET = re.compile(r"\((?P<inside>[^()\n]{0,60}[\"“„'‘’][^()]{2,120}|[A-Z][\w&.-]{1,9})\)(?!\w)")
_BETWEEN = re.compile(r"\.?(?:,? [A-Z][\w.]{0,9}){0,3},?\s?")
#: Or before what contracts say of a party, which defines nothing else and is one paragraph: 'Acme
#: Inc., a corporation of Ohio with its office at 9 Elm Street (the "Company" or "AI")'.
_SAID_OF_IT = re.compile(r"\.?,\s(?:(?!\n[ \t]*\n)[^\"“”„]){1,300}")
#: Characters of a name before it at most.
_BEFORE = 400
#: What stands in quotation marks there, and what stands there alone.
_QUOTED = re.compile(r"[\"“„”'‘’]([^\"“„”'‘’]{2,60})[\"“”'’]")
#: What the name was or is said to be instead is no definition.
_FORMER = re.compile(r"\b(?:formerly|previously|not|unlike|no longer)\b", re.IGNORECASE)


def defined_names(text: str, matcher: Matcher) -> list[tuple[str, str]]:
    """Return the short names that a text defines for its own companies, with their kinds.

    A short name counts where it is made of words of the name before it, one of which says more
    than what sort of body it is, or is an abbreviation in capitals with letters of the name in
    their order. What the matcher finds already comes too: as a defined name it is found wherever
    it has its capital, at the beginning of a sentence as well.

    Parameters
    ----------
    text : str
        A whole document.
    matcher : Matcher
        Of the identifiers that are known.

    Examples
    --------
    >>> from nes_spark.config import IdentifiersConfig
    >>> from nes_spark.text.matching import Identifier
    >>> known = [Identifier("company", "Summit Bone Care Inc", "[Company Name]")]
    >>> matcher = Matcher.of(known, IdentifiersConfig())
    >>> text = 'Summit Bone Care Inc. ("Summit" or "the Company") grew. Summit sells bones.'
    >>> defined_names(text, matcher)
    [('company', 'Summit')]
    """
    defined: dict[tuple[str, str], None] = {}
    for bracket in _BRACKET.finditer(text):
        inside = bracket["inside"]
        if _FORMER.search(inside):
            continue
        before = text[max(0, bracket.start() - _BEFORE) : bracket.start()]
        found = [m for m in matcher.find(before) if matcher.rule_of(m.kind) == "company"]
        if not found:
            continue
        kind, value, end = found[-1].kind, found[-1].value, found[-1].end
        quoted = _QUOTED.findall(inside)
        if not _BETWEEN.fullmatch(before, end) and not (
            quoted and _SAID_OF_IT.fullmatch(before, end)
        ):
            continue
        for name in quoted or [inside]:
            short = re.sub(r"^(?:the|The) ", "", name.strip(" ,.;:"))
            if _is_of(short, value):
                defined[kind, short] = None
    return list(defined)


def _is_of(short: str, value: str) -> bool:
    """Whether a short name is made of a name, and more than a word for what that is."""
    words = WORD.findall(short)
    if not words or len(words) > 6 or not short[:1].isupper() or squeeze(short) == squeeze(value):
        return False
    own = {fold(word) for word in WORD.findall(value)}
    if all(fold(word) in own for word in words):
        return not is_generic(words)
    letters = squeeze(short)
    if len(words) > 2 or not short.isupper() or not 2 <= len(letters) <= 6:
        return False
    if len(set(letters)) == 1:
        return False  # a grade: "Ann Arbor Arms plc (AAA)"
    rest = iter(squeeze(value))
    return letters[0] == squeeze(value)[:1] and all(letter in rest for letter in letters)


__all__ = ["defined_names"]
