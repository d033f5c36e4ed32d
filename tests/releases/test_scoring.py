"""Scores of sequences of swaps and candidates, as kernels and on Spark."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nes_spark.errors import EstimationError, NesError
from nes_spark.releases import pareto_frontier
from nes_spark.releases.scoring import (
    RiskFigures,
    at_tenths,
    average,
    base_utility,
    candidates_of,
    score_sequence,
    score_tables,
    summarize_tables,
)
from nes_spark.releases.stages import (
    log_likelihoods,
    score,
    scored_base,
    summarize,
    unscored,
    untouched_utility,
)
from nes_spark.risk import fit_ewens_pitman
from nes_spark.risk.stages import fit_risk
from nes_spark.schemas import (
    ASSIGNMENTS,
    CANDIDATES,
    CELLS,
    POST_DENSITY,
    RISK_FITS,
    SCORES,
)
from nes_spark.swapping import whole_stages

N = 120
SETTINGS = ("pkb-K10-eps0.001", "spcauchy-K10-eps0.001")
COMBINATIONS = (("Organization", "Person"), ("Organization", "Product"))
POPULATIONS = [1e6, 1e20]
DRAWS = 3
FIGURES = RiskFigures(N, 40, 12.0, 0.7, ((1e6, 0.4, 0.3), (1e9, 1.7, 0.1)))

# the columns of table swaps that scoring looks at
SWAPS_USED = (
    "setting string, combination string, draw int, `order` int, chunk_a string, chunk_b string"
)


class World:
    """A small corpus with swaps of two rounds, and its scores from the definitions."""

    def __init__(self):
        rng = np.random.default_rng(8)
        self.ids = [f"doc#{i:05d}" for i in range(N)]
        self.cell = {
            c: {
                category: f"{category}{int(rng.pareto(0.9) * 3)}" if rng.random() < 0.8 else ""
                for category in ("Organization", "Person", "Product")
            }
            for c in self.ids
        }
        self.pre = {(s, c): float(rng.normal(6, 2)) for s in SETTINGS for c in self.ids}
        self.swaps, self.post = [], {}
        for setting in SETTINGS:
            for combination in COMBINATIONS:
                for draw in range(DRAWS):
                    order = 0
                    for _ in (1, 2):  # rounds
                        shuffled = rng.permutation(N)
                        for i in range(6 - draw):
                            order += 1
                            a, b = sorted(self.ids[j] for j in shuffled[2 * i : 2 * i + 2])
                            name = "+".join(combination)
                            self.swaps.append((setting, name, draw, order, a, b))
                            for c in (a, b):
                                key = (setting, name, draw, order, c)
                                self.post[key] = float(rng.normal(5.5, 2))

    def tables(self, spark):
        assignments = [(s, c, 0, x) for (s, c), x in self.pre.items()]
        return {
            "swaps": spark.createDataFrame(self.swaps, SWAPS_USED),
            "cells": spark.createDataFrame(
                [(c, "d", "m", {}, self.cell[c]) for c in self.ids], CELLS.ddl
            ),
            "assignments": spark.createDataFrame(assignments, ASSIGNMENTS.ddl),
            "post_log_density": spark.createDataFrame(
                [(*k, x) for k, x in self.post.items()], POST_DENSITY.ddl
            ),
        }

    def expected(self):
        """DR and DU of every prefix, with nothing incremental."""
        rows = []
        for setting in SETTINGS:
            before = {c: self.pre[setting, c] for c in self.ids}
            for combination in COMBINATIONS:
                name = "+".join(combination)
                values = {c: tuple(self.cell[c][j] for j in combination) for c in self.ids}
                counts = pd.Series(list(values.values())).value_counts()
                unique = {c for c in self.ids if counts[values[c]] == 1}
                sizes = counts.value_counts()
                fit = fit_ewens_pitman({int(j): int(s) for j, s in sizes.items()})
                for draw in range(DRAWS):
                    mine = [s for s in self.swaps if s[:3] == (setting, name, draw)]
                    for last in range(1, len(mine) + 1):
                        texts, touched = dict(before), set()
                        for swap in mine[:last]:
                            for c in swap[4:]:
                                texts[c] = self.post[setting, name, draw, swap[3], c]
                                touched.add(c)
                        for population in POPULATIONS:
                            p = min(float(fit.p_hat(population)), 1.0)
                            rows.append(
                                (
                                    setting,
                                    population,
                                    name,
                                    draw,
                                    last,
                                    1 - len(touched & unique) / fit.s1 * p,
                                    math.fsum(texts.values()) / math.fsum(before.values()),
                                )
                            )
        names = ["setting", "population", "combination", "draw", "n_swaps", "DR", "DU"]
        return pd.DataFrame(rows, columns=names).sort_values(names[:5], ignore_index=True)


@pytest.fixture(scope="module")
def world():
    return World()


@pytest.fixture(scope="module")
def tables(world, spark):
    found = {name: t.cache() for name, t in world.tables(spark).items()}
    # the empty cell counts here: the figures by hand are those of all chunks
    fits = fit_risk(found["cells"], COMBINATIONS, "include")
    found["risk_fits"] = spark.createDataFrame(fits.collect(), fits.schema).cache()
    return found


def in_order(frame, table):
    return frame.toPandas().sort_values(list(table.key), ignore_index=True)


@pytest.fixture(scope="module")
def scores(tables):
    return score(**tables, populations=POPULATIONS).cache()


def test_scores_are_those_of_the_definitions(world, scores):
    assert scores.columns == SCORES.names
    found = in_order(scores, SCORES)
    expected = world.expected()
    pd.testing.assert_frame_equal(
        found[list(expected.columns)], expected, check_dtype=False, rtol=1e-9
    )
    assert (found["DU_above_one"] == (found["DU"] > 1)).all()
    assert found["r"].tolist() == (2 * found["n_swaps"] / N).tolist()
    assert (found["p_hat_clipped"] == found["p_hat"].clip(0, 1)).all()


def test_scores_do_not_depend_on_partitions(tables, scores, partitions):
    moved = {
        name: t.repartition(partitions) if name != "risk_fits" else t for name, t in tables.items()
    }
    found = in_order(score(**moved, populations=POPULATIONS), SCORES)
    pd.testing.assert_frame_equal(found, in_order(scores, SCORES), check_exact=True)


def in_memory(tables, **options):
    made = {
        n: t.toPandas() for n, t in tables.items() if n not in ("risk_fits", "post_log_density")
    }
    made["cells"]["cell"] = made["cells"]["cell"].map(dict)
    return score_tables(
        **made,
        post_log_density=tables["post_log_density"].toPandas(),
        risk_fits=[row.asDict() for row in tables["risk_fits"].collect()],
        **options,
    ).sort_values(list(SCORES.key), ignore_index=True)


@pytest.mark.parametrize("empty_cell", ["exclude", "include"])
def test_scores_in_memory_are_the_same_to_the_bit(world, tables, spark, empty_cell):
    rng = np.random.default_rng(3)
    replaced = [(s, "", 0, 0, c, float(rng.normal(5, 3))) for s in SETTINGS for c in world.ids[::4]]
    post = spark.createDataFrame(replaced, POST_DENSITY.ddl)
    mine = tables | {"post_log_density": tables["post_log_density"].unionByName(post)}
    fits = fit_risk(tables["cells"], COMBINATIONS, empty_cell)
    mine["risk_fits"] = spark.createDataFrame(fits.collect(), fits.schema)
    options = {"populations": POPULATIONS, "empty_cell": empty_cell}
    expected = in_order(score(**mine, **options), SCORES)
    found = in_memory(mine, **options)
    assert found.columns.tolist() == SCORES.names and len(found) > 50
    pd.testing.assert_frame_equal(found, expected, check_exact=True, check_dtype=False)
    none = in_memory(mine | {"swaps": mine["swaps"].where("draw > 99")}, **options)
    assert none.columns.tolist() == SCORES.names and not len(none)


def test_what_cannot_be_scored_is_said_in_memory_too(tables, caplog):
    from pyspark.sql import functions as F

    bad = SETTINGS[0]
    density, first = F.col("log_density"), F.col("chunk_id") == "doc#00000"
    sunk = F.when(F.col("setting") == bad, -density).otherwise(density)
    sunk = tables | {"assignments": tables["assignments"].withColumn("log_density", sunk)}
    with pytest.raises(EstimationError, match=bad):
        in_memory(sunk, populations=POPULATIONS)
    kept = in_memory(sunk, populations=POPULATIONS, on_failure="skip")
    assert set(kept["setting"]) == {SETTINGS[1]} and bad in caplog.text
    broken = F.when(first, float("nan")).otherwise(density)
    broken = tables | {"assignments": tables["assignments"].withColumn("log_density", broken)}
    with pytest.raises(EstimationError, match="finite"):
        in_memory(broken, populations=POPULATIONS)
    fewer = tables | {"assignments": tables["assignments"].where(~first)}
    with pytest.raises(NesError, match="not of one run"):
        in_memory(fewer, populations=POPULATIONS)
    lost = tables | {"post_log_density": tables["post_log_density"].where("`order` <> 2")}
    with pytest.raises(EstimationError, match="incomplete"):
        in_memory(lost, populations=POPULATIONS)


def test_a_denominator_that_is_not_positive_is_refused_or_left_out(tables, caplog):
    from pyspark.sql import functions as F

    bad = SETTINGS[0]
    sunk = tables | {
        "assignments": tables["assignments"].withColumn(
            "log_density",
            F.when(F.col("setting") == bad, -F.col("log_density")).otherwise(F.col("log_density")),
        )
    }
    with pytest.raises(EstimationError, match=bad) as caught:
        score(**sunk, populations=POPULATIONS)
    assert caught.value.reason == "denominator_not_positive"
    kept = score(**sunk, populations=POPULATIONS, on_failure="skip")
    assert [r[0] for r in kept.select("setting").distinct().collect()] == [SETTINGS[1]]
    assert "denominator" not in caplog.text  # says what is wrong, not a code
    assert f"log-likelihood of mixture {bad}" in caplog.text
    failures = unscored(sunk["swaps"], sunk["assignments"], sunk["risk_fits"])
    assert [(f.setting, f.combination, f.reason) for f in failures] == [
        (bad, "", "denominator_not_positive")
    ]


def test_a_density_that_is_not_finite_is_refused(tables):
    from pyspark.sql import functions as F

    first = F.col("chunk_id") == "doc#00000"
    broken = tables["assignments"].withColumn(
        "log_density", F.when(first, float("nan")).otherwise(F.col("log_density"))
    )
    with pytest.raises(EstimationError) as caught:
        score(**(tables | {"assignments": broken}), populations=POPULATIONS)
    assert caught.value.reason == "density_not_finite"


def test_a_failed_risk_fit_stops_scoring_with_its_reason(tables, spark):
    rows = [r.asDict() for r in tables["risk_fits"].collect()]
    failed = rows[0]["combination"]
    rows[0] |= {"converged": False, "reason": "all_uniques", "theta": None, "alpha": None}
    fits = spark.createDataFrame(
        [tuple(r[c] for c in RISK_FITS.names) for r in rows], RISK_FITS.ddl
    )
    advice = r"no risk estimate for .* more documents"
    with pytest.raises(EstimationError, match=advice) as caught:
        score(**(tables | {"risk_fits": fits}), populations=POPULATIONS)
    assert caught.value.reason == "all_uniques"
    kept = score(**(tables | {"risk_fits": fits}), populations=POPULATIONS, on_failure="skip")
    left = {r[0] for r in kept.select("combination").distinct().collect()}
    assert left == {r["combination"] for r in rows[1:]} - {failed}


def test_tables_of_different_runs_are_noticed(tables):
    fewer = tables["assignments"].where("chunk_id <> 'doc#00000'")
    with pytest.raises(NesError, match="not of one run"):
        score(**(tables | {"assignments": fewer}), populations=POPULATIONS)
    unknown = tables["risk_fits"].where("combination = 'Organization+Person'")
    with pytest.raises(NesError, match="no risk fit"):
        score(**(tables | {"risk_fits": unknown}), populations=POPULATIONS)
    absent = tables["assignments"].where(f"setting = '{SETTINGS[0]}'")
    with pytest.raises(NesError, match="no chunk is assigned"):
        score(**(tables | {"assignments": absent}), populations=POPULATIONS)
    with pytest.raises(EstimationError, match="smaller than the 120 chunks") as caught:
        score(**tables, populations=[100.0])
    assert caught.value.reason == "population_too_small"


def test_scores_hold_the_utility_of_the_release_without_swaps(world, tables, spark):
    """Sums that the scores were made with are not made again for r = 0."""
    replaced = [
        (setting, "", 0, 0, c, world.pre[setting, c] - 0.5 - i)
        for setting in SETTINGS
        for i, c in enumerate(world.ids[:3])
    ]
    post = tables["post_log_density"].unionByName(spark.createDataFrame(replaced, POST_DENSITY.ddl))
    made = score(**{**tables, "post_log_density": post}, populations=POPULATIONS[:1])
    found = scored_base(made)
    assert set(found) == set(SETTINGS)
    assert found == pytest.approx(untouched_utility(post, tables["assignments"]), rel=1e-12)
    for setting, value in found.items():
        total = math.fsum(world.pre[setting, c] for c in world.ids)
        assert value == pytest.approx(1 - (3 * 0.5 + 3) / total, rel=1e-9)
    assert scored_base(made.where("false")) == {}


def test_no_swaps_have_no_scores(tables):
    none = tables | {"swaps": tables["swaps"].where("draw > 99")}
    found = score(**none, populations=POPULATIONS)
    assert found.columns == SCORES.names
    assert found.count() == 0


def test_log_likelihoods_are_exact_sums(world, tables):
    found = {r["setting"]: r for r in log_likelihoods(tables["assignments"]).collect()}
    for setting in SETTINGS:
        expected = math.fsum(round(world.pre[setting, c], 9) for c in world.ids)
        assert found[setting]["log_f_pre"] == pytest.approx(expected, abs=1e-9)
        assert (found[setting]["n"], found[setting]["n_bad"]) == (N, 0)


def test_candidates_are_means_over_draws(scores):
    frame = summarize(scores)
    assert frame.columns == CANDIDATES.names
    found = frame.toPandas()
    raw = scores.toPandas()
    for (setting, population), group in found.groupby(["setting", "population"]):
        mine = raw[(raw["setting"] == setting) & (raw["population"] == population)]
        nothing = group[group["n_swaps"] == 0]
        assert nothing[["combination", "r", "DR", "DU", "DR_se", "DU_se"]].to_numpy().tolist() == [
            ["", 0.0, 1.0, 1.0, 0.0, 0.0]
        ]
        assert nothing["draws"].tolist() == [DRAWS]
        full = group[group["draws"] == DRAWS]
        expected = pareto_frontier(full["DR"], full["DU"].clip(upper=1)) | (full["n_swaps"] == 0)
        assert full["on_frontier"].tolist() == expected.tolist()
        assert not group.loc[group["draws"] < DRAWS, "on_frontier"].any()
        assert (group["incomplete"] == (group["draws"] < DRAWS)).all()
        for row in group[group["n_swaps"] > 0].itertuples():
            here = mine[(mine["combination"] == row.combination) & (mine["n_swaps"] == row.n_swaps)]
            assert row.draws == len(here)
            assert pytest.approx(here["DR"].mean()) == row.DR
            assert pytest.approx(here["DU"].mean()) == row.DU
            if len(here) > 1:
                assert row.DU_se == pytest.approx(here["DU"].std() / math.sqrt(len(here)))
            else:
                assert math.isnan(row.DU_se)
    # draw 0 makes 12 swaps, draw 1 makes 10, draw 2 makes 8
    draws = found[found["n_swaps"] > 0].groupby("n_swaps")["draws"].unique()
    assert {n: list(d) for n, d in draws.items()} == {
        n: [3] if n <= 8 else [2] if n <= 10 else [1] for n in range(1, 13)
    }
    assert not found["chosen"].any()
    assert found["draw"].isna().all()


def test_standard_errors_of_one_draw_are_null_in_the_table(scores):
    one = summarize(scores.where("draw = 0"))
    assert one.where("n_swaps > 0 AND (DR_se IS NOT NULL OR DU_se IS NOT NULL)").count() == 0
    assert one.where("isnan(DR_se)").count() == 0


def test_candidates_do_not_depend_on_partitions(scores, partitions):
    expected = in_order(summarize(scores), CANDIDATES)
    found = in_order(summarize(scores.repartition(partitions)), CANDIDATES)
    pd.testing.assert_frame_equal(found, expected, check_exact=True)


@pytest.mark.parametrize("per_draw", [False, True])
def test_candidates_in_memory_are_the_same_to_the_bit(scores, per_draw):
    raw = scores.toPandas()
    base = base_utility(raw.sample(frac=1, random_state=1))
    assert base == scored_base(scores)
    for spark, memory in (
        (scores, raw),
        (whole_stages.at_tenths(scores), at_tenths(raw)),
        (scores.where("setting = ''"), raw[:0]),
    ):
        options = {"settings": SETTINGS, "populations": [*POPULATIONS, 1e12]}
        options |= {"per_draw": per_draw, "draws": DRAWS, "untouched": base}
        expected = in_order(summarize(spark, **options), CANDIDATES)
        found = summarize_tables(memory, **options)
        found = found.sort_values(list(CANDIDATES.key), ignore_index=True)
        pd.testing.assert_frame_equal(found, expected, check_exact=True, check_dtype=False)
        assert len(found) >= 6


def test_the_seed_can_be_part_of_the_decision(scores):
    found = summarize(scores, per_draw=True).toPandas()
    raw = scores.toPandas()
    assert len(found) == len(raw) + len(SETTINGS) * len(POPULATIONS)
    mine = found[found["n_swaps"] > 0].sort_values([*CANDIDATES.key], ignore_index=True)
    raw = raw.sort_values([*CANDIDATES.key], ignore_index=True)
    assert mine["DR"].tolist() == raw["DR"].tolist()
    assert mine["draw"].tolist() == raw["draw"].tolist()
    assert set(mine["draws"]) == {1}


def test_the_release_without_swaps_is_there_when_nothing_was_swapped(scores, spark):
    empty = scores.where("1 = 0")
    found = summarize(empty, settings=["a", "b"], populations=[1e10]).toPandas()
    assert sorted(found["setting"]) == ["a", "b"]
    assert found["n_swaps"].tolist() == [0, 0]
    assert found["on_frontier"].all()
    assert (found[["DR", "DU"]] == 1).all().all()
    both = summarize(scores, settings=SETTINGS, populations=POPULATIONS)
    assert both.count() == summarize(scores).count()


def swapped_rows(pairs, pre, post):
    rows = []
    for order, pair in enumerate(pairs, start=1):
        for c in pair:
            rows.append((order, f"c{c:02d}", pre[c], post[order - 1, c], c % 3 == 0))
    return pd.DataFrame(rows, columns=["order", "chunk_id", "pre", "post", "unique"])


pairs_of_chunks = st.lists(
    st.tuples(st.integers(0, 9), st.integers(0, 9)).filter(lambda p: p[0] < p[1]),
    min_size=1,
    max_size=12,
)


@given(pairs_of_chunks, st.integers(0, 2**31), st.randoms())
@settings(max_examples=60, deadline=None)
def test_prefix_sums_are_whole_sums(pairs, seed, random):
    rng = np.random.default_rng(seed)
    pre, post = rng.normal(5, 1, 10), rng.normal(4, 1, (12, 10))
    rows = swapped_rows(pairs, pre, post)
    order = list(range(len(rows)))
    random.shuffle(order)
    total = float(pre.sum())
    found = score_sequence(rows.iloc[order], FIGURES, total)
    assert found["population"].tolist() == [1e6] * len(pairs) + [1e9] * len(pairs)
    for last in range(1, len(pairs) + 1):
        now = pre.copy()
        touched = set()
        for t, pair in enumerate(pairs[:last]):
            for c in pair:
                now[c] = post[t, c]
                touched.add(c)
        row = found.iloc[last - 1]
        assert row["log_f_post"] == pytest.approx(now.sum(), abs=1e-7)
        assert row["DU"] == pytest.approx(now.sum() / total, abs=1e-8)
        uniques = sum(c % 3 == 0 for c in touched)
        assert row["swapped_uniques"] == uniques
        assert row["DR"] == pytest.approx(1 - uniques / 40 * 0.4)
        # p-hat of 1.7 is used as 1 and reported as it is
        clipped = found.iloc[len(pairs) + last - 1]
        assert clipped["DR"] == pytest.approx(1 - uniques / 40)
        assert (clipped["p_hat"], clipped["p_hat_clipped"]) == (1.7, 1.0)


@pytest.mark.parametrize("fault", ["row", "order", "post", "pre"])
def test_an_incomplete_sequence_is_an_error(fault):
    rng = np.random.default_rng(0)
    rows = swapped_rows([(0, 1), (2, 3), (4, 5)], rng.normal(size=10), rng.normal(size=(3, 10)))
    if fault == "row":
        rows = rows.iloc[:-1]
    elif fault == "order":
        rows = rows[rows["order"] != 2]
    else:
        rows.loc[1, fault] = math.nan
    with pytest.raises(EstimationError) as caught:
        score_sequence(rows, FIGURES, 50.0)
    assert caught.value.reason == "incomplete_swaps"


def test_the_order_of_rows_leaves_the_bits_of_averages_alone():
    rng = np.random.default_rng(2)
    rows = pd.DataFrame(
        [("A", n, 0.1 * n, d, rng.random(), rng.random()) for n in range(1, 4) for d in range(50)],
        columns=["combination", "n_swaps", "r", "draw", "DR", "DU"],
    ).assign(uniques_left=3, stays_unique=0.25)
    expected = average(rows)
    for seed in range(5):
        pd.testing.assert_frame_equal(
            average(rows.sample(frac=1, random_state=seed)), expected, check_exact=True
        )


def test_du_above_one_is_flagged_among_candidates():
    rows = pd.DataFrame(
        {
            "combination": "A",
            "n_swaps": [1, 2],
            "r": [0.1, 0.2],
            "draws": 1,
            "DR": [0.9, 0.8],
            "DR_se": math.nan,
            "DU": [1.01, 0.9],
            "DU_se": math.nan,
        }
    )
    found = candidates_of("s", 1e10, rows)
    assert found["DU_above_one"].tolist() == [False, True, False]
    assert found["DU"].tolist() == [1.0, 1.01, 0.9]
    # texts that became more typical are no gain: on the frontier that counts as 1, and the release
    # without swaps stays its anchor
    assert found["on_frontier"].tolist() == [True, True, True]
    lucky = candidates_of("s", 1e10, rows.assign(DU=[1.01, 1.2], DR=[0.8, 0.9]))
    assert lucky["on_frontier"].tolist() == [True, True, False]


def test_an_average_over_some_draws_only_does_not_compete():
    rows = pd.DataFrame(
        {
            "combination": "A",
            "n_swaps": [1, 2, 3],
            "r": [0.1, 0.2, 0.3],
            "draws": [12, 12, 3],
            "DR": [0.9, 0.8, 0.1],
            "DR_se": 0.01,
            "DU": [0.99, 0.9, 1.0],
            "DU_se": 0.01,
        }
    )
    found = candidates_of("s", 1e10, rows, draws=12)
    assert found["incomplete"].tolist() == [False, False, False, True]
    assert found["on_frontier"].tolist() == [True, True, True, False]
    # where no draw made them all, the averages that there are must do
    only = candidates_of("s", 1e10, rows.iloc[[2]], draws=12)
    assert only["on_frontier"].tolist() == [True, True]


def test_names_that_every_release_replaces_are_charged_to_all_alike():
    rng = np.random.default_rng(4)
    pre, post = rng.normal(5, 1, 10), rng.normal(4, 1, (1, 10))
    rows = swapped_rows([(0, 1)], pre, post)
    before = float(pre.sum()) + 2.0  # replacing names cost the corpus 2 nats
    found = score_sequence(rows, FIGURES, before, log_f_base=float(pre.sum()))
    change = float(post[0, :2].sum() - pre[:2].sum())
    assert found["DU"].iloc[0] == pytest.approx((before - 2.0 + change) / before)
    nothing = candidates_of("s", 1e6, average(found.assign(combination="A", draw=0)), 1, 0.97)
    assert nothing["DU"].iloc[0] == 0.97
    assert found["uniques_left"].tolist() == [39, 39]
    assert average(found.iloc[:1].assign(combination="A", draw=0))["uniques_expected"].tolist() == [
        pytest.approx(39 * 0.3)
    ]
