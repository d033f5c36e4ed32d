import pytest
from hypothesis import given
from hypothesis import strategies as st

from nes_spark.text.sentences import MAX_CHARACTERS, MAX_WORDS, split_sentences


def cut(text):
    return [text[a:b].strip() for a, b in split_sentences(text)]


def tiles(text, spans):
    ends = [0, *(b for _, b in spans)]
    return all(a == e for (a, _), e in zip(spans, ends, strict=False)) and ends[-1] == len(text)


@pytest.mark.parametrize(
    "text, expected",
    [
        ("One sentence", ["One sentence"]),
        ("We sell in the U.S. and Canada. It went well.", 2),
        ("We sell in the U.S. The rest is abroad.", 2),
        ("Sales were $4.2 billion in 2020. They grew 3.5%.", 2),
        ("Acme Inc. reported today. Foo Corp. did not.", 2),
        ("Thanks, Mr. Smith. Dr. Who is next.", 2),
        ("J. P. Roe joined us. Then A. B. left.", 2),
        ("It is <inaudible>. <inaudible> Thank you.", 2),
        ("Uh, well. Um, yes... we grew. Good.", 3),
        ("See No. 5 for that. No. We do not.", 3),
        ('He said "we won." Then he left.', 2),
        ("Really?! Yes! Fine.", 3),
        ("First paragraph without a stop\n\nSecond one", 2),
        ("A line\nbroken in two. Next.", 2),
        ("all lower case here. and more of it. done", 3),
        ("Please file Form 10-K. The rest follows in Q4. 2021 is next.", 3),
        ("Yahoo! is a name. e.g. this one.", 1),
    ],
)
def test_boundaries(text, expected):
    found = cut(text)
    assert (found if isinstance(expected, list) else len(found)) == expected


def test_empty_text_has_no_sentence():
    assert split_sentences("") == []
    assert split_sentences("  \n ") == [(0, 4)]


def test_text_without_punctuation_is_cut_at_words():
    text = "word " * 50_000
    spans = split_sentences(text)
    assert tiles(text, spans)
    assert max(len(text[a:b].split()) for a, b in spans) <= MAX_WORDS
    assert all(text[a:b].endswith(" ") for a, b in spans)


def test_text_without_spaces_is_cut_too():
    text = "x" * 9_999
    spans = split_sentences(text)
    assert tiles(text, spans)
    assert max(b - a for a, b in spans) <= MAX_CHARACTERS


@pytest.mark.parametrize("unit", ["A. ", ". ", "\n \n", " ", ".", '."', "a.b", "\n ", "Mr. "])
def test_repetitive_texts_end_soon(unit):
    # Quadratic time would take hours here.
    text = unit * (300_000 // len(unit))
    assert tiles(text, split_sentences(text))


def test_white_space_before_the_first_sentence_belongs_to_it():
    text = " \n\n " * 40 + "We grew. It rained.\n\nThanks"
    assert [text[a:b].strip() for a, b in split_sentences(text)] == [
        "We grew.", "It rained.", "Thanks",
    ]  # fmt: skip


@given(st.text(alphabet="aAb.?! \n\t,\"'()U.S$4é…<>", max_size=300))
def test_spans_tile_any_text(text):
    spans = split_sentences(text)
    assert tiles(text, spans)
    assert all(a < b for a, b in spans)
