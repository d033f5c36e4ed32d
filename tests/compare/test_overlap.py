"""What two releases have in common, counted on runs that are a few dictionaries."""

from types import SimpleNamespace

import pytest

from nes_spark.compare import overlap


def run(texts, swaps, changed, replaced=()):
    """A published run as ``overlap_of`` reads it."""
    return SimpleNamespace(
        choice=SimpleNamespace(combination="J"),
        digests=lambda: {c: t.encode() for c, t in texts.items()},
        changed=lambda: {c: t.encode() for c, t in changed.items()},
        replaced=lambda: dict(replaced),
        components=lambda: dict.fromkeys(texts, 0),
        swaps=lambda: swaps,
    )


@pytest.fixture
def runs(monkeypatch):
    made = {}
    monkeypatch.setattr(overlap, "PublishedRun", made.__getitem__)
    return made


def test_chunks_swaps_and_ids_are_counted(runs):
    texts = {c: f"text {c}" for c in "abcdef"}
    runs["early"] = run(texts, {("a", "b"): "x", ("c", "d"): "y"}, {"a": "1", "b": "2", "c": "3"})
    later = texts | {"d": "corrected", "g": "new"}
    del later["f"]
    runs["late"] = run(later, {("a", "b"): "x", ("c", "g"): "z"}, {"a": "1", "b": "2", "c": "9"})
    found = overlap.overlap_of("early", "late")
    assert (found.shared, found.alike) == (4, 3)
    assert (found.swapped, found.swapped_alike) == (3, 2)
    assert (found.earlier, found.possible, found.repeated) == (2, 1, 1)
    assert found.reused == 1
    assert "ids with another text now           1: give documents ids of their own" in str(found)


def test_nothing_is_said_where_no_id_is_used_again(runs):
    texts = {c: f"text {c}" for c in "ab"}
    runs["early"] = run(texts, {("a", "b"): "x"}, {})
    runs["late"] = run(texts, {("a", "b"): "other"}, {})
    found = overlap.overlap_of("early", "late")
    assert found.reused == 0 and "ids with" not in str(found)
    assert found.reasons == {"other entities": 1}


def test_names_are_counted_place_by_place(runs):
    texts = {c: f"text {c}" for c in "abc"}
    person, product = ("Person", 4), ("Product", 9)
    early = {"a": {person: b"1", product: b"2"}, "b": {person: b"3"}, "z": {person: b"4"}}
    late = {"a": {person: b"1", product: b"9"}, "c": {person: b"3"}, "z": {person: b"4"}}
    runs["early"] = run(texts, {}, dict.fromkeys("abz", "x"), early)
    runs["late"] = run(texts, {}, dict.fromkeys("acz", "x"), late)
    found = overlap.overlap_of("early", "late")
    # z is no chunk of both; b and c show another name in one release only
    assert found.names == {"Person": (1, 3), "Product": (0, 1)}
    assert "Person, the same in both            1 of 3 (33.3%)" in str(found)
