"""Clues: pieces of a text that told a reader whose it is, and where they stand.

A language model that names the source of a released text can say which words told. These are
replaced, the texts are shown again, and so on, until it fails: adversarial anonymization (Staab,
Vero, Balunovic & Vechev, "Large language models are advanced anonymizers", 2025), with the words
left out instead of a text that the model writes anew, so that what a release says was said.

Words are compared without case and accents, singular and plural as one. That asks the dictionary,
and joins more than :func:`nes_spark.entities.terms.stem`: "gases" are "gas", and "news" is not
"new". A clue was read in a released text: what an exchange brought in there stands nowhere in the
original, so of such a clue the pieces that do are taken.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import (
    Collection,
    Hashable,
    Iterable,
    Iterator,
    KeysView,
    Mapping,
    Sequence,
)
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import NamedTuple, TypeVar

from nes_spark.entities.distinctive import FUNCTION_WORDS
from nes_spark.entities.mentions import PLACEHOLDER, Mention, placeholder_spans
from nes_spark.entities.terms import TERM, is_everyday, is_people, is_talk, kin_of
from nes_spark.entities.wordforms import Kind, is_word, kinds_of
from nes_spark.text.forms import Words, fold

K = TypeVar("K", bound=Hashable)

#: Category of clues.
CLUE = "Clue"
#: What an apostrophe cuts off, and all words of grammar of a clue; those have the apostrophe.
CUT_OFF = frozenset({"s", "t", "d", "m", "ll", "re", "ve"})
GRAMMAR = FUNCTION_WORDS | {"ll", "re", "ve"} | {f"'{word}" for word in CUT_OFF}
#: Nouns whose plural ends in -ves, and longer ones of them. "Believes" is none of "belief".
IN_F = (
    "calf", "elf", "half", "hoof", "knife", "leaf", "life", "loaf", "scarf", "thief", "wife", "wolf"
)  # fmt: skip
#: Plurals that no rule makes.
PLURALS = {
    "child": "children", "foot": "feet", "goose": "geese", "mouse": "mice", "ox": "oxen",
    "tooth": "teeth", "criterion": "criteria", "phenomenon": "phenomena", "quiz": "quizzes",
    "appendix": "appendices", "index": "indices", "matrix": "matrices", "vertex": "vertices",
    "vortex": "vortices",
}  # fmt: skip
_SINGULARS = {many: one for one, many in PLURALS.items()}
#: A single word of a dictionary that more names have tells none of them.
FEW_NAMES = 3
#: How long a clue may be, in words.
MOST_WORDS = 40

#: Between two words of a clue: no placeholder, and no new paragraph.
_GAP = re.compile(r"(?:[^\w\[\]]|_){0,12}")
#: A number that is one word: of "forty-six" no "-six" stays.
_COMPOUND = re.compile(
    r"(?<![\w-])(?:twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)"
    r"-(?:one|two|three|four|five|six|seven|eight|nine)(?![\w-])",
    re.IGNORECASE,
)
#: Of a compound no such word stays by itself: "sell-through", "bolt-on", "so-called".
_PARTICLES = frozenset({
    "at", "away", "back", "by", "down", "in", "of", "off", "on", "out", "over", "so", "through",
    "stand", "to", "under", "up",
})  # fmt: skip
_HYPHENED = re.compile(r"(?<![\w'’-])[^\W\d_]+(?:-[^\W\d_]+)+(?![\w-])")
#: What who wrote down a talk says of it: "<unk>", "<laugh>", "<foreign language>".
_NOTE = re.compile(r"<[a-z]+(?: [a-z]+){0,2}>")
_PARAGRAPH, _SPACE = re.compile(r"\n\s*\n"), re.compile(r"\s+")
#: What stands between two pieces that become one.
_TOGETHER = re.compile(r"[ \-/]?")
#: Behind one of these what it cuts off is a word of its own: "model's" is no "Model S".
_APOSTROPHES = frozenset("'’‘ʼ`´")
#: Single letters that are words, unless they are written large behind another ("Phase I").
_LETTER_WORDS = frozenset({"a", "i"})
_LETTERS = re.compile(r"[^\W\d_]{3,}")
#: Letters and digits in capitals: EV, B2B, 5G. What counts quarters and years is everybody's.
_CODE = re.compile(r"(?!(?:[QH]|FY)\d)(?:[A-Z][A-Z0-9]+|[2-9]G)s?")
#: Numbers, however written, and the forms that everybody files (10-K).
_NUMBER = re.compile(r"[\d\W]+(?:-[A-Z])?")
#: What names or describes a thing, and what a verb may be.
_OF_THINGS: frozenset[Kind] = frozenset({"noun", "plural", "adjective"})
_OF_VERBS: frozenset[Kind] = frozenset({"verb", "third", "gerund", "participle"})
_INFLECTED: frozenset[Kind] = frozenset({"plural", "third"})
#: Words of a slogan at least.
_SLOGAN = 3
#: What no singular in -e ends in.
_WITH_ES = ("sses", "shes", "xes", "zzes")
#: Words that only look like plurals.
_SINGULAR = ("ss", "us", "is")


class Clue(NamedTuple):
    """Words that told whose a text is.

    Attributes
    ----------
    words : tuple of str
        Singular, without case and accents; what an apostrophe cut off has it ("'s").
    wide : bool
        Whether they tell wherever they stand in texts of the same secret. A single word does that
        everybody uses, a verb or a number only in its own chunk.
    """

    words: tuple[str, ...]
    wide: bool


class Clues:
    """Clues to look for in many texts, by the word that each begins with.

    So the work that a text makes grows with its words, and not with the clues of its secret.

    Parameters
    ----------
    clues : iterable of sequence of str
        The words of each (:class:`Clue`).
    besides : Clues, optional
        Others to look for as well; they are not copied.
    """

    def __init__(self, clues: Iterable[Sequence[str]], besides: Clues | None = None) -> None:
        mine: defaultdict[str, set[tuple[str, ...]]] = defaultdict(set)
        for words in clues:
            if words:
                mine[words[0]].add(tuple(words))
        self._parts: list[Mapping[str, set[tuple[str, ...]]]] = [mine]
        if besides is not None:
            self._parts += besides._parts

    def __bool__(self) -> bool:
        return any(self._parts)

    def beginning(self, words: KeysView[str]) -> Iterator[tuple[str, ...]]:
        """Return the clues that begin with one of some words."""
        for part in self._parts:
            for word in part.keys() & words:
                yield from part[word]


class Read(NamedTuple):
    """What a text has of a clue.

    Attributes
    ----------
    given : str
        The clue as a reader gave it.
    clue : Clue
    whole : bool
        Whether the text has all of it; else this is a piece.
    """

    given: str
    clue: Clue
    whole: bool


def read_clue(clue: str, text: str) -> list[Clue]:
    """Return what of a clue stands in a text, without words of grammar at its ends.

    Parameters
    ----------
    clue : str
        As a reader gave it, copied from the released text.
    text : str
        The chunk before the exchange.

    Returns
    -------
    list of Clue
        The clue itself where the text has it, else its longest pieces that the text has, of two
        words and more besides those of grammar, or of one that names a thing and that not
        everybody uses. A clue of three words and more with no or one word besides those of grammar
        is a slogan: all of its words in a row, and the one by itself where it tells. Nothing of a
        clue of more than :data:`MOST_WORDS` words, which is no clue but the text.

    Examples
    --------
    >>> text = "The high pressure solution segment of Acme grew, and segments grow. Just do it!"
    >>> read_clue("the high-pressure solution segments", text)
    [Clue(words=('high', 'pressure', 'solution', 'segment'), wide=True)]
    >>> read_clue("pressure solutions of Hadria", text), read_clue("segments of Hadria", text)
    ([Clue(words=('pressure', 'solution'), wide=True)], [])
    >>> read_clue("grew", text), read_clue("of the", text)
    ([Clue(words=('grew',), wide=False)], [])
    >>> read_clue("Just do it", text)
    [Clue(words=('just', 'do', 'it'), wide=True)]
    """
    return list(dict.fromkeys(read.clue for read in read_clues([clue], text)))


def read_clues(clues: Iterable[str], text: str) -> list[Read]:
    """Return what of several clues stands in a text (:func:`read_clue`), looked at once.

    Examples
    --------
    >>> found = read_clues(["Hadria turboprops", "cement"], "Cement plants and turboprops.")
    >>> [(one.clue.words, one.whole) for one in found]
    [(('turboprop',), False), (('cement',), True)]
    """
    here = _Places(text)
    found: list[Read] = []
    for given in clues:
        pieces = PLACEHOLDER.split(given)
        parts = [_parsed(piece) for piece in pieces]
        parts = [part for part in parts if 0 < len(part.keys) <= MOST_WORDS]
        whole = all(here.has(part.keys) for part in parts)
        for part in parts:
            if here.has(part.keys):
                mine = part.clues(may_be_slogan=len(pieces) == 1)
            else:
                mine = part.pieces(here)
            found += [Read(given, clue, whole) for clue in mine]
    return found


def words_of(text: str) -> tuple[str, ...]:
    """Return the words of a text as clues have them: all of them, in the singular.

    Examples
    --------
    >>> words_of("ready-mixes")
    ('ready', 'mix')
    """
    return tuple(_Places(text).keys)


def words_at(text: str, mentions: Iterable[Mention] = ()) -> list[tuple[int, int, str, bool]]:
    """Return where the words of a text stand, outside mentions and placeholders.

    Returns
    -------
    list of (int, int, str, bool)
        Start, end, the word as clues have it, and whether it is one besides those of grammar,
        single letters and what is left of "don't".

    Examples
    --------
    >>> words_at("The kilns ran.")
    [(0, 3, 'the', False), (4, 9, 'kiln', True), (10, 13, 'ran', True)]
    """
    return _Places(text).outside((m.start, m.end) for m in mentions)


def words_besides_talk(text: str) -> set[str]:
    """Return the words of a text that may be telling words: none of grammar, of talk, no numbers.

    Examples
    --------
    >>> sorted(words_besides_talk("I think 40 kilns fired."))
    ['fired', 'kiln']
    """
    return {word for *_, word, plain in words_at(text) if plain and is_of_a_subject(word)}


#: Before the placeholder of somebody they tell nothing, and "[Term]. [Person 1]" is no sentence.
_BEFORE_PEOPLE = frozenset({"dr", "mister", "mr", "mrs", "ms", "mx", "prof"})


@lru_cache(maxsize=65_536)
def is_of_a_subject(word: str) -> bool:
    """Whether a word, as clues have it, has a letter and is none of talk and no "Mr" or "Dr"."""
    return any(map(str.isalpha, word)) and not is_talk(word) and word not in _BEFORE_PEOPLE


def words_that_tell(clue: str) -> set[str]:
    """Return the words of a clue that may each by itself tell a document.

    Examples
    --------
    >>> sorted(words_that_tell("the all-season tires of Acme grew"))
    ['acme', 'season', 'tire']
    """
    part = _Places(clue)
    return {part.keys[i] for i in part._telling(0, len(part.keys))}


def clue_mentions(
    text: str, clues: Clues | Iterable[Sequence[str]], mentions: Iterable[Mention] = ()
) -> list[Mention]:
    """Return the places of clues in a text as mentions of category Clue.

    Parameters
    ----------
    text : str
    clues : Clues, or iterable of sequence of str
        The words of each (:class:`Clue`). Of many that are looked for in several texts make one
        :class:`Clues`.
    mentions : iterable of Mention
        Nothing is found inside them, nor inside placeholders: of a clue that goes over one the
        rest is taken, without words of grammar at its ends. Terms are no such mentions: those that
        a clue touches become part of it.

    Returns
    -------
    list of Mention
        By start. Clues that overlap, or stand side by side, are one. Its entity is its words.

    Examples
    --------
    >>> [m.surface for m in clue_mentions("Ready mix and ready-mixes grew.", [("ready", "mix")])]
    ['Ready mix', 'ready-mixes']
    """
    sought = clues if isinstance(clues, Clues) else Clues(clues)
    if not sought:
        return []
    here = _Places(text)
    spans = [span for words in sought.beginning(here.at.keys()) for span in here.spans(words)]
    spans += [
        found.span()
        for pattern in (_COMPOUND, _NOTE)
        for found in pattern.finditer(text)
        if any(start < found.end() and found.start() < end for start, end in spans)
    ]
    spans += [found.span() for found in _HYPHENED.finditer(text) if _leaves_particles(found, spans)]
    terms: list[tuple[int, int]] = []
    others = placeholder_spans(text)
    for mention in mentions:
        (terms if mention.category == TERM else others).append((mention.start, mention.end))
    whole = _joined(text, spans)
    pieces = [
        piece if piece in whole else _trimmed(text, *piece)
        for piece in _outside(whole, sorted(others))
    ]
    found = [piece for piece in pieces if piece is not None]
    out: list[Mention] = []
    for start, end in _joined(text, [*found, *terms], others):
        if any(start <= begin < end for begin, _ in found):
            surface = text[start:end]
            out.append(Mention(start, end, CLUE, surface, " ".join(words_of(surface))))
    return out


def clues_and_terms(
    text: str, clues: Clues | Iterable[Sequence[str]], mentions: Collection[Mention]
) -> list[Mention]:
    """Return the places of clues (:func:`clue_mentions`), and the terms that none of them touches.

    Examples
    --------
    >>> terms = [Mention(0, 6, TERM, "Cement"), Mention(18, 23, TERM, "sales")]
    >>> [m.surface for m in clues_and_terms("Cement kilns, and sales", [("kiln",)], terms)]
    ['Cement kilns', 'sales']
    """
    found = clue_mentions(text, clues, mentions)
    inside = [(clue.start, clue.end) for clue in found]
    return found + [
        term
        for term in mentions
        if term.category == TERM and not any(start <= term.start < end for start, end in inside)
    ]


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
    told |= {word.upper() for word in told}
    pairs = [pair for pair in pairwise(words) if told.issuperset(pair)]
    told |= {joint.join(pair) for pair in pairs for joint in ("", "-")}
    for word in [*told]:
        if word in PLURALS:
            told.add(PLURALS[word])
        if word.endswith("man"):
            told.add(word[:-3] + "men")
        if is_people(word.capitalize()):
            told.add(word.capitalize())
        if word.endswith(IN_F):
            told.add(word.rstrip("e")[:-1] + "ves")
        if word.endswith("sis"):
            told.add(word[:-2] + "es")
    return sorted({kin for word in told for kin in kin_of(word)})


def names_barred(names: Iterable[str], clues: Mapping[K, Iterable[str]]) -> dict[K, set[str]]:
    """Return the names that would give back what clues told.

    A recogniser may miss a name in one text that it knows in another.

    Parameters
    ----------
    names : iterable of str
        Entities.
    clues : mapping of object to iterable of str
        Secret -> entities of mentions of category :data:`CLUE` of its texts.

    Returns
    -------
    dict
        Secret -> names with a whole clue, two of its words in a row besides those of grammar, or
        one that tells by itself or is no word of a dictionary; apart or in one word. A word of a
        dictionary that more than :data:`FEW_NAMES` names have ("Energy") gives nothing back.

    Examples
    --------
    >>> names = ["KingAir", "Bank of Canada", "Galleri"]
    >>> sorted(names_barred(names, {"Acme": ["king air", "galleri"]})["Acme"])
    ['Galleri', 'KingAir']
    """
    having: defaultdict[str, list[str]] = defaultdict(list)
    for name in names:
        for piece in name_pieces(name):
            having[piece].append(name)
    for piece in [one for one, mine in having.items() if len(mine) > FEW_NAMES]:
        if is_plain_word(piece):
            del having[piece]
    return {
        secret: {
            name for clue in told for piece in clue_pieces(clue) for name in having.get(piece, ())
        }
        for secret, told in clues.items()
    }


def is_plain_word(piece: str) -> bool:
    """Whether a piece of a name is a single word of a dictionary."""
    return " " not in piece and is_word(piece)


def clue_pieces(clue: str) -> list[str]:
    """Return the rows of words of a clue that tell, for :func:`names_barred`."""
    part = _Places(clue)
    keys, full = part.keys, part.full
    n = len(keys)
    telling = {*part._telling(0, n)} | {i for i in range(n) if full[i] and not is_word(keys[i])}
    # of a slogan, and of "AT&T", all words are of grammar
    return _pieces(
        keys[i:j]
        for i in range(n)
        for j in range(i + 1, n + 1)
        if j - i == n or (i in telling if j == i + 1 else full[i] and full[j - 1])
    )


def name_pieces(name: str) -> list[str]:
    """Return the rows of words of a name, for :func:`names_barred`."""
    keys = words_of(name)
    return _pieces(keys[i:j] for i in range(len(keys)) for j in range(i + 1, len(keys) + 1))


def _pieces(rows: Iterable[Sequence[str]]) -> list[str]:
    """Return rows of words, apart and in one word: "King Air", "KingAir"."""
    return list(dict.fromkeys(joint.join(row) for row in rows for joint in (" ", "")))


class _Places:
    """Where words stand in a text, and which of them are words of grammar."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._words = Words(text)
        self.keys = [_key(word) for word in self._words.spelled]
        for i, key in enumerate(self.keys):
            if key in CUT_OFF and self._gap(i) in _APOSTROPHES:
                self.keys[i] = f"'{key}"

    @cached_property
    def at(self) -> Mapping[str, list[int]]:
        """Where each word stands, but for placeholders, in which no clue stands."""
        found: defaultdict[str, list[int]] = defaultdict(list)
        inside = placeholder_spans(self._text)
        starts = [start for start, _ in inside]
        for i, key in enumerate(self.keys):
            before = bisect_right(starts, self._words.starts(i)) - 1 if inside else -1
            if before < 0 or inside[before][1] <= self._words.starts(i):
                found[key].append(i)
        return found

    def _gap(self, i: int) -> str:
        """Return what stands before a word."""
        return self._text[self._words.ends(i - 1) if i else 0 : self._words.starts(i)]

    def has(self, words: Sequence[str]) -> bool:
        return next(self._found(words), None) is not None

    def spans(self, words: Sequence[str]) -> list[tuple[int, int]]:
        """Return where the words stand in a row."""
        last = len(words) - 1
        return [(self._words.starts(i), self._words.ends(i + last)) for i in self._found(words)]

    def outside(self, mentions: Iterable[tuple[int, int]]) -> list[tuple[int, int, str, bool]]:
        """Return the words that begin neither in a mention nor in a placeholder."""
        blocked = iter(sorted([*mentions, *placeholder_spans(self._text)]))
        none = (len(self._text) + 1,) * 2
        begin, stop = next(blocked, none)
        out = []
        for (start, end), key, plain in zip(
            self._words.bounds(), self.keys, self.plain, strict=True
        ):
            while stop <= start:
                begin, stop = next(blocked, none)
            if start < begin:
                out.append((start, end, key, plain))
        return out

    def _found(self, words: Sequence[str]) -> Iterator[int]:
        n = len(words)
        for i in self.at.get(words[0], ()) if words else ():
            if (
                self.keys[i : i + n] == [*words]
                and self.keys[i + n : i + n + 1] != ["'t"]  # "won't" is no "won"
                and all(map(self._leads_on, range(i + 1, i + n)))
            ):
                yield i

    def _leads_on(self, i: int) -> bool:
        """Whether a word stands in a row with that before it, over white space of any length."""
        gap = self._gap(i)
        return not _PARAGRAPH.search(gap) and bool(_GAP.fullmatch(_SPACE.sub(" ", gap)))

    @cached_property
    def plain(self) -> list[bool]:
        """Whether each word is one besides those of grammar, by itself."""
        after = [*self.keys, ""][1:]
        return [
            len(key) > 1 and key not in GRAMMAR and then != "'t"
            for key, then in zip(self.keys, after, strict=True)
        ]

    @cached_property
    def full(self) -> list[bool]:
        """Whether each word is one besides those of grammar, where it stands."""
        plain = self.plain
        return [plain[i] or self._belongs(i, plain) for i in range(len(self.keys))]

    def _belongs(self, i: int, plain: Sequence[bool]) -> bool:
        """Whether letters that may be a word of grammar are part of a name: "Model S", "AT&T"."""
        key, spelled = self.keys[i], self._words.spelled
        beside = [k for k in (i - 1, i + 1) if 0 <= k < len(spelled)]
        by_sign = any(spelled[k] == "&" for k in beside)
        if len(key) > 1:
            return by_sign and spelled[i].isupper()
        if by_sign or not key.isalpha():
            return True
        if any(self._gap(max(i, k)) in (".", "-") for k in beside):
            return True
        if key in _LETTER_WORDS:
            return spelled[i].isupper() and i > 0 and plain[i - 1]
        return key not in CUT_OFF or any(plain[k] for k in beside)

    def clues(self, may_be_slogan: bool) -> list[Clue]:
        """Make clues of the whole text."""
        keys, full = self.keys, self.full
        words = sum(not key.startswith("'") for key in keys)
        if may_be_slogan and words >= _SLOGAN and sum(full) < 2:
            slogan = Clue(tuple(keys), True)
            return [slogan, *(Clue((keys[i],), True) for i in self._telling(0, len(keys)))]
        return self._clue(0, len(keys))

    def pieces(self, here: _Places) -> list[Clue]:
        """Make clues of what another text has of this one."""
        out, left = [], [(0, len(self.keys))]
        while left:
            start, stop = left.pop()
            begin, end = self._longest(here, start, stop)
            found = sum(self.full[begin:end])
            if found:
                left += [(end, stop), (start, begin)]
                if found > 1 or any(map(self._names, self._telling(begin, end))):
                    out += self._clue(begin, end)
        return out

    def _longest(self, here: _Places, start: int, stop: int) -> tuple[int, int]:
        """Return the first of the longest runs that another text has, words of grammar last."""
        best, most, end = (start, start), (0, 0), start
        for begin in range(start, stop):
            end = max(begin, end)
            while end < stop and here.has(self.keys[begin : end + 1]):
                end += 1
            size = sum(self.full[begin:end]), end - begin
            if size > most:
                best, most = (begin, end), size
        return best

    def _clue(self, begin: int, end: int) -> list[Clue]:
        """Make a clue of words, without those of grammar at its ends; none where none is left."""
        kept = [i for i in range(begin, end) if self.full[i]]
        if not kept:
            return []
        begin, end = kept[0], kept[-1] + 1
        surface = self._text[self._words.starts(begin) : self._words.ends(end - 1)]
        several = len(kept) > 1 and not _NUMBER.fullmatch(surface)
        wide = several or bool(self._telling(begin, end))
        return [Clue(tuple(self.keys[begin:end]), wide)]

    def _telling(self, begin: int, end: int) -> list[int]:
        """Return which words may each by itself tell a document."""
        return [
            i
            for i in range(begin, end)
            if self.full[i]
            and (_LETTERS.fullmatch(self.keys[i]) or _CODE.fullmatch(self._words.spelled[i]))
            and not is_everyday(self.keys[i])
            and not _OF_THINGS.isdisjoint(kinds_of(self.keys[i]))
        ]

    def _names(self, i: int) -> bool:
        """Whether a word is the name of a thing, and no verb."""
        kinds = kinds_of(self.keys[i])
        return "noun" in kinds and _OF_VERBS.isdisjoint(kinds) and not self.keys[i].endswith("ing")

    def trimmed(self) -> tuple[int, int] | None:
        """Return where its words begin and end, without those of grammar at both ends."""
        kept = [i for i, full in enumerate(self.full) if full]
        return (self._words.starts(kept[0]), self._words.ends(kept[-1])) if kept else None


@lru_cache(maxsize=16_384)
def _parsed(clue: str) -> _Places:
    """Return the words of a clue, which is looked for in all texts of its secret."""
    return _Places(clue)


@lru_cache(maxsize=65_536)
def _key(word: str) -> str:
    """Return what the singular and the plural of a word share, without case and accents."""
    low = fold(word)
    if low in _SINGULARS:
        return _SINGULARS[low]
    if low.endswith("men") and is_word(low) and is_word(one := f"{low[:-3]}man"):
        return one
    # "wells" are no "well"
    if len(low) < 3 or low[-1] != "s" or not FUNCTION_WORDS.isdisjoint((low, low[:-1])):
        return low
    # letters in capitals: their plural ends as no other does ("GPUs")
    return low[:-1] if word[-1] == "s" and word[:-1].isupper() else _singular(low)


def _singular(low: str) -> str:
    kinds = kinds_of(low)
    known = is_word(low)
    if known and ("noun" in kinds or kinds.isdisjoint(_INFLECTED)):
        return low
    forms = [low[:-1]]
    if low.endswith("ves"):
        forms = [form for end in ("f", "fe") if (form := low[:-3] + end).endswith(IN_F)] + forms
    if low.endswith("ies"):
        forms.append(f"{low[:-3]}y")
    if low.endswith("es"):
        forms.insert(len(forms) * (not low.endswith(_WITH_ES)), low[:-2])
    if low.endswith("ses"):
        forms.append(f"{low[:-2]}is")
    words = [form for form in forms if is_word(form)]
    # "diagnoses": a noun rather than a verb
    words.sort(key=lambda form: "noun" not in kinds_of(form))
    if words:
        return words[0]
    return low if low.endswith(_SINGULAR) else low[:-1]


def _leaves_particles(compound: re.Match[str], spans: Collection[tuple[int, int]]) -> bool:
    """Whether spans take words of a compound, and leave nothing but particles of it.

    "[Term]-through" reads badly, and tells "sell-through"; "[Term]-based" and "non-[Term]" do
    neither. Nor do they take a prefix by itself: "[Term]-chairman".
    """
    words, at = compound.group().lower().split("-"), compound.start()
    taken: list[str] = []
    rest: list[str] = []
    for word in words:
        mine = taken if any(start <= at < end for start, end in spans) else rest
        mine.append(word)
        at += len(word) + 1
    prefix = taken == words[:1] and len(words[0]) < 3
    return bool(taken and rest) and (prefix or _PARTICLES.issuperset(rest))


def _joined(
    text: str, spans: Collection[tuple[int, int]], blocked: Collection[tuple[int, int]] = ()
) -> list[tuple[int, int]]:
    """Make one of spans that overlap or stand side by side, with nothing blocked between them."""
    out: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        last = out[-1][1] if out else -1
        together = last >= 0 and (start <= last or _TOGETHER.fullmatch(text, last, start))
        if together and not any(begin < start and stop > last for begin, stop in blocked):
            out[-1] = out[-1][0], max(end, last)
        else:
            out.append((start, end))
    return out


def _outside(
    spans: Iterable[tuple[int, int]], blocked: Sequence[tuple[int, int]]
) -> list[tuple[int, int]]:
    """Return what of disjoint spans lies outside others, both by start."""
    out = []
    for start, end in spans:
        for begin, stop in blocked:
            if stop <= start or begin >= end:
                continue
            if begin > start:
                out.append((start, begin))
            start = max(start, stop)
        if start < end:
            out.append((start, end))
    return out


def _trimmed(text: str, start: int, end: int) -> tuple[int, int] | None:
    """Cut what is no word, and words of grammar, off both ends of a span."""
    kept = _Places(text[start:end]).trimmed()
    return kept and (start + kept[0], start + kept[1])
