"""The presentation part of an earnings call (paper, section 3.1.1).

A call is read as a list of turns. The question session starts where somebody calls the first
question, opens the lines, or, failing that, where a first question is asked. Rules look at wording
only; speaker names help to tell the operator but are not needed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from nes_spark.text.sentences import split_sentences, word_set
from nes_spark.text.speaker_lines import Mark, lists_people, speaker_lines


@dataclass(frozen=True)
class Turn:
    """One speaker turn: what was said, by whom (label as given) and the speaker's id if known.

    What nobody said, such as a front page or a notice behind a call, has ``said`` false.
    """

    text: str
    speaker: str = ""
    speaker_id: str | None = None
    said: bool = True


@dataclass(frozen=True)
class Presentation:
    """What :func:`find_presentation` found.

    Attributes
    ----------
    turns : tuple of Turn
        Turns of the presentation in order, without the operator's when those are dropped; the last
        one is shortened when questions start inside it. Empty when there is no presentation.
    indices : tuple of int
        0-based positions of those turns in the input.
    qa_start_turn : int or None
        The first turn wholly after the presentation; None when no question session was found.
    boundary : str
        The rule that ended it: ``first_question`` (somebody calls the first question),
        ``session_opened`` (the session is declared open), ``handover`` (a speaker asks for
        questions), ``heading`` (a line such as "Question-and-Answer Session"), ``asked`` (the
        first turn that asks), ``no_questions`` (none found, everything kept), ``interview``
        (questions from the start, nothing kept), ``none`` (method none).
    """

    turns: tuple[Turn, ...]
    indices: tuple[int, ...]
    qa_start_turn: int | None
    boundary: str


_FLAGS = re.IGNORECASE
_QA = (
    r"(?:questions?[- ](?:and|&)[- ]answers?|q\s?(?:&|and|n)\s?a\b|q-and-a|qa\s?&|"
    r"questions? (?:session|period))"
)

# Somebody calls the first question now.
_FIRST_QUESTION = re.compile(
    r"\b(?:first|1st)(?: (?:audio|phone|telephone|live|web|webcast|online|analyst|and|only|few|two|"
    r"set of|caller's|participant's)){0,2} questions?\b"
    r"(?! (?:i|we|that i|that we|you|people|on everyone)\b)"
    r"[^.?!]{0,60}?\b(?:from|line of|comes?|coming|is with|goes to)\b"
    r"|\b(?:go|start|begin|turn|moving) first (?:to|with)\b(?=[^.?!]{0,60}?\b(?:of|with|from|at)\b)"
    r"|\b(?:take|have|get|hear|go to|move to|start with|begin with|proceed with)\b[^.?!]{0,25}?"
    r"\b(?:first|1st) (?:\w+ )?(?:question|caller|analyst)\b"
    r"|\bfirst (?:question|caller|in (?:the )?(?:queue|line))\b[^.?!]{0,40}?\b(?:is|from|we have)\b"
    r"|\bfirst (?:on the line|up|in line|person)\b[^.?!]{0,25}?\b(?:from|with|of)\b"
    r"|\b(?:we|you) have (?:a|the|your|our) (?:first )?question (?:coming |here )?(?:from|by)\b"
    r"|\bfirst questions?,[^.?!]{0,60}?\b(?:from|of|with)\b"
    r"|\bquestion (?:comes|is coming|coming) (?:\w+ )?from the line of\b",
    _FLAGS,
)
# One of these is in every match, in small letters.
_ABOUT_FIRST = (
    "question", "caller", "analyst", "first to", "first with", "first in ", "first on the line",
    "first up", "first person",
)  # fmt: skip
# The session is declared open now.
_SESSION = re.compile(
    r"\b(?:(?:we|i)(?:'ll| will| are| shall|'re)?|let's|let us|now|time to|"
    r"(?:going|like|want) to)\b"
    r"[^.?!]{0,30}?\b(?:begin|start|starting|commence|conduct|conducting|open|opening|move|moving|"
    r"proceed|proceeding|go|going|enter|turn|take|taking|pass|come|have|initiate|do)\b"
    rf"[^.?!]{{0,50}}?\b{_QA}"
    rf"|\b{_QA}[^.?!]{{0,20}}? (?:is now open|will (?:now )?(?:begin|start)|has (?:begun|started)|"
    r"starts now|begins now|will (?:begin|start) (?:now|at this time))"
    r"|\bthe (?:floor|lines?|call) (?:is|are) now (?:open|opened)\b"
    r"|\b(?:floor|lines?|call) (?:is|are) (?:now )?open(?:ed)? (?:for|to) (?:any )?questions\b"
    rf"|\bthis is the beginning of the {_QA}"
    r"|\bwe(?:'ll| will) now (?:take|begin|start|open)[^.?!]{0,30}?\bquestions\b"
    r"|\b(?:we will|we'll) pause (?:for )?(?:just )?(?:a|momentarily)[^.?!]{0,40}?"
    r"(?:roster|queue|questions)",
    _FLAGS,
)
# One of these is in every match, or _ABOUT_QA.
_ABOUT_SESSION = ("question", "open", "roster", "queue")
# A speaker asks for questions, or hands to whoever takes them.
_HANDOVER = re.compile(
    r"\b(?:open|opening|turn|turning|hand|handing|pass|throw|move|moving|go|going|proceed|get|"
    r"switch|head|begin|start|starting|over|back|ready|available|transition|continue|shift|jump)\b"
    rf"[^.?!]{{0,60}}?\b(?:questions?\b(?! of)|{_QA})"
    r"|\b(?:take|taking|answer|answering|receive|address|addressing|have|entertain|welcome|field|"
    r"hear|invite|respond to|listen to|discuss)\b[^.?!]{0,30}?\bquestions?\b"
    r"|\bquestions?,? please\b|\bany questions\b|\bfor (?:your |any |the )?questions?\b"
    r"|\blook(?:ing)? forward to[^.?!]{0,40}?\bquestions\b"
    r"|\bopen (?:up )?the (?:lines?|floor|call)\b"
    r"|\b(?:line|floor|call) (?:up )?to (?:the )?analysts\b"
    rf"|\b(?:for|to) (?:the )?{_QA}|\b{_QA}(?: please| session)?\W*(?:operator\W*)?$"
    r"|\bquestions and answers\b",
    _FLAGS,
)
# One of these is in every match, or _ABOUT_QA.
_ABOUT_HANDING = ("question", "analysts", "open ")
# How "Q&A" begins, in small letters.
_ABOUT_QA = re.compile(r"\bq(?:[\s&an]|-and)")
# Words that turn one of these into a plan for later.
_LATER = re.compile(
    r"\b(?:later|after(?:wards?)?|following|follow(?:s|ed)?|then|thereafter|before|prior to|"
    r"subsequent|subsequently|at the end|at that time|end of|until|once (?:we|i|the|they|he|she)|"
    r"when we|during (?:the|our|today's|this)|today's agenda|as usual|upon|conclusion of|"
    r"there will be|will be (?:an )?opportunit|opportunity to ask|should you|closing remarks|"
    r"conclud(?:e|ing) remarks|final remarks|summary and|concluded with|"
    r"limit(?:ed)? (?:yourself|your)|followed by)\b"
    # "we will come back to this in the Q&A"
    r"|\b(?:back to|address|cover|discuss|elaborate|expand|touch|talk|explain|speak|leave|deal|"
    r"pick|take|answer|clarify|say|share|give|go) (?:on |about |to |with |up )?(?:this|that|it|"
    r"these|them|those|more|further|questions on)\b"
    rf"[^.?!]{{0,40}}?\b(?:in|for|at|within) (?:the |our |today's )?{_QA}",
    _FLAGS,
)
# A clause that is about something already over does not make the rest a plan.
_DONE = re.compile(
    r"\b(?:that|this|which)(?:'s| is)? (?:concludes?|the end of|ends|completes?|finishes)\b[^.?!]*"
    r"|\bend of (?:the|our|my|today's|this) (?:\w+ )?(?:presentation|remarks|speech)\b"
    r"|\bafter (?:this|that|these|the tone)\b|\bas (?:a )?follows?\b|\bfollow(?:ing)?[- ]up\b"
    r"|\bfollow-?ups?\b",
    _FLAGS,
)
_HEADING = re.compile(
    r"^\W*(?:questions?[- ]?(?:and|&)[- ]?answers?(?:[- ]?(?:session|section|part))?|q ?& ?a"
    r"(?:[- ]?(?:session|section))?)\W*$",
    _FLAGS,
)
_PRESENTATION_HEADING = re.compile(
    r"^\W*(?:presentation|prepared remarks|management (?:discussion|presentation)"
    r"(?: section)?)\W*$",
    _FLAGS,
)
# What an operator says and nobody else does; for text in lower case, where search is twice as fast.
# A pattern is tried only on turns that hold one of the words listed before it.
_OPERATOR_PHRASES: tuple[tuple[tuple[str, ...], re.Pattern[str]], ...] = tuple(
    (needed, re.compile(p))
    for needed, p in (
        (
            ("listen", "mute"),
            r"\blisten[- ]only\b|\bmuted? (?:mode|to prevent)\b|\bon mute to\b"
            r"|\blines (?:have been|are) (?:placed on )?mute",
        ),
        (
            ("operator", "coordinator", "moderator", "chorus call"),
            r"\b(?:i'll be|i will be|i am|i'm|as|be) your (?:\w+ )?"
            r"(?:operator|coordinator|moderator)\b"
            r"|\bcall operator\b|\bconference operator\b|\bchorus call\b",
        ),
        (
            ("thank you ", "stand by"),
            r"\bthank you (?:all |very much )?for (?:standing by|holding|your patience)\b"
            r"|\bstand by\b",
        ),
        (
            (" recorded", " recording"),
            r"\b(?:is|being|be|are|today is) (?:also )?(?:being )?record(?:ed|ing)\b",
        ),
        (
            ("press", "dial", "hit", "push", "key", "star"),
            r"\b(?:press|pressing|dial|hit|push|key)(?:ing)?\b[^.?!]{0,30}?(?:\bstar\b|\*|\bpound\b|"
            r"\bzero\b|\bone\b|\bkeypad\b|\b0\b|#|\d)|\bstar[, ]+(?:then |and |followed by )?"
            r"(?:the )?(?:number )?(?:zero|one|two|0|1|2)\b",
        ),
        (
            ("assistance",),
            r"\boperator assistance\b|\brequire (?:any )?(?:further )?assistance\b"
            r"|\bneed assistance\b",
        ),
        (
            ("over to", "introduce "),
            r"\b(?:turn|hand|pass)\b[^.?!]{0,30}\b(?:call|conference|floor|meeting|line|you)?\b"
            r"[^.?!]{0,20}\bover to\b|\bintroduce (?:your|our) host\b|\bconference over to\b",
        ),
        (
            ("go ahead", "proceed", "begin", "start your", "floor is yours"),
            r"\b(?:please )?(?:go ahead|proceed|you may begin|begin your conference|"
            r"you may proceed|start your (?:conference|meeting|presentation))\b"
            r"|\bthe floor is yours\b",
        ),
        (("ladies and ",), r"\bladies and gentlem[ea]n\b"),
        (
            ("welcome to ",),
            r"\bwelcome to (?:the|today's|this|our)?\b[^.?!]{0,120}?\b(?:call|conference|webcast|"
            r"presentation|webinar)\b",
        ),
    )
)
_TELLING = (0, 1, 2, 4, 5)
_OPERATOR_LABEL = re.compile(
    r"^\W*(?:(?:conference |call )?operator|coordinator|(?:conference |event )?moderator|"
    r"meeting host|(?:conference )?call host)\b",
    _FLAGS,
)
_ASKS = re.compile(
    r"\b(?:thank you|thanks|appreciate you|appreciate it)\b[^.?!]{0,30}?\b(?:for )?(?:taking|the "
    r"opportunity|my question|the question)\b|\bmy (?:first |1st )?questions?\b"
    r"|\b(?:i have|i've got|i had|just) (?:a|one|two|three|a couple(?: of)?|some|few|a few) "
    r"(?:\w+ )?questions?\b"
    r"|\bquestion (?:for|from) (?:me|my side)\b|\bfirst question\b|\bcan you hear me\b",
    _FLAGS,
)
_REQUESTS = re.compile(
    r"\boperator\b|\b(?:may|can|could|shall|let) (?:we|us|i|you) (?:please )?(?:have|take|get|hear|"
    r"go|move)\b[^.?!]{0,20}?\bquestion",
    _FLAGS,
)
_INSTRUCTS = re.compile(
    r"\b(?:question|queue|q\s?&\s?a)\b[^.?!]{0,80}?\b(?:press|dial|hit|push|key|signal|star)(?:ing)?\b"
    r"|\b(?:press|dial|hit|push|key|signal|star)(?:ing)?\b[^.?!]{0,80}?\b(?:question|queue|q\s?&\s?a)\b",
    _FLAGS,
)
_NEXT_QUESTION = re.compile(
    r"\b(?:next|following|another|last|final) question\b|\byour line is (?:now )?open\b"
    r"|\bquestion (?:comes|is|from)\b",
    _FLAGS,
)

#: Words before a call for questions from which on it is not taken for the opening of the call.
_LEAD_WORDS = 60
#: Words of a turn before such a call from which on the turn is cut there instead of left out.
_LATE_WORDS = 120
#: Words of a call after which instructions how to ask are no longer those of its opening.
_LONG_WORDS = 600
#: Words of a turn up to which it may be nothing but such instructions.
_INSTRUCTING_WORDS = 150
#: Words that somebody speaks without a question; what follows such a turn is still presentation.
_MONOLOGUE_WORDS = 400
#: Words of a turn up to which it may be nothing but a host's call for questions.
_HOST_WORDS = 60
#: Words of a turn up to which an operator may have spoken all of it.
_OPERATOR_WORDS = 350


def _words(text: str) -> int:
    return text.count(" ") + 1


def _matches(pattern: re.Pattern[str], text: str, plans: bool = False) -> Iterator[int]:
    """Offsets of matches whose sentence (so far as it matters) is not a plan for later."""
    for match in pattern.finditer(text):
        begin = max(text.rfind(mark, 0, match.start()) for mark in ".?!\n")
        ends = [e for e in (text.find(mark, match.end()) for mark in ".?!\n") if e >= 0]
        sentence = text[begin + 1 : min(ends, default=len(text))]
        if plans or not _LATER.search(_DONE.sub(" ", sentence)):
            yield begin + 1


def _is_about(words: Sequence[str], lowered: str) -> bool:
    """Whether a text in small letters has one of some words, or "Q&A"."""
    return any(word in lowered for word in words) or _ABOUT_QA.search(lowered) is not None


@lru_cache(maxsize=1024)  # a call's turns are looked at several times
def _operator_phrases(text: str) -> tuple[int, int]:
    """How many kinds of operator's phrases a turn has, and how many that hosts do not use too."""
    lowered = text.lower()
    found = [
        any(word in lowered for word in needed) and bool(pattern.search(lowered))
        for needed, pattern in _OPERATOR_PHRASES
    ]
    return sum(found), sum(found[i] for i in _TELLING)


def _is_operator(turn: Turn) -> bool:
    """Whether a turn is the operator's, by its label or its wording."""
    words = _words(turn.text)
    if words > _OPERATOR_WORDS:
        return False
    if _OPERATOR_LABEL.match(turn.speaker):
        return True
    total, telling = _operator_phrases(turn.text)
    return total >= 2 if words <= 40 else total >= 3 and telling >= 1


@dataclass(frozen=True)
class _Cue:
    turn: int
    offset: int
    rule: str


def _opening_cue(turns: Sequence[Turn], before: list[int]) -> _Cue | None:
    """The first place where the session is opened or the first question is called."""
    for i, turn in enumerate(turns):
        if _HEADING.match(turn.text.strip()) or _HEADING.match(turn.speaker):
            return _Cue(i, 0, "heading")
        found: list[tuple[int, str]] = []
        lowered = turn.text.lower()
        if any(word in lowered for word in _ABOUT_FIRST):  # the pattern is slow
            found.extend((o, "first_question") for o in _matches(_FIRST_QUESTION, turn.text))
        # A speaker who closes with "we will now start the Q&A" hands over; a turn that opens the
        # session says so at its start or goes on with instructions.
        told, _ = _operator_phrases(turn.text)
        if told and _is_about(_ABOUT_SESSION, lowered):
            found.extend(
                (o, "session_opened")
                for o in _matches(_SESSION, turn.text)
                if _words(turn.text[o:]) > 12
            )
        short = _words(turn.text) <= _INSTRUCTING_WORDS
        if before[i] > _LONG_WORDS and told and short and _INSTRUCTS.search(turn.text):
            found.append((0, "session_opened"))
        for offset, rule in sorted(found):
            if before[i] + _words(turn.text[:offset]) > _LEAD_WORDS and _questions_follow(
                turns, i, offset
            ):
                return _Cue(i, offset, rule)
    return None


def _questions_follow(turns: Sequence[Turn], i: int, offset: int) -> bool:
    """Whether what comes after a cue is not one more part of the presentation."""
    rest = turns[i].text[offset:]
    if _words(rest) > _MONOLOGUE_WORDS:
        # A document that is one string has everything in one turn.
        near = rest[:4000]
        return "?" in near or bool(_ASKS.search(near))
    for turn in turns[i + 1 : i + 4]:
        if _asks(turn):
            return True
        if _words(turn.text) > _MONOLOGUE_WORDS:
            return False
    return True


def _handovers(turns: Sequence[Turn], stop: int) -> Iterator[int]:
    """Turns before `stop` that end by asking for questions."""
    for i in range(stop):
        tail = turns[i].text[-420:]
        if not _is_about(_ABOUT_HANDING, tail.lower()):
            continue  # the pattern is slow
        for offset in _matches(_HANDOVER, tail):
            if len(tail) - offset <= 330:
                yield i
                break


def _asks(turn: Turn) -> bool:
    """Whether a turn puts a question of some substance, or says that it will."""
    return ("?" in turn.text and _words(turn.text) >= 15) or bool(_ASKS.search(turn.text))


def _opens_itself(turns: Sequence[Turn], h: int) -> bool:
    """Whether a turn that asks for questions is a host's who does nothing else and gets one.

    Such a turn belongs to the session: nobody is asked to open it.
    """
    text = turns[h].text
    return (
        h > 0
        and _words(text) <= _HOST_WORDS
        and not _REQUESTS.search(text)
        and _words(turns[h - 1].text) > _LATE_WORDS
        and _asks(turns[h + 1])
        and not _is_operator(turns[h + 1])
    )


def _calls_question(turn: Turn) -> bool:
    return _words(turn.text) < 120 and bool(
        _NEXT_QUESTION.search(turn.text) or _FIRST_QUESTION.search(turn.text)
    )


def _boundary(turns: Sequence[Turn]) -> tuple[int, int, str]:
    """Return (turn, offset in it, rule): where the question session starts."""
    before = [0]
    for turn in turns:
        before.append(before[-1] + _words(turn.text))
    cue = _opening_cue(turns, before)
    stop = cue.turn if cue else len(turns)
    handing = list(_handovers(turns, stop))
    for h in handing:
        if before[h + 1] <= _LEAD_WORDS or h + 1 >= len(turns) or _is_operator(turns[h]):
            continue
        if turns[h].speaker and turns[h].speaker == turns[h + 1].speaker:
            continue  # who goes on, behind a page break, did not hand over
        # What stands between asking for questions and the cue decides whether the cue is only the
        # second, formal session, or the asking was not meant for now.
        between = turns[h + 1 : stop]
        if cue and not between:
            break
        early = between[:3]
        if any(_words(t.text) > 250 and not _asks(t) for t in early):
            continue
        again = {i for i in handing if h < i < stop}
        asked = [t for i, t in enumerate(between, h + 1) if i not in again and "?" in t.text]
        if cue and len(between) <= 3 and not any(_asks(t) for t in asked):
            break
        if any(_asks(t) or _calls_question(t) or _is_operator(t) for t in early):
            return (h if _opens_itself(turns, h) else h + 1), 0, "handover"
    if cue:
        # "Operator, may we have the first question?" still belongs to the presentation.
        turn = turns[cue.turn]
        if (
            cue.turn + 1 < len(turns)
            and _words(turn.text) <= 100
            and not _is_operator(turn)
            and _calls_question(turns[cue.turn + 1])
            and _REQUESTS.search(turn.text)
        ):
            return cue.turn + 1, 0, cue.rule
        return cue.turn, cue.offset, cue.rule
    for i, turn in enumerate(turns):
        if before[i] > _LEAD_WORDS and (_ASKS.search(turn.text) or _calls_question(turn)):
            if _words(turn.text) > 400:
                continue
            return i, 0, "asked"
    # Questions were asked for, and nobody had one.
    for h in handing:
        if before[h] > _LONG_WORDS and all(_words(t.text) <= 250 for t in turns[h + 1 :]):
            return h + 1, 0, "handover"
    return len(turns), 0, "no_questions"


def _is_interview(turns: Sequence[Turn]) -> bool:
    """Whether the first speakers alternate questions and answers instead of presenting."""
    early = [t for t in turns[:14] if not _is_operator(t)]
    if len(turns) < 6 or len(early) < 4:
        return False
    asked = sum("?" in t.text for t in early)
    return asked >= 3 and max(_words(t.text) for t in early[:6]) < 400


def find_presentation(
    turns: Sequence[Turn], method: str = "earnings_call", drop_operator: bool = True
) -> Presentation:
    """Find the turns of a call that come before its question session.

    Parameters
    ----------
    turns : sequence of Turn
        The whole call. A document that is one string is one turn or one turn a paragraph (see
        :func:`split_turns`).
    method : {"earnings_call", "none"}
        ``none`` keeps everything.
    drop_operator : bool
        Leave out turns before the boundary that are the operator's, told by their label
        ("Operator") or by wording that only operators use.

    Returns
    -------
    Presentation

    Notes
    -----
    In order of strength: (1) a turn that calls the first question or opens the session now (not
    "later" or "after the remarks"), more than a few words into the call; (2) before that, a speaker
    who asks for questions and gets some: the formal session may follow prepared questions, and a
    turn with house rules may stand between asking and session; (3) the first turn that asks. When
    the cue stands late in a long turn, the turn is cut there.
    """
    turns = list(turns)
    if method == "none":
        return Presentation(tuple(turns), tuple(range(len(turns))), None, "none")
    start, offset, rule = _boundary(turns)
    weak = rule in ("asked", "no_questions") or (
        rule == "handover" and any("?" in t.text and _asks(t) for t in turns[:start])
    )
    if weak and _is_interview(turns):
        return Presentation((), (), None, "interview")
    kept = list(enumerate(turns[:start]))
    late = start < len(turns) and _words(turns[start].text[:offset]) > _LATE_WORDS
    if late and (len(turns) == 1 or not _is_operator(turns[start])):
        kept.append((start, _cut(turns[start], offset)))
        start += 1
    first = next(
        (i + 1 for i, t in enumerate(turns[:start]) if _PRESENTATION_HEADING.match(t.text.strip())),
        0,
    )
    kept = [(i, t) for i, t in kept if i >= first and t.said]
    if drop_operator and len(turns) > 1:
        # Who has a label of another is no operator for saying how to hear the replay, unless
        # labels tell nothing ("Speaker 1").
        labelled = any(_OPERATOR_LABEL.match(t.speaker) for t in turns)
        kept = [
            (i, t)
            for i, t in kept
            if not (
                _OPERATOR_LABEL.match(t.speaker)
                if labelled and " " in t.speaker
                else _is_operator(t)
            )
        ]
    return Presentation(
        tuple(t for _, t in kept),
        tuple(i for i, _ in kept),
        start if start < len(turns) or rule != "no_questions" else None,
        rule,
    )


def _cut(turn: Turn, offset: int) -> Turn:
    """Shorten a turn to what comes before the session, dropping the operator's last sentences."""
    text = turn.text[:offset]
    spans = split_sentences(text)
    phrases = (_OPERATOR_PHRASES[4][1], _OPERATOR_PHRASES[8][1])
    while len(spans) > 1:
        last = text[spans[-1][0] : spans[-1][1]].lower()
        if not any(phrase.search(last) for phrase in phrases):
            break
        spans.pop()
    return Turn(text[: spans[-1][1]].rstrip() if spans else "", turn.speaker, turn.speaker_id)


def _split_lines(text: str, marks: Sequence[Mark], labels: Sequence[re.Match[str]]) -> list[Turn]:
    """Split a text in which speakers stand on lines of their own.

    Turns are parts of the text as they are: a page break parts one into two.
    """
    known = {mark.speaker for mark in marks}
    inside = [
        Mark(label.start(), label.end(), name)
        for label in labels
        for name in [_plain_label(label["name"])]
        if _OPERATOR_LABEL.match(name) or name in known
    ]
    turns: list[Turn] = []
    speaker: str | None = None
    said, at = False, 0
    every = [*inside, *marks, Mark(len(text), len(text), None)]
    # a label may look like the header of a page, of which nobody is the speaker: the label counts
    for mark in sorted(every, key=lambda mark: mark[:2]):
        if mark.start < at:
            continue  # a line that is both
        for part in _parted(text[at : mark.start]):
            heading = bool(_HEADING.match(part) or _PRESENTATION_HEADING.match(part))
            turns.append(
                Turn(part) if heading else Turn(part, speaker or "", speaker or None, said)
            )
        at = mark.end
        if mark.speaker is not None:
            speaker, said = mark.speaker, bool(mark.speaker)
    return turns


def _parted(text: str) -> list[str]:
    """A part of a text and the headings in it, without white space around them."""
    parts: list[str] = [""]
    for line in text.splitlines(keepends=True):
        bare = line.strip().strip("*_#")
        if _HEADING.match(bare) or _PRESENTATION_HEADING.match(bare):
            parts += [line, ""]
        else:
            parts[-1] += line
    return [part.strip() for part in parts if part.strip()]


_LABEL = re.compile(
    r"^[ \t]*(?P<name>[A-ZÀ-ÖØ-Þ][\w.'’\-]*(?:[ \t,/&()\-–—]+[\w.'’\-]+){0,11}[).]?)"
    r"[ \t]*:(?:[ \t]+|$)",
    re.MULTILINE,
)
_NOT_LABELS = word_set(
    "note notes source sources safe harbor disclaimer agenda company date time subject re title "
    "question and answer questions answers prepared remarks dial-in replay webcast contact "
    "contacts media phone telephone fax email conference id access code passcode hello hi thanks "
    "thank you good morning afternoon evening welcome total pages"
)


def _is_label(name: str) -> bool:
    head = _plain_label(name)
    words = head.split()
    if name.count("(") > name.count(")"):
        return False  # "Hello, everyone, and welcome to Acme (NYSE: ACM)"
    if not words or len(words) > 5 or len(head) > 50:
        return False
    if all(w.lower().strip(".") in _NOT_LABELS for w in words):
        return False
    particles = {
        "de",
        "da",
        "di",
        "del",
        "della",
        "van",
        "von",
        "der",
        "la",
        "le",
        "al",
        "bin",
        "y",
    }
    return all(w[0].isupper() or w[0].isdigit() or w.lower() in particles for w in words)


def _plain_label(name: str) -> str:
    return re.split(r"\s[-–—]+\s|,|\(", name)[0].strip()


def split_turns(text: str) -> list[Turn]:
    """Split a document that is one string into turns.

    Lines that begin with a name and a colon ("Jane Roe: Good morning", "Operator:") start a turn
    when there are at least two of them; so do lines that are a name, with or without a title
    ("Jane Roe -- Chief Executive Officer", "**Jane Roe**"), where there are more of these. Rules,
    page headers and numbers of slides between them are left out. Otherwise each paragraph
    (separated by an empty line) is a turn without a speaker.

    Parameters
    ----------
    text : str
        Whole document.

    Returns
    -------
    list of Turn
        Without empty turns. ``speaker`` is the label without what follows a dash or comma.
    """
    labels = [m for m in _LABEL.finditer(text) if _is_label(m["name"])]
    marks = speaker_lines(text)
    if sum(bool(mark.speaker) for mark in marks) > len(labels):
        return _split_lines(text, marks, labels)
    if len(labels) < 2:
        parts = re.split(r"\n[^\S\n]*\n\s*", text)
        return [Turn(part.strip()) for part in parts if part.strip()]
    turns = []
    if head := text[: labels[0].start()].strip():
        turns.append(Turn(head, said=not lists_people(head)))
    for label, following in zip(labels, [*labels[1:], None], strict=True):
        said = text[label.end() : following.start() if following else len(text)]
        name = _plain_label(label["name"])
        # A heading on a line of its own between two turns is a turn of its own.
        lines = said.strip().split("\n")
        heading = None
        if len(lines) > 1 and (_HEADING.match(lines[-1]) or _PRESENTATION_HEADING.match(lines[-1])):
            heading = lines.pop().strip()
        if body := "\n".join(lines).strip():
            turns.append(Turn(body, name, name))
        if heading:
            turns.append(Turn(heading))
    return turns
