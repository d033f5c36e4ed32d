"""Who speaks in a transcript that names each speaker on a line of its own, and what nobody said.

Vendors, web portals and companies write "Ann Roe -- Chief Executive Officer", "**Ann Roe**", or a
name with the title below it. Between what is said stand rules, page headers and numbers of slides.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from nes_spark.text.sentences import word_set
from nes_spark.text.vocabulary import COMMON_WORDS, PARTICLES


class Mark(NamedTuple):
    """A stretch of lines that is not speech: half-open, and whose speech follows.

    ``speaker`` is "" behind a heading behind which nobody speaks, None where the same one goes on.
    """

    start: int
    end: int
    speaker: str | None


class _Line(NamedTuple):
    start: int
    end: int
    text: str
    numbered: bool = False


_ROLE = re.compile(
    r"\b(?:chief|officer|C[EFOTIM]O|president|chair(?:man|woman|person)?|director|analysts?|head|"
    r"[ES]?VP|vice|investors?|IR|manager|managing|treasurer|counsel|controller|founder|partner|"
    r"secretary|executive|moderator|host)\b",
    re.IGNORECASE,
)
_OPERATOR = re.compile(r"(?:(?:conference |call )?operator|moderator|coordinator)", re.IGNORECASE)
_PARTICIPANTS = re.compile(
    r"(?:(?:corporate|company|conference call|call|event|other|management|analyst|executive)\s)?"
    # one vendor writes them wrong on every front page
    r"(?:participi?ants|attendees|executives|analysts|speakers)",
    re.IGNORECASE,
)
#: How one vendor counts turns, behind who speaks: "Ann Roe, Acme Inc. - CFO   [3]". Rules stand
#: above and below; elsewhere it is a note's number ("as was shown before [3]").
_COUNTED = re.compile(r"\s+\[\d{1,4}\]$")
_RULE = re.compile(r"[.·_=*~–—-]{5,}")
#: Whatever it calls them.
_LABEL = re.compile(r"[^\W\d_][\w.'’ -]{0,49}")
#: Behind such a heading nobody speaks any more.
_NOTICE = re.compile(
    r"(?:legal |important )?(?:disclaimer|notice|disclosures?)|definitions|copyright policy|"
    r"about (?:the|this) transcript",
    re.IGNORECASE,
)
#: What a page or a slide has beside what is said.
_BESIDE = re.compile(
    r"[.·_=*~–—-]{5,}|[\[(]?(?:slide|page)s? (?:no\. ?)?\d+(?: (?:of|/) \d+)?[\])]?|"
    r"[-–—(]? ?\d{1,3} ?[-–—)]?|\d{1,3} (?:of|/) \d{1,3}|total pages: \d+|"
    r".{0,60}(?:©|\(c\)|\bcopyright\b) ?.{0,90}",
    re.IGNORECASE,
)
_DASH = re.compile(r"\s+(?:--+|[-–—|])\s+")
_ANSWERS = re.compile(r"\s+(?:[<\[(]?[QA][>\])]?|\((?:question|answer)\))$")
_SUFFIX = re.compile(r",? (?:[JS]r\.?|I{2,3}|IV|Ph\.?D\.?|M\.?D\.?|MBA|CFA|CPA|Esq\.?)$")
_NICKNAME = re.compile(r" [(“\"][A-Z][\w.'’-]+[)”\"](?= )")
#: Who spoke, where nobody knows.
_NOBODY = re.compile(
    r"(?:unidentified|unknown) (?:company |male |female )?"
    r"(?:analyst|speaker|participant|executive|representative|attendee|shareholder)",
    re.IGNORECASE,
)
#: A particle that is one word with its name: "deSouza", "d'Arcy".
_JOINED = re.compile(r"(?:d[aeiu]|van|von|l[ae]|[dl]['’])[A-Z]")
_TITLED = re.compile(r"^(?:Mr|Ms|Mrs|Dr|Prof)\.? ")
_WORD = re.compile(r"(?:[^\W\d_]['’])?[^\W\d_]+(?:['’-][^\W\d_]+)*|[^\W\d_]\.(?:[^\W\d_]\.)?|St\.")
_NO_NAMES = word_set(
    "inc corp corporation company co plc ltd llc group holdings bank capital partners quarter year "
    "results call transcript participants session section presentation remarks statement "
    "statements disclaimer slide questions question answers answer and the of for our with "
    "first second third fourth full half earnings conference webcast dial-in replay agenda outlook "
    "guidance review update highlights overview"
)
_ABBREVIATED = re.compile(r"\b(?:Inc|Co|Corp|Ltd|Jr|L\.P|N\.A)\.$")
#: Titles and other lines that nobody says are not longer, those that stand on every page shorter.
_TITLE, _HEADER = 160, 100


def _name(text: str) -> str | None:
    """Return the name that a line or the part of a line before a dash is.

    >>> _name("Ann K. Roe, Ph.D."), _name("Bo van der Poe III    A"), _name("Net Results")
    ('Ann K. Roe', 'Bo van der Poe', None)
    >>> _name("Cy deSouza"), _name("Cy joined")
    ('Cy deSouza', None)
    """
    text = _NICKNAME.sub("", _TITLED.sub("", _ANSWERS.sub("", text.strip())))
    while (plain := _SUFFIX.sub("", text)) != text:
        text = plain
    words = text.split()
    if not 2 <= len(words) <= 6 or len(text) > 50:
        return None
    for n, word in enumerate(words):
        low = word.lower().strip(".")
        if low in _NO_NAMES or not _WORD.fullmatch(word):
            return None
        small = not word[0].isupper() and not _JOINED.match(word)
        if small and not (low in PARTICLES and n + 1 < len(words)):
            return None
    return " ".join(words)


def _key(name: str) -> str:
    """A name as it is counted: "Ann K. Roe" and "Ann Roe" are one."""
    words = [w for w in name.lower().split() if len(w.strip(".")) > 1]
    return " ".join(words)


def _lines(text: str) -> list[_Line]:
    """All lines, empty ones too, without what makes them bold and the number of a turn."""
    found = []
    at = 0
    for line in text.split("\n"):
        plain = line.strip()
        bare = re.sub(r"[*_#]+", "", plain).strip()
        found.append(_Line(at, at + len(line), bare or plain))
        at += len(line) + 1
    for n in range(1, len(found) - 1):
        who = _COUNTED.sub("", found[n].text)
        rules = _RULE.fullmatch(found[n - 1].text) and _RULE.fullmatch(found[n + 1].text)
        if rules and who != found[n].text:
            found[n] = found[n]._replace(text=who, numbered=True)
    return found


def _beside(lines: Sequence[_Line]) -> list[bool]:
    """Which lines are rules, numbers of slides and pages, or what stands on every page."""

    def shape(line: str) -> str:
        return re.sub(r"\d+", "0", line) if len(line) <= _HEADER else ""

    shapes = [shape(line.text) for line in lines]
    often = Counter(shapes)
    return [
        0 < len(line.text) <= _TITLE
        and not line.numbered
        and (
            bool(_BESIDE.fullmatch(line.text))
            # Said lines end with a full stop, and names are no headers of pages.
            or (
                len(form) > 4
                and often[form] >= 3
                and line.text[-1] not in ".?!"
                and _name(line.text.rstrip(":")) is None
                and not _OPERATOR.fullmatch(line.text)
                and not _ROLE.search(line.text)
            )
        )
        for line, form in zip(lines, shapes, strict=True)
    ]


class _Candidate(NamedTuple):
    first: int  # the line
    last: int  # the last line of its title
    name: str  # "" for a heading
    titled: bool


def _titles(lines: Sequence[_Line], blank: Sequence[bool], at: int) -> int:
    """The last line of a title that begins below a name, or the line before."""
    last = at - 1
    while last + 1 < len(lines) and not blank[last + 1] and last + 1 < at + 3:
        last += 1
    closed = last + 1 >= len(lines) or blank[last + 1]
    whole = " ".join(line.text for line in lines[at : last + 1])
    # A sentence is no title: "Our president is here."
    sentence = whole[-1:] in tuple("?!") or (whole.endswith(".") and not _ABBREVIATED.search(whole))
    if closed and len(whole) <= _TITLE and _ROLE.search(whole) and not sentence:
        return last
    return at - 1


def _marks(
    lines: Sequence[_Line],
    beside: Sequence[bool],
    candidates: Sequence[_Candidate],
    listed: set[str],
) -> list[Mark]:
    """Keep the lines of who is known by a title, or, where nobody is, of who speaks again."""
    known = listed | {_key(c.name) for c in candidates if c.titled and c.name}
    known.discard("")
    if not known:
        often = Counter(_key(c.name) for c in candidates)
        mine = {n for c in candidates for n in range(c.first, c.last + 1)}
        spoken = " ".join(line.text for n, line in enumerate(lines) if n not in mine)
        said = set(re.findall(r"[^\W\d_]+", spoken.lower()))
        known = {
            key
            for key, n in often.items()
            # who speaks once is called by name, by who opens the call for one
            if (n > 1 or (often["operator"] and said.issuperset(key.split())))
            and not set(key.split()) <= COMMON_WORDS
        }
    named = [c for c in candidates if not c.name or c.name == "Operator" or _key(c.name) in known]
    starts = {c.first for c in named}
    filled = [n for n, line in enumerate(lines) if line.text]
    behind = dict(pairwise(filled))
    speaking = [c for c in named if c.name and c.last in behind and behind[c.last] not in starts]
    people = {_key(c.name) for c in speaking} - {"operator"}
    operator = any(c.name == "Operator" for c in speaking)
    if len(speaking) < 3 or not people or len(people) + operator < 2:
        return []
    marks = [Mark(lines[c.first].start, lines[c.last].end, c.name) for c in named]
    taken = {n for c in named for n in range(c.first, c.last + 1)}
    marks += [
        Mark(line.start, line.end, None)
        for n, line in enumerate(lines)
        if beside[n] and n not in taken
    ]
    return sorted(marks)


def lists_people(text: str) -> bool:
    """Return whether a text is a front page: a line of it is a heading over who takes part.

    Examples
    --------
    >>> lists_people("Acme Inc.\\n**Company Participants**\\nAnn Roe - CEO"), lists_people("Hello.")
    (True, False)
    """
    return any(_PARTICIPANTS.fullmatch(line.text.rstrip(":")) for line in _lines(text))


def speaker_lines(text: str) -> list[Mark]:
    """Find the lines that name who speaks next, and those that nobody says.

    Parameters
    ----------
    text : str
        A whole transcript.

    Returns
    -------
    list of Mark
        In order; empty where speakers do not stand on lines of their own.

    Examples
    --------
    >>> call = "Operator\\n\\nHello.\\n\\nAnn Roe -- CEO\\n\\nGood day.\\n\\nAnn Roe\\n\\nYes."
    >>> [(mark.speaker, call[mark.start : mark.end]) for mark in speaker_lines(call)]
    [('Operator', 'Operator'), ('Ann Roe', 'Ann Roe -- CEO'), ('Ann Roe', 'Ann Roe')]
    """
    lines = _lines(text)
    beside = _beside(lines)
    blank = [b or not line.text for b, line in zip(beside, lines, strict=True)]
    candidates: list[_Candidate] = []
    listing = False
    listed: set[str] = set()
    n = 0
    while n < len(lines):
        line = lines[n]
        if blank[n]:
            n += 1
            continue
        if _PARTICIPANTS.fullmatch(line.text.rstrip(":")):
            listing = True
            candidates.append(_Candidate(n, n, "", True))
        elif _NOTICE.fullmatch(line.text.rstrip(":")):
            listing = False
            candidates.append(_Candidate(n, n, "", False))
        elif _OPERATOR.fullmatch(line.text.rstrip(":")):
            listing = False
            candidates.append(_Candidate(n, n, "Operator", False))
        else:
            parts = _DASH.split(line.text.rstrip(":"), maxsplit=1)
            if line.numbered:
                # the company and the title behind the name
                head, comma, behind = line.text.partition(",")
                parts = [head, behind] if comma else [*parts, ""][:2]
            elif len(parts) == 1 and _ROLE.search(line.text):
                parts = line.text.split(", ", 1)
                while len(parts) > 1 and _SUFFIX.search(", " + parts[1].split(",")[0]):
                    parts = [parts[0], *parts[1].split(", ", 1)[1:]]
            name = _name(parts[0]) if len(line.text) <= _TITLE else None
            if line.numbered and name is None and _LABEL.fullmatch(parts[0].strip()):
                name = parts[0].strip()  # a first name, or "Speaker 3"
            apart = n == 0 or blank[n - 1] or listing or lines[n - 1].text[-1] in '.?!:]”"'
            if name and apart:
                titled = line.numbered or bool(
                    _NOBODY.fullmatch(name) or _ROLE.search(" ".join(parts[1:]))
                )
                last = n
                if len(parts) == 1:
                    last = _titles(lines, blank, n + 1)
                    titled |= last > n
                if len(parts) == 1 or titled or listing:
                    if listing and (titled or len(parts) > 1):
                        listed.add(_key(name))
                    candidates.append(_Candidate(n, last, name, titled))
                    n = last
            elif len(line.text) > _TITLE:
                listing = False
        n += 1
    return _marks(lines, beside, candidates, listed)
