"""A small made corpus with swaps, for the adversaries to attack."""

from __future__ import annotations

import contextlib
import random
from dataclasses import dataclass

from nes_spark.schemas import CELLS, CHUNKS, MENTIONS, REWRITES

CATEGORIES = ("Organization", "Product", "Location", "Date")
STYLE = ("steady", "brisk", "frank", "sober", "bold", "dry", "warm", "terse", "vivid", "plain")
#: Setting and combination of all rewrites.
RELEASE = ("pkb", "Organization+Product")
COMMON = ("growth", "margin", "quarter", "demand", "cost", "plan", "team", "market")


@dataclass
class Corpus:
    """Tables as lists of dictionaries, in the order of the schemas."""

    cells: list[dict]
    chunks: list[dict]
    mentions: list[dict]
    rewrites: list[dict]
    components: list[dict]


def render(entities: dict[str, list[str]], words: list[str]) -> tuple[str, list[tuple]]:
    """Put entities between words; return the text and (category, entity, start, end)."""
    text, found = "", []
    filler = iter(words)
    for category in CATEGORIES:
        for entity in entities.get(category, []):
            text += next(filler) + " "
            found.append((category, entity, len(text), len(text) + len(entity)))
            text += entity + " "
    return text + " ".join(filler) + ".", found


def make(documents=6, chunks=8, swaps=6, draws=2, seed=1) -> Corpus:
    """Documents use their own organisations and products; swaps exchange both categories."""
    rng = random.Random(seed)
    corpus = Corpus([], [], [], [], [])
    state: dict[str, dict] = {}
    for d in range(documents):
        for c in range(chunks):
            chunk_id = f"doc{d}#{c:05d}"
            entities = {
                "Organization": sorted({f"Org {d}-{rng.randrange(4)}" for _ in range(2)}),
                "Product": [f"Prod {d}-{rng.randrange(3)}"],
                "Location": [f"City {d % 3}-{rng.randrange(2)}"],
                "Date": [f"Quarter {rng.randrange(3)}"],
            }
            words = [STYLE[d % len(STYLE)]] + [rng.choice(COMMON) for _ in range(9)]
            text, spans = render(entities, words)
            state[chunk_id] = {"entities": entities, "words": words, "document": d}
            corpus.cells.append(
                {
                    "chunk_id": chunk_id,
                    "document_id": f"doc{d}",
                    "metadata": f"Company {d}",
                    "entities": entities,
                    "cell": {k: " & ".join(v) for k, v in entities.items()},
                }
            )
            corpus.chunks.append(
                {
                    "chunk_id": chunk_id,
                    "document_id": f"doc{d}",
                    "metadata": f"Company {d}",
                    "position": c,
                    "start": 0,
                    "end": len(text),
                    "text": text,
                    "gap": "",
                    "n_words": len(text.split()),
                    "n_suppressed": 0,
                }
            )
            corpus.mentions += [
                {
                    "chunk_id": chunk_id,
                    "category": category,
                    "surface": entity,
                    "entity": entity,
                    "start": start,
                    "end": end,
                }
                for category, entity, start, end in spans
            ]
            corpus.components.append({"chunk_id": chunk_id, "component": c % 2})
    for draw in range(draws):
        free = sorted(state)
        rng.shuffle(free)
        order = 0
        while order < swaps:
            a = free.pop()
            b = next(
                x
                for x in free
                if state[x]["document"] != state[a]["document"] and int(x[-1]) % 2 == int(a[-1]) % 2
            )
            free.remove(b)
            order += 1
            for mine, other in ((a, b), (b, a)):
                corpus.rewrites.append(rewrite(state, mine, other, draw, order))
    return corpus


def rewrite(state, mine: str, other: str, draw: int, order: int) -> dict:
    """Exchange organisations (one to one) and products of two chunks."""
    old, new = state[mine]["entities"], state[other]["entities"]
    edits = []
    entities = {k: list(v) for k, v in old.items()}
    _, spans = render(old, state[mine]["words"])
    for category in ("Organization", "Product"):
        for a, b in zip(old[category], new[category], strict=False):
            entities[category][entities[category].index(a)] = b
            start, end = next((s, e) for c, x, s, e in spans if (c, x) == (category, a))
            edits.append(
                {
                    "start": start,
                    "end": end,
                    "old": a,
                    "new": b,
                    "category": category,
                    "old_entity": a,
                    "new_entity": b,
                }
            )
    text, _ = render(entities, state[mine]["words"])
    return {
        "setting": "pkb",
        "combination": "Organization+Product",
        "draw": draw,
        "order": order,
        "chunk_id": mine,
        "partner_id": other,
        "text": text,
        "cell": {k: " & ".join(sorted(v)) for k, v in entities.items()},
        "edits": edits,
    }


def frames(spark, corpus: Corpus, partitions: int | None = None) -> dict:
    """Return the tables as DataFrames over so many partitions."""
    made = {}
    for table, rows in (
        (CELLS, corpus.cells),
        (CHUNKS, corpus.chunks),
        (MENTIONS, corpus.mentions),
        (REWRITES, corpus.rewrites),
    ):
        rows = list(rows)
        if partitions:
            random.Random(partitions).shuffle(rows)
        frame = spark.createDataFrame([[r[c] for c in table.names] for r in rows], table.ddl)
        made[table.name] = frame.repartition(partitions) if partitions else frame
    made["components"] = spark.createDataFrame(
        [(r["chunk_id"], r["component"]) for r in corpus.components],
        "chunk_id string, component int",
    )
    return made


@contextlib.contextmanager
def freed(spark, at_least: int):
    """Give attacks an ExitStack; see that they keep so many tables, and none after it closed."""

    def kept():
        return set(spark.sparkContext._jsc.getPersistentRDDs().keySet())

    before = kept()
    with contextlib.ExitStack() as until:
        yield until
        assert len(kept() - before) >= at_least
    assert kept() <= before
