"""Find spans that look like proper names, and say what they are from words and context.

A maximum-entropy classifier over a span, its context and word lists. It is the second opinion
beside the neural recogniser, which sees too few products: it judges every span that is written like
a name, also those that the recogniser passed over.
"""

from __future__ import annotations

import re
import zlib
from bisect import bisect_left
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import accumulate
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from nes_spark.entities.currencies import NO_PLACE
from nes_spark.entities.distinctive import GEOGRAPHY, INSTITUTIONS
from nes_spark.entities.lists import read_lists
from nes_spark.entities.wordforms import ROMAN, is_word, kinds_of
from nes_spark.entities.wordvectors import WordVectors
from nes_spark.text.headings import Heading, headings
from nes_spark.text.sentences import word_set
from nes_spark.text.vocabulary import DESCRIPTORS

#: Classes in the order of the classifier's columns; O is "no entity".
CLASSES = ("O", "ORG", "PERSON", "LOC", "EVENT", "PRODUCT")
BUCKETS = 1 << 17

_TOKEN = re.compile(r"([^\W_](?:[\w&'’./+\-]*[\w+])?|&)")
#: A full stop without the space that should follow it ("FPL.As a reminder"); no address.
_RUN_ON = re.compile(r"(\.)(?<=[^\W\d_]{3}\.)(?=[A-Z][a-z])(?!(?:Com|Net|Org)\b)")
_APOSTROPHES = ("'", "’")
#: Words that say what a name is, and words that no name begins with.
WORDS = Path(__file__).parent / "data" / "words.txt"
_WORDS = read_lists(WORDS)
TITLES = frozenset(_WORDS["TITLES"])
FUNCTION_WORDS = frozenset(_WORDS["FUNCTION"])
#: Titles that stand before the name of a person, and alone for one; not part of the name.
PERSON_TITLES = frozenset(_WORDS["TITLES OF PERSONS"])
_POST_NOMINALS = frozenset(_WORDS["POST NOMINALS"])
#: Of these those of which no office is called: "Cllr Hall" is somebody.
BEFORE_NAMES = frozenset(["CLLR", "Cllr", "Cllrs"])
#: What may stand between two titles or before one: "Deputy Attorney General", "Chief Constable".
_TITLE_RANKS = frozenset(["Assistant", "Associate", "Deputy", "General", "High", "Lay", "Right"])
_MONTHS = frozenset(_WORDS["MONTHS"])
_NO_NAMES = TITLES | _MONTHS | FUNCTION_WORDS
#: What institutions and companies are called.
BODY_WORDS = INSTITUTIONS | DESCRIPTORS
#: Of these what a section of a report is about: behind words in use it ends no company's name.
_TOPICS = word_set(
    "capital companies company credit data equipment insurance investment investments management "
    "materials operations organization products properties property research resources securities "
    "services supply"
)
#: Letters that a word in capitals has at least, for it to be taken for no abbreviation in a line of
#: such words.
_LEAST_HEADED = 3
#: Words beside a name that tell products from organisations; features, not rules.
CUES = {
    "pa": frozenset(_WORDS["PRODUCT AFTER"]),
    "pb": frozenset(_WORDS["PRODUCT BEFORE"]),
    "oa": frozenset(_WORDS["ORGANIZATION AFTER"]),
    "ob": frozenset(_WORDS["ORGANIZATION BEFORE"]),
}
_FILLERS = frozenset(["uh", "um", "inaudible", "you", "know"])


def _classes(side: str) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for section, members in _WORDS.items():
        if section.startswith(side):
            for member in members:
                found[member] = (*found.get(member, ()), section.removeprefix(side).lower())
    return found


#: Word -> classes of words that stand after a name, and before one.
_AFTER, _BEFORE = _classes("AFTER "), _classes("BEFORE ")
_NO_CLASS = ("-",)
_SENTENCE_BREAK = re.compile(
    r"[.?!…:;]$|[.?!…]['\"”’)]$|>$"
    # speech that begins, after a sentence or a comma
    r"|[.?!…:;,]['\"”’)]*\s*[\"“‘']$"
)
#: Short words with a full stop that begin a name: "St. Helens".
_ABBREVIATED = frozenset(["St", "Ste", "Mt", "Ft"])
_NO_NOUNS = frozenset(["participle", "third", "adverb"])
#: So many letters a general word in capitals has at least, for it to be taken for no abbreviation.
_LEAST_SHOUTED = 5
#: A word in capitals so close before one of these names a trial ("the Phase III DISCOVER trial").
_TRIALS, _NEAR_TRIAL = frozenset(["trial", "trials", "study", "studies", "registry"]), 4


#: "U.S. dollars", "US GAAP": no place is meant, and another country there would be no English.
US_UNIT = re.compile(
    r"(?<!\w)(?:(?:[Tt]he )?U\.?S\.?(?:A\.?)?[ -](?:dollars?|cents?|GAAP|[Tt]reasur(?:y|ies))\b"
    # "equivalent to U.S. $37.5 million", but not "sales in the US $4 million"
    rf"|{NO_PLACE}U\.?S\.? ?(?=\$))"
)
#: Prices of oil and gas, in everybody's use: "at $50 Brent" names nobody, and another name there
#: would be no English. Brent is a given name, too: it is none beside a price and what has one.
BENCHMARKS = re.compile(
    r"\b(?:Henry Hub(?! of [A-Z])|West Texas Intermediate|WTI|TTF|Dated Brent|"
    r"Brents?(?= (?:crude|oil|prices?|futures|barrels?)\b)|"
    r"(?<=\bthe )Brent(?= (?:was|is|rose|fell|went|averaged)\b)|"
    r"(?:(?<=\$\d\d )|(?<=\$\d\d\d )|(?<=\$\d\d\.\d )|(?<=\$\d\d\.\d\d )|(?<=[Vv]ersus )|"
    r"(?<=priced off ))Brents?"
    r"(?=[.,;:)]|\s*$| (?:and|or|per|for|in|on|at|was|were|rose|fell)\b))(?!\w)"
)


@dataclass
class Lexicon:
    """Word lists that features and rules look into.

    Attributes
    ----------
    given : frozenset of str
        Given names; ``ambiguous`` those that are common words or places too.
    places, organizations, products, events : frozenset of str
        Names of the gazetteers.
    jargon : frozenset of str
        Forms that are never an entity.
    common : frozenset of str
        Words that are usual in lower case.
    """

    given: frozenset[str] = frozenset()
    ambiguous: frozenset[str] = frozenset()
    places: frozenset[str] = frozenset()
    organizations: frozenset[str] = frozenset()
    products: frozenset[str] = frozenset()
    events: frozenset[str] = frozenset()
    jargon: frozenset[str] = frozenset()
    common: frozenset[str] = frozenset()

    FIELDS = (
        "given",
        "ambiguous",
        "places",
        "organizations",
        "products",
        "events",
        "jargon",
        "common",
    )

    def to_dict(self) -> dict[str, list[str]]:
        """Return the lists, sorted, for a JSON file."""
        return {name: sorted(getattr(self, name)) for name in self.FIELDS}

    @classmethod
    def from_dict(cls, content: Mapping[str, Sequence[str]]) -> Lexicon:
        """Build from what :meth:`to_dict` returned."""
        return cls(**{name: frozenset(content[name]) for name in cls.FIELDS})


@dataclass(frozen=True)
class Words:
    """The words of a text with their offsets, once for all spans of it."""

    text: str
    words: list[str]
    starts: list[int]
    ends: list[int]
    initial: list[bool] = field(repr=False)

    @classmethod
    def of(cls, text: str) -> Words:
        """Split a text."""
        # gaps and words in turn; cheaper than a match object a word
        parts = _TOKEN.split(text)
        if _RUN_ON.search(text):
            parts = [piece for part in parts for piece in _RUN_ON.split(part)]
        bounds = list(accumulate(map(len, parts)))
        words, starts, ends = parts[1::2], bounds[:-1:2], bounds[1::2]
        gaps = parts[:-1:2]
        for i, word in enumerate(words):
            if word[-1] == "s" and word[-2:-1] in _APOSTROPHES and len(word) > 2:
                for suffix in ("'s", "’s"):
                    if word.endswith(suffix) and len(word) > 2:
                        word = word[:-2]
                words[i] = word
                ends[i] = starts[i] + len(word)
                if i + 1 < len(words):
                    gaps[i + 1] = text[ends[i] : starts[i + 1]]
        initial = [
            gap != " "
            and ("\n" in gap or bool((bare := gap.strip()) and _SENTENCE_BREAK.search(bare)))
            for gap in gaps
        ]
        for i in range(1, len(words)):
            # the number of a paragraph, "[12] Some text"
            if gaps[i] == "] " and gaps[i - 1].endswith("[") and words[i - 1].isdigit():
                initial[i] = True
        if initial:
            initial[0] = True
        return cls(text, words, starts, ends, initial)

    @cached_property
    def shouted(self) -> list[bool]:
        """Of each word whether it stands among others in capitals, as in a heading."""
        upper = [len(w) > 1 and w.isupper() and w[0].isalpha() for w in self.words]
        found = [False] * len(upper)
        i = 0
        while i < len(upper):
            j = i
            while (
                j < len(upper)
                and (upper[j] or self.words[j] == "&")
                and (j == i or "\n" not in self.text[self.ends[j - 1] : self.starts[j]])
            ):
                j += 1
            run = range(i, j)
            # abbreviations stand side by side too ("US GAAP EPS"); a heading has a longer word, and
            # a number before a word makes none of it ("Phase III DISCOVER")
            if sum(upper[k] and not ROMAN.fullmatch(self.words[k]) for k in run) > 1 and any(
                len(self.words[k]) >= _LEAST_SHOUTED for k in run
            ):
                for k in run:
                    found[k] = True
            i = max(j, i + 1)
        return found

    @cached_property
    def headed(self) -> list[Heading | None]:
        """Of each word the heading in which it stands, None where it stands in none."""
        found: list[Heading | None] = [None] * len(self.words)
        for heading in headings(self.text):
            first = bisect_left(self.starts, heading.start)
            for i in range(first, bisect_left(self.starts, heading.end)):
                found[i] = heading
        return found

    @cached_property
    def small(self) -> frozenset[str]:
        """Words that the text has in small letters."""
        return frozenset(word for word in self.words if word.islower())

    @cached_property
    def topics(self) -> list[str]:
        """Classes of the words of the text, sorted."""
        return sorted({c for x in self.words for c in _AFTER.get(x.lower(), ())})


def is_name_word(word: str) -> bool:
    """Return whether a word is written like a part of a name (capital, or a capital inside)."""
    return word[0].isupper() or (
        len(word) > 2 and word[0].isalpha() and not word.islower() and "-" not in word
    )


def is_heading_word(words: Words, i: int, common: Collection[str]) -> bool:
    """Return whether a word in capitals is a general one of a heading ("NOTICE OF APPEAL").

    Alone it is one by its emphasis ("this is URGENT"): a word of `common`, those that are usual in
    lower case, that owns nothing and names no trial. Others are names ("excluding GRAIL",
    "SHELL's", "the Phase III DISCOVER trial").
    """
    word = words.words[i]
    if not word.isupper() or not word.isalpha() or len(word) < 2:
        return False
    if word.capitalize() in FUNCTION_WORDS and words.shouted[i]:
        return True
    if words.shouted[i]:
        # "FIRST COASTAL BANK": the whole run is a name when it ends as those of companies do
        last = i
        while (
            last + 1 < len(words.words)
            and words.shouted[last + 1]
            and words.words[last + 1].capitalize() not in FUNCTION_WORDS
            and words.text[words.ends[last] : words.starts[last + 1]] == " "
        ):
            last += 1
        if words.words[last].lower() in DESCRIPTORS and not is_headed(words, i, common):
            return False
    if words.shouted[i]:
        return is_word(word.lower())
    owns = words.text[words.ends[i] : words.ends[i] + 2] in ("'s", "’s")
    if owns or len(word) < _LEAST_SHOUTED or word.lower() not in common:
        return False
    return not _names_a_trial(words, i)


def is_headed(words: Words, i: int, common: Collection[str]) -> bool:
    """Return whether a word is a general one of a line that is a heading ("Legal Proceedings").

    In a line of capitals it is one by itself, unless the words in use about it end as the names of
    companies do ("FIRST COASTAL BANK"); in a line with capitals all words must be in use. In use
    are the words of `common` and those that the text has in small letters; nowhere else in the text
    are they a name.
    """
    heading = words.headed[i]
    if heading is None:
        return False
    if not heading.capitals:
        first, last = _line(words, i)
        line = [j for j in range(first, last) if not _is_added(words, j)]
        run = [words.words[j] for j in line]
        return all(_in_use(words, j, common) for j in line) and not _names_a_body(run)
    first = last = i
    while first > 0 and _goes_on(words, first - 1):
        first -= 1
    while last + 1 < len(words.words) and _goes_on(words, last):
        last += 1
    run = words.words[first : last + 1]
    if run[-1].lower() in DESCRIPTORS and (
        _names_a_body(run) or not all(_in_use(words, j, common) for j in range(first, last + 1))
    ):
        return False
    if len(run) > 1 and " ".join(word.capitalize() for word in run) in words.text:
        return False
    return _in_use(words, i, common)


def _goes_on(words: Words, i: int) -> bool:
    """Whether a word of a heading stands right before another, and both are no small words."""
    return words.text[words.ends[i] : words.starts[i + 1]] == " " and not any(
        word.capitalize() in FUNCTION_WORDS for word in words.words[i : i + 2]
    )


def _line(words: Words, i: int) -> tuple[int, int]:
    """Return the words of the heading that has word `i`: the first, and one past the last."""
    heading = words.headed[i]
    assert heading is not None
    return bisect_left(words.starts, heading.start), bisect_left(words.starts, heading.end)


def _is_added(words: Words, i: int) -> bool:
    """Whether a word stands in brackets: it is no word of the heading."""
    heading = words.headed[i]
    assert heading is not None
    before = words.text[heading.start : words.starts[i]]
    return any(before.count(a) > before.count(b) for a, b in ("[]", "()"))


def _in_use(words: Words, i: int, common: Collection[str]) -> bool:
    """Whether a word is one of grammar or in use in small letters, and no abbreviation."""
    word = words.words[i]
    low = word.lower()
    if word == "&" or low.isdigit() or word.capitalize() in FUNCTION_WORDS:
        return True
    return len(word) >= _LEAST_HEADED and (low in common or low in words.small)


def _names_a_body(run: Sequence[str]) -> bool:
    """Whether words end as the names of companies do, and not as topics do."""
    return len(run) > 1 and run[-1].lower() in DESCRIPTORS - _TOPICS


def _names_a_trial(words: Words, i: int) -> bool:
    """Whether a word stands behind "Phase III", or shortly before "trial" in its sentence."""
    if i > 1 and words.words[i - 2].lower() == "phase":
        return True
    for j in range(i + 1, min(i + 1 + _NEAR_TRIAL, len(words.words))):
        if not words.text[words.ends[j - 1] : words.starts[j]].isspace():
            return False
        if words.words[j].lower() in _TRIALS:
            return True
    return False


def leading_titles(words: Words, first: int, last: int) -> int:
    """Return where the name begins in a span that titles of persons may lead.

    ``last`` for a span of titles only; ``first`` where what follows is the name of an office or
    company ("Justice Department", "Lord & Taylor").
    """
    i = first
    w = words.words
    while i < last and (
        w[i] in PERSON_TITLES
        or (w[i] in _TITLE_RANKS and (i > first or (i + 1 < last and w[i + 1] in PERSON_TITLES)))
    ):
        i += 1
    if i == first or not any(x in PERSON_TITLES for x in w[first:i]):
        return first
    if i == last and first and w[first - 1] in TITLES:
        return first  # "Mr Abbot", "Vice Chancellor"
    if i == last < len(w) - 1 and w[last] == "of" and w[last + 1][0].isupper():
        return first  # "2nd Earl of Clare" names somebody
    office = "&" in w[i:last] or w[last - 1].lower() in BODY_WORDS
    if i < last and office and w[first] not in BEFORE_NAMES:
        return first
    return i


def _continues(words: Words, i: int, lexicon: Lexicon) -> bool:
    """Whether the full stop before word ``i`` is that of an initial or of "St."."""
    before, word = words.words[i - 1], words.words[i]
    if words.text[words.ends[i - 1] : words.starts[i]] not in (". ", "."):
        return False
    if before in _ABBREVIATED:
        return word[0].isupper()
    if not (len(before) == 1 and before.isupper()) or not word[0].isupper() or before == "I":
        return False
    return len(word) == 1 or (word[1].islower() and word.lower() not in lexicon.common)


#: Those that are English words too, or look like it: behind them no English word goes on a name.
_ENGLISH_TOO = frozenset({"an", "den", "upon"})
#: Small words inside Romance and Germanic names, and those that stand behind one of them only.
PARTICLES = _ENGLISH_TOO | {
    "aan", "am", "bei", "da", "de", "del", "della", "der", "des", "di", "dos", "du", "la", "le",
    "op", "sous", "sur", "ter", "van", "von", "zu", "zum", "zur",
}  # fmt: skip
_ARTICLES = frozenset({"den", "der", "het", "la", "las", "le", "les", "los"})


def behind_particles(words: Sequence[str], i: int) -> int:
    """Return the index of the word that goes on a name behind its particles, `i` where none does.

    Parameters
    ----------
    words : sequence of str
        Words with a single space between them.
    i : int
        Of the first word behind what is known of the name.

    Examples
    --------
    >>> behind_particles(["Casa", "de", "la", "Moneda"], 1)
    3
    >>> behind_particles(["Casa", "de", "facto"], 1)
    1
    >>> behind_particles(["Burton", "upon", "Trent"], 1)
    2
    >>> behind_particles(["Acme", "upon", "Delivery"], 1)
    1
    """
    if i >= len(words) or words[i] not in PARTICLES:
        return i
    k = i + 2 if i + 1 < len(words) and words[i + 1] in _ARTICLES else i + 1
    if k >= len(words) or not words[k][0].isupper():
        return i
    if words[i] == "an" and k == i + 1:
        return i  # "Frankfurt an der Oder", but "Acme, an Orion company"
    return i if words[i] in _ENGLISH_TOO and is_word(words[k].lower()) else k


def candidate_spans(words: Words, lexicon: Lexicon) -> list[tuple[int, int]]:
    """Return word ranges ``(first, last + 1)`` that are written like proper names.

    Adjacent name words joined by a single space (or "&", or particles), numbers after them
    included; titles split a range; function words and months at its ends are cut off.
    """
    found: list[tuple[int, int]] = []
    n = len(words.words)
    i = 0
    text = words.text
    # words in lower case, most of them, are passed over in one go
    likely = [k for k, x in enumerate(words.words) if not x.islower()]
    for k in likely:
        if k < i:
            continue
        i = k
        word = words.words[i]
        if not is_name_word(word) or word in TITLES or word in FUNCTION_WORDS or word in _MONTHS:
            continue
        if is_heading_word(words, i, lexicon.common):
            continue
        j = i + 1
        while j < n and (
            text[words.ends[j - 1] : words.starts[j]] == " " or _continues(words, j, lexicon)
        ):
            nxt = words.words[j]
            if is_heading_word(words, j, lexicon.common) and nxt.lower() not in GEOGRAPHY:
                break
            # "Movistar Plus": behind a name it begins no sentence
            if nxt in _NO_NAMES and nxt != "Plus":
                break
            if nxt == "&" and j + 1 < n and is_name_word(words.words[j + 1]):
                j += 2
                continue
            if nxt in PARTICLES:
                k = behind_particles(words.words, j)
                spaces = all(text[words.ends[m] : words.starts[m + 1]] == " " for m in range(j, k))
                if k > j and spaces and words.words[k] not in _NO_NAMES:
                    j = k + 1
                    continue
            if is_name_word(nxt) or (nxt[0].isdigit() and len(nxt) <= 5):
                j += 1
                continue
            break
        first, last = i, j
        i = j
        # a capital at the start of a sentence says nothing about a word usual in lower case
        while (
            first < last and words.initial[first] and words.words[first].lower() in lexicon.common
        ):
            first += 1
        # "Reattached Excel": nor does a verb in the past begin a name
        while (
            first + 1 < last
            and words.initial[first]
            and words.words[first][1:].islower()
            and is_word(words.words[first].lower())
            and kinds_of(words.words[first].lower()) <= _NO_NOUNS
            # "Engineered Products", "Allied Foods" are whole
            and words.words[last - 1].lower() not in BODY_WORDS
            and "plural" not in kinds_of(words.words[last - 1].lower())
        ):
            first += 1
        first = leading_titles(words, first, last)
        while last > first + 1 and words.words[last - 1] in _POST_NOMINALS:
            last -= 1
        while (
            last > first
            and words.words[last - 1][0].isdigit()
            and (last - 1 == first or words.words[last - 1].rstrip("%").isdigit() is False)
        ):
            last -= 1
        if first < last and not (last == first + 1 and len(words.words[first]) == 1):
            found.append((first, last))
    return found


@lru_cache(maxsize=1 << 14)
def _shape(word: str) -> str:
    shape = re.sub(r"[0-9]+", "9", re.sub(r"[a-z]+", "x", re.sub(r"[A-Z]{2,}", "XX", word)))
    return re.sub(r"[A-Z]", "X", shape)[:8]


def _case(surface: str) -> str:
    if surface.isupper():
        return "upper" if len(surface) < 5 else "long upper"
    inner = any(c.isupper() for c in surface.split()[0][1:])
    return "inner" if inner else "digit" if any(c.isdigit() for c in surface) else "title"


def features(words: Words, first: int, last: int, lexicon: Lexicon) -> list[str]:
    """Return the features of the span of words ``[first, last)``."""
    w = words.words
    span = w[first:last]
    low = [x.lower() for x in span]
    surface = words.text[words.starts[first] : words.ends[last - 1]]
    n = len(w)

    def word(i: int) -> str:
        if 0 <= i < n:
            return "9" if w[i][0].isdigit() else w[i].lower()
        return "#"

    p1, p2, p3 = word(first - 1), word(first - 2), word(first - 3)
    n1, n2, n3 = word(last), word(last + 1), word(last + 2)
    gap_before = words.text[words.ends[first - 1] if first else 0 : words.starts[first]].strip()[
        -1:
    ]
    gap_after = words.text[
        words.ends[last - 1] : words.starts[last] if last < n else len(words.text)
    ]
    after = gap_after.strip()[:1] or ("'s" if gap_after[:2] in ("'s", "’s") else "")
    if gap_after[:2] in ("'s", "’s"):
        after = "'s"
    size = min(last - first, 4)
    found = [
        "bias",
        f"s={surface.lower()}",
        f"f={low[0]}",
        f"l={low[-1]}",
        f"n={size}",
        f"sh={_shape(span[0])}|{_shape(span[-1]) if size > 1 else ''}",
        f"sl={_shape(surface)}",
        f"su={low[-1][-3:]}",
        f"su4={low[-1][-4:]}",
        f"fs={low[0][-2:]}",
        f"pr={low[0][:3]}",
        f"p1={p1}",
        f"n1={n1}",
        f"p2={p2} {p1}",
        f"n2={n1} {n2}",
        f"p3={p3} {p2} {p1}",
        f"n3={n1} {n2} {n3}",
        f"q2={p2}",
        f"q3={p3}",
        f"m2={n2}",
        f"m3={n3}",
        f"pn={p1}|{n1}",
        f"gb={gap_before}",
        f"ga={after}",
        f"gan={after}|{n1}",
        f"gbp={gap_before}|{p1}",
        f"len={min(len(surface), 12)}",
    ]
    if words.initial[first]:
        found.append("initial")
        found.append(f"initial|n1={n1}")
        if size == 1:
            found.append("initial|1")
    if any(c.isdigit() for c in surface):
        found.append("digit")
        found.append(f"digit|{size}")
    if surface.isupper():
        found.append(f"upper|{min(len(surface), 6)}")
    if size == 1 and any(c.isupper() for c in surface[1:]) and not surface.isupper():
        found.append("camel")
    for x in low:
        found.append(f"w={x}")
    lists = (
        ("given", lexicon.given),
        ("amb", lexicon.ambiguous),
    )
    for name, words_of in lists:
        if span[0] in words_of:
            found.append(f"{name}|{size}")
            found.append(f"{name}|{size}|{after}")
    for name, forms in (
        ("loc", lexicon.places),
        ("org", lexicon.organizations),
        ("prod", lexicon.products),
        ("ev", lexicon.events),
        ("jar", lexicon.jargon),
    ):
        if surface in forms:
            found.append(name)
            found.append(f"{name}|{p1}")
        elif size > 1:
            if span[0] in forms:
                found.append(f"{name}^")
            if span[-1] in forms:
                found.append(f"{name}$")
    unusual = sum(x not in lexicon.common for x in low)
    found.append(f"unusual|{unusual}|{size}")
    # a rare word with a capital inside a sentence is a name; where it is rare, at a sentence's
    # start or all in capitals alone, each says little
    found.append(f"k={words.initial[first]}|{min(unusual, 2)}|{min(size, 2)}|{_case(surface)}")
    if unusual == 0:
        found.append(f"usual|{p1}")
    left = {p1, p2, p3, word(first - 4)}
    right = {n1, n2, n3}
    for name, cues in CUES.items():
        if (right if name[1] == "a" else left) & cues:
            found.append(name)
            found.append(f"{name}|{min(unusual, 1)}")
    if n1 in CUES["pa"] and not after:
        found.append("pa1")
    if p1 in CUES["ob"]:
        found.append("ob1")
    window = {word(i) for i in range(first - 6, first)} | {word(i) for i in range(last, last + 6)}
    for x in window:
        found.append(f"c={x}")
    return found


def names_the_word(feature: str) -> bool:
    """Return whether a feature says which words the span itself has, not where it stands."""
    return feature.startswith(("s=", "f=", "l=", "w="))


def frame_features(words: Words, first: int, last: int, lexicon: Lexicon) -> list[str]:
    """Return features of where a span stands in its sentence, by classes of words beside it."""
    w = words.words
    n = len(w)
    low = first
    while low > 0 and first - low < 7 and not words.initial[low]:
        low -= 1
    high = last
    while high < n and high - last < 7 and not words.initial[high]:
        high += 1
    left = [x for x in map(str.lower, w[low:first]) if x not in _FILLERS]
    right = [x for x in map(str.lower, w[last:high]) if x not in _FILLERS]
    p2, p1 = (["#", "#", *left])[-2:]
    n1, n2 = ([*right, "#", "#"])[:2]
    end = words.ends[last - 1]
    genitive = words.text[end : end + 2] in ("'s", "’s")
    mark = words.text[end : end + 1]
    after = "'s" if genitive else mark if mark and mark in ",.?)-" else ""
    behind = ("|",) if after and not genitive else _AFTER.get(n1, _NO_CLASS)
    ahead = _BEFORE.get(p1, _NO_CLASS)
    found = [
        f"n1={n1}|{after}",
        f"p1={p1}",
        f"p2={p2} {p1}",
        f"n2={n1} {n2}|{after}",
        f"pn={p1}|{n1}",
    ]
    for a in behind:
        found += [f"nc={a}|{genitive}", f"p1nc={p1}|{a}"]
        found += [f"pcnc={b}|{a}" for b in ahead]
    for b in ahead:
        found += [f"pc={b}", f"pcn1={b}|{n1}"]
    for b in _BEFORE.get(p2, _NO_CLASS):
        found += [f"p2c={b}", f"p2cp1={b}|{p1}"]
    for a in _AFTER.get(n2, _NO_CLASS):
        found += [f"n2c={a}", f"n1n2c={n1}|{a}"]
    wide: set[str] = set()
    for x in left[-5:]:
        wide.add(f"l={x}")
        wide.update("B " + c for c in _BEFORE.get(x, ()))
        wide.update("N " + c for c in _AFTER.get(x, ()))
    for i, x in enumerate(right[:5]):
        wide.add(f"r={x}")
        if i < 4:
            wide.update("A " + c for c in _AFTER.get(x, ()))
    found += sorted(wide)
    # a name that is listed together with a known one is often of its kind
    i = first - 1
    if i >= 0 and w[i].lower() in ("and", "or"):
        i -= 1
    gap = words.text[words.ends[first - 1] : words.starts[first]] if first else ""
    if i >= 0 and not words.initial[first] and (i < first - 1 or gap.startswith(",")):
        found += _listed(w[i], lexicon, "before")
    i = last + 1 if last < n and w[last].lower() in ("and", "or") else last
    if i < n and not words.initial[i] and (i > last or after == ","):
        found += _listed(w[i], lexicon, "after")
    if words.initial[first]:
        found += ["initial", f"initial|{n1}"]
    return found


def _listed(word: str, lexicon: Lexicon, side: str) -> list[str]:
    found = []
    for name, forms in (
        ("org", lexicon.organizations),
        ("prod", lexicon.products),
        ("loc", lexicon.places),
    ):
        if word in forms:
            found.append(f"listed {side}={name}")
    if is_name_word(word):
        found.append(f"listed {side}=name")
    return found


def _writing_features(words: Words, first: int, last: int, lexicon: Lexicon) -> list[str]:
    span = words.words[first:last]
    low = [x.lower() for x in span]
    surface = words.text[words.starts[first] : words.ends[last - 1]]
    size = min(len(span), 3)
    usual = [x in lexicon.common for x in low]
    found = [
        f"size={size}",
        f"shape={_shape(surface)[:6]}",
        f"case={_case(surface)}|{size}",
        f"usual={sum(usual)}|{size}",
        f"last usual={usual[-1]}|{size}",
        f"end3={low[-1][-3:]}",
        f"end2={low[-1][-2:]}",
        f"length={min(len(surface), 12)}",
    ]
    if size > 1:
        found += [f"last={low[-1]}", f"first={low[0]}"]
        found += [f"last class={c}" for c in _AFTER.get(low[-1], _NO_CLASS)]
        if span[0] in lexicon.organizations:
            found.append("org^")
        if span[0] in lexicon.products:
            found.append("prod^")
    if any(c.isdigit() for c in surface):
        found += ["digit", f"digit|{size}|{_case(surface)}"]
    for name, forms in (("loc", lexicon.places), ("given", lexicon.given), ("jar", lexicon.jargon)):
        if surface in forms:
            found.append(name)
        elif size > 1:
            if span[0] in forms:
                found.append(name + "^")
            if span[-1] in forms:
                found.append(name + "$")
    return found


def product_features(
    words: Words, first: int, last: int, others: Sequence[tuple[int, int]], lexicon: Lexicon
) -> list[str]:
    """Return the features by which products are told from everything else.

    None of them is a name itself, except the words at the ends of longer names: names of other
    companies are others.

    Parameters
    ----------
    words : Words
        The text.
    first, last : int
        The span of words ``[first, last)``.
    others : sequence of (int, int)
        Where else in the text the same name stands: its frames there count as well.
    lexicon : Lexicon
        Word lists.
    """
    found = ["bias", *frame_features(words, first, last, lexicon)]
    found += _writing_features(words, first, last, lexicon)
    found += ["topic " + c for c in words.topics]
    elsewhere: set[str] = set()
    for span in others:
        for name in frame_features(words, *span, lexicon):
            kind, _, value = name.partition("=")
            if not value or kind in ("n1", "p1", "nc", "pc", "pcnc", "p1nc"):
                elsewhere.add("elsewhere " + name)
    found += sorted(elsewhere)
    found.append(f"times={min(len(others), 3)}")
    return found


def vectorize(found: Sequence[str]) -> NDArray[np.int64]:
    """Hash features into buckets."""
    return np.fromiter(map(_bucket, found), dtype=np.int64, count=len(found))


@lru_cache(maxsize=1 << 16)
def _bucket(feature: str) -> int:
    return zlib.crc32(feature.encode()) % BUCKETS


class NameClassifier:
    """Multinomial logistic regression over hashed features and the vector of the span's words.

    Parameters
    ----------
    weights : ndarray, shape (BUCKETS, len(CLASSES))
        float16 or float32; kept as float32.
    vectors : WordVectors, optional
        Vectors of words.
    projection : ndarray, shape (vectors.dimension, len(CLASSES)), optional
        Weights of the vector of the span's words.
    """

    def __init__(
        self,
        weights: NDArray[np.floating],
        vectors: WordVectors | None = None,
        projection: NDArray[np.floating] | None = None,
    ) -> None:
        self.weights = np.ascontiguousarray(weights, dtype=np.float32)
        self.vectors = vectors
        self.projection = None if projection is None else projection.astype(np.float64)

    def log_probabilities(
        self, found: Sequence[str], span: Sequence[str] = ()
    ) -> NDArray[np.float64]:
        """Return log probabilities of :data:`CLASSES`, shape (6,).

        Parameters
        ----------
        found : sequence of str
            The span's features.
        span : sequence of str
            The words of the span.
        """
        # summed in float64 in feature order: the same features give the same bits
        scores = self.weights[vectorize(found)].sum(axis=0, dtype=np.float64)
        if self.vectors is not None and self.projection is not None:
            scores = scores + (self.vectors.mean(span)[:, None] * self.projection).sum(axis=0)
        top = scores.max()
        return scores - top - np.log(np.exp(scores - top).sum())


class ProductClassifier:
    """Logistic regression that tells products from everything else, a second opinion.

    Parameters
    ----------
    weights : ndarray, shape (BUCKETS,)
        Of hashed features (:func:`product_features`).
    projection : ndarray, shape (vectors.dimension,)
        Weights of the mean vector of the span's words.
    vectors : WordVectors
        Vectors of words.
    """

    def __init__(
        self,
        weights: NDArray[np.floating],
        projection: NDArray[np.floating],
        vectors: WordVectors,
    ) -> None:
        self.weights = np.ascontiguousarray(weights, dtype=np.float32)
        self.projection = projection.astype(np.float64)
        self.vectors = vectors

    def log_odds(self, found: Sequence[str], span: Sequence[str]) -> float:
        """Return the log odds that a span is a product, from its features and its words."""
        buckets = np.array(sorted(set(map(_bucket, found))), dtype=np.int64)
        total = self.weights[buckets].sum(dtype=np.float64)
        return float(total + (self.vectors.mean(span) * self.projection).sum())
