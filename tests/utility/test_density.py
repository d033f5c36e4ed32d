"""Densities of released texts in one process."""

import numpy as np
import pandas as pd
import pytest

from nes_spark.config import EmbeddingConfig
from nes_spark.embedding import load_embedder, spec_for
from nes_spark.errors import EstimationError
from nes_spark.schemas import POST_DENSITY
from nes_spark.utility import density_stages
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
    with pytest.raises(EstimationError, match="no mixture model for setting 'a'"):
        released_densities(texts, placed, lambda _: np.ones((1, 1)), {"b": Model(1)})


@pytest.mark.parametrize("partitions", [1, 2, 7])
def test_spark_gives_the_same_whoever_embeds(spark, monkeypatch, partitions):
    class Placed:  # a class of the test goes to the workers as it is
        def __init__(self, by):
            self.by = by

        def log_density_at(self, vectors, components):
            return self.by * np.asarray(components) + vectors[:, 0].astype(float)

    said = ["Margins rose in May.", "Orders fell.", "", "Orders fell."]
    texts = [
        (setting, "O", 0, order, f"c{order % 5}", said[order % 4])
        for setting in ("a", "b")
        for order in range(1, 14)
    ]
    columns = ["setting", "combination", "draw", "order", "chunk_id", "text"]
    # of c4 nobody knows where it lay
    placed = [(s, f"c{i}", i + 1) for s in ("a", "b") for i in range(4)]
    replaced = [("c1", "Until [Date]."), ("c4", "[Event]"), ("c2", "")]
    spec = spec_for(EmbeddingConfig())
    models = {"a": Placed(100), "b": Placed(1000)}

    every = [(s, "", 0, 0, c, t) for s in ("a", "b") for c, t in replaced]
    expected = released_densities(
        pd.DataFrame(texts + every, columns=columns),
        pd.DataFrame(placed, columns=["setting", "chunk_id", "component"]),
        load_embedder(spec).embed,
        models,
    )
    assert len(expected) == 32 - 2 * 2 - 2

    def told():
        found = density_stages.post_density(
            spark.createDataFrame(
                texts,
                "setting string, combination string, draw int, `order` int, chunk_id string, "
                "text string",
            ).repartition(partitions),
            spark.createDataFrame(placed, "setting string, chunk_id string, component int"),
            spec,
            models,
            spark.createDataFrame(replaced, "chunk_id string, text string"),
        )
        assert found.columns == POST_DENSITY.names
        return sorted(map(tuple, found.collect()))

    assert told() == sorted(expected.itertuples(index=False, name=None))
    monkeypatch.setattr(density_stages, "is_fast", lambda spec: False)
    assert told() == sorted(expected.itertuples(index=False, name=None))
