"""Words that set a document apart although they are no names.

Who knows what a company makes finds its call by "cement" or "mattress", whatever became of the
names. The *terms* of a document are the words in it with the highest TF-IDF against the other
documents,

    log(1 + n) log((1 + N) / (1 + df)),

where n counts the word in the document, df the secrets (companies) whose documents have it and N
all secrets (after Salton & Buckley, "Term-weighting approaches in automatic text retrieval", 1988,
whose 1 + log n puts a word that slipped in once above the words that a call is about).
Singular and plural are one word there (:func:`stem`): who looks for "wells" finds "well" too. A
word in capitals is a term like any other (RFID). Names of peoples ("Chinese") are terms of whatever
document has them: they are no names, and read well in each other's place alone. Words of grammar,
placeholders, and what lies in a mention of another category are left alone; so are adverbs,
participles, words of accounts ("diluted"), those that most secrets' documents have, and those that
lie over the documents as chance would scatter them (:func:`residual_idf`): no outsider looks for
them.

Words are chosen and replaced as what they stand for in their sentences
(:mod:`nes_spark.entities.wordforms`): nouns and adjectives before nouns, of words that are one or
the other in most of their places in the corpus (:func:`abilities`). What is a verb, or describes
("convenient", "easier"), is no term; but of a term the places where it stands as a verb, or in a
compound with a hyphen, are treated with the others (:data:`OTHER_USE`). One term takes the place of
another of its form, singular, plural, uncountable, adjective or letters, and near it in meaning
(:func:`form_of`, :class:`TermSimilarity`). A noun before another is a form of its own: what comes
in a place was seen in a place of its kind, and "retail partners" gives no "retail" to "the grid".
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nes_spark.entities.distinctive import DEMONYMS, FUNCTION_WORDS
from nes_spark.entities.lists import EVERYDAY, GENERAL, read_lists
from nes_spark.entities.mentions import Mention, placeholder_spans
from nes_spark.entities.wordforms import (
    ROMAN,
    Kind,
    Use,
    Words,
    is_noun_too,
    is_uncountable,
    is_word,
    kinds_of,
    stands_as_noun,
    use_of,
)
from nes_spark.text.headings import headings
from nes_spark.text.numbers import SECURITY_WORDS
from nes_spark.text.sentences import word_set
from nes_spark.text.spots import lowered
from nes_spark.text.vocabulary import EARNINGS

#: Category of terms.
TERM = "Term"
#: What makes part of a continent, or another country, of the people behind it: "North American".
_PART_OF_A_CONTINENT = re.compile(
    r"\b(?:North|South|East|West|Central|Latin|Pan|Northern|Southern|Eastern|Western)[ -]"
    r"(?P<people>[A-Z][a-z]+)\b"
)
#: Names of peoples that are not names of places as well.
PEOPLES = DEMONYMS - {"caribbean"}
#: What goes on behind a word: it is part of a longer one, or was broken off ("incre- increase").
_GOES_ON = r"\w|[-’'][^\W\d_]|-(?=[\s,.;:?!]|$)"
#: "aviation's"; "it's" is a word of grammar.
_POSSESSIVE = r"['’]s(?!\w)"
#: A word that may be a term: letters, and hyphens inside (e-vapor and in-store too).
_WORD = re.compile(
    rf"(?<![\w'’<-])(?:[^\W\d_]{{3,}}(?:-[^\W\d_]{{2,}})*|[^\W\d_]{{1,2}}-[^\W\d_]{{3,}}(?:-[^\W\d_]{{2,}})*)"
    rf"(?:(?={_POSSESSIVE})|(?!{_GOES_ON}))"
)
_OWNS = re.compile(_POSSESSIVE)
#: What lies before the first word of a sentence.
_BEGINS = re.compile(r"(?:^|[.?!:][\"”’)]*\s+[\"“‘]?|\n\s*)$")
#: Of these only the second part may tell a document: "in-store", "re-insurance".
_PREFIXED = re.compile(r"[^\W\d_]{2}-")
#: What begins in capitals and ends in small letters: only its parts may tell a document.
_MIXED = re.compile(
    rf"(?<![\w'’.$€£-])(?:[A-Z][A-Z0-9]+|[2-9]G)(?:-[A-Z0-9]+)*(?:-[a-z]{{2,}})+(?!{_GOES_ON})"
)
_CURRENCIES = frozenset(read_lists(GENERAL)["CURRENCIES"])
#: Letters and digits in capitals, the plural's s aside: RFID, MOBs, 5G, CD30; no amounts (26M).
#: "E&P" is one word.
_CAPITALS = re.compile(
    rf"(?<![\w'’.$€£&-])(?:[A-Z]{{1,3}}(?:&[A-Z]{{1,3}})+|[A-Z][A-Z0-9]+|[2-9]G)(?:-[A-Z0-9]+)*s?"
    rf"(?!{_GOES_ON}|[.,]\d|&[A-Z])"
)
# The next four are for texts in small letters (lowered): IGNORECASE takes four times as long.
#: Hours and their time zones: with another word they read broken, and they tell nothing.
_HOURS = re.compile(
    r"\b(?:atlantic|central|eastern|european|greenwich|mountain|pacific)"
    r"(?: (?:daylight|mean|savings?|standard|summer|winter)){0,2} time\b"
    r"|(?<=\d)\s?[ap]\.?m\b"
    r"(?:\.?,? (?:[acemp][ds]?t|[cew]es?t|eest|bst|gmt|utc|ist|jst|hkt|sgt|ae[ds]?t)\b)?"
)
#: Areas, volumes and metric tons: neither word reads well beside another.
_AREAS = re.compile(
    r"\bmetric[- ]ton(?:ne)?s?\b|\b(?:square|cubic)[- ]"
    r"(?:centi|kilo)?(?:f(?:ee|oo)t|met(?:er|re)s?|miles?|yards?|inch(?:es)?)\b"
)
#: Fractions and numbers in words, for the same reason.
_FRACTIONS = re.compile(
    r"\b(?:(?:twent|thirt|fort|fift|sixt|sevent|eight|ninet)y|one|two|three|four|five|six|seven"
    r"|eight|nine|ten)-(?:one|two|three|four|five|six|seven|eight|nine"
    r"|(?:half|third|quarter|fourth|fifth|sixth|seventh|eighth|ninth|tenth|sixteenth)s?)\b"
    r"|\b(?:(?:low|mid|high)[- ])?(?:sing|doub|trip)le[- ]digits?\b"
    r"|\b(?:low|mid|high)[- ](?:teens|(?:twent|thirt|fort|fift|sixt|sevent|eight|ninet)ies)\b"
)
#: Words that stand together wherever they stand: neither reads well beside another.
_PHRASES = re.compile(
    r"\b(?:(?:best|first|last)[- ]in[- ](?:class|breed|show)|in[- ]class|due diligence"
    r"|track records?"
    r"|at (?:the )?(?:bay|back|core|discretion|expense|forefront|heart|helm|mercy|outset|stake) of"
    r"|the brunt of|eyes? on|great (?:depression|recession)"
    r"|in (?:the )?(?:absence|aftermath|context|event|eyes|face|hands|heart|midst"
    r"|mind|spirit|vein|wake) of|on (?:the )?(?:brink|cusp|eve|grounds|heels|verge) of"
    r"|by (?:means|virtue) of"
    r"|under the (?:auspices|guise|umbrella) of|points? of view|states? of the art|rules? of thumb"
    r"|word of mouth|peace of mind|frame of mind|food for thought|game[- ]changers?"
    r"|(?:accounts?|notes?|loans?) (?:receivable|payable)s?|goodwill|work in (?:process|progress)"
    r"|health and safety|safety and health|wear and tear|trial and error|supply and demand"
    r"|(?:bear|bears|bearing|bore|borne) fruits?|low[- ]hanging fruits?|fruits? of|smash hits?"
    r"|(?:a|the|wide|broad) (?:variety|range|number|host|wealth) of|definitive agreements?"
    r"|(?:supply|value|cold)[- ]chains?|balance sheets?"
    r"|shelter(?:ing)?[- ](?:in|at)[- ](?:place|home)"
    r"|(?:stay|work)(?:ing)?[- ](?:at|from)[- ]home|social(?:ly)? distanc(?:ing|ed)"
    r"|personal protective equipment|curbside pick[- ]?ups?|perfect storms?|dry powder"
    r"|light at the end of the tunnel|tip of the iceberg|silver linings?|green shoots"
    r"|(?:long|short) hauls?|crystal[- ]ball|ripple effects?|ebbs? and flows?|black swans?"
    r"|double[- ]edged swords?|sweet spots?|white spaces?|(?:top|bottom)[- ]lines?|cash flows?"
    r"|(?:available|found|posted|both|either|viewed|shopped?) online|online at"
    r"|on the (?:ground|table|road|street)|off the table|across the board|around the clock"
    r"|(?:rain or shine|bumps? in the road|hit the ground running|bricks?[- ]and[- ]mortar)"
    r"|joint ventures?|run[- ]rates?|(?:interest|exchange|tax) rates?|task[- ]forces?"
    r"|safe harbou?rs?"
    r"|blue[- ]chips?|state[- ]of[- ]emergency|natural disasters?|acts? of god|best practices?"
    r"|common (?:stock|shares?|sense)|proof of concept|(?:net )?asset value|net worth"
    r"|credit cards?|intellectual property|human (?:resources|capital)|real[- ]time|due course)\b"
)
#: A number behind a word that it numbers ("tier 1", "phase two").
_NUMBERED = re.compile(r"[ -](?:[1-5]|I{1,3}|IV|one|two|three|four)(?![\w%]|[.,]\d|[- ]\w+ly\b)")
#: A title: "Doctor [Executive 10]".
_TITLED = re.compile(r"\.? \[")
_FRAMES = (_HOURS, _FRACTIONS, _AREAS, _PHRASES)
#: What announces the number of a security, in small letters.
_ANNOUNCING = frozenset(word.casefold() for word in SECURITY_WORDS)
#: Words of grammar and of talk that tell nothing about a subject.
_NEVER = FUNCTION_WORDS.union(_ANNOUNCING) | word_set(
    "been being got get gets getting going gone goes go make makes made making take takes took "
    "taken taking come comes came coming say says said see sees saw seen seeing know knows knew "
    "known think thinks thought want wants wanted need needs needed thank thanks welcome good "
    "great morning afternoon evening everyone everybody anyone anybody really actually basically "
    "kind sort lot lots bit little way ways thing things time times year years month months week "
    "weeks day days quarter quarters today tonight first second third fourth half don didn doesn "
    "isn aren wasn weren won wouldn couldn shouldn hasn haven hadn let lets okay well let's uh um "
    "gonna wanna gotta nonetheless regardless abroad accordance ago ahead albeit alike almost "
    "alongside alrighty altogether amid amidst anyway apart aside behalf com del elsewhere forth "
    "lieu likewise maybe meantime multi nationwide nearby newly overseas pre pro pursuant rata "
    "hereby herein hereof hereto herewith thereafter thereby therefrom therein thereof thereon "
    "thereto sake somewhat spite versus vice vs worldwide congratulations congrats fact keypad "
    "difference differences upper lower couple handful plenty majority minority dozen dozens bunch "
    "halves thirds fourths fifths sixths eighths tenths single-digit double-digit sixth seventh "
    "eighth ninth tenth eleventh twelfth worth stands sits medium "
    "whatever whenever wherever whichever whoever mile miles ounce ounces inch inches yards "
    "again become becomes cetera forma proforma yielding hundred hundreds thousand thousands "
    "million millions billion billions trillions monday tuesday wednesday thursday friday "
    "saturday sunday "
    # of letters, whoever writes them
    "dear faithfully madam regard regards sincerely sir sirs truly "
    # of who leads a call, or waits in one
    "appreciate appreciated appreciates ask asked asks colleague colleagues grateful guys ladies "
    "lady moment moments patience slide slides sorry talk talking talks thankful thanking waiting "
    "wish wished wishes"
)
#: Words of accounts, and of meetings about them, in whatever trade: nobody looks for them, and they
#: rarely read well in each other's place.
_REPORTING = word_set(
    "accretive amortization annualized annualised baseline broad-based buyback cagr capex cashflow "
    "comp comps conference conjunction consensus constant contraction covenant currency d&a "
    "deferral depreciation diluted dilution discretionary divestiture divestitures dollar dollars "
    "dso ebit ebitda elevated eps euro euros expenditure expenditures ffo fiscal forward-looking "
    "fx g&a gaap gentlemen gross guidance headwind headwinds impairment incredible inorganic it "
    "ladies lady late like-for-like long-term ltm m&a md&a minus moment near-term noi non non-gaap "
    "onset one-time organic outlook p&l page percent playbook pp&e pre-tax pretax q&a r&d s&p sg&a "
    "quarter-over-quarter realignment rebound reconciliation recurring reinvestment relative "
    "replay representative restructuring roe same-store scenario sell-through senior sequential "
    "session sg short-term slide specific stakeholder standpoint synergy synergies tailwind "
    "tailwinds timing transcript underlying unfavorable unfavourable weighted year-over-year "
    "year-to-date ytd"
)
#: Offices and bodies, which every company has, words that describe anything, and words of talk.
_GENERAL = word_set(
    "ceo cfo cio coo cto evp svp vp iro ceos cfos vps board boards chair chairman chairperson "
    "chairwoman committee committees director directors officer officers president shareholder "
    "shareholders stockholder stockholders "
    "head heads headquarters class concurrent appropriate consecutive corresponding "
    "extraordinary huge immediate multiple necessary proper reasonable respective true various "
    "vast appendix background course globe hmm housekeeping madam occasion occasions plus sir sure "
    "topic topics trillion whilst yeah yes"
)
#: Words of grammar are emphasis in capitals ("sold AND leased"), but for those that abbreviate.
_ABBREVIATING = word_set("all can or us who")
#: What no abbreviation of a company's trade is.
_NO_ABBREVIATIONS = _REPORTING | _GENERAL | _ANNOUNCING | (FUNCTION_WORDS - _ABBREVIATING)
#: Words of judging, planning, accounts and the like: in each other's place they break a sentence,
#: and nobody looks for them.
_LISTS = read_lists(EVERYDAY)
_LETTERS = frozenset(_LISTS.pop("LETTERS"))
_EVERYDAY = frozenset(chain.from_iterable(_LISTS.values()))
#: Plural -> singular, the first that fits; and words that only look like plurals.
_PLURALS = (("ies", "y"), ("sses", "ss"), ("ches", "ch"), ("shes", "sh"), ("xes", "x"), ("s", ""))
_SINGULAR = ("ss", "us", "is")
#: What the documents of more than this share of the secrets have is no term.
_COMMON = 0.5
#: Nor is what so many secrets' documents have, and lies over them much as chance would have it.
_SEVERAL, _BY_CHANCE = 6, 0.8
#: Adjectives that stand more often after "is" or "very" describe.
_DESCRIBING = 0.2
#: Who stands so often as a noun does so before a noun as well.
_SURELY = 0.75
#: What words in capitals are that are no letters.
_NO_LETTERS: frozenset[Kind] = frozenset({"adjective", "verb"})
#: What marks the entity of a term that stands before a noun as adjectives do, and that of a noun
#: that needs no article.
_BEFORE_NOUN, _UNCOUNTABLE = "/adjective", "/mass"
#: What marks the entity of a unit, which numbers are counted in ("megawatts").
_UNIT = "/unit"
#: What marks the entity of a noun that stands before another ("power orders").
_MODIFIER = "/modifier"
#: What marks the entity of a place where the word of a term stands as something else: as a verb
#: ("we lease"), in a compound with a hyphen ("tumor-specific"). It gives nothing to others.
OTHER_USE = "/other"
_MARKS = (_BEFORE_NOUN, _UNCOUNTABLE, _UNIT, _MODIFIER, OTHER_USE)
#: Behind a number so often, and in so many places, a word is a unit.
_COUNTED, _LEAST_COUNTED = 0.6, 2
#: Participles name nothing that is made or sold; what ends in -ing must be said so often to be a
#: thing (drilling, packaging), and a word that is said once must be said hardly anywhere else.
_PARTICIPLE = re.compile(r"(?:\w+-)?\w{2,}[^e]ed")
_LEAST_GERUND, _LEAST = 3, 2
#: Once less often a word that the documents of so few secrets have, and of so small a share.
_RARE, _RARE_SHARE = 3, 0.1
#: So often a plural must be one when its singular is a verb ("captures").
_LEAST_PLURAL = 3
#: "Back-to-back" and the like are no things; what compares or measures is no term at all.
_REPEATED = re.compile(r"(\w+)-\w+-\1")
_COMPARING = re.compile(r"same-\w+|\w+-points?")
#: Adverbs name nothing.
_ADVERB = re.compile(r"\w{2,}(?:al|ab|ib|c?t|ed|ous|iv|iou|nd|in|ck|ar|ul|th)e?ly")


def hours(text: str) -> Iterator[tuple[int, int]]:
    """Yield where "a.m." and "p.m." stand behind hours, with the time zone; and names of zones.

    Examples
    --------
    >>> text = "At 9 a.m. EDT, not Eastern Time."
    >>> [text[start:end] for start, end in hours(text)]
    [' a.m. EDT', 'Eastern Time']
    """
    return (m.span() for m in _HOURS.finditer(lowered(text)))


def is_talk(low: str) -> bool:
    """Whether a word in lower case is one of grammar or of talk ("think"), and of no subject."""
    return low in _NEVER


def is_everyday(low: str) -> bool:
    """Whether a word in lower case is one of grammar, accounts or everyday, which is no term."""
    everyday = low in _EVERYDAY or stem(low) in _EVERYDAY
    return everyday or low in _NEVER or low in _REPORTING or low in _GENERAL


def term_places(text: str, mentions: Iterable[Mention] = ()) -> list[tuple[int, int, str]]:
    """Return where words stand that may be terms: start, end and the word.

    The word is in lower case, unless it is written in capitals or the name of a people. In a
    heading, whose words all are in capitals, a word of the dictionary is in lower case too.

    Parameters
    ----------
    text : str
    mentions : iterable of Mention
        Nothing is found inside them, nor inside placeholders, hours, fractions in words and
        standing phrases ("due diligence"). The people of a part of a continent is one place: "North
        Chinese" would be none.

    Examples
    --------
    >>> [word for *_, word in term_places("Cement and RFID tags of [Company Name] sold well.")]
    ['cement', 'RFID', 'tags', 'sold']
    >>> term_places("Our South African mines")
    [(4, 17, 'African'), (18, 23, 'mines')]
    """
    in_small = lowered(text)
    frames = [m.span() for pattern in _FRAMES for m in pattern.finditer(in_small)]
    blocked = sorted([*((m.start, m.end) for m in mentions), *placeholder_spans(text), *frames])
    parts = [m for m in _PART_OF_A_CONTINENT.finditer(text) if is_people(m["people"])]
    of_parts = {m.start("people"): m.start() for m in parts}
    named = {m.start() for m in parts}
    out = []
    for match in _WORD.finditer(text):
        word = match.group()
        low = word.lower()
        if match.start() in named:
            continue
        # with capitals inside it is a name, or part of one; a sentence may begin with a term
        if (
            is_everyday(low)
            or _ADVERB.fullmatch(low)
            or len(low) != len(word)
            or word[1:] != low[1:]
            or (not low.endswith("s") and _NUMBERED.match(text, match.end()))
            or (word != low and _TITLED.match(text, match.end()))
            or (word != low and _is_owner(text, match))
        ):
            continue
        start = of_parts.get(match.start(), match.start())
        out.append((start, match.end(), word if is_people(word) else low))
    out += [(*match.span(), match.group()) for match in _MIXED.finditer(text)]
    shouted = {
        match.span(): low
        for heading in headings(text)
        if heading.capitals
        for pattern in (_WORD, _CAPITALS)
        for match in pattern.finditer(text, heading.start, heading.end)
        if is_word(low := match.group().lower())
    }
    out += [
        (*span, low)
        for span, low in shouted.items()
        if not is_everyday(low) and _WORD.fullmatch(low)
    ]
    out += [
        (*match.span(), match.group())
        for match in _CAPITALS.finditer(text)
        if match.span() not in shouted
        and (match.group().rstrip("0123456789") not in _CURRENCIES or match.group().isalpha())
        and match.group().lower() not in _NO_ABBREVIATIONS
        and stem(match.group()) not in _LETTERS
        and not EARNINGS.fullmatch(match.group())
    ]
    free, at = [], 0
    for start, end, word in sorted(out):
        while at < len(blocked) and blocked[at][1] <= start:
            at += 1
        if at == len(blocked) or blocked[at][0] >= end:
            free.append((start, end, word))
    return free


def _is_owner(text: str, match: re.Match[str]) -> bool:
    """Whether a word with a capital is a name that owns something: "Orion's", no "Cement's"."""
    if not _OWNS.match(text, match.end()):
        return False
    begins = _BEGINS.search(text[max(0, match.start() - 8) : match.start()])
    return begins is None or not is_word(match.group().lower())


@dataclass(frozen=True)
class Place:
    """Where a word stands that may be a term.

    Attributes
    ----------
    start, end : int
        Half-open, in code points.
    word : str
        As :func:`term_places` gives it.
    use : str
        As what it stands there (:func:`~nes_spark.entities.wordforms.use_of`): ``noun``,
        ``adjective``, ``either`` or ''. Letters and names of peoples are nouns.
    predicate : bool
        Whether it stands where adjectives do, after "is" or "very".
    bare : bool or None
        Whether a noun heads its phrase without an article
        (:func:`~nes_spark.entities.wordforms.Words.is_bare`).
    counted : bool
        Whether a number stands before it.
    modifies : bool
        Whether it stands before what may be the noun of its phrase.
    follows : bool
        Whether another such place comes right before it, one space between.
    """

    start: int
    end: int
    word: str
    use: Use
    predicate: bool = False
    bare: bool | None = None
    counted: bool = False
    modifies: bool = False
    follows: bool = False


def term_uses(text: str, mentions: Iterable[Mention] = ()) -> list[Place]:
    """Return where words stand that may be terms, and as what; see :func:`term_places`.

    Examples
    --------
    >>> [(p.word, p.use) for p in term_uses("The clinical tests of tags ran.")]
    [('clinical', 'adjective'), ('tests', 'noun'), ('tags', 'noun'), ('ran', '')]
    """
    out: list[Place] = []
    words, last = Words(text), -1
    for start, end, word in term_places(text, mentions):
        follows = last + 1 == start and text[last] == " "
        last = end
        if in_capitals(word) or is_people(word):
            counted = words.is_counted(start)
            out.append(Place(start, end, word, "noun", counted=counted, follows=follows))
            continue
        if _OWNS.match(text, end):
            out.append(Place(start, end, word, "noun", follows=follows))
            continue
        slot = words.slot(start)
        apart = _PREFIXED.match(word) or _MIXED.match(word)
        use = "" if apart else use_of(word, slot)
        bare = words.is_bare(start) if use == "noun" else None
        counted = words.is_counted(start)
        modifies = slot in ("inside", "modifier")
        predicate = slot == "predicate"
        out.append(Place(start, end, word, use, predicate, bare, counted, modifies, follows))
    return out


def term_word(entity: str) -> str:
    """Return the word of a term's entity, or the words of a compound.

    Examples
    --------
    >>> term_word("cement"), term_word("solar/adjective"), term_word("wind turbine/modifier")
    ('cement', 'solar', 'wind turbine')
    """
    for mark in _MARKS:
        entity = entity.removesuffix(mark)
    return entity


def compounds(mentions: Iterable[Mention], follows: Container[int]) -> list[Mention]:
    """Make one term of terms that stand together, what modifies with its noun.

    "Narrow bodies" in the place of "mattresses" makes a sentence; an adjective in the place of the
    one word and a noun in that of the other make one only by chance. A compound is of the form of
    its last word. Names of peoples and units are left alone.

    Parameters
    ----------
    mentions : iterable of Mention
        The terms of one text.
    follows : container of int
        Starts of those right behind another place, see :class:`Place`.

    Returns
    -------
    list of Mention
        By start.

    Examples
    --------
    >>> wind = Mention(0, 4, TERM, "Wind", "wind/modifier")
    >>> [m.entity for m in compounds([wind, Mention(5, 12, TERM, "tunnels", "tunnels")], {5})]
    ['wind tunnels']
    """
    out: list[Mention] = []
    for mention in sorted(mentions, key=lambda m: m.start):
        last = out[-1] if out else None
        if (
            last is None
            or mention.start not in follows
            or last.end + 1 != mention.start
            or not _joins(last.entity, mention.entity)
        ):
            out.append(mention)
            continue
        surface = f"{last.surface} {mention.surface}"
        entity = f"{term_word(last.entity)} {mention.entity}"
        out[-1] = Mention(last.start, mention.end, mention.category, surface, entity)
    return out


def _joins(first: str, second: str) -> bool:
    """Whether a term and the one behind it are one."""
    if form_of(first) not in ("adjective", "modifier", "letters") or second.endswith(OTHER_USE):
        return False
    return not second.endswith(_UNIT) and not is_people(term_word(second))


@dataclass
class Usage:
    """How a corpus uses a word: numbers of places (:class:`Place`).

    Attributes
    ----------
    places, nouns, adjectives : int
        All of them, those as a noun, and those as an adjective before one.
    either : int
        Those as a noun before a noun, or as a verb with an object.
    predicates : int
        Those after "is" or "very".
    heads, bare : int
        Those where it heads its phrase, and of them those without an article.
    counted : int
        Those behind a number.
    """

    places: int = 0
    nouns: int = 0
    adjectives: int = 0
    either: int = 0
    predicates: int = 0
    heads: int = 0
    bare: int = 0
    counted: int = 0

    def add(self, place: Place) -> None:
        """Count a place."""
        self.places += 1
        self.nouns += place.use == "noun"
        self.adjectives += place.use == "adjective"
        self.either += place.use == "either"
        self.predicates += place.predicate
        self.heads += place.bare is not None
        self.bare += bool(place.bare)
        self.counted += place.counted


class Ability(NamedTuple):
    """As what a word may be a term.

    Attributes
    ----------
    noun, adjective : bool
        Whether its places as a noun, and those as an adjective before one, are terms.
    either : bool
        Whether those before a noun are, where it may be a verb as well.
    uncountable : bool
        Whether it is a noun that needs no article.
    unit : bool
        Whether it is what numbers are counted in.
    """

    noun: bool
    adjective: bool
    either: bool = False
    uncountable: bool = False
    unit: bool = False


#: Letters of a part of a compound with hyphens that tells as much as the word by itself.
_PART = 4
#: Shorter words that no dictionary has are terms only when they are said so often.
_SCRAP, _SAID = 4, 5
#: What a word may be that no dictionary has.
_ANYTHING = frozenset(["noun", "adjective"])
#: Of words that are no terms.
NO_TERM = Ability(False, False)


def abilities(usages: Mapping[str, Usage]) -> dict[str, Ability]:
    """Return as what words may be terms, by how the corpus uses them.

    Parameters
    ----------
    usages : mapping of str to Usage
        Of words that share a stem (:func:`stem`): singular and plural together, where the texts
        have both; other words may be among them.

    Returns
    -------
    dict of str to Ability

    Notes
    -----
    Letters may be a term but for numerals and words that are no nouns; names of peoples always.
    Others are one where they stand as a noun, or as an adjective before one, in most of their
    places (:func:`~nes_spark.entities.wordforms.stands_as_noun`), unless they describe
    ("convenient"): adjectives that are said of things.
    """
    plurals = {stem(w): used for w, used in usages.items() if stem(w) != w}
    return {
        word: NO_TERM
        if stem(word) != word and _is_of_verb(word, used, stem(word), usages.get(stem(word)))
        else _ability(word, used, plurals.get(word, Usage()))
        for word, used in usages.items()
    }


def _is_of_verb(word: str, usage: Usage, base: str, of_base: Usage | None) -> bool:
    """Whether a form in -s that is seldom a noun belongs to what the corpus has as a verb."""
    if "third" not in kinds_of(word) or usage.nouns >= _LEAST_PLURAL or of_base is None:
        return False
    told = of_base.places - of_base.either
    return not stands_as_noun(base, of_base.nouns, of_base.adjectives, told)


def _ability(word: str, usage: Usage, plural: Usage) -> Ability:
    if is_people(word):
        return Ability(True, False)
    if in_capitals(word):
        kinds = kinds_of(word.lower())
        # TRUE is no noun; of what the dictionary does not have, letters are one
        plain = bool(kinds & {"noun", "plural"}) and kinds & _NO_LETTERS != _NO_LETTERS
        able = plain and not ROMAN.fullmatch(word)
        return Ability(able, False, unit=_is_unit(usage))
    if _COMPARING.fullmatch(word):
        return NO_TERM  # "on a same-station basis", "a basis-point benefit"
    if len(word) <= _SCRAP and kinds_of(word) == _ANYTHING and usage.places < _SAID:
        return NO_TERM  # "comi": a scrap of a transcript
    told, good = usage.places - usage.either, usage.nouns + usage.adjectives
    if not stands_as_noun(word, usage.nouns, usage.adjectives, told):
        return NO_TERM
    # "the volume soaring", of a demand that soars: what is a thing is said to be one more often
    describes = usage.adjectives > 0 and usage.nouns < _LEAST_GERUND
    gerund = kinds_of(word) == {"gerund"} and describes
    return Ability(
        not (gerund or _REPEATED.fullmatch(word))
        and is_noun_too(word, usage.nouns, usage.places - usage.nouns, plural.places > 0),
        usage.predicates <= _DESCRIBING * usage.places,
        good >= max(_LEAST_GERUND, _SURELY * told),
        "plural" not in kinds_of(word)
        and is_uncountable(word, usage.bare, usage.heads, plural.places),
        _is_unit(usage),
    )


def _is_unit(usage: Usage) -> bool:
    return usage.counted >= max(_LEAST_COUNTED, _COUNTED * usage.places)


def term_entity(word: str, use: Use, able: Ability, modifies: bool = False) -> str:
    """Return the entity of a place: its word, marked as an adjective, uncountable, or a unit.

    A noun before a noun is marked as such.

    '' where the place is none of a term.

    Examples
    --------
    >>> able = Ability(noun=True, adjective=True)
    >>> [term_entity("retail", use, able) for use in ("noun", "adjective", "either", "")]
    ['retail', 'retail/adjective', '', '']
    >>> term_entity("retail", "noun", able, modifies=True)
    'retail/modifier'
    """
    if use == "either":  # "pricing systems": what takes its place must be a noun too
        return word + _MODIFIER if able.either else ""
    if use == "adjective":
        return word + _BEFORE_NOUN if able.adjective else ""
    if use != "noun" or not able.noun:
        return ""
    if able.unit:
        return word + _UNIT
    # most plurals before what may be a noun head their phrase: "stores open"
    if modifies and "plural" not in kinds_of(word):
        return word + _MODIFIER
    return word + _UNCOUNTABLE if able.uncountable else word


def in_capitals(word: str) -> bool:
    """Whether a term is written in capitals, the plural's s aside; of a compound its last word."""
    word = _last_word(word)
    if not (word[:2].isupper() or word[1:2].isupper()):
        return False
    return "-" not in word or not word.rpartition("-")[2].islower()  # "RFID-based"


def _last_word(words: str) -> str:
    return words.rpartition(" ")[2]


def is_people(word: str) -> bool:
    """Whether a word is the name of a people, or what belongs to one.

    Examples
    --------
    >>> [is_people(w) for w in ("Chinese", "Americans", "China", "polish")]
    [True, True, False, False]
    """
    low = word.lower()
    return word[:1].isupper() and (low in PEOPLES or low.removesuffix("s") in PEOPLES)


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """Return what the singular and the plural of a word share; of a compound its last word.

    Examples
    --------
    >>> [stem(w) for w in ("wells", "batteries", "boxes", "glass", "MOBs", "gas", "leases")]
    ['well', 'battery', 'box', 'glass', 'MOB', 'gas', 'lease']
    """
    if in_capitals(word):
        return word.removesuffix("s")
    length = len(_last_word(word))
    if length > 3 and not word.endswith(_SINGULAR):
        for ending, singular in _PLURALS:
            if word.endswith(ending) and length > len(ending) + 1:
                return word[: -len(ending)] + singular
    return word


def kin_of(entity: str) -> list[str]:
    """Return every entity that is the same word as a term: singular and plural, however it is used.

    Of a compound those of each of its words, and of itself. What no donor may give back to a
    document that has one of them (:func:`may_give`).

    Examples
    --------
    >>> [e for e in kin_of("tires/adjective") if "/" not in e], "tire/mass" in kin_of("tires")
    (['tire', 'tirees', 'tires'], True)
    """
    words = term_word(entity)
    forms: set[str] = set()
    for word in {words, *words.split()}:
        base = stem(word)
        forms |= {word, base, f"{base}s"}
        if not in_capitals(word):
            forms |= {f"{base}es", *([f"{base[:-1]}ies"] if base.endswith("y") else ())}
    return [form + mark for form in sorted(forms) for mark in ("", *_MARKS)]


def may_give(terms: Iterable[str], barred: Collection[str]) -> set[str]:
    """Return the terms that a donor may give a chunk: of those that stand as a term there.

    Parameters
    ----------
    terms : iterable of str
        Entities.
    barred : collection of str
        Entities, with their kin (:func:`kin_of`). A compound of one of these words is barred too.

    Examples
    --------
    >>> sorted(may_give(["wide bodies", "cement", "kilns"], {*kin_of("narrow body"), "kilns"}))
    ['cement']
    """
    return {
        term
        for term in terms
        if not term.endswith(OTHER_USE) and not any(one in barred for one in barring(term))
    }


def barring(term: str) -> list[str]:
    """Return the entities of which one is enough to bar a term (:func:`may_give`).

    Itself, of a compound each of its words, and of a word with hyphens each part that tells.

    Examples
    --------
    >>> barring("wide bodies"), barring("tumor-specific")
    (['wide bodies', 'wide', 'bodies'], ['tumor-specific', 'tumor'])
    """
    words = term_word(term)
    found = [term]
    if " " in term:
        found += words.split()
    if "-" in term:
        found += stems_of(words)[1:]
    return found


def weight(count: int, documents: int, total: int) -> float:
    """Return the TF-IDF of a word that occurs ``count`` times in a document.

    Parameters
    ----------
    count : int
        From 1.
    documents : int
        Secrets whose documents have the word.
    total : int
        All secrets.
    """
    return math.log1p(count) * math.log((1.0 + total) / (1.0 + documents))


def residual_idf(count: int, documents: int, total: int) -> float:
    """Return how much rarer documents with a word are than chance would have them, in bits.

    Parameters
    ----------
    count : int
        Places of the word in the corpus, from 1.
    documents, total : int
        As for :func:`weight`.

    Returns
    -------
    float
        Inverse document frequency less that of a word which as many places hit at random
        (Poisson): near 0 for "role", which everybody says now and then, and large for "insurance",
        which few say often (Church & Gale, "Inverse document frequency (IDF): a measure of
        deviations from Poisson", 1995).

    Examples
    --------
    >>> round(residual_idf(12, 10, 40), 2), round(residual_idf(60, 8, 40), 2)
    (0.05, 1.96)
    """
    return math.log2(total / documents) + math.log2(-math.expm1(-count / total))


def terms_of(
    counts: Mapping[str, int],
    documents: Mapping[str, int],
    total: int,
    most: int,
    places: Mapping[str, int] | None = None,
) -> list[str]:
    """Return the terms of one document, the highest TF-IDF first; equal ones by the alphabet.

    Parameters
    ----------
    counts : mapping of str to int
        Word -> how often the document has it; a word stands for its plural too (:func:`stem`).
    documents : mapping of str to int
        Word -> secrets whose documents have it.
    total : int
        All secrets.
    most : int
        So many terms at most, beside the names of peoples. A word that more than half of the
        secrets' documents have is none, unless these are two; nor is a participle, a rare word in
        -ing, or what is said once here and elsewhere too.
    places : mapping of str to int, optional
        Word -> how often the corpus has it. What several secrets' documents have, scattered as by
        chance (:func:`residual_idf`), is then none either.

    Examples
    --------
    >>> terms_of({"cement": 9, "sales": 30, "kiln": 2}, {"cement": 1, "sales": 5, "kiln": 1}, 5, 2)
    ['cement', 'kiln']
    """
    common = max(1.0, _COMMON * total)
    rare = max(1.0, min(_RARE, _RARE_SHARE * total))

    def names_something(word: str, n: int) -> bool:
        if documents[word] > common:
            return False
        if in_capitals(word):
            return True
        if _PARTICIPLE.fullmatch(word):
            return False
        if (
            places is not None
            and documents[word] >= _SEVERAL
            and residual_idf(places[word], documents[word], total) < _BY_CHANCE
        ):
            return False
        # what hardly anybody else says needs to be said less often
        gerund = word.endswith("ing") and kinds_of(word) != {"noun"}  # "bedding" is none
        least = (_LEAST_GERUND if gerund else _LEAST) - (documents[word] <= rare)
        return n >= least

    weighed = sorted(
        (-weight(n, documents[word], total), word)
        for word, n in counts.items()
        if is_people(word) or names_something(word, n)
    )
    peoples = [word for _, word in weighed if is_people(word)]
    others = [(value, word) for value, word in weighed if not is_people(word)]
    return [word for value, word in others[:most] if value < 0] + peoples


def term_mentions(
    text: str,
    terms: Iterable[str],
    mentions: Iterable[Mention] = (),
    able: Mapping[str, Ability] | None = None,
    places: Iterable[Place] | None = None,
) -> list[Mention]:
    """Return the places of a document's terms in a text as mentions, :func:`compounds` as one.

    Once a word tells a document it tells it wherever it stands: places as no noun or adjective
    (:data:`OTHER_USE`), and in compounds with a hyphen, are among them.

    Parameters
    ----------
    text : str
    terms : iterable of str
        As :func:`terms_of` gives them.
    mentions : iterable of Mention
        Nothing is found inside them.
    able : mapping of str to Ability, optional
        As what words may be terms (:func:`abilities`); as noun and adjective all of them when not
        given.
    places : iterable of Place, optional
        :func:`term_uses` of the text and the mentions, where that is known.
    """
    known = frozenset(terms)
    whatever = NO_TERM if able is not None else Ability(noun=True, adjective=True)
    out: list[Mention] = []
    follows: set[int] = set()
    for place in term_uses(text, mentions) if places is None else places:
        whole, *parts = stems_of(place.word)
        entity = ""
        if whole in known:
            what = (able or {}).get(place.word, whatever)
            entity = term_entity(place.word, place.use, what, place.modifies)
        elif known.isdisjoint(parts):
            continue
        surface = text[place.start : place.end]
        out.append(Mention(place.start, place.end, TERM, surface, entity or place.word + OTHER_USE))
        if place.follows:
            follows.add(place.start)
    return compounds(out, follows)


def stems_of(word: str) -> list[str]:
    """Return the stem of a word, and of each part of one with hyphens.

    Parts have four letters and more, or capitals, and are no words of grammar or everyday.

    Examples
    --------
    >>> stems_of("leases"), stems_of("tumor-specific"), stems_of("e-vapors")
    (['lease'], ['tumor-specific', 'tumor'], ['e-vapor', 'vapor'])
    >>> stems_of("RFID-based")[1:], stems_of("chinese-made")[1:]
    (['RFID', 'based'], ['chinese', 'Chinese'])
    """
    if "-" not in word:
        return [stem(word)]
    parts = [part for part in word.split("-") if len(part) >= _PART or in_capitals(part)]
    parts = [part for part in parts if not is_everyday(part)]
    # the term is the name of a people with its capital
    peoples = [part.capitalize() for part in parts if is_people(part.capitalize())]
    return [stem(word), *map(stem, (*parts, *peoples))]


@lru_cache(maxsize=65_536)
def form_of(term: str) -> str:
    """Return the grammatical form of a term: what may stand where it stands.

    Parameters
    ----------
    term : str
        An entity, as :class:`Place` has it.

    Returns
    -------
    str
        ``noun``, ``mass``, ``plural``, ``modifier``, ``unit``, ``units``, ``adjective``,
        ``people``, ``letters``, or ``other`` for what is none of these.

    Examples
    --------
    >>> [form_of(t) for t in ("mattresses", "cement", "solar/adjective", "glass", "RFID")]
    ['plural', 'noun', 'adjective', 'noun', 'letters']
    """
    if term.endswith(_BEFORE_NOUN):
        return "adjective"
    if term.endswith(_UNCOUNTABLE):
        return "mass"
    if term.endswith(_MODIFIER):
        return "modifier"
    if term.endswith(OTHER_USE):
        return "other"
    if term.endswith(_UNIT):
        word = term.removesuffix(_UNIT)
        # capitals are not inflected: "217,000 TEU"
        return "units" if in_capitals(word) or "plural" in kinds_of(word) else "unit"
    if is_people(term):
        return "people" if form_of(term.lower()) == "noun" else "plural"
    term = _last_word(term)
    if in_capitals(term):
        return "letters" if not term.endswith("s") else "plural"
    return "plural" if "plural" in kinds_of(term) else "noun"


#: Forms that a sentence bears in each other's place, though not as well as its own.
NEAR = frozenset(
    {
        *(("noun", "letters"), ("noun", "mass"), ("mass", "letters"), ("adjective", "people")),
        *(("unit", "noun"), ("units", "plural")),
        # and no adjective behind another noun: "one service mobile customer"
        *(("modifier", "noun"), ("modifier", "mass"), ("modifier", "letters")),
    }
)


def agreement(first: str, second: str) -> float:
    """Return how far the forms of two terms agree: 1, one half (:data:`NEAR`) or 0; symmetric.

    Examples
    --------
    >>> agreement("cement", "oil"), agreement("cement", "RFID"), agreement("cement", "tires")
    (1.0, 0.5, 0.0)
    """
    return _agreement_of(form_of(first), form_of(second))


@cache
def _agreement_of(first: str, second: str) -> float:
    forms = first, second
    return 1.0 if first == second else 0.5 if {forms, forms[::-1]} & NEAR else 0.0


#: Words for people and for things, and what most of the first end in.
_WHO = sorted(
    word_set(
        "customers employees patients workers doctors physicians consumers viewers members "
        "teachers drivers engineers investors farmers students shoppers nurses clients users "
        "tenants lawyers owners experts scientists colleagues children borrowers travelers"
    )
)
_WHAT = sorted(
    word_set(
        "stores devices products buildings pipelines drugs systems networks machines services "
        "cars metals chips wells plants tests policies programs markets channels tires homes "
        "software equipment contracts loans fabrics vaccines ships offices answers conversations"
    )
)
_WHO_ENDS = re.compile(
    r"(?:\w+(?:[eo]r|ist|yst|ian|ee|mate|[ae]nt(?<!ment)|woman|man|ional)|expert|colleague|chef"
    r"|dentist|individual|associate|volunteer|crew|tribe|folk|friend|nurse)s?|\w*(?:people|children|[^e]men)"
)
#: How near a word must be to the first, and what it costs to meet one of the other kind.
_WHO_LEAST, _WHO_COST = 0.1, 0.6
#: What it costs to meet a word of the same root, and how many letters roots share.
_AKIN_COST, _ROOT = 1.0, 5


def akin(first: str, second: str) -> bool:
    """Whether two words seem to be of one root: the one in place of the other gives it away.

    Examples
    --------
    >>> pairs = [("consumer", "consumership"), ("scientists", "sciences"), ("brand", "rebrand")]
    >>> [akin(*pair) for pair in pairs], akin("pillows", "mattresses"), akin("oil", "soil")
    ([True, True, True], False, False)
    """
    return _same_root(stem(first.lower()), stem(second.lower()))


@lru_cache(maxsize=65_536)
def _root(term: str) -> str:
    return stem(term_word(term).lower())


def _same_root(first: str, second: str) -> bool:
    """:func:`akin` for the stems of two words."""
    first, second = first.replace("-", ""), second.replace("-", "")
    if len(first) > len(second):
        first, second = second, first
    if len(first) < _ROOT:
        return False
    if first in second:
        return True
    if first[:_ROOT] != second[:_ROOT]:  # most pairs end here, and there are many
        return False
    shared = _ROOT
    while shared < len(first) and first[shared] == second[shared]:
        shared += 1
    return shared >= 0.6 * len(first)


def _same_roots(first: Sequence[str], second: Sequence[str]) -> NDArray[np.bool_]:
    """:func:`_same_root` of all pairs of two lists, shape (len(first), len(second)).

    Only pairs that may be akin are looked at: one begins as the other does, or holds it.
    """
    bare = [word.replace("-", "") for word in second]
    begins: dict[str, list[int]] = defaultdict(list)
    whole: dict[str, list[int]] = defaultdict(list)
    for k, word in enumerate(bare):
        begins[word[:_ROOT]].append(k)
        whole[word].append(k)
    together = "\n".join(bare)
    found = np.zeros((len(first), len(second)), dtype=np.bool_)
    for i, term in enumerate(first):
        word = term.replace("-", "")
        if len(word) < _ROOT:
            continue
        near = set(begins.get(word[:_ROOT], ()))
        for start in range(len(word) - _ROOT + 1):
            for end in range(start + _ROOT, len(word) + 1):
                near.update(whole.get(word[start:end], ()))
        if word in together:
            near.update(k for k, other in enumerate(bare) if word in other)
        for k in near:
            found[i, k] = _same_root(term, second[k])
    return found


def _akin_table(first: Sequence[str], second: Sequence[str]) -> NDArray[np.bool_]:
    """:func:`akin` of all pairs of two lists of terms; of compounds any of their words."""
    stems, begins = [], []
    for terms in (first, second):
        words = [term_word(term).lower().split() for term in terms]
        stems.append([stem(word) for of_one in words for word in of_one])
        begins.append(np.cumsum([0, *map(len, words)])[:-1])
    found = _same_roots(*stems)
    if len(stems[0]) > len(first):
        found = np.logical_or.reduceat(found, begins[0], axis=0)
    if len(stems[1]) > len(second):
        found = np.logical_or.reduceat(found, begins[1], axis=1)
    return found


class TermSimilarity:
    """How well one term stands in the place of another.

    Parameters
    ----------
    embed : callable
        ``list[str] -> (n, d)`` unit vectors; see :func:`nes_spark.embedding.load_embedder`.

    Notes
    -----
    Twice the agreement of the forms (:func:`form_of`) and the cosine, from -2.6 to 3: no nearness
    makes up for another form. Agreement is 1 for the same form, one half where the sentence bears
    the other one (:data:`NEAR`), else 0. A word for people in the place of one for things ("a
    healthcare office, who") costs 0.6, one of the same root (:func:`akin`) 1: a word is one for
    people where it ends as such words do and is nearer to the mean of some of them than to that of
    things. Cosines are taken on a grid of 2^-20, so that the order of additions in a dot product
    decides nothing.
    """

    def __init__(self, embed: Callable[[Sequence[str]], np.ndarray]) -> None:
        self._embed = embed
        self._vectors: dict[str, np.ndarray] = {}
        self._who: tuple[np.ndarray, float] | None = None
        self._people: dict[str, bool] = {}

    def learn(self, terms: Iterable[str]) -> None:
        """Embed terms that will be compared, all at once."""
        new = sorted({t for t in terms if t not in self._vectors})
        if new:
            if len(self._vectors) > 50_000:
                self._vectors.clear()
            self._vectors.update(zip(new, self._embed([term_word(t) for t in new]), strict=True))

    def root(self, term: str) -> str:
        """Return the word of a term: singular and plural, noun and adjective have the same."""
        return _root(term)

    def reads(self, old: str, new: str) -> bool:
        """Whether ``new`` reads better in the place of ``old`` than a placeholder does.

        Names of peoples do, of one form. Of other words the near ones break a sentence nearly as
        often as the far ones ("driving traffic to our retails" of stores, "less traffic on
        shopping" of retail), and give away what stood there where they do not.
        """
        return self.stands(old) and self.stands(new) and form_of(old) == form_of(new)

    def stands(self, term: str) -> bool:
        """Whether there are terms of which one :meth:`reads` in its place, and it in theirs."""
        return is_people(term_word(term))

    def fits(self, first: str, second: str) -> bool:
        """Whether two terms may change places: as terms (:data:`OTHER_USE`), of forms that agree.

        A partner has few: the nearest of them may be a plural where one thing is told of ("a
        crops", of a fruit basket).
        """
        return "other" not in (form_of(first), form_of(second)) and agreement(first, second) > 0

    def is_person(self, term: str) -> bool:
        """Whether a term is a word for people."""
        if term not in self._people:
            if len(self._people) > 50_000:
                self._people.clear()
            self._people[term] = self._is_person(term)
        return self._people[term]

    def _is_person(self, term: str) -> bool:
        word = _last_word(term_word(term))
        if form_of(term) == "adjective" or not _WHO_ENDS.fullmatch(word):
            return False
        if self._who is None:
            people, things = (
                np.asarray(self._embed(words), dtype=np.float64).mean(axis=0)
                for words in (_WHO, _WHAT)
            )
            axis = people - things
            self._who = axis, float(axis @ (people + things) / 2 + _WHO_LEAST * axis @ axis / 2)
        self.learn([term])
        axis, least = self._who
        return bool(round(float(self._vectors[term].astype(np.float64) @ axis) - least, 6) > 0)

    def __call__(self, first: str, second: str) -> float:
        """Return the similarity of two terms; symmetric."""
        return float(self.table([first], [second])[0, 0])

    def table(self, first: Sequence[str], second: Sequence[str]) -> NDArray[np.float64]:
        """Return all similarities of two lists of terms, shape (len(first), len(second))."""
        self.learn((*first, *second))
        ours, theirs = (np.array([self._vectors[t] for t in terms]) for terms in (first, second))
        # each product by itself: the same cosine in whatever company
        cosine = np.einsum("id,jd->ij", ours.astype(np.float64), theirs.astype(np.float64))
        columns = [form_of(b) for b in second]
        of_form = {
            form: np.array([_agreement_of(form, column) for column in columns])
            for form in {form_of(a) for a in first}
        }
        forms = np.array([of_form[form_of(a)] for a in first])
        ours_who, theirs_who = ([self.is_person(t) for t in terms] for terms in (first, second))
        other = np.not_equal.outer(ours_who, theirs_who)
        kin = _akin_table(first, second)
        near = 2.0 * forms + np.round(cosine * 2**20) / 2**20
        return near - _WHO_COST * other - _AKIN_COST * kin
