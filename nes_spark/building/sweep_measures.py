"""Measure the sweep for residual names on a finished run.

``python -m nes_spark.building.sweep_measures STAGES`` reads the tables ``chunks`` and ``mentions``
of a run's folder ``stages`` and prints which share of the words the recogniser has found, which
the sweep adds, for which reasons, and the most frequent forms. It prints no text; forms are names,
so that its output is as secret as the run.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import click
import pandas as pd

from nes_spark.entities.mentions import Mention
from nes_spark.entities.sweep import REASONS, Candidate, candidates_of, settle, strongest


@dataclass(frozen=True)
class Measures:
    """What the sweep does to a corpus.

    Attributes
    ----------
    documents, chunks, words : int
        Size of the corpus, or of the half that is looked at; words are separated by white space.
    mentioned : int
        Words in mentions of the recogniser.
    occurrences, swept : Counter
        Per reason: places that are swept, and the words in them.
    forms : list of (form, reason, documents, occurrences, treated)
        All forms, the most frequent ones first.
    """

    documents: int
    chunks: int
    words: int
    mentioned: int
    occurrences: Counter[str]
    swept: Counter[str]
    forms: list[tuple[str, str, int, int, bool]]


def half_of(document_id: str) -> int:
    """Return the half, 0 or 1, that a document belongs to: the parity of its id's SHA-256."""
    return hashlib.sha256(document_id.encode()).digest()[-1] % 2


def measure(
    chunks: pd.DataFrame, mentions: pd.DataFrame, share: float = 0.1, half: int | None = None
) -> Measures:
    """Sweep a corpus and count.

    Parameters
    ----------
    chunks, mentions : DataFrame
        Tables ``CHUNKS`` and ``MENTIONS``.
    share : float
        As ``entities.sweep_share``.
    half : int, optional
        Count in this half of the documents only; forms are always counted over all documents.
    """
    found: dict[str, list[Mention]] = {}
    for chunk_id, start, end, category, surface, entity in mentions[
        ["chunk_id", "start", "end", "category", "surface", "entity"]
    ].itertuples(index=False):
        mention = Mention(int(start), int(end), category, surface, entity)
        found.setdefault(chunk_id, []).append(mention)
    places: list[tuple[str, str, Candidate]] = []
    for document_id, rows in chunks.groupby("document_id"):
        known = [found.get(chunk_id, []) for chunk_id in rows["chunk_id"]]
        for metadata, candidates in zip(
            rows["metadata"], candidates_of(rows["text"].tolist(), known), strict=True
        ):
            places += [(str(document_id), metadata, c) for c in candidates]
    reasons: dict[str, set[str]] = {}
    secrets: dict[str, set[str]] = {}
    for _, metadata, c in places:
        reasons.setdefault(c.form, set()).add(c.reason)
        secrets.setdefault(c.form, set()).add(metadata)
    forms = sorted(reasons)
    reason_of = {form: strongest(reasons[form]) for form in forms}
    documents = [len(secrets[form]) for form in forms]
    total = chunks["metadata"].nunique()
    treated = settle(forms, [reason_of[f] for f in forms], documents, total, share)
    swept = {form for form, yes in zip(forms, treated, strict=True) if yes}

    inside = chunks
    if half is not None:
        inside = chunks[chunks["document_id"].map(half_of) == half]
        places = [place for place in places if half_of(place[0]) == half]
    n_places, n_words, counts = Counter[str](), Counter[str](), Counter[str]()
    for _, _, c in places:
        counts[c.form] += 1
        if c.form in swept:
            n_places[c.reason] += 1
            n_words[c.reason] += len(c.surface.split())
    listed = [
        (form, reason_of[form], n, counts[form], form in swept)
        for form, n in zip(forms, documents, strict=True)
        if counts[form]
    ]
    return Measures(
        documents=inside["document_id"].nunique(),
        chunks=len(inside),
        words=sum(len(text.split()) for text in inside["text"]),
        mentioned=sum(
            len(m.surface.split())
            for chunk_id in inside["chunk_id"]
            for m in found.get(chunk_id, ())
        ),
        occurrences=n_places,
        swept=n_words,
        forms=sorted(listed, key=lambda row: (-row[3], row[0])),
    )


@click.command()
@click.argument("stages", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--share", default=0.1, type=click.FloatRange(0, 1), help="As entities.sweep_share.")
@click.option("--half", type=click.IntRange(0, 1), help="Count in one half of the documents only.")
@click.option("--top", default=40, type=click.IntRange(0), help="How many forms to list.")
def main(stages: Path, share: float, half: int | None, top: int) -> None:
    """Print what the sweep finds in the tables of a finished run."""
    for table in ("chunks", "mentions"):
        if not (stages / table).is_dir():
            raise click.ClickException(f"{stages} has no table {table!r}; give a folder 'stages'")
    found = measure(
        pd.read_parquet(stages / "chunks"), pd.read_parquet(stages / "mentions"), share, half
    )
    click.echo(f"{found.documents} documents, {found.chunks} chunks, {found.words} words")
    swept = sum(found.swept.values())
    for name, count in (("recognised", found.mentioned), ("swept", swept)):
        click.echo(f"{name}: {count} words, {1000 * count / max(found.words, 1):.2f} in 1,000")
    for reason in REASONS:
        if found.occurrences[reason]:
            click.echo(
                f"  {reason}: {found.occurrences[reason]} places, {found.swept[reason]} words"
            )
    for form, reason, documents, count, treated in found.forms[:top]:
        mark = "" if treated else ", left alone"
        click.echo(f"  {count:5d} {form!r} ({reason}, {documents} of the secrets{mark})")


if __name__ == "__main__":
    main()


__all__ = ["Measures", "half_of", "main", "measure"]
