"""Measure a recogniser by overlap matching, on annotated texts and on annotated offsets.

Run as ``python -m nes_spark.building.evaluation --data DIR --corpora DIR --annotations FILE``.
``DIR`` of ``--data`` holds ``test.jsonl`` (texts with spans, several sources); ``--corpora`` and
``--annotations`` add sentences that are kept as offsets and hashes only: the annotations name a
document, a turn, the offsets of a sentence in that turn and its SHA-256, and the spans in the
sentence; the text comes from the corpus.

A predicted span is right when it overlaps a gold span of its label; a gold span is found when it
overlaps a predicted span of its label. Spans that the source marks as *missing* (label unknown) are
left out of both counts, and so are labels that a source does not annotate.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from nes_spark.errors import InputError

Span = tuple[int, int, str]

LABELS = ("ORG", "PERSON", "LOC", "EVENT", "PRODUCT", "DATE")

#: Label of the annotations -> category of the default configuration.
CATEGORIES = {
    "ORG": "Organization",
    "PERSON": "Person",
    "LOC": "Location",
    "EVENT": "Event",
    "PRODUCT": "Product",
    "DATE": "Date",
}


@dataclass
class Score:
    """Counts and rates of one label.

    Attributes
    ----------
    predicted, predicted_right : int
        Spans found, and those that overlap a gold span of the label.
    gold, gold_found : int
        Gold spans, and those that overlap a span found.
    """

    predicted: int = 0
    predicted_right: int = 0
    gold: int = 0
    gold_found: int = 0

    @property
    def precision(self) -> float:
        """Share of predicted spans that overlap a gold span of the label; 0 without any."""
        return self.predicted_right / self.predicted if self.predicted else 0.0

    @property
    def recall(self) -> float:
        """Share of gold spans that overlap a predicted span of the label; 0 without any."""
        return self.gold_found / self.gold if self.gold else 0.0

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall."""
        total = self.precision + self.recall
        return 2 * self.precision * self.recall / total if total else 0.0


@dataclass(frozen=True)
class GoldText:
    """A text, its gold spans, spans of unknown label, and the labels its source annotates."""

    text: str
    spans: tuple[Span, ...]
    missing: tuple[tuple[int, int], ...] = ()
    has: frozenset[str] = field(default_factory=lambda: frozenset(LABELS))
    source: str = ""


def overlap_scores(
    gold: Sequence[Sequence[Span]],
    predicted: Sequence[Sequence[Span]],
    missing: Sequence[Sequence[tuple[int, int]]] | None = None,
    labels: Sequence[str] = LABELS,
) -> dict[str, Score]:
    """Compare spans text by text.

    Parameters
    ----------
    gold, predicted : sequence of sequence of (start, end, label)
        One sequence a text, in the same order.
    missing : sequence of sequence of (start, end), optional
        Spans of unknown label: a prediction that overlaps one and no gold span does not count.
    labels : sequence of str
        Labels to score.

    Returns
    -------
    dict of str to Score
        One score a label.

    Examples
    --------
    >>> scores = overlap_scores([[(0, 5, "ORG")]], [[(3, 9, "ORG"), (10, 12, "ORG")]])
    >>> scores["ORG"].precision, scores["ORG"].recall
    (0.5, 1.0)
    """
    scores = {label: Score() for label in labels}
    ignored = missing or [()] * len(gold)
    for gold_spans, found, unknown in zip(gold, predicted, ignored, strict=True):
        for label in labels:
            score = scores[label]
            right = [(s, e) for s, e, name in gold_spans if name == label]
            said = [(s, e) for s, e, name in found if name == label]
            for start, end in said:
                hit = any(s < end and start < e for s, e in right)
                if not hit and any(s < end and start < e for s, e in unknown):
                    continue
                score.predicted += 1
                score.predicted_right += hit
            score.gold += len(right)
            score.gold_found += sum(any(s < b and a < e for a, b in said) for s, e in right)
    return scores


def read_gold(path: str | Path) -> list[GoldText]:
    """Read a JSON Lines file with ``text``, ``ents``, ``missing``, ``has`` and ``source``."""
    found = []
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            has = frozenset(row.get("has", LABELS))
            # a source's spans of labels that it does not annotate throughout are no gold
            spans = tuple((s, e, label) for s, e, label in row["ents"] if label in has)
            other = tuple((s, e) for s, e, label in row["ents"] if label not in has)
            missing = tuple((s, e) for s, e in row["missing"]) + other
            found.append(GoldText(row["text"], spans, missing, has, row["source"]))
    return found


def resolve_annotations(
    annotations: str | Path, calls: str | Path, part: str | None = None
) -> list[GoldText]:
    """Look up annotated sentences in a corpus.

    Parameters
    ----------
    annotations : path
        JSON Lines: ``document_id``, ``turn`` (0-based), ``start`` and ``end`` of the sentence in
        the turn's text, ``sha256`` of the sentence, ``part``, ``ents`` (offsets in the sentence
        and label).
    calls : path
        JSON Lines with ``document_id`` and ``turns`` (objects with ``text``).
    part : str, optional
        Only this part, ``"development"`` or ``"held_out"``.

    Raises
    ------
    InputError
        When a document is missing or a sentence is not the annotated one (another edition).
    """
    turns: dict[str, list[str]] = {}
    with open(calls, encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            turns[row["document_id"]] = [turn["text"] for turn in row["turns"]]
    found = []
    with open(annotations, encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            row = json.loads(line)
            if part is not None and row["part"] != part:
                continue
            texts = turns.get(row["document_id"])
            if texts is None or row["turn"] >= len(texts):
                raise InputError(f"{annotations}:{number}: the corpus has no such document or turn")
            text = texts[row["turn"]][row["start"] : row["end"]]
            if hashlib.sha256(text.encode()).hexdigest() != row["sha256"]:
                raise InputError(f"{annotations}:{number}: not the sentence that was annotated")
            spans = tuple((s, e, label) for s, e, label in row["ents"])
            found.append(GoldText(text, spans, source=f"earnings22 {row['part']}"))
    return found


def evaluate(recognizer: str, gold: Sequence[GoldText]) -> dict[str, Score]:
    """Score a recogniser, loaded by name with the default configuration, on annotated texts."""
    from nes_spark.entities.recognizers import load_recognizer

    labels = {category: label for label, category in CATEGORIES.items()}
    found = [
        [(m.start, m.end, labels[m.category]) for m in mentions]
        for mentions in load_recognizer(recognizer)([g.text for g in gold])
    ]
    scored = set().union(*(g.has for g in gold)) if gold else set()
    return overlap_scores(
        [g.spans for g in gold],
        found,
        [g.missing for g in gold],
        [label for label in LABELS if label in scored],
    )


def table(name: str, texts: int, scores: dict[str, Score]) -> str:
    """Return a plain-text table of one evaluation set."""
    lines = [f"{name} ({texts} texts)", "  label    gold  precision  recall     F1"]
    for label, s in scores.items():
        rates = f"{100 * s.precision:9.1f}  {100 * s.recall:6.1f}  {100 * s.f1:5.1f}"
        lines.append(f"  {label:8} {s.gold:4}  {rates}")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> None:
    """Command line of the evaluation."""
    parser = argparse.ArgumentParser(prog="python -m nes_spark.building.evaluation")
    parser.add_argument("--recognizer", default="bundled")
    parser.add_argument("--data", help="folder with test.jsonl")
    parser.add_argument("--corpora", help="folder with earnings22/calls.jsonl")
    parser.add_argument("--annotations", help="file of annotated offsets in that corpus")
    options = parser.parse_args(arguments)
    if options.data:
        gold = read_gold(Path(options.data) / "test.jsonl")
        for source in sorted({g.source for g in gold}):
            part = [g for g in gold if g.source == source]
            print(table(source, len(part), evaluate(options.recognizer, part)))
    if options.corpora and options.annotations:
        calls = Path(options.corpora) / "earnings22" / "calls.jsonl"
        for part_name in ("held_out", "development"):
            part = resolve_annotations(options.annotations, calls, part_name)
            name = f"earnings22 {part_name}"
            print(table(name, len(part), evaluate(options.recognizer, part)))


if __name__ == "__main__":
    main()
