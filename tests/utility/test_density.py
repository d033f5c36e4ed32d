"""Densities of released texts in one process."""

import numpy as np
import pandas as pd
import pytest

from nes_spark.schemas import POST_DENSITY
from nes_spark.utility.density import released_densities


class Model:
    """Says which component it was asked about, and for which vector."""

    def __init__(self, by):
        self.by = by

    def log_density_at(self, vectors, components):
        return self.by * np.asarray(components) + vectors[:, 0]


def test_each_text_is_read_once_and_placed_where_its_chunk_was():
    read = []

    def embed(texts):
        read.extend(texts)
        return np.array([[float(len(text))] for text in texts], dtype=np.float32)

    texts = pd.DataFrame(
        [
            ("a", "O", 0, 1, "c1", "four"),
            ("b", "O", 0, 1, "c1", "four"),
            ("a", "O", 0, 2, "c2", "thirteen char"),
            ("a", "O", 0, 3, "c2", ""),
            ("a", "O", 0, 4, "unplaced", "never"),
            ("a", "O", 0, 5, "unplaced", ""),
        ],
        columns=["setting", "combination", "draw", "order", "chunk_id", "text"],
    )
    assignments = pd.DataFrame(
        [("a", "c1", 2), ("b", "c1", 3), ("a", "c2", 1), ("a", "c3", 7)],
        columns=["setting", "chunk_id", "component"],
    )
    found = released_densities(texts, assignments, embed, {"a": Model(100), "b": Model(1000)})
    assert sorted(read) == ["four", "thirteen char"]
    assert list(found) == POST_DENSITY.names
    density = {(row.setting, row.order): row.log_density for row in found.itertuples()}
    assert density == {
        ("a", 1): 204.0,
        ("b", 1): 3004.0,
        ("a", 2): 113.0,
        # nothing is published of these, wherever they lie
        ("a", 3): 0.0,
        ("a", 5): 0.0,
    }


def test_no_text_is_no_density_and_an_unknown_setting_an_error():
    columns = ["setting", "combination", "draw", "order", "chunk_id", "text"]
    placed = pd.DataFrame([("a", "c1", 2)], columns=["setting", "chunk_id", "component"])
    assert released_densities(pd.DataFrame([], columns=columns), placed, None, {}).empty
    texts = pd.DataFrame([("a", "O", 0, 1, "c1", "some")], columns=columns)
    with pytest.raises(KeyError, match="a"):
        released_densities(texts, placed, lambda _: np.ones((1, 1)), {"b": Model(1)})
