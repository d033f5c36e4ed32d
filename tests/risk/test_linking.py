"""Sample uniques without and with linking and corpus consistency, counted in memory."""

import pandas as pd
import pytest

from nes_spark.config import EntitiesConfig
from nes_spark.entities.linking import form_key
from nes_spark.risk.linking import linking_table
from nes_spark.schemas import RECOGNISED

CONFIG = EntitiesConfig.model_validate({})
PAIR = ("Organization", "Person")
#: document, chunk, category, surface
FOUND = [
    ("d1", "c1", "Person", "Ann Smith"),
    ("d1", "c2", "Person", "Smith"),
    ("d1", "c1", "Organization", "Constellium SE"),
    ("d1", "c2", "Organization", "Constellium"),
    ("d2", "c3", "Organization", "Orchard"),
    ("d2", "c4", "Organization", "Orchard"),
    # one of three mentions as a person: the vote of the corpus makes it an organisation
    ("d3", "c5", "Person", "Orchard"),
]


def recognised(rows):
    table = [
        (document, chunk, category, surface, 10 * i, 10 * i + 5, form_key(surface, category), "")
        for i, (document, chunk, category, surface) in enumerate(rows)
    ]
    return pd.DataFrame(table, columns=RECOGNISED.names)


def uniques(rows, n, empty_cell="exclude", combinations=(PAIR,)):
    found = linking_table(recognised(rows), n, CONFIG, combinations, empty_cell)
    return found.iloc[:, 2:].to_numpy().tolist()


def test_by_hand():
    """c1 and c2 share their cell once linked; c5 joins c3 and c4 by the vote."""
    # neither: c1, c2, c5 alone; linking: c5; consistency: c1, c2; both: none
    assert uniques(FOUND, 7) == [[3, 1, 2, 0]]
    # single categories: c5 holds no organisation, and only c5 the person Orchard
    assert uniques(FOUND, 7, combinations=[("Organization",), ("Person",)]) == [
        [2, 0, 2, 0],
        [3, 1, 2, 0],
    ]
    found = linking_table(recognised(FOUND), 7, CONFIG, [PAIR])
    assert found["combination"].tolist() == ["Organization+Person"] and found["n"].tolist() == [7]


def test_chunks_without_names():
    """One by itself is alone in the empty cell, where that counts; two are not."""
    assert uniques(FOUND, 6, "include") == [[4, 2, 3, 1]]
    assert uniques(FOUND, 7, "include") == uniques(FOUND, 7)
    assert uniques([], 3) == [[0, 0, 0, 0]]
    with pytest.raises(ValueError, match="'empty_cell' parameter"):
        uniques(FOUND, 7, "drop")


def test_order_of_rows_does_not_matter():
    assert uniques(FOUND[::-1], 7) == uniques(FOUND, 7)
