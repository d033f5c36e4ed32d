"""Where identifiers stand in a text.

A match starts where a word starts and ends where one ends (or before its plural or possessive s);
nothing is replaced inside other words.

One pass over the words of a text finds all names of all identifiers: each position asks a
dictionary of all beginnings of all forms whether it is worth going on, so time is linear in the
text and does not depend on the number of identifiers.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from itertools import chain
from typing import Any, NamedTuple

from nes_spark.config import IdentifierKind, IdentifiersConfig
from nes_spark.config.patterns import Pattern
from nes_spark.config.sections import METADATA_KIND, PHONE_REGIONS, default_kinds
from nes_spark.errors import ConfigError
from nes_spark.text.addresses import email_spans, machine_spans, url_spans
from nes_spark.text.days import days_of, find_days
from nes_spark.text.forms import (
    ANY,
    BRAND,
    CAPITAL,
    CONTEXT,
    GAP,
    GENERATIONS,
    HEAD,
    HEADS,
    INITIALS,
    LABEL,
    MAX_WORDS,
    POSSESSIVE,
    REVERSED,
    SENTENCE_END,
    SMALL_WORDS,
    START,
    TITLE,
    UPPER,
    WORD,
    Form,
    Forms,
    Spelled,
    Words,
    Written,
    company_forms,
    fold,
    is_capital,
    legal_words,
    name_forms,
    opens_sentence,
    person_forms,
    sounds_like,
    squeeze,
    whole_forms,
)
from nes_spark.text.normalizing import latin_looks, normalize, readings
from nes_spark.text.numbers import phone_spans, security_spans
from nes_spark.text.sentences import word_set
from nes_spark.text.spots import matches_around
from nes_spark.text.vocabulary import ACRONYMS, COMMON_WORDS, DESCRIPTORS, NICKNAMES, RANKS


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
        How it was recognised: ``name``, ``part`` (head of a company name, last or first name,
        initials before what somebody says), ``ticker``, ``url``, ``email``, ``phone``,
        ``security``, ``date``, ``literal``, ``pattern``.
    """

    start: int
    end: int
    kind: str
    placeholder: str
    value: str
    rule: str


def _sites_and_machines(text: str) -> Iterable[tuple[int, int]]:
    """Where web addresses and those of machines stand; one inside the other is settled later."""
    return chain(url_spans(text), machine_spans(text))


#: Scripts that write words without spaces between them.
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]"
)


def _unspaced(value: str) -> bool:
    return not value.isascii() and bool(_UNSPACED.search(value))


_POSSESSIVE = re.compile(r"['’]s?(?![^\W_])")
#: What stands behind the short name of a shop or brand.
_BRAND = re.compile(
    r"\s(?:banner|brand|brands|stores?|team|family|associates|shoppers?|customers?|locations?|"
    r"website|app|employees|colleagues)\b"
)
#: What ends a line, or parts it, behind a name that stands by itself.
_ON_ITS_OWN = re.compile(r"[ \t]*(?:$|\n|[|·•()/]|[-–—] )")
#: What a company has under its own name: "the Aspen Board".
_BODIES = word_set("board team executive executives management leadership foundation family")
#: What stands before initials that are also an ordinary abbreviation: "legacy IR".
_FORMER = re.compile(
    r"\b(?:legacy|former|formerly|heritage|historical|standalone|stand-alone)\s$", re.IGNORECASE
)
#: What stands between a name and a legal form with dots: "Acme Acciones y Valores S.A."
_DOTTED_FORM = re.compile(
    r"(?: (?:(?=[^\W\d_a-zß-öø-ÿ])[\w'’-]+|y|e|de|and|&)){0,4},? "
    r"(?:S\.A\.(?:B\.)?|S\.p\.A\.|N\.V\.|B\.V\.|A\.G\.|L\.L\.C\.|P\.L\.C\.)(?![^\W_])"
)
#: A full stop behind a word, and more than the end of an abbreviation's line of letters.
_STOPPED = re.compile(r"[.!?]\W*\s")
#: So many letters an abbreviation has at most: "Chas. Levy", but not "said Early. Hector went".
_ABBREVIATED = 4
#: "Roe, Ann".
_LAST_FIRST = re.compile(r"[^,.;:!?\n]+,\s?[^,;:!?\n]+")
#: A full stop that ends no sentence: "Acme Inc.'s engineers", "the Acme Inc. board".
_OWN_STOP = re.compile(r"\.(?:['’]s\b|[,;:)]| [a-z(])")
_DOTTED = re.compile(r"\b(?:[A-Z]\.[A-Z]|[Aa]\.[Ss]|S\.p\.A|[sd]\.[rd]?\.?o)$")
_DOTTED_ON = re.compile(r"\.[A-Z](?![^\W_])")
#: Initials between a title and a name: "Mr. MP [Executive 1]" would tell them.
_INITIALS_BEFORE = re.compile(
    r"\b(?:Mrs?|Ms|Miss|Mx|Dr|Prof|Sir|Cllr|Councillor)\.? "
    r"(?P<all>(?:[A-Z]{1,2}\.? |[A-Z]\.){1,3})$"
)
#: Initials before a last name: "J. P. Roe", "J Roe"; what they stand for decides.
_INITIALS_ALONE = re.compile(r"(?<![\w.'’-])([A-Z])(?P<dot>\. ?| )(?:[A-Z](?:\. ?| )){0,2}$")
#: Between a first and a last name: "Ann B. Roe", "Ann B Roe".
_INITIALS_BETWEEN = re.compile(r" (?:[A-Z]\.? ){1,2}(?=[^\W\d_a-zß-öø-ÿ])")
#: A first name and initials before a last one: "May B. Roe".
_FIRST_AND_INITIALS = re.compile(r"(?<![\w'’-])(?P<first>[^\W\d_][\w'’-]+) (?:[A-Z]\.? ?){1,2}$")
#: No name of a person stands behind one of these.
_NO_PERSON = word_set("the a an this that these those each every any some no our your its another")
#: Titles that stand before last names alone.
_BEFORE_NAMES = word_set(
    "mr mrs ms miss dr prof professor sir doctor father fr sister reverend rev pastor monsignor "
    "rabbi nurse councillor cllr"
)
#: What stands behind a last name, not behind a thing: "the Hall family".
_KIN = word_set(
    "brothers children couple family group household lab laboratory labs siblings sisters twins"
)
#: How a last name is cited: "Hill et al.", "Hill 2019", "(Hill & Roe, 2019)", not "Spring 2020".
_CITED = re.compile(
    r"(?: et al\b|(?: (?:&|and) (?:[^\W\d_a-zß-öø-ÿ][\w'’-]+|\[[^\]\n]{1,40}\]))?"
    r",? \(?(?:19|20)\d\d[a-z]?\b(?![-–/]\d))"
)
_SEASONS = word_set("spring summer autumn fall winter")
#: Initials behind a last name, as lists of authors have them: "Hill F, Roe A-B.", "HILL, F".
_INITIALS_BEHIND = re.compile(
    r"(?P<comma>,)? (?P<first>[A-Z])(?:\.?[ -]?[A-Z]){0,2}"
    r"(?=\.?(?:[;)\n]|$)|\.?, ?(?:[A-Z\[]|and\b|&)|(?(comma)\.,|(?:[.,:] |[.,:]$)))"
)
#: Of these those that are nothing else in small letters, before a name in small letters.
_TITLED_SMALL = re.compile(r"\b(?:mrs?|ms|dr|prof|councillor|cllr)\.? (?:(?P<first>[a-z])\.? )?$")
#: Initials behind a title or by themselves, before a last name that is a word: "Cllr C Day".
_INITIALED = re.compile(
    r"(?P<title>\b[^\W\d_]{2,10}\.? )?(?<![\w.'’-])(?P<first>[A-Z])(?:\.? (?:[A-Z]\.? )*|\.)$"
)
#: What stands behind the label of who speaks, a name that is a word: "Day: Can I just say".
_SPEAKS = re.compile(r"""[ \t]*:[ \t]+["'“‘]?(?=[^\W\d_a-zß-öø-ÿ])""")
#: What stands before a word as little as nothing does: "[Name] Street light" is no Street.
_PLACEHOLDER_BEFORE = re.compile(r"\[[A-Z][A-Za-z ]{1,30}(?: \d+)?\] $")
#: What stands before a list of people, and behind the first of them: "Absent: Day, Hall".
_LISTS_PEOPLE = re.compile(
    r"\b(?:absen(?:t|ces?)|apolog(?:y|ies)|attend(?:ance|ed|ees|ing)|members|panel|present"
    r"|propose[dr]|seconde[dr]|signed|there)\b[^:\n]{0,32}:[ \t]+$",
    re.IGNORECASE,
)
_LISTED = re.compile(r"[ \t]*(?:[,.;()]|and\b|\n|$)")
#: What parts a stretch from what is around it; nothing does at either end of a text.
_MARKS = ("", *'.,:;!?()[]"“”\n')
#: Behind a name that is none: "don't", "Can't".
_NEGATED = re.compile(r"['’]t\b", re.IGNORECASE)
#: Months that are names, and what stands before a month.
_MONTHS = word_set("april august june march may")
_DATED = word_set(
    "in by since until till late early mid end last next through of from before after"
)
#: What is said of companies: "Orchard expects to grow".
_OF_COMPANIES = word_set(
    "acquired agreed announced anticipates believes closed completed declared employs entered "
    "estimates expects files filed intends issued launched leases manufactures operates owns plans "
    "reported reports sells sold"
)
#: What nobody says of a thing: "May was well".
_OF_SOMEBODY = word_set(
    "was is has had said says told tells asked asks came went lives lived looks looked feels felt "
    "denies denied reports reported states stated remains remained seems seemed agreed thinks "
    "thought wants wanted works worked wrote writes knew gave testified chaired complained replied"
)
#: What a company does where its short name begins the sentence.
_ACTS = sorted(
    _OF_COMPANIES
    | _OF_SOMEBODY
    | word_set(
        "aims also apologised apologized bought carried carries chartered competes continues did "
        "does employed generates hired maintains makes never now ran relies runs sent serves since "
        "specialises specializes supplies then took will withdrew would"
    )
)
#: What may stand between: "Anchor, on the other hand, owns it".
_ASIDES = "on the other hand|by contrast|however|meanwhile|too|which|whose"
#: The same where they go on: "Best accepted that", but "Best accepted practice".
_OF_SOMEBODY_THEN = re.compile(
    r" (?:(?:accept|admitt|argu|assert|claim|conced|confirm|explain|insist|maintain|submitt)"
    r"(?:ed|s) (?:that|in|to)|added that|(?:could|did|would|wo)n['’]t)\b"
)
#: Between the parties of a case: "Page v Roe", "PAGE -v- ROE".
_VERSUS = re.compile(r"\s+(?:v\.?|vs\.?|-v-)\s+(?=[\[(A-ZÀ-ÖØ-Þ])")
#: Small words behind which a sentence goes on with who acts in it; capitals when they begin it.
_JOINING = word_set("although because however nevertheless though unless until whereas whether")
#: What counts the bearers of a name: left there it would tell one.
_GENERATION_AFTER = re.compile(r",? (?:[JS]r\b\.?(?= [a-z]|,|$)|[JS]r\b|I{2,3}\b|IV\b)")
_DOUBLE_AFTER = re.compile(r"[-‐‑](?=[^\W\d_a-zß-öø-ÿ])[^\W\d_]{2,}")
_BROKEN_OFF = re.compile(r"(?<![^\W_])(?<![-‐‑])([^\W\d_]{1,15})[-‐‑],? ?$")
#: Behind a word that the speaker broke off; "Acme-Globex" goes on.
_CUT_OFF = re.compile(r"[-‐‑–—](?=[\s,.;…]|$)")
#: What a name is joined to on either side, and what says that it is no prose.
_UNBROKEN_BEFORE = re.compile(r"[\w.@/\\-]{1,60}$")
_UNBROKEN = re.compile(r"[\w.@/\\-]{1,60}")
_FILE = re.compile(
    r"[_@\\]|/.*/|\.(?:wav|mp[34]|m4a|mov|avi|docx?|pdf|txt|rtf|xlsx?|csv|pptx?|html?|xml|jpe?g|png|"
    r"eml|msg|zip)\.?$"
)
#: Where a line may begin, or a chunk of a text.
_LINE_BEGINS = re.compile(r"""(?:^|\n|[.!?…:]["'”’)\]]?\s)[ \t]*$""")
#: What follows the initials of who speaks or of whom a line is about: "RS:", "RS - notes", and of
#: who wrote or typed it: "RS / file 3", "RS/an", "RS 2/3/21", or nothing more in the line.
_AFTER_INITIALS = re.compile(
    r":| [-–—/] |/[a-z]{2,3}\b|\.?[ \t]*(?:\n|$)"
    r"|,? (?:\d{1,2}[ ./-]?(?:\d{1,2}|[A-Z][A-Za-z]{2,8})[ ./-]?\d{2,4}|\d{4}-\d\d-\d\d)(?!\w)"
)
#: What stands before the name of who signs: "Signed: Early,".
_SIGNED = re.compile(
    r"(?:^|\n)[ \t>*]*(?:signed|sgd|author|(?:made|prepared|reported|written)(?: up)? by)"
    r"(?: by)?[ \t]*:[ \t]*$",
    re.IGNORECASE,
)
_SIGNS = re.compile(r"[ \t]*(?:[,.(]|\n|$)")
#: The same behind initials with points, and a comma: "R.G., 59F".
_AFTER_DOTTED = re.compile(r"\.?(?:[:,]| [-–—] )")
#: What they do: "R.G. to send photos"; of these letters rather a place or a thing does.
_GOES_ON = re.compile(r"\. (?=[a-z])")
_DOTTED_PLACES = word_set("ai bc dc la nj ny va")
#: Inside a sentence or behind a bullet: "of whom only R.G. has gone", "(a) R.G. went".
_INSIDE = re.compile(r"(?:[a-zß-öø-ÿ],? |[(\[“\"]|(?:^|\n)[ \t]*(?:[-–*•+]|\(?\w{1,2}[).])[ \t]+)$")
_GOES_ON_INSIDE = re.compile(r"\.(?:['’]s\b|,? (?=[a-z(])|[,;:)]|\W*(?:\n|$))")
#: What anybody may mean by such letters.
_DOTTED_WORDS = _DOTTED_PLACES | word_set(
    "ac ad ag am ba bs bv ca cc cd ceo ce cfo ci co ct cv da dj ds ed er eu ex fc fm fx ga gb "
    "gi gm gp hq hr ia id ii ip iq ir it iv jd jp jr jv kg lp ma mb mc md me mi mp ms nb nc "
    "nd ne nh no nv od oh ok op pa pc pi pm po pr ps qc rd ri rn rv sa sc sd se sp sr st tb "
    "tv tx uk un us usa ussr ut vc vi vp vt wa wc wi wv"
)
#: What stands before the initials of who signs: "Signed R.G.".
_SIGNS_SHORT = re.compile(r"(?:^|\n)[ \t>*]*(?:signed|sgd)(?: by)?:?[ \t]+$", re.IGNORECASE)
_INNER_CAPITAL = re.compile(r"(?<=[a-zß-öø-ÿ])(?=[^\W\d_a-zß-öø-ÿ])")
_DOUBLE_BEFORE = re.compile(r"(?<![^\W_])(?=[^\W\d_a-zß-öø-ÿ])[^\W\d_]{2,}[-‐‑]$")

#: A letter that is said, with the word that tells it: "S for Sierra", "B as in Bo", "double T".
_LETTER = (
    r"(?:(?:double|treble|triple)[ -])?[^\W\d_](?:,? (?:for|as in|like) [^\W\d_]{2,12}(?:-ray)?)?"
)
#: Letters one after the other, as somebody spells a name.
_SPELLED = re.compile(
    rf"(?<![\w'’&@.-]){_LETTER}(?:(?: ?[,.‐‑–-] ?| ){_LETTER}){{2,}}(?![\w'’@])", re.IGNORECASE
)
#: Characters between two letters that are said, and behind the last of them, at most; and before
#: the first ("double T").
_LETTERS_APART, _BEFORE_LETTER = 40, 8
_SPELLED_LETTER = re.compile(
    r"(?:(?P<many>double|treble|triple)[ -])?(?P<letter>[^\W\d_])(?![^\W\d_])"
    r"(?:,? (?:for|as in|like) [^\W\d_]{2,12}(?:-ray)?)?",
    re.IGNORECASE,
)
#: So much of what is spelled out is a listed name's, or so many letters, or all of it is none.
_SPELLED_SHARE, _SPELLED_ENOUGH = 0.5, 7
#: So many letters are the beginning of a listed name.
_SPELLED_BEGUN = 4
#: Letters of a name at most; what is made of letters alone would take for ever.
_SPELLED_MOST = 40


def _is_upper(word: str) -> bool:
    """Whether a word is in capitals or figures, but for the s of a plural: GE, 3M, &, EDPs."""
    stem = word[:-1] if len(word) > 2 and word.endswith("s") else word
    return stem.isupper() or stem.isdigit() or word == "&"


def _in_file(text: str, start: int, end: int) -> bool:
    """Whether a word is a part of a file's name, a handle or a path."""
    before, after = (
        _UNBROKEN_BEFORE.search(text, max(0, start - 60), start),
        _UNBROKEN.match(text, end),
    )
    token = (before.group() if before else "") + text[start:end] + (after.group() if after else "")
    return _FILE.search(token) is not None


#: What stands before the name of a ship, which goes without as often: "MV Anna Roe".
_SHIP = re.compile(r"(?:(?:[MSFRT]/?[VTSYB]|M/?V|[RHU]MS|USS|RFA|RRS)\.?|m\.v\.|m\.t\.) (?=[A-Z])")


def _literal(value: str) -> re.Pattern[str]:
    """What finds a value as it is, in any case and with any white space."""
    plain = normalize(value).text.strip()
    body = r"\s+".join(re.escape(word) for word in plain.split())
    before = r"(?<![^\W_])" if plain[:1].isalnum() and not _unspaced(plain[:1]) else ""
    after = r"(?![^\W_])" if plain[-1:].isalnum() and not _unspaced(plain[-1:]) else ""
    return re.compile(before + body + after if body else r"(?!)", re.IGNORECASE)


#: Figures of a listed number at least by which it is told without what stands around them, as
#: people quote it; round ones count something.
_NUMBER_ALONE = re.compile(r"(?<!\d)\d{5,}(?<!000)(?!\d)")
#: Behind these figures are an amount or a part of one.
_NO_AMOUNT = r"(?<![^\W_])(?<!\d[.,])(?<![$€£¥])(?<![$€£¥]\s)"


def _number_alone(value: str) -> re.Pattern[str] | None:
    """What finds a listed number without its letters: "2691381" of "HHD/2691381/A".

    Examples
    --------
    >>> number = _number_alone("HHD/2691381/A")
    >>> [bool(number.search(t)) for t in ("pol. 2691381", "£2691381", "2691381.50", "12691381")]
    [True, False, False, False]
    >>> _number_alone("HHD/269/A") is _number_alone("2691381") is None
    True
    """
    plain = normalize(value).text.strip()
    figures = _NUMBER_ALONE.findall(plain)
    if len(figures) != 1 or figures[0] == plain:
        return None
    return re.compile(rf"{_NO_AMOUNT}{figures[0]}(?![^\W_]|%|[.,]\d)")


#: What an address begins with: a number and a street, in either order.
_HOUSE = re.compile(
    r"(?=.*[^\W\d_]{3})(?:\d{1,5}[A-Za-z]? (?=\S)[^,\n]{3,60}|[^\d,\n]{4,60} \d{1,5}[a-z]?)"
)
#: A postcode that few houses share, where an address ends.
_POSTCODE = re.compile(
    r"(?<![^\W_])(?:[A-Z]{1,2}\d[A-Z\d]? ?\d[A-Z]{2}|[A-Z]\d[A-Z] ?\d[A-Z]\d)(?=\W*$)"
)


def parts_of_address(value: str) -> list[str]:
    """Return what a listed address is written with elsewhere: house and street, and the postcode.

    Examples
    --------
    >>> parts_of_address("9 Ashgill Road, Hull HU1 6CT"), parts_of_address("Roe Lane 4b, Hull")
    (['9 Ashgill Road', 'HU1 6CT'], ['Roe Lane 4b'])
    >>> parts_of_address("Hull, Ashgill Road"), parts_of_address("HHD/2691381/A")
    ([], [])
    """
    house, comma, rest = value.strip().partition(",")
    if not comma or not _HOUSE.fullmatch(house):
        return []
    code = _POSTCODE.search(rest)
    return [house, code.group()] if code else [house]


def _named_with_s(value: str, text: str, start: int, end: int) -> int:
    """Where a name ends of which words with an 's stand in a text, 0 where none does.

    What the text goes on with counts as far as the name itself has it.

    Examples
    --------
    >>> _named_with_s("Tanner's Brook Primary", "at Tanner's Brook today", 3, 9)
    17
    >>> _named_with_s("Hershey Company", "at Hershey's today", 3, 10)
    0
    """
    if text[end : end + 2] not in ("'s", "’s") and text[end - 2 : end] not in ("'s", "’s"):
        return 0
    listed = normalize(value).text.replace("’", "'").lower()
    there = text[start : start + len(listed)].replace("’", "'").lower()
    stem = text[start:end].replace("’", "'").lower().removesuffix("'s")
    at = listed.find(f"{stem}'s")
    if at < 0 or (at and listed[at - 1].isalnum()):
        return 0
    alike = next(
        (n for n, (a, b) in enumerate(zip(listed[at:], there, strict=False)) if a != b),
        min(len(listed) - at, len(there)),
    )
    # no half of a word: "Tanner's Brookside"
    while alike and (
        text[start + alike : start + alike + 1].isalnum()
        or listed[at + alike : at + alike + 1].isalnum()
        or not text[start + alike - 1].isalnum()
    ):
        alike -= 1
    return start + alike


def _has_initials_behind(text: str, words: Words, i: int, j: int, form: Form) -> bool:
    """Whether a last name stands as in a list of authors: "[1] Hill F, Roe A."."""
    behind = _INITIALS_BEHIND.match(text, words.ends(j))
    if behind is None or behind["first"] != form.first_name[:1].upper():
        return False
    beside = i > 0 and text[words.ends(i - 1) : words.starts(i)] == " "
    return is_capital(words.spelled[i]) and not (beside and words.spelled[i - 1][:1].isupper())


def _are_dotted(text: str, words: Words, i: int, j: int) -> bool:
    """Whether words i to j are initials with points that begin a line: "R.G., 59F"."""
    start, end = words.starts(i), words.ends(j)
    if re.fullmatch(r"(?:[A-Z]\. ?)+[A-Z]", text[start:end]) is None:
        return False
    if _SIGNS_SHORT.search(text, max(0, start - 24), start):
        return True
    acts = _GOES_ON.match(text, end) and squeeze(text[start:end]) not in _DOTTED_PLACES
    if squeeze(text[start:end]) not in _DOTTED_WORDS and _INSIDE.search(
        text, max(0, start - 24), start
    ):
        return _GOES_ON_INSIDE.match(text, end) is not None
    return (
        bool(acts or _AFTER_DOTTED.match(text, end))
        and _LINE_BEGINS.search(text, max(0, start - 24), start) is not None
    )


def _identifier(item: Any) -> Identifier:
    # for a dict, which is most of them, an abstract class takes ten times as long to ask
    if isinstance(item, (dict, Mapping)):
        return Identifier(str(item["kind"]), str(item["value"]), str(item["placeholder"]))
    return Identifier(str(item.kind), str(item.value), str(item.placeholder))


#: The rule of listed days.
DATE = "date"
#: Rules of kinds that are found without being listed.
SHAPES = ("url", "email", "phone", "security", "pattern")


#: So many letters have a capital among them, in a text that has capitals.
_LETTERS_A_CAPITAL = 100
#: A sentence begins with a line, behind who speaks in it ("Ann:", "ANN>"), or behind a stop.
_SENTENCE_BEGINS = re.compile(
    r"(?:^|\n)[ \t>*•-]*(?:[^\n]{1,60}?[:>][ \t]+)?|[!?][\"')]*[ \t]+|[^\W\d_]{5}\.[ \t]+"
)
_SENTENCE_ENDS = re.compile(r"[.!?](?=\s|$)|\n|$")
#: So far it is looked for to either side.
_SENTENCE = 240
#: Letters without a capital that say how somebody writes.
_SMALL_SENTENCE = 20
#: What stands before a name that ends a letter: "Cheers,\n", "best, ".
_CLOSING = re.compile(
    r"(?:^|\n)[ \t>*_-]*(?:(?:all the|kind|kindest|warm|warmest|with|many) )?"
    r"(?:best|best wishes|cheers|rgds|(?:best )?regards|sincerely|ta|thanks|thank you|thx|yours|"
    r"yours (?:sincerely|faithfully|truly))"
    r"(?:[,!.]?[ \t]*(?:\n[ \t>*_]*){1,3}|[,!.] ?|[ \t]*[-–—][ \t]*)$",
    re.IGNORECASE,
)
#: What stands before a name that begins one, and what stands behind either.
_GREETING = re.compile(
    r"(?:^|\n|>)[ \t>*_-]*(?:dear|good (?:morning|afternoon|evening)|hello|hey|hi|hiya)[ \t]+$",
    re.IGNORECASE,
)
_CLOSED = re.compile(r"[ \t]*[.!*_]?[ \t]*(?:\n|$)")
#: Behind a name that signs; no sentence ends with it.
_KISSED = re.compile(r" [xX]{1,4}[.!]?(?:[\"”»]|[ \t]*(?:\n|$))")
_GREETED = re.compile(r"[ \t]*(?:[,!*_]|[-–—](?:\s|$)|\.?[ \t]*(?:\n|$))")
#: Whoever speaks: "and i said", "i'm", but no "(i)" of a list.
_I = re.compile(r"(?<![\w(.'’-])([iI])(?=(?:['’](?:m|ve|d|ll))? )")
#: Letters of a text that are looked at for it.
_LOOK = 5_000


#: Capitals that nobody wrote: the publisher of a text has masked something. Placeholders stand for
#: names, which may have had capitals.
_PUT_IN = re.compile(r"(?<!\w)X{2,}(?:[/-]X{2,})*(?!\w)")


def is_in_small_letters(text: str) -> bool:
    """Whether a text has hardly any capitals, or who speaks says "i", as in many records of speech.

    Of less than a hundred letters nothing is said.

    Examples
    --------
    >>> said = "so we asked siobhan and she said yes "
    >>> [is_in_small_letters(t) for t in (said, 9 * said, 9 * "We asked, and she said: yes. ")]
    [False, True, False]
    >>> is_in_small_letters(9 * "and i said Ann Roe of Acme Kilns ")
    True
    >>> is_in_small_letters(9 * "on XX/XX/XXXX we asked XXXX and she said yes ")
    True
    """
    seen = _PUT_IN.sub("", text[:_LOOK])
    capitals, letters = sum(map(str.isupper, seen)), sum(map(str.isalpha, seen))
    if letters < _LETTERS_A_CAPITAL:
        return False
    if capitals * _LETTERS_A_CAPITAL < letters:
        return True
    told = _I.findall(seen)
    return told.count("i") > max(2, 2 * told.count("I"))


def is_in_small_sentence(text: str, start: int, end: int) -> bool:
    """Whether a stretch stands in a sentence of some length without any capital.

    In a text with capitals, too: somebody answers in small letters between those who do not.

    Examples
    --------
    >>> text = "Ann: We asked. \\nBo: hi, its siobhan from acme kilns again"
    >>> [is_in_small_sentence(text, text.index(w), text.index(w) + 3) for w in ("We", "sio")]
    [False, True]
    """
    floor = max(0, start - _SENTENCE)
    begin = None
    for begun in _SENTENCE_BEGINS.finditer(text, floor, start):
        if begun.end() <= start and (begun.start() > floor or floor == 0 or text[floor] == "\n"):
            begin = begun.end()
    if begin is None:
        return False
    ended = _SENTENCE_ENDS.search(text, end, end + _SENTENCE)
    said = _PUT_IN.sub("", text[begin : ended.start() if ended else end + _SENTENCE])
    letters = sum(map(str.isalpha, said))
    return letters >= _SMALL_SENTENCE and not any(map(str.isupper, said))


def _is_signed(text: str, start: int, end: int) -> bool:
    """Whether a first name alone greets or signs: "hi ann,", "Cheers,\\nWill", "Will x"."""
    before = text[max(0, start - 60) : start]
    if _KISSED.match(text, end) and _LINE_BEGINS.search(before):
        return True
    if _CLOSING.search(before):
        return _CLOSED.match(text, end) is not None
    return _GREETING.search(before) is not None and _GREETED.match(text, end) is not None


def _stands_alone(text: str, start: int, end: int) -> bool:
    """Whether a stretch is all that stands between marks: "... my name. will early, of Hull"."""
    before = text[max(0, start - 8) : start].rstrip(" \t")
    after = text[end : end + 8].lstrip(" \t")
    return before[-1:] in _MARKS and after[:1] in _MARKS


def _is_a_name(words: Sequence[str]) -> bool:
    """Whether words without capitals are hardly anything but the name that they are like."""
    return all(len(fold(w)) > 2 and fold(w) not in COMMON_WORDS for w in words)


#: Characters of a line or of what stands in brackets that may be a heading.
_HEADING = 120
#: Words that headings have in small letters, and how long others are at least.
_HEADING_WORD = 4


def _is_heading(text: str, start: int, end: int) -> bool:
    """Whether a stretch stands in a line, or in brackets, of which each longer word has a capital.

    Examples
    --------
    >>> line = "[Signature Page to Anchor Lease]"
    >>> _is_heading(line, 19, 25), _is_heading("I paid Anchor Lease", 7, 13)
    (True, False)
    """
    low = max(0, start - _HEADING)
    begin = max(text.rfind(mark, low, start) for mark in "\n[") + 1
    if not begin and low:
        return False
    stops = (text.find(mark, end, end + _HEADING) for mark in "\n]")
    stop = min((at for at in stops if at >= 0), default=len(text))
    if stop - begin > _HEADING:
        return False
    around = text[begin:start] + text[end:stop]
    if any(mark in around for mark in ".,;:?!") and not around.isupper():
        return False  # a sentence of names
    words = [w for w in re.findall(r"[^\W\d_]+", around) if len(w) >= _HEADING_WORD]
    return bool(words) and all(w[:1].isupper() for w in words)


#: What a ticker does.
_TRADES = re.compile(
    r" (?:(?:is |was |are |has |have )?(?:trad(?:es|ed|ing)|listed|quoted)|opened|closed) "
    r"(?:on|at)\b"
)
#: A bracket behind a name, and none behind a part of a document, a plan or a class.
_BEHIND_NAME = re.compile(
    r"(?<!\w)(?!(?:Schedule|Section|Class|Series|Exhibit|Note|Item|Part|Annex|Appendix|Rule|Form|"
    r"Clause|Option|Plan|Paragraph|Article)\b)[^\W\d_a-z][\w&.'’-]*,? \($"
)


#: So many letters are spelled at least.
_LEAST_LETTERS = 3


def spelled_letters(words: Words) -> Iterator[re.Match[str]]:
    """Yield where three letters and more are said one by one: "Q-U-I", "q for Quebec, u, i"."""
    sizes = list(map(len, words.spelled))
    if sizes.count(1) < _LEAST_LETTERS:
        return iter(())
    letters = [i for i, size in enumerate(sizes) if size == 1]
    threes = (
        (words.starts(i), words.ends(k))
        for i, j, k in zip(letters, letters[1:], letters[2:], strict=False)
        if words.starts(j) - words.ends(i) <= _LETTERS_APART
        and words.starts(k) - words.ends(j) <= _LETTERS_APART
    )
    return matches_around(_SPELLED, words.text, threes, _BEFORE_LETTER, _LETTERS_APART)


@lru_cache(maxsize=16_384)  # the same people speak and ask in many documents
def _written(rule: str, value: str) -> Written:
    """Return the forms of a value by which a rule finds it."""
    return Written.of(_forms_of(rule, value))


def _forms_of(rule: str, value: str) -> Iterator[tuple[str, Form]]:
    if rule == METADATA_KIND:
        yield from whole_forms(value)
    elif rule == "company":
        yield from company_forms(value)
    elif rule == "person":
        yield from person_forms(value)
    elif rule == "ticker":
        symbol = value.rpartition(":")[2].strip()
        vague = len(symbol) < 2 or symbol.upper() in ACRONYMS
        case = CONTEXT if vague else UPPER
        yield squeeze(symbol), Form(case, "ticker", len(WORD.findall(symbol)))
    elif rule != DATE or not days_of(value):
        # Addresses, numbers and literals that the input names are matched as they are.
        plain = normalize(value).text
        for written in (plain, *parts_of_address(plain)):
            sizes = {len(WORD.findall(written))} | ({1} if written != plain else set())
            for size in sorted(sizes):  # "HX3 7SU" is written "hx37su" as often
                yield squeeze(written), Form(ANY, "literal", size)
        if ship := _SHIP.match(plain.strip()):
            for key, form in name_forms(plain.strip()[ship.end() :], "name"):
                case = CAPITAL if form.n_words == 1 and form.case == ANY else form.case
                yield key, form._replace(rule="literal", case=case)


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
    phone_regions : iterable of str
        ISO codes of the countries whose national phone numbers count.

    Raises
    ------
    ConfigError
        When an identifier has a kind that is not declared.
    """

    def __init__(
        self,
        identifiers: Iterable[Any],
        kinds: Mapping[str, IdentifierKind] | None = None,
        allow: Iterable[str] = (),
        phone_regions: Iterable[str] = PHONE_REGIONS,
    ) -> None:
        self._finders: dict[str, Callable[[str], Iterable[tuple[int, int]]]] = {
            "url": _sites_and_machines,
            "email": email_spans,
            "phone": partial(phone_spans, regions=tuple(phone_regions)),
            "security": security_spans,
        }
        self.kinds = dict(kinds) if kinds is not None else default_kinds()
        self.items = [_identifier(item) for item in identifiers]
        self.allow = frozenset(squeeze(a) for a in allow)
        parts: list[Spelled] = []
        rules: list[str] = []
        longest = MAX_WORDS
        for item in self.items:
            if item.kind != METADATA_KIND and item.kind not in self.kinds:
                raise ConfigError(
                    f"kind {item.kind!r} of a direct identifier is not declared; declared are "
                    f"{', '.join(sorted(self.kinds)) or 'none'} (identifiers.kinds)"
                )
            rule = self.rule_of(item.kind)
            written = _written(rule, item.value)
            forms = written.forms
            # What must stay secret is searched for, whatever the configuration allows.
            if self.allow and item.kind != METADATA_KIND:
                forms = {key: found for key, found in forms.items() if key not in self.allow}
            parts.append(forms)
            rules.append(rule)
            if written.most_words > longest:
                longest = written.most_words
        self.forms = Forms(parts)
        self._max_words = longest
        #: Listed days, with all that each may be.
        self.days = [
            (item, days_of(item.value))
            for item, rule in zip(self.items, rules, strict=True)
            if rule == DATE and days_of(item.value)
        ]
        #: Values that no form can find, for instance in a script without spaces: as they are.
        self.literals = [
            (item, _literal(item.value))
            for item in self.items
            if (item.kind == METADATA_KIND or _unspaced(item.value)) and not self.covers(item.value)
        ]
        #: Numbers by which listed ones are quoted.
        self.numbers = [
            (item, number)
            for item, rule in zip(self.items, rules, strict=True)
            if rule == "literal"
            and (number := _number_alone(item.value)) is not None
            and not any(number.fullmatch(allowed) for allowed in self.allow)
        ]
        self.rules = {name: kind.rule for name, kind in self.kinds.items() if kind.rule in SHAPES}
        self.patterns = {
            name: Pattern(kind.pattern, f"identifiers.kinds.{name}")
            for name, kind in self.kinds.items()
            if kind.pattern is not None
        }
        shown = sorted({k.placeholder for k in self.kinds.values()})
        self._placeholder = re.compile(
            "|".join(re.escape(p).replace(r"\#", r"\d+") for p in shown) or r"(?!)"
        )

    @cached_property
    def beginnings(self) -> set[str]:
        """All beginnings of all forms; made when the first text is searched."""
        return {key[:n] for key in self.forms.spellings for n in range(1, len(key) + 1)}

    @cached_property
    def _names_begun(self) -> dict[str, Form]:
        """Names by whose beginning one that was broken off is known."""
        first = ((key, self.forms.get(key)[0]) for key in self.forms.spellings)
        return {
            key: form
            for key, form in first
            if form.case in (ANY, CAPITAL, TITLE) and form.rule in ("name", "part", "first")
        }

    @classmethod
    def of(cls, identifiers: Iterable[Any] | None, config: IdentifiersConfig) -> Matcher:
        """Return the matcher of a document's identifiers under a configuration."""
        return cls(identifiers or (), config.kinds, config.allow, config.phone_regions)

    def rule_of(self, kind: str) -> str:
        """Return the rule of a kind; ``metadata`` for the value that must stay secret."""
        return METADATA_KIND if kind == METADATA_KIND else self.kinds[kind].rule

    def covers(self, value: str) -> bool:
        """Whether the names among the identifiers find all of a value where it stands in a text."""
        if _unspaced(value):
            return False
        text = f"x of {normalize(value).text.strip()} x"
        left = list(text[5:-2])
        for match in chain(self._listed_days(text), self._names(Words(text))):
            left[max(0, match.start - 5) : match.end - 5] = " " * (match.end - max(5, match.start))
        return bool(squeeze(value)) and not squeeze("".join(left))

    # ----------------------------------------------------------------------------- finding

    def find(self, text: str, small: bool = False) -> list[Match]:
        """Return the occurrences in a text, in order and without overlaps.

        Of overlapping candidates the one that starts first is taken, of those the longest. With
        ``small`` (:func:`is_in_small_letters`) parts of people's names need no capital letter.
        """
        return self.settle(text, self.candidates(text, small))

    def candidates(self, text: str, small: bool = False) -> list[Match]:
        """Return what may be an occurrence, by what stands around it.

        They can be looked for in parts of a text that overlap. Patterns of the configuration, which
        may look at anything, are left to :meth:`settle`.
        """
        found: list[Match] = []
        for plain in readings(text):
            looks = latin_looks(plain.text)
            for name, rule in self.rules.items():
                if rule != "pattern":
                    spans = (plain.span(*span) for span in self._finders[rule](looks))
                    found += self._spans(name, text, spans)
            names: Iterable[Match] = ()
            if self.forms:
                words = Words(plain.text)
                names = chain(self._names(words, small), self._spelled_out(words))
            for match in chain(self._listed_days(looks), names, self._numbers_alone(looks)):
                start, end = plain.span(match.start, match.end)
                found.append(match._replace(start=start, end=end))
        return found

    def settle(self, text: str, found: Iterable[Match]) -> list[Match]:
        """Return what :meth:`find` does, given the candidates."""
        found = list(found)
        if self.patterns or self.literals:
            for plain in readings(text):
                for name, pattern in self.patterns.items():
                    spans = [plain.span(*span) for span in pattern.spans(plain.text)]
                    found += self._spans(name, text, spans)
                for item, literal in self.literals:
                    for hit in literal.finditer(plain.text):
                        span = plain.span(*hit.span())
                        found.append(Match(*span, item.kind, item.placeholder, item.value, "name"))
        masked = self.placeholders(text)
        order = {name: n for n, name in enumerate(self.rules)}
        last = len(order)
        found.sort(key=lambda m: (m.start, -m.end, order[m.kind] if m.rule in SHAPES else last))
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

    def begun(self, text: str, found: Iterable[Match]) -> list[Match]:
        """Return short names of companies with which sentences begin, where the text tells them.

        A name that is an ordinary word ("Pioneer") may be that word where a sentence begins with
        it, but not in a text that has it as the name inside its sentences, twice and more, and
        never in small letters. What follows must be what companies do, or a colon. In headings,
        where every word has a capital, nothing need follow ("Signature Page to Pioneer Lease").

        Parameters
        ----------
        text : str
            A whole document.
        found : iterable of Match
            What :meth:`find` finds in it.
        """
        found = list(found)
        short: dict[str, list[Match]] = {}
        for match in found:
            word = text[match.start : match.end]
            if match.rule == "part" and self.rule_of(match.kind) == "company" and word.isalpha():
                short.setdefault(word, []).append(match)
        more: list[Match] = []
        acts = "|".join(_ACTS)
        for word, matches in short.items():
            plain = len(matches) > 1 and word.istitle() and len(word) > 2
            if not plain or re.search(rf"(?<!\w){re.escape(word.lower())}s?(?!\w)", text):
                continue
            taken = {match.start for match in matches}
            then = rf"(?= (?:{acts})\b|:\s|, (?:{_ASIDES})\b)"
            for hit in re.finditer(rf"(?<![\w'’-]){re.escape(word)}{then}", text):
                before = text[max(0, hit.start() - 8) : hit.start()]
                line = text.rfind("\n", 0, hit.start()) + 1 == hit.start()
                if hit.start() not in taken and (line or SENTENCE_END.search(before)):
                    more.append(matches[0]._replace(start=hit.start(), end=hit.end()))
            shown = rf"(?<![\w'’-])(?:{re.escape(word)}|{re.escape(word.upper())})(?![\w'’-])"
            for hit in re.finditer(shown, text):
                if hit.start() not in taken and _is_heading(text, *hit.span()):
                    more.append(matches[0]._replace(start=hit.start(), end=hit.end()))
        return [m for m in more if not any(m.start < f.end and f.start < m.end for f in found)]

    def placeholders(self, text: str) -> list[tuple[int, int]]:
        """Return where placeholders of the configured kinds stand; nothing is found inside."""
        return [m.span() for m in self._placeholder.finditer(text)]

    def _spans(self, name: str, text: str, spans: Iterable[tuple[int, int]]) -> Iterator[Match]:
        kind = self.kinds[name]
        for start, end in spans:
            value = text[start:end]
            if end > start and squeeze(value) not in self.allow:
                yield Match(start, end, name, kind.placeholder, value, kind.rule)

    def _listed_days(self, text: str) -> Iterator[Match]:
        """Days that are listed, however they are written."""
        for start, end, days in find_days(text) if self.days else ():
            for item, listed in self.days:
                if any(day.may_be(other) for day in days for other in listed):
                    yield Match(start, end, item.kind, item.placeholder, item.value, DATE)
                    break

    def _numbers_alone(self, text: str) -> Iterator[Match]:
        """Listed numbers without the letters and groups that belong to them."""
        for item, number in self.numbers:
            for hit in number.finditer(text):
                yield Match(*hit.span(), item.kind, item.placeholder, item.value, "literal")

    def _names(self, words: Words, small: bool = False) -> Iterable[Match]:
        if not self.forms:
            return
        text, beginnings, forms = words.text, self.beginnings, self.forms
        distinct = set(words.spelled)
        joined = self._joined(distinct)
        useful = {
            w
            for w in distinct
            if (f := fold(w)) in beginnings or (f[-1:] == "s" and f[:-1] in forms.spellings)
        }
        if not useful and not joined:
            return
        done = -1
        for i in [k for k, w in enumerate(words.spelled) if w in useful or w in joined]:
            if i <= done:
                continue
            if (form := joined.get(words.spelled[i])) is not None:
                item, done = self.items[form.owner], i
                yield Match(*words[i][1:], item.kind, item.placeholder, item.value, "part")
                continue
            key = fold(words.spelled[i])
            best: tuple[int, int, Form] | None = None
            j = i
            while True:
                known = forms.get(key)
                if known and (form := self._fits(text, words, i, j, known, small)):
                    best = (j, words[j][2], form)
                elif key not in beginnings and key[-1:] == "s" and fold(words.spelled[j]) != "s":
                    # Plural or possessive without an apostrophe: "SiTimes", "GCPs".
                    known = forms.get(key[:-1])
                    form = self._fits(text, words, i, j, known, small) if known else None
                    if form and len(key) > 3 and form.rule != "first" and is_capital(words[i][0]):
                        best = (j, words[j][2] - 1, form)
                if key not in beginnings or j + 1 >= len(words) or j + 1 - i >= self._max_words:
                    break
                gap = text[words[j][2] : words[j + 1][1]]
                if len(gap) > 4 and gap.strip():
                    break
                if gap.strip() and not GAP.fullmatch(gap):
                    break
                if gap.strip() and _STOPPED.match(gap) and self._ends(words[j][0]):
                    break
                j += 1
                key += fold(words.spelled[j])
            if best is None:
                if (form := self._cut_off(text, words, i)) is not None:
                    item, done = self.items[form.owner], i
                    yield Match(*words[i][1:], item.kind, item.placeholder, item.value, "part")
                continue
            last, end, form = best
            start, end, last = self._extend(text, words, i, last, end, form)
            item = self.items[form.owner]
            rule = "part" if form.rule in ("first", LABEL) else form.rule
            if form.is_single:
                rule = "name"
            if start >= 0:
                done = last
                yield Match(start, end, item.kind, item.placeholder, item.value, rule)

    def _spelled_out(self, words: Words) -> Iterator[Match]:
        """Names that somebody spells: "Q-U-I-L-L", "q for Quebec, u, i, double l".

        All that is spelled goes, first and last name alike.
        """
        for spelled in spelled_letters(words):
            said = ""
            for letter in _SPELLED_LETTER.finditer(spelled.group()):
                times = {"": 1, "double": 2}.get((letter["many"] or "").lower(), 3)
                said += times * fold(letter["letter"])
            best: Form | None = None
            length = max(2, min(_SPELLED_ENOUGH, round(_SPELLED_SHARE * len(said))) - 1)
            for i in range(len(said) - 2):
                for j in range(min(len(said), i + _SPELLED_MOST), i + length, -1):
                    known = [
                        f
                        for f in self.forms.get(said[i:j])
                        if f.case not in (LABEL, UPPER, INITIALS)
                        and (f.rule in ("name", "first") or f.last_name)
                    ]
                    if known:
                        best, length = known[0], j - i
                        break
            if best is None and len(said) >= _SPELLED_BEGUN:
                # only the beginning: "Q for Quebec, u, i, l, and so on"
                begun = [name for name in self._names_begun if name.startswith(said)]
                best = self._names_begun[min(begun)] if begun else None
            if best is not None:
                item = self.items[best.owner]
                yield Match(*spelled.span(), item.kind, item.placeholder, item.value, "part")

    @staticmethod
    def _ends(word: str) -> bool:
        """Whether a full stop behind a word ends a sentence: it abbreviates none."""
        return len(word) > _ABBREVIATED and fold(word) not in legal_words()

    def _joined(self, distinct: Iterable[str]) -> dict[str, Form]:
        """Words that a company's name is joined to, by the capital inside: MyMTN, AcmePay."""
        found = {}
        for word in distinct:
            # most have none, which is told faster
            if len(word) < 5 or (word.isascii() and (word.islower() or word.istitle())):
                continue
            if (cut := _INNER_CAPITAL.search(word)) is None:
                continue
            if fold(word) in self.forms.spellings:
                continue
            for part in (word[: cut.start()], word[cut.start() :]):
                for form in self.forms.get(fold(part)):
                    company = self.rule_of(self.items[form.owner].kind) == "company"
                    plain = form.case not in (ANY, UPPER) or (
                        form.case == UPPER and part != part.upper()
                    )
                    if company and len(part) > 2 and not plain and form.rule in ("name", "part"):
                        found[word] = form
        return found

    def _cut_off(self, text: str, words: Words, i: int) -> Form | None:
        """The name that a speaker broke off at word i, as transcripts write it: "Versar- we"."""
        word, _, end = words[i]
        if len(word) < 3 or not is_capital(word) or _CUT_OFF.match(text, end) is None:
            return None
        key = fold(word)
        if key in COMMON_WORDS or opens_sentence(word):
            return None
        begun = [name for name in self._names_begun if name.startswith(key)]
        return self._names_begun[min(begun)] if begun else None

    def _fits(
        self,
        text: str,
        words: Words,
        i: int,
        j: int,
        known: Sequence[Form],
        small: bool = False,
    ) -> Form | None:
        """The first form whose spelling words i to j have."""
        parts = words.spelled[i : j + 1]
        if _NEGATED.match(text, words.ends(j)):
            return None
        for form in known:
            if form.case == REVERSED:
                capitals = is_capital(parts[0]) and any(map(is_capital, parts[1:]))
                if not capitals or len(parts) != form.n_words:
                    continue
                # "Roe, Ann", "ROE Ann"
                there = text[words[i][1] : words[j][2]]
                forms = len(parts[0]) > 1 and parts[0].isupper() and not parts[-1].isupper()
                if forms or _LAST_FIRST.fullmatch(there):
                    return form
                continue
            if form.case == LABEL and len(parts) > 1:
                if _are_dotted(text, words, i, j):
                    return form
                continue
            if len(parts) != form.n_words:
                initials = form.case == UPPER or form.rule in ("first", "part")
                if initials and len(parts) > 1 and all(len(p) == 1 for p in parts):
                    # B.W.W. for BWW, J.J. for JJ; "B W W" could be anything.
                    dots = text[words[i][1] : words[j][1]].count(".")
                    inside = text[max(0, words[i][1] - 1) : words[i][1]] == "."
                    # "S.O." is no name of somebody who is called S.O.C.
                    inside = inside or _DOTTED_ON.match(text, words[j][2]) is not None
                    if dots == len(parts) - 1 and all(p.isupper() for p in parts) and not inside:
                        return form
                    continue
                # Split or joined spellings: only for names long enough not to arise by chance.
                length = sum(len(p) for p in parts)
                if length < 5 or not is_capital(parts[0]):
                    continue
                # Letters spread out one by one ("M o n r o") spell a name, short scraps do not.
                spelled = all(len(p) == 1 for p in parts)
                if not spelled and max(len(p) for p in parts) < 3:
                    continue
                if not spelled and form.rule != "name" and len(parts) > form.n_words + 1:
                    continue
            case = form.case
            if form.rule == "first" and _is_signed(text, words[i][1], words[j][2]):
                return form
            # "grace winter", of whom both are words: nothing in such a text has capitals
            whole = i < j and form.rule == "name" and case in (TITLE, CAPITAL)
            whole = whole and self.rule_of(self.items[form.owner].kind) == "person"
            if whole:
                span = (words[i][1], words[j][2])
                if small or _stands_alone(text, *span) or is_in_small_sentence(text, *span):
                    return form
            if case == CAPITAL and not is_capital(parts[0]):
                # "dear mrs quill", "quill_2.wav": a title or a file says as much as a capital
                last = form.rule == "part" and form.last_name != ""
                first = form.rule == "first"
                said = small and (last or first) and _is_a_name(parts)
                # "its ailsa again" among those who write otherwise
                said = said or (
                    first
                    and _is_a_name(parts)
                    and is_in_small_sentence(text, words[i][1], words[j][2])
                )
                if not said and not (
                    last
                    and (
                        self._context(text, words, i, form)
                        or _in_file(text, words[i][1], words[j][2])
                    )
                ):
                    continue
            if case == LABEL and not (
                parts[0].isupper()
                and _AFTER_INITIALS.match(text, words[j][2])
                and _LINE_BEGINS.search(text, max(0, words[i][1] - 24), words[i][1])
            ):
                continue
            if case == TITLE and not all(is_capital(p) or fold(p) in SMALL_WORDS for p in parts):
                continue
            if case in (UPPER, CONTEXT) and form.rule in ("ticker", "name", "part"):
                if form.rule == "ticker" or case == UPPER:
                    # "h&p" where nothing has capitals: hardly a word is written with that sign
                    span = (words[i][1], words[j][2])
                    said = "&" in text[slice(*span)] and (
                        small or is_in_small_sentence(text, *span)
                    )
                    if not said and not all(_is_upper(p) for p in parts):
                        continue
                elif not is_capital(parts[0]) and not (
                    # "mr bell" of "Mr. Bell", who has no other name here
                    (form.last_name or form.rule == "part") and self._titled(text, words, i, form)
                ):
                    continue
            if case == CONTEXT and not (
                self._context(text, words, i, form)
                or self._titled(text, words, i, form)
                or (form.last_name and self._amid(text, words, i, j))
                or (form.last_name and self._speaks(text, words, i, j))
                or (form.last_name and _has_initials_behind(text, words, i, j, form))
            ):
                continue
            if case in HEADS and not self._heads(text, words, i, j, case):
                start, end = words[i][1], words[j][2]
                # "its ann from velvet antler again", but not "in healthcare realty we lead"
                several = case in (HEAD, BRAND) and i < j
                own = several and text[start:end] == " ".join(parts)
                own = own and not any(fold(p) in DESCRIPTORS for p in parts)
                if not (own or (case == START and _is_a_name(parts))):
                    continue
                if not is_in_small_sentence(text, start, end):
                    continue
                return form
            if not form.opening and SENTENCE_END.search(
                text[max(0, words[i][1] - 8) : words[i][1]]
            ):
                # A sentence may start with this word; what follows decides.
                after = text[words[j][2] : words[j][2] + 2]
                if (
                    after[:1] not in (",", ".", "?", "!")
                    and after not in ("'s", "’s")
                    and not self._of_somebody(text, words, j)
                    and not self._speaks(text, words, i, j)
                ):
                    continue
            if form.rule == "first" and self._is_month(text, words, i, j):
                continue
            if form.rule == "first" and parts[0].isupper() and fold(parts[0]) in GENERATIONS:
                continue  # "phase IV" beside an executive called Iv
            if form.rule == "first" and not self._alone(text, words, j, form):
                continue
            return form
        return None

    @staticmethod
    def _context(text: str, words: Words, i: int, form: Form) -> bool:
        """Whether a name that is an ordinary word stands where a name must be."""
        before = text[max(0, words[i][1] - 24) : words[i][1]]
        if form.rule == "ticker":
            return bool(
                re.search(
                    r"\b(?:ticker|symbol|nyse|nasdaq|amex|lse|otcqx|otc)\W+(?:\w+\W+)?$"
                    r"|\b(?:shares|stock) of $",
                    before,
                    re.IGNORECASE,
                )
                or _TRADES.match(text, words[i][2])
                # "Condor (K)", not "401(K)" or "Class (A)"
                or (
                    len(words[i][0]) == 1
                    and text.startswith(")", words[i][2])
                    and _BEHIND_NAME.search(before)
                )
            )
        if i and words[i - 1][2] >= words[i][1] - 2:
            word = words[i - 1][0]
            dotted = text[words[i - 1][2] : words[i][1]][:1] == "."
            initial = dotted and len(word) == 1 and word == form.first_name[:1].upper()
            if initial or fold(word) in _BEFORE_NAMES or fold(word) in RANKS:
                return True
            return len(word) == 1 and Matcher._initialed(before, form)
        return False

    @staticmethod
    def _initialed(before: str, form: Form) -> bool:
        """Whether initials of whom a form names stand before it: "Cllr C Day", "C Day".

        Without a title behind no other capital ("Class C Day") and no "A" or "I".
        """
        found = _INITIALED.search(before)
        if found is None or found["first"] != form.first_name[:1].upper():
            return False
        title = (found["title"] or "").strip()
        word = fold(title.strip("."))
        if word in _BEFORE_NAMES or word in RANKS:
            return True
        # what ends with a full stop is the sentence before, which a chunk may not have
        behind = title[:1].isupper() and not title.endswith(".")
        return found["first"] not in "AI" and not behind

    @staticmethod
    def _titled(text: str, words: Words, i: int, form: Form) -> bool:
        """Whether a word in small letters stands behind a title: "cllr early", "cllr w early"."""
        found = _TITLED_SMALL.search(text, max(0, words.starts(i) - 24), words.starts(i))
        first = (found["first"] or "") if found else ""
        return found is not None and first in ("", form.first_name[:1].lower())

    @staticmethod
    def _speaks(text: str, words: Words, i: int, j: int) -> bool:
        """Whether a name that is a word is a line's label or heads a list of people.

        "Day: Can I just say", "Absent: Day, Hall".
        """
        start, end = words.starts(i), words.ends(j)
        if _SPEAKS.match(text, end) and _LINE_BEGINS.search(text, max(0, start - 24), start):
            return True
        listed = _LISTED.match(text, end) is not None
        return listed and _LISTS_PEOPLE.search(text, max(0, start - 60), start) is not None

    @staticmethod
    def _is_month(text: str, words: Words, i: int, j: int) -> bool:
        """Whether a name that is a month's is one here: beside a number, or "in May"."""
        if fold(words.spelled[i]) not in _MONTHS:
            return False
        # behind a dash a line of a chronology begins: "19 March 2016 - April born"
        behind = i and not text[words.ends(i - 1) : words.starts(i)].strip(" ")
        before = words.spelled[i - 1] if behind else ""
        after = words.spelled[j + 1] if j + 1 < len(words) else ""
        owns = _POSSESSIVE.match(text, words.ends(j)) is not None
        dated = before[:1].isdigit() or (fold(before) in _DATED and not owns)
        return dated or (after[:1].isdigit() and words.starts(j + 1) - words.ends(j) < 3)

    @staticmethod
    def _of_somebody(text: str, words: Words, j: int) -> bool:
        """Whether what follows is said of people: "Will has a cough"."""
        if _VERSUS.match(text, words.ends(j)) or _OF_SOMEBODY_THEN.match(text, words.ends(j)):
            return True
        there = j + 1 < len(words) and text[words.ends(j) : words.starts(j + 1)] == " "
        return there and words.spelled[j + 1] in _OF_SOMEBODY

    @staticmethod
    def _is_party(text: str, start: int, end: int) -> bool:
        """Whether a name is all that stands before the other party's: "Page v Roe"."""
        line = text[max(0, start - 24) : start]
        return _VERSUS.match(text, end) is not None and _LINE_BEGINS.search(line) is not None

    def _amid(self, text: str, words: Words, i: int, j: int) -> bool:
        """Whether a capitalised ordinary word stands where it must be a last name.

        Inside a sentence ("we saw Hill again"), or where what follows is said of people, but beside
        no other capitalised word ("Chapel Hill"), no number and no article ("on the Hill").
        """
        start, end = words.starts(i), words.ends(j)
        parts = words.spelled[i : j + 1]
        if all(map(is_capital, parts)) and self._is_party(text, start, end):
            return True
        if not all(map(is_capital, parts)) or any(len(p) > 1 and p.isupper() for p in parts):
            return False
        if text[start - 1 : start] in tuple("-‐‑/&_.") or text[end : end + 1] in tuple("-‐‑/&_"):
            return False
        if self._is_month(text, words, i, j):
            return False
        if _SIGNED.search(text, max(0, start - 60), start) and _SIGNS.match(text, end):
            return True
        owns = _POSSESSIVE.match(text, end) is not None
        if _CITED.match(text, end) and fold(parts[0]) not in _SEASONS:
            beside = i > 0 and text[words.ends(i - 1) : start] == " "
            before = words.spelled[i - 1] if beside else ""
            barred = fold(before) in _NO_PERSON or before[:1].isdigit()
            return not barred and (not before[:1].isupper() or opens_sentence(before))
        line = text.rfind("\n", 0, start) + 1
        opens = not text[line:start].strip()
        opens = opens or _PLACEHOLDER_BEFORE.search(text, max(0, start - 40), start) is not None
        if opens or SENTENCE_END.search(text[max(0, start - 8) : start]):
            if not owns and not self._of_somebody(text, words, j):
                return False
        elif text[start - 1] == " " and i and words.ends(i - 1) == start - 1:
            before = words.spelled[i - 1]
            joins = before == "that" and self._of_somebody(text, words, j)  # "agreed that Page had"
            if (
                fold(before) == "the"
                and j + 1 < len(words)
                and text[end : words.starts(j + 1)] == " "
            ):
                joins = words.spelled[j + 1] in _KIN
            if (fold(before) in _NO_PERSON and not joins) or before[:1].isdigit():
                return False
            joins = joins or fold(before) in _JOINING
            if before[:1].isupper() and not opens_sentence(before) and not joins:
                return False
        if j + 1 < len(words) and text[end : words.starts(j + 1)] == " ":
            after = words.spelled[j + 1]
            return not is_capital(after) or opens_sentence(after)
        return True

    @staticmethod
    def _heads(text: str, words: Words, i: int, j: int, case: str) -> bool:
        """Whether a piece of a name, made of ordinary words, stands for the name here."""
        start, end = words[i][1], words[j][2]
        before, after = text[max(0, start - 24) : start], text[end : end + 24]
        if case == BRAND and _BRAND.match(after):
            return True
        parts = words.spelled[i : j + 1]
        owns = bool(_POSSESSIVE.match(after)) or (
            fold(parts[-1]) == "s" and text[words[j][1] - 1 : words[j][1]] in ("'", "’")
        )
        if case == INITIALS:
            return all(p.isupper() or p == "&" for p in parts) and (
                owns or bool(_FORMER.search(before))
            )
        if not all(is_capital(p) or fold(p) in SMALL_WORDS for p in parts[: -1 if owns else None]):
            return False
        if not is_capital(parts[0]):
            return False
        if owns:
            return True
        if case == POSSESSIVE:
            return False
        if case == START:
            # one behind a comma is another's: "Unlike Globex, Arqit grew"
            beside = i > 0 and text[words[i - 1][2] : start] == " "
            previous = words.spelled[i - 1] if beside else ""
            closed = SENTENCE_END.search(before[-8:])
            return bool(closed) or not previous[:1].isupper() or opens_sentence(previous)
        # A sentence may begin with an ordinary word, but hardly goes on with another capital,
        # unless all of it is written so.
        if before[-1:] == "@":
            return True
        several = i < j and case in (HEAD, BRAND)
        if several and all(p.isupper() and len(p) > 1 for p in parts):
            return True  # "URGENT DELTA HARBOR"
        if several and _ON_ITS_OWN.match(after):
            return True  # "Delta Harbor | Head of Infrastructure", "(Delta Harbor)"
        if SENTENCE_END.search(before[-8:]):
            beyond = words.spelled[j + 1] if j + 1 < len(words) else ""
            if beyond in _OF_COMPANIES and after[:1] == " ":
                return True
            if not (i < j and is_capital(parts[-1]) and beyond[:1].islower()):
                return False
        # Capital letters around it: a title, or another name that the word is a part of.
        following = words.spelled[j + 1] if j + 1 < len(words) and after[:1] == " " else ""
        if following[:1].isupper() and text[end : words[j + 1][1]] == " ":
            bodies = fold(following) in DESCRIPTORS or fold(following) in _BODIES
            return bodies or opens_sentence(following)
        previous = words.spelled[i - 1] if i and text[words[i - 1][2] : start] == " " else ""
        return not previous[:1].isupper() or opens_sentence(previous)

    @staticmethod
    def _alone(text: str, words: Words, j: int, form: Form) -> bool:
        """Whether a first name is not followed by somebody else's last name."""
        if j + 1 >= len(words):
            return True
        word, start, _ = words[j + 1]
        if text[words[j][2] : start] != " " or not word[:1].isupper() or word.isupper():
            return True
        if not form.last_name:
            return True
        return (
            fold(word) in COMMON_WORDS or opens_sentence(word) or sounds_like(word, form.last_name)
        )

    @staticmethod
    def _legal_end(text: str, words: Words, j: int, end: int) -> tuple[int, int]:
        """Take in " International AG" and the like: what a legal form ends, after the name."""
        at, last = j, j
        while at + 1 < len(words) and at - j < 4 and words[j][2] == end:
            word = words.spelled[at + 1]
            gap = text[words[at][2] : words[at + 1][1]]
            if gap not in (" ", ", ") or not is_capital(word):
                break
            if gap != " " and fold(word) not in legal_words() and fold(word) not in DESCRIPTORS:
                break
            at += 1
            if fold(word) in legal_words():
                last = at
        if last == j and (dotted := _DOTTED_FORM.match(text, end)):
            while last + 1 < len(words) and words[last + 1][2] <= dotted.end():
                last += 1
            return dotted.end(), last
        return (words[last][2], last) if last > j else (end, j)

    @staticmethod
    def _behind_initials(
        text: str, words: Words, j: int, end: int, start: int, form: Form
    ) -> tuple[int, int]:
        """Take in the last name behind a middle initial: "Ann B. Roe"."""
        at = next((k for k in range(j + 1, len(words)) if words.starts(k) >= start), len(words))
        spelled = ""
        for k in range(at, min(at + 3, len(words))):
            spelled += fold(words.spelled[k])
            if form.last_name and spelled == squeeze(form.last_name):
                return words.ends(k), k
        if at < len(words) and form.last_name and sounds_like(words.spelled[at], form.last_name):
            return words.ends(at), at
        return end, j

    def _extend(
        self,
        text: str,
        words: Words,
        i: int,
        j: int,
        end: int,
        form: Form,
    ) -> tuple[int, int, int]:
        """Take in what belongs to a name: legal forms, a misheard first or last name."""
        start = words[i][1]
        rule = self.rule_of(self.items[form.owner].kind)
        if rule == "company":
            legal = legal_words()
            while j + 1 < len(words) and words[j][2] == end:
                word, begin, stop = words[j + 1]
                gap = text[end:begin]
                if gap not in (" ", ", ") or fold(word) not in legal or not is_capital(word):
                    break
                end, j = stop, j + 1
            end, j = self._legal_end(text, words, j, end)
            if _OWN_STOP.match(text, end) and (
                fold(words.spelled[j]) in legal or _DOTTED.search(text, start, end)
            ):
                end += 1
        elif rule == "person" and form.rule == "first" and j + 1 < len(words):
            # A misheard last name, or the last name of somebody known by the first alone.
            word, begin, stop = words[j + 1]
            named = text[end:begin] == " " and word[:1].isupper() and not word.isupper()
            last = any(f.rule == "part" and f.last_name for f in self.forms.get(fold(word)))
            other = not opens_sentence(word) and fold(word) not in COMMON_WORDS
            if named and (
                last or (other and (not form.last_name or sounds_like(word, form.last_name)))
            ):
                end, j = stop, j + 1
            elif between := _INITIALS_BETWEEN.match(text, end):
                end, j = self._behind_initials(text, words, j, end, between.end(), form)
        elif rule == "person" and form.rule == "part" and i:
            word, begin, stop = words[i - 1]
            initials = _INITIALS_ALONE.search(text, max(0, start - 12), start)
            # "A. Roe", "J. P. Roe", "K Roe"; "I" and "A" alone are words
            told = initials and (initials["dot"] != " " or initials.group(1) not in "AI")
            if initials and told and initials.group(1) == form.first_name[:1].upper():
                start = initials.start()
            first = _FIRST_AND_INITIALS.search(text, max(0, start - 40), start)
            if first and fold(first["first"]) == fold(form.first_name):
                start = first.start()  # "May B. Roe", of which the first is a word
            elif text[stop:start] == " " and word[:1].isupper() and len(word) > 1:
                names = {fold(form.first_name), *NICKNAMES.get(fold(form.first_name), ())}
                # Somebody else with an executive's first name: left there, it would name that one.
                known = any(f.rule == "first" for f in self.forms.get(fold(word)))
                if (
                    known
                    or fold(word) in names
                    or (word[0] == form.first_name[:1] and fold(word) not in COMMON_WORDS)
                ):
                    start = begin
        if rule == "person":
            # Half of a double name: "[Executive 1]-Gaztelu" would tell the rest.
            while (part := _DOUBLE_AFTER.match(text, end)) is not None:
                end = part.end()
                while j + 1 < len(words) and words[j + 1][2] <= end:
                    j += 1
            behind = _INITIALS_BEHIND.match(text, end) if form.rule == "part" else None
            if behind and behind["first"] == form.first_name[:1].upper():
                end = behind.end()
                while j + 1 < len(words) and words[j + 1][2] <= end:
                    j += 1
            if part := _GENERATION_AFTER.match(text, end):
                end = part.end()
                while j + 1 < len(words) and words[j + 1][2] <= end:
                    j += 1
            if part := _INITIALS_BEFORE.search(text, max(0, start - 16), start):
                start = part.start("all")
            if part := _DOUBLE_BEFORE.search(text, max(0, start - 40), start):
                start = part.start()
        # What was broken off before it: "R-Rob", "Ac- Acme".
        name = fold(words.spelled[i])
        while part := _BROKEN_OFF.search(text, max(0, start - 24), start):
            if not name.startswith(fold(part.group(1))):
                break
            start = part.start()
        if form.case == LABEL and j > i and text.startswith(".", end):
            end += 1  # "R.G."
        value = self.items[form.owner].value
        if rule == "company" and (whole := _named_with_s(value, text, start, end)) >= end:
            # "Tanner's Brook", "St Oswald's": the rest would tell half of the name, or how it ends
            end = whole
            while j + 1 < len(words) and words[j + 1][2] <= end:
                j += 1
        elif text[end - 2 : end] in ("'s", "’s"):
            end -= 2
        if text[end : end + 1] == ")" and "(" in text[start:end]:
            end += 1
        return start, end, j
