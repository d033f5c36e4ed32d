"""How much the line "documents named" owes to halves that interleave.

``python -m tests.benchmarks.bench_halves RUN_DIR`` asks the attackers of a run about one half of
every released document by the other half of its original, as the report does, and again with halves
that are made of blocks of several chunks. Whoever holds every other passage of a text knows what
stands beside each one that is asked about; whoever holds another part of it does not. It prints how
many documents the strongest attacker names, as a mean of several draws.
"""

from __future__ import annotations

from collections.abc import Sequence

import click
import pandas as pd

from nes_spark.audit import attack_documents, half_known
from tests.benchmarks.outside_reader import released_chunks


def in_blocks(chunks: pd.DataFrame, n: int) -> pd.DataFrame:
    """Join so many neighbouring chunks of a document to one; the last block may be shorter.

    >>> part = pd.DataFrame({"chunk_id": ["a", "b", "c"], "document_id": "d", "metadata": "m"})
    >>> part = part.assign(position=[0, 1, 2], text_before=list("123"), text_after=list("xyz"))
    >>> in_blocks(part, 2)["text_after"].tolist()
    ['x\\n\\ny', 'z']
    """
    blocks = chunks.assign(block=chunks["position"] // n)
    joined = blocks.groupby(["document_id", "metadata", "block"], as_index=False).agg(
        chunk_id=("chunk_id", "first"),
        text_before=("text_before", "\n\n".join),
        text_after=("text_after", "\n\n".join),
    )
    return joined.sort_values("chunk_id")


def named(chunks: pd.DataFrame, draws: int) -> pd.Series:
    """Return by attacker how many documents it names, the mean of so many halves."""
    counts = []
    for draw in range(draws):
        guesses = attack_documents(*half_known(chunks, bytes([draw + 1])))
        counts.append(guesses["rank"].eq(1).groupby(guesses["attacker"]).sum())
    return pd.concat(counts, axis=1).mean(axis=1)


@click.command()
@click.argument("run_dir")
@click.option("--blocks", multiple=True, type=int, default=(1, 3, 10, 40), help="Chunks of one.")
@click.option("--draws", default=5)
def main(run_dir: str, blocks: Sequence[int], draws: int) -> None:
    """Ask about RUN_DIR's documents with halves of chunks, and of blocks of them."""
    chunks = released_chunks(run_dir)
    chunks = chunks.rename(columns={"text": "text_before", "after": "text_after"})
    click.echo(f"{chunks['document_id'].nunique()} documents, {len(chunks)} chunks")
    for n in blocks:
        counts = named(in_blocks(chunks, n), draws)
        words = chunks["text_before"].str.split().str.len().mean() * n
        click.echo(f"halves of {n} chunks, {words:.0f} words: {counts.max():.1f}")


if __name__ == "__main__":
    main()
