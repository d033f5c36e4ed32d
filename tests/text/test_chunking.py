import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from nes_spark.text import chunk_spans, chunk_text, chunking, split_sentences
from nes_spark.text.chunking import (
    breakpoints,
    divide,
    further_breaks,
    piece_distances,
    sentence_distances,
)
from tests.text.hashing import CORPORA, embed, fingerprint, real_texts, synthetic_texts

RECORDED = json.loads((Path(__file__).parent / "data" / "llamaindex.json").read_text())["texts"]


def compare(name, text):
    spans = split_sentences(text)
    recorded = RECORDED[name]
    assert fingerprint(spans) == recorded["sentences"], "sentences changed: record anew"
    ends = {end: i for i, (_, end) in enumerate(spans)}
    for setting, expected in recorded["breaks"].items():
        threshold, buffer = map(int, setting.split("/"))
        chunks = chunk_spans(text, embed, threshold, buffer)
        assert [ends[b] for _, b in chunks[:-1]] == expected, (name, setting)


def test_equal_to_llamaindex_on_synthetic_texts():
    texts = synthetic_texts()
    assert len(texts) == 12
    for name, text in texts.items():
        compare(name, text)


def test_equal_to_llamaindex_on_real_calls():
    texts = real_texts()
    if not texts:
        pytest.skip(f"no corpora at {CORPORA}; set NES_SPARK_CORPORA")
    assert len(texts) == 26
    for name, text in texts.items():
        compare(name, text)


def test_breaks_by_hand():
    # Distances .1 .2 .3 .4: NumPy's 75th percentile is .325, the 50th .25.
    distances = np.array([0.1, 0.4, 0.2, 0.3])
    assert breakpoints(distances, 75) == [1]
    assert breakpoints(distances, 50) == [1, 3]
    assert breakpoints(distances, 100) == []
    # Strictly greater: the smallest distance itself is no break at threshold 0.
    assert breakpoints(distances, 0) == [1, 2, 3]
    assert breakpoints(np.full(5, 0.2), 50) == []


def test_further_breaks_by_hand():
    distances = np.array([0.1, 0.4, 0.2, 0.3])
    words = [10, 10, 10, 10, 10]
    assert further_breaks([], distances, words, 50) == []
    # 50 words: where they differ most; then of the 30 behind it .3 is more than .2.
    assert further_breaks([], distances, words, 30) == [1]
    assert further_breaks([], distances, words, 20) == [1, 3]
    assert further_breaks([], distances, words, 10) == [0, 1, 2, 3]
    # What was broken stays broken; no sentence is cut.
    assert further_breaks([2], distances, words, 30) == [2]
    assert further_breaks([2], distances, words, 1) == [0, 1, 2, 3]
    # Of equal distances the middle one: no crumbs at one end.
    assert further_breaks([], np.full(7, 0.2), [10] * 8, 40) == [3]
    assert further_breaks([], np.empty(0), [99], 1) == []


@settings(max_examples=60)
@given(
    st.text(alphabet="abcA .!?\n", max_size=200),
    st.sampled_from([0, 50, 75, 100]),
    st.integers(1, 12),
)
@example(text="?\nb\nA", threshold=0, most=1)  # words may be parted by line breaks alone
def test_no_chunk_of_several_sentences_is_longer_than_asked(text, threshold, most):
    whole = chunk_spans(text, embed, threshold)
    spans = chunk_spans(text, embed, threshold, max_words=most)
    assert "".join(text[a:b] for a, b in spans) == text
    assert {b for _, b in whole} <= {b for _, b in spans}
    ends = {b for _, b in split_sentences(text)}
    for a, b in spans:
        inside = [end for end in ends if a < end < b]
        words = len(text[a:b].split())
        assert words <= most or (not inside and words <= 2 * most)
    # and nothing is broken that was short enough
    for a, b in whole:
        if len(text[a:b].split()) <= most:
            assert (a, b) in spans


def test_speech_without_full_stops_is_cut_at_commas():
    text = "we sold kilns and lime in the north, " * 30
    chunks = chunk_text(text, embed, max_words=10)
    assert "".join(chunks) == text and max(len(c.split()) for c in chunks) <= 10
    assert {c.rstrip()[-1] for c in chunks[:-1]} == {","}
    # not inside a name or an amount, where it can be helped
    text = "and then we went with Sandy Banks to see the people of Fjordkraft Energi at noon on 31 "
    chunks = chunk_text(text * 5, embed, max_words=5)
    assert all(not c[0].isupper() and not c[0].isdigit() for c in chunks) and len(chunks) > 10
    # a sentence of up to twice as many stays whole
    assert chunk_text("A b c d e f. G h.", embed, max_words=3) == ["A b c d e f. ", "G h."]


def test_vectors_without_end_are_refused():
    with pytest.raises(ValueError, match="vectors of finite length"):
        chunk_text("One. Two. Three.", lambda texts: np.full((len(texts), 3), 1e200))


def test_buffer_joins_neighbours():
    seen = []

    def spy(texts):
        seen.extend(texts)
        return embed(texts)

    chunk_text("A one. B two. C three.", spy, buffer=1)
    assert seen == ["A one. B two. ", "A one. B two. C three.", "B two. C three."]


@settings(max_examples=50)
@given(
    st.text(alphabet="abcA .!?\n", max_size=200),
    st.sampled_from([0, 50, 75, 95, 100]),
    st.integers(0, 3),
)
def test_chunks_give_the_text_back(text, threshold, buffer):
    chunks = chunk_text(text, embed, threshold, buffer)
    assert "".join(chunks) == text
    assert all(chunks)


def test_one_sentence_is_one_chunk_and_nothing_is_embedded():
    def never(texts):
        raise AssertionError("nothing to compare")

    assert chunk_text("Only one here.", never) == ["Only one here."]
    assert chunk_text("", never) == []


def test_zero_vectors_are_far_from_everything():
    distances = sentence_distances(["a. ", "b. "], lambda texts: np.zeros((len(texts), 3)))
    assert distances.tolist() == [1.0]


def test_long_document_is_linear_in_calls():
    sizes = []

    def spy(texts):
        sizes.append(len(texts))
        return np.ones((len(texts), 2))

    text = "Some words here now. " * 12_500  # 50,000 words
    assert "".join(chunk_text(text, spy)) == text
    assert sum(sizes) == 12_500
    assert max(sizes) <= 2048


class Model:
    def embed(self, texts):
        return embed(texts)


def test_an_object_with_embed_will_do():
    text = "Sales grew. Costs fell. Rain came. The team met."
    assert chunk_text(text, Model()) == chunk_text(text, embed)


@pytest.mark.parametrize(
    "arguments, message",
    [
        (
            {"threshold": 140},
            "The 'threshold' parameter of chunk_text must be a number from 0 to 100. "
            "Got 140 instead.",
        ),
        ({"threshold": -1}, "Got -1 instead"),
        ({"threshold": float("nan")}, "from 0 to 100"),
        ({"threshold": "75"}, "Got '75' instead"),
        ({"threshold": True}, "Got True instead"),
        ({"buffer": -1}, "The 'buffer' parameter of chunk_text must be a whole number from 0"),
        ({"buffer": 0.5}, "Got 0.5 instead"),
        ({"max_words": 0}, "The 'max_words' parameter of chunk_text must be a whole number from 1"),
        ({"max_words": 2.5}, "Got 2.5 instead"),
        ({"max_words": True}, "Got True instead"),
        ({"embed": 3}, "The 'embed' parameter of chunk_text"),
        ({"text": b"bytes"}, "The 'text' parameter of chunk_text must be a string"),
        ({"embed": lambda texts: np.ones(3)}, "one row a text"),
        ({"embed": lambda texts: np.full((len(texts), 2), np.nan)}, "finite"),
    ],
)
def test_bad_parameters_are_named(arguments, message):
    with pytest.raises(ValueError) as error:
        chunk_text(**({"text": "One. Two. Three.", "embed": embed} | arguments))
    assert message in str(error.value)


SAID = [
    "We grew",
    " ",
    ". ",
    "U.S. ",
    "Mr. Li said",
    "! ",
    "…\n\n",
    " \n \n ",
    "\n",
    "\n\n\t",
    "Inc",
    "a",
]


@given(
    st.lists(st.sampled_from(SAID), min_size=1, max_size=150).map("".join),
    st.integers(1, 200),
    st.integers(0, 3),
    st.integers(1, 60),
)
@settings(max_examples=150, deadline=None)
def test_pieces_have_the_distances_of_the_whole(text, size, buffer, around):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(chunking, "AROUND", around)
        patch.setattr(chunking, "MAX_CHARACTERS", 30)  # longer than any sentence of these
        pieces = divide(text, size, buffer)
    assert [p.start for p in pieces] == [0, *(p.end for p in pieces[:-1])]
    assert pieces[-1].end == len(text)
    assert all(p.end - p.start >= size for p in pieces[:-1])
    for p in pieces:
        assert p.begin == 0 or p.start - p.begin >= around
        assert p.stop == len(text) or p.stop - p.end >= around
    ends, distances = [], []
    for p in pieces:
        found = piece_distances(text[p.begin : p.stop], p, embed, buffer, not text.islower())
        ends += found[0]
        distances += found[1].tolist()
    spans = split_sentences(text)
    assert ends == [b for _, b in spans]
    assert distances == sentence_distances([text[a:b] for a, b in spans], embed, buffer).tolist()


def test_a_paragraph_is_never_divided():
    text = "We grew. " * 200 + "\n\n" + "It rained. " * 200
    (first, second) = divide(text, 10)
    assert first.end == second.start == text.index("It rained")


def test_white_space_between_chunks_is_kept_and_put_back():
    from nes_spark.config import ChunkingConfig, IdentifiersConfig
    from nes_spark.text.chunking_stages import chunk_rows
    from nes_spark.text.joining import join_chunks

    paragraphs = ["Sales rose in spring.", "Costs fell  in summer.", "We opened a plant in Bonn."]
    text = "\n\n".join(" ".join([p] * 4) for p in paragraphs)
    document = {"document_id": "d", "metadata": "m", "text": text, "identifiers": []}
    rows = list(chunk_rows(document, _letters, ChunkingConfig(), IdentifiersConfig()))
    assert len(rows) > 1
    assert all(row["text"] == row["text"].strip() for row in rows)
    assert join_chunks([r["text"] for r in rows], [r["gap"] for r in rows]) == text
    assert "\n\n" in {r["gap"] for r in rows}


def _letters(texts):
    vectors = np.array([[t.count(c) + 0.1 for c in "aeiourstn"] for t in texts], dtype=np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
