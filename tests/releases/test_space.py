"""The release space."""

from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nes_spark.config import Config, MixtureConfig, ReleasesConfig, RiskConfig
from nes_spark.releases import (
    Release,
    combinations_of,
    describe_space,
    releases_of,
    statuses_of,
)

CATEGORIES = Config().entities.categories


def test_the_papers_space():
    releases = ReleasesConfig(plan="pairs")
    assert combinations_of(releases) == [
        ("Organization", "Person"),
        ("Organization", "Product"),
        ("Organization", "Location"),
        ("Person", "Product"),
        ("Person", "Location"),
        ("Product", "Location"),
    ]
    found = releases_of(CATEGORIES, releases, n=1819)
    assert len(found) == 181  # 180 and the one without swaps
    assert found[0].r == 0
    assert found[1].r == pytest.approx(2 / 1819)
    assert found[30].r == pytest.approx(60 / 1819)
    assert len(set(map(str, found))) == 181


def test_statuses_of_the_papers_categories():
    found = statuses_of(CATEGORIES, ("Organization", "Product"), ReleasesConfig(plan="pairs"))
    assert found == {
        "Organization": "S",
        "Person": "U",
        "Event": "C",
        "Product": "S",
        "Location": "U",
        "Date": "F",
    }
    release = Release(0.1, found)
    assert release.combination == ("Organization", "Product")
    assert release.name == "Organization+Product"


@given(st.lists(st.integers(1, 4), min_size=1, max_size=4))
def test_any_sizes(sizes):
    found = combinations_of(ReleasesConfig(plan="pairs", sizes=sizes))
    assert len(found) == sum(comb(4, size) for size in set(sizes))
    assert len(set(found)) == len(found)


def test_explicit_combinations_are_put_in_order_without_repeats():
    releases = ReleasesConfig(
        plan="pairs",
        combinations=[["Product", "Organization"], ["Organization", "Product"], ["Location"]],
    )
    assert combinations_of(releases) == [("Organization", "Product"), ("Location",)]


def test_more_swaps_than_pairs_of_chunks_are_not_listed():
    assert len(releases_of(CATEGORIES, ReleasesConfig(plan="pairs"), n=7)) == 1 + 6 * 3


def test_constraints_and_seed_are_part_of_a_release():
    releases = ReleasesConfig(plan="pairs", constraints={"min_cosine": 0.2})
    release = releases_of(CATEGORIES, releases, 100, "ab12")[1]
    assert release.constraints == {"min_cosine": 0.2}
    assert release.seed_fingerprint == "ab12"


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ((1.1, {"A": "S"}), "r"),
        ((-0.1, {"A": "S"}), "r"),
        ((0.1, {"A": "X"}), "statuses"),
        ((0.1, {"A": "U"}), "statuses"),
    ],
)
def test_a_release_that_makes_no_sense_is_refused(arguments, name):
    with pytest.raises(ValueError, match=f"The '{name}' parameter of Release"):
        Release(*arguments)


def test_the_size_is_told_before_work_starts():
    mixture = MixtureConfig(
        family=["pkb", "spcauchy"], n_components=[10, 30], min_weight=[1e-3, 1e-10]
    )
    risk = RiskConfig(population=[1e10, 1e20, 1e30])
    told = describe_space(ReleasesConfig(plan="pairs"), mixture, risk)
    assert "= 180 candidate releases" in told
    assert "24 setting(s) (8 mixture(s) x 3 population size(s)): 4,344 in all" in told
    assert "480 sequence(s) of swaps (10 draw(s) each)" in told
    assert "at most 28,800 swapped texts" in told
    assert "must change (C): Event" in told
    seeds = describe_space(ReleasesConfig(plan="pairs", draws=5), mixture, risk, per_draw=True)
    assert "x 5 seeds = 900 candidate releases" in seeds
    whole = describe_space(ReleasesConfig(further=["Term"], shift=["Date"]), mixture, risk)
    assert "16 layers" in whole and "10 candidate releases" in whole and "264 in all" in whole
    assert "shifted: Date" in whole and "Location, Term" in whole
