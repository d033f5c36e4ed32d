"""Combine the neural recogniser, the name classifier, the word lists and the date rules.

Order of decisions: dates by rule; spans of the recogniser and spans that are written like names are
judged together (classifier's log probability plus a bonus for what the recogniser said); frames in
which people are introduced and lists of unambiguous names overrule both.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from nes_spark.entities.dates import find_dates
from nes_spark.entities.mentions import placeholder_spans, trim
from nes_spark.entities.names import (
    CLASSES,
    Lexicon,
    NameClassifier,
    Words,
    candidate_spans,
    features,
)

Span = tuple[int, int, str]

_O, _ORG, _PERSON, _LOC, _EVENT, _PRODUCT = range(6)
#: What the recogniser's label adds to the classifier's log probability of the same class. Chosen on
#: the development parts.
AGREEMENT = {"ORG": 2.0, "PERSON": 2.0, "LOC": 2.5, "EVENT": 2.5, "PRODUCT": 3.0}
#: Added to the classes of a span that the recogniser passed over.
PASSED_OVER = np.array([0.5, 0.0, -0.5, -0.5, -1.0, 1.5])
#: Added to the classes of a span that the recogniser found.
FOUND = np.array([-1.0, 0.0, 0.0, 0.0, 0.0, 1.0])

_NAME = r"(?:[A-Z][\w'’.-]*[\w.]|[A-Z]\.?)"
_FULL_NAME = rf"{_NAME}(?: (?:de|del|da|van|von|der|la|bin|{_NAME})){{0,3}}"
_AFTER_CUE = re.compile(
    r"(?:\b(?:Mr|Ms|Mrs|Dr|Prof)\.? |\b(?:Miss|Mister|Sir) "
    r"|\b(?:line of|over to|on to|back to|question (?:is |comes |will come )?(?:coming )?(?:today )?(?:is )?from|"
    r"question(?: is| comes)?,? from|next from|move to|go to|joined (?:today )?by|introduce|my name is|this is|"
    r"I am|I'm|hi|hello|hey|thanks?(?: you)?(?: very much| so much)?|good (?:morning|afternoon|evening|question|day)|"
    r"welcome|congratulations|as|and|ask) (?=\w+[,.]? )?"
    r"|\b(?:thanks?(?: you)?(?: very much| so much)?|hi|hello|hey|morning|afternoon|evening|question|yes|yeah|sure|okay|"
    r"right|CEO|CFO|COO|Officer|President|Chairman|Director|Secretary|Treasurer|Relations|well|so|great|no), )",
    re.IGNORECASE,
)
_STRONG_BEFORE = re.compile(
    r"(?:\b(?:Mr|Ms|Mrs|Dr|Prof)\.? |\b(?:Miss|Mister) |line of |\bturn (?:the call |it |things |the floor )?(?:back )?(?:over )?to (?:our \w+,? )?|"
    r"\bhand (?:the call |it |things )?(?:back )?(?:over )?to |\bover to |"
    r"question (?:today )?(?:is |comes |will come |is coming )?from |my name is |joined (?:today )?by |"
    r"(?:CEO|CFO|COO|CTO|Officer|President|Chairman|Director),? )$",
    re.IGNORECASE,
)
_WEAK_BEFORE = re.compile(
    r"(?:\b(?:thanks?|thank you)(?: very much| so much)?,? |\b(?:hi|hello|hey|morning|afternoon|evening),? |\bI am |\bI'm |\bthis is )$",
    re.IGNORECASE,
)
_SAID = re.compile(
    r"^ (?:mentioned|said|pointed|alluded|noted|described|explained|discussed|commented|will (?:now |then )?(?:cover|discuss|take|talk|provide|walk|give|speak)|"
    r"talked|asked|highlighted|outlined|touched|can (?:take|talk|comment|answer)|joined|and I)\b",
)
_ROLE_AFTER = re.compile(
    r"^,? (?:our |the |who is (?:our |the )?|is (?:our |the )?|as (?:our |the )?)?(?:new |group |interim |acting |deputy |executive |senior |global |former )*"
    r"(?:CEO|CFO|COO|CTO|CIO|Chief|President|Vice President|Chairman|Chairwoman|Head of|Managing Director|Director of|Investor Relations|Treasurer|General Counsel|VP|SVP|EVP)\b",
    re.IGNORECASE,
)
_ORG_AFTER = re.compile(r"^,? (?:with|of|from|at|representing) (?:the )?[A-Z]")
_ORG_BEFORE = re.compile(r"(?:,? (?:with|of|from|at|representing)|\bat|\bby) $")
_QUESTION = re.compile(
    r"\b(?:line of|question|over to|go to|move to|hear from|come from|comes from)\b", re.IGNORECASE
)
_ORG_WORD = re.compile(
    r"(?:^|\s)(?:Inc|Corp|Corporation|Company|Co|Ltd|Limited|LLC|LLP|PLC|plc|AG|SE|NV|N\.V|S\.A|SA|SpA|AB|ASA|Oyj|GmbH|Group|Holdings?|"
    r"Partners|Capital|Securities|Bank|Banco|Bancorp|Insurance|University|College|Institute|Ministry|Department|Commission|"
    r"Authority|Agency|Association|Federation|Council|Committee|Board|Foundation|Fund|Funds|Trust|Ventures|Airlines|Airways|"
    r"Motors|Pharmaceuticals?|Therapeutics|Technologies|Industries|Resources|Research|Markets|Advisors|Advisers|Asset Management|Investments?|"
    r"Financial|Energy|Petroleum|Telecom|Telecommunications|Foods|Stores|Hospital|Court|Army|Navy|Senate|Congress|Parliament|Division|Union|Logistics|Bureau|Exchange)\.?$"
)
_COVID = re.compile(r"\b(?:COVID|Covid|covid)(?:[- ]?19)?\b|\b[Cc]oronavirus\b")
_MARKS = re.compile(r"<[a-z_]+>")
_HESITATION = re.compile(r"-$|^[A-Za-z]{1,4}-$|\.\.\.|…")


class Rules:
    """The second half of the bundled recogniser.

    Parameters
    ----------
    lexicon : Lexicon
        Word lists.
    classifier : NameClassifier
        Judges spans written like names.
    """

    def __init__(self, lexicon: Lexicon, classifier: NameClassifier) -> None:
        self.lexicon = lexicon
        self.classifier = classifier

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
        dates = [span for span in find_dates(text) if not _touches(span, blocked)]
        taken = blocked + dates
        final: list[Span] = [(s, e, "DATE") for s, e in dates]
        for match in _COVID.finditer(text):
            if not _touches(match.span(), taken):
                final.append((*match.span(), "EVENT"))
                taken.append(match.span())
        words = Words.of(text)
        for first, last, said in self._units(text, words, recognized, taken):
            start, end = words.starts[first], words.ends[last - 1]
            label = self._decide(text, words, first, last, said)
            if label is not None:
                final.append((start, end, label))
        return sorted(final)

    def _units(
        self,
        text: str,
        words: Words,
        recognized: Sequence[Span],
        taken: Sequence[tuple[int, int]],
    ) -> list[tuple[int, int, str]]:
        """Word ranges to judge, with what the recogniser said ('' where it passed over)."""
        units: list[tuple[int, int, str]] = []
        covered: list[tuple[int, int]] = list(taken)
        for start, end, label in recognized:
            for s, e in _without(start, end, taken):
                s, e = trim(text, s, e)
                span = _word_range(words, s, e)
                if span is None:
                    continue
                units.append((*span, label))
                covered.append((words.starts[span[0]], words.ends[span[1] - 1]))
        for first, last in candidate_spans(words, self.lexicon):
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

    def _decide(self, text: str, words: Words, first: int, last: int, said: str) -> str | None:
        lexicon = self.lexicon
        start, end = words.starts[first], words.ends[last - 1]
        surface = text[start:end]
        if surface in lexicon.jargon or surface.rstrip("s") in lexicon.jargon:
            return None
        if not any(c.isupper() for c in surface) and said != "PRODUCT":
            return None
        if end < len(text) and text[end] == "-" and (end + 1 >= len(text) or text[end + 1] in " ,"):
            return None  # a word broken off
        before, after = text[max(0, start - 60) : start], text[end : end + 60]
        head = words.words[first]
        one = last - first == 1
        if surface in lexicon.events:
            return "EVENT"
        if surface in lexicon.organizations and not (one and surface in lexicon.given):
            return "ORG"
        if surface in lexicon.products:
            return "PRODUCT"
        if _ORG_WORD.search(surface) and not one:
            return "ORG"
        known_given = head in lexicon.given
        if (
            _STRONG_BEFORE.search(before)
            and surface not in lexicon.places
            and head.lower() not in lexicon.common
        ):
            return "PERSON"
        if known_given and head not in lexicon.ambiguous:
            if _WEAK_BEFORE.search(before) or _SAID.match(after) or _ROLE_AFTER.match(after):
                return "PERSON"
        if (
            not one
            and last - first <= 4
            and _ROLE_AFTER.match(after)
            and not _ORG_WORD.search(surface)
        ):
            return "PERSON"
        if _ORG_BEFORE.search(before) and _QUESTION.search(text[max(0, start - 120) : start]):
            if surface not in lexicon.places and surface not in lexicon.given:
                return "ORG"
        scores = self.classifier.log_probabilities(features(words, first, last, lexicon))
        scores = scores + (FOUND if said else PASSED_OVER)
        if said:
            scores[CLASSES.index(said)] += AGREEMENT[said]
        if surface in lexicon.places and not known_given:
            scores[_LOC] += 2.0
        label = CLASSES[int(scores.argmax())]
        if label == "PERSON" and not known_given and head not in lexicon.ambiguous:
            cue = (
                _WEAK_BEFORE.search(before)
                or _SAID.match(after)
                or _ROLE_AFTER.match(after)
                or (not one and _ORG_AFTER.match(after))
            )
            if not cue:
                scores[_PERSON] -= 2.5
                label = CLASSES[int(scores.argmax())]
        return None if label == "O" else label


def _touches(span: tuple[int, int], others: Sequence[tuple[int, int]]) -> bool:
    return any(s < span[1] and span[0] < e for s, e in others)


def _without(start: int, end: int, taken: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    parts = [(start, end)]
    for low, high in taken:
        parts = [
            part
            for s, e in parts
            for part in (
                [(s, e)] if e <= low or s >= high else [(s, min(e, low)), (max(s, high), e)]
            )
            if part[0] < part[1]
        ]
    return parts


def _word_range(words: Words, start: int, end: int) -> tuple[int, int] | None:
    """First word and one past the last word that lie inside the offsets, None where none does."""
    inside = [i for i, s in enumerate(words.starts) if s >= start and words.ends[i] <= end]
    return (inside[0], inside[-1] + 1) if inside else None
