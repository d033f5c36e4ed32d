"""What the comparison of embedders (tests/benchmarks/bench_embedding.py) computes of swaps."""

from __future__ import annotations

import numpy as np
import pytest

from nes_spark.embedding import load_embedder
from nes_spark.entities import Mention
from nes_spark.mixture import fit_mixture
from nes_spark.swapping import sample_swaps
from tests.benchmarks.bench_embedding import Chunks, loss, reached, rewritten, utility_curve

TEXTS = [
    "In March Orion opened a plant in Oslo for the Lumen line of lamps.",
    "In April Vega closed its plant in Bonn for the Quill line of pens.",
    "In May Altair leased a plant in Riga for the Brook line of pumps.",
    "In June Rigel bought a plant in Graz for the Crest line of tyres.",
]
NAMES = [("Orion", "Oslo"), ("Vega", "Bonn"), ("Altair", "Riga"), ("Rigel", "Graz")]


@pytest.fixture(scope="module")
def chunks():
    def mention(text, category, name):
        start = text.index(name)
        return Mention(start, start + len(name), category, name, name)

    return Chunks(
        [f"{i}#0" for i in range(4)],
        list("abcd"),
        TEXTS,
        [
            [mention(t, "Organization", o), mention(t, "Location", p)]
            for t, (o, p) in zip(TEXTS, NAMES, strict=True)
        ],
        {"Organization": [[o] for o, _ in NAMES], "Location": [[p] for _, p in NAMES]},
        {},
        [],
    )


@pytest.fixture(scope="module")
def changed(chunks):
    swaps = sample_swaps(
        chunks.ids, chunks.metadata, None, chunks.entities, ["Organization"], seed=3
    )
    assert len(swaps) == 2
    return rewritten(chunks, swaps)


def test_both_chunks_of_a_swap_hold_the_names_of_the_other(changed):
    assert sorted(at for at, _ in changed) == [0, 1, 2, 3]
    for (i, one), (j, other) in (changed[:2], changed[2:]):
        assert one == TEXTS[i].replace(NAMES[i][0], NAMES[j][0])
        assert other == TEXTS[j].replace(NAMES[j][0], NAMES[i][0])


@pytest.mark.parametrize("family", ["spcauchy", "pkb"])
def test_the_curve_is_the_ratio_of_log_likelihoods_under_the_components_of_before(changed, family):
    embed = load_embedder("bundled").embed
    before, after = embed(TEXTS), embed([text for _, text in changed])
    where = [at for at, _ in changed]
    model = fit_mixture(before, family, 2, seed=1, max_radius=0.9)
    curve = utility_curve(model, before, where, after)
    rows = np.arange(4)
    labels = model.predict(before)
    pre = model.log_density(before)[rows, labels].sum()
    for swaps in (1, 2):
        now = before.copy()
        now[where[: 2 * swaps]] = after[: 2 * swaps]
        post = model.log_density(now)[rows, labels].sum()
        assert curve[swaps - 1] == pytest.approx(post / pre, rel=1e-6)
    assert abs(curve[0] - 1) > 1e-4  # the swap did change something
    same = utility_curve(model, before, where, before[where])
    np.testing.assert_allclose(same, 1.0, atol=1e-9)


def test_the_loss_is_per_swap_and_its_error_is_over_the_fits():
    curves = [
        (0, np.array([0.9, 0.8])),
        (0, np.array([0.9, 0.6])),
        (1, np.array([0.9, 0.5])),
    ]
    # 0.1 and 0.2 a swap in the first fit, 0.25 in the second: means 0.15 and 0.25
    assert loss(curves) == "200000.0 ± 50000.0"
    assert loss(curves[:2]) == "150000.0"
    assert reached(curves, 1) == "0.90000"
    assert reached(curves, 3) == "-"
