from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nes_spark.entities import is_placeholder
from nes_spark.entities.mentions import disjoint, placeholder_spans, trim


@pytest.mark.parametrize("span", ["[Company Name]", "[Executive 1]", "[URL]", "[Event]", " [x] "])
def test_bracketed_phrases_are_placeholders(span):
    assert is_placeholder(span)


@pytest.mark.parametrize("span", ["Company Name", "[]", "[a] b", "a [b]", "[a\nb]", ""])
def test_other_strings_are_not(span):
    assert not is_placeholder(span)


@pytest.mark.parametrize(
    ("text", "inside"),
    [
        ("the Acme's", "Acme"),
        ("Acme’s ", "Acme"),
        ("(Acme)", "Acme"),
        ("Acme Inc.", "Acme Inc."),
        ("our Acme Cloud,", "Acme Cloud"),
        ("The Home Depot", "Home Depot"),
        ("Acme.", "Acme"),
        ("Acme and", "Acme"),
        ("ACME.As", "ACME"),
        ("Acme.ai", "Acme.ai"),
        # a mark stays outside
        ("Acme(R)", "Acme"),
        ("Acme (TM", "Acme"),
        ("Acme®’s", "Acme"),
        ("Acme (UK)", "Acme (UK)"),
        # the apostrophe of a year is its own
        ("'95", "'95"),
        ("' 21", "' 21"),
        ("' 60 Minutes", "60 Minutes"),
        (", ’98 ", "’98"),
        ("'Acme", "Acme"),
        ("'955", "955"),
        ("  ", ""),
        ("Neither Ann Roe", "Ann Roe"),
        ("nor Acme", "Acme"),
        ("Norfolk", "Norfolk"),
    ],
)
def test_trim_keeps_the_name_only(text, inside):
    start, end = trim(text, 0, len(text))
    assert text[start:end] == inside


def test_longest_span_wins():
    text = "Bank of America Merrill Lynch"
    spans = [(0, 15, "ORG"), (8, 15, "LOC"), (0, 29, "ORG")]
    assert disjoint(text, spans) == [(0, 29, "ORG")]


def test_a_bracket_that_does_not_close_breaks_a_span():
    text = "We sell Acme (Acme Cloud) and Orion(R) here"
    spans = disjoint(text, [(8, 24, "ORG"), (30, 37, "PRODUCT")])
    assert [text[s:e] for s, e, _ in spans] == ["Acme", "Acme Cloud", "Orion"]


def test_what_a_text_has_in_brackets_itself_is_no_placeholder():
    text = "[21/Jun/2026:03:12 +0000] [Ann Roe, Leeds] [cid:roe] [Term] [Executive 12] [B & B's]"
    found = [text[start:end] for start, end in placeholder_spans(text)]
    assert found == ["[Term]", "[Executive 12]", "[B & B's]"]


def test_placeholder_breaks_a_span():
    text = "[Company Name] Forward and Max [URL] Mix"
    spans = disjoint(text, [(0, 22, "X"), (27, 40, "Y")], placeholder_spans(text))
    assert [text[s:e] for s, e, _ in spans] == ["Forward", "Max", "Mix"]


@settings(max_examples=150, deadline=None)
@given(
    st.text(alphabet="aB '.[]()&,", max_size=40),
    st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40), st.sampled_from("XY")), max_size=8),
)
def test_spans_never_overlap_nor_touch_placeholders(text, raw):
    spans = [(min(s, e, len(text)), min(max(s, e), len(text)), x) for s, e, x in raw]
    blocked = placeholder_spans(text)
    kept = disjoint(text, spans, blocked)
    assert kept == sorted(kept)
    for (_, end, _), (start, _, _) in pairwise(kept):
        assert end <= start
    for start, end, _ in kept:
        assert start < end
        assert text[start:end] == text[start:end].strip()
        assert not any(s < end and start < e for s, e in blocked)


def test_sounds_of_speech_and_days_that_come_again_are_no_names():
    text = "Mhm. Erm, Leeds, not Tuesdays; ER and Uhm Ann, Ermine"
    words = ("Mhm", "Erm, Leeds", "Tuesdays", "ER", "Uhm Ann", "Ermine")
    spans = [(text.index(word), text.index(word) + len(word), "ORG") for word in words]
    kept = [text[start:end] for start, end, _ in disjoint(text, spans)]
    assert kept == ["Leeds", "ER", "Ann", "Ermine"]


def test_masks_of_the_publisher_are_no_names():
    text = "ON XX/XX/XXXX XXXX XXXX OF XXXX WROTE, since XX/XX/2015, of XXXX6822, xx/xx/xxxx. XX."
    found = [text[start:end] for start, end in placeholder_spans(text)]
    assert found == ["XX/XX/XXXX", "XXXX", "XXXX", "XXXX", "xx/xx/xxxx"]
    spans = [(3, 23, "ORG"), (14, 23, "PERSON"), (24, 31, "ORG")]
    left = disjoint(text, spans, placeholder_spans(text))
    assert [text[start:end] for start, end, _ in left] == ["OF"]
