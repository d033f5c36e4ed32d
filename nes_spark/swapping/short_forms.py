"""Names that were exchanged and still stand in the text in another form, and the check for them.

A recogniser misses mentions, mostly short ones: the surname in the sentence after the full name,
the first word of a company, the name in an address. :func:`find_left` looks for them in the text
outside of all mentions and placeholders, so that rewriting can replace them too.
:func:`given_away` asks of a text as it is released whether a word is left that tells whose name was
given away. It flags less than rewriting replaces: only words that no other name of the chunk
accounts for and that are no words of English.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

from nes_spark.entities.distinctive import (
    FUNCTION_WORDS,
    WORD,
    distinctive_words,
    fold,
    is_acronym,
    is_generic,
    is_ordinary,
    words_of,
)
from nes_spark.entities.mentions import Mention, placeholder_spans
from nes_spark.swapping.forms import Key, entity_of, forms_of
from nes_spark.swapping.parts import NO_NAMES
from nes_spark.swapping.spans import after_title, opens_sentence, title_before, whole_name

#: Other spellings of places that texts have side by side.
_ALIASES = {
    "united states": ("United States", "U.S.A.", "U.S.", "USA", "US"),
    "united kingdom": ("United Kingdom", "U.K.", "UK"),
    "european union": ("European Union", "E.U.", "EU"),
    "united arab emirates": ("United Arab Emirates", "U.A.E.", "UAE"),
}
#: Categories in which one name may be the short form of another.
_NAMES = ("Organization", "Person", "Product", "Event")
#: Behind this a word goes on.
_IN_WORD = re.compile(r"[\w'’]")
#: Letters outside Latin-1, but for dashes and quotes, and its micro sign.
_SPECIAL = re.compile("[^\x00-\xb4\xb6-\xff\u2010-\u203a]")
_FRACTION = re.compile(r"[.,]\d")
#: What a person does at a sentence's start, so that an ordinary word there is a surname.
_VERB = re.compile(
    r"(?:['’]s\b|\s+(?:also|and|then|who|never|later|again|was|is|has|had|did|does|will|would|could|"
    r"should|must|may|might|says?|said|tells|told|wrote|took|made|gave|went|came|rang|met|knew|left|"
    r"lost|won|paid|sold|kept|held|sent|got|felt|found|thought|brought|sought|bought|led|ran|saw|"
    r"heard|spoke|sat|stood|began|argues|claims|contends|submits|states|denies|relies|alleges|"
    r"appeals|testifies|maintains|[a-z]{2,}ed)\b)"
)
_BARRED = re.compile(
    r"(?:\b(?:a|an|the|this|that|these|those|our|your|their|his|her|its|my|each|every|any|no|some)|"
    r"[A-Z][\w'’-]*)\s+$",
)
_CAPITAL_NEXT = re.compile(r"[ -](?:& )?[A-Z]")


@dataclass(frozen=True)
class Left:
    """A form of a name in a text, found by search.

    Attributes
    ----------
    start, end : int
        Offsets, without possessive and plural endings.
    key : (str, str)
        Category and entity of the name.
    form : str
        The name's form as the name has it ("Keller" where the text has "KELLER").
    glued : bool
        Whether it stands in lower case inside an address or an identifier ("press@keller.org").
    """

    start: int
    end: int
    key: Key
    form: str
    glued: bool = False


@lru_cache(maxsize=16_384)
def _bare(name: str) -> str:
    """Return a name without its titles and a possessive ending."""
    name = re.sub(r"['’][sS]?$", "", name)
    return name[after_title(name) :]


def spellings(name: str, category: str) -> tuple[str, ...]:
    """Return a name and other spellings of it that texts have side by side, longest first."""
    known = _ALIASES.get(name.casefold(), ()) if category == "Location" else ()
    return tuple(sorted({name, *known}, key=lambda form: (-len(form), form)))


def _searched(form: str, category: str, ordinary: Collection[str]) -> bool:
    """Whether a form as a whole may be looked for: nothing else is written like it."""
    words = words_of(form)
    if not words or not any(c.isupper() or c.isdigit() for c in form):
        return False
    if len(words) == 1:
        word = words[0]
        if is_acronym(word):
            # "US" is no pronoun, but "IT" may be
            return category == "Location" or fold(word) not in FUNCTION_WORDS
        return not (
            is_generic(word, category) or is_ordinary(word, category) or fold(word) in ordinary
        )
    if all(len(word) == 1 for word in words):
        return len("".join(form.split())) > 2
    return any(word[0].isupper() and fold(word) not in FUNCTION_WORDS for word in words)


def _written(token: str, word: str) -> bool:
    """Whether a token of a text is a word of a name in one of its spellings."""
    token, word = token.replace("’", "'"), word.replace("’", "'")
    if token == word:
        return True
    if is_acronym(word):
        return False
    return (
        token[0].isupper()
        and fold(token) == fold(word)
        and (token.isupper() or token[1:].islower() or word[1:].islower())
    )


@lru_cache(maxsize=65_536)
def _endings(token: str) -> tuple[str, ...]:
    """Return a token and what it is without possessive and plural endings."""
    bare = re.sub(r"['’][sS]?$", "", token)
    return (
        *dict.fromkeys((token, bare)),
        *(
            bare[: -len(ending)] + rest
            for ending, rest in (("ies", "y"), ("es", ""), ("s", ""))
            if bare.endswith(ending) and len(bare) - len(ending) > 2
        ),
    )


def words_held(names: Iterable[str]) -> frozenset[str]:
    """Return the folded words of some names, with and without possessive and plural endings."""
    return frozenset().union(*map(_folded_words, names))


@lru_cache(maxsize=65_536)
def _folded_words(name: str) -> frozenset[str]:
    return frozenset(fold(part) for word in words_of(name) for part in _endings(word))


def reaches(
    text: str,
    kept: Iterable[Mention],
    mentions: Iterable[Mention],
    names: Mapping[Key, Sequence[str]],
) -> list[tuple[int, int]]:
    """Return the offsets of the whole names of mentions that stay.

    A figure, a date or a term is no part of a name. What stands beside a mention is not of its name
    where another mention has it, or where it is a word that gives an exchanged name away.

    Parameters
    ----------
    text : str
    kept, mentions : iterable of Mention
        Those that stay, and all.
    names : mapping
        (category, entity) -> forms of the names that are exchanged.
    """
    places = [(m.start, m.end) for m in mentions]
    starts, ends = sorted(start for start, _ in places), sorted(end for _, end in places)
    gone = {
        fold(word)
        for key, forms in names.items()
        for form in (*forms, key[1])
        for word in distinctive_words(form, key[0])
    }
    found = []
    for m in kept:
        span = (m.start, m.end)
        if m.category not in NO_NAMES:
            before, after = bisect_right(ends, m.start), bisect_left(starts, m.end)
            floor = ends[before - 1] if before else 0
            ceiling = starts[after] if after < len(starts) else len(text)
            whole = whole_name(text, m.start, m.end, m.category, floor, ceiling)
            beside = words_held([text[whole[0] : m.start], text[m.end : whole[1]]])
            span = span if beside & gone else whole
        found.append(span)
    return found


def _straight(name: str) -> str:
    return name.replace("’", "'")


def _pattern_of(name: str) -> str:
    """A name as a regular expression, with either apostrophe."""
    return re.escape(_straight(name)).replace("'", "['’]")


def _stems_of(words: Iterable[str]) -> set[str]:
    """How words of a text begin that may be one of these."""
    # folded, "Straßner" is "strassner": a text has it either way
    both = {form for word in words for form in (fold(word), word.lower())}
    # "Companies" begins like "Company" without its last letter
    return {form[:-1] if form.endswith("y") else form for form in both}


class Names:
    """The names that a chunk gives away, as they are looked for.

    Parameters
    ----------
    forms : mapping
        (category, entity) -> forms under which the chunk has it; the entity's name is added.
    held : collection of str
        Folded words that other names of the chunk hold: they may stay.
    ordinary : collection of str, optional
        Further words that are ordinary, folded.
    """

    def __init__(
        self,
        forms: Mapping[Key, Sequence[str]],
        held: Collection[str],
        ordinary: Collection[str] | None = None,
    ) -> None:
        #: folded word -> (key, word as the name has it)
        self.words: dict[str, tuple[Key, str]] = {}
        #: the same for words that are names only in a context that says so
        self.weak: dict[str, tuple[Key, str]] = {}
        #: whole form -> key
        self.wholes: dict[str, Key] = {}
        #: all spellings of the words that may be in either, whatever else is ordinary
        self._told: set[str] = set()
        for key, found in forms.items():
            category = key[0]
            for name in dict.fromkeys((*found, key[1])):
                for form in spellings(_bare(name), category):
                    self._add(form, key, held, ordinary)
        self._written = {form for name in self.wholes for form in (name, self._capitals(name))}
        self._stems = _stems_of(self._told)

    def _add(
        self, form: str, key: Key, held: Collection[str], ordinary: Collection[str] | None
    ) -> None:
        category = key[0]
        words = words_of(form)
        if category in NO_NAMES or not words:
            return
        free = [w for w in words if not any(fold(part) in held for part in _endings(w))]
        if _searched(form, category, ordinary or ()) and any(
            fold(w) not in FUNCTION_WORDS for w in free
        ):
            self.wholes.setdefault(form, key)
        if category == "Event":
            # a "Geneva Motor Show" does not make Geneva an event
            return
        for word in distinctive_words(form, category, ordinary):
            if word in free:
                self._told.add(word)
                self.words.setdefault(fold(word), (key, word))
        if len(words) < 2:
            return
        first = [words[0]] if category == "Organization" else words if category == "Person" else ()
        for word in first:
            if (
                len(word) > 2
                and word[0].isupper()
                and not is_generic(word, category)
                and word in free
            ):
                self._told.add(word)
                if fold(word) not in self.words:
                    self.weak.setdefault(fold(word), (key, word))

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        ordered = sorted(self._written, key=lambda form: (-len(form), form))
        return re.compile(rf"(?<![^\W_])(?:{'|'.join(map(_pattern_of, ordered))})(?![^\W_])")

    @cached_property
    def _beginnings(self) -> re.Pattern[str]:
        ordered = "|".join(map(_pattern_of, sorted(self._stems, key=lambda w: (-len(w), w))))
        return re.compile(rf"(?<![^\W_])(?:{ordered})", re.IGNORECASE)

    def _may_begin(self, text: str, rest: str) -> bool:
        """Whether a word of the names may begin in what is left of a text."""
        # letters that are equal in more ways than by their small letter are left to the pattern
        if _SPECIAL.search(text) or any(map(_SPECIAL.search, self._stems)):
            return True
        low = rest.lower()
        return any(_straight(stem).lower() in low for stem in self._stems)

    def may_find(self, text: str, taken: Sequence[tuple[int, int]]) -> bool:
        """Whether a text has the letters of a name at all.

        Where not, :meth:`find` is empty, also for the same names with more words that are ordinary.
        """
        rest = _straight(_without(text, taken))
        whole = any(_straight(form) in rest for form in self._written)
        return whole or (bool(self._stems) and self._may_begin(text, rest))

    @staticmethod
    def _capitals(name: str) -> str:
        return name.upper() if len(name) > 3 and len(name.upper()) == len(name) else name

    def find(
        self,
        text: str,
        taken: Sequence[tuple[int, int]],
        kept: Sequence[tuple[int, int]] = (),
        reach: Sequence[tuple[int, int]] = (),
    ) -> list[Left]:
        """Return where the names stand, in order and disjoint; see :func:`find_left`."""
        found: list[Left] = []
        # Mostly all names stand where they are taken; then no pattern is needed at all.
        rest = _straight(_without(text, taken))
        if any(_straight(form) in rest for form in self._written):
            names = [*reversed(self.wholes)]
            known = {_straight(self._capitals(name)): name for name in names}
            known |= {_straight(name): name for name in names}
            for match in self._pattern.finditer(text):
                start, end = match.span()
                # a mention that is but a part of the name is no other name
                outside = all(
                    high <= start
                    or end <= low
                    or (start <= low and high <= end and high - low < end - start)
                    for low, high in kept
                )
                if outside and not _touches(start, end, taken):
                    name = known[_straight(match.group())]
                    found.append(Left(*match.span(), self.wholes[name], name))
        if not self._stems:
            return found
        if not self._may_begin(text, rest):
            return _merged(text, found)
        blocked = [*taken, *kept, *reach, *((f.start, f.end) for f in found)]
        for match in self._beginnings.finditer(text):
            token = WORD.match(text, match.start())
            hit = self._word(text, match.start(), token.group()) if token else None
            if hit is not None and not _touches(hit.start, hit.end, blocked):
                found.append(hit)
        return _merged(text, sorted(found, key=lambda f: f.start))

    def _word(self, text: str, start: int, token: str) -> Left | None:
        for part in _endings(token):
            low = fold(part)
            if low in self.words:
                key, word = self.words[low]
                # the token's own letters: "Companies" is "Company" and an ending
                size = len(part) if token.startswith(part) else len(token)
                if _written(part, word):
                    return Left(start, start + size, key, word)
                if part.islower() and _glued(text, start, start + len(token)):
                    return Left(start, start + size, key, word, True)
            elif low in self.weak and _written(part, self.weak[low][1]):
                key, word = self.weak[low]
                if token.startswith(part) and _names_here(text, start, start + len(part), key[0]):
                    return Left(start, start + len(part), key, word)
        return None


def _without(text: str, taken: Sequence[tuple[int, int]]) -> str:
    """Hide what is taken, unless a word begins before it and goes on there."""
    pieces, done = [], 0
    for start, end in sorted(taken):
        if start < done or (start and _IN_WORD.match(text, start - 1)):
            continue
        pieces += [text[done:start], "\0" * (end - start)]
        done = end
    return "".join([*pieces, text[done:]])


def _merged(text: str, found: Sequence[Left]) -> list[Left]:
    """Join neighbours that are words of one name: "Pellucid" and "Arden" of "Pellucid-Arden"."""
    out: list[Left] = []
    for left in found:
        last = out[-1] if out else None
        if (
            last is not None
            and last.key == left.key
            and not (last.glued or left.glued)
            and text[last.end : left.start] in ("-", "‑", " ", " & ", "&", "/")
        ):
            out[-1] = Left(last.start, left.end, left.key, text[last.start : left.end])
        else:
            out.append(left)
    return out


def _touches(start: int, end: int, spans: Sequence[tuple[int, int]]) -> bool:
    return any(low < end and start < high for low, high in spans)


def _glued(text: str, start: int, end: int) -> bool:
    """Whether a word in lower case is a part of an address, a handle, a path or an identifier."""
    before = text[max(0, start - 2) : start]
    after = text[end : end + 2]
    if before[-1:] and before[-1] in "@#\\=":
        return True
    if len(before) == 2 and before[1] in "._/" and not before[0].isspace():
        return True
    if len(after) < 2:
        return False
    return (after[0] in "@._/+=\\" and after[1].isalnum()) or (
        after[0] == ":" and after[1].isdigit()
    )


def _names_here(text: str, start: int, end: int, category: str) -> bool:
    """Whether an ordinary word in capitals must be a name where it stands."""
    if category == "Person" and title_before(text, start):
        return True
    if _CAPITAL_NEXT.match(text, end) or _BARRED.search(text, max(0, start - 40), start):
        return False
    if re.search(rf"(?<![^\W_]){re.escape(text[start:end].lower())}(?![^\W_])", text):
        return False
    if opens_sentence(text, start):
        return category == "Person" and _VERB.match(text, end) is not None
    return True


def is_short_form(mention: Mention, names: Mapping[Key, Collection[str]]) -> Key | None:
    """Return the exchanged name that a mention, an entity of its own, is a short form of.

    Parameters
    ----------
    mention : Mention
        One that is not exchanged.
    names : mapping
        (category, entity) -> forms of the names that are.

    Returns
    -------
    (str, str) or None
        The first such name: one of the mention's category, else one of a person or organisation,
        which a recogniser takes for one another; then the same name counts too. Places are never
        short forms: "Europe" is not "Western Europe".
    """
    if mention.category not in _NAMES:
        return None
    words = {fold(w) for w in words_of(_bare(mention.surface))}
    if not words:
        return None
    for same in (True, False):
        for key, forms in names.items():
            category = key[0]
            if (category == mention.category) != same or category not in _NAMES:
                continue
            if not same and ("Event" in (category, mention.category) or category == "Product"):
                continue
            for form in (*forms, key[1]):
                whole = {fold(w) for w in words_of(_bare(form))}
                telling = {fold(w) for w in distinctive_words(_bare(form), category)}
                if telling & words and (words < whole or (words == whole and not same)):
                    return key
    return None


def short_entities(
    mentions: Iterable[Mention], names: Mapping[Key, Collection[str]]
) -> dict[Key, Key]:
    """Return the entities of a chunk that are nothing but short forms of exchanged names.

    Parameters
    ----------
    mentions : iterable of Mention
        Of one chunk.
    names : mapping
        (category, entity) -> forms of the names that are exchanged.

    Returns
    -------
    dict
        (category, entity) of the short form -> (category, entity) of the name.
    """
    found: dict[Key, set[Key | None]] = {}
    for mention in mentions:
        key = (mention.category, entity_of(mention))
        if key not in names:
            found.setdefault(key, set()).add(is_short_form(mention, names))
    return {
        key: whole
        for key, wholes in found.items()
        if len(wholes) == 1 and (whole := next(iter(wholes))) is not None
    }


def find_left(
    text: str,
    names: Mapping[Key, Sequence[str]],
    taken: Sequence[tuple[int, int]],
    held: Collection[str] = (),
    ordinary: Collection[str] | None = None,
    kept: Sequence[tuple[int, int]] = (),
    reach: Sequence[tuple[int, int]] = (),
) -> list[Left]:
    """Return forms of exchanged names that no mention covers.

    Parameters
    ----------
    text : str
    names : mapping
        (category, entity) -> forms that the chunk has, longest first.
    taken : sequence of (int, int)
        Offsets of mentions that are replaced; placeholders are added.
    held : collection of str
        Folded words of names that stay (:func:`words_held`).
    ordinary : collection of str, optional
        Further ordinary words, folded.
    kept, reach : sequence of (int, int)
        Offsets of mentions that stay, and of their whole names: no single word is found there.
        A whole name is found where it covers a kept mention that is a smaller part of it ("Care" of
        "Personal Care"); it takes its place.

    Returns
    -------
    list of Left
        In order, disjoint.

    Examples
    --------
    >>> names = {("Person", "Maria Lindqvist"): ("Maria Lindqvist",)}
    >>> text = "Maria Lindqvist sued. Lindqvist's claim failed."
    >>> [text[f.start : f.end] for f in find_left(text, names, [(0, 15)])]
    ['Lindqvist']
    """
    if not names:
        return []
    spans = sorted([*taken, *placeholder_spans(text)])
    return Names(names, held, ordinary).find(text, spans, kept, reach)


def _new_names(value: Any) -> tuple[str, ...]:
    """Return the names that come in for one entity: a string, or an object with forms."""
    return (value,) if isinstance(value, str) else (value.entity, *value.forms)


def given_away(
    text_before: str,
    mentions: Iterable[Mention],
    mapping: Mapping[Any, Any],
    text_after: str,
    *,
    ordinary: Collection[str] | None = None,
    figures: Collection[int] = (),
) -> list[str]:
    """Return the words of exchanged names that a chunk still shows after its exchange.

    Parameters
    ----------
    text_before : str
        Chunk text that the mentions are of.
    mentions : iterable of Mention
        All mentions of the chunk, of every category.
    mapping : mapping
        (category, entity), or the entity alone, -> the name that came in its place: a string (a
        placeholder too) or a :class:`~nes_spark.swapping.rewriting.Replacement`.
    text_after : str
        Chunk text as it is to be released.
    ordinary : collection of str, optional
        Further words that are ordinary, folded: for example those that the corpus has in lower
        case.
    figures : collection of int, optional
        Where figures end in the text after that came in for others.

    Returns
    -------
    list of str
        Words, or whole names of ordinary words, as the names have them; sorted, each once. Empty
        for a chunk that gives nothing away.

    Notes
    -----
    Flagged are distinctive words (:func:`~nes_spark.entities.distinctive.distinctive_words`), an
    ordinary surname behind a title ("Mr. Stone"), acronyms, and whole names of several words. Not
    flagged is what a name that came in holds; what a mention holds that was not exchanged, unless
    it is a short form of one that was; what the text before has in lower case too; what stands
    inside a placeholder; a name that ends in a digit where the number goes on, or where the figure
    is another's: "Aim 2" was "Aim 3", and is there by chance.

    Examples
    --------
    >>> text = "Orion Widgets Ltd. lost. Orion appealed."
    >>> mentions = [Mention(0, 18, "Organization", "Orion Widgets Ltd.", "Orion Widgets")]
    >>> given_away(text, mentions, {"Orion Widgets": "Vega"}, "Vega lost. Orion appealed.")
    ['Orion']
    >>> given_away(text, mentions, {"Orion Widgets": "Vega"}, "Vega lost. Vega appealed.")
    []
    """
    gone: list[Mention] = []
    others: list[Mention] = []
    incoming: set[str] = set()
    for mention in mentions:
        key = (mention.category, entity_of(mention))
        new = mapping.get(key, mapping.get(key[1]))
        if new is None:
            others.append(mention)
            continue
        gone.append(mention)
        incoming |= words_held(_new_names(new))
    if not gone:
        return []
    forms = forms_of(gone)
    short = short_entities(others, forms)
    kept = [m for m in others if (m.category, entity_of(m)) not in short]
    whole = {
        text_before[slice(*span)] for span in reaches(text_before, kept, [*gone, *others], forms)
    }
    held = incoming | words_held(whole | {m.entity for m in kept})
    stands = placeholder_spans(text_after)
    # What is ordinary only shortens the search, and few chunks show letters of a name at all: the
    # text before is read for those.
    if not Names(forms, held, ordinary).may_find(text_after, stands):
        return []
    lower = {
        fold(word.group())
        for word in WORD.finditer(text_before)
        if word.group().islower()
        and len(word.group()) > 2
        and not _glued(text_before, *word.span())
    }
    names = Names(forms, held, lower | set(ordinary or ()))
    found = set()
    for left in names.find(text_after, stands):
        # "Series 0" is not in "Series 0.3 billion", which another figure may have made
        if left.form[-1].isdigit() and (
            left.end in figures or _FRACTION.match(text_after, left.end)
        ):
            continue
        weak = len(words_of(left.form)) == 1 and fold(left.form) in names.weak
        if not weak or title_before(text_after, left.start):
            found.add(left.form)
    return sorted(found)
