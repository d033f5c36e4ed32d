"""The Spark stages give what the kernels give, whatever the partitioning and the order of rows."""

from __future__ import annotations

import random
from collections import Counter

import numpy as np
import pytest

from nes_spark.config import ConstraintsConfig, EntitiesConfig, ReleasesConfig, SwappingConfig
from nes_spark.entities.combination import combinations_of
from nes_spark.entities.mentions import Mention
from nes_spark.errors import LedgerError
from nes_spark.schemas import OWN_NAMES, REWRITES, STATUS, SWAPS
from nes_spark.swapping import apply_edits, entities_after, invert_edits, sample_swaps, stages
from nes_spark.swapping.constraints import constraints_of
from nes_spark.swapping.exchange import Exchange
from nes_spark.swapping.rewriting import rewrite_text
from nes_spark.swapping.rows import restore, text_digest

from .corpus import NAMES, frames, make_corpus

SECRET = b"a secret for tests"
TABLES = make_corpus()
RELEASES = ReleasesConfig(
    plan="pairs", max_swaps=10, draws=2, combinations=[["Organization", "Product"], ["Location"]]
)
JS = (("Organization", "Product"), ("Location",))
COMPONENT = {(a["setting"], a["chunk_id"]): a["component"] for a in TABLES["assignments"]}
SETTINGS = ("pkb-K3", "vmf-K1")
CELLS = TABLES["cells"]
IDS = [c["chunk_id"] for c in CELLS]


def rows_of(frame):
    rows = [r.asDict(recursive=True) for r in frame.collect()]
    order = ("setting", "combination", "draw", "order", "chunk_id")
    return sorted(rows, key=lambda r: [r[k] for k in order if k in r])


def in_memory(setting, swap, draw, releases=RELEASES, swapping=None, **options):
    swapping = swapping or SwappingConfig()
    return sample_swaps(
        IDS,
        [c["metadata"] for c in CELLS],
        [COMPONENT[setting, i] for i in IDS],
        {k: [c["entities"][k] for c in CELLS] for k in NAMES},
        swap,
        others=[c for c in NAMES if c not in swap and c not in releases.must_change],
        max_swaps=releases.max_swaps,
        seed=SECRET,
        setting=setting,
        draw=draw,
        constraints=releases.constraints,
        policy=swapping.policy,
        matching=swapping.matching,
        rounds=swapping.rounds,
        uniques_first=swapping.uniques_first,
        cosine_weight=swapping.cosine_weight,
        **options,
    )


def assert_as_in_memory(rows, releases=RELEASES, swapping=None, js=JS, **options):
    total = 0
    for setting in SETTINGS:
        for j in js:
            for draw in range(releases.draws):
                mine = [
                    r
                    for r in rows
                    if (r["setting"], r["combination"], r["draw"]) == (setting, "+".join(j), draw)
                ]
                expected = in_memory(setting, j, draw, releases, swapping, **options)
                assert [
                    (s.order, s.round, s.priority, s.time, s.component, s.chunk_a, s.chunk_b)
                    for s in expected
                ] == [
                    tuple(
                        r[k]
                        for k in (
                            "order", "round", "priority", "time", "component", "chunk_a", "chunk_b"
                        )
                    )
                    for r in mine
                ]  # fmt: skip
                assert [[e.__dict__ for e in s.exchanged] for s in expected] == [
                    r["exchanged"] for r in mine
                ]
                total += len(expected)
    assert total == len(rows) > 0


@pytest.fixture(scope="module")
def data(spark):
    return {name: frame.persist() for name, frame in frames(spark, TABLES, 2, shuffle=1).items()}


@pytest.fixture(scope="module")
def swaps(data):
    frame = stages.sample_candidates(
        data["cells"], data["assignments"], RELEASES, SwappingConfig(), SECRET
    )
    return frame.persist()


def test_swaps_are_the_same_on_any_partitioning_and_as_in_memory(spark, partitions):
    shuffled = frames(spark, TABLES, partitions, shuffle=partitions)
    found = stages.sample_candidates(
        shuffled["cells"], shuffled["assignments"], RELEASES, SwappingConfig(), SECRET
    )
    assert found.columns == SWAPS.names
    assert_as_in_memory(rows_of(found))


@pytest.mark.parametrize(
    ("swapping", "constraints"),
    [
        (SwappingConfig(rounds=2, policy="cover", matching="similar"), ConstraintsConfig()),
        (
            SwappingConfig(uniques_first=True, cosine_weight=2.0),
            ConstraintsConfig(
                min_concentration=0.5,
                same_covariates=["sector"],
                max_count_difference=1,
                min_cosine=-0.5,
            ),
        ),
    ],
    ids=["rounds", "constraints"],
)
def test_options_do_on_spark_what_they_do_in_memory(data, swapping, constraints):
    releases = RELEASES.model_copy(update={"constraints": constraints, "max_swaps": 40})
    concentrations = {"pkb-K3": [0.6, 0.4, 0.5], "vmf-K1": [0.9]}
    sector = {d["document_id"]: d["covariates"]["sector"] for d in TABLES["documents"]}
    vectors = {e["chunk_id"]: e["vector"] for e in TABLES["embeddings"]}
    found = stages.sample_candidates(
        data["cells"],
        data["assignments"],
        releases,
        swapping,
        SECRET,
        concentrations=concentrations,
        covariates=data["documents"],
        embeddings=data["embeddings"],
    )
    rows = rows_of(found)
    total = 0
    for setting in SETTINGS:
        mine = [r for r in rows if r["setting"] == setting]
        for j in JS:
            for draw in range(releases.draws):
                expected = in_memory(
                    setting,
                    j,
                    draw,
                    releases,
                    swapping,
                    concentrations=dict(enumerate(concentrations[setting])),
                    covariates=[sector[c["document_id"]] for c in CELLS],
                    vectors=np.array([vectors[i] for i in IDS], dtype=np.float32),
                )
                got = [r for r in mine if (r["combination"], r["draw"]) == ("+".join(j), draw)]
                assert [(s.round, s.priority, s.chunk_a, s.chunk_b) for s in expected] == [
                    (r["round"], r["priority"], r["chunk_a"], r["chunk_b"]) for r in got
                ]
                assert [[e.__dict__ for e in s.exchanged] for s in expected] == [
                    r["exchanged"] for r in got
                ]
                total += len(got)
    assert total == len(rows) > 0
    if swapping.rounds > 1:
        assert {r["round"] for r in rows} >= {1, 2}


@pytest.mark.parametrize("name", ["concentrations", "covariates", "embeddings"])
def test_an_option_without_its_table_is_an_error(data, name):
    constraint = {
        "concentrations": {"min_concentration": 0.1},
        "covariates": {"same_covariates": ["sector"]},
        "embeddings": {"min_cosine": 0.0},
    }[name]
    releases = RELEASES.model_copy(update={"constraints": ConstraintsConfig(**constraint)})
    with pytest.raises(ValueError, match=f"'{name}' parameter"):
        stages.sample_candidates(
            data["cells"], data["assignments"], releases, SwappingConfig(), SECRET
        )


def test_more_draws_than_a_task_makes(data):
    releases = RELEASES.model_copy(update={"draws": stages.DRAWS_PER_TASK + 2, "max_swaps": 2})
    found = stages.sample_candidates(
        data["cells"], data["assignments"], releases, SwappingConfig(), SECRET
    )
    assert_as_in_memory(rows_of(found), releases)


def own_entities():
    """(document, category, entity) that name a document, and the same for each chunk."""
    rng = random.Random(11)
    found = {
        d["document_id"]: [
            (category, name)
            for category, names in NAMES.items()
            for name in rng.sample(names, rng.randrange(3))
        ]
        for d in TABLES["documents"][::2]
    }
    by_chunk = {
        category: [
            [n for c, n in found.get(cell["document_id"], ()) if c == category] for cell in CELLS
        ]
        for category in NAMES
    }
    return [(d, c, n) for d, names in found.items() for c, n in names], by_chunk


def spark_own(spark):
    return spark.createDataFrame(own_entities()[0], OWN_NAMES.ddl)


# each is compared with the swaps in memory, so one partitioning tells
@pytest.mark.parametrize("partitions", [7], indirect=True)
def test_names_of_a_chunks_own_document_never_come_in(spark, partitions):
    shuffled = frames(spark, TABLES, partitions, shuffle=partitions)
    options = SwappingConfig(rounds=2)
    releases = RELEASES.model_copy(update={"max_swaps": 40, "draws": 1})
    found = stages.sample_candidates(
        shuffled["cells"],
        shuffled["assignments"],
        releases,
        options,
        SECRET,
        own_names=spark_own(spark).repartition(partitions),
    )
    rows = rows_of(found)
    assert_as_in_memory(rows, releases, options, own_names=own_entities()[1])
    own = set(own_entities()[0])
    taken = [
        (row["chunk_a" if e["side"] == "a" else "chunk_b"][:5], e["category"], e["new"])
        for row in rows
        for e in row["exchanged"]
    ]
    assert taken and not own & set(taken)


def test_no_names_and_no_texts_travel_to_the_sampler(spark, data):
    eligible = stages.eligible_rows(
        data["cells"],
        data["assignments"],
        combinations_of(RELEASES),
        constraints_of(RELEASES.constraints),
        SwappingConfig(),
        own_names=spark_own(spark),
    )
    seen = str(eligible.limit(50).collect())
    for names in NAMES.values():
        assert not any(name in seen for name in names)
    assert "Company" not in seen


# -- components larger than a task -------------------------------------------------------------


def large_tables(n=4000):
    rng = random.Random(1)
    cells, assignments = [], []
    for i in range(n):
        entities = {
            "Organization": [f"o{rng.randrange(400)}"],
            "Product": [f"p{rng.randrange(400)}"],
            "Location": [f"l{rng.randrange(9)}"],
        }
        chunk = f"d{i % 97:03d}#{i:05d}"
        cells.append(
            (
                chunk,
                f"d{i % 97:03d}",
                f"m{i % 97}",
                entities,
                {k: v[0] for k, v in entities.items()},
            )
        )
        assignments.append(("pkb-K2", chunk, int(i % 50 == 0), 0.0))
    return cells, assignments


@pytest.fixture(scope="module")
def large(spark):
    cells, assignments = large_tables()
    return (
        spark.createDataFrame(
            cells,
            "chunk_id string, document_id string, metadata string, "
            "entities map<string,array<string>>, cell map<string,string>",
        ).persist(),
        spark.createDataFrame(
            assignments, "setting string, chunk_id string, component int, log_density double"
        ).persist(),
    )


def test_a_large_component_needs_only_its_first_chunks(large, monkeypatch):
    cells, assignments = large
    releases = ReleasesConfig(
        plan="pairs",
        max_swaps=12,
        draws=3,
        combinations=[["Organization", "Product"]],
        must_change={},
    )
    loaded = []
    real = stages._sampled
    monkeypatch.setattr(stages, "_sampled", lambda rows, task: loaded.append(1) or real(rows, task))
    results = []
    for partitions in (1, 5):
        loaded.clear()
        found = stages.sample_candidates(
            cells.repartition(partitions),
            assignments.repartition(partitions),
            releases,
            SwappingConfig(task_chunks=2000),
            SECRET,
        )
        results.append(rows_of(found))
        assert loaded == [1], "the large component was loaded as a whole"
    assert results[0] == results[1]
    assert Counter(r["draw"] for r in results[0]) == {0: 12, 1: 12, 2: 12}
    facts = {c[0]: c for c in large_tables()[0]}
    for r in results[0]:
        a, b = facts[r["chunk_a"]], facts[r["chunk_b"]]
        assert a[2] != b[2] and all(a[4][k] != b[4][k] for k in a[4])
    pairs = [{(r["chunk_a"], r["chunk_b"]) for r in results[0] if r["draw"] == d} for d in range(3)]
    assert not pairs[0] & pairs[1] and not pairs[1] & pairs[2]
    assert {r["component"] for r in results[0]} >= {0}


def test_a_large_component_is_read_whole_when_its_first_chunks_do_not_suffice(large, monkeypatch):
    cells, assignments = large
    releases = ReleasesConfig(plan="pairs", max_swaps=700, draws=1, combinations=[["Organization"]])
    found = stages.sample_candidates(
        cells, assignments, releases, SwappingConfig(task_chunks=1500), SECRET
    )
    whole = stages.sample_candidates(cells, assignments, releases, SwappingConfig(), SECRET)
    rows = rows_of(found)
    assert rows == rows_of(whole)
    assert len(rows) == 700


@pytest.mark.slow
def test_own_names_stay_out_in_a_large_component_too(spark, large):
    cells, assignments = large
    names = [(f"d{d:03d}", "Organization", f"o{o}") for d in range(48) for o in range(200)]
    own = spark.createDataFrame(names, OWN_NAMES.ddl)
    releases = ReleasesConfig(plan="pairs", max_swaps=20, draws=2, combinations=[["Organization"]])
    options = SwappingConfig(task_chunks=1500)
    free = rows_of(stages.sample_candidates(cells, assignments, releases, options, SECRET))
    found = stages.sample_candidates(cells, assignments, releases, options, SECRET, own_names=own)

    def taken(rows):
        return {
            (r["chunk_a" if e["side"] == "a" else "chunk_b"][:4], e["category"], e["new"])
            for r in rows
            for e in r["exchanged"]
        }

    kept_out = rows_of(found)
    assert len(kept_out) == len(free) == 40
    assert taken(free) & set(names)
    assert not taken(kept_out) & set(names)


def test_uniques_come_first_in_a_large_component_too(large):
    cells, assignments = large
    releases = ReleasesConfig(
        plan="pairs", max_swaps=5, draws=2, combinations=[["Organization", "Product"]]
    )
    found = stages.sample_candidates(
        cells, assignments, releases, SwappingConfig(task_chunks=1500, uniques_first=True), SECRET
    )
    count = Counter((c[4]["Organization"], c[4]["Product"]) for c in large_tables()[0])
    facts = {c[0]: count[c[4]["Organization"], c[4]["Product"]] for c in large_tables()[0]}
    rows = rows_of(found)
    assert len(rows) == 10
    assert all(facts[r["chunk_a"]] == facts[r["chunk_b"]] == 1 for r in rows)


# -- texts -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def rewrites(data, swaps):
    frame = stages.rewrite(
        swaps, data["chunks"], data["mentions"], RELEASES, SwappingConfig(), EntitiesConfig()
    )
    return frame.persist()


TEXT = {c["chunk_id"]: c["text"] for c in TABLES["chunks"]}
MENTIONS = {i: [] for i in IDS}
for _m in TABLES["mentions"]:
    MENTIONS[_m["chunk_id"]].append(Mention(**{k: v for k, v in _m.items() if k != "chunk_id"}))
ENTITIES = {c["chunk_id"]: c["entities"] for c in CELLS}


def test_every_swapped_chunk_is_rewritten_and_can_be_undone(swaps, rewrites):
    assert rewrites.columns == REWRITES.names
    plans = {(r["setting"], r["combination"], r["draw"], r["order"]): r for r in rows_of(swaps)}
    rows = rows_of(rewrites)
    assert len(rows) == 2 * len(plans)
    for r in rows:
        chunk = r["chunk_id"]
        plan = plans[r["setting"], r["combination"], r["draw"], r["order"]]
        side = "a" if chunk == plan["chunk_a"] else "b"
        assert {chunk, r["partner_id"]} == {plan["chunk_a"], plan["chunk_b"]}
        assert r["text"] != TEXT[chunk]
        assert invert_edits(r["text"], r["edits"]) == TEXT[chunk]
        assert apply_edits(TEXT[chunk], r["edits"]) == r["text"]
        after = entities_after(ENTITIES[chunk], [Exchange(**e) for e in plan["exchanged"]], side)
        expected = {c: " & ".join(v) for c, v in after.items()}
        expected["Event"] = "[Event]" if ENTITIES[chunk]["Event"] else ""
        assert r["cell"] == expected
        for name in ENTITIES[chunk]["Event"]:
            assert name not in r["text"]


def test_rewrites_do_not_depend_on_partitions(spark, swaps, rewrites, partitions):
    shuffled = frames(spark, TABLES, partitions, shuffle=partitions + 10)
    again = stages.rewrite(
        swaps.repartition(partitions),
        shuffled["chunks"],
        shuffled["mentions"],
        RELEASES,
        SwappingConfig(),
        EntitiesConfig(),
    )
    assert rows_of(again) == rows_of(rewrites)


def test_texts_of_later_rounds_are_cumulative(data):
    releases = ReleasesConfig(plan="pairs", draws=1, max_swaps=60, combinations=[["Organization"]])
    swapping = SwappingConfig(rounds=2)
    swaps = stages.sample_candidates(
        data["cells"], data["assignments"], releases, swapping, SECRET
    ).persist()
    frame = stages.rewrite(
        swaps, data["chunks"], data["mentions"], releases, swapping, EntitiesConfig()
    )
    chains = {}
    for r in rows_of(frame):
        chains.setdefault((r["setting"], r["chunk_id"]), []).append(r)
    plans = {(r["setting"], r["order"]): r for r in rows_of(swaps)}
    assert max(map(len, chains.values())) > 1
    for (setting, chunk), rows in chains.items():
        names = {c: set(v) for c, v in ENTITIES[chunk].items()}
        for r in rows:
            assert invert_edits(r["text"], r["edits"]) == TEXT[chunk]
            plan = plans[setting, r["order"]]
            side = "a" if chunk == plan["chunk_a"] else "b"
            names = entities_after(names, [Exchange(**e) for e in plan["exchanged"]], side)
            assert r["cell"]["Organization"] == " & ".join(names["Organization"])
            assert all(name in r["text"] for name in names["Organization"])


def test_must_change_categories_are_replaced_in_every_chunk(data, partitions):
    found = stages.apply_must_change(
        data["chunks"].repartition(partitions), data["mentions"], {"Event": "[Event]"}
    )
    rows = {r["chunk_id"]: r for r in rows_of(found)}
    assert sorted(rows) == sorted(IDS)
    changed = 0
    for chunk, r in rows.items():
        expected = rewrite_text(TEXT[chunk], MENTIONS[chunk], {}, must_change={"Event": "[Event]"})
        assert r["text"] == expected.text
        assert r["edits"] == [e.__dict__ for e in expected.edits]
        assert invert_edits(r["text"], r["edits"]) == TEXT[chunk]
        changed += bool(r["edits"])
    assert 0 < changed < len(IDS)


@pytest.mark.parametrize("partitions", [7], indirect=True)
def test_dates_of_a_document_move_together_in_every_chunk(spark, data, partitions):
    from nes_spark.swapping.dates import Shift, date_replacements
    from nes_spark.swapping.shift_stages import shifts_of

    documents = spark.createDataFrame(
        [(d["document_id"], "2020Q3", "Seen 24/11/24.") for d in TABLES["documents"]],
        "document_id string, period string, text string",
    )
    shifts = shifts_of(documents.repartition(partitions), SECRET, [180, 1095])
    of = {r["document_id"]: r for r in rows_of(shifts)}
    assert all(r["day_first"] for r in of.values())
    assert len({r["shift_days"] for r in of.values()}) > len(of) // 2
    found = stages.apply_must_change(
        data["chunks"], data["mentions"], {}, shift=["Date"], shifts=shifts
    )
    changed = 0
    for r in rows_of(found):
        chunk = r["chunk_id"]
        mine = of[chunk.partition("#")[0]]
        new = date_replacements(MENTIONS[chunk], Shift(mine["shift_days"]), mine["shift_from"])
        assert r["text"] == rewrite_text(TEXT[chunk], MENTIONS[chunk], new).text
        assert invert_edits(r["text"], r["edits"]) == TEXT[chunk]
        changed += bool(r["edits"])
    assert 0 < changed < len(IDS)
    with pytest.raises(ValueError, match="'shifts' parameter of apply_must_change"):
        stages.apply_must_change(data["chunks"], data["mentions"], {}, shift=["Date"])


def test_nothing_must_change_when_nothing_is_configured(data):
    rows = rows_of(stages.apply_must_change(data["chunks"], data["mentions"], {}))
    assert {r["chunk_id"]: r["text"] for r in rows} == TEXT
    assert all(r["edits"] == [] for r in rows)


# -- accounting --------------------------------------------------------------------------------


def expected_status(setting, swap, taken):
    out = {}
    outside = [c for c in NAMES if c not in swap and c not in RELEASES.must_change]
    eligible = [i for i in IDS if all(ENTITIES[i][c] for c in swap)]
    metadata = {c["chunk_id"]: c["metadata"] for c in CELLS}

    def valid(a, b):
        pairs = [(set(ENTITIES[a][c]), set(ENTITIES[b][c])) for c in swap]
        return (
            metadata[a] != metadata[b]
            and all(x - y and y - x for x, y in pairs)
            and any(ENTITIES[a][c] != ENTITIES[b][c] for c in outside)
        )

    for i in IDS:
        mates = [k for k in eligible if k != i and COMPONENT[setting, k] == COMPONENT[setting, i]]
        if i in taken:
            out[i] = "swapped"
        elif i not in eligible:
            out[i] = "no_entity"
        elif not mates:
            out[i] = "alone_in_component"
        elif all(metadata[k] == metadata[i] for k in mates):
            out[i] = "same_metadata_only"
        elif any(valid(i, k) for k in mates):
            out[i] = "unpaired"
        else:
            out[i] = "no_valid_partner"
    return out


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("j", JS)
def test_every_chunk_is_accounted_for(data, swaps, setting, j):
    mine = swaps.where(
        f"setting = '{setting}' AND combination = '{'+'.join(j)}' AND draw = 0 AND `order` <= 4"
    )
    found = stages.chunk_status(data["cells"], data["assignments"], mine, j, setting, RELEASES)
    assert found.columns == STATUS.names
    status = {r["chunk_id"]: r["status"] for r in rows_of(found)}
    taken = {r[k] for r in rows_of(mine) for k in ("chunk_a", "chunk_b")}
    assert len(taken) == 8
    assert status == expected_status(setting, j, taken)


def test_reasons_of_components_that_cannot_swap(spark):
    def cell(chunk, metadata, organization, date="May"):
        entities = {"Organization": organization, "Date": [date]}
        return (
            chunk,
            chunk[0],
            metadata,
            entities,
            {k: " & ".join(v) for k, v in entities.items()},
        )

    cells = spark.createDataFrame(
        [
            cell("a1", "A", ["x"]), cell("a2", "A", ["y"], "June"),
            cell("b1", "A", ["x"]),
            cell("c1", "A", ["x"]), cell("c2", "B", ["x", "y"], "June"),
            cell("d1", "A", ["x"]), cell("d2", "B", ["y"]),
            cell("e1", "A", ["x"]), cell("e2", "B", ["y"], "June"), cell("e3", "C", []),
        ],
        "chunk_id string, document_id string, metadata string, "
        "entities map<string,array<string>>, cell map<string,string>",
    )  # fmt: skip
    components = {"a": 0, "b": 1, "c": 2, "d": 3, "e": 4}
    assignments = spark.createDataFrame(
        [("s", r["chunk_id"], components[r["chunk_id"][0]], 0.0) for r in cells.collect()],
        "setting string, chunk_id string, component int, log_density double",
    )
    releases = ReleasesConfig(plan="pairs", draws=1, combinations=[["Organization"]])

    def status(releases, **options):
        found = stages.chunk_status(
            cells, assignments, None, ["Organization"], "s", releases, **options
        )
        return {r["chunk_id"]: r["status"] for r in rows_of(found)}

    assert status(releases) == {
        "a1": "same_metadata_only", "a2": "same_metadata_only",
        "b1": "alone_in_component",
        "c1": "no_valid_partner", "c2": "no_valid_partner",
        "d1": "no_valid_partner", "d2": "no_valid_partner",
        "e1": "unpaired", "e2": "unpaired", "e3": "no_entity",
    }  # fmt: skip
    own = spark.createDataFrame([("e", "Organization", "y")], OWN_NAMES.ddl)
    assert {k for k, v in status(releases, own_names=own).items() if k[0] == "e"} == {
        "e1", "e2", "e3"
    }  # fmt: skip
    assert status(releases, own_names=own)["e1"] == "no_valid_partner"
    strict = releases.model_copy(update={"constraints": ConstraintsConfig(min_concentration=0.5)})
    low = status(strict, concentrations={"s": [0.9, 0.9, 0.9, 0.9, 0.1]})
    assert low["e1"] == low["e2"] == "low_concentration" and low["e3"] == "no_entity"
    assert low["a1"] == "same_metadata_only"


# -- inversion ---------------------------------------------------------------------------------


def test_what_spark_wrote_is_restored(data, rewrites):
    from pyspark.sql import functions as F

    mine = rewrites.where(
        "setting = 'pkb-K3' AND combination = 'Location' AND draw = 1 AND `order` <= 5"
    ).select("chunk_id", "text", "edits")
    other = stages.apply_must_change(data["chunks"], data["mentions"], {"Event": "[Event]"})
    release = other.join(mine, "chunk_id", "left_anti").unionByName(mine)
    digests = data["chunks"].select("chunk_id", F.sha2("text", 256).alias("digest"))
    assert all(r.digest == text_digest(TEXT[r.chunk_id]) for r in digests.collect())
    digest = {r["chunk_id"]: r["digest"] for r in rows_of(digests)}
    rows = rows_of(release)
    assert {r["chunk_id"]: restore(r["text"], r["edits"], digest[r["chunk_id"]]) for r in rows} == (
        TEXT
    )
    with pytest.raises(LedgerError):
        restore(rows[0]["text"] + "!", rows[0]["edits"], digest[rows[0]["chunk_id"]])
