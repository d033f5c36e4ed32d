"""Figures of a run: what the components of the mixture hold."""

import numpy as np
import pandas as pd
import pytest

from nes_spark.run.figures_stages import component_figures


def test_components_are_told_by_size_documents_and_most_typical_chunks(spark, partitions):
    rng = np.random.default_rng(5)
    rows = pd.DataFrame(
        {
            "chunk_id": [f"c{i:02d}" for i in range(40)],
            "document_id": [f"d{i}" for i in rng.integers(6, size=40)],
            "component": rng.choice([0, 2], size=40),
            "log_density": np.round(rng.normal(size=40), 1),  # ties go by chunk_id
            "position": rng.integers(9, size=40),
        }
    )
    rows["release_document_id"] = "r" + rows["document_id"].str[1:]
    placed = rows.assign(setting="s")[["setting", "chunk_id", "component", "log_density"]]
    other = placed.assign(setting="other", component=1)
    frames = [
        spark.createDataFrame(frame).repartition(partitions)
        for frame in (
            pd.concat([placed, other]),
            rows[["chunk_id", "document_id"]],
            rows[["chunk_id", "document_id", "release_document_id", "position"]],
        )
    ]
    found = component_figures(*frames, "s", typical=2)
    assert found["component"].tolist() == [0, 2]
    for _, row in found.iterrows():
        mine = rows[rows["component"] == row["component"]]
        counts = mine["document_id"].value_counts()
        assert row["chunks"] == len(mine) and row["documents"] == len(counts)
        herfindahl = ((counts / len(mine)) ** 2).sum()
        assert row["effective_documents"] == pytest.approx(1 / herfindahl)
        best = mine.sort_values(["log_density", "chunk_id"], ascending=[False, True])[:2]
        shown = [(t["chunk_id"], t["release_document_id"], t["position"]) for t in row["typical"]]
        wanted = best[["chunk_id", "release_document_id", "position"]]
        assert shown == [*wanted.itertuples(index=False, name=None)]
