"""Names that are written so that they look the same and compare different."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nes_spark.text import Identifier, find_identifiers
from nes_spark.text.identifiers import suppress
from nes_spark.text.leaks import find_leaks_in_memory
from nes_spark.text.normalizing import fold_letters, latin_looks, normalize, readings, tidied

NAMES = [
    Identifier("company", "Bristol Widget Works", "[Company Name]"),
    Identifier("company", "Café Nero", "[Company Name]"),
    Identifier("person", "Ann Roe", "[Executive 1]"),
]
ZERO_WIDTH, SOFT_HYPHEN, JOINER = "\u200b", "\u00ad", "\u2060"


@pytest.mark.parametrize(
    "text, expected",
    [
        (f"at Bri{SOFT_HYPHEN}stol Wid{SOFT_HYPHEN}get Works.", "at [Company Name]."),
        (f"at Bristol{ZERO_WIDTH} Widget W{ZERO_WIDTH}orks.", "at [Company Name]."),
        (f"at{ZERO_WIDTH}Bristol Widget Works", f"at{ZERO_WIDTH}[Company Name]"),
        (f"Bristol{ZERO_WIDTH}Widget{ZERO_WIDTH}Works grew", "[Company Name] grew"),
        (f"A{JOINER}nn Ro{ZERO_WIDTH}e spoke", "[Executive 1] spoke"),
        ("at Bristоl Widgеt Wоrks.", "at [Company Name]."),  # Cyrillic o and e
        ("ΑΝΝ ROE spoke", "[Executive 1] spoke"),  # Greek capitals
        ("Ｂｒｉｓｔｏｌ　Ｗｉｄｇｅｔ　Ｗｏｒｋｓ grew", "[Company Name] grew"),
        ("𝐁𝐫𝐢𝐬𝐭𝐨𝐥 𝐖𝐢𝐝𝐠𝐞𝐭 𝐖𝐨𝐫𝐤𝐬 grew", "[Company Name] grew"),
        ("Bristol Widget Works¹ grew", "[Company Name]¹ grew"),
        ("Bristol_Widget_Works grew", "[Company Name] grew"),
        ("file_Bristol_Widget_Works_2020.pdf", "file_[Company Name]_2020.pdf"),
        ("Bristol.Widget.Works grew", "[Company Name] grew"),
        ("at Cafe\u0301 Nero.", "at [Company Name]."),
        (unicodedata.normalize("NFD", "at CAFÉ NERO."), "at [Company Name]."),
        ("write to a＠b．com", "write to [Email]"),
        ("see www.ас\u200bme.com now", "see [URL] now"),
    ],
)
def test_found_and_replaced_at_the_right_place(text, expected):
    assert suppress(text, NAMES)[0] == expected
    assert find_leaks_in_memory([("c", "d", text)], {"d": NAMES})


def test_other_alphabets_still_compare_with_themselves():
    names = [Identifier("company", name, "[C]") for name in ("Сбербанк", "Νίκη", "हिन्दी मंडल")]
    for text in ("В СБЕРБАНКе и Сбербанк,", "η ΝΙΚΗ, Νίκη", "यह हिन्दी मंडल है"):
        assert find_identifiers(text, names)


def test_readings_and_offsets():
    text = "a\u200bb"
    assert [r.text for r in readings(text)] == ["ab", "a b"]
    assert normalize(text).span(0, 2) == (0, 3)
    assert normalize("plain ’quoted’ text").origins is None
    assert len(latin_looks("Аcme")) == 4
    assert fold_letters("Ørsted") == "orsted"


ODD = st.sampled_from([ZERO_WIDTH, SOFT_HYPHEN, JOINER, "\ufeff", "\u200d", "\ufe0f", ""])
LOOKS = {"o": "о", "e": "е", "i": "і", "B": "В", "W": "Ԝ", "s": "ѕ", "r": "ｒ", "t": "𝗍"}


@given(st.data())
def test_no_disguise_of_a_name_is_missed(data):
    disguised = "".join(
        data.draw(st.sampled_from([c, LOOKS.get(c, c)])) + (data.draw(ODD) if c.isalpha() else "")
        for c in "Bristol Widget Works"
    )
    text = f"We are {disguised} here."
    start, _, kind = find_identifiers(text, NAMES)[0]
    assert kind == "company"
    assert start == 7
    left = suppress(text, NAMES)[0]
    assert normalize(left).text == "We are [Company Name] here."


@given(st.text())
def test_spans_lie_in_the_original(text):
    for plain in readings(text):
        if plain.text:
            start, end = plain.span(0, len(plain.text))
            assert 0 <= start < end <= len(text)
            assert plain.origins is None or list(plain.origins) == sorted(plain.origins)


@pytest.mark.parametrize(
    "text, expected",
    [
        (unicodedata.normalize("NFD", "Mária Núñez"), "Mária Núñez"),
        (f"Whit{SOFT_HYPHEN}combe and Whit{SOFT_HYPHEN}\n  combe", "Whitcombe and Whitcombe"),
        (f"a line that ends{SOFT_HYPHEN}\n3 pumps", "a line that ends\n3 pumps"),
        (f"Hu{ZERO_WIDTH}ll, Acme{ZERO_WIDTH}Works", "Hull, Acme Works"),
        ("\ufeffAcme\u202e grew\u2060.", "Acme grew."),
        ("Ac\u200dme", "Acme"),
        ("Paci\ufb01c, Ｈｕｌｌ, 𝐇𝐮𝐥𝐥", "Pacific, Hull, Hull"),
        # pictures, other alphabets and what can be seen stay
        ("👩\u200d🔬 ❤\ufe0f", "👩\u200d🔬 ❤\ufe0f"),
        ("नमस्\u200dते می\u200cخواهم", "नमस्\u200dते می\u200cخواهم"),
        ("“5\u00a0%”, x² – 3\u2009km ① ½", "“5\u00a0%”, x² – 3\u2009km ① ½"),
    ],
)
def test_a_text_is_tidied(text, expected):
    assert tidied(text).text == expected
    assert tidied(expected).text == expected


@given(st.text(alphabet="aB e\u0301\u0300\u00ad\u200b\u200d\ufb01é1\n", max_size=12))
def test_places_follow_a_text_that_is_tidied(text):
    found = tidied(text)
    if found.origins is not None:
        assert len(found.origins) == len(found.text)
        assert list(found.origins) == sorted(found.origins)
    assert found.placed(0, len(text)) == (0, len(found.text))
    shown = [found.placed(at, at + 1) for at in range(len(text))]
    # together the places tile the tidied text, and what takes no accent stays as it is
    assert "".join(found.text[start:end] for start, end in shown) == found.text
    for letter, (start, end) in zip(text, shown, strict=True):
        if letter in "B1":
            assert found.text[start:end] == letter
