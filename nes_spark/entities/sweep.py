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

What is in general use :mod:`nes_spark.entities.general_english` says, which numbers are keys
:mod:`nes_spark.entities.told_keys`. :func:`settle` then decides by how many documents use a form.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nes_spark.entities.distinctive import METHODS, PARTS_OF_PROPOSALS, is_fragment
from nes_spark.entities.general_english import (
    CONTRACTION,
    PARTS,
    PREFIXES,
    GeneralEnglish,
    general_english,
)
from nes_spark.entities.linking import (
    SMALL_WORDS,
    Located,
    form_key,
    initials,
    link_document,
    plain_form,
    without_legal_form,
)
from nes_spark.entities.lists import GENERAL, read_lists
from nes_spark.entities.mentions import NAME, Mention, placeholder_spans
from nes_spark.entities.names import (
    BENCHMARKS,
    PARTICLES,
    US_UNIT,
    Words,
    behind_particles,
    is_headed,
    is_heading_word,
)
from nes_spark.entities.terms import hours, is_people
from nes_spark.entities.told_keys import keys_of, left_of, minutes_of
from nes_spark.text.forms import is_legal_form
from nes_spark.text.numbers import SECURITY_WORDS
from nes_spark.text.people import is_given_name
from nes_spark.text.sentences import word_set
from nes_spark.text.vocabulary import ACRONYMS, THE_CALL

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
_ROMAN = re.compile(r"(?=[IVX])X{0,2}(?:IX|IV|V?I{0,3})[AaBbCc]?")
_LISTS = read_lists(GENERAL)
#: What a company says of itself, in quotation marks: 'our motto goes, "Here for Good"'.
_SLOGAN_WORD = r"(?:motto|slogan|tag ?line|mantra|credo|watchword|brand promise|rallying cry)"
_QUOTED = r"[“\"](?P<{}>[^\W\d_][^“”\"]{{5,58}}\w)[.,!]?[”\"]"
_SLOGAN = re.compile(
    rf"\b{_SLOGAN_WORD}\b[^.?!“\"]{{0,30}}{_QUOTED.format('behind')}"
    rf"|{_QUOTED.format('before')},?[^.?!“\"]{{0,20}}\b{_SLOGAN_WORD}\b",
    re.IGNORECASE,
)
#: Behind one of somebody's family a capital tells a name, though the word is a common one: "his nan
#: Beryl", "my auntie Grace"; companies have sisters and daughters too.
_KIN = (
    r"(?:mum|mam|mom|dad|father|nan|nana|gran|granny|grandma|grandmother|grandad|granddad|grandpa"
    r"|grandfather|auntie|aunt|uncle|brother|cousin|niece|nephew|wife|husband|stepdad|stepmum)"
)
#: Each of them has one of these in it, and so have those behind "his".
_KIN_WORDS = (
    "mum", "mam", "mom", "dad", "father", "nan", "gran", "aunt", "uncle", "brother", "cousin",
    "niece", "nephew", "wife", "husband", "mother", "sister", "daughter", "son", "twin",
)  # fmt: skip
_KIN_NAME = re.compile(
    rf"(?:\b(?:[Hh]is|[Hh]er|[Mm]y) (?:[a-z]+ )?(?:{_KIN}|mother|sister|daughter|son|twin)"
    rf"|(?:\b(?:[Oo]ur|[Tt]heir|[Yy]our)|['’]s) {_KIN}),? "
    r"(?P<name>[A-ZÀ-ÖØ-Þ][a-zß-öø-ÿ]{2,}(?:-[A-Z][a-zß-öø-ÿ]+)?)(?![\w-])"
)
#: Paragraphs and programmes of a law ("421-a", "J-51"), which tell a place and a trade. Behind a
#: hyphen other small letters are units ("100-m").
_PARAGRAPH = re.compile(r"\d{3}-[acdefginopqrstuxyz]|[A-Z]-\d{2,3}")
#: The same as it is said: "421 G tax benefits". Everybody has a 401 K.
_SPOKEN_PARAGRAPH = re.compile(
    r"(?<![\w.,$€£-])(?!401 )\d{3} [A-Z](?= (?:tax|abatements?|exemptions?)\b)"
)
#: An airliner and its variant: "737-Max", "787-9"; of the two apart the recogniser knows.
_AIRLINER = re.compile(r"7[0-8]7-(?:[A-Z][A-Za-z]+|\d{1,2}[A-Z]*)")
#: Words that call an arm of a company right behind its name: "[Company Name] Capital". Behind the
#: same word, said of money, the noun follows.
_ARM = re.compile(
    r"(?<=[a-z]\] )(?:Capital|Credit|Digital|Labs|Ventures)\b(?![ -][A-Z]|['’-]\w{2})"
)
_OF_MONEY = (
    r"(?! (?:allocat|base|budget|employ|expen|gain|invest|loss|market|needs?\b|outlay|position|"
    r"program|project|rais|ratio|require|return|spend|structure))"
)
#: Patterns of what is no name, each with words of which every match has one.
_PASSED_OVER = (
    (_MARKS, ("<",)),
    (US_UNIT, ("US", "U.S")),
    (BENCHMARKS, ("Henry Hub", "West Texas", "WTI", "TTF", "Brent")),
    (METHODS, (" Belt", "Sigma", "Kaizen", "Kanban")),
    (
        PARTS_OF_PROPOSALS,
        ("Aim", "Deliverable", "Fig", "Milestone", "Objective", "Referee", "Reviewer", "Table",
         "Task", "Work ", "WP"),
    ),
)  # fmt: skip
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


class _Token(NamedTuple):
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
    slogans = _pattern(_slogans(texts))
    keys, minutes = keys_of(texts), minutes_of(texts)
    letters = _letters(m for chunk in mentions for m in chunk)
    arms = _arms(texts)
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
        found += [
            _candidate(text, *match.span(), "known")
            for match in (slogans.finditer(text) if slogans else ())
            if match.group()[0].isupper()  # "we are here for good reasons"
        ]
        names_at = [(m.start, m.end) for m in known]
        found += [
            _candidate(text, start, end, "digits")
            for m in keys.finditer(text)
            for start, end in left_of(text, *m.span(), names_at)
        ]
        found += [_candidate(text, *m.span(), "digits") for m in _SPOKEN_PARAGRAPH.finditer(text)]
        found += [_candidate(text, *m.span(), "known") for m in minutes.finditer(text)]
        found += [_candidate(text, *m.span(), "known") for m in arms.finditer(text)]
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


def _kin(text: str, english: GeneralEnglish) -> Iterator[re.Match[str]]:
    """Yield who is named behind a word for one of a family, if no word is that names nobody."""
    for found in _KIN_NAME.finditer(text) if any(word in text for word in _KIN_WORDS) else ():
        word = found["name"]
        if is_given_name(word) or not (english.function(word) or english.custom(word)):
            yield found


def _slogans(texts: Iterable[str]) -> list[str]:
    """Return the mottoes of a document, of two words and more.

    >>> _slogans(['As our motto goes, "Here for Good", we stay.', 'The slogan "yes".'])
    ['Here for Good']
    """
    said = (match["behind"] or match["before"] for t in texts for match in _SLOGAN.finditer(t))
    found = (slogan for slogan in said if "\n\n" not in slogan)
    return [slogan for slogan in found if len(slogan.split()) > 1]


def _arms(texts: Iterable[str]) -> re.Pattern[str]:
    """Return what finds the arms of a company that a document names, in small letters too."""
    found = {match.group() for text in texts for match in _ARM.finditer(text)}
    words = "|".join(rf"{arm}\b|{arm.lower()}\b{_OF_MONEY}" for arm in sorted(found))
    return re.compile(rf"(?<=[a-z]\] )(?:{words})" if found else r"(?!)")


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
            inner = [run[1]._replace(initial=False), *run[2:]]
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
    word = CONTRACTION.sub("", word)
    if len(word) < 2 or _ROMAN.fullmatch(word):
        return ""
    if word in english.names or word.rstrip(".") in ("U.S", "U.K"):
        return "capital"
    digits = any(c.isdigit() for c in word)
    if _PARAGRAPH.fullmatch(word) or _AIRLINER.fullmatch(word):
        return "digits"
    if digits and english.quantity(word):
        return ""
    if english.abbreviation(word):
        return "capital" if english.proper(word) else ""
    if english.word(word):
        return ""
    parts = [p for p in PARTS.split(word) if p]
    if len(parts) > 1:
        # "IT-centric", "COVID-related": what is left when the general parts are gone
        parts = [
            p
            for p in parts
            if not (len(p) < 2 and p.isalpha())
            and not english.word(p)
            and not english.abbreviation(p)
            and not p.isdigit()
            and p.lower() not in PREFIXES
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
    parts = [p for p in PARTS.split(word) if p]
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
    if len(word) < 2 or not word.isalpha():
        return False
    for other in tokens[i + 1 : i + 4]:
        if other.word.startswith(word) and other.word != word and other.word.islower():
            return True
    return False


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
        free = at == len(blocked) or blocked[at][0] >= end
        # the words of a heading are no names for being in capitals
        heading = free and (
            is_heading_word(words, place, common) or is_headed(words, place, common)
        )
        free = free and not heading
        pieces = _RUN_TOGETHER.split(word) if "." in word else [word]
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
    spans = [*placeholder_spans(text), *hours(text)]
    if "@" in text or "://" in text or "www." in text.lower():
        spans += [match.span() for match in _ADDRESS.finditer(text)]
    for pattern, needed in _PASSED_OVER:
        if any(word in text for word in needed):  # few texts have any, and patterns are slow
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
    "candidates_of",
    "categories_by_form",
    "entities_by_form",
    "name_entities",
    "named_elsewhere",
    "settle",
    "strongest",
]
