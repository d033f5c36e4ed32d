"""What two releases have in common, counted on runs that are a few dictionaries."""

from types import SimpleNamespace

import pytest

from nes_spark.compare import overlap


def run(texts, swaps, changed):
    """A published run as ``overlap_of`` reads it."""
    return SimpleNamespace(
        choice=SimpleNamespace(combination="J"),
        digests=lambda: {c: t.encode() for c, t in texts.items()},
        changed=lambda: {c: t.encode() for c, t in changed.items()},
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
