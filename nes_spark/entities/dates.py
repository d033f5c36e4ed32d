"""Dates and periods by rule.

What counts as a date: calendar dates, months, weekdays, years, quarters, halves, fiscal periods,
and spans relative to now that name another period ("last year", "the next two quarters",
"prior-year period"). What does not: "today", "this quarter", "the quarter", ages and bare durations
("for ten years"), which say nothing about when.
"""

from __future__ import annotations

import re

from nes_spark.text.said_dates import said_date_spans
from nes_spark.text.spots import lowered

_WEEKDAY = r"(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day"
#: What stands beside a month or a weekday and a hyphen, where a name has no part in it.
_JOINED = (
    rf"(?:(?:{_WEEKDAY}|January|February|March|April|May|June|July|August|September|October|"
    r"November|December|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec|Early|End|Half|Late|Mid|"
    r"Month|Night|Non|Period|Post|Pre|Quarter|Since|Through|To|Until|Week|Year)\b)"
)
#: "Jan-Krzysztof", "Jan-San" tell no month; "Jan-Feb" and "March-Quarter" do.
_NO_NAME = rf"(?!-(?!{_JOINED})(?-i:[A-Z][a-z]))"
_MONTH = (
    r"(?:January|February|March|April|May|June|July|August|September|October|November|December|"
    r"Jan\.?|Feb\.?|Mar(?:\.|(?= [0-3]?\d\b))|Apr\.?|Jun\.?|Jul\.?|Aug\.?|Sept?\.?|Oct\.?|"
    rf"Nov\.?|Dec\.?){_NO_NAME}"
)
_SURE_MONTH = _MONTH.replace("|March|", "|").replace("|May|", "|")
_DAY = r"(?:the )?(?:[0-3]?\d(?:st|nd|rd|th)?)"
_YEAR = r"(?:(?:19|20)\d\d(?:[-/–](?:(?:19|20)?\d\d))?|['’] ?\d\d)"
_NUMBER = (
    r"(?:\d{1,3}|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|eighteen|"
    r"twenty|thirty|few|couple(?: of)?|several|many|number of)"
)
_ORDINAL = r"(?:first|second|third|fourth|1st|2nd|3rd|4th)"
_UNIT = r"(?:years?|quarters?|months?|weeks?|days?|decades?|semesters?|half|halves|seasons?)"
_PERIOD = r"(?:year|quarter|half|semester|trimester|month|week|fiscal year|period)"
_RELATIVE = r"(?:last|next|prior|previous|preceding|past|coming|upcoming|following)"
_CURRENT = (
    r"(?:this|the|our|that|each|current|next|last|prior|previous|the current|the prior|"
    r"the previous|the next|the last)"
)

_QUARTER = (
    rf"(?:{_ORDINAL}[ -](?:full[ -])?(?:fiscal[ -])?(?:quarter|half|semester|trimester)s?|"
    rf"(?:quarter|half) (?:one|two|three|four|[1-4])|(?:back|latter|later|front|second|"
    rf"first) half|Q-[1-4](?![\d-])|Q[1-4](?:['’]?\d\d)?|[1-4]Q(?:['’ ]?\d\d(?:\d\d)?)?|"
    rf"[HS][12](?:['’]\d\d)?|1H|"
    rf"2H|Q (?:one|two|three|four)|HY ?\d\d(?:\d\d)?|(?:3|6|9|12)M ?(?:['’]?\d\d|20\d\d))"
)
_FISCAL = (
    r"(?:(?:(?:full[ -])?fiscal(?: year)?|financial year|calendar(?: year)?|full[- ]year|"
    r"crop year|FY|CY|year) ?['’]?(?:(?:19|20)\d\d|\d\d)(?:[-/–](?:\d\d){1,2})?"
    # "a three year 15 billion facility" tells no year
    r"(?! ?(?:%|[mb]illion|trillion|thousand|hundred|percent|basis))|FY\d\d(?:\d\d)?)"
)
#: A year of two digits, where what follows says that it counts nothing: "in 21 and beyond".
_SHORT = (
    r"(?:1[6-9]|2\d)(?![\w%/-]|[.,]\d)"
    r"(?=[.,;:?!)…](?! ?\d)|\s*$|\s*<| (?:and(?! \d)|after|because|had|has|is|than|then|they|"
    r"was|we|went|were|where|which|while|will|results|earnings|monthly|versus|vs)\b)"
)
#: The same behind what counts as often as it tells years: "compared to 19.".
_SHORT_AT_END = r"(?:1[6-9]|2\d)(?=[.;:?!](?:\s|$)|,(?= [a-z])|\s*$)"
_TAIL = (
    rf"(?:,? ?(?:of |in |for |ended |ending )?(?:{_CURRENT} )?(?:fiscal |calendar )?"
    rf"(?:{_FISCAL}|{_YEAR}|{_PERIOD}\b)| (?:of|in) {_SHORT})"
)
_CALENDAR = (
    rf"{_MONTH} {_DAY}(?:,? {_YEAR})?(?!\d)|"
    rf"{_DAY} (?:(?:day )?of )?{_MONTH}(?:,? (?:of )?{_YEAR})?|{_MONTH},? (?:of )?{_YEAR}"
)
_PREPOSITIONS = [
    "in",
    "of",
    "since",
    "from",
    "through",
    "until",
    "till",
    "by",
    "during",
    "before",
    "after",
    "for",
    "to",
    "and",
    "or",
    "at",
    "on",
    "between",
    "late",
    "early",
    "mid",
    "last",
    "this",
    "next",
    "mid-",
    "via",
    "within",
    "around",
]
_AFTER_PREPOSITION = (
    "(?:" + "|".join(rf"(?<=\b{p} )" for p in _PREPOSITIONS) + r"|(?<=\bmid-)|(?<=, ))"
)

#: Periods that companies report on.
_MONTHS = r"(?:three|six|nine|twelve|3|6|9|12)"
#: What follows a number that counts something.
_NO_QUANTITY = (
    r"(?![\w%]|[.,:/]\d|-\d|-[a-z]| (?:million|billion|basis|bps|people|employees|customers|stores|"
    r"units|tons|tonnes|megawatts|locations|shares|wells|homes|rooms|sites|branches|dollars))"
)

_MONTH_NUMBER, _DAY_NUMBER = r"(?:1[0-2]|0?[1-9])", r"(?:3[01]|[12]\d|0?[1-9])"
_IN_THREE = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"
#: What ends a date of two figures: punctuation, or the end of a line.
_STOPS = r"(?=[.,;:)\]](?!\d)|[ \t]*(?:\n|$))"
#: "13MAY22", "03Apr1957", "13 MAY 22", and "31 March 21" where nothing is counted. Whole as it is.
_COMPACT = (
    rf"(?P<compact>(?<![\w$€£.,:/-]){_DAY_NUMBER}(?:{_IN_THREE}(?:(?:19|20)\d\d|\d\d)(?![\w%])"
    rf"|(?: (?!(?-i:May)){_IN_THREE}\.? \d\d(?! ?(?:m?c?g|ml|mmol|units?|[ap]\.?m)\b)"
    rf"(?! (?:{_IN_THREE}[a-z]{{0,6}}|(?!(?:as|has|his|is|its|this|was)\b)(?-i:[a-z]+s))\b)"
    rf"| (?-i:January|February|March|April|May|June|July|August|September|October|November|"
    rf"December) \d\d{_STOPS}){_NO_QUANTITY}))"
)

_PATTERNS = [
    _COMPACT,
    _CALENDAR,
    rf"(?:(?:early|late|mid|mid-|the end of|end of|beginning of|middle of|start of|month of|"
    rf"months of)[ -]?)?"
    rf"(?:{_QUARTER})(?:[ -](?:year|results?)(?= (?:{_YEAR}|20)))?(?:{_TAIL})*",
    rf"(?:end|beginning|middle|start|balance|remainder|rest|half|course|"
    rf"part) of (?:{_CURRENT} )?(?:fiscal |calendar )?(?:{_FISCAL}|{_YEAR}|{_MONTH}|"
    rf"next {_UNIT}|(?:year|quarter|month|week|decade)\b)",
    _FISCAL,
    rf"(?:{_RELATIVE}|same(?! day)) (?:{_NUMBER} )?(?:(?:to|or|and) {_NUMBER} )?(?:fiscal |"
    rf"financial |comparable |calendar |full |business |consecutive )?{_UNIT}(?:['’]s)?"
    rf"(?: (?:{_QUARTER}|period|comparable (?:quarter|period)|quarter|half|month|"
    rf"week))?(?:{_TAIL})*(?: last year)?",
    rf"(?:prior|previous|last|preceding|"
    rf"comparable)[- ](?:fiscal[- ])?year(?:['’]s)?(?:[- ](?:{_QUARTER}|period|quarter|"
    rf"comparable (?:quarter|period)))?",
    rf"(?:same|comparable|comparative|corresponding|previous|prior|year[- ]ago|"
    rf"last) (?:{_QUARTER}|period|quarter|time(?= last)|month|week)(?: (?:of |"
    rf"in )?(?:the )?(?:last|prior|previous|a) year(?: ago)?)?(?:{_TAIL})*",
    r"(?:a|one|two|three|\d+) years? ago|year[- ]ago(?: (?:quarter|period))?",
    rf"(?:first|last|past|trailing|next|final) (?:{_NUMBER}|one) (?:{_UNIT})(?:{_TAIL})*",
    r"trailing[- ]?(?:12|twelve)[- ]?months?",
    rf"(?:{_MONTHS}(?:[- ]month)? )?(?:year|quarter|month|period|half)"
    rf"s? (?:just )?end(?:ed|ing) (?:on )?(?:{_CALENDAR}|"
    rf"{_MONTH})",
    r"(?:fiscal[ -])?(?:year|quarter|month)[ -]end(?!\w)",
    r"(?:early|late|mid)[- ](?:next|last|this) (?:year|month|week|quarter)",
    rf"(?:early|late|mid|first|second|latter|third|month of|part of|half of|end of|middle of|"
    rf"beginning of|weeks? of|days? of)[- ](?:\w+ (?:of|in) )?(?:{_MONTH}|{_YEAR}|"
    rf"202\b)(?:,? {_YEAR})?",
    rf"(?:{_SURE_MONTH})(?:[,/]? (?:and |to |through )?(?:{_MONTH}))*",
    rf"(?<![.?!] )(?<!^)March{_NO_NAME}",
    # what "may" does is never done by "in may", "our may"
    r"(?:(?<=\bin )|(?<=\bour )|(?<=\bthroughout )|(?<=\bforecasted )|(?<=\bduring ))"
    rf"(?:May|March)\b{_NO_NAME}",
    r"May(?=, (?:June|July)\b)",
    rf"{_AFTER_PREPOSITION}(?:May|March){_NO_NAME}(?! (?:be|have|not|also|I|we|you|well)\b)",
    r"(?:May|March)(?= (?:and|to|through|or) " + _MONTH + ")",
    rf"{_WEEKDAY}{_NO_NAME}(?:['’]s)?(?: (?:morning|afternoon|evening))?",
    r"yesterday(?:['’]s)?|tomorrow(?:['’]s)?",
    r"(?<![\w$€£.,:/-])(?:19[5-9]|20[0-6])\d ?[-–/] ?(?:(?:19[5-9]|20[0-6])\d|[0-6]\d)(?![\w%/-])",
    rf"(?<![\w$€£.,:/-])(?:(?:19[5-9]|20[0-6])\d)(?:['’]?s)?{_NO_QUANTITY}",
    r"(?<![\w$€£.,:/-])(?:19|20)\d\d(?:-[01]\d-|/[01]\d/)[0-3]\d",
    r"(?<![\w$€£.,:/-])(?:19|20)\d\dQ[1-4]",
    rf"(?<![\w$€£.,:/-]){_DAY_NUMBER}-{_IN_THREE}-"
    r"(?:(?:19|20)\d\d|\d\d(?![\w%-]))",
    # "21/Jun/2026:03:12:44" of a log
    rf"(?<![\w$€£.,:/-]){_DAY_NUMBER}/{_IN_THREE}/(?:19|20)\d\d",
    # "31/12/2020", "12/31/2020", "31.12.2020"
    *(
        rf"(?<![\w$€£.,:/-])(?:{_MONTH_NUMBER}{s}{_DAY_NUMBER}|{_DAY_NUMBER}{s}{_MONTH_NUMBER}){s}"
        r"(?:19|20)\d\d(?![\w%/-]|[.,:]\d)"
        for s in ("/", r"\.", "-")
    ),
    # "6/29/20", "31.12.20": with points and hyphens in six digits alone, as versions have fewer
    rf"(?<![\w$€£.,:/-])(?:{_MONTH_NUMBER}/{_DAY_NUMBER}|{_DAY_NUMBER}/{_MONTH_NUMBER})/"
    r"\d\d(?![\w%/-]|[.,:]\d)",
    *(
        rf"(?<![\w$€£.,:/-])(?=\d\d{s}\d\d{s})"
        rf"(?:{_MONTH_NUMBER}{s}{_DAY_NUMBER}|{_DAY_NUMBER}{s}{_MONTH_NUMBER}){s}"
        r"\d\d(?![\w%/-]|[.,:]\d)"
        for s in (r"\.", "-")
    ),
    rf"{_MONTHS}[- ]months? (?:period|results|(?:just )?ended)(?:{_TAIL})*",
    rf"(?<=\bthe ){_MONTHS} months(?! (?:ago|of)\b)",
    r"(?:(?<=\bpre-)|(?<=\bpost-))(?:19|20)\d\d",
    # "in 21.", "until 23. So", "the summer of 19", "compared to 19."
    r"(?:(?<=\bin )|(?<=\binto )|(?<=\buntil )|(?<=\bsince )|(?<=\bend of )"
    r"|(?<=\bbeginning of )|(?<=\bmiddle of )|(?<=\bspring of )|(?<=\bsummer of )"
    rf"|(?<=\bautumn of )|(?<=\bwinter of )){_SHORT}",
    rf"(?<=\bcompared to ){_SHORT_AT_END}",
    # "21 / 22", "21/'22": a year and the next
    r"(?<![\w$€£.,:/-])(?:"
    + "|".join(rf"{year} ?/ ?['’]? ?{year + 1}" for year in range(15, 35))
    + r")(?![\w%/-]|[.,]\d)",
    # other numbers are years only where a year is told
    r"(?:(?<=\bin )|(?<=\bsince )|(?<=\bby )|(?<=\buntil )|(?<=\bfounded )|(?<=\bestablished )"
    r"|(?<=\bborn )|(?<=\bcirca )|(?<=\bspring of )|(?<=\bsummer of )|(?<=\bautumn of )"
    r"|(?<=\bwinter of ))"
    rf"1(?:8\d|9[0-4])\d{_NO_QUANTITY}",
    # "in '47", "the winter of '63"
    r"(?:(?<=\bin )|(?<=\bsince )|(?<=\buntil )|(?<=\bspring of )|(?<=\bsummer of )"
    r"|(?<=\bautumn of )|(?<=\bwinter of ))['’]\d\d(?!\w|[.,]\d)",
    r"(?<![\w$€£.,:/])20[12]\b(?=[.?](?:\s|$))",
    r"(?:the )?(?:19|20)?\d0['’]?s(?= |\.|,)(?<=(?:19|20)\d0s)",
    r"(?<=[ (])['’] ?[12]\d(?!\w|[.,]\d)",
    # "44% below 19 levels", of no game's twenty
    r"(?:(?<=% below )|(?<=\bquarter )|(?<=\bversus ))(?:1[5-9]|2\d)(?= levels\b(?! of))",
    r"(?:first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|\d{1,2}(?:st|nd|rd|th)) "
    r"(?:full |consecutive |straight |fiscal |calendar )*(?:year|month|week|day|decade)"
    rf"(?! of experience)(?:{_TAIL})*",
    rf"(?:first|last|past|next) {_NUMBER} (?:to|or|and) {_NUMBER} {_UNIT}",
    r"(?:(?:19|20)\d\d )?financial year|fiscal year|half[- ]year",
    # spoken counts are loose: "the last, uh, six, seven quarters", "the past five plus years"
    rf"(?:first|last|past|next|final),? (?:uh,? |um,? )?{_NUMBER}(?:(?:,|,? or) (?:uh,? |um,? )?"
    rf"{_NUMBER}){{0,2}}(?:[- ]plus| and a half| or so)? (?:fiscal |full )?{_UNIT}(?:{_TAIL})*",
    rf"(?:first|last|past|next) handful of {_UNIT}",
    r"(?:year|quarter|month|week)s? prior(?! to)",
    r"(?<=Act of )1[89]\d(?:\d|(?=[.?](?:\s|$)))",
    # years that lost their last digit at a sentence's end
    r"(?:(?<=in )|(?<=of )|(?<=by )|(?<=since )|(?<=until )|(?<=through )|(?<=during ))20[1-5]"
    r"(?=[.?](?:\s|$))",
    r"(?:next|this|last|past|prior|coming) (?:spring|summer|autumn|fall|winter|season|decade|"
    r"century)",
    # what is around them tells: "8.5.80", "28/4", "4/28"
    rf"(?P<points>(?<![\w$€£.,:/-]){_DAY_NUMBER}\.{_MONTH_NUMBER}\.\d\d(?![\w%/-]|[.,:]\d))",
    rf"(?P<slash>(?<![\w$€£.,:/+-])(?:{_DAY_NUMBER}/{_MONTH_NUMBER}|{_MONTH_NUMBER}/{_DAY_NUMBER})"
    r"(?![\w%/+-]|[.,:]\d))",
]
_DATE = re.compile("(?:" + "|".join(f"(?:{p})" for p in _PATTERNS) + r")(?!\w)", re.IGNORECASE)
#: how dates begin, for text in lower case: the long pattern is tried at these places only
_BEGINNING = re.compile(
    r"(?<![\w$€£])(?=['’0-9]|the (?:[0-9]|end of)|(?:a|one|two|three) year|jan|feb|mar|apr|"
    r"may|ju[nl]|aug|sep|oct|nov|dec|first|second|third|fourth|fifth|sixth|seventh|eighth|"
    r"ninth|tenth|quarter|half|back half|latter|later half|front half|q-?[1-4]|"
    r"q (?:one|two|three|four)|hy|(?:three|six|nine|twelve)[- ]month|[hs][12]|early|"
    r"late|mid|end|beginning|middle|start|month|balance of|remainder of|rest of|course of|"
    r"part of|full|fiscal|fy|financial year|calendar|crop year|cy|year|last|next|prior|"
    r"previous|preceding|past|coming|upcoming|following|same|compar|corresponding|final|"
    r"trailing|period|week|days? of|this|(?:mon|tues|wednes|thurs|fri|satur|sun)day|yesterday|"
    r"tomorrow)"
)
#: words that are no dates in lower case
_EXACT_CASE = re.compile(
    r"^(?:march|may|mon|sun|sat|jan|mar|dec|oct|sept?|apr|aug|jun|jul|feb|nov|s[12]|h[12])\b"
)
#: A day of a month in small letters: "may 7 at 10:30", "left on apr 12."; "we may 7 times" is none.
_SMALL_DAY = re.compile(
    rf"(?P<word>march|may)?(?(word)|{_IN_THREE}(?<!may)\.?) {_DAY_NUMBER}(?:st|nd|rd|th)?"
    r"(?:,? (?:19|20)\d\d)?",
    re.IGNORECASE,
)
_BEFORE_DAY = re.compile(
    r"\b(?:after|before|by|due|from|on|since|till|until|(?:mon|tues|wednes|thurs|fri|satur|sun)day,?)"
    r" $",
    re.IGNORECASE,
)
_BEHIND_DAY = re.compile(rf"{_NO_QUANTITY}(?! (?:percent|per|times|%))(?!, ?\d)")
#: "Tue, " before "08 Sep 2026", as in headers of mail.
_WEEKDAY_BEFORE = re.compile(r"(?<![\w-])(?:Mon|Tues?|Wed|Thu(?:rs?)?|Fri|Sat|Sun)\.?,? $")
_BEGINS_DAY = re.compile(rf"{_DAY_NUMBER}(?:st|nd|rd|th)?[ /.-]|{_MONTH} \d|(?:19|20)\d\d[-/]")
#: Days that are called by a weekday: shifted, they would be none ("cyber Thursday").
_CALLED = re.compile(
    r"\b(?:ash|black|cyber|easter|fat|giving|good|maundy|palm|super|whit) $", re.IGNORECASE
)
_DAY_ALONE = re.compile(rf"{_WEEKDAY}$", re.IGNORECASE)
_ALONE = re.compile(rf"(?:{_MONTH}|{_WEEKDAY})$")
#: "Daisy-" of "Daisy-June".
_NAME_BEFORE = re.compile(rf"\b(?!{_JOINED})[A-Z][a-z]+-$")


#: "30-" of "30-31 March", "4 to" of "4 to 6 May", "first and" of "first and second quarters",
#: "thirty-first of".
_BELONGS_BEFORE = re.compile(
    rf"(?<![\w.,/–-])(?:(?P<day>{_DAY_NUMBER}(?:st|nd|rd|th)?)"
    r"(?: ?[-–] ?| (?:to|and|or|through|until) (?:the )?)"
    r"|(?P<nth>(?:first|second|third)"
    r"(?:,? (?:and|or|to|through) |, (?:second|third),? (?:and|or) ))"
    r"|(?:(?:twenty|thirty)[- ])?(?:first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|"
    r"tenth|eleventh|twelfth|\w{4,6}teenth|twentieth|thirtieth) of )$",
    re.IGNORECASE,
)
#: What stands before "day of May" or "first day of May": "twelfth ", "thirty-".
_DAY_OF = re.compile(rf"(?:[a-z]+ )?day of {_MONTH}", re.IGNORECASE)
_SAID_DAY = re.compile(
    r"(?<![^\W_])(?:(?:twenty|thirty)[- ])?(?:(?:first|second|third|fourth|fifth|sixth|seventh|"
    r"eighth|ninth|tenth|eleventh|twelfth|\w{4,6}teenth|twentieth|thirtieth) )?$",
    re.IGNORECASE,
)
_NAMES_MONTH = re.compile(rf"{_DAY_NUMBER}(?:st|nd|rd|th)? (?:of )?{_MONTH}")
_STARTS_MONTH = re.compile(_MONTH)
_NTH = re.compile(rf"{_ORDINAL}[ -](?:full[ -])?(?:fiscal[ -])?(?:quarter|half|semester)", re.I)
#: "30 Mar" before its year.
_SHORT_MONTH = re.compile(
    rf"(?<![\w.,/-])(?:{_DAY_NUMBER} )?"
    r"(?:Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec) $"
)
_BARE_YEAR = re.compile(r"(?:19|20)\d\d")
#: Behind these figures an hour: "2011 UTC".
_CLOCKED = re.compile(r" ?(?:hrs?|hours|UTC|GMT|BST|Z|local(?: time)?|LT)\b(?! of)")
#: What the lines of a log begin with: "2204 all fast".
_LOGGED = re.compile(r"[ \t>*|-]*(?P<time>\d{4})(?= ?[|\t]| {1,3}[^\W\d_])")
#: Hours that are hardly years in a list of years.
_NO_YEAR_BEFORE, _NO_YEAR_FROM = 1300, 2100
_ENDS_MONTH = (
    r"(?:(?<=January)|(?<=February)|(?<=March)|(?<=April)|(?<=May)|(?<=June)|(?<=July)|"
    r"(?<=August)|(?<=September)|(?<=October)|(?<=November)|(?<=December))"
)
#: "-5, 2020" of "March 3-5, 2020", and " 31st" of "week of March 31st".
_DAY_AFTER = re.compile(
    rf"(?:(?<=[ \d]\d)(?<!\d\d\d)|(?<=\d(?:st|nd|rd|th))) ?[-–] ?{_DAY_NUMBER}(?:st|nd|rd|th)?"
    r"(?:,? (?:19|20)\d\d)?(?![\w%]|[.,/:-]\d)"
    rf"|{_ENDS_MONTH} (?:3[01]|[12]\d|[1-9])(?:st|nd|rd|th)(?!\w)"
)
#: " 2020" of "January and March 2020", "-2020" of "Q1-2020", " Q1" of "FY 2020 Q1".
_YEAR_AFTER = re.compile(
    rf"{_ENDS_MONTH} (?:19|20)\d\d(?![\w%]|[.,/:-]\d)"
    r"|(?<=Q[1-4])[-/](?:19|20)\d\d(?!\w)|(?<=[12]\d\d\d)[- /]?Q[1-4](?!\w)"
)


#: Behind these words stands a day: "on 28/4", "dated 28/4", "admitted 8.5.22".
_TAKES_DAY = re.compile(
    r"\b(?:on|dated|since|until|till|due|seen|admitted|discharged|born|died|reviewed|signed|typed|"
    r"dictated|sited|inserted|removed|visited|returned|delivered|delivery|commencing|begins|"
    r"ends|w/[bce]|wef) $",
    re.IGNORECASE,
)
#: Behind these as often a number.
_MAY_TAKE_DAY = re.compile(r"\b(?:from|to|by|before|after|between) $", re.IGNORECASE)
#: What makes a range of versions or sections of two numbers with points.
_TO_POINTS = re.compile(r" (?:to|through|and|-|–) \d+(?:\.\d+)+(?!\w)")
#: "DOB 8.5.80", "my date of birth's 8.5.80", "dated 3/4", "Clinic date: 3/4", "Mon 12/15".
_SAYS_DATE = re.compile(
    r"\b(?:dob|d\.o\.b|(?:date of )?birth(?:day|date)?|born(?: on)?|date(?:d|s| \w+)?|"
    rf"{_WEEKDAY}|Mon|Tues?|Wed|Thu(?:rs?)?|Fri|Sat|Sun)(?:['’]s| is| was)?\W{{1,3}}$",
    re.IGNORECASE,
)
#: "Admitted: 8.5.22", "Follow up: 19/3".
_DATED_LABEL = re.compile(
    r"\b(?:admi(?:tted|ssion)|discharged?|seen|clinic|review(?:ed)?|dictated|typed|signed|sent|"
    r"received|due|appointment|(?:next )?meeting|follow[- ]?up|visit(?:ed)?|from|until)\s*: *$",
    re.IGNORECASE,
)
#: "signed Dr. Holm 14/4.", "typed by AN; 5/5.": who did it stands between.
_DONE_BY = re.compile(
    r"\b(?:signed|typed|dictated|completed|written|reviewed|seen|checked|entered|prepared|approved)"
    r"(?: by)?:? (?=[^\n]*[A-Z])(?:[\w.'’-]+ ){0,4}[\w.'’-]+[;,]? $"
)
_THEN_TIME = re.compile(r",? (?:at )?(?:[01]?\d|2[0-3])[:.]?[0-5]\d(?!\w|[.,/]\d)")
#: What goes on behind a day, and hardly behind a fraction.
_GOES_ON = re.compile(
    rf"{_STOPS}| (?:[-–—] |\(|[A-Z]|(?:and|as|at|because|but|by|due|following|for|he|in|is|it|she|"
    r"they|to|via|was|we|were|when|where|which|who|with)\b)"
)
#: What a number of this form counts: "3/4 of", "6/12 ago", "2/3 majority".
_OF_SHARE = re.compile(
    r"[\"”]|[ -](?:of|a|an|the|ago|chance|cups?|days?|dilution|doses?|feet|foot|full|hours?|"
    r"inch(?:es)?|later|lbs?|majority|miles?|mg|ml|months?|occasions|odds|old|pain|pints?|points?|ratio|scale|"
    r"split|stars?|teaspoons?|tablespoons?|times?|votes?|way|weeks?|years?)\b",
    re.IGNORECASE,
)
#: Scales on which something is so many of so many.
_SCORED = re.compile(
    r"\b(?:acuity|apgar|bp|gcs|grade[sd]?|graded|eye|eyes|mmse|moca|mrc|murmur|pain|power|pressure|"
    r"rat(?:ed|es?|ing)|ratio|scor(?:e[sd]?|ing)|severity|snellen|stars?|strength|va|vas|vision)\b",
    re.IGNORECASE,
)
#: A fraction of nothing, an event, and always.
_NO_DAY = frozenset({"1/2", "9/11", "24/7"})
#: What rulers and scores divide by, beyond a dozen.
_DIVISORS = frozenset({15, 16, 20, 24, 25, 30})
#: A label of a line in notes: "26/11: settled", "26/11 07:45", "- 26/11 settled".
_BEGINS_LINE = re.compile(r"(?:^|\n)[ \t>*•–-]*$")
_OF_LINE = re.compile(r":(?!\d)|[ \t]*(?:[-–—] |\n|$)| (?=\w)")
_PAIR = re.compile(r" (?:to|until|and|-|–) (\d\d?)/(\d\d?)(?![\w%/]|[.,:]\d)")
#: What has numbers with points that are no dates.
_NUMBERED = re.compile(
    r"\b(?:v|ver|versions?|releases?|released|rel|rev|build|patch|patched|firmware|software|driver|"
    r"kernel|upgrad\w+|updat\w+|downgrad\w+|install\w*|running|runs|sections?|sec|sect|clauses?|"
    r"paragraphs?|paras?|articles?|chapters?|figures?|figs?|tables?|rules?|items?|steps?|parts?|"
    r"exercises?|annex|appendix|requirements?|standards?|iso|iec|icd|ip|pursuant|under|per"
    r"|see(?! (?:her|him|it|me|them|us|you)\b))\b|§",
    re.IGNORECASE,
)


def _is_fraction(first: int, second: int) -> bool:
    """Whether two numbers with a slash may be a share as well as a day: 3/4, 13/15, not 28/4."""
    return first <= second and (second <= 12 or second in _DIVISORS)


def _is_day(text: str, start: int, end: int) -> bool:
    """Whether a day and a month in figures, without a year, are one: what is around them tells."""
    before = text[max(0, start - 60) : start]
    if _SAYS_DATE.search(before) or _THEN_TIME.match(text, end):
        return True
    line = before.rpartition("\n")[2]
    if text[start:end] in _NO_DAY or _OF_SHARE.match(text, end) or _SCORED.search(line):
        return False
    first, second = map(int, text[start:end].split("/"))
    fraction = _is_fraction(first, second)
    if _TAKES_DAY.search(before) or _DONE_BY.search(line):
        return not fraction or _GOES_ON.match(text, end) is not None
    if _MAY_TAKE_DAY.search(before):
        pair = _PAIR.match(text, end)
        return not fraction or bool(pair and not _is_fraction(int(pair[1]), int(pair[2])))
    if fraction:
        return False
    if _BEGINS_LINE.search(before):
        return _OF_LINE.match(text, end) is not None
    in_brackets = before.endswith("(") and text.startswith(")", end)
    return in_brackets or _DATED_LABEL.search(before) is not None


def _is_dated(text: str, start: int, end: int) -> bool:
    """Whether three numbers with points are a day: "8.5.80" is a version or a section, too."""
    before = text[max(0, start - 60) : start]
    if _SAYS_DATE.search(before) or _DATED_LABEL.search(before):
        return True
    line = before.rpartition("\n")[2]
    if _NUMBERED.search(line) or _NUMBERED.search(text, end, end + 12):
        return False
    if _TAKES_DAY.search(before) or _THEN_TIME.match(text, end):
        return True
    if _MAY_TAKE_DAY.search(before) and not _TO_POINTS.match(text, end):
        return True
    # versions hardly count to 13 in front
    return int(text[start:end].partition(".")[0]) > 12


def find_dates(text: str) -> list[tuple[int, int]]:
    """Return the half-open offsets of the dates and periods in a text.

    Examples
    --------
    >>> text = "Sales rose in the third quarter of 2020, as in May and last year."
    >>> [text[s:e] for s, e in find_dates(text)]
    ['third quarter of 2020', 'May', 'last year']
    """
    low = lowered(text)
    logged = _log_times(text)
    said = list(said_date_spans(low))
    found: list[tuple[int, int]] = []
    done = 0
    for place in _BEGINNING.finditer(low):
        if place.start() < done or not (match := _DATE.match(text, place.start())):
            continue
        if any(start < match.end() and place.start() < end for start, end in said):
            continue  # "ninth of March" of "ninth of March nineteen seventy"
        done = match.end()
        if _BARE_YEAR.fullmatch(text, *match.span()) and (
            match.start() in logged or _CLOCKED.match(text, match.end())
        ):
            continue
        if (span := _span(text, match, found[-1][1] if found else 0)) is not None:
            found.append(span)
            done = span[1]
    return sorted([*found, *said]) if said else found


def _log_times(text: str) -> frozenset[int]:
    """Return where times without a colon begin the lines of a log: "1953" among "2204" is one.

    Some are no years and all of them times, else it may be a list of years.
    """
    starts = [0, *(m.end() for m in re.finditer("\n", text))]
    lines = [m for at in starts if (m := _LOGGED.match(text, at))]
    times = [int(line["time"]) for line in lines]
    clock = all(time < 2400 and time % 100 < 60 for time in times)
    if not clock or not any(t < _NO_YEAR_BEFORE or t >= _NO_YEAR_FROM for t in times):
        return frozenset()
    return frozenset(line.start("time") for line in lines)


def _span(text: str, match: re.Match[str], floor: int) -> tuple[int, int] | None:
    """Return where a date stands whole; None where what is around it tells that it is none."""
    if match.lastgroup is not None:
        told = {"slash": _is_day, "points": _is_dated}.get(match.lastgroup)
        return match.span() if told is None or told(text, *match.span()) else None
    before = text[max(0, match.start() - 24) : match.start()]
    called = (_DAY_ALONE.match(match.group()) and _CALLED.search(before)) or (
        _ALONE.match(match.group()) and _NAME_BEFORE.search(before)
    )
    if called:
        return None
    if _EXACT_CASE.match(match.group()):
        day = _SMALL_DAY.fullmatch(match.group())
        if day is None or not _BEHIND_DAY.match(text, match.end()):
            return None
        if day["word"] and not _BEFORE_DAY.search(before):
            return None
    return _whole(text, *match.span(), floor)


def _whole(text: str, start: int, end: int, floor: int) -> tuple[int, int]:
    """Return a date with what belongs to it on both sides: half of one that moves is wrong."""
    if _DAY_OF.match(text, start) and (
        said := _SAID_DAY.search(text, max(floor, start - 20), start)
    ):
        start = said.start()
    before = _BELONGS_BEFORE.search(text, max(floor, start - 40), start)
    if before and (
        _NAMES_MONTH.match(text, start)
        if before["day"]
        else _NTH.match(text, start)
        if before["nth"]
        else _STARTS_MONTH.match(text, start)
    ):
        start = before.start()
    elif _BEGINS_DAY.match(text, start) and (
        weekday := _WEEKDAY_BEFORE.search(text, max(floor, start - 8), start)
    ):
        start = weekday.start()
    elif (month := _SHORT_MONTH.search(text, max(floor, start - 12), start)) and (
        _BARE_YEAR.fullmatch(text, start, end)
    ):
        start = month.start()
    for pattern in (_DAY_AFTER, _YEAR_AFTER):
        if after := pattern.match(text, end):
            end = after.end()
    return start, end
