"""The Spark stage of plan ``whole`` gives what the in-memory form does, on any partitions."""

from __future__ import annotations

import os
from collections import defaultdict
from itertools import chain

import numpy as np
import pytest
from pyspark.sql import functions as F

from nes_spark.config import ConstraintsConfig, ReleasesConfig, SwappingConfig
from nes_spark.entities.further_stages import terms_as_own_names
from nes_spark.entities.generalising import general_word
from nes_spark.entities.terms import kin_of, may_give, term_word
from nes_spark.schemas import FATES, OWN_NAMES, PLAN, PLAN_LEFTOVERS
from nes_spark.swapping import collected_stages, plan_stages, sample_plan, whole
from nes_spark.swapping.plan_stages import PlanOptions, name_fates, sample_plans
from nes_spark.swapping.shapes import sort_of
from nes_spark.swapping.treatments import TREATMENTS, Entry
from tests.conftest import setting_of

from .corpus import NAMES, frames, make_corpus

SECRET = b"a secret for tests"
TABLES = make_corpus(14, 5, seed=4, components=6)
CELLS = TABLES["cells"]
IDS = [c["chunk_id"] for c in CELLS]
SETTINGS = ("pkb-K3", "vmf-K1")
PLACE = {(a["setting"], a["chunk_id"]): a["component"] for a in TABLES["assignments"]}
SWAP = ("Organization", "Product", "Location")
OTHERS = ("Person", "Date")
OWN = {("doc00", "Organization"): "Umbra", ("doc03", "Location"): "東京"}
RECODING = {"Organization": {"a lab": ["re:.* Labs"]}}
VECTORS = np.array([e["vector"] for e in TABLES["embeddings"]], dtype=np.float32)
MEANS = {
    "pkb-K3": np.random.default_rng(1).normal(size=(6, 4)),
    "vmf-K1": np.ones((1, 4)),
}


def in_memory(setting, draw, options, releases, swapping, **more):
    own = {
        c: [[v] if (v := OWN.get((i[:5], c))) else [] for i in IDS]
        for c in ("Organization", "Location")
    }
    return sample_plan(
        IDS,
        [c["metadata"] for c in CELLS],
        [PLACE[setting, i] for i in IDS],
        {k: [c["entities"][k] for c in CELLS] for k in NAMES},
        options.swap,
        options.others,
        seed=SECRET,
        setting=setting,
        draw=draw,
        unit=options.unit,
        document_ids=[c["document_id"] for c in CELLS],
        layers=options.layers,
        neighbours=options.neighbours,
        means=dict(enumerate(MEANS[setting])),
        leftover=options.leftover,
        recoding=options.recoding,
        releases=releases,
        swapping=swapping,
        own_names=own,
        vectors=VECTORS,
        covariates=[{"sector": "odd" if int(i[3:5]) % 2 else "even"} for i in IDS],
        donors=options.donors,
        **more,
    )


# Three layers: queries are as long as the layers are many. Seven of them have the sticky plans.
CASES = {
    "as it is": (PlanOptions(SWAP[:2], ("Location", *OTHERS)), {}, {}),
    "neighbours and classes": (
        PlanOptions(
            SWAP[:2],
            ("Location", *OTHERS),
            neighbours=1,
            leftover=("recode", "donor", "drop"),
            recoding=RECODING,
        ),
        {},
        {"uniques_first": True},
    ),
    "documents": (
        PlanOptions(("Organization", "Location"), ("Product", *OTHERS), unit="document"),
        {},
        {"cosine_weight": 2.0},
    ),
    "constraints": (
        PlanOptions(SWAP, OTHERS, layers=(("Location",), ("Organization", "Product")), donors=3),
        {"same_covariates": ["sector"], "min_cosine": -0.3, "not_swapped_before": True},
        {"matching": "similar"},
    ),
}


def drawn(spark, partitions, options, releases, swapping, in_memory_rows=0):
    swapping = swapping.model_copy(update={"in_memory_rows": in_memory_rows})
    data = frames(spark, TABLES, partitions, shuffle=partitions)
    own = spark.createDataFrame([(d, c, e) for (d, c), e in OWN.items()], OWN_NAMES.ddl)
    plans = sample_plans(
        data["cells"],
        data["assignments"],
        options,
        releases,
        swapping,
        SECRET,
        covariates=data["documents"],
        embeddings=data["embeddings"],
        own_names=own.repartition(partitions),
        means=MEANS,
    )
    assert plans.plan.columns == PLAN.names and plans.leftovers.columns == PLAN_LEFTOVERS.names
    swaps = [r.asDict(recursive=True) for r in plans.plan.collect()]
    left = [r.asDict(recursive=True) for r in plans.leftovers.collect()]
    plans.unpersist()
    key = ("setting", "unit", "draw")
    swaps.sort(key=lambda r: [r[k] for k in (*key, "order")])
    left.sort(key=lambda r: [r[k] for k in (*key, "chunk_id", "category", "entity")])
    return swaps, left


# Plain layers are part of the others too: without neighbours in the constraints' case.
PLAIN = pytest.param("as it is", marks=pytest.mark.slow)


@pytest.mark.parametrize("case", [PLAIN, *(c for c in CASES if c != "as it is")])
def test_plans_are_the_same_on_any_partitioning_and_as_in_memory(spark, case, monkeypatch):
    options, constraints, swapping = CASES[case]
    releases = ReleasesConfig(draws=2, constraints=ConstraintsConfig(**constraints))
    swapping = SwappingConfig(**swapping)
    # each is compared with the plan in memory, so one partitioning a case tells
    partitions = {"neighbours and classes": 7, "documents": 1}.get(case, 3)
    results = [drawn(spark, partitions, options, releases, swapping)]
    rows = 2 * len(IDS) * len(SETTINGS)
    results.append(drawn(spark, 2, options, releases, swapping, rows))  # drawn on the driver
    monkeypatch.setattr(collected_stages, "MANY_CHUNKS", 1)  # and whole plans in workers
    results.append(drawn(spark, 2, options, releases, swapping, rows))
    assert all(result == results[0] for result in results)
    swaps, left = results[0]
    total = 0
    for setting in SETTINGS:
        for draw in range(2):
            plan = in_memory(setting, draw, options, releases, swapping)
            mine = [r for r in swaps if (r["setting"], r["draw"]) == (setting, draw)]
            fields = ("order", "neighbour", "layer", "combination", "priority", "time")
            fields += ("component", "chunk_a", "chunk_b")
            assert [tuple(r[k] for k in fields) for r in mine] == [
                tuple(getattr(s, k) for k in fields) for s in plan.swaps
            ]
            assert [r["exchanged"] for r in mine] == [
                [e.__dict__ for e in s.exchanged] for s in plan.swaps
            ]
            rest = [r for r in left if (r["setting"], r["draw"]) == (setting, draw)]
            names = ("chunk_id", "category", "entity", "treatment", "replacement", "donor")
            names += ("reason",)
            assert [tuple(r[k] for k in names) for r in rest] == [
                tuple(getattr(x, k) for k in names) for x in plan.leftovers
            ]
            total += len(plan.swaps)
    assert {r["unit"] for r in swaps} == {options.unit}
    assert total == len(swaps) > 20 and len(left) > 20
    if options.neighbours:
        assert {r["neighbour"] for r in swaps} == {0, 1}
        assert {r["treatment"] for r in left} >= {"recode", "donor"}
    reasons = {r["reason"] for r in left}
    assert "no_partner" in reasons and "shared" in reasons


def test_what_this_process_alone_knows_is_drawn_here(spark, monkeypatch):
    here = []

    def shouted(left, means):
        here.append(os.getpid())
        return {entity: (entity.upper(), None) for entity in left.entities}

    monkeypatch.setitem(TREATMENTS, "shout", Entry(shouted, True, "is shouted"))
    monkeypatch.setattr(collected_stages, "MANY_CHUNKS", 1)
    options = PlanOptions(SWAP, OTHERS, leftover=("donor", "shout"))
    rows = len(IDS) * len(SETTINGS)
    _, left = drawn(spark, 2, options, ReleasesConfig(draws=1), SwappingConfig(), rows)
    assert set(here) == {os.getpid()}
    assert {r["replacement"] == r["entity"].upper() for r in left if r["treatment"] == "shout"} == {
        True
    }


# each is compared with the plan in memory, so one partitioning a unit tells
@pytest.mark.parametrize(
    ("partitions", "options"),
    [
        (7, PlanOptions(SWAP[:2], ("Location", *OTHERS), donors=2, neighbours=1)),
        (1, PlanOptions(SWAP, OTHERS, unit="document")),
    ],
    ids=["chunk", "document"],
)
def test_sticky_plans_are_the_same_on_any_partitioning_and_as_in_memory(spark, partitions, options):
    releases, swapping = ReleasesConfig(draws=1), SwappingConfig(sticky=True, matching="similar")
    swaps, left = drawn(spark, partitions, options, releases, swapping)
    for setting in SETTINGS:
        plan = in_memory(setting, 0, options, releases, swapping)
        assert [(r["chunk_a"], r["chunk_b"]) for r in swaps if r["setting"] == setting] == [
            (s.chunk_a, s.chunk_b) for s in plan.swaps
        ]
        assert [r["exchanged"] for r in swaps if r["setting"] == setting] == [
            [e.__dict__ for e in s.exchanged] for s in plan.swaps
        ]
        names = ("chunk_id", "category", "entity", "treatment", "replacement", "donor", "reason")
        assert [tuple(r[k] for k in names) for r in left if r["setting"] == setting] == [
            tuple(getattr(x, k) for k in names) for x in plan.leftovers
        ]
    assert {r["treatment"] for r in left} >= {"donor"} and len(swaps) > 10


def further_cells():
    """Cells whose places are terms, and whose events are quantities of three likenesses."""
    numbers = {"Iron Forum": "12% (%/e+1/+)", "Expo Day": "$3 million (money/e+6/0)"}
    rows = []
    for k, row in enumerate(CELLS):
        names = dict(row["entities"])
        terms = [f"{n} kilns"[: None if k % 3 else len(n)].lower() for n in names.pop("Location")]
        # some documents have the general word of their tankers as well
        terms += ["tanker"] * (k % 4 == 0) + ["vehicles"] * (k % 9 == 0)
        # and some tell of a people, of which another one reads well in its place
        terms += [["Swedish/adjective"], ["Chilean/adjective"]][k % 2] * (k % 5 == 0)
        amounts = [numbers[n] for n in names.pop("Event")] + [f"{k % 9}% (%/e+0/-)"]
        rows.append(row | {"entities": names | {"Term": terms, "Quantity": sorted(amounts)}})
    return rows


FURTHER = [
    # terms in no layer: from donors where they fit, general words behind them or not, and all
    (
        3,
        PlanOptions(
            ("Person", "Term"),
            ("Quantity",),
            layers=(("Person",),),
            donors=3,
            leftover=("donor", "general", "placeholder"),
        ),
    ),
    # on Spark as the case before it, without general words: here the driver alone draws
    (0, PlanOptions(("Person", "Term"), ("Quantity",), layers=(("Person",),), donors=3)),
    (
        2,
        PlanOptions(
            ("Person", "Term"), ("Quantity",), layers=(("Person",),), donors=3, fitting=False
        ),
    ),
    (1, PlanOptions(("Quantity",), ("Person", "Term"), unit="likeness")),
    pytest.param(
        1,
        PlanOptions(
            ("Person", "Term"), ("Quantity",), layers=(("Person",),), donors=3, fitting=False
        ),
        marks=pytest.mark.slow,
    ),
    pytest.param(
        2,
        PlanOptions(("Person", "Term"), ("Quantity",), layers=(("Person",),), donors=3),
        marks=pytest.mark.slow,
    ),
    pytest.param(
        3, PlanOptions(("Quantity",), ("Person", "Term"), unit="likeness"), marks=pytest.mark.slow
    ),
]


def alone(rows, options, releases, swapping, **more):
    """One draw in memory of cells in one component."""
    return sample_plan(
        IDS,
        [c["metadata"] for c in rows],
        [PLACE["vmf-K1", i] for i in IDS],
        {k: [c["entities"][k] for c in rows] for k in rows[0]["entities"]},
        options.swap,
        options.others,
        seed=SECRET,
        setting="vmf-K1",
        unit=options.unit,
        layers=options.layers,
        donors=options.donors,
        leftover=options.leftover,
        fitting=options.fitting,
        releases=releases,
        swapping=swapping,
        **more,
    )


@pytest.mark.parametrize("partitions", [1, 2, 7])
def test_words_of_clues_are_barred_as_in_memory(spark, partitions):
    """A blanked word comes back as no other document's term."""
    rows = [
        {"chunk_id": c, "document_id": d, "entities": entities}
        for c, d, entities in [
            ("a#0", "a", {"Clue": ["ready mix", "ev", "vehicle"], "Term": ["kilns"]}),
            ("a#1", "a", {"Term": []}),
            ("b#0", "b", {"Term": ["cement/mass", "mixes", "EVs"], "Clue": []}),
            ("c#0", "c", {"Clue": ["it 's how we do it"]}),
            ("d#0", "d", {"Term": ["ready-mix", "mix design"]}),
        ]
    ]
    cells = spark.createDataFrame(
        rows, "chunk_id string, document_id string, entities map<string, array<string>>"
    )
    found = defaultdict(set)
    for row in terms_as_own_names(cells.repartition(partitions)).collect():
        assert row["category"] == "Term"
        assert row["entity"] not in found[row["document_id"]]
        found[row["document_id"]].add(row["entity"])
    assert {"mixes", "ready-mix", "mix", "EVs", "kiln"} <= found["a"]
    given = ["mixes", "EVs", "kilns", "cement/mass", "ready-mix", "mix design"]
    assert may_give(given, found["a"]) == {"cement/mass"}
    # of a clue's words forms that are part of no term bar nothing
    assert "mixs" not in found["a"] and "kilnes" in found["a"]
    # but a general word comes from no document
    assert general_word("tankers") == "vehicles"
    assert general_word("tankers", found["a"]) == ""
    assert set(found) == {"a", "b", "d"}
    # in memory the same are barred
    entities = {c: [row["entities"].get(c, []) for row in rows] for c in ("Term", "Clue", "Person")}
    documents = [row["document_id"] for row in rows]
    seen = []

    def sample(*_, own_names, **__):
        seen.append(own_names["Term"])

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(whole, "sample_plan", sample)
        whole.sample_whole(
            [row["chunk_id"] for row in rows], documents, documents, None, entities,
            [PlanOptions(("Term",), ())],
        )  # fmt: skip
    (own,) = seen
    assert [set(o) for o in own] == [found.get(d, set()) for d in documents]


@pytest.mark.parametrize(("partitions", "options"), FURTHER)
def test_terms_and_quantities_on_spark_as_in_memory(spark, partitions, options):
    rows = further_cells()
    data = frames(spark, TABLES | {"cells": rows}, partitions or 1, shuffle=partitions)
    releases = ReleasesConfig(draws=1)
    own = defaultdict(set)
    for row in rows:
        own[row["document_id"]].update(chain.from_iterable(map(kin_of, row["entities"]["Term"])))
    # beside words that are parts of a document's own names
    every = sorted({term for row in rows for term in row["entities"]["Term"]})[::2]
    for words in own.values():
        words.update(every)
    parts = spark.createDataFrame(
        [(document, "Term", word) for document in own for word in every],
        "document_id string, category string, entity string",
    )
    own_names = {"Term": [own[c["document_id"]] for c in rows]}
    expected = alone(rows, options, releases, SwappingConfig(), own_names=own_names)
    if "Term" in options.swap:
        given = [x for x in expected.leftovers if x.category == "Term"]
        document = {c["chunk_id"]: c["document_id"] for c in rows}
        for x in given:
            if x.treatment == "donor":
                assert own[document[x.chunk_id]].isdisjoint(term_word(x.replacement).split())
        assert given and {x.reason for x in given} == {"no_partner"}
        # invented words fit nothing where something else would do
        peoples = {x.treatment for x in given if x.entity.endswith("adjective")}
        found = {x.treatment for x in given if not x.entity.endswith("adjective")}
        if "general" in options.leftover:
            assert found == {"general", "placeholder"}
        else:
            assert found == {"placeholder"} if options.fitting else "donor" in found
        assert "donor" in peoples
        for x in given:
            if x.treatment == "general" and x.entity == "tanker":
                assert x.replacement == "vehicle" and "vehicles" not in own[document[x.chunk_id]]
    assert len(expected.swaps) > 10
    fields = ("order", "layer", "time", "component", "chunk_a", "chunk_b")
    swaps = [
        (*(getattr(s, f) for f in fields), [e.__dict__ for e in s.exchanged])
        for s in expected.swaps
    ]
    names = ("chunk_id", "category", "entity", "treatment", "replacement", "donor", "reason")
    left = sorted(tuple(str(getattr(x, f)) for f in names) for x in expected.leftovers)
    # of few rows the driver draws, and bars the same words
    for rows_of_driver in (20_000, 0) if partitions else (20_000,):
        plans = sample_plans(
            data["cells"],
            data["assignments"].where("setting = 'vmf-K1'"),
            options,
            releases,
            SwappingConfig(in_memory_rows=rows_of_driver),
            SECRET,
            own_names=parts,
            terms_are_own=True,
        )
        made = [r.asDict(recursive=True) for r in plans.plan.collect()]
        made.sort(key=lambda r: r["order"])
        assert [(*(r[f] for f in fields), r["exchanged"]) for r in made] == swaps
        assert sorted(tuple(str(r[f]) for f in names) for r in plans.leftovers.collect()) == left
        plans.unpersist()


@pytest.mark.parametrize("unit", ["chunk", "document"])
def test_every_name_has_its_fate(spark, unit):
    leftover = ("drop",) if unit == "chunk" else ("donor", "drop")
    options = PlanOptions(SWAP, OTHERS, unit=unit, leftover=leftover)
    releases, swapping = ReleasesConfig(draws=1), SwappingConfig()
    data = frames(spark, TABLES, 2)
    own = spark.createDataFrame([(d, c, e) for (d, c), e in OWN.items()], OWN_NAMES.ddl)
    tables = (data["cells"], data["assignments"].where("setting = 'vmf-K1'"))
    plans = sample_plans(*tables, options, releases, swapping, SECRET, own_names=own)
    expected = in_memory("vmf-K1", 0, options, releases, swapping)
    assert len(expected.swaps) > 0 and (unit == "document" or expected.dropped())
    plan = spark.createDataFrame(plans.plan.collect(), PLAN.ddl)
    leftovers = spark.createDataFrame(plans.leftovers.collect(), PLAN_LEFTOVERS.ddl)
    plans.unpersist()
    for share in (None, 0.3):
        found = name_fates(plan, leftovers, data["cells"], options, releases.must_change, share)
        assert found.columns == FATES.names
        rows = found.orderBy("chunk_id", "category", "entity").collect()
        mine = expected.fates(None if share is None else expected.prefix(share))
        fields = list(mine[0].__dict__)
        assert sorted(tuple(str(r[f]) for f in fields) for r in rows) == sorted(
            tuple(str(getattr(f, name)) for name in fields) for f in mine
        )
    with pytest.raises(ValueError, match="'share' parameter of name_fates"):
        name_fates(plan, leftovers, data["cells"], options, share=1.5)


def test_what_was_collected_serves_the_next_plan(spark):
    """Names and terms are drawn one after the other, of the same tables."""
    options = PlanOptions(SWAP, OTHERS)
    releases, swapping = ReleasesConfig(draws=1), SwappingConfig()
    data = frames(spark, TABLES, 2)
    read = {}
    first = sample_plans(
        data["cells"], data["assignments"], options, releases, swapping, SECRET, read=read
    )
    gone = data["cells"].limit(0), data["assignments"].limit(0)
    again = sample_plans(*gone, options, releases, swapping, SECRET, read=read)
    rows = sorted(map(str, first.plan.collect()))
    assert len(rows) > 10 and sorted(map(str, again.plan.collect())) == rows


def test_what_is_missing_is_named(spark):
    data = frames(spark, TABLES, 1)
    tables = (data["cells"], data["assignments"])
    plain = (ReleasesConfig(), SwappingConfig(), SECRET)
    for name, options in (
        ("means", PlanOptions(SWAP, OTHERS, neighbours=1)),
        ("neighbours", PlanOptions(SWAP, OTHERS, neighbours=1, unit="document")),
        ("leftover", PlanOptions(SWAP, OTHERS, leftover=("donor",))),
        ("layers", PlanOptions(SWAP, OTHERS, layers=(("Date",),))),
    ):
        with pytest.raises(ValueError, match=f"'{name}' parameter of"):
            sample_plans(*tables, options, *plain)
    own = ReleasesConfig(constraints=ConstraintsConfig(same_covariates=["sector"]))
    for name, releases, swapping in (
        ("covariates", own, SwappingConfig()),
        ("embeddings", ReleasesConfig(), SwappingConfig(cosine_weight=1.0)),
    ):
        for rows in (0, 20_000):
            few = swapping.model_copy(update={"in_memory_rows": rows})
            with pytest.raises(ValueError, match=f"'{name}' parameter of"):
                sample_plans(*tables, PlanOptions(SWAP, OTHERS), releases, few, SECRET)
    dense = ReleasesConfig(constraints=ConstraintsConfig(min_concentration=1.0))
    with pytest.raises(ValueError, match="'constraints' parameter of sample_plans"):
        sample_plans(*tables, PlanOptions(SWAP, OTHERS, unit="document"), dense, *plain[1:])


@pytest.mark.parametrize("most", [4, 16])
def test_large_groups_do_not_meet_in_a_task(spark, monkeypatch, most):
    sizes = [90, 80, 70, 30, 20, 10, 5, 3]
    groups = [("k3", c, 0, 0, f"{c}#{i}") for c, n in enumerate(sizes) for i in range(n)]
    rows = spark.createDataFrame(
        groups, "setting string, component int, stratum bigint, draw int, chunk_id string"
    )
    monkeypatch.setattr(plan_stages, "shuffle_partitions", lambda _: most)
    laid = plan_stages._grouped(rows, rows.columns, rows).withColumn("at", F.spark_partition_id())
    found = [tuple(row) for row in laid.collect()]
    assert sorted(row[:-1] for row in found) == sorted(groups)
    tasks = {}
    for _, component, _, _, chunk, at in found:
        tasks.setdefault(at, []).append((component, chunk))
    assert all(part == sorted(part) for part in tasks.values())
    # as much as the largest in each, and no group in two tasks
    assert sorted(map(len, tasks.values())) == [68, 70, 80, 90]
    owners = [c for part in tasks.values() for c in {c for c, _ in part}]
    assert sorted(owners) == list(range(len(sizes)))


def test_no_task_has_more_than_the_largest_group(spark, monkeypatch):
    # as many tasks as the rows divided by the largest group would leave two together
    groups = [("k3", c, 0, 0, f"{c}#{i}") for c in range(5) for i in range(67 + 33 * (c == 0))]
    kinds = "setting string, component int, stratum bigint, draw int, chunk_id string"
    rows = spark.createDataFrame(groups, kinds)
    monkeypatch.setattr(plan_stages, "shuffle_partitions", lambda _: 16)
    # sized by other rows than those that travel
    laid = plan_stages._grouped(rows.where("chunk_id LIKE '%#1%'"), rows.columns, rows)
    found = laid.groupBy(F.spark_partition_id()).agg(F.collect_set("component")).collect()
    assert sorted(row[1] for row in found) == [[c] for c in range(5)]
    # more large groups than tasks
    monkeypatch.setattr(plan_stages, "shuffle_partitions", lambda _: 3)
    few = plan_stages._grouped(rows, rows.columns, rows)
    sizes = few.groupBy(F.spark_partition_id()).count().collect()
    assert sorted(row["count"] for row in sizes) == [100, 134, 134]
    nothing = plan_stages._grouped(rows.where("false"), rows.columns, rows.where("false"))
    assert nothing.collect() == []


def test_many_small_groups_are_left_to_chance(spark, monkeypatch):
    groups = [("k3", 0, s, 0, f"a#{s}-{i}") for s in range(40) for i in range(50 if s == 0 else 2)]
    rows = spark.createDataFrame(
        groups, "setting string, component int, stratum bigint, draw int, chunk_id string"
    )
    monkeypatch.setattr(plan_stages, "shuffle_partitions", lambda _: 3)
    laid = plan_stages._grouped(rows, rows.columns, rows).withColumn("at", F.spark_partition_id())
    found = [tuple(row) for row in laid.collect()]
    assert sorted(row[:-1] for row in found) == sorted(groups)
    assert len({row[-1] for row in found}) == 3
    assert len({(row[2], row[-1]) for row in found}) == 40


def test_no_names_travel_to_the_tasks_that_draw(spark):
    from nes_spark.swapping import plan_stages
    from nes_spark.swapping.layers import Drawing, layers_of
    from nes_spark.swapping.seeds import Secret

    data = frames(spark, TABLES, 1)
    options = PlanOptions(SWAP, OTHERS)
    own = spark.createDataFrame([(d, c, e) for (d, c), e in OWN.items()], OWN_NAMES.ddl)
    units = plan_stages.units_of(data["cells"], own, options)
    drawing = Drawing(Secret(SECRET), SWAP, layers_of(SWAP))
    seen = str(plan_stages.hashed_units(units, drawing, options).limit(50).collect())
    for names in NAMES.values():
        assert not any(name in seen for name in names)
    assert "Company" not in seen and "doc00#00000" in seen


#: Companies and public bodies, so that many pairs have a name that fits none of the other's.
#: One of them no name by itself and one a key, which give theirs to nobody.
COMPANIES = ["Orion Works", "Umbra", "Boarding", "Vega Labs", "LC-4417733"]
BODIES = ["Department of Energy", "FDA", "Ministry of Health", "Federal Trade Commission", "Senate"]


def test_names_of_two_sorts_are_left_to_donors_on_spark_as_in_memory(spark):
    rows = []
    for k, row in enumerate(CELLS):
        names = [(COMPANIES, BODIES)[k % 3 == 0][k % 5], (COMPANIES, BODIES)[k % 2][(k + 1) % 5]]
        rows.append(row | {"entities": row["entities"] | {"Organization": sorted(names)}})
    options = PlanOptions(("Organization",), ("Product", "Location", *OTHERS), donors=16)
    releases, swapping = ReleasesConfig(draws=1), SwappingConfig(matching="similar")
    data = frames(spark, TABLES | {"cells": rows}, 3, shuffle=3)
    plans = sample_plans(
        data["cells"],
        data["assignments"].where("setting = 'vmf-K1'"),
        options,
        releases,
        swapping.model_copy(update={"in_memory_rows": 0}),
        SECRET,
    )
    expected = alone(rows, options, releases, swapping)
    made = sorted(
        (r.asDict(recursive=True) for r in plans.plan.collect()), key=lambda r: r["order"]
    )
    assert [(r["order"], r["chunk_a"], r["chunk_b"], r["exchanged"]) for r in made] == [
        (s.order, s.chunk_a, s.chunk_b, [e.__dict__ for e in s.exchanged]) for s in expected.swaps
    ]
    assert [r["order"] for r in made] == [*range(1, len(made) + 1)] and len(made) > 10
    exchanged = [(e["old"], e["new"]) for r in made for e in r["exchanged"]]
    assert exchanged and all(
        sort_of(old, "Organization") == sort_of(new, "Organization") for old, new in exchanged
    )
    came = {f.replacement for f in expected.fates() if f.category == "Organization"}
    assert "Umbra" in came and not came & {"Boarding", "LC-4417733"}
    fields = ("chunk_id", "category", "entity", "treatment", "replacement", "donor", "reason")
    assert sorted(tuple(str(r[f]) for f in fields) for r in plans.leftovers.collect()) == sorted(
        tuple(str(getattr(x, f)) for f in fields) for x in expected.leftovers
    )
    plans.unpersist()
    keys = {f.treatment for f in expected.fates() if f.entity == "LC-4417733"}
    assert keys == {"placeholder"}
    # every name is exchanged or treated
    fates = [f for f in expected.fates() if f.category == "Organization"]
    assert {f.treatment for f in fates} == {"exchange", "donor", "placeholder"}
    for f in fates:
        given = f.replacement if f.treatment != "placeholder" else f.entity
        assert sort_of(f.entity, "Organization") == sort_of(given, "Organization")


def test_no_task_numbers_a_whole_layer(spark):
    rng = np.random.default_rng(4)
    clocks = [0.0, 0.0, *rng.exponential(3.0, 1998).tolist()]  # a layer that has nearly all swaps
    rows = [
        ("k3", "chunk", draw, None, 0, layer, "A", priority, clock, 1, f"a{i}", f"b{i:04d}", [])
        for draw in (0, 1)
        for layer, times in enumerate((clocks, clocks[:20]))
        for priority in (0, 1)
        for i, clock in enumerate(times)
    ]
    made = spark.createDataFrame(rows, PLAN.ddl).repartition(3)
    made = made.withColumn("_octave", plan_stages._octave())
    numbered = plan_stages._numbered(made)
    assert numbered.columns == PLAN.names
    with (  # else little data is put together in one task
        setting_of(spark, "spark.sql.adaptive.enabled", "false"),
        setting_of(spark, "spark.sql.shuffle.partitions", 16),
    ):
        found = numbered.withColumn("at", F.spark_partition_id()).toPandas()
    key = ["neighbour", "layer", "priority", "time", "chunk_a", "chunk_b"]
    for draw in (0, 1):
        mine = found[found["draw"] == draw].sort_values("order")
        assert mine["order"].tolist() == list(range(1, 4041))
        wanted = sorted(
            (0, row[5], row[7], row[8], row[10], row[11]) for row in rows if row[2] == draw
        )
        assert [tuple(row) for row in mine[key].to_numpy().tolist()] == wanted
    whole = found.groupby(["draw", "layer", "priority"]).size().max()
    together = found.groupby(["draw", "layer", "priority", "at"]).size().max()
    assert whole == 2000 and together < 500  # by layer, all of it was in one place
