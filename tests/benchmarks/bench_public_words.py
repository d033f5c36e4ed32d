"""Which companies of a published run do a few public words of each name, before and after?

``python -m tests.benchmarks.bench_public_words RUN_DIR --corpus earnings21`` reads the released
chunks of a run folder ``OUT/PERIOD``, joins them to documents with its sealed ledger (of a company
with several the first by id, the others are left out) and lets
:func:`nes_spark.audit.attack_public_words` look for the words of ``public_words.tsv``, or of
``--words FILE`` (JSON: secret to list of words). Printed: how many companies are named before
(texts as suppressed) and after, with and without confidence, which words of those that are named
still stand in their own document and why, and the share of words that the release changed.

``--halves`` tells the figures of either half of the companies (by a hash of their names) and words
of the first half alone: what is learnt from those is judged by the second.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter, defaultdict
from pathlib import Path

import click
import pandas as pd

from nes_spark.audit import attack_public_words
from nes_spark.audit.public_words import word_counts, word_key
from nes_spark.run.published import PublishedRun
from nes_spark.swapping.ledger import read_ledger, release_id

LISTS = Path(__file__).with_name("public_words.tsv")


def read_words(path: Path, corpus: str) -> dict[str, list[str]]:
    """Return secret -> public words: of a JSON file, or of one corpus of a table of this kind."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".json":
        return json.loads(text)
    rows = [line.split("\t") for line in text.splitlines() if line and not line.startswith("#")]
    return {row[1]: [w.strip() for w in row[2].split(";")] for row in rows if row[0] == corpus}


class Released:
    """The documents of a run before and after, one of each secret."""

    def __init__(self, run_dir: str) -> None:
        run = PublishedRun(run_dir)
        columns = ["chunk_id", "document_id", "metadata", "position", "text"]
        chunks = run.store.read_pandas("chunks", columns).sort_values(["document_id", "position"])
        first = chunks.groupby("metadata")["document_id"].transform("min")
        self.dropped = chunks.loc[chunks["document_id"] != first, "document_id"].nunique()
        chunks = chunks[chunks["document_id"] == first]
        released = dict(run.released_texts())
        rows = list(read_ledger(run.store, run.config.ledger))
        after = {r["chunk_id"]: released.get(release_id(r), "") for r in rows}
        self.edits = {r["chunk_id"]: r["edits"] for r in rows}
        self.chunks = chunks.assign(after=[after.get(i, "") for i in chunks["chunk_id"]])
        self.truth = dict(zip(chunks["document_id"], chunks["metadata"], strict=True))
        self.mentions = defaultdict(list)
        fields = ["chunk_id", "start", "end", "category"]
        for chunk, *mention in run.store.rows("mentions", fields):
            self.mentions[chunk].append(mention)

    def texts(self, column: str) -> dict[str, str]:
        """Return document -> text."""
        return {d: "\n\n".join(part[column]) for d, part in self.chunks.groupby("document_id")}

    def changed(self) -> float:
        """Return the share of words that were replaced."""
        ids = set(self.chunks["chunk_id"])
        old = sum(len(e["old"].split()) for i in ids for e in self.edits.get(i, ()))
        return old / sum(len(text.split()) for text in self.chunks["text"])

    def why(self, secret: str, word: str) -> str:
        """Say where a word of a secret still stands in its own document, and since when."""
        key = [word_key(word)]
        found: Counter[str] = Counter()
        for chunk_id, document, before, after in self.chunks[
            ["chunk_id", "document_id", "text", "after"]
        ].itertuples(index=False):
            if self.truth[document] != secret:
                continue
            n, was = int(word_counts(after, key)[0]), int(word_counts(before, key)[0])
            if not n:
                continue
            found["put there"] += max(0, n - was)
            held = Counter(
                c for s, e, c in self.mentions[chunk_id] if word_counts(before[s:e], key)[0]
            )
            left = min(n, was)
            for category, count in held.items():
                moved = sum(
                    bool(word_counts(e["old"], key)[0])
                    for e in self.edits.get(chunk_id, ())
                    if e["category"] == category
                )
                kept = min(left, max(0, count - moved))
                found[f"{category} kept"] += kept
                left -= kept
            found["not recognised"] += left
        return ", ".join(f"{why} {n}" for why, n in found.items() if n)


def summary(found: pd.DataFrame) -> str:
    """Return one line about an attack."""
    wrong = int((found["confident"] & ~found["right"]).sum())
    return (
        f"named {found['named'].sum():.1f} of {len(found)}, with confidence "
        f"{int(found['right'].sum())} (and {wrong} wrongly)"
    )


def second_half(secret: str) -> bool:
    """Whether a company is one of those that nobody looks into."""
    return hashlib.sha256(secret.encode()).digest()[0] % 2 == 1


@click.command()
@click.argument("run_dir", type=click.Path(file_okay=False, exists=True))
@click.option("--corpus", default="earnings21", show_default=True)
@click.option("--words", type=click.Path(dir_okay=False, exists=True, path_type=Path))
@click.option("--every", is_flag=True, help="Tell the words of all companies, not of those named.")
@click.option("--halves", is_flag=True, help="Tell the words of one half of the companies alone.")
def main(run_dir: str, corpus: str, words: Path | None, every: bool, halves: bool) -> None:
    """Print the figures, and the words that still tell."""
    lists = read_words(words or LISTS, corpus)
    released = Released(run_dir)
    if released.dropped:
        click.echo(f"{released.dropped} further documents of the same companies left out")
    before = attack_public_words(released.texts("text"), lists, released.truth)
    after = attack_public_words(released.texts("after"), lists, released.truth)
    click.echo(f"before: {summary(before)}")
    click.echo(f"after:  {summary(after)}")
    if halves:
        second = after["candidate"].map(second_half)
        click.echo(f"first half:  {summary(after[~second])}")
        click.echo(f"second half: {summary(after[second])}")
        after = after[~second]
    click.echo(f"words changed: {released.changed():.1%}")
    texts = released.texts("after")
    known = sorted({word_key(w) for mine in lists.values() for w in mine})
    holders = dict.fromkeys(known, 0)
    for text in texts.values():
        for key, n in zip(known, word_counts(text, known), strict=True):
            holders[key] += bool(n)
    for row in after.itertuples():
        if not (every or row.named):
            continue
        told = "sure" if row.right else "named" if row.named else "hidden"
        click.echo(f"{row.candidate} ({told}; {row.score:.1f}, next {row.runner_up:.1f})")
        for word in lists[row.candidate]:
            if reason := released.why(row.candidate, word):
                click.echo(f"    {word}, in {holders[word_key(word)]} documents: {reason}")


if __name__ == "__main__":
    main()
