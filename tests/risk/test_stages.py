"""Frequencies of frequencies and fits on Spark."""

from collections import Counter

import numpy as np
import pandas as pd
import pytest

from nes_spark.risk import fit_ewens_pitman, goodness_table, p_hat_table
from nes_spark.risk.stages import fit_risk, frequencies, recoding_effect, sample_uniques
from nes_spark.schemas import CELLS, RISK_FITS

CATEGORIES = ("Organization", "Person", "Product")
COMBINATIONS = [
    ("Organization",),
    ("Organization", "Person"),
    ("Person", "Product"),
    ("Organization", "Person", "Product"),
]


def make_rows(n=300, seed=4, recode=None):
    """Cells with a heavy tail; a third of the values is missing."""
    rng = np.random.default_rng(seed)
    rows = []
    for i in range(n):
        entities, cell = {}, {}
        for category in CATEGORIES:
            value = f"{category} {int(rng.pareto(0.8) * 2)}" if rng.random() < 0.67 else None
            entities[category] = [value] if value else []
            cell[category] = (recode or (lambda _, v: v))(category, value or "")
        rows.append((f"doc#{i:05d}", f"doc{i % 5}", f"firm{i % 5}", entities, cell))
    return rows


@pytest.fixture(scope="module")
def cells(spark):
    return spark.createDataFrame(make_rows(), CELLS.ddl).cache()


def table(rows, combination, empty=False):
    """z_J by hand, without the cell of chunks that hold none of its entities unless asked for."""
    counts = Counter(tuple(row[4][c] for c in combination) for row in rows)
    if not empty:
        counts.pop(("",) * len(combination), None)
    return counts


def test_frequencies_for_every_size_of_combination(cells, partitions):
    found = frequencies(cells.repartition(partitions), COMBINATIONS).toPandas()
    for combination in COMBINATIONS:
        mine = found[found["combination"] == "+".join(combination)]
        expected = Counter(table(make_rows(), combination).values())
        assert dict(zip(mine["size"], mine["cells"], strict=True)) == expected


def test_sample_uniques_are_the_chunks_alone_in_their_cell(cells):
    found = sample_uniques(cells, COMBINATIONS).toPandas()
    rows = make_rows()
    for combination in COMBINATIONS:
        counts = table(rows, combination)
        expected = {r[0] for r in rows if counts.get(tuple(r[4][c] for c in combination)) == 1}
        mine = found.loc[found["combination"] == "+".join(combination), "chunk_id"]
        assert set(mine) == expected
        assert len(mine) == len(expected)


def test_values_that_only_look_alike_when_joined_are_different_cells(spark):
    rows = [
        ("d#0", "d", "m", {}, {"A": "x+y", "B": "z"}),
        ("d#1", "d", "m", {}, {"A": "x", "B": "y+z"}),
    ]
    found = frequencies(spark.createDataFrame(rows, CELLS.ddl), [("A", "B")]).collect()
    assert [(r["size"], r["cells"]) for r in found] == [(1, 2)]


@pytest.mark.parametrize(("empty_cell", "counted"), [("exclude", False), ("include", True)])
def test_chunks_without_an_entity_are_one_cell_or_none(cells, empty_cell, counted):
    found = frequencies(cells, COMBINATIONS, empty_cell).toPandas()
    fits = fit_risk(cells, COMBINATIONS, empty_cell).toPandas().set_index("combination")
    for combination in COMBINATIONS:
        name = "+".join(combination)
        mine = found[found["combination"] == name]
        counts = table(make_rows(), combination, counted)
        expected = Counter(counts.values())
        assert dict(zip(mine["size"], mine["cells"], strict=True)) == expected
        assert fits.loc[name, "n"] == sum(counts.values())
    assert (fits["n"] == 300).all() == counted


def test_a_chunk_alone_without_an_entity_is_unique_only_where_it_is_counted(spark):
    rows = [
        ("d#0", "d", "m", {}, {"A": "", "B": ""}),
        ("d#1", "d", "m", {}, {"A": "x", "B": ""}),
    ]
    frame = spark.createDataFrame(rows, CELLS.ddl)
    alone = {
        option: sorted(r["chunk_id"] for r in sample_uniques(frame, [("A", "B")], option).collect())
        for option in ("exclude", "include")
    }
    assert alone == {"exclude": ["d#1"], "include": ["d#0", "d#1"]}
    with pytest.raises(ValueError, match="'empty_cell' parameter of risk"):
        frequencies(frame, [("A",)], "drop")


def test_a_missing_value_is_a_value(spark):
    rows = [
        ("d#0", "d", "m", {}, {"A": "x"}),
        ("d#1", "d", "m", {}, {"A": "x", "B": ""}),
        ("d#2", "d", "m", {}, {"A": "x", "B": "y"}),
    ]
    found = frequencies(spark.createDataFrame(rows, CELLS.ddl), [("A", "B")]).collect()
    assert sorted((r["size"], r["cells"]) for r in found) == [(1, 1), (2, 1)]


def test_fits_are_those_of_the_kernel_on_any_partitioning(cells, partitions):
    frame = fit_risk(cells.repartition(partitions), COMBINATIONS)
    assert frame.columns == RISK_FITS.names
    found = frame.toPandas().set_index("combination")
    assert len(found) == len(COMBINATIONS)
    for combination in COMBINATIONS:
        row = found.loc["+".join(combination)]
        fit = fit_ewens_pitman(dict(Counter(table(make_rows(), combination).values())))
        assert (row["n"], row["k"], row["s1"]) == (fit.n, fit.k, fit.s1)
        # bit for bit: nothing of the fit depends on how the rows came
        assert (row["theta"], row["alpha"]) == (fit.theta, fit.alpha)
        assert row["log_likelihood"] == fit.log_likelihood
        assert (row["alpha_low"], row["alpha_high"]) == tuple(fit.alpha_interval)
        assert bool(row["converged"]) is True
        assert row["reason"] == ""
        assert dict(row["sizes"]) == fit.sizes
        assert list(row["expected"]) == list(fit.goodness_of_fit().expected)


def test_a_table_without_an_estimate_is_a_row_with_its_reason(spark):
    rows = [(f"d#{i}", "d", "m", {}, {"A": f"a{i}", "B": "b", "C": f"c{i // 2}"}) for i in range(6)]
    frame = spark.createDataFrame(rows, CELLS.ddl)
    found = fit_risk(frame, [("A",), ("B",), ("C",)]).toPandas().set_index("combination")
    assert found["reason"].to_dict() == {
        "A": "all_uniques",
        "B": "one_cell",
        "C": "no_sample_uniques",
    }
    assert not found["converged"].any()
    assert found[["theta", "alpha", "log_likelihood", "fit_p_value"]].isna().all().all()
    assert found["warning"].str.len().min() > 0


@pytest.mark.parametrize("combinations", [[], [()]])
def test_no_combination_is_refused(cells, combinations):
    with pytest.raises(ValueError, match="'combinations' parameter of risk"):
        fit_risk(cells, combinations)


def test_an_empty_corpus_has_a_row_for_every_combination(spark):
    found = fit_risk(spark.createDataFrame([], CELLS.ddl), [("A",), ("A", "B")]).toPandas()
    assert sorted(found["combination"]) == ["A", "A+B"]
    assert set(found["reason"]) == {"empty_table"}
    assert set(found["n"]) == {0}


def test_recoding_is_compared_with_what_was_recognised(spark):
    classes = {"Organization 0": "Large", "Organization 7": "Large", "Organization 9": "Large"}

    def recode(category, value):
        return classes.get(value, value) if category == "Organization" else value

    rows = make_rows(recode=recode)
    found = (
        recoding_effect(spark.createDataFrame(rows, CELLS.ddl), COMBINATIONS, "include")
        .toPandas()
        .set_index("combination")
    )
    for combination in COMBINATIONS:
        row = found.loc["+".join(combination)]
        before, after = table(make_rows(), combination, True), table(rows, combination, True)
        assert row["n"] == len(rows)
        assert (row["k_without"], row["k_with"]) == (len(before), len(after))
        assert row["s1_without"] == sum(v == 1 for v in before.values())
        assert row["s1_with"] == sum(v == 1 for v in after.values())
    assert found.loc["Organization", "k_with"] < found.loc["Organization", "k_without"]
    assert found.loc["Person+Product", "k_with"] == found.loc["Person+Product", "k_without"]


def test_what_a_report_shows_of_the_fits(cells):
    fits = fit_risk(cells, [*COMBINATIONS[1:3], ("Absent",)]).toPandas()
    shown = p_hat_table(fits, [1e10, 1e20])
    assert sorted(set(shown["combination"])) == ["Organization+Person", "Person+Product"]
    assert len(shown) == 4
    assert (shown["p_low"] < shown["p_hat"]).all()
    assert (shown["p_hat"] < shown["p_high"]).all()
    fit = fit_ewens_pitman(dict(Counter(table(make_rows(), COMBINATIONS[1]).values())))
    mine = shown[(shown["combination"] == "Organization+Person") & (shown["population"] == 1e20)]
    assert mine["p_hat"].tolist() == [float(fit.p_hat(1e20))]
    assert mine["population_uniques"].tolist() == [fit.population_uniques(1e20)]
    quality = goodness_table(fits)
    assert quality.groupby("combination").size().to_dict() == {
        "Organization+Person": 5,
        "Person+Product": 5,
    }
    mine = quality[quality["combination"] == "Organization+Person"]
    assert mine["observed"].tolist() == fit.goodness_of_fit().observed.tolist()


def test_maps_are_read_from_pandas_and_from_parquet(cells, tmp_path):
    fits = fit_risk(cells, COMBINATIONS[:1])
    fits.write.parquet(str(tmp_path / "fits"))
    stored = pd.read_parquet(tmp_path / "fits")
    pd.testing.assert_frame_equal(p_hat_table(stored, [1e10]), p_hat_table(fits.toPandas(), [1e10]))
