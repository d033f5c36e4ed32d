"""A small made-up corpus with all tables that swapping reads."""

from __future__ import annotations

import random

from nes_spark.config import DEFAULT_CATEGORIES
from nes_spark.entities.cells import cell_of
from nes_spark.entities.mentions import Mention

NAMES = {
    "Organization": ["Orion Works", "Umbra", "Intrepid", "Vega Labs", "Ochre & Sons", "Nimbus"],
    "Person": ["Ada Quill", "Ivo Marsh", "Una Brandt", "Odd Fjell"],
    "Product": ["Ampere", "Zephyr 9", "OrbitPad", "iLoom", "Xylo"],
    "Location": ["Oslo", "Ulm", "Faro", "Eger", "Zürich", "東京"],
    "Event": ["Iron Forum", "Expo Day"],
    "Date": ["May 6", "late March"],
}
FRAMES = [
    "We spoke with a {} of note",
    "an {}'s view matters",
    "the {} did well 😀",
    "({})",
    "{}, again {}",
    "שלום {} e\u0301",
]


def make_chunk(rng: random.Random) -> tuple[str, list[Mention]]:
    """Return a text and its mentions."""
    text, mentions = "", []
    for category, names in NAMES.items():
        for name in rng.sample(names, rng.choice([0, 1, 1, 1, 2])):
            frame = rng.choice(FRAMES)
            for i, part in enumerate(frame.split("{}")):
                if i:
                    mentions.append(Mention(len(text), len(text) + len(name), category, name, name))
                    text += name
                text += part
            text += ". "
    return text or "Nothing to see.", mentions


def make_corpus(n_documents=12, per_document=6, seed=5, components=3):
    """Return plain-Python rows of chunks, mentions, cells, assignments, documents, embeddings."""
    rng = random.Random(seed)
    tables = {
        k: [] for k in ("chunks", "mentions", "cells", "assignments", "documents", "embeddings")
    }
    for d in range(n_documents):
        document = f"doc{d:02d}"
        metadata = f"Company {d // 2}"
        sector = {"sector": "odd" if d % 2 else "even"}
        tables["documents"].append({"document_id": document, "covariates": sector})
        for p in range(per_document):
            chunk = f"{document}#{p:05d}"
            text, mentions = make_chunk(rng)
            tables["chunks"].append(
                {
                    "chunk_id": chunk,
                    "document_id": document,
                    "metadata": metadata,
                    "position": p,
                    "text": text,
                }
            )
            entities = {
                c: sorted({m.entity for m in mentions if m.category == c})
                for c in DEFAULT_CATEGORIES
            }
            for m in mentions:
                tables["mentions"].append({"chunk_id": chunk, **m.__dict__})
            tables["cells"].append(
                {
                    "chunk_id": chunk,
                    "document_id": document,
                    "metadata": metadata,
                    "entities": entities,
                    "cell": cell_of(entities, DEFAULT_CATEGORIES),
                }
            )
            vector = [rng.gauss(0, 1) for _ in range(6)]
            norm = sum(v * v for v in vector) ** 0.5
            tables["embeddings"].append(
                {"chunk_id": chunk, "vector": [v / norm for v in vector], "model_id": "m"}
            )
            for setting in ("pkb-K3", "vmf-K1"):
                tables["assignments"].append(
                    {
                        "setting": setting,
                        "chunk_id": chunk,
                        "component": rng.randrange(components) if setting == "pkb-K3" else 0,
                        "log_density": 1.0,
                    }
                )
    return tables


DDL = {
    "chunks": "chunk_id string, document_id string, metadata string, position int, text string",
    "mentions": "chunk_id string, start int, end int, category string, surface string, "
    "entity string",
    "cells": "chunk_id string, document_id string, metadata string, "
    "entities map<string,array<string>>, cell map<string,string>",
    "assignments": "setting string, chunk_id string, component int, log_density double",
    "documents": "document_id string, covariates map<string,string>",
    "embeddings": "chunk_id string, vector array<float>, model_id string",
}


def frames(spark, tables, partitions=2, shuffle=None):
    """Return DataFrames with so many partitions, rows shuffled."""
    out = {}
    for name, rows in tables.items():
        rows = list(rows)
        if shuffle is not None:
            random.Random(shuffle).shuffle(rows)
        columns = [part.split()[0] for part in DDL[name].split(", ")]
        frame = spark.createDataFrame([tuple(r[c] for c in columns) for r in rows], DDL[name])
        out[name] = frame.repartition(partitions)
    return out
