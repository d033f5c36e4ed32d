from __future__ import annotations

from contextlib import ExitStack

import numpy as np

from nes_spark.audit.numbering_stages import number_labels
from nes_spark.audit.ranking import hashes_of

# above and below the sign bit of their hashes, and of more than one byte
LABELS = ["Zeta", "alpha", "Ärzte", "Émile", "a b", "日本", "x" * 40, "Acme", "acme", "𝔸cme"]


def test_labels_are_numbered_in_order_whatever_the_partitions(spark, partitions):
    rows = [(label,) for k, label in enumerate(LABELS) for _ in range(1 + k % 3)]
    frame = spark.createDataFrame(rows, "who string").repartition(partitions)
    found = number_labels(frame, "who")
    assert {r["label"]: r["number"] for r in found.table.collect()} == {
        label: k for k, label in enumerate(sorted(LABELS))
    }
    assert found.sizes.tolist() == [1 + LABELS.index(label) % 3 for label in sorted(LABELS)]
    assert found.hashes.dtype == np.uint64
    assert np.array_equal(found.hashes, hashes_of(sorted(LABELS)))
    assert (found.hashes >> np.uint64(63)).any(), "some fill all 64 bits"


def test_nothing_to_number(spark):
    with ExitStack() as until:
        found = number_labels(spark.createDataFrame([], "who string"), "who", until)
        assert found.table.count() == 0 and found.sizes.shape == found.hashes.shape == (0,)


def test_values_of_too_few_rows_have_no_number(spark, partitions):
    rows = [(label,) for k, label in enumerate("abcd") for _ in range(k)]
    frame = spark.createDataFrame(rows, "who string").repartition(partitions)
    with ExitStack() as until:
        found = number_labels(frame, "who", until, least=2)
        assert sorted(tuple(r) for r in found.table.collect()) == [("c", 0), ("d", 1)]
        assert found.sizes.tolist() == [2, 3] and found.hashes.tolist() == hashes_of("cd").tolist()
