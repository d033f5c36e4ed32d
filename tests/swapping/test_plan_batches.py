"""The tasks of a plan on Arrow batches, without Spark: donors, exchanges, treatments."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from nes_spark.schemas import PLAN, PLAN_LEFTOVERS
from nes_spark.swapping.layers import Drawing, layers_of
from nes_spark.swapping.plan_batches import (
    PlanGroup,
    donor_batches,
    exchange_batches,
    standing_batches,
    treat_batches,
)
from nes_spark.swapping.seeds import Secret
from nes_spark.swapping.treatments import Means

PLACES = Drawing(Secret(b"a secret of these tests"), ("Location",), layers_of(["Location"]))
TEXTS, HASHES = pa.list_(pa.string()), pa.list_(pa.list_(pa.int64()))
NAMES = pa.map_(pa.string(), TEXTS)


def batch(rows, **kinds):
    kinds = {"setting": pa.string(), "draw": pa.int32(), **kinds}
    rows = [{"setting": "s", "draw": 0, **row} for row in rows]
    return [pa.RecordBatch.from_pylist(rows, schema=pa.schema(list(kinds.items())))]


def test_donors_are_other_units_that_can_give():
    rows = [
        {
            "component": 0, "stratum": 0, "chunk_id": name, "metadata": k, "available": [[k, 9]],
            "own": None, "partner": [[]], "left": [[k] if k < 2 else []],
            "status": "low_concentration" if name == "d" else "",
        }
        for k, name in enumerate("abcd")
    ]  # fmt: skip
    kinds = {"component": pa.int32(), "stratum": pa.int64()}
    given = batch(
        rows, **kinds, chunk_id=pa.string(), metadata=pa.int64(), available=HASHES, own=HASHES,
        partner=HASHES, left=HASHES, status=pa.string(),
    )  # fmt: skip
    (found,) = donor_batches(given, PLACES, with_donors=True)
    donors = {r["chunk_id"]: r["donors"] for r in found.to_pylist()}
    assert set(donors) == {"a", "b"}
    # 'd' is kept out, nobody gives to itself, and one name is enough
    assert all(len(d) == 1 and d[0] in {"a", "b", "c"} - {c} for c, d in donors.items())
    (none,) = donor_batches(given, PLACES, with_donors=False)
    assert all(r["donors"] == [] for r in none.to_pylist())
    # where only one name can be replaced by another's, nobody else asks; all are treated
    standing = {"Location": np.array([1, 7], dtype=np.int64)}
    (some,) = donor_batches(given, PLACES, with_donors=True, standing=standing)
    asked = {r["chunk_id"]: r["donors"] for r in some.to_pylist()}
    assert asked == {"a": [], "b": donors["b"]}


def test_terms_that_another_could_replace_are_told_apart():
    drawing = Drawing(Secret(b"a secret"), ("Term",), layers_of(["Term"]))
    rows = [{"category": "Term", "entity": e} for e in ("tanker", "Chilean/adjective", "RFID")]
    given = [pa.RecordBatch.from_pylist(rows)]
    (found,) = standing_batches(given, drawing, Means(choosy=True))
    assert found.column("entity").to_pylist() == ["Chilean/adjective"]
    (every,) = standing_batches(given, drawing, Means(choosy=False))
    assert every.num_rows == 3


def exchanged(policy):
    row = {
        "unit": "chunk", "order": 1, "neighbour": 0, "layer": 0, "combination": "Location",
        "priority": 0, "time": 0.5, "component": 0, "chunk_a": "a", "chunk_b": "b",
        "entities_a": [("Location", ["Chad", "Ohio", "Peru"])],
        "entities_b": [("Location", ["Ohio", "Oslo"])], "own_a": None, "own_b": None,
    }  # fmt: skip
    numbers = dict.fromkeys(("order", "neighbour", "layer", "priority", "component"), pa.int32())
    words = dict.fromkeys(("unit", "combination", "chunk_a", "chunk_b"), pa.string())
    names = dict.fromkeys(("entities_a", "entities_b", "own_a", "own_b"), NAMES)
    given = batch([row], **words, **numbers, time=pa.float64(), **names)
    (found,) = exchange_batches(given, PLACES, "random", policy)
    assert found.schema.names == PLAN.names
    return [(e["side"], e["old"], e["new"]) for e in found.to_pylist()[0]["exchanged"]]


def test_a_surplus_is_left_or_covered():
    left = exchanged("one_to_one")
    assert len(left) == 2 and {new for side, _, new in left if side == "a"} == {"Oslo"}
    covered = exchanged("cover")
    assert {old for side, old, _ in covered if side == "a"} == {"Chad", "Peru"}


def treated(order, donors, summary=None):
    row = {
        "chunk_id": "a", "category": "Location", "status": "", "names": ["Chad", "Ohio", "Peru"],
        "own": None, "gone": ["Chad"], "partner_names": ["Ohio", "Oslo"], "partner_own": None,
        "donors": donors, "summary": summary,
    }  # fmt: skip
    lists = dict.fromkeys(("names", "own", "gone", "partner_names", "partner_own"), TEXTS)
    one = pa.struct([("position", pa.int32()), ("donor", pa.string()), ("names", TEXTS)])
    words = dict.fromkeys(("chunk_id", "category", "status", "summary"), pa.string())
    given = batch([row], **words, **lists, donors=pa.list_(one))
    (found,) = treat_batches(given, PLACES, order, Means())
    assert found.schema.names == PLAN_LEFTOVERS.names
    return {r["entity"]: (r["treatment"], r["replacement"], r["reason"]) for r in found.to_pylist()}


def test_what_is_left_is_treated_with_its_reason():
    donors = [{"position": 0, "donor": "d", "names": ["Oslo", "Rome", "Peru"]}]
    found = treated(("donor", "placeholder"), donors)
    assert sorted(found) == ["Ohio", "Peru"]
    assert {e: why for e, (_, _, why) in found.items()} == {"Ohio": "shared", "Peru": "surplus"}
    # of the donor's names only Rome is neither its own nor its partner's
    assert sorted((how, new) for how, new, _ in found.values()) == [
        ("donor", "Rome"), ("placeholder", "[Location]"),
    ]  # fmt: skip
    told = treated(("summary", "drop"), [], "Somebody went somewhere.")
    assert {how for how, _, _ in told.values()} == {"summary"}
    assert {how for how, _, _ in treated(("summary", "drop"), []).values()} == {"drop"}


def test_a_column_that_is_taken_is_whole_and_held_once():
    kinds = {
        "chunk_id": pa.string(), "metadata": pa.int64(), "swaps_before": pa.int32(),
        "place": pa.int32(), "available": HASHES, "own": HASHES,
        "vector": pa.list_(pa.float32()), "numbers": pa.list_(pa.float64()),
        "outside": pa.list_(pa.int64()), "uniques": pa.list_(pa.bool_()),
        "open": pa.list_(pa.bool_()),
    }  # fmt: skip
    rows = [
        {
            "chunk_id": f"c{k}", "metadata": k, "swaps_before": 0, "place": 0,
            "available": [[k]], "own": None, "vector": [k, k + 0.5], "numbers": None,
            "outside": [k], "uniques": [k % 2 == 0], "open": [True],
        }
        for k in range(7)
    ]  # fmt: skip
    group = PlanGroup(("s", 0, 0, 0))
    for part in (rows[:3], rows[3:4], rows[4:]):
        group.add(pa.RecordBatch.from_pylist(part, schema=pa.schema(list(kinds.items()))))
    for name in ("metadata", "vector", "outside", "uniques"):
        whole = group.column(name)
        taken = group.taken(name)
        assert taken.dtype == whole.dtype
        np.testing.assert_array_equal(taken, whole)
        assert name not in group.columns
    assert group.taken("open").tolist() == [[True]] * 7
    group.columns["swaps_before"].pop()
    with pytest.raises(ValueError, match="swaps_before has 4 values for 7 rows"):
        group.taken("swaps_before")
