"""Combine the neural recogniser, the name classifier, the word lists and the date rules.

Order of decisions: dates by rule; spans of the recogniser and spans that are written like names are
judged together (classifier's log probability plus a bonus for what the recogniser said); frames in
which people are introduced and lists of unambiguous names overrule both.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nes_spark.entities.currencies import CURRENCIES, SIGNS
from nes_spark.entities.dates import find_dates
from nes_spark.entities.distinctive import GEOGRAPHY, INSTITUTIONS, METHODS, PARTS_OF_PROPOSALS
from nes_spark.entities.keys import STREETS
from nes_spark.entities.lists import GENERAL, read_lists
from nes_spark.entities.mentions import outside, placeholder_spans, trim
from nes_spark.entities.names import (
    BEFORE_NAMES,
    BENCHMARKS,
    BODY_WORDS,
    CLASSES,
    CUES,
    FUNCTION_WORDS,
    PERSON_TITLES,
    TITLES,
    US_UNIT,
    Lexicon,
    NameClassifier,
    ProductClassifier,
    Words,
    candidate_spans,
    features,
    is_headed,
    leading_titles,
    product_features,
)
from nes_spark.entities.quantities import SCALES
from nes_spark.entities.wordforms import is_word, kinds_of
from nes_spark.text.forms import LEGAL_FORM, is_legal_form
from nes_spark.text.normalizing import fold_letters
from nes_spark.text.numbers import SECURITY_WORDS
from nes_spark.text.sentences import word_set
from nes_spark.text.vocabulary import EARNINGS, THE_CALL

Span = tuple[int, int, str]

_AT = {label: place for place, label in enumerate(CLASSES)}


def _by_class(**values: float) -> NDArray[np.float64]:
    """Return numbers by class in the order of :data:`CLASSES`, 0 where none is given."""
    unknown = values.keys() - _AT.keys()
    if unknown:
        raise KeyError(f"no classes {sorted(unknown)}")
    return np.array([values.get(label, 0.0) for label in CLASSES])


#: What the recogniser's label adds to the classifier's log probability of the same class. Chosen on
#: the development parts.
AGREEMENT = {"ORG": 0.5, "PERSON": 3.0, "LOC": 1.0, "EVENT": 2.5, "PRODUCT": 2.0}
#: Added to the classes of a span that the recogniser passed over.
PASSED_OVER = _by_class(O=-0.75, ORG=-0.5, PERSON=0.5, LOC=-0.5, EVENT=-1.0, PRODUCT=1.25)
#: Added to LOC for a name in the gazetteer, and for one that is in none and has no word of a place.
KNOWN_PLACE, UNKNOWN_PLACE = 3.0, -3.0
#: Added to PERSON for a single name that somebody is called by ("Great question, Xxx.").
CALLED = 2.0
#: Added to PERSON for a name that is no known given name and has no cue.
UNKNOWN_PERSON = -4.0
#: Added to PRODUCT for a span beside which nothing speaks of products: companies, the speaking one
#: above all, stand in any frame, so that a name without a cue is more often theirs.
NO_PRODUCT_CUE = -1.5
#: What the second opinion on products adds to PRODUCT: its log odds, bounded, times the weight, and
#: a constant. Chosen on calls left out of training in turn.
SECOND_WEIGHT, SECOND_BOUND, SECOND_BIAS = 1.4, 3.0, 2.2
_PRODUCT_AFTER = CUES["pa"]
_PRODUCT_BEFORE = CUES["pb"] - {"our"}
_PRODUCT_BESIDE = _PRODUCT_BEFORE | _PRODUCT_AFTER
_BODIES_OR_PLACES = BODY_WORDS | GEOGRAPHY
_LINKS = frozenset(["of", "the", "our", "on", "for", "called", "new", "like", "as", "and"])
_APPOSITION = re.compile(
    r"(?:, (?:our|the|a|an|which is (?:our|a|an|the)) |\W+is (?:our|a|an|the) )(?:[\w-]+ ){0,4}"
    r"(?:platform|app|application|brand|product|solution|drug|game|card|service|program|programme|"
    r"software|vaccine|device|model|wallet|portal|tool|suite|candidate|compound|therapy|treatment|"
    r"initiative|system|marketplace|magazine|show|series)\b"
)
#: Added to the classes of a span that the recogniser found.
FOUND = _by_class(PRODUCT=1.5)

_NAME = r"(?:[A-Z][\w'’.-]*[\w.]|[A-Z]\.?)"
_FULL_NAME = rf"{_NAME}(?: (?:de|del|da|van|von|der|la|bin|{_NAME})){{0,3}}"
_STRONG_BEFORE = re.compile(
    r"(?:\b(?:Mr|Ms|Mrs|Dr|Prof)\.? |\b(?:Miss|Mister) |line of |\bturn (?:the call |it |"
    r"things |the floor )?(?:back )?(?:over )?to (?:our \w+,? )?|"
    r"\bhand (?:the call |it |things )?(?:back )?(?:over )?to |\bover to |"
    r"question (?:today )?(?:is |comes |will come |is coming )?from |my name is |"
    r"joined (?:today )?by |"
    r"(?:CEO|CFO|COO|CTO|Officer|President|Chairman|Director),? )$",
    re.IGNORECASE,
)
_PERSON_TITLE = "|".join(sorted(PERSON_TITLES))
_TITLE_BEFORE = re.compile(
    r"\b(?:Mr|Ms|Mrs|Dr|Prof|Fr|Hon|Rev|Sgt|Capt|Lt|Col)\.? $|\b(?:Miss|Mister|Madam|Sir) $"
    rf"|\b(?:Attorney General|Solicitor General|Professor|{_PERSON_TITLE}) $"
    r"|\b(?:Cllrs?|CLLR)\. (?:[A-Z]\.? ?)*$"
)
#: "R. Penhallow", "T. R. Amberley", "Marcus B. Ellwood".
_INITIALED = re.compile(
    r"(?:[A-Z]\. ?){1,3}[A-Z][a-z][\w'’-]*|[A-Z][a-z]+ (?:[A-Z]\. ?){1,2}[A-Z][a-z][\w'’-]*"
)
#: A full name around an initial, with the particles of a surname: "Wim J. van Houten".
_INITIAL_INSIDE = re.compile(
    r"(?<![\w'’.-])(?P<given>[A-Z][a-z][\w'’-]*) (?:[A-Z]\. ?){1,2}"
    r"(?:(?:[Vv]an|[Vv]on|[Dd]e|[Dd]el|[Dd]i|[Dd]a|[Ll]a|[Ll]e|[Dd]er|[Tt]en|[Tt]er) ){0,2}"
    r"(?P<surname>[A-Z][a-z][\w'’-]*?)(?=['’]s\b|(?![\w'’-]))"
)
#: Behind such a name it is a company's: "Arthur J. Gallagher & Co".
_FIRM_AFTER = re.compile(
    r",? (?:&|and (?:Co|Sons?|Company)\b|(?:Capital|Group|Holdings|Foundation)\b)"
)
#: Somebody's daughter, colleague, neighbour.
_RELATION_BEFORE = re.compile(
    r"\b(?:daughter|son|wife|husband|brother|sister|mother|father|aunt|uncle|niece|nephew|cousin|"
    r"grandson|granddaughter|grandmother|grandfather|widow|widower|fianc[eé]e?|neighbour|neighbor|"
    r"colleague|boss|friend|driver|skipper|bookkeeper|receptionist|accountant|clerk|foreman|"
    r"gardener|tenant|landlord|landlady|trainee|apprentice),? $"
)
#: A capital inside a word, as products have.
_MIXED = re.compile(r"(?<=[a-z])[A-Z]")
#: A line that is nothing but a name, and one that somebody's words begin with.
_LINE_BEFORE = re.compile(r"(?:^|\n)[>\s-]*(?:\d{1,2}[:.]\d\d )?$")
_LINE_AFTER = re.compile(r"[ ]*(?:\n|$)")
_SPEAKS_AFTER = re.compile(r"(?: \([^)\n]{1,40}\))?: ")
#: What an institution is called once it was named: "the Trust", "this Court".
_DEFINED = re.compile(
    r"\b(?:[Tt]he|[Tt]his|[Tt]hat|[Oo]ur|[Ii]ts|[Tt]heir|[Hh]is|[Hh]er|[Ee]ach|[Ee]very|[Aa]ny|"
    r"[Nn]o|[Aa]n?) $"
)
_GOES_ON = re.compile(r" (?:of|for|on|and|to|against|de) (?:the |a |an )?[A-Z]| & ")
_OWNS_OR_DOES = re.compile(
    r"^(?:['’]s\b| (?:is|was|has|had|will|would|can|could|may|might|did|does|says|said|wants|went|"
    r"came|took|made|told|asked|gave|called|wrote)\b)"
)
#: Where a name of one or two words is a place's: behind it no company and no product stands.
_PLACE_FRAME = re.compile(
    r"\b(?:(?:live|lives|lived|living|born|sit|sits|sitting|held|heard|arrived|landed|stayed) "
    r"(?:in|at)|(?:moved|went|came|drove|travelled|traveled|flew|sailed|returned|back) "
    r"(?:to|from|up from)|(?:near|outside|north of|south of|east of|west of|"
    r"town of|city of|village of|county of|depot in|office in|offices in|"
    r"(?:house|home|flat|farm|barn|bridge|hospital|school|church|court|road|depot|yard|station|"
    r"hotel|shop|harbour|harbor|beach|clinic|surgery|college|village) (?:at|in|near|off|outside)))"
    r" $"
)
_PLACE_FRAME_AFTER = re.compile(
    r"^ (?:depot|branch|surgery|bypass|ferry|quarry|site|road|harbour|harbor|high street)\b"
)
_IN_BEFORE = re.compile(r"\b(?:in|In|near|Near|outside) $")
_AT_END = re.compile(r"[.;:?!)]|$")
_FROM_BEFORE = re.compile(r"\bquestion\b[^.?!]{0,40}\bfrom (?:the line of )?$")
_WEAK_BEFORE = re.compile(
    r"(?:\b(?:thanks?|thank you)(?: very much| so much)?,? |\b(?:hi|hello|hey|dear|cheers,|morning|"
    r"afternoon|evening),? |\bI am |\bI'm |\bthis is )$",
    re.IGNORECASE,
)
_VOCATIVE_BEFORE = re.compile(
    r"(?:\b(?:question|right|got it|sure|yes|yeah|no|okay|ok|right|great|thanks|thank you|hi|hello|"
    r"morning|afternoon|evening|welcome|well|so|understood|helpful|appreciate it|ask|let|yourself|"
    r"myself and|point)),? $",
    re.IGNORECASE,
)
_VOCATIVE_AFTER = re.compile(
    r"^(?:[.?,;!]|$| to (?:talk|comment|take|answer|give|add|cover|go)\b| and (?:I|team|congrat)\b)"
)
_SAID = re.compile(
    r"^ (?:mentioned|said|pointed|alluded|noted|described|explained|discussed|commented|"
    r"will (?:now |then )?(?:cover|discuss|take|talk|provide|walk|give|speak)|"
    r"talked|asked|highlighted|outlined|touched|can (?:take|talk|comment|answer)|joined|and I)\b",
)
_ROLE_AFTER = re.compile(
    r"^,? (?:our |the |who is (?:our |the )?|is (?:our |the )?|as (?:our |the )?)?(?:new |"
    r"group |interim |acting |deputy |executive |senior |global |former )*"
    r"(?:CEO|CFO|COO|CTO|CIO|Chief|President|Vice President|Chairman|Chairwoman|Head of|"
    r"Managing Director|Director of|Investor Relations|Treasurer|General Counsel|VP|SVP|EVP)\b",
    re.IGNORECASE,
)
_ORG_AFTER = re.compile(r"^,? (?:with|of|from|at|representing) (?:the )?[A-Z]")
_ORG_BEFORE = re.compile(r"(?:,? (?:with|of|from|at|representing)|\bat|\bby) $")
_QUESTION = re.compile(
    r"\b(?:line of|question|over to|go to|move to|hear from|come from|comes from)\b", re.IGNORECASE
)
_ORG_WORD = re.compile(
    r"(?:^|\s)(?:Inc|Corp|Corporation|Company|Co|Ltd|Limited|LLC|LLP|PLC|plc|AG|SE|NV|N\.V|S\.A|"
    r"SA|SpA|AB|ASA|Oyj|GmbH|L\.?P|N\.A|B\.?V|KG|KGaA|Pty|Pte|Pvt|Sdn|Bhd|Berhad|Tbk|Group|Holdings?|"
    r"Partners|Capital|Securities|Bank|Banco|Bancorp|Insurance|University|College|Institute|"
    r"Ministry|Department|Commission|"
    r"Authority|Agency|Association|Federation|Council|Committee|Board|Foundation|Fund|Funds|"
    r"Trust|Ventures|Airlines|Airways|"
    r"Motors|Pharmaceuticals?|Therapeutics|Technologies|Industries|Resources|Research|Markets|"
    r"Advisors|Advisers|Asset Management|Investments?|"
    r"Financial|Energy|Petroleum|Telecom|Telecommunications|Foods|Stores|Hospital|Court|Army|"
    r"Navy|Senate|Congress|Parliament|Division|Union|Logistics|Bureau|Exchange)\.?$"
)
_PLACE_WORD = re.compile(
    r"(?:^|\s)(?:River|Basin|Bay|Street|Avenue|Road|Lake|Sea|Ocean|Island|Islands|City|County|"
    r"Province|Valley|Mountain|Mountains|"
    r"Port|Airport|Refinery|Mine|Mill|Plant|Terminal|Pipeline|Gulf|Coast|Peninsula|Desert|Canal|"
    r"Park|Square|Beach|Hills|Creek|Ranch|Falls|"
    r"Rio|San|Santa|Porto|Puerto|New|North|South|East|West|Northern|Southern|Eastern|Western|"
    r"Central|Greater|Upper|Lower|Mount|Fort|St)(?:\s|$)"
)
_ORG_FRAME_BEFORE = re.compile(
    r"(?:\b(?:developed|acquired|owned|made|built|provided|supplied|managed|led|backed|regulated|"
    r"issued|published|approved|announced|run|bought|taken over|founded|sold) by |"
    r"\b(?:work|works|worked|working|relationship|partnership|partner|partnered|partnering|"
    r"agreement|"
    r"agreements|venture|contract|contracts|collaborate|collaboration|collaborating|compete|"
    r"competing|"
    r"merger|merge|deal|negotiations|discussions|engagement|joined forces) with |"
    r"\b(?:participation|stake|stakes|interest|shareholding|shares|equity investment|"
    r"investment) in |"
    r"\b(?:shareholders?|shares|acquisition|acquisitions|takeover|subsidiary|subsidiaries|merger|"
    r"umbrella|disposal|revaluation|stake|ownership|CEO|CFO|chairman|management|board|behalf) of |"
    r"\b(?:company|companies|competitors|peers|players|banks|retailers|customers|clients|partners|"
    r"suppliers|operators) (?:such as|like|including|called) |"
    r"(?:^|[.?!] )(?:And |So |But |Here )?[Aa]t |"
    r"\b[Ww]elcome(?: you)?(?: all)? to |\b(?:our|the) (?:subsidiary|parent|partner|peer|"
    r"competitor) |"
    r"\b(?:acquire|acquired|acquiring|regulator) )(?:the )?(?:uh,? |um,? )?$"
)
_ORG_FRAME_AFTER = re.compile(
    r"^(?:(?:'s|’s|') (?:customers|shareholders|board|management|CEO|CFO|employees|team|exports|"
    r"website|offices?|teams?|members|staff|people|investors|clients|portfolio|"
    r"strategy|shares|stock|stake|balance sheet|results|earnings|annual|performance|business|"
    r"position|adjusted|revenues?|net|EBITDA|profit|"
    r"acquisition|participation|operations|first|second|third|fourth)|"
    r" (?:colleagues|employees|shareholders|shares|management|corporate|disposal|acquisition|"
    r"merger|"
    r"brokers|stake|board|investor relations|annual results|earnings call|has acquired|acquired|"
    r"announced|website|offices?|teams?|team members|staff|family|was recognized|is recognized|"
    r"was the only company|reports|reported|has signed|signed|will host|does not|operates|employs|"
    r"Group|brands|shareholder|investor|investors|stock|share price|project|projects|theater))\b"
)
_PLACE_END = re.compile(
    r" (?:River|Basin|Bay|Street|Avenue|Lake|Sea|Ocean|Islands?|County|Province|Valley|Mountains?|"
    r"Airport|Refinery|Reservoir|Dam|Mine|Mill|Terminal|Pipeline|Peninsula|Desert|Canal|Hills)$"
)
#: "Wijk aan Zee", "Frankfurt an der Oder", "Burton upon Trent".
_PLACE_INSIDE = re.compile(r"[a-z] (?:aan|am|an der|bei|op|sous|sur|upon) (?:\w+ )?[A-Z]")
_LOCAL_END = re.compile(r" (?:Lane|Crescent|Terrace|Harbou?r|Quay|Village)$")
_EVENT_END = re.compile(
    r"(?: (?:Day|Conference|Expo|Forum|Summit|Awards?|Symposium|Festival|Olympics|Fair|"
    r"Convention|Congress|"
    r"Games|Cup|Hurricane|Webinar|Conference Call|Earnings Call)|\wCon)$"
)
#: Added to ORG in a frame in which companies and authorities stand.
ORG_FRAME = 2.5
#: Added to ORG for a name that a sentence calls a company, a bank or the like.
COMPANION = 2.0
#: Added to PERSON for a given name with another name, and to LOC where places stand.
FULL_NAME, PLACE_FRAME, IN_PLACE, SPEAKS = 3.0, 5.0, 2.0, 6.0
#: Added to PRODUCT for a name that ends as programmes and products do.
PROGRAMME = 2.0
#: Codes of currencies that are written before an amount ("COP10 billion").
_CURRENCIES = (
    "AED|ARS|AUD|BDT|BRL|CAD|CHF|CLP|CNY|COP|CZK|DKK|EGP|EUR|GBP|GHS|HKD|HUF|IDR|ILS|INR|JPY|KES|"
    "KRW|KZT|LKR|MAD|MXN|MYR|NGN|NOK|NTD|NZD|PEN|PHP|PKR|PLN|QAR|RMB|RON|RUB|SAR|SEK|SGD|THB|TRY|"
    "TWD|TZS|UAH|UGX|USD|UYU|VND|XAF|XOF|ZAR|ZMW"
)
_MONEY = re.compile(
    rf"^(?!COP2[5-9]$)(?:{_CURRENCIES}|TL|HK|US|NT|Rs|Ps|Rp)\s?\$?\d|^R\s?\$?\d|^[SCA]\s?\$\d|"
    rf"^(?:{_CURRENCIES})$|^R[sp]\.?$"
)
#: What stands right behind the letters of a country in an amount: US$, GH₵.
_SIGNS, _COUNTRY = tuple(SIGNS), re.compile(r"[A-Z]{1,3}")
#: Letters of these stand in headings too ("ACME AS OF"), and "the Acme company" is no form.
_NO_FORM = r"(?!company|corp|limited|inc|Company|(?:AS|SA|SE|AB) [A-Z]{2})"
_LEGAL_FORM = re.compile(
    r"(?:(?<=\bSdn|\bPty|\bPte|\bPvt)\.? (?:Bhd|Ltd|Limited)\b\.?|(?<=\bCo)\. KG(?:aA)?\b|"
    rf"(?:,? (?:& )?{_NO_FORM}{LEGAL_FORM}(?!\w)\.?(?![\w&-])){{1,2}})"
)
#: Names are cut at small words; these are whole with them.
_JOINT = re.compile(r" (?:of|and|the|for|de|do|der|with|by|on|to) ")
_LEADS = (
    r"(?:(?!(?:The|Our|Your|This|That|In|At|On|By|For|From|With|Under|And|But|So|As|If|When|Since|"
    r"While|After|Before|Last|Thank|\w+day|January|February|March|April|May|June|July|August|"
    r"September|October|November|December) )[A-Z][\w.]+ )"
)
_OFFICE = re.compile(
    rf"\b(?:{_LEADS}{{0,3}}"
    r"(?:Bank|Department|Dept\.|Ministry|University|College|Institute|Bureau|"
    r"Board(?! of (?:the )?(?:Directors|Trustees|Managers|Governors))|"
    r"Chamber|Academy|Council|Federation|Association|Society) of (?:the )?[A-Z]\w+"
    r"(?: (?:(?:and|&) )?[A-Z]\w+){0,3}"
    # a court goes by its district
    r"|(?:Northern|Southern|Eastern|Western|Middle|Central) District of [A-Z]\w+(?: [A-Z]\w+)?"
    r"|[A-Z]\w+(?:, [A-Z]\w+)? and [A-Z]\w+ (?:Administration|Commission|Authority|Agency|Council|"
    r"Ministry|Board|Bureau|Association|Federation))\b"
)
_OWNER = (
    r"(?:(?:Children|King|Men|People|Queen|Women)['’]s|(?:Farmer|Girl|Mother|Veteran|Worker)s['’])"
)
#: What belongs to people by its name: "Women's Institute", "Boston Children's Hospital".
_OF_PEOPLE = re.compile(
    rf"\b{_LEADS}{{0,2}}{_OWNER}(?: and {_OWNER})? (?:Academy|Association|Bank|Cent(?:er|re)|Club|"
    r"College|Council|Federation|Foundation|Fund|Guild|Hospital|Institute|League|Museum|Party|"
    r"Society|Trust|Union)\b(?: of (?:the )?[A-Z]\w+(?: [A-Z]\w+)?)?"
)
#: A house in a street, and streets with a number: "250 Elm Street", "10 West 65th street". The
#: number of a house tells it as well as the name of its street does.
_ADDRESS_WORDS = (*STREETS, "street", "avenue", "road", "boulevard", "lane")
_ADDRESS = re.compile(
    r"(?<![\w$€£.,%-])(?:"
    r"(?:(?:Flat|Apartment|Apt\.?|Suite|Unit) \d{1,4}[A-Za-z]?, ?)?"
    # "57A", but no "3D" or "5G"
    r"(?!(?:19|20)\d\d )\d{1,5}[ABCabc]? (?:(?!Wall\b)[A-Z][\w'’.-]* ){1,3}"
    rf"(?:{'|'.join(_ADDRESS_WORDS)})"
    r"|(?:\d{1,5} )?(?:(?:North|South|East|West|[NSEW]\.?) )?"
    r"(?:\d{1,3}(?:st|nd|rd|th) (?:[Ss]treet|[Aa]venue)"
    r"|(?:First|Second|Third|Fourth|Fifth|Sixth|Seventh|Eighth|Ninth|Tenth) (?:Street|Avenue)))\b"
)
#: Degrees, minutes and seconds, each with what marks it.
_DEGREES = (
    r"\d{1,3}(?:\.\d+)? ?°(?: ?\d{1,2}(?:\.\d+)? ?['’′])?(?: ?\d{1,2}(?:\.\d+)? ?(?:[\"”″]|''))?"
)
_MINUTES = r"(?:[ °-]?\d{1,2})?(?:\.\d+)?['’′]?"
#: Where on earth something is, both halves of it: "52°15.0'N 003°20.1'W", "N51 53.5 W001 26.3",
#: "5047N 00130W", "52.0039, -2.9431". Half of it tells nearly as much.
_POSITION = re.compile(
    rf"(?<![\w.,])(?:{_DEGREES} ?[NS](?:[,;/]? ?{_DEGREES} ?[EW])?(?!\w)"
    rf"|[NS] ?\d{{1,2}}{_MINUTES}[,;/]? ?[EW] ?\d{{2,3}}{_MINUTES}(?!\w|[.,]\d)"
    r"|\d{4}(?:\d\d|\.\d+)?[NS][,;/ ]{0,2}\d{5}(?:\d\d|\.\d+)?[EW](?!\w)"
    # latitudes of two figures: smaller numbers are rates and shares
    r"|[-−]?[1-8]\d\.\d{4,}°?[,;/]? ?[-−]?1?\d{1,2}\.\d{4,}(?![\w%]|[.,]\d))"
)
#: Degrees of heat: the letter is nobody's initial ("at 4°C. Engineers found").
_TEMPERATURE = re.compile(r"° ?[CFK]\b\.?")
#: Clocks behind an hour; of these letters UTC was a company as well.
_CLOCKS = frozenset({"BST", "CEST", "CET", "UTC"})
_HOUR_BEFORE = re.compile(r"(?:\d|[ap]\.?m\.?|hrs|hours) ?$")
#: A ministry has two tasks where it has one: "Ministry of Energy and Mines".
_NATION_BEFORE = re.compile(r"\b(?:U\.S\.|U\.K\.|US|UK|United States|United Kingdom) $")
_MINISTRY = re.compile(r"(?:the )?(?:Ministry|Ministries) of ", re.IGNORECASE)
_SECOND_TASK = re.compile(r"(?:,? (?:and|&) [A-Z][a-z]+){1,2}(?!\w)")
#: Words of which each match of these patterns has one: they are slow, and most texts have none.
_OFFICE_WORDS = tuple(
    [
        f"{name} of "
        for name in ("District", "Bank", "Department", "Dept.", "Ministry", "University", "College")
    ]
    + [f"{name} of " for name in ("Institute", "Bureau", "Board", "Chamber", "Academy", "Council")]
    + [f"{name} of " for name in ("Federation", "Association", "Society")]
    + [f" {name}" for name in ("Administration", "Commission", "Authority", "Agency", "Council")]
    + [f" {name}" for name in ("Ministry", "Board", "Bureau", "Association", "Federation")]
)
_OWNERS = tuple(f"{name}s" for name in ("Farmer", "Girl", "Mother", "Veteran", "Worker")) + tuple(
    f"{name}{mark}s"
    for name in ("Children", "King", "Men", "People", "Queen", "Women")
    for mark in "'’"
)
#: Behind some names it is part of them, however it is written: "New York city".
_CITY = re.compile(r" city\b")
_TAIL_WORDS = frozenset(["of", "and", "with", "from", "for", "the", "to", "by", "at", "in", "on"])
#: Drugs by the stems of their international nonproprietary names, which are written in lower case.
_DRUG = re.compile(
    r"(?<![\w-])(?=[a-z]{7})[a-z]+(?:[a-z]{2}mab|tinib|ciclib|parib|rafenib|zomib|degib|[aeiou]vir|"
    r"gliptin|gliflozin|glutide|patide|sartan|vastatin|prazole|conazole|triptan|setron|lukast|"
    r"xaban|gatran|cillin|mycin|floxacin|platin|taxel|rubicin|trexate|afil|bercept|tacept|"
    r"limus|netant|leucel|dronate|oxetine|azepam|profen)(?![\w-])"
)
_DRUG_STEMS = (
    "mab", "tinib", "ciclib", "parib", "rafenib", "zomib", "degib", "vir", "gliptin", "gliflozin",
    "glutide", "patide", "sartan", "vastatin", "prazole", "conazole", "triptan", "setron", "lukast",
    "xaban", "gatran", "cillin", "mycin", "floxacin", "platin", "taxel", "rubicin", "trexate",
    "afil", "bercept", "tacept", "limus", "netant", "leucel", "dronate", "oxetine", "azepam",
    "profen",
)  # fmt: skip
#: Last words of the names of programmes and products, and companions of companies.
_PRODUCT_END = re.compile(
    r" (?:Initiatives?|Programme|Program|Platform|Suite|Index|Series|Edition|App|Wallet|Rewards|"
    r"Engine|Portal|Score|Vaccine|Marketplace|Console)$"
)
_COMPANY = (
    r"(?:company|subsidiary|affiliate|bank|insurer|retailer|operator|carrier|airline|utility|"
    r"partner|competitor|peer|supplier|customer|client|shareholder|manufacturer|parent|regulator|"
    r"lender|brokerage|contractor|developer|distributor|start-?up|fintech|conglomerate)"
)
_COMPANY_BEFORE = re.compile(rf"\b{_COMPANY},? (?:called |named |uh, |um, )?$")
_COMPANY_AFTER = re.compile(
    rf"^(?:, (?:which|who) (?:is|was) |, |,? is |,? was )(?:our |the |a |an |one of (?:our|the) )"
    rf"(?:[\w-]+ ){{0,4}}{_COMPANY}(?:s|es|ies)?\b"
)
#: Storms have people's names.
_STORM = re.compile(
    r"\b(?:(?:(?:Winter|Tropical|Ice|Snow|Wind) )?Storm|Hurricane|Typhoon|Cyclone) [A-Z][a-z]{2,}\b"
)
_COVID = re.compile(
    r"\b(?:COVID|Covid|covid)(?:[- ]?19)?\b|\b[Cc]oronavirus\b|"
    r"\bCorona(?= (?:crisis|epidemic|lockdown|outbreak|pandemic|situation|virus)\b)"
)
#: A feast in small letters: another people's name before it would make "the Mexican new year", a
#: placeholder "[Term] Monday".
_FEAST = re.compile(
    r"\b(?:[A-Z][a-z]+(?:an|ese|ic|ish)|[Ll]unar|Thai) [Nn]ew year"
    r"(?:['’]s(?: day| eve)?)?(?![\w'’])|\b(?:black Friday|cyber Monday)\b"
)
_COVID_WORDS = ("COVID", "ovid", "orona")
_FEAST_WORDS = ("new year", "New year", "black Friday", "cyber Monday")
_STORM_WORDS = ("Storm ", "Hurricane ", "Typhoon ", "Cyclone ")
#: Standards, quarters, phases of trials and markers of cells, which look like model numbers.
_NO_MODEL = re.compile(
    r"^(?:IFRS|IAS|ASC|ISO|FAS|CD|IL|PDL?|PD-L|HSP|HER|Q|FY|CET|CEP)[- ]?\d{1,5}[a-z]?s?$"
    r"|^Phase [IVX1-4]+[ABab]?(?:/[IVX1-4]+[ABab]?)?$|^K-?[Rr][Aa][Ss]\b|^EGFR$|^[NT]K$",
)
#: A code of a substance that the transcript has cut ("ABC- 1234").
_CUT_CODE = re.compile(r"^- ?\d{3,5}\b")
#: "Thats", "Pls": no names, but for IM in capitals.
_MESSAGES = frozenset(read_lists(GENERAL)["MESSAGES"])
#: Who stands before a court, and the court, by their part alone.
_PARTIES = frozenset(
    name + end
    for name in (
        "Appellant", "Appellee", "Applicant", "Arbitrator", "Claimant", "Defendant", "Intervener",
        "Intervenor", "Petitioner", "Plaintiff", "Respondent", "Tribunal",
    )
    for end in ("", "s")
)  # fmt: skip
#: Whom a contract binds, by their part in it: whoever is meant has another name.
_OF_CONTRACTS = frozenset(
    written
    for name in read_lists(GENERAL)["PARTIES OF CONTRACTS"]
    for written in (name, f"{name}s", name.upper(), f"{name}s".upper())
)
#: What a deed is divided into: "Schedule 2", "Exhibit A".
_OF_DEEDS = re.compile(
    r"(?:Annex|Appendix|Article|Clause|Exhibit|Recital|Schedule|Section)s? "
    r"(?:\d{1,3}(?:\.\d{1,2})*|[A-Z]|[IVX]+)"
)
#: Letters that blanks part, as headings have them: "W I T N E S S E T H".
_SPACED = re.compile(r"(?<![^\W_])[A-Z](?: [A-Z]){3,}(?![^\W_])")
#: Who reports and to whom, and what a report says of its figures, whatever their capitals.
_OF_REPORTS = word_set(
    "audited filer issuer obligor owner owners preamble recital recitals registrant registrants "
    "restated shareowners unaudited witnesseth"
)
#: What every company has: its board, its owners, their meetings.
_BODIES = re.compile(
    r"(?:(?:Annual|Audit|Executive|Extraordinary|General|Independent|Management|Managing|Ordinary"
    r"|Special|Supervisory) )*(?:Board|Committee|Directors?|Governors|Managers|Meeting|Members"
    r"|Shareholders?|Stockholders?|Trustees)(?: Meeting)?"
)
#: Words with which names of banks end, and numbers with which they begin ("First", "Fifth Third").
_BANKS = frozenset(["banc", "bancorp", "bancorporation", "bancshares", "bank", "bankshares"])
_NUMBERS = word_set(
    "First Second Third Fourth Fifth Sixth Seventh One Two Three Four Five Six Seven"
)
#: First words of places that are words like any other where a sentence begins.
_QUARTERS = frozenset({"North", "South", "East", "West", "Latin", "Central", "New"})
#: Rules of offices: no offices.
_REGULATION = re.compile(
    r"(?:[A-Z]+ )?(?:Regulation|Rule|Section|Form|Item) [A-Z0-9][A-Z0-9-]{0,6}"
)
_MARKS = re.compile(r"<[a-z_]+>")
#: Given names that are months, modals, verbs or general words too: a capital at the beginning of a
#: sentence says nothing about them.
_WORDS_TOO = frozenset({
    "Al", "April", "Art", "August", "Bill", "Chip", "Cliff", "Dean", "Drew", "Ed", "Faith", "Frank",
    "Gene", "Grace", "Grant", "Guy", "Hope", "Jan", "Joy", "Jun", "June", "Mark", "Max", "May",
    "Miles", "Norm", "Pat", "Rich", "Rose", "Will",
})  # fmt: skip
_MODALS = frozenset({"May", "Will"})
_GIVEN_MONTHS = frozenset({"April", "August", "Jan", "Jun", "June", "May"})
#: Surnames that are months too.
_SURNAME_MONTHS = frozenset({"March", "May"})
#: Behind these a month is one, whatever follows it: "in April Novartis bought".
_TIME_BEFORE = re.compile(
    r"\b(?:between|during|each|early|every|in|last|late|mid|next|on|since|this|through|throughout|"
    r"till|until|within)[ -]$",
    re.IGNORECASE,
)
#: Behind these it is one where a sentence begins behind it: "from April Novartis sold".
_AT_TIME = re.compile(r"\b(?:after|and|at|before|by|for|from|of|or|to) $", re.IGNORECASE)
#: The word before a name inside a sentence; a quotation or bracket may begin one.
_WORD_BEFORE = re.compile(r"(\w+)[.,;]? $")
#: A verb that is no infinitive: no question is asked with "will" or "may", nobody told to mark it.
_FINITE = re.compile(
    r"^ (?:(?:already|also|always|never|now|once|still|then) )?(?:(?:is|was|has|had|did|does|says|"
    r"said|went|came|took|made|told|gave|wrote)\b|(?P<verb>[a-z]+)\b)"
)
#: A figure at the end of a name, which may count what follows, and the rest of a large one.
_FIGURE, _THOUSANDS = re.compile(r"\d+(?:\.\d+)?"), re.compile(r",\d{3}(?!\d)")
_COUNTED = re.compile(r" ([a-z]+)\b")
#: Units and what is counted as often, whatever stands before the figure ("Acme 24 minutes late").
_UNITS_BEHIND = word_set(
    "seconds minutes hours days weeks months years decades percent miles yards inches ounces "
    "kilometers kilometres meters metres tons tonnes barrels acres hectares litres gallons people "
    "points games goals runs votes seats thousand"
) | {word for word in SCALES if word.isalpha() and len(word) > 2}
_PERIOD_AFTER = re.compile(r" (?:\d|(?:and|or|through|to|until) [A-Z])")


def _any_of(names: Iterable[str]) -> re.Pattern[str]:
    """Return a pattern that finds the longest of some names where no word goes on.

    It begins with the letters that names begin with: where no name begins nothing is tried.
    """
    after: dict[str, list[str]] = {}
    for name in sorted(filter(None, names), key=lambda name: (-len(name), name)):
        after.setdefault(name[0], []).append(re.escape(name[1:]))
    branches = [
        rf"{re.escape(first)}(?<!\w{re.escape(first)})(?:{'|'.join(rests)})"
        for first, rests in after.items()
    ]
    return re.compile(rf"(?:{'|'.join(branches)})(?!\w)")


def _spans(pattern: re.Pattern[str], needed: Sequence[str], text: str) -> list[tuple[int, int]]:
    """Return where a pattern matches in a text that has one of the words it needs."""
    for word in needed:  # asked often: any() of a generator takes twice as long
        if word in text:
            return [match.span() for match in pattern.finditer(text)]
    return []


class Judged:
    """One span that is judged, and what stands around it.

    Parameters
    ----------
    text : str
        The text.
    words : Words
        Its words.
    first, last : int
        The span: its first word and the word after its last.
    said : str
        Label of the neural recogniser, empty where it passed over.
    lexicon : Lexicon
        Word lists.
    """

    def __init__(
        self, text: str, words: Words, first: int, last: int, said: str, lexicon: Lexicon
    ) -> None:
        self.text, self.words, self.first, self.last = text, words, first, last
        self.said, self.lexicon = said, lexicon
        self.start, self.end = words.starts[first], words.ends[last - 1]
        self.surface = text[self.start : self.end]
        self.head = words.words[first]
        self.before, self.after = (
            text[max(0, self.start - 60) : self.start],
            text[self.end : self.end + 60],
        )
        #: Whether it begins a sentence.
        self.initial = words.initial[first]
        #: Number of words.
        self.length = last - first
        self.one = self.length == 1
        self.is_place = self.surface in lexicon.places
        # "Jan-Krzysztof Duda": two given names; "Jan-San" alone is no name
        given, *others = self.head.split("-")
        if self.one or not all(name[:1].isupper() and name[1:].islower() for name in others):
            given = self.head
        #: Whether its first word is a given name, with or without its accents.
        self.is_given_name = bool({self.head, given} & lexicon.given) or (
            not given.isascii()
            and given[0].isupper()
            and fold_letters(given).capitalize() in lexicon.given
        )

    @property
    def is_jargon(self) -> bool:
        """Whether it is, or begins with, a term of the trade."""
        surface, jargon = self.surface, self.lexicon.jargon
        if surface in jargon or surface.rstrip("s") in jargon:
            return True
        words = surface.split()
        return len(words) > 2 and " ".join(words[:2]) in jargon

    @property
    def is_broken_off(self) -> bool:
        """Whether a hyphen with nothing behind it follows: a word that was not finished."""
        text, end = self.text, self.end
        return (
            end < len(text) and text[end] == "-" and (end + 1 >= len(text) or text[end + 1] in " ,")
        )

    @property
    def is_cut_code(self) -> bool:
        """Whether it is the head of a code that the transcript has cut in two."""
        short = self.one and 2 <= len(self.surface) <= 4 and self.surface.isupper()
        return short and _CUT_CODE.match(self.text[self.end : self.end + 8]) is not None

    @property
    def is_general(self) -> bool:
        """Whether it is one word of the dictionary, but for its capital."""
        return self.one and self.head[1:].islower() and is_word(self.head.lower())

    @property
    def is_operative(self) -> bool:
        """Whether it is a verb that a ruling shouts: "DECLARES that", "ORDERS the"."""
        shouted = self.one and len(self.surface) > 4 and self.surface.isupper()
        goes_on = self.after[:1] == " " and self.after[1:2].islower()
        return shouted and goes_on and "third" in kinds_of(self.surface.lower())

    @property
    def is_spaced(self) -> bool:
        """Whether it is of a general word whose letters blanks part: "T N E S S E T H"."""
        if self.surface[1:2] != " ":
            return False
        for run in _SPACED.finditer(self.text, max(0, self.start - 60), self.end + 60):
            if run.start() <= self.start < run.end():
                word = run.group().replace(" ", "").lower()
                return is_word(word) or word in _OF_REPORTS
        return False

    @property
    def is_title(self) -> bool:
        """Whether it is a title of persons, or titles, without a name."""
        last = self.first + self.length
        words = self.surface.split()
        if (
            len(words) > 1
            and words[-1] in PERSON_TITLES
            and all(w in PERSON_TITLES or w.lower() in INSTITUTIONS for w in words)
        ):
            return True  # "Circuit Judge"
        # "2nd Earl of Clare" names somebody
        return leading_titles(self.words, self.first, last) == last and not _GOES_ON.match(
            self.after
        )

    @property
    def is_defined(self) -> bool:
        """Whether it is what an institution is called once it was named ("the Trust")."""
        return (
            self.one
            and self.head.lower() in BODY_WORDS
            and self.is_general
            and _DEFINED.search(self.before) is not None
            and _GOES_ON.match(self.after) is None
        )

    @property
    def is_heading(self) -> bool:
        """Whether it is made of general words of a heading, and is no name that is known."""
        lexicon = self.lexicon
        lists = lexicon.places, lexicon.organizations, lexicon.products, lexicon.events
        if any(self.surface in names for names in lists):
            return False
        # "By Grace Hope"
        mine = self.words.words[self.first : self.first + self.length]
        people = _WORDS_TOO, lexicon.given, lexicon.ambiguous
        if not all(names.isdisjoint(mine) for names in people):
            return False
        span = range(self.first, self.first + self.length)
        return all(is_headed(self.words, i, lexicon.common) for i in span)

    @property
    def is_subject(self) -> bool:
        """Whether it is a noun without article before a verb: words do that in the plural."""
        if _OWNS_OR_DOES.match(self.after) is None:
            return False
        return not kinds_of(self.head.lower()) & {"plural", "participle", "gerund", "third"}

    @property
    def is_full_name(self) -> bool:
        """Whether it is a given name and a name that is none of a company or place."""
        if not 2 <= self.length <= 3 or not self.is_given_name or self.is_place:
            return False
        words = self.surface.split()
        return (
            self.head not in self.lexicon.ambiguous
            and all(w[0].isupper() and not w.isupper() for w in words)
            and not any(c.isdigit() or c in "&/" for c in self.surface)
            and words[-1].lower() not in _BODIES_OR_PLACES
            and not (is_word(words[-1].lower()) and words[-1].lower() in self.lexicon.common)
        )

    @property
    def stands_as_person(self) -> bool:
        """Whether an uncommon name signs a letter, begins somebody's words or is a relation's."""
        words = self.surface.split()
        if (
            self.length > 3
            or self.is_place
            or self.has_organization_word
            or any(w.isupper() or (is_word(w.lower()) and not self.is_given_name) for w in words)
            or any(c.isdigit() or c in "&/" for c in self.surface)
            or any(
                c.isupper() and w[k - 1] not in "-'’." for w in words for k, c in enumerate(w) if k
            )
        ):
            return False
        if _RELATION_BEFORE.search(self.before):
            return True
        return bool(_LINE_BEFORE.search(self.before)) and (
            _LINE_AFTER.match(self.after) is not None or _SPEAKS_AFTER.match(self.after) is not None
        )

    @property
    def stands_as_place(self) -> bool:
        """Whether an uncommon name of a word or two stands where places do."""
        if self.length > 2 or self.is_given_name or self.surface.isupper():
            return False
        words = self.surface.split()
        if any(c.isdigit() or c in "&/" for c in self.surface) or self.has_organization_word:
            return False
        unknown = any(not is_word(w.lower()) for w in words)
        return unknown and not any(c.isupper() for w in words for c in w[1:])

    @property
    def has_organization_word(self) -> bool:
        """Whether it ends as companies and offices do."""
        return _ORG_WORD.search(self.surface) is not None

    @property
    def has_role(self) -> bool:
        """Whether an office in a company follows it."""
        return _ROLE_AFTER.match(self.after) is not None

    @property
    def is_cued(self) -> bool:
        """Whether people are thanked, quoted or introduced in such words."""
        return (
            _WEAK_BEFORE.search(self.before) is not None
            or _SAID.match(self.after) is not None
            or self.has_role
        )

    @property
    def is_called(self) -> bool:
        """Whether somebody is spoken to."""
        return (
            _VOCATIVE_BEFORE.search(self.before) is not None
            and _VOCATIVE_AFTER.match(self.after) is not None
        )

    @property
    def follows_question(self) -> bool:
        """Whether a question was handed over shortly before."""
        return _QUESTION.search(self.text[max(0, self.start - 120) : self.start]) is not None

    @property
    def is_introduced(self) -> bool:
        """Whether anything around it says that it is a person."""
        return (
            self.is_cued
            or self.is_called
            or (not self.one and _ORG_AFTER.match(self.after) is not None)
        )


class Rule(NamedTuple):
    """A span for which ``when`` holds has ``label`` (None: is no name), whatever follows."""

    name: str
    when: Callable[[Judged], bool]
    label: str | None


#: The first that holds decides; where none does, the classifier is asked.
RULES: tuple[Rule, ...] = (
    Rule(
        "part of a currency or standard",
        lambda s: (unit := US_UNIT.match(s.text, s.start)) is not None and s.end <= unit.end(),
        None,
    ),
    Rule(
        "price of oil or gas",
        lambda s: (price := BENCHMARKS.match(s.text, s.start)) is not None and s.end <= price.end(),
        None,
    ),
    Rule(
        "amount of money",
        lambda s: (
            bool(_MONEY.match(s.surface))
            or (s.after.startswith(_SIGNS) and bool(_COUNTRY.fullmatch(s.surface)))
        ),
        None,
    ),
    Rule(
        "common word that begins a sentence",
        lambda s: s.surface.lower() in s.lexicon.common and s.initial,
        None,
    ),
    Rule(
        "word of messages",
        lambda s: s.surface.lower() in _MESSAGES and not s.surface.isupper(),
        None,
    ),
    Rule("party or court of a case", lambda s: s.surface in _PARTIES, None),
    Rule(
        "party of a contract",
        lambda s: s.surface in _OF_CONTRACTS and not _TITLE_BEFORE.search(s.before),
        None,
    ),
    Rule("part of a deed", lambda s: _OF_DEEDS.fullmatch(s.surface) is not None, None),
    Rule("part of a proposal", lambda s: PARTS_OF_PROPOSALS.fullmatch(s.surface) is not None, None),
    Rule("word whose letters are parted", lambda s: s.is_spaced, None),
    Rule("legal form alone", lambda s: is_legal_form(s.surface), None),
    Rule("what announces a number", lambda s: s.surface.rstrip("s") in SECURITY_WORDS, None),
    Rule("verb of a ruling", lambda s: s.is_operative, None),
    Rule(
        "clock",
        lambda s: s.surface in _CLOCKS and _HOUR_BEFORE.search(s.before) is not None,
        None,
    ),
    Rule(
        "listed organisation",
        lambda s: s.surface in s.lexicon.organizations and s.surface not in s.lexicon.given,
        "ORG",
    ),
    Rule("jargon", lambda s: s.is_jargon, None),
    Rule("words of a heading", lambda s: s.is_heading, None),
    Rule("word of reports", lambda s: s.surface.lower() in _OF_REPORTS, None),
    Rule("title without a name", lambda s: s.is_title, None),
    Rule("regulation or form", lambda s: bool(_REGULATION.fullmatch(s.surface)), None),
    Rule("body of any company", lambda s: bool(_BODIES.fullmatch(s.surface)), None),
    Rule("measure of earnings", lambda s: bool(EARNINGS.fullmatch(s.surface)), None),
    Rule("the call itself", lambda s: bool(THE_CALL.fullmatch(s.surface)), None),
    Rule("institution named before", lambda s: s.is_defined, None),
    Rule(
        "general word that begins a sentence",
        lambda s: (
            s.initial
            and s.is_general
            and s.surface not in s.lexicon.products
            and not (s.is_given_name or s.is_place)
            and not s.is_introduced
            and not (_TITLE_BEFORE.search(s.before) or _STRONG_BEFORE.search(s.before))
            and not _ORG_FRAME_AFTER.match(s.after)
            and not s.is_subject
        ),
        None,
    ),
    Rule(
        "without capitals",
        lambda s: s.said != "PRODUCT" and not any(c.isupper() for c in s.surface),
        None,
    ),
    Rule("standard, quarter or phase", lambda s: bool(_NO_MODEL.match(s.surface)), None),
    Rule("code cut in two", lambda s: s.is_cut_code, "PRODUCT"),
    Rule("word broken off", lambda s: s.is_broken_off, None),
    Rule("listed product", lambda s: s.surface in s.lexicon.products, "PRODUCT"),
    Rule("last word of companies", lambda s: not s.one and s.has_organization_word, "ORG"),
    Rule(
        "initials before a name",
        lambda s: bool(_INITIALED.fullmatch(s.surface)) and not s.has_organization_word,
        "PERSON",
    ),
    Rule("title before", lambda s: bool(_TITLE_BEFORE.search(s.before)), "PERSON"),
    Rule(
        "full name whom a question comes from",
        lambda s: 2 <= s.length <= 4 and bool(_FROM_BEFORE.search(s.before)) and not s.is_place,
        "PERSON",
    ),
    Rule(
        "introduced before",
        lambda s: (
            bool(_STRONG_BEFORE.search(s.before))
            and not s.is_place
            and s.head.lower() not in s.lexicon.common
        ),
        "PERSON",
    ),
    Rule(
        "given name that is cued",
        lambda s: s.is_given_name and s.head not in s.lexicon.ambiguous and s.is_cued,
        "PERSON",
    ),
    Rule(
        "full name with a role",
        lambda s: 2 <= s.length <= 4 and s.has_role and not s.has_organization_word,
        "PERSON",
    ),
    Rule(
        "company of one who asks",
        lambda s: (
            s.follows_question
            and bool(_ORG_BEFORE.search(s.before))
            and not s.is_place
            and s.surface not in s.lexicon.given
        ),
        "ORG",
    ),
    Rule("last word of places", lambda s: not s.one and bool(_PLACE_END.search(s.surface)), "LOC"),
    Rule(
        "small word of places inside",
        lambda s: bool(_PLACE_INSIDE.search(s.surface)) and not s.is_given_name,
        "LOC",
    ),
    Rule(
        "last word of places that is a surname too",
        lambda s: not s.one and not s.is_given_name and bool(_LOCAL_END.search(s.surface)),
        "LOC",
    ),
    Rule(
        "last word of events",
        lambda s: bool(_EVENT_END.search(s.surface)) and not s.is_place,
        "EVENT",
    ),
    Rule("web domain", lambda s: s.surface.endswith(".com"), "ORG"),
)


class Evidence(NamedTuple):
    """``weight`` is added to the score of ``label`` for a span for which ``when`` holds."""

    name: str
    when: Callable[[Judged], bool]
    label: str
    weight: float


#: All that hold count, beside the classifier and the recogniser.
EVIDENCE: tuple[Evidence, ...] = (
    Evidence(
        "frame of companies",
        lambda s: bool(_ORG_FRAME_BEFORE.search(s.before) or _ORG_FRAME_AFTER.match(s.after)),
        "ORG",
        ORG_FRAME,
    ),
    Evidence(
        "called a company",
        lambda s: bool(_COMPANY_BEFORE.search(s.before) or _COMPANY_AFTER.match(s.after)),
        "ORG",
        COMPANION,
    ),
    Evidence(
        "last word of programmes",
        lambda s: not s.one and bool(_PRODUCT_END.search(s.surface)),
        "PRODUCT",
        PROGRAMME,
    ),
    Evidence("given name and another", lambda s: s.is_full_name, "PERSON", FULL_NAME),
    Evidence("signs or speaks", lambda s: s.stands_as_person, "PERSON", SPEAKS),
    Evidence(
        "frame of places",
        lambda s: (
            s.stands_as_place
            and bool(_PLACE_FRAME.search(s.before) or _PLACE_FRAME_AFTER.match(s.after))
        ),
        "LOC",
        PLACE_FRAME,
    ),
    Evidence(
        "in an uncommon name",
        lambda s: (
            s.stands_as_place
            and bool(_IN_BEFORE.search(s.before))
            and not _ORG_FRAME_BEFORE.search(s.before)
            and bool(_AT_END.match(s.after))
        ),
        "LOC",
        IN_PLACE,
    ),
    Evidence("known place", lambda s: s.is_place and not s.is_given_name, "LOC", KNOWN_PLACE),
    Evidence(
        "unknown place",
        lambda s: not s.is_place and not _PLACE_WORD.search(s.surface),
        "LOC",
        UNKNOWN_PLACE,
    ),
    Evidence(
        "no cue of products",
        lambda s: not product_cue(s.text, s.words, s.first, s.last),
        "PRODUCT",
        NO_PRODUCT_CUE,
    ),
    Evidence(
        "single name that is called",
        lambda s: s.is_called and s.one and s.head.isalpha() and s.head[1:].islower(),
        "PERSON",
        CALLED,
    ),
    Evidence(
        "person without a sign",
        lambda s: not (s.is_given_name or s.head in s.lexicon.ambiguous or s.is_introduced),
        "PERSON",
        UNKNOWN_PERSON,
    ),
)


class Rules:
    """The second half of the bundled recogniser.

    Parameters
    ----------
    lexicon : Lexicon
        Word lists.
    classifier : NameClassifier
        Judges spans written like names.
    products : ProductClassifier, optional
        Second opinion on products.
    """

    def __init__(
        self,
        lexicon: Lexicon,
        classifier: NameClassifier,
        products: ProductClassifier | None = None,
    ) -> None:
        self.lexicon = lexicon
        self.classifier = classifier
        self.products = products
        self._events = _any_of(lexicon.events) if lexicon.events else None
        always = ("",)
        self._joined = [(_OFFICE, _OFFICE_WORDS, "ORG"), (_OF_PEOPLE, _OWNERS, "ORG")]
        for forms, label in ((lexicon.organizations, "ORG"), (lexicon.products, "PRODUCT")):
            inner = [f for f in forms if _JOINT.search(f)]
            if inner:
                self._joined.insert(0, (_any_of(inner), always, label))
        self._joined.insert(0, (_ADDRESS, _ADDRESS_WORDS, "LOC"))
        self._joined.insert(0, (_POSITION, always, "LOC"))

    def __call__(self, text: str, recognized: Sequence[Span]) -> list[Span]:
        """Return the final spans of a text.

        Parameters
        ----------
        text : str
            The text.
        recognized : sequence of (start, end, label)
            Spans of the neural recogniser; labels ORG, PERSON, LOC, EVENT, PRODUCT.

        Returns
        -------
        list of (start, end, label)
            Disjoint, sorted; labels as before and DATE.
        """
        blocked = placeholder_spans(text)
        blocked += [m.span() for m in _MARKS.finditer(text)]
        blocked += [m.span() for m in METHODS.finditer(text)]
        blocked += [m.span() for m in _TEMPERATURE.finditer(text)]
        events = [m.span() for m in self._events.finditer(text)] if self._events else []
        kinds: tuple[tuple[re.Pattern[str], tuple[str, ...]], ...] = (
            (_COVID, _COVID_WORDS),
            (_STORM, _STORM_WORDS),
            (_FEAST, _FEAST_WORDS),
        )
        for pattern, needed in kinds:
            events += [s for s in _spans(pattern, needed, text) if not _touches(s, events)]
        events = [span for span in events if not _touches(span, blocked)]
        drugs = [s for s in _spans(_DRUG, _DRUG_STEMS, text) if not _touches(s, blocked)]
        taken = blocked + events + drugs
        joined: list[Span] = []
        for pattern, needed, name in self._joined:
            for start, end in _spans(pattern, needed, text):
                if _MINISTRY.match(text, start) and (more := _SECOND_TASK.match(text, end)):
                    end = more.end()
                # a list has the name without its country
                if name == "ORG" and (
                    nation := _NATION_BEFORE.search(text, max(0, start - 16), start)
                ):
                    start = nation.start()
                if not _touches((start, end), taken + [(a, b) for a, b, _ in joined]):
                    joined.append((start, end, name))
        taken = taken + [(a, b) for a, b, _ in joined]
        words = Words.of(text)
        candidates = candidate_spans(words, self.lexicon)
        people = self._people(text, words, candidates, taken)
        taken = taken + people
        dates = [span for span in find_dates(text) if not _touches(span, taken)]
        taken = taken + dates
        final: list[Span] = [(s, e, "EVENT") for s, e in events]
        final += [(s, e, "PERSON") for s, e in people]
        final += [(s, e, "PRODUCT") for s, e in drugs]
        final += [(s, e, "DATE") for s, e in dates]
        final += joined
        judged = [
            (first, self._without_figure(text, words, first, last), said)
            for first, last, said in self._units(text, words, recognized, candidates, taken)
        ]
        units = [(first, last) for first, last, _ in judged]
        for first, last, said in judged:
            unit = Judged(text, words, first, last, said, self.lexicon)
            start, end = unit.start, words.ends[self._named_until(text, words, first, last) - 1]
            label = self._decide(unit, units)
            if label == "LOC":
                start = self._beginning(text, words, first, taken)
                city = _CITY.match(text, end)
                if city and f"{text[start:end]} City" in self.lexicon.places:
                    end = city.end()
            if label == "ORG":
                legal = _LEGAL_FORM.match(text, end)
                if legal and not _touches((end, legal.end()), taken):
                    end = legal.end()
                start = self._numbered(text, words, (first, last), taken)
                if start == words.starts[first]:
                    start = self._beginning(text, words, first, taken, of_name=True)
            if label == "PERSON":
                # "Magnus Carlsen 32": nobody is called a figure
                while last - first > 1 and _FIGURE.fullmatch(words.words[last - 1]):
                    last -= 1
                    end = min(end, words.ends[last - 1])
            if label is not None:
                final.append((start, end, label))
        final += self._around_initials(text, final, taken)
        return sorted(final)

    def _around_initials(
        self, text: str, found: Sequence[Span], taken: Sequence[tuple[int, int]]
    ) -> list[Span]:
        """Return people who were found in part: "Ann B." where "Stone" behind it is a word."""
        people: list[Span] = []
        ends = {at for start, end, label in found if label == "PERSON" for at in (start, end)}
        for match in _INITIAL_INSIDE.finditer(text) if ". " in text else ():
            start, end = match.span()
            given = match["given"]
            known = given in self.lexicon.given and given not in _WORDS_TOO
            # "Analyst K. Stone", "Mrs K. Stone"
            name = given in self.lexicon.given or not (given in TITLES or is_word(given.lower()))
            told = name and (start in ends or end in ends)
            surname = match["surname"]
            if (
                not (told or (known and surname.lower() not in BODY_WORDS))
                or {surname, surname.lower()} & FUNCTION_WORDS
                or _FIRM_AFTER.match(text, end)
                or _touches((start, end), taken)
                or any(low <= start and end <= high for low, high, _ in found)
            ):
                continue
            people.append((start, end, "PERSON"))
        return people

    def _people(
        self,
        text: str,
        words: Words,
        candidates: Sequence[tuple[int, int]],
        taken: Sequence[tuple[int, int]],
    ) -> list[tuple[int, int]]:
        """Return people one of whose names is a word that no candidate has at that end."""
        behind = dict(candidates)
        sure: list[tuple[int, int]] = []
        unsure: list[tuple[int, int]] = []
        for i, word in enumerate(words.words):
            if word in _WORDS_TOO and (last := behind.get(i + 1)) is not None:
                if text[words.ends[i] : words.starts[i + 1]] != " ":
                    continue
                span = Judged(text, words, i, last, "", self.lexicon)
                if self._is_led(span):
                    (sure if self._is_sure(span) else unsure).append((span.start, span.end))
        said = {text[start:end] for start, end in sure}
        sure += [(start, end) for start, end in unsure if text[start:end] in said]
        for first, last in candidates:
            if last < len(words.words) and words.words[last] in _SURNAME_MONTHS:
                span = Judged(text, words, first, last + 1, "", self.lexicon)
                if (
                    span.length < 4
                    and span.head in self.lexicon.given
                    and span.head not in self.lexicon.ambiguous
                    and text[words.ends[last - 1] : words.starts[last]] == " "
                    and not _PERIOD_AFTER.match(text, span.end)
                    and self._decide(span, []) == "PERSON"
                ):
                    sure.append((span.start, span.end))
        return [span for span in sorted(sure) if not _touches(span, taken)]

    def _is_led(self, span: Judged) -> bool:
        """Whether a span that begins with a given name that is a word too may be somebody."""
        rest = " ".join(span.surface.split()[1:])
        names = [name for name in rest.split() if not name.islower()]
        lists = self.lexicon.places, self.lexicon.organizations, self.lexicon.products
        if (
            not 0 < len(names) < 3
            or any(rest in known for known in lists)
            or names[-1].lower() in _BODIES_OR_PLACES
            or any(c.isdigit() or c in "&/" for c in rest)
            or any(name.isupper() for name in names)
        ):
            return False
        if span.head in _GIVEN_MONTHS:
            if _TIME_BEFORE.search(span.before):
                return False
            if _AT_TIME.search(span.before) and _is_finite(span.after):
                return False
            if any(is_word(name.lower()) for name in names) and not span.is_cued:
                return False
        if all(name in self.lexicon.given or name in self.lexicon.ambiguous for name in names):
            return True
        surname = Judged(span.text, span.words, span.first + 1, span.last, "", self.lexicon)
        return "PERSON" in (self._decide(span, []), self._decide(surname, []))

    @staticmethod
    def _is_sure(span: Judged) -> bool:
        """Whether the first word is a name by its capital, or by the verb behind the span."""
        word = _WORD_BEFORE.search(span.before)
        if span.initial or word is None:
            told = span.after.startswith(", who ") or span.has_role or _is_finite(span.after)
            return told and span.head != "Hope"
        # "How Will Grant Pay" is a heading, "As Will Grant put it" none
        before = word[1]
        within = not before.istitle() or before in TITLES | {"By"} or span.after[1:2].islower()
        return span.head not in _MODALS or within

    def _beginning(
        self,
        text: str,
        words: Words,
        first: int,
        taken: Sequence[tuple[int, int]],
        of_name: bool = False,
    ) -> int:
        """Return where a place begins whose first word may begin a sentence too: North America.

        Of a longer name with such a place in it ("New York Gas Light") the place must be known.
        """
        start = words.starts[first]
        if not first or not words.initial[first - 1]:
            return start
        before, end = words.starts[first - 1], words.ends[first - 1]
        word = text[before:end]
        # "New Ohio stores opened"
        sure = word != "New" and not of_name
        known = sure or f"{word} {words.words[first]}" in self.lexicon.places
        if word not in _QUARTERS or not known or text[end:start] != " ":
            return start
        return start if _touches((before, end), taken) else before

    @staticmethod
    def _numbered(
        text: str, words: Words, span: tuple[int, int], taken: Sequence[tuple[int, int]]
    ) -> int:
        """Return where an organisation begins whose name begins with numbers: Fifth Third Bancorp.

        Left there they would tell it. A sentence may begin with a number that is none of a name,
        unless a bank is behind it.
        """
        first, last = span
        start = words.starts[first]
        bank = words.words[last - 1].lower() in _BANKS
        while first and words.words[first - 1] in _NUMBERS:
            before = words.starts[first - 1], words.ends[first - 1]
            if text[before[1] : start] != " " or _touches(before, taken):
                break
            if words.initial[first - 1] and not bank:
                break
            first, start = first - 1, before[0]
        return start

    def _units(
        self,
        text: str,
        words: Words,
        recognized: Sequence[Span],
        candidates: Sequence[tuple[int, int]],
        taken: Sequence[tuple[int, int]],
    ) -> list[tuple[int, int, str]]:
        """Word ranges to judge, with what the recogniser said ('' where it passed over)."""
        units: list[tuple[int, int, str]] = []
        covered: list[tuple[int, int]] = list(taken)
        for start, end, label in recognized:
            for s, e in outside(start, end, taken):
                s, e = trim(text, s, e)
                span = _word_range(words, s, e)
                if span is None:
                    continue
                span = self._shorten(words, *span)
                if span[0] < span[1]:
                    units.append((*span, label))
        units = _widen(units, candidates)
        covered += [(words.starts[i], words.ends[j - 1]) for i, j, _ in units]
        for first, last in candidates:
            i = first
            while i < last:
                if _touches((words.starts[i], words.ends[i]), covered):
                    i += 1
                    continue
                j = i + 1
                while j < last and not _touches((words.starts[j], words.ends[j]), covered):
                    j += 1
                # a stretch beside a recognised span is judged only when it is a name by itself
                while i < j and not words.words[i][0].isalpha():
                    i += 1
                if i < j and not (j == i + 1 and len(words.words[i]) == 1):
                    units.append((i, j, ""))
                i = j
        return sorted(set(units))

    def _without_figure(self, text: str, words: Words, first: int, last: int) -> int:
        """Leave out a figure that counts what stands behind a name: "Acme 24 minutes late"."""
        if last - first < 2 or not _FIGURE.fullmatch(words.words[last - 1]):
            return last
        if last - first == 2 and len(words.words[first]) == 1:
            return last
        end = words.ends[last - 1]
        if _THOUSANDS.match(text, end):
            return last - 1
        listed = text[words.starts[first] : end] in self.lexicon.organizations
        if listed or (counted := _COUNTED.match(text, end)) is None:
            return last
        word = counted[1]
        if word in _UNITS_BEHIND or (word in CURRENCIES and "plural" in kinds_of(word)):
            return last - 1
        # "Magnus Carlsen 32 books", but "TSO 500 tests"
        named = Judged(text, words, first, last - 1, "", self.lexicon)
        known = named.is_place or named.is_full_name
        return last - 1 if known and kinds_of(word) & {"plural"} else last

    @staticmethod
    def _named_until(text: str, words: Words, first: int, last: int) -> int:
        """Leave out what is told of a name behind it: "a PPV 43%", "Acme EBITDA"."""
        while last - first > 1:
            word = words.words[last - 1]
            share = word.isdigit() and re.match(r" ?%", text[words.ends[last - 1] :][:2])
            if not share and not EARNINGS.fullmatch(word):
                break
            last -= 1
        return last

    def _shorten(self, words: Words, first: int, last: int) -> tuple[int, int]:
        """Cut function words and titles off the ends of a recognised span."""
        while first < last and (
            words.words[first] in FUNCTION_WORDS or words.words[first] in TITLES
        ):
            first += 1
        first = leading_titles(words, first, last)
        while last > first and (
            words.words[last - 1] in TITLES
            or words.words[last - 1] in BEFORE_NAMES
            or words.words[last - 1].lower() in _TAIL_WORDS
        ):
            last -= 1
        return first, last

    def _decide(self, span: Judged, units: Sequence[tuple[int, int]]) -> str | None:
        """Return the label of a span, None for no name; `units` are all spans of the text."""
        for rule in RULES:
            if rule.when(span):
                return rule.label
        scores = self.judge(span.words, span.first, span.last)
        scores = scores + (FOUND if span.said else PASSED_OVER)
        if span.said:
            scores[_AT[span.said]] += AGREEMENT[span.said]
        for evidence in EVIDENCE:
            if evidence.when(span):
                scores[_AT[evidence.label]] += evidence.weight
        self.weigh_product(scores, span.words, (span.first, span.last), units)
        label = CLASSES[int(scores.argmax())]
        return None if label == "O" else label

    def weigh_product(
        self,
        scores: NDArray[np.float64],
        words: Words,
        unit: tuple[int, int],
        units: Sequence[tuple[int, int]],
    ) -> None:
        """Add the second opinion on products to the classes' scores, in place.

        Parameters
        ----------
        scores : ndarray, shape (6,)
            Scores of :data:`CLASSES`.
        words : Words
            The text.
        unit : (int, int)
            The span of words.
        units : sequence of (int, int)
            All spans of the text that are judged.
        """
        if self.products is None:
            return
        # the opinion is bounded, so that it need not be asked where it cannot matter
        if scores[_AT["PRODUCT"]] + SECOND_BIAS + SECOND_WEIGHT * SECOND_BOUND <= scores.max():
            return
        first, last = unit
        span = words.words[first:last]
        same = [u for u in units if u != unit and words.words[u[0] : u[1]] == span]
        found = product_features(words, first, last, same, self.lexicon)
        odds = self.products.log_odds(found, span)
        scores[_AT["PRODUCT"]] += SECOND_BIAS + SECOND_WEIGHT * max(
            -SECOND_BOUND, min(odds, SECOND_BOUND)
        )

    def judge(self, words: Words, first: int, last: int) -> NDArray[np.float64]:
        """Return the classifier's log probabilities of a span of words."""
        found = features(words, first, last, self.lexicon)
        return self.classifier.log_probabilities(found, words.words[first:last])


def product_cue(text: str, words: Words, first: int, last: int) -> bool:
    """Return whether a span stands beside a word that products stand beside, or has a digit."""
    w = words.words
    if any(c.isdigit() for c in text[words.starts[first] : words.ends[last - 1]]):
        return True
    if last < len(w):
        gap = text[words.ends[last - 1] : words.starts[last]]
        if gap == " " and w[last].lower() in _PRODUCT_AFTER:
            return True
    before = [x.lower() for x in w[max(0, first - 3) : first]]
    if before and before[-1] in _PRODUCT_BEFORE:
        return True
    if len(before) > 1 and before[-1] in _LINKS and before[-2] in _PRODUCT_BESIDE:
        return True
    if len(before) > 2 and before[-1] == "the" and before[-2] in ("of", "to", "on", "for", "with"):
        return before[-3] in _PRODUCT_BEFORE
    return bool(_APPOSITION.match(text, words.ends[last - 1]))


def _is_finite(after: str) -> bool:
    """Return whether a text goes on with a verb that is no infinitive."""
    match = _FINITE.match(after)
    if match is None or not match["verb"]:
        return match is not None
    kinds = kinds_of(match["verb"])
    return bool(kinds & {"participle", "third"}) and "verb" not in kinds


def _touches(span: tuple[int, int], others: Sequence[tuple[int, int]]) -> bool:
    return any(s < span[1] and span[0] < e for s, e in others)


def _widen(
    units: Sequence[tuple[int, int, str]], candidates: Sequence[tuple[int, int]]
) -> list[tuple[int, int, str]]:
    """Widen a recognised span to the whole name that holds it, when it is alone in there."""
    widened = []
    for first, last, label in units:
        for low, high in candidates:
            if low <= first and last <= high and high - low <= 4:
                inside = [u for u in units if u[0] < high and low < u[1]]
                if len(inside) == 1:
                    first, last = low, high
                break
        widened.append((first, last, label))
    return widened


def _word_range(words: Words, start: int, end: int) -> tuple[int, int] | None:
    """First word and one past the last word that lie inside the offsets, None where none does."""
    inside = [i for i, s in enumerate(words.starts) if s >= start and words.ends[i] <= end]
    return (inside[0], inside[-1] + 1) if inside else None
