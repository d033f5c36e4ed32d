"""The bundled utility task: sentiment of business talk from a small word list of our own."""

from __future__ import annotations

import re
from collections.abc import Sequence

from nes_spark.utility.tasks import Prediction, UtilityTask


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


POSITIVE = _words(
    """
    able achieved achieving advantage ahead beat beats best better boosted confident delighted
    delivered efficient encouraged encouraging exceed exceeded exceeding excellent excited
    exciting expand expanded expanding expansion favorable gain gained gains good great grew grow
    growing grown growth happy healthy high higher highest impressive improve improved improvement
    improvements improving increase increased increases increasing innovative leading momentum
    opportunities opportunity optimistic outperformed pleased positive profit profitability
    profitable progress promising proud raised rebound record recovered recovery resilient reward
    rewarding robust rose solid strength strengthen strengthened strong stronger strongest succeed
    success successful successfully superb superior thrilled top up upside win winning wins won
    """
)
NEGATIVE = _words(
    """
    adverse adversely bad behind burden challenge challenged challenges challenging closed closure
    closures concern concerned concerns contracted cut cuts damage decline declined declines
    declining decrease decreased decreases decreasing deficit delay delayed delays deteriorated
    difficult difficulties difficulty disappointed disappointing disruption disruptions down
    downturn drop dropped fail failed failure fall fallen falling fell fewer hardship headwind
    headwinds hurt impairment impairments inefficient lag lagged layoffs litigation lose losing
    loss losses lost low lower lowest miss missed negative negatively pressure pressured pressures
    problem problems recall recession reduced risk risks severe shortage shortages shrank shrink
    slow slowdown slowed slower slowing soft softer struggle struggled struggling suffer suffered
    tough turmoil uncertain uncertainties uncertainty unfavorable unfortunately volatile volatility
    weak weaker weakness worse worst write-down write-off
    """
)
#: One of these among the three words before turns a word round.
NEGATIONS = _words("no not never none nor without cannot neither hardly barely")

#: What may stand before the first word of a sentence, and what ends the one before.
_OPENING, _ENDS = " \t\n\r\"'“‘([", ".!?:;…”"
_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")


def sentiment(text: str) -> float:
    """Return (positive - negative) / (positive + negative) words, 0 where there are none.

    Parameters
    ----------
    text : str
        Any text in English.

    Returns
    -------
    float
        From -1 to 1.

    Notes
    -----
    A capitalised word inside a sentence is part of a name and tells no sentiment.

    Examples
    --------
    >>> sentiment("Great results. The High Court of Great Britain had no problems with them.")
    1.0
    """
    found = list(_WORD.finditer(text))
    words = [match.group().lower().replace("’", "'") for match in found]
    balance = hits = 0
    for position, word in enumerate(words):
        value = (word in POSITIVE) - (word in NEGATIVE)
        if not value or _in_name(text, found[position]):
            continue
        before = words[max(0, position - 3) : position]
        if any(w in NEGATIONS or w.endswith("n't") for w in before):
            value = -value
        balance += value
        hits += 1
    return balance / hits if hits else 0.0


def _in_name(text: str, match: re.Match[str]) -> bool:
    """Return whether a word is capitalised, but not all in capitals, inside a sentence."""
    word = match.group()
    if not word[0].isupper() or word.isupper():
        return False
    space = text[max(0, match.start() - 40) : match.start()]
    before = space.rstrip(_OPENING)
    return bool(before) and before[-1] not in _ENDS and "\n" not in space[len(before) :]


class Sentiment(UtilityTask):
    """Positive, negative or neutral, by :func:`sentiment`; neutral within 0.2 of zero."""

    name = "sentiment"

    def predict(self, texts: Sequence[str]) -> list[Prediction]:
        """Return label and score of each text."""
        scores = [sentiment(text) for text in texts]
        return [
            Prediction("positive" if s > 0.2 else "negative" if s < -0.2 else "neutral", s)
            for s in scores
        ]
