"""Plan ``whole`` as swaps, what is left over, and the account of every mention."""

import pytest

from nes_spark.config import EntitiesConfig, ReleasesConfig, SwappingConfig
from nes_spark.schemas import CHUNKS, LEFTOVERS, MENTIONS, PLAN
from nes_spark.swapping.rewriting import invert_edits
from nes_spark.swapping.stages import rewrite
from nes_spark.swapping.whole_stages import as_swaps, at_tenths, coverage, last_steps

TEXTS = {
    "a#0": "Maria Lindqvist opened Zorbix in Oslo.",
    "b#0": "Ivo Tarn sold Quellmar in Bergen.",
    "c#0": "Nobody but Ada Quill came.",
}
NAMES = [
    ("a#0", "Person", "Maria Lindqvist"),
    ("a#0", "Product", "Zorbix"),
    ("a#0", "Location", "Oslo"),
    ("b#0", "Person", "Ivo Tarn"),
    ("b#0", "Product", "Quellmar"),
    ("b#0", "Location", "Bergen"),
    ("c#0", "Person", "Ada Quill"),
]
J = "Person+Product+Location"


def exchange(category, a, b):
    return [("a", category, a, b), ("b", category, b, a)]


PLAN_ROWS = [
    ("s", "chunk", 0, 1, 0, 0, "Person+Product", 0, 0.5, 0, "a#0", "b#0",
     exchange("Person", "Maria Lindqvist", "Ivo Tarn") + exchange("Product", "Zorbix", "Quellmar")),
    ("s", "chunk", 0, 2, 0, 1, "Location", 0, 0.7, 0, "a#0", "b#0",
     exchange("Location", "Oslo", "Bergen")),
]  # fmt: skip
LEFT_ROWS = [
    ("s", "chunk", 0, "c#0", "Person", "Ada Quill", "donor", "Maria Lindqvist", "a#0", "no_partner")
]


@pytest.fixture
def tables(spark, partitions):
    chunks = [(i, i[0], i[0].upper(), 0, t, len(t.split()), 0) for i, t in TEXTS.items()]
    names = [
        n
        for n in CHUNKS.names
        if n
        in ("chunk_id", "document_id", "metadata", "position", "text", "n_words", "n_suppressed")
    ]
    rows = [
        dict(zip(names, row, strict=True)) | {n: None for n in CHUNKS.names if n not in names}
        for row in chunks
    ]
    mentions = [
        {
            "chunk_id": c,
            "category": k,
            "surface": e,
            "entity": e,
            "start": TEXTS[c].index(e),
            "end": TEXTS[c].index(e) + len(e),
        }
        for c, k, e in NAMES
    ]
    made = {
        "chunks": spark.createDataFrame(
            [tuple(r[n] for n in CHUNKS.names) for r in rows], CHUNKS.ddl
        ),
        "mentions": spark.createDataFrame(
            [tuple(r.get(n) for n in MENTIONS.names) for r in mentions], MENTIONS.ddl
        ),
        "plan": spark.createDataFrame(PLAN_ROWS, PLAN.ddl),
        "leftovers": spark.createDataFrame(LEFT_ROWS, LEFTOVERS.ddl),
    }  # fmt: skip
    return {name: frame.repartition(partitions) for name, frame in made.items()}


def test_layers_add_up_and_what_is_left_over_comes_with_the_last_swap(tables):
    swaps = as_swaps(tables["plan"], J)
    entities = EntitiesConfig(
        categories=["Person", "Product", "Location"],
        labels={"PERSON": "Person"},
        consistent_categories=["Person"],
    )
    releases = ReleasesConfig(
        plan="whole", swap=["Person", "Product", "Location"], must_change={}, fixed=[]
    )
    found = rewrite(
        swaps, tables["chunks"], tables["mentions"], releases, SwappingConfig(), entities,
        last_steps(swaps, tables["leftovers"]),
    ).collect()  # fmt: skip
    texts = {(r["chunk_id"], r["order"]): r["text"] for r in found}
    assert len(texts) == len(found) == 5
    assert texts["a#0", 1] == "Ivo Tarn opened Quellmar in Oslo."
    assert texts["a#0", 2] == "Ivo Tarn opened Quellmar in Bergen."
    assert texts["b#0", 2] == "Maria Lindqvist sold Zorbix in Oslo."
    assert texts["c#0", 2] == "Nobody but Maria Lindqvist came."
    for row in found:
        assert (
            invert_edits(row["text"], [e.asDict() for e in row["edits"]]) == TEXTS[row["chunk_id"]]
        )
    partners = {(r["chunk_id"], r["order"]): r["partner_id"] for r in found}
    assert partners["c#0", 2] == "a#0"
    assert partners["a#0", 2] == "b#0"


def test_every_mention_has_its_fate(tables):
    swaps = as_swaps(tables["plan"], J)
    found = coverage(
        tables["mentions"], swaps, tables["leftovers"], ["Person", "Product"], ["Location"]
    )
    rows = {(r["category"], r["fate"], r["reason"]): (r["mentions"], r["chunks"])
            for r in found.collect()}  # fmt: skip
    assert rows == {
        ("Person", "exchanged", ""): (2, 2),
        ("Person", "donor", "no_partner"): (1, 1),
        ("Product", "exchanged", ""): (2, 2),
        ("Location", "replaced", "must_change"): (2, 2),
    }
    assert sum(n for n, _ in rows.values()) == len(NAMES)


def test_candidates_are_tenths_of_the_sequence(spark):
    rows = [("s", J, 0, n) for n in range(1, 38)] + [("t", J, 0, n) for n in range(1, 4)]
    scores = spark.createDataFrame(
        rows, "setting string, combination string, draw int, n_swaps int"
    )
    found = at_tenths(scores).collect()
    assert sorted(r["n_swaps"] for r in found if r["setting"] == "s") == [
        4, 8, 12, 15, 19, 23, 26, 30, 34, 37,
    ]  # fmt: skip
    assert sorted(r["n_swaps"] for r in found if r["setting"] == "t") == [1, 2, 3]
