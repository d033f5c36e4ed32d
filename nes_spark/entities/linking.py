"""Canonical entities: which mentions of a document name the same thing, and what it is called.

Within a document and a category two forms are one entity when they are equal up to case, article,
possessive and white space; when one is the other with a legal form ("Constellium SE",
"Constellium"); when one is the acronym of the other, in brackets after it or by its initials
("Cache Coherent Interconnect for Accelerators (CCIX)"); when one is the beginning of only one other
name of an organisation and tells whose it is ("Zimmer" of "Zimmer Biomet", but not "Bank" of "Bank
of Mexico"); when one is the last name, or the given name of only one person, of somebody named in
full before.

The canonical name does not depend on other documents, so that the same form gets the same name
wherever it is not linked to a longer one: legal forms are dropped, acronyms and beginnings give way
to the name in full, last names to the full name; of case variants the most frequent one stays.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from nes_spark.entities.distinctive import INSTITUTIONS, ROLES, distinctive_words
from nes_spark.entities.mentions import Mention
from nes_spark.text.vocabulary import DESCRIPTORS

#: What a single name of a person is taken for.
_TAKEN_FOR = frozenset(["Organization", "Location", "Product"])
_SPACE = re.compile(r"\s+")
_ARTICLE = re.compile(r"^the\s+", re.IGNORECASE)
_POSSESSIVE = re.compile(r"['’]s?$")
#: Words that initials may leave out.
SMALL_WORDS = frozenset(
    [
        "a",
        "an",
        "and",
        "at",
        "by",
        "de",
        "del",
        "der",
        "des",
        "di",
        "du",
        "for",
        "in",
        "la",
        "of",
        "on",
        "the",
        "to",
        "und",
        "von",
    ]
)
_BRACKET = re.compile(r"\s*\(\s*(?:the\s+|or\s+|[\"“”'])*([A-Z][A-Z0-9&.-]{1,9})[\"“”']?\s*\)")

#: Short forms of places; both sides are compared without case and dots.
_PLACES = {
    "us": "United States",
    "usa": "United States",
    "united states": "United States",
    "united states of america": "United States",
    "uk": "United Kingdom",
    "united kingdom": "United Kingdom",
    "great britain": "United Kingdom",
    "uae": "United Arab Emirates",
    "united arab emirates": "United Arab Emirates",
    "latam": "Latin America",
    "latin america": "Latin America",
    "asia-pacific": "Asia Pacific",
    "asia pacific": "Asia Pacific",
    "apac": "Asia Pacific",
    "new york city": "New York",
    "washington dc": "Washington",
}


@dataclass(frozen=True)
class Located:
    """A mention with where it stands: chunk (sortable in document order) and offset.

    ``acronym`` is the bracketed acronym that follows the mention in the text, '' where none does.
    """

    chunk: str
    mention: Mention
    acronym: str = ""


def plain_form(surface: str) -> str:
    """Return a surface without article, possessive, outer punctuation and doubled white space."""
    form = _SPACE.sub(" ", surface).strip(" ,;:\"'“”‘’")
    form = _POSSESSIVE.sub("", form)
    return _ARTICLE.sub("", form).strip()


@lru_cache(maxsize=1)
def _legal_terms() -> Any:
    from cleanco import prepare_default_terms

    return prepare_default_terms()


@lru_cache(maxsize=65_536)
def without_legal_form(form: str) -> str:
    """Return a company name without its legal form ("Constellium SE" -> "Constellium")."""
    if " " not in form and "," not in form:
        return form
    from cleanco.clean import custom_basename

    base = custom_basename(form, _legal_terms(), suffix=True, prefix=False, middle=False)
    base = base.strip(" ,.&-")
    return base if len(base) > 1 else form


def base_form(surface: str, category: str) -> str:
    """Return the name of a mention by itself, before it is linked to other mentions."""
    form = plain_form(surface)
    if category == "Organization":
        form = without_legal_form(form)
    elif category == "Location":
        form = _PLACES.get(form.lower().replace(".", ""), form)
    return form or _SPACE.sub(" ", surface).strip()


def form_key(surface: str, category: str) -> str:
    """Return what spelling variants of a name share."""
    return base_form(surface, category).casefold().replace("’", "'").rstrip(".")


def initials(name: str) -> set[str]:
    """Return the acronyms that a name may have: with and without its small words.

    Examples
    --------
    >>> sorted(initials("Bank of America"))
    ['BA', 'BOA', 'BoA']
    """
    words = [w for w in re.split(r"[\s\-/]+", name) if w and w[0].isalnum()]
    if len(words) < 2:
        return set()
    large = "".join(w[0] for w in words if w.lower() not in SMALL_WORDS).upper()
    exact = "".join(w[0] for w in words)
    return {a for a in (large, exact, exact.upper()) if 2 <= len(a) <= 8}


def _spells(acronym: str, name: str) -> bool:
    """Whether the letters of a bracketed acronym occur in a name in order, the first one first."""
    letters = [c.lower() for c in acronym if c.isalnum()]
    text = name.lower()
    if not letters or not text.startswith(letters[0]):
        return False
    at = 0
    for letter in letters:
        # the X of "CCIX" stands for "Interconnect": a letter without a match is allowed once
        found = text.find(letter, at)
        if found < 0:
            return letter == letters[-1] and letter == "x"
        at = found + 1
    return True


def people_by_parts(mentions: Sequence[Located]) -> list[Mention]:
    """Return the mentions of one document, single names of its people with their category.

    A surname alone is easily taken for a company or a place ("Strand" after "Professor Lionel
    Strand"); where a document names a person in full, the last name and the given name by
    themselves are that person's, unless a longer name of another kind has the word as well
    ("Halvard Timber Ltd" beside "Jon Halvard").

    Parameters
    ----------
    mentions : sequence of Located
        All mentions of the document, in any order.

    Returns
    -------
    list of Mention
        One for each, in the order given; only categories differ.
    """
    # with their legal forms: "Halvard Ltd" is nobody's surname
    forms = [plain_form(m.mention.surface) for m in mentions]
    named = [
        form
        for form, m in zip(forms, mentions, strict=True)
        if m.mention.category == "Person" and " " in form
    ]
    # one who is taken for a company in another sentence is a person there too
    business = INSTITUTIONS | DESCRIPTORS
    full = {form for form in named if not business & set(form.lower().split())}
    parts = {
        word
        for form in named
        for word in (form.split()[0], form.split()[-1])
        if word[:1].isupper() and len(word) > 2
    }
    for form, located in zip(forms, mentions, strict=True):
        if located.mention.category != "Person" and " " in form and form not in full:
            parts -= set(form.split())
    return [
        replace(m.mention, category="Person")
        if m.mention.category in _TAKEN_FOR and form in parts | full
        else m.mention
        for form, m in zip(forms, mentions, strict=True)
    ]


def link_document(mentions: Sequence[Located]) -> list[str]:
    """Return the canonical name of each mention of one document.

    Parameters
    ----------
    mentions : sequence of Located
        All mentions of the document, in any order.

    Returns
    -------
    list of str
        One name a mention, in the order given. Does not depend on that order.
    """
    order = sorted(
        range(len(mentions)),
        key=lambda i: (mentions[i].chunk, mentions[i].mention.start, mentions[i].mention.end),
    )
    variants: dict[tuple[str, str], Counter[str]] = {}
    keys: list[tuple[str, str]] = [("", "")] * len(mentions)
    for i in order:
        mention = mentions[i].mention
        key = (mention.category, form_key(mention.surface, mention.category))
        keys[i] = key
        variants.setdefault(key, Counter())[base_form(mention.surface, mention.category)] += 1
    name_of = {
        key: min(counts, key=lambda form: (-counts[form], form)) for key, counts in variants.items()
    }
    parent: dict[tuple[str, str], tuple[str, str]] = {}
    _link_acronyms(mentions, order, keys, name_of, parent)
    _link_beginnings(name_of, parent)
    persons = _link_persons(mentions, order, keys, name_of)

    def canonical(i: int) -> str:
        key = keys[i]
        if i in persons:
            key = persons[i]
        seen = set()
        while key in parent and key not in seen:
            seen.add(key)
            key = parent[key]
        return name_of[key]

    return [canonical(i) for i in range(len(mentions))]


def _link_acronyms(
    mentions: Sequence[Located],
    order: Sequence[int],
    keys: Sequence[tuple[str, str]],
    name_of: dict[tuple[str, str], str],
    parent: dict[tuple[str, str], tuple[str, str]],
) -> None:
    bracketed: dict[str, tuple[str, str]] = {}
    for i in order:
        acronym = mentions[i].acronym
        if acronym and _spells(acronym, name_of[keys[i]]):
            bracketed.setdefault(acronym.casefold(), keys[i])
    by_initials: dict[tuple[str, str], set[tuple[str, str]]] = {}
    for key, name in name_of.items():
        if key[0] in ("Organization", "Product", "Event", "Location"):
            for acronym in initials(name):
                by_initials.setdefault((key[0], acronym), set()).add(key)
    for key, name in name_of.items():
        if " " in name or len(name) < 2 or not name[0].isupper():
            continue
        full = bracketed.get(name.casefold())
        if full is None and sum(c.isupper() for c in name) >= 2:
            owners = by_initials.get((key[0], name), set())
            # two names with the same initials: nobody can tell, so neither
            full = next(iter(owners)) if len(owners) == 1 else None
        if full is not None and full != key and full[0] == key[0]:
            parent[key] = full


def _link_beginnings(
    name_of: dict[tuple[str, str], str], parent: dict[tuple[str, str], tuple[str, str]]
) -> None:
    """Link names of organisations that begin one other name only, or a chain of such names."""
    words_of = {
        key: tuple(key[1].split())
        for key, name in name_of.items()
        if key[0] == "Organization" and not ROLES & set(name.split())
    }
    beginning: dict[tuple[str, ...], list[tuple[str, str]]] = {}
    for key, words in words_of.items():
        for count in range(1, len(words)):
            beginning.setdefault(words[:count], []).append(key)
    for key, words in words_of.items():
        longer = beginning.get(words)
        if not longer or key in parent or not distinctive_words(name_of[key], "Organization"):
            continue
        longest = max(longer, key=lambda k: (len(words_of[k]), k))
        if all(words_of[k] == words_of[longest][: len(words_of[k])] for k in longer):
            parent[key] = longest


def _link_persons(
    mentions: Sequence[Located],
    order: Sequence[int],
    keys: Sequence[tuple[str, str]],
    name_of: dict[tuple[str, str], str],
) -> dict[int, tuple[str, str]]:
    full = {key for key in name_of if key[0] == "Person" and len(key[1].split()) >= 2}
    given: dict[str, set[tuple[str, str]]] = {}
    for key in full:
        given.setdefault(key[1].split()[0], set()).add(key)
    last_seen: dict[str, tuple[str, str]] = {}
    linked: dict[int, tuple[str, str]] = {}
    for i in order:
        key = keys[i]
        if key[0] != "Person":
            continue
        words = key[1].split()
        if key in full:
            last_seen[words[-1]] = key
        elif len(words) == 1:
            if words[0] in last_seen:
                linked[i] = last_seen[words[0]]
            elif len(given.get(words[0], ())) == 1:
                linked[i] = next(iter(given[words[0]]))
    return linked


def bracketed_acronym(text: str, end: int) -> str:
    """Return the acronym in brackets right after an offset, '' where there is none.

    Examples
    --------
    >>> bracketed_acronym("the World Bank Group (WBG) said", 20)
    'WBG'
    """
    match = _BRACKET.match(text, end)
    return match.group(1) if match else ""
