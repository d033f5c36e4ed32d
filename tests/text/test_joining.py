"""White space between chunks comes back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nes_spark.text import chunk_text
from nes_spark.text.chunking import chunk_spans
from nes_spark.text.joining import gaps_between, join_chunks

TEXT = (
    "Good morning.\n\nSales rose in May.  Costs fell.\nMargins grew!\n\n\n\tThanks. Any questions?"
)


def embed(texts):
    """One-hot by length: neighbours nearly always differ."""
    return [[float(len(t) % 7 == k) for k in range(7)] for t in texts]


@given(st.lists(st.text(alphabet="ab. \n\t\u00a0", max_size=6), max_size=8))
def test_pieces_that_tile_a_text_give_it_back(pieces):
    texts, gaps = gaps_between(pieces)
    assert len(texts) == len(gaps) == len(pieces)
    assert all(t == t.strip() for t in texts) and not any(g.strip() for g in gaps)
    assert join_chunks(texts, gaps).rstrip() == "".join(pieces).rstrip()


@pytest.mark.parametrize("threshold", [0, 40, 75, 100])
def test_a_chunked_text_comes_back(threshold):
    spans = chunk_spans(TEXT, embed, threshold)
    texts, gaps = gaps_between([TEXT[a:b] for a, b in spans])
    assert join_chunks(texts, gaps) == TEXT
    assert texts == [c.strip() for c in chunk_text(TEXT, embed, threshold)]


def test_white_space_between_pieces_belongs_to_the_next():
    assert gaps_between(["\n a ", " \n", "b", "c "]) == (
        ["a", "", "b", "c"],
        ["\n ", " ", " \n", ""],
    )


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["a", "b", "c", "d"], "\na b\n\nc d"),
        (["a", None, "c", "d"], "\na\n\nc d"),
        (["a", "b", None, "d"], "\na b\n\nd"),
        (["a", None, None, "d"], "\na\n\nd"),
        ([None, "b", "c", "d"], "b\n\nc d"),
        (["a", "b", "c", None], "\na b\n\nc"),
        ([None, None, None, None], ""),
        (["a", "", "c", "d"], "\na \n\nc d"),
    ],
)
def test_missing_chunks_leave_the_widest_gap(texts, expected):
    assert join_chunks(texts, ["\n", " ", "\n\n", " "]) == expected


def test_what_is_no_gap_is_refused():
    with pytest.raises(ValueError, match="2 texts and 1 gaps"):
        join_chunks(["a", "b"], [""])
    with pytest.raises(ValueError, match="Gap 1 of join_chunks is more than white space") as error:
        join_chunks(["a", "b"], ["", "secret"])
    assert "secret" not in str(error.value)
