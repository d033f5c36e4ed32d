"""Corrections of machine-made labels, and labels for a second corpus, by lists of forms.

Training only. ``python -m nes_spark.building.corrections --data DIR`` counts what the corrections
say about the machine's labels.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from nes_spark.building.annotated import DATA, Annotated, read_annotated
from nes_spark.entities.lists import read_lists


def forms_pattern(forms: Iterable[str]) -> re.Pattern[str]:
    """Compile a pattern that finds any of the forms as whole words, the longest first."""
    ordered = sorted(set(forms), key=lambda f: (-len(f), f))
    return re.compile(r"(?<![\w&])(?:" + "|".join(map(re.escape, ordered)) + r")(?![\w&])")


def _name_like(surface: str, not_names: frozenset[str]) -> bool:
    words = surface.split()
    return (
        2 <= len(words) <= 4
        and all(re.fullmatch(r"[A-Z][\w'’.-]*", w) for w in words)
        and surface not in not_names
        and not any(w in not_names for w in words)
    )


def correct(texts: Sequence[Annotated], source: str = "earnings21") -> list[Annotated]:
    """Return the texts with the labels of one source corrected.

    Forms of ``corrections.txt`` win over the machine's spans. A machine-made PERSON of several
    capitalised words stays, and so do single words of such names; every other machine-made span
    becomes a span of unknown label.

    Parameters
    ----------
    texts : sequence of Annotated
        Training texts of all sources.
    source : str
        The source whose labels were made by machine.

    Returns
    -------
    list of Annotated
        The same texts in the same order; those of other sources are unchanged.
    """
    lists = read_lists(DATA / "corrections.txt")
    label_of: dict[str, str] = {}
    for label, forms in lists.items():
        for form in forms:
            label_of.setdefault(form, label)
    pattern = forms_pattern(label_of)
    not_names = frozenset(f for f, label in label_of.items() if label not in ("PERSON", "LOC"))
    name_words: set[str] = set()
    for text in texts:
        if text.source != source:
            continue
        for start, end, label in text.ents:
            if label == "PERSON" and _name_like(text.text[start:end], not_names):
                name_words.update(text.text[start:end].split())
    name_words -= not_names
    return [
        _corrected(text, pattern, label_of, not_names, name_words)
        if text.source == source
        else text
        for text in texts
    ]


def _corrected(
    text: Annotated,
    pattern: re.Pattern[str],
    label_of: dict[str, str],
    not_names: frozenset[str],
    name_words: set[str],
) -> Annotated:
    found: list[tuple[int, int, str]] = []
    for start, end, label in text.ents:
        surface = text.text[start:end]
        if label == "PERSON" and _name_like(surface, not_names):
            found.append((start, end, "PERSON"))
    for match in pattern.finditer(text.text):
        if not any(s < match.end() and match.start() < e for s, e, _ in found):
            found.append((match.start(), match.end(), label_of[match.group()]))
    unknown = list(text.missing)
    for start, end, label in text.ents:
        if any(s < end and start < e for s, e, _ in found):
            continue
        if label == "PERSON" and text.text[start:end] in name_words:
            found.append((start, end, "PERSON"))
        else:
            unknown.append((start, end))
    unknown = [(s, e) for s, e in unknown if not any(a < e and s < b for a, b, _ in found)]
    ents = tuple(sorted(f for f in found if f[2] != "NOT"))
    return replace(text, ents=ents, missing=tuple(sorted(unknown)))


def read_second_corpus(path: str | Path) -> list[Annotated]:
    """Read sentences of the calls listed in ``forms.txt`` and label them by its forms.

    Parameters
    ----------
    path : path
        ``calls.jsonl`` of the second corpus: ``ticker`` and ``turns`` with ``text``.

    Returns
    -------
    list of Annotated
        One text a paragraph of at most about 80 words that holds at least one form. Words that are
        written like names and are in no list become spans of unknown label.
    """
    lists = read_lists(DATA / "forms.txt")
    tickers = set(lists.pop("TICKERS"))
    label_of: dict[str, str] = {}
    for source in (lists, read_lists(DATA / "gazetteer.txt")):
        for label, forms in source.items():
            for form in forms:
                label_of.setdefault(form, label)
    pattern = forms_pattern(label_of)
    lexical = re.compile(r"(?<![.?!] )(?<!^)(?<!\n)\b[A-Za-z]*[A-Z][\w&'’-]*\w")
    known = {w for form in label_of for w in form.split()}
    texts = []
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            call = json.loads(line)
            if call["ticker"] not in tickers:
                continue
            for turn in call["turns"]:
                for text in _paragraphs(turn["text"]):
                    found = [
                        (m.start(), m.end(), label_of[m.group()]) for m in pattern.finditer(text)
                    ]
                    if not found:
                        continue
                    unknown = [
                        m.span()
                        for m in lexical.finditer(text)
                        if m.group() not in known
                        and not any(s < m.end() and m.start() < e for s, e, _ in found)
                    ]
                    ents = tuple(f for f in found if f[2] != "NOT")
                    texts.append(Annotated(text, ents, tuple(unknown), "earnings22"))
    return texts


def _paragraphs(text: str, words: int = 80) -> list[str]:
    pieces: list[str] = []
    size = 0
    for sentence in re.split(r"(?<=[.?!]) +(?=[A-Z])", text):
        length = len(sentence.split())
        if pieces and size + length <= words:
            pieces[-1] += " " + sentence
            size += length
        else:
            pieces.append(sentence)
            size = length
    return pieces


def verdicts(
    texts: Sequence[Annotated], corrected: Sequence[Annotated], label: str
) -> Counter[str]:
    """Count what machine-made spans of one label are after correction.

    Parameters
    ----------
    texts, corrected : sequence of Annotated
        Before and after :func:`correct`, in the same order.
    label : str
        Label of the machine's spans.

    Returns
    -------
    Counter
        Spans by the label that they overlap now; ``unknown`` for forms that nobody judged,
        ``none`` for what is no name.
    """
    found: Counter[str] = Counter()
    for before, after in zip(texts, corrected, strict=True):
        for start, end, given in before.ents:
            if given != label:
                continue
            now = {k for s, e, k in after.ents if s < end and start < e}
            unknown = any(s < end and start < e for s, e in after.missing)
            rest = min(now, default="unknown" if unknown else "none")
            found[label if label in now else rest] += 1
    return found


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the verdicts on all labels of the machine-labelled source."""
    parser = argparse.ArgumentParser(prog="python -m nes_spark.building.corrections")
    parser.add_argument("--data", required=True, help="folder with train.jsonl")
    parser.add_argument("--source", default="earnings21")
    options = parser.parse_args(arguments)
    texts = read_annotated(Path(options.data) / "train.jsonl")
    texts = [text for text in texts if text.source == options.source]
    corrected = correct(texts, options.source)
    for label in sorted({label for text in texts for _, _, label in text.ents}):
        counts = verdicts(texts, corrected, label)
        shown = ", ".join(f"{count} {name}" for name, count in counts.most_common())
        print(f"{label}: {counts.total()} spans of the machine: {shown}")


if __name__ == "__main__":
    main()
