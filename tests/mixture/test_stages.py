"""Mixtures on Spark: the same result as in memory, whatever the partitions."""

from __future__ import annotations

import logging

import numpy as np
import pandas as pd
import pytest
from pyspark.sql import functions as F

from nes_spark.config import MixtureConfig
from nes_spark.errors import InputError
from nes_spark.mixture import MixtureSetting, fit_mixture, packing_stages, passes_stages, stages
from nes_spark.schemas import ASSIGNMENTS, EMBEDDINGS
from tests.mixture.test_fit import clustered

N, D = 700, 16
GRID = {
    "family": ["pkb", "spcauchy"],
    "n_components": [3],
    "min_weight": [0.05],
    "n_init": 2,
    "max_iter": 5,
}


def table(spark, vectors, ids=None):
    ids = ids or [f"doc{i % 9}#{i:05d}" for i in range(len(vectors))]
    frame = pd.DataFrame({"chunk_id": ids, "vector": list(vectors), "model_id": "test"})
    return spark.createDataFrame(frame, EMBEDDINGS.ddl)


@pytest.fixture(scope="module")
def vectors():
    return clustered(np.random.default_rng(0), N, D, 4, 1.2).astype(np.float32)


@pytest.fixture(scope="module")
def embeddings(spark, vectors):
    df = table(spark, vectors).repartition(2).cache()
    df.count()
    yield df
    df.unpersist()


@pytest.fixture(scope="module")
def in_memory(embeddings):
    return stages.fit_mixtures(embeddings, MixtureConfig(**GRID), "secret")


@pytest.fixture
def small_blocks(monkeypatch):
    """Some ten blocks in nine groups, so that there is something to add up."""
    monkeypatch.setattr(packing_stages, "BLOCK_BYTES", 64 * 4 * D)
    monkeypatch.setattr(packing_stages, "MAX_GROUPS", 6)


def same(a, b):
    return (
        np.array_equal(a.means, b.means)
        and np.array_equal(a.weights, b.weights)
        and np.array_equal(a.concentrations, b.concentrations)
        and np.array_equal(a.history, b.history)
        and a.restarts == b.restarts
    )


@pytest.fixture(scope="module")
def reference():
    """The distributed fit that the first partitioning gave; all others must equal it."""
    return {}


def check_partitions(embeddings, in_memory, reference, count):
    config = MixtureConfig(**GRID, in_memory_rows=0)
    found = stages.fit_mixtures(embeddings.repartition(count), config, "secret", partitions=count)
    assert list(found) == list(in_memory) == ["pkb-K3-eps0.05", "spcauchy-K3-eps0.05"]
    for name, model in found.items():
        expected = in_memory[name]
        np.testing.assert_allclose(model.means, expected.means, atol=1e-11)
        np.testing.assert_allclose(model.weights, expected.weights, atol=1e-11)
        np.testing.assert_allclose(model.concentrations, expected.concentrations, atol=1e-11)
        np.testing.assert_allclose(model.history, expected.history, rtol=1e-12)
        assert model.best_restart == expected.best_restart
        # not to rounding: bit for bit
        assert same(model, reference.setdefault(name, model))


def test_any_number_of_partitions_gives_the_same_bits(
    embeddings, in_memory, small_blocks, reference, partitions
):
    check_partitions(embeddings, in_memory, reference, partitions)


@pytest.mark.slow
def test_64_partitions_give_the_same_bits(embeddings, in_memory, small_blocks, reference):
    check_partitions(embeddings, in_memory, reference, 1)
    check_partitions(embeddings, in_memory, reference, 64)


def one_pass(vectors, mixtures):
    return passes_stages._encode(vectors.evaluate(mixtures))


def test_a_pass_is_the_same_by_section_and_without_local_files(
    spark, embeddings, in_memory, small_blocks, monkeypatch
):
    mixtures = [m.parameters for m in in_memory.values()]
    monkeypatch.setattr(passes_stages, "SECTION", 2)
    with passes_stages.SparkVectors(embeddings, N, D, 3) as packed:
        assert packed.n_groups == 6
        expected = one_pass(packed, mixtures)
        assert packed.sent == 0  # blocks came from the local files
        monkeypatch.setattr(passes_stages, "DRIVER_BYTES", 0)
        assert one_pass(packed, mixtures) == expected
        # an executor that lost its files: a name under which there are none
        packed.name = "lost"
        before = spark.conf.get("spark.sql.execution.arrow.maxRecordsPerBatch")
        assert one_pass(packed, mixtures) == expected
        assert packed.sent == 3
        monkeypatch.setattr(passes_stages, "DRIVER_BYTES", 1 << 30)
        assert one_pass(packed, mixtures) == expected
        assert packed.sent == 3 + 6
        assert spark.conf.get("spark.sql.execution.arrow.maxRecordsPerBatch") == before


def test_rows_are_packed_once_in_a_fixed_order(spark, embeddings, vectors, small_blocks):
    one, _, _ = packing_stages.pack(embeddings, N, D, 1)
    five, _, _ = packing_stages.pack(embeddings.repartition(5), N, D, 5)
    rows = [
        sorted((r["block"], r["group"], r["chunk_ids"], bytes(r["vectors"])) for r in df.collect())
        for df in (one, five)
    ]
    assert rows[0] == rows[1]
    assert len(rows[0]) > 5
    ids = [i for r in rows[0] for i in r[2]]
    assert len(ids) == len(set(ids)) == N
    assert all(r[2] == sorted(r[2]) for r in rows[0])
    block = rows[0][3]
    first = int(block[2][0].rsplit("#", 1)[1])
    assert np.array_equal(np.frombuffer(block[3], np.float32)[:D], vectors[first])


@pytest.mark.parametrize("count", [2, 3, 4])
def test_groups_are_spread_evenly_over_partitions(spark, embeddings, small_blocks, count):
    packed, _, n_groups = packing_stages.pack(embeddings, N, D, count, files=False)
    rows = packed.select("group", F.spark_partition_id().alias("at")).distinct().collect()
    per_partition = np.bincount([r["at"] for r in rows], minlength=count)
    assert len(rows) == n_groups == 6
    assert len(per_partition) == count
    assert per_partition.max() <= -(-n_groups // count)


def test_local_files_are_gone_afterwards(spark, embeddings, small_blocks):
    def files(name):
        def work(batches):
            import pyarrow as pa

            for _ in batches:
                pass
            root = packing_stages.local_root()
            found = list((root / f"nes-spark-vectors-{name}").glob("*")) if root else []
            yield pa.RecordBatch.from_arrays([pa.array([len(found)])], names=["n"])

        return max(r["n"] for r in spark.range(1).mapInArrow(work, "n bigint").collect())

    with passes_stages.SparkVectors(embeddings, N, D, 2) as packed:
        assert files(packed.name) > 5
    assert files(packed.name) == 0


def test_the_fit_in_memory_is_that_of_the_public_function_on_the_same_rows(in_memory, vectors):
    # other row order, other starts: so compare what both must find, the best of a few restarts
    model = fit_mixture(vectors, "pkb", 3, min_weight=0.05, n_init=6)
    again = in_memory["pkb-K3-eps0.05"]
    assert again.n == N
    assert again.log_likelihood == pytest.approx(model.log_likelihood, rel=0.02)


def test_the_choice_is_logged(embeddings, caplog):
    config = MixtureConfig(family="pkb", n_components=1, min_weight=0, n_init=1)
    with caplog.at_level(logging.INFO, logger="nes_spark.mixture.stages"):
        stages.fit_mixtures(embeddings, config, 1)
    assert "700 vectors of dimension 16, fitted in memory" in caplog.text


def test_repeated_vectors_count_once(spark, vectors, in_memory):
    """'Thank you.' in two hundred calls is one point, not a topic on which a component closes."""
    repeats = np.repeat(vectors[[3, 50]], 100, axis=0)
    ids = [f"doc{i % 9}#{i:05d}" for i in range(N)] + [f"zz{i}#00000" for i in range(200)]
    df = table(spark, np.concatenate([vectors, repeats]), ids).cache()
    once = stages.count_once(df.repartition(7))
    assert sorted(r["chunk_id"] for r in once.collect()) == sorted(ids[N:])
    found = stages.fit_mixtures(df, MixtureConfig(**GRID), "secret")
    for name, model in in_memory.items():
        assert same(found[name], model)
        assert found[name].n == N
    df.unpersist()


def test_warm_start_and_document_penalty(spark, small_blocks):
    rng = np.random.default_rng(3)
    x = np.concatenate([clustered(rng, 90, D, 1, 0.4), clustered(rng, 60, D, 1, 0.4)])
    ids = [f"doc{i % 6}#{i:05d}" for i in range(90)] + [f"alone#{i:05d}" for i in range(60)]
    df = table(spark, x.astype(np.float32), ids).coalesce(1).cache()
    grid = {"family": "pkb", "n_components": 2, "min_weight": 0.01, "n_init": 1, "tol": 1e-4}
    first = stages.fit_mixtures(df, MixtureConfig(**grid), 1)
    (name,) = first
    assert first[name].n_components == 2
    assert first[name].removed == ()
    for rows in (1000, 0):
        config = MixtureConfig(**grid, min_documents=2, in_memory_rows=rows)
        found = stages.fit_mixtures(df, config, 1, warm_start=first)[name]
        assert [r.name for r in found.restarts] == ["warm", "seed-0"]
        assert found.n_components == 1
        assert found.removed[0].reason == "documents"
        assert found.converged
    df.unpersist()


@pytest.mark.slow
def test_penalty_on_documents_in_memory_and_on_spark(spark, embeddings, small_blocks, monkeypatch):
    grid = {"family": ["pkb", "vmf"], "n_components": 3, "min_weight": 0.01, "n_init": 1}
    config = {**grid, "max_iter": 5, "document_penalty": 20.0}
    expected = stages.fit_mixtures(embeddings, MixtureConfig(**config), "secret")
    found = [
        stages.fit_mixtures(
            embeddings.repartition(count),
            MixtureConfig(**config, in_memory_rows=0),
            "secret",
            partitions=count,
        )
        for count in (1, 3)
    ]
    for name, model in expected.items():
        assert model.document_penalty == 20.0
        assert model.cost > 0
        assert (np.diff(model.history) >= 0).all()
        assert same(found[0][name], found[1][name])
        np.testing.assert_allclose(found[0][name].means, model.means, atol=1e-9)
        np.testing.assert_allclose(found[0][name].history, model.history, rtol=1e-11)
        assert found[0][name].cost == pytest.approx(model.cost, rel=1e-8)
    # the same where local files are lost and blocks are sent
    mixtures = [m.parameters for m in expected.values()]
    with passes_stages.SparkVectors(embeddings, N, D, 2, document_penalty=20.0) as packed:
        plain = one_pass(packed, mixtures)
        assert packed.sent == 0
        packed.name = "lost"
        assert one_pass(packed, mixtures) == plain
        assert packed.sent > 0


def test_blocks_of_whole_documents(spark, embeddings, small_blocks):
    packed, _, _ = packing_stages.pack(embeddings, N, D, 2, files=False, whole=True)
    rows = packed.select("block", "rows", "starts", "chunk_ids").collect()
    where: dict[str, int] = {}
    for r in rows:
        names = [stages.document_of(i) for i in r["chunk_ids"]]
        assert r["rows"] == len(names)
        assert len(r["starts"]) == len(set(names))
        for i in r["starts"]:
            assert where.setdefault(names[i], r["block"]) == r["block"]
    assert len(where) == 9
    assert sum(r["rows"] for r in rows) == N


def test_assignments_do_not_depend_on_batches_or_partitions(spark, embeddings, in_memory, vectors):
    key = "spark.sql.execution.arrow.maxRecordsPerBatch"
    before = spark.conf.get(key)
    results = []
    try:
        for count, batch in ((1, "2000"), (7, "3")):
            spark.conf.set(key, batch)
            rows = stages.assign(embeddings.repartition(count), in_memory).collect()
            results.append(sorted(tuple(r) for r in rows))
    finally:
        spark.conf.set(key, before)
    assert results[0] == results[1]
    assert len(results[0]) == 2 * N
    model = in_memory["pkb-K3-eps0.05"]
    components, log_densities = model.assign(vectors)
    for setting, chunk_id, component, log_density in results[0]:
        if setting == "pkb-K3-eps0.05":
            i = int(chunk_id.rsplit("#", 1)[1])
            assert (component, log_density) == (components[i], log_densities[i])


def test_densities_looked_up_are_those_assigned(spark, embeddings, in_memory):
    assigned = stages.assign(embeddings, in_memory)
    assert assigned.columns == ASSIGNMENTS.names
    looked_up = stages.log_density_at(
        assigned.withColumnRenamed("log_density", "before").join(embeddings, "chunk_id"), in_memory
    )
    assert looked_up.columns[-1] == "log_density"
    assert looked_up.where("log_density <> before or log_density is null").count() == 0


@pytest.mark.slow
def test_degenerate_vectors_on_spark(spark, small_blocks):
    """All points equal, fewer distinct points than components, a component on one point."""
    axes = np.eye(D, dtype=np.float32)
    tables = {
        "equal": np.tile(axes[:1], (90, 1)),
        "four": np.repeat(axes[:4], 25, axis=0),
        "closed": np.concatenate([clustered(np.random.default_rng(1), 80, D, 1, 1.0), axes[:1]]),
    }
    config = MixtureConfig(
        family=["pkb", "spcauchy", "vmf"],
        n_components=6,
        min_weight=0,
        n_init=1,
        max_iter=20,
        in_memory_rows=0,
    )
    left = {"equal": 1, "four": 4, "closed": 6}
    for name, x in tables.items():
        df = table(spark, x.astype(np.float32)).coalesce(1)
        for model in stages.fit_mixtures(df, config, 1).values():
            assert model.n_components == left[name]
            assert len(model.removed) == 6 - left[name]
            for values in (model.weights, model.means, model.concentrations, model.history):
                assert np.isfinite(values).all()
            assert (np.diff([model.initial_log_likelihood, *model.history]) >= 0).all()
            if name != "closed":
                assert model.converged
                assert len(model.capped) == left[name]


@pytest.mark.parametrize("rows", [0, 10_000])
def test_bad_vectors_are_refused_by_chunk(spark, vectors, rows):
    x = vectors[:40].copy()
    x[3] *= 2
    x[7, 2] = np.nan
    config = MixtureConfig(**GRID, in_memory_rows=rows)
    with pytest.raises(InputError, match=r"2 of the vectors .* chunks doc3#00003, doc7#00007"):
        stages.fit_mixtures(table(spark, x).coalesce(1), config, 1)


def test_tables_without_usable_vectors_are_refused(spark, vectors):
    config = MixtureConfig(**GRID)
    with pytest.raises(InputError, match="no vectors"):
        stages.fit_mixtures(table(spark, vectors[:2]).limit(0), config, 1)
    mixed = spark.createDataFrame(
        [("a", [1.0, 0.0], "m"), ("b", [1.0, 0.0, 0.0], "m")], EMBEDDINGS.ddl
    )
    with pytest.raises(InputError, match="from 2 to 3 numbers"):
        stages.fit_mixtures(mixed, config, 1)


def test_settings_span_the_grid_once():
    config = MixtureConfig(family=["pkb", "vmf"], n_components=[2, 2, 3], min_weight=[0, 0.1])
    found = stages.settings_of(config)
    assert len(found) == len(set(found)) == 8
    assert found[0] == MixtureSetting("pkb", 2, 0.0)
