from dataclasses import FrozenInstanceError, replace

import pandas as pd
import pytest

from nes_spark.entities.combination import Combination
from nes_spark.releases.choice import Choice

CHOICE = Choice(
    setting="pkb-K3-eps0",
    population=1e20,
    combination=Combination(["Person", "Product"]),
    n_swaps=3,
    r=0.1,
    draws=2,
    draw=1,
    DR=0.9,
    DR_se=0.01,
    DU=0.99,
    DU_se=None,
    rule="line",
    candidates=10,
    on_frontier=4,
    components=3,
)


def test_it_is_written_and_read_back():
    content = CHOICE.to_dict()
    assert content["combination"] == "Person+Product"
    assert Choice.from_dict(content) == CHOICE
    assert CHOICE.swapped
    assert not replace(CHOICE, combination=Combination()).swapped


def test_what_was_chosen_is_not_written_to():
    with pytest.raises(FrozenInstanceError):
        CHOICE.n_swaps = 4


@pytest.mark.parametrize("change", [{"surprise": 1}, {"DR": None}])
def test_other_fields_are_refused(change):
    content = {k: v for k, v in CHOICE.to_dict().items() if k not in change or "DR" not in change}
    with pytest.raises(ValueError, match="a choice has the fields"):
        Choice.from_dict(content | {k: v for k, v in change.items() if v})


def test_it_finds_its_row_among_candidates():
    rows = [
        ("pkb-K3-eps0", 1e20, "Person+Product", 3, 1.0),
        ("pkb-K3-eps0", 1e20, "Person+Product", 3, 0.0),
        ("pkb-K3-eps0", 1e10, "Person+Product", 3, 1.0),
        ("pkb-K5-eps0", 1e20, "Person+Product", 3, 1.0),
        ("pkb-K3-eps0", 1e20, "", 0, None),
    ]
    names = ["setting", "population", "combination", "n_swaps", "draw"]
    candidates = pd.DataFrame(rows, columns=names)
    assert CHOICE.marks(candidates).tolist() == [True, False, False, False, False]
    assert CHOICE.space(candidates).index.tolist() == [0, 1, 4]
    # an average stands for the draw that is released, whichever that is
    averages = candidates.assign(draw=None)
    assert CHOICE.marks(averages).sum() == 2
