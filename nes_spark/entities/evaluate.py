"""Measure a recogniser by overlap matching."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

Span = tuple[int, int, str]


@dataclass
class Score:
    """Counts and rates of one label."""

    predicted: int = 0
    predicted_right: int = 0
    gold: int = 0
    gold_found: int = 0

    @property
    def precision(self) -> float:
        """Share of predicted spans that overlap a gold span of the label."""
        return self.predicted_right / self.predicted if self.predicted else 0.0

    @property
    def recall(self) -> float:
        """Share of gold spans that overlap a predicted span of the label."""
        return self.gold_found / self.gold if self.gold else 0.0

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall."""
        total = self.precision + self.recall
        return 2 * self.precision * self.recall / total if total else 0.0


def overlap_scores(
    gold: Sequence[Sequence[Span]],
    predicted: Sequence[Sequence[Span]],
    missing: Sequence[Sequence[tuple[int, int]]] | None = None,
    labels: Sequence[str] = ("ORG", "PERSON", "LOC", "EVENT", "PRODUCT", "DATE"),
) -> dict[str, Score]:
    """Compare spans text by text; see :class:`Score`."""
    scores = {label: Score() for label in labels}
    ignored = missing or [()] * len(gold)
    for gold_spans, found, unknown in zip(gold, predicted, ignored, strict=True):
        for label in labels:
            score = scores[label]
            g = [(s, e) for s, e, name in gold_spans if name == label]
            p = [(s, e) for s, e, name in found if name == label]
            for start, end in p:
                hit = any(s < end and start < e for s, e in g)
                if not hit and any(s < end and start < e for s, e in unknown):
                    continue
                score.predicted += 1
                score.predicted_right += hit
            score.gold += len(g)
            score.gold_found += sum(any(s < e2 and s2 < e for s2, e2 in p) for s, e in g)
    return scores
