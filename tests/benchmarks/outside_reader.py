"""Let somebody who knows much, a person or a language model, name the sources of a release.

``python -m tests.benchmarks.outside_reader write RUN_DIR FOLDER --unit documents`` writes
``texts.txt``, which the reader gets and nothing else, and ``key.json``, which it does not get: of
each released document its beginning and three passages; with ``--unit chunks`` single chunks of 40
words and more (``--least``), with ``--originals`` as many more, mixed in, that were suppressed but
not swapped, and with ``--likes N`` each followed by the N released chunks that are most like it,
which may be of the same document. Several RUN_DIRs are mixed, with other chunks of each. The reader
writes a JSON list of objects ``{"text": number, "guess": name, "confidence": 0-100, "identifies":
true or false}``: whether something in the text could be looked up and shown to be that one's (may
be left out). ``... score FOLDER guesses.json`` counts the right ones, of chunks by their length as
well, and prints the others for a person to look through: a guess is right where it shares a telling
word with the name, but for a letter, or is its initials; words of a trade ("Realty") must be all of
the name.

A reader can take the place of a language model's audit: ``... divide RUN_DIR FOLDER --parts 8``
writes all released chunks into FOLDER/0 and so on, each with a ``texts.txt`` for a reader, who
writes ``guesses.json`` beside it; ``... withhold FOLDER named.csv`` lists the chunks that were
named rightly, for ``output.withhold``. Objects may have ``"clues": [words]`` too, copied letter by
letter from the text: what led to the guess. ``... clues FOLDER clues.csv --before OLD`` lists those
of chunks that were named rightly, and those of an older list, for ``entities.clues``; with
``--most N`` of each chunk the N that came first.
"""

from __future__ import annotations

import difflib
import json
import random
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
import numpy as np
import pandas as pd

from nes_spark.audit.together import COMBINED, likenesses
from nes_spark.run.published import PublishedRun
from nes_spark.swapping.ledger import read_ledger, release_id
from nes_spark.text.forms import squeeze
from nes_spark.text.sentences import word_set

#: Letters of a document that are shown: its beginning, and each of three passages.
BEGINNING, PASSAGE = 3500, 1500
WORDS = 40
#: Words of a passage, in classes.
LENGTHS = (0, 30, 50, 75, 100, 150, np.inf)
#: Of two words that are one, misspelt.
ALIKE = 0.9
#: Words that many names have.
_COMMON = word_set(
    "inc corp corporation company companies group the and of holdings holding international "
    "limited ltd plc industries enterprises trust trusts se sa ag nv"
)
#: Words that say what a company does: two of one trade are not the same for them.
_TRADES = word_set(
    "airlines applied bancorp bank banco biosciences brands capital care communications electric "
    "electronics energy entertainment express financial foods gas general health healthcare home "
    "hotels innovative insurance logistics media medical motors oil pharma pharmaceuticals power "
    "properties realty resources restaurants retail sciences semiconductor services software "
    "solutions steel stores systems technologies technology therapeutics"
)


def plain_words(name: str) -> list[str]:
    """Return the words of a name without those that many names have."""
    words = re.findall(r"\w+", name.casefold())
    return [squeeze(w) for w in words if w not in _COMMON]


def initials(name: str) -> set[str]:
    """Return the initials of a name of several words, with and without those that many names have.

    >>> {"fem", "femsa"} <= initials("Fomento Economico Mexicano"), initials("Spire Inc")
    (True, {'si'})
    """
    words = re.findall(r"\w+", name.casefold())
    firsts = {"".join(w[0] for w in some) for some in (plain_words(name), words) if len(some) > 1}
    return firsts | {f"{some}sa" for some in firsts if len(some) > 2}


def is_right(guess: str, name: str) -> bool:
    """Tell whether a guess names the same as a name.

    >>> is_right("GE", "General Electric"), is_right("Kuehne + Nagel", "Kuehne Nagel International")
    (True, True)
    >>> is_right("Armstrong Flooring", "Yeti Holdings"), is_right("unknown", "Rev Group Inc")
    (False, False)
    >>> is_right("Identiv", "Indentiv Inc"), is_right("Enagás", "Enagas"), is_right("", "Enagas")
    (True, True, False)
    >>> is_right("Agree Realty", "Healthcare Realty Trusts"), is_right("Ormat Group", "One Gas")
    (False, False)
    >>> is_right("The New Home Co", "New Home Company Inc"), is_right("Home Depot", "New Home Co")
    (True, False)
    """
    said, known = ({w for w in plain_words(text) if len(w) > 2} for text in (guess, name))
    if said & known - _TRADES or (known and known <= said):
        return True
    if {*plain_words(guess), squeeze(guess)} & initials(name) or known & initials(guess):
        return True
    said, known = said - _TRADES, known - _TRADES
    # a corpus may misspell its names
    pairs = [(a, b) for a in said for b in known if min(len(a), len(b)) > 4]
    return any(difflib.SequenceMatcher(None, a, b).ratio() > ALIKE for a, b in pairs)


@click.group()
def main() -> None:
    """Texts for a reader, and what the reader made of them."""


@main.command()
@click.argument("runs", nargs=-1, required=True)
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--unit", type=click.Choice(["documents", "chunks"]), default="documents")
@click.option("--count", default=110, help="Chunks that are shown of each run.")
@click.option("--originals", default=0, help="So many chunks that were not swapped, mixed in.")
@click.option("--least", default=WORDS, help="Words of a chunk at least.")
@click.option("--likes", default=0, help="Chunks most like it that follow each; of one run.")
@click.option("--seed", default=0)
def write(
    runs: Sequence[str],
    folder: Path,
    unit: str,
    count: int,
    originals: int,
    least: int,
    likes: int,
    seed: int,
) -> None:
    """Write texts.txt and key.json into FOLDER."""
    if likes and (unit == "documents" or len(runs) > 1 or originals):
        raise click.UsageError("--likes goes with chunks of one run, without --originals")
    draw = random.Random(seed)
    shown: list[dict[str, Any]] = []
    seen: set[str] = set()
    for run_dir in runs:
        chunks = released_chunks(run_dir)
        if unit == "documents":
            shown += documents_of(chunks, draw)
            continue
        long = chunks[chunks["text"].str.split().str.len() >= least]
        ids = [i for i in long["chunk_id"] if i not in seen]
        more = originals if run_dir == runs[-1] else 0
        drawn = draw.sample(ids, min(len(ids), count + more))
        seen.update(drawn)
        rows = long.set_index("chunk_id").loc[drawn]
        for place, (chunk, row) in enumerate(rows.iterrows()):
            name = "released" if len(runs) == 1 else Path(run_dir).resolve().parent.name
            kind, text = (name, row["after"]) if place < count else ("original", row["text"])
            words = len(text.split())
            shown.append(
                {
                    "name": row["metadata"], "kind": kind, "text": text, "chunk_id": chunk,
                    "words": words,
                }
            )  # fmt: skip
        if likes:
            add_likest(shown, chunks, likes)
    draw.shuffle(shown)
    write_sheet(shown, folder)
    click.echo(f"{len(shown)} texts of {len({row['name'] for row in shown})} names: {folder}")


def add_likest(shown: Sequence[dict[str, Any]], chunks: pd.DataFrame, most: int) -> None:
    """Add to each text the released chunks that are most like it, and say how many are its own."""
    chunks = chunks.reset_index(drop=True)
    place = pd.Series(chunks.index, index=chunks["chunk_id"])
    by_place = {int(place[row["chunk_id"]]): row for row in shown}
    same = 0
    rows = np.array(sorted(by_place), dtype=np.int64)
    for block, found in likenesses(chunks["after"].tolist(), rows):
        for own, likeness in zip(block.tolist(), found[COMBINED], strict=True):
            order = [int(k) for k in np.argsort(-likeness, kind="stable") if k != own][:most]
            row = by_place[own]
            same += sum(chunks["metadata"][k] == row["name"] for k in order)
            parts = [row["text"], *(chunks["after"][k] for k in order)]
            row["text"] = "\n".join(f"({n}) {text}" for n, text in enumerate(parts, 1))
    click.echo(f"{same / len(shown) / most:.0%} of the likest are of the same name")


def released_chunks(run_dir: str) -> pd.DataFrame:
    """Return the chunks that a run published, in order: as suppressed and as released."""
    run = PublishedRun(run_dir)
    columns = ["chunk_id", "document_id", "metadata", "position", "text"]
    chunks = run.store.read_pandas("chunks", columns)
    released = dict(run.released_texts())
    rows = read_ledger(run.store, run.config.ledger)
    after = {row["chunk_id"]: released.get(release_id(row), "") for row in rows}
    chunks["after"] = chunks["chunk_id"].map(after)
    chunks = chunks[chunks["after"].fillna("") != ""]
    return chunks.sort_values(["document_id", "position"])


def write_sheet(shown: Sequence[dict[str, Any]], folder: Path) -> None:
    """Write the texts for a reader, and the key."""
    folder.mkdir(parents=True, exist_ok=True)
    texts = "\n".join(f"=== TEXT {n:03d} ===\n{row['text']}\n" for n, row in enumerate(shown))
    (folder / "texts.txt").write_text(texts, encoding="utf-8")
    key = [{k: v for k, v in row.items() if k != "text"} for row in shown]
    (folder / "key.json").write_text(json.dumps(key), encoding="utf-8")


@main.command()
@click.argument("run_dir")
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--parts", default=8, help="Readers.")
@click.option("--seed", default=0)
def divide(run_dir: str, folder: Path, parts: int, seed: int) -> None:
    """Write all released chunks, shuffled, into PARTS folders; keys stay in FOLDER/keys."""
    chunks = released_chunks(run_dir)
    rows = [
        {"name": name, "kind": "released", "text": text, "chunk_id": chunk}
        for chunk, name, text in zip(
            chunks["chunk_id"], chunks["metadata"], chunks["after"], strict=True
        )
    ]
    random.Random(seed).shuffle(rows)
    (folder / "keys").mkdir(parents=True, exist_ok=True)
    for part in range(parts):
        write_sheet(rows[part::parts], folder / str(part))
        (folder / str(part) / "key.json").rename(folder / "keys" / f"{part}.json")
    click.echo(f"{len(rows)} texts in {parts} folders: {folder}")


@main.command()
@click.argument("folder", type=click.Path(path_type=Path, exists=True))
@click.argument("output", type=click.Path(path_type=Path))
def withhold(folder: Path, output: Path) -> None:
    """List the chunks that the readers of FOLDER/0 and so on named rightly."""
    found = pd.concat(
        [
            judged(json.loads(key.read_text(encoding="utf-8")), folder / key.stem / "guesses.json")
            for key in sorted((folder / "keys").glob("*.json"))
        ]
    )
    right = found[found["right"]]
    right[["chunk_id"]].to_csv(output, index=False)
    rather = (right["confidence"] >= 50).sum()
    click.echo(
        f"{len(right)} of {len(found)} chunks named, {rather} with 50 % or more, "
        f"{right['identifies'].sum()} identified: {output}"
    )


@main.command()
@click.argument("folder", type=click.Path(path_type=Path, exists=True))
@click.argument("output", type=click.Path(path_type=Path))
@click.option("--before", type=click.Path(path_type=Path, exists=True))
@click.option("--most", type=click.IntRange(min=1), help="Of a chunk the first so many alone.")
def clues(folder: Path, output: Path, before: Path | None, most: int | None) -> None:
    """List what the readers of FOLDER/0 and so on said told them of chunks named rightly."""
    rows: list[dict[str, str]] = []
    named = 0
    for key in sorted((folder / "keys").glob("*.json")):
        guesses = folder / key.stem / "guesses.json"
        said = {int(row["text"]): row for row in json.loads(guesses.read_text(encoding="utf-8"))}
        found = judged(json.loads(key.read_text(encoding="utf-8")), guesses)
        for number, row in found[found["right"]].iterrows():
            named += 1
            told = list(said[int(str(number))].get("clues", ()))[:most]
            known = {"chunk_id": row["chunk_id"], "metadata": row["name"]}
            rows += [{**known, "clue": str(clue)} for clue in told]
    listed = pd.DataFrame(rows, columns=["chunk_id", "metadata", "clue"])
    if before is not None:
        listed = pd.concat([pd.read_csv(before, dtype=str), listed])
    listed.drop_duplicates().to_csv(output, index=False)
    click.echo(f"{len(rows)} clues of {named} chunks named: {output}")


def judged(key: Sequence[dict[str, Any]], guesses: Path) -> pd.DataFrame:
    """Return one row a text: the key's, and ``guess, right, confidence, identifies``."""
    said = {int(row["text"]): row for row in json.loads(guesses.read_text(encoding="utf-8"))}
    rows = []
    for number, truth in enumerate(key):
        row = {"guess": "", "confidence": 0, "identifies": False} | said.get(number, {})
        right = is_right(str(row["guess"]), truth["name"])
        rows.append(
            {
                **truth,
                "guess": str(row["guess"]),
                "right": right,
                "confidence": float(row["confidence"]),
                "identifies": right and bool(row["identifies"]),
            }
        )
    return pd.DataFrame(rows)


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
    found = judged(key, guesses)
    for number, row in found[~found["right"]].iterrows():
        click.echo(f"{number:03d} {row['kind']}: {row['name']} | {row['guess']}")
    for kind, part in found.groupby("kind"):
        sure = part["confidence"] >= 70
        rather = (part["right"] & (part["confidence"] >= 50)).sum()
        click.echo(
            f"{kind}: {part['right'].sum()} of {len(part)} named, {rather} with 50 % or more; "
            f"of {sure.sum()} said with 70 % or more {part.loc[sure, 'right'].sum()} are right; "
            f"{part['identifies'].sum()} identified rightly"
        )
        if "words" in part:
            length = pd.cut(part["words"], LENGTHS, right=False)
            for words, some in part.groupby(length, observed=True):
                click.echo(
                    f"    words {words}: {some['right'].sum()} of {len(some)} named, "
                    f"{some['identifies'].sum()} identified"
                )


if __name__ == "__main__":
    main()
