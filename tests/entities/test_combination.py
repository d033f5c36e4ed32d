import pickle

import pytest

from nes_spark.config import ReleasesConfig
from nes_spark.entities.combination import Combination, combinations_of


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
