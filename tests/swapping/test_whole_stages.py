"""Plan ``whole`` as swaps, what is left over, and the account of every mention."""

import pytest

from nes_spark.audit.linkage import swap_entities
from nes_spark.config import EntitiesConfig, ReleasesConfig, SwappingConfig
from nes_spark.schemas import CELLS, CHUNKS, EDITS, LEFTOVERS, MENTIONS, PLAN, PLAN_LEFTOVERS, SWAPS
from nes_spark.swapping.rewriting import invert_edits
from nes_spark.swapping.seeds import Secret
from nes_spark.swapping.stages import rewrite
from nes_spark.swapping.whole_stages import (
    appended,
    as_swaps,
    at_tenths,
    coverage,
    leftover_orders,
    leftover_steps,
    leftovers_by_chunk,
    not_reached,
    swaps_by_chunk,
)

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
#: Its keyed place for c#0 is the second of two swaps.
LATE = next(
    secret for secret in map(Secret, range(1, 99)) if secret.digest("left over", "c#0")[0] >= 128
)
LEFT_ROWS = [
    ("s", J, 0, "c#0", "Person", "Ada Quill", "donor", "Maria Lindqvist", "a#0", "no_partner")
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
        leftover_steps(leftover_orders(tables["leftovers"], swaps, LATE)),
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


def test_every_prefix_has_its_share_of_what_is_left_over(spark):
    n, last = 400, 20
    swaps = spark.createDataFrame(
        [("s", J, 0, k, 1, f"{k}#0", f"{k}#1") for k in range(1, last + 1)],
        "setting string, combination string, draw int, `order` int, round int, chunk_a string, "
        "chunk_b string",
    )
    rows = [left(f"{i}#0", "Term", "cement", "donor", "oil") for i in range(n)]
    rows += [left(f"{i}#0", "Person", "Ada", "placeholder", "[Person]") for i in range(n)]
    rows += [left("7#1", "Person", "Ivo", "drop"), left("7#1", "Term", "tire", "keep")]
    leftovers = spark.createDataFrame(rows, LEFTOVERS.ddl)

    def orders(partitions, secret):
        found = leftover_orders(leftovers.repartition(partitions), swaps, secret).collect()
        return {(r["chunk_id"], r["category"]): r["order"] for r in found}

    found = orders(3, LATE)
    other = orders(1, Secret(8))
    assert found == orders(1, LATE) != other
    assert len(found) == 2 * n + 2 and {type(k) for k in found.values()} == {int}
    assert min(found.values()) == 1 and max(found.values()) == last
    for share in (0.1, 0.5, 0.8):
        early = sum(found[f"{i}#0", "Term"] <= share * last for i in range(n)) / n
        assert abs(early - share) < 4 * (share * (1 - share) / n) ** 0.5
    assert all(found[f"{i}#0", "Term"] == found[f"{i}#0", "Person"] for i in range(n))
    # what is dropped stays away: its own swap is before it
    assert all(late["7#1", "Person"] >= 7 for late in (found, other, orders(1, Secret(1))))


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
    # a release that makes no swap says so; names of which nothing is said are told apart
    none = swaps.where("order < 0")
    for rest, reason in ((not_reached(tables["leftovers"], swaps), "not_reached"),
                         (tables["leftovers"], "no_plan")):  # fmt: skip
        found = coverage(tables["mentions"], none, rest, ["Person", "Product"], ["Location"])
        rows = {(r["category"], r["fate"], r["reason"]): r["mentions"] for r in found.collect()}
        assert rows == {
            ("Person", "kept", reason): 2,
            ("Person", "donor", "no_partner"): 1,
            ("Product", "kept", reason): 2,
            ("Location", "replaced", "must_change"): 2,
        }


def left(chunk, category, entity, treatment, replacement=None):
    return ("s", J, 0, chunk, category, entity, treatment, replacement, None, "no_partner")


# the same stages on one partition: the tests before
@pytest.mark.parametrize("partitions", [7], indirect=True)
def test_a_chunk_is_dropped_or_summarised_as_a_whole_and_comes_back(spark, tables):
    swaps = as_swaps(tables["plan"], J)
    rest = [
        left("a#0", "Location", "Oslo", "summary", "Somebody opened something."),
        left("b#0", "Person", "Ivo Tarn", "summary", "Somebody sold something."),
        left("b#0", "Location", "Bergen", "drop"),
        left("c#0", "Person", "Ada Quill", "drop"),
    ]
    leftovers = spark.createDataFrame(rest, LEFTOVERS.ddl)
    found = rewrite(
        swaps, tables["chunks"], tables["mentions"], ReleasesConfig(), SwappingConfig(),
        EntitiesConfig(), leftover_steps(leftover_orders(leftovers, swaps, Secret(3))),
    ).collect()  # fmt: skip
    final = {}
    for row in sorted(found, key=lambda r: r["order"]):
        final[row["chunk_id"]] = row
    found = list(final.values())
    assert {r["chunk_id"]: r["text"] for r in found} == {
        "a#0": "Somebody opened something.", "b#0": "", "c#0": "",
    }  # fmt: skip
    for row in found:
        assert not any(row["cell"].values())
        edits = [e.asDict() for e in row["edits"]]
        assert invert_edits(row["text"], edits) == TEXTS[row["chunk_id"]]
        assert swap_entities({"Person": ["Ada Quill"]}, edits) == {"Person": []}
    account = coverage(
        tables["mentions"], swaps, leftovers, ["Person", "Product", "Location"], [],
        released=spark.createDataFrame(found).select("chunk_id", "edits"),
    )  # fmt: skip
    rows = {(r["category"], r["fate"], r["reason"]): r["mentions"] for r in account.collect()}
    assert sum(rows.values()) == len(NAMES)
    assert rows["Person", "drop", "no_partner"] == 1
    # what was exchanged before goes too, with its chunk
    assert rows["Product", "summary", "with_its_chunk"] == 1
    assert rows["Product", "drop", "with_its_chunk"] == 1
    assert not {fate for _, fate, _ in rows} - {"drop", "summary"}


def test_dates_have_their_fate(spark):
    dates = ["May 2020", "last year", "early 202"]
    mentions = spark.createDataFrame(
        [("a#0", "Date", d, d, 10 * i, 10 * i + 9) for i, d in enumerate(dates)], MENTIONS.ddl
    )
    edits = [
        (0, 9, "May 2020", "July 2021", "Date", "May 2020", "July 2021"),
        (10, 19, "last year", "last year", "Date", "last year", "last year"),
        (20, 29, "early 202", "[Date]", "Date", "early 202", "[Date]"),
    ]
    released = spark.createDataFrame([("a#0", edits)], f"chunk_id string, edits {EDITS}")
    swaps = spark.createDataFrame([], SWAPS.ddl)
    leftovers = spark.createDataFrame([], LEFTOVERS.ddl)
    found = coverage(mentions, swaps, leftovers, ["Person"], [], ["Date"], released)
    assert {(r["fate"], r["reason"]): r["mentions"] for r in found.collect()} == {
        ("shifted", ""): 1, ("kept", "relative"): 1, ("placeholder", "not_understood"): 1,
    }  # fmt: skip
    with pytest.raises(ValueError, match="'released' parameter of coverage"):
        coverage(mentions, swaps, leftovers, ["Person"], [], ["Date"])


def test_a_second_plan_goes_on_where_the_first_ends(spark):
    first = spark.createDataFrame(PLAN_ROWS, PLAN.ddl)
    found = appended(first, first).orderBy("order").collect()
    assert [(r["order"], r["layer"]) for r in found] == [(1, 0), (2, 1), (3, 2), (4, 3)]
    alone = appended(first.where("draw = 9"), first).collect()
    assert sorted((r["order"], r["layer"]) for r in alone) == [(1, 0), (2, 1)]


def document_plan():
    """Two documents with 3 and 2 chunks: every chunk of both must come in, with its own names."""
    names = {
        "x#0": ["Ada"], "x#1": ["Ada", "Ivo"], "x#2": ["Ivo"], "x#3": [], "w#0": ["Una"],
        "w#1": ["Odd", "Una"], "z#0": ["Ada"],
    }  # fmt: skip
    cells = [(c, c[0], c[0].upper(), {"Person": v}, {"Person": ""}) for c, v in names.items()]
    exchanged = [
        ("a", "Person", "Una", "Ada"), ("a", "Person", "Odd", "Ivo"),
        ("b", "Person", "Ada", "Una"), ("b", "Person", "Ivo", "Odd"),
    ]  # fmt: skip
    plan = [("s", "document", 0, 1, 0, 0, "Person", 0, 0.5, None, "w", "x", exchanged)]
    left = [("s", "document", 0, "z", "Person", "Ada", "donor", "Odd", "w", "no_partner")]
    return names, cells, plan, left


def test_documents_are_exchanged_chunk_by_chunk(spark, partitions):
    names, cells, plan, left = document_plan()
    held = spark.createDataFrame(cells, CELLS.ddl).repartition(partitions)
    found = swaps_by_chunk(spark.createDataFrame(plan, PLAN.ddl), held)
    rows = found.orderBy("order").collect()
    assert [(r["order"], r["chunk_a"], r["chunk_b"]) for r in rows] == [
        (1, "w#0", "x#0"), (2, "w#1", "x#1"), (3, "w#0", "x#2"),
    ]  # fmt: skip
    other = {"Ada": "Una", "Ivo": "Odd", "Una": "Ada", "Odd": "Ivo"}
    for row in rows:
        for side in ("a", "b"):
            mine = {e["old"]: e["new"] for e in row["exchanged"] if e["side"] == side}
            assert mine == {n: other[n] for n in names[row[f"chunk_{side}"]]}
    rest = leftovers_by_chunk(spark.createDataFrame(left, PLAN_LEFTOVERS.ddl), held).collect()
    assert [(r["chunk_id"], r["replacement"], r["donor"]) for r in rest] == [("z#0", "Odd", "w#1")]


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


# on one and three partitions: test_every_prefix_has_its_share_of_what_is_left_over
@pytest.mark.parametrize("parts", [*(pytest.param(n, marks=pytest.mark.slow) for n in (1, 2)), 7])
def test_what_is_left_over_follows_its_own_sequence(spark, parts):
    """Sequences of both units stand in the same tables; neither looks at the other's."""
    names = [f"{J}@{unit}" for unit in ("chunk", "document")]
    n, lasts = 60, dict(zip(names, (40, 8), strict=True))
    swaps = [
        ("s", j, 0, k, f"{k}#0", f"{k}#1") for j, last in lasts.items() for k in range(1, last + 1)
    ]
    schema = "setting string, combination string, draw int, `order` int, chunk_a string, "
    schema += "chunk_b string"
    rows = [
        ("s", j, *left(f"{i}#{s}", "Person", "Ada", "drop" if i % 5 == 0 else "donor", "Una")[2:])
        for j in names
        for i in range(n)
        for s in (0, 1)
    ]

    def orders(only):
        found = leftover_orders(
            spark.createDataFrame([r for r in rows if r[1] in only], LEFTOVERS.ddl).repartition(
                parts
            ),
            spark.createDataFrame([r for r in swaps if r[1] in only], schema).repartition(parts),
            LATE,
        )
        steps = leftover_steps(found).collect()
        assert len(steps) == 2 * n * len(only)
        return {(r["combination"], r["chunk_id"]): r["order"] for r in steps}

    both = orders(names)
    assert both == orders(names[:1]) | orders(names[1:])
    for j, last in lasts.items():
        mine = [order for (name, _), order in both.items() if name == j]
        assert max(mine) <= last and len(set(mine)) > 1
