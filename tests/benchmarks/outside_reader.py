"""Let somebody who knows much, a person or a language model, name the sources of a release.

``python -m tests.benchmarks.outside_reader write RUN_DIR FOLDER --unit documents`` writes
``texts.txt``, which the reader gets and nothing else, and ``key.json``, which it does not get: of
each released document its beginning and three passages; with ``--unit chunks`` single chunks of 40
words and more, with ``--originals`` as many more, mixed in, that were suppressed but not swapped.
The reader writes a JSON list of objects ``{"text": number, "guess": name, "confidence": 0-100}``.
``... score FOLDER guesses.json`` counts the right ones and prints the others for a person to look
through: a guess is right where it shares a telling word with the name, or is its initials.
"""

from __future__ import annotations

import json
import random
import re
from pathlib import Path

import click
import pandas as pd

from nes_spark.run.published import PublishedRun
from nes_spark.swapping.ledger import read_ledger, release_id
from nes_spark.text.sentences import word_set

#: Letters of a document that are shown: its beginning, and each of three passages.
BEGINNING, PASSAGE = 3500, 1500
WORDS = 40
#: Words that many names have.
_COMMON = word_set(
    "inc corp corporation company companies group the and of holdings holding international "
    "limited ltd plc industries enterprises trust trusts se sa ag nv"
)


def telling(name: str) -> set[str]:
    """Return the words of a name that tell whose it is, and the initials of names of several."""
    words = re.findall(r"\w+", name.casefold())
    plain = [w for w in words if w not in _COMMON]
    initials = {"".join(w[0] for w in some) for some in (plain, words) if len(some) > 1}
    return {w for w in plain if len(w) > 2} | initials


def is_right(guess: str, name: str) -> bool:
    """Tell whether a guess names the same as a name.

    >>> is_right("GE", "General Electric"), is_right("Kuehne + Nagel", "Kuehne Nagel International")
    (True, True)
    >>> is_right("Armstrong Flooring", "Yeti Holdings"), is_right("unknown", "Rev Group Inc")
    (False, False)
    """
    return bool(telling(guess) & telling(name) or guess.casefold().strip() in telling(name))


@click.group()
def main() -> None:
    """Texts for a reader, and what the reader made of them."""


@main.command()
@click.argument("run_dir")
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--unit", type=click.Choice(["documents", "chunks"]), default="documents")
@click.option("--count", default=110, help="Chunks that are shown (each of both kinds).")
@click.option("--originals", is_flag=True, help="As many chunks that were not swapped, mixed in.")
@click.option("--seed", default=0)
def write(run_dir: str, folder: Path, unit: str, count: int, originals: bool, seed: int) -> None:
    """Write texts.txt and key.json into FOLDER."""
    run, draw = PublishedRun(run_dir), random.Random(seed)
    columns = ["chunk_id", "document_id", "metadata", "position", "text"]
    chunks = run.store.read_pandas("chunks", columns)
    released = dict(run.released_texts())
    rows = read_ledger(run.store, run.config.ledger)
    after = {row["chunk_id"]: released.get(release_id(row), "") for row in rows}
    chunks["after"] = chunks["chunk_id"].map(after)
    chunks = chunks.sort_values(["document_id", "position"])
    shown = documents_of(chunks, draw) if unit == "documents" else []
    if unit == "chunks":
        long = chunks[chunks["text"].str.split().str.len() >= WORDS]
        long = long.iloc[draw.sample(range(len(long)), min(len(long), count * (1 + originals)))]
        for place, row in enumerate(long.itertuples()):
            kind, text = ("released", row.after) if place < count else ("original", row.text)
            shown.append({"name": row.metadata, "kind": kind, "text": text})
    draw.shuffle(shown)
    folder.mkdir(parents=True, exist_ok=True)
    texts = "\n".join(f"=== TEXT {n:03d} ===\n{row['text']}\n" for n, row in enumerate(shown))
    (folder / "texts.txt").write_text(texts, encoding="utf-8")
    key = [{"name": row["name"], "kind": row["kind"]} for row in shown]
    (folder / "key.json").write_text(json.dumps(key), encoding="utf-8")
    click.echo(f"{len(shown)} texts of {len({row['name'] for row in shown})} names: {folder}")


def documents_of(chunks: pd.DataFrame, draw: random.Random) -> list[dict[str, str]]:
    """Return of each document its beginning and three passages, as released."""
    shown = []
    for _, mine in chunks.groupby("document_id"):
        text = "\n".join(mine["after"])
        parts = [text[:BEGINNING]]
        for _ in range(3 if len(text) > BEGINNING + 2 * PASSAGE else 0):
            start = draw.randrange(BEGINNING, len(text) - PASSAGE)
            parts.append(text[start : start + PASSAGE])
        name = str(mine["metadata"].iloc[0])
        shown.append({"name": name, "kind": "released", "text": "\n[...]\n".join(parts)})
    return shown


@main.command()
@click.argument("folder", type=click.Path(path_type=Path, exists=True))
@click.argument("guesses", type=click.Path(path_type=Path, exists=True))
def score(folder: Path, guesses: Path) -> None:
    """Count what was named rightly."""
    key = json.loads((folder / "key.json").read_text(encoding="utf-8"))
    said = {int(row["text"]): row for row in json.loads(guesses.read_text(encoding="utf-8"))}
    rows = []
    for number, truth in enumerate(key):
        row = said.get(number, {"guess": "", "confidence": 0})
        right = is_right(str(row["guess"]), truth["name"])
        rows.append((truth["kind"], right, float(row["confidence"])))
        if not right:
            click.echo(f"{number:03d} {truth['kind']}: {truth['name']} | {row['guess']}")
    found = pd.DataFrame(rows, columns=["kind", "right", "confidence"])
    for kind, part in found.groupby("kind"):
        sure = part["confidence"] >= 70
        click.echo(
            f"{kind}: {part['right'].sum()} of {len(part)} named; of {sure.sum()} said with 70 % "
            f"or more {part.loc[sure, 'right'].sum()} are right"
        )


if __name__ == "__main__":
    main()
