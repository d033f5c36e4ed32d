import pickle

import pytest

from nes_spark.config import ReleasesConfig
from nes_spark.entities.combination import UNITS, Combination, combinations_of


def test_a_name_is_read_back():
    j = Combination(["Product", "Location"])
    assert Combination.parse(j.name) == j == ("Product", "Location")
    assert Combination.parse("") == Combination() == ()
    assert Combination().name == ""


def test_it_travels_to_workers_as_it_is():
    j = Combination(["Product"])
    again = pickle.loads(pickle.dumps(j))
    assert type(again) is Combination
    assert again.name == "Product"


@pytest.mark.parametrize("categories", [["R+D"], [""], ["Person", "Person"]])
def test_categories_that_no_name_could_be_read_back_from_are_refused(categories):
    with pytest.raises(ValueError, match="'categories' parameter of Combination"):
        Combination(categories)


def test_subsets_come_in_the_order_of_the_categories():
    found = combinations_of(ReleasesConfig(plan="pairs", swap=["B", "A", "C"], sizes=[2, 1]))
    assert [j.name for j in found] == ["B", "A", "C", "B+A", "B+C", "A+C"]
    named = combinations_of(
        ReleasesConfig(plan="pairs", swap=["B", "A"], combinations=[["A", "B"], ["B", "A"]])
    )
    assert named == [Combination(["B", "A"])]


def test_a_unit_is_part_of_the_name_and_of_what_is_equal():
    chunks, documents = (Combination(["Person", "Product"], unit) for unit in UNITS)
    assert [j.name for j in (chunks, documents)] == [
        "Person+Product@chunk", "Person+Product@document",
    ]  # fmt: skip
    assert chunks != documents and len({chunks, documents}) == 2
    for j in (chunks, documents):
        assert j == ("Person", "Product") and j != Combination(["Person", "Product"])
        again = [Combination.parse(j.name), pickle.loads(pickle.dumps(j)), Combination(j)]
        assert all(one == j and one.unit == j.unit for one in again)
    assert documents.told == "Person + Product, unit document"
    assert Combination().told == "no swaps"


@pytest.mark.parametrize(
    ("categories", "unit"),
    [(["Person"], "page"), ([], "chunk"), (["Person@document"], ""), (["Person@chunk"], "chunk")],
)
def test_a_unit_that_could_not_be_read_back_is_refused(categories, unit):
    with pytest.raises(ValueError, match="parameter of Combination"):
        Combination(categories, unit)


def test_both_units_are_two_combinations():
    found = combinations_of(ReleasesConfig(swap=["B", "A"], unit="both"))
    assert [j.name for j in found] == ["B+A@chunk", "B+A@document"]
    for unit in UNITS:
        assert [j.name for j in combinations_of(ReleasesConfig(swap=["B"], unit=unit))] == ["B"]
