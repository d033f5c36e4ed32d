"""Users' regular expressions: the meaning of Python's own, and an end."""

import pickle
import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nes_spark.config.patterns import Pattern, check_pattern
from nes_spark.errors import ConfigError

PATTERNS = [r"\bNo\. \d+", r"[A-Z]{2}-\d{3,}", r"(?i)case\s+\w+", r"(\w)\1", r"^x|y$", r"a*"]


@given(st.sampled_from(PATTERNS), st.text(alphabet="No. 12AB-casexy\n", max_size=40))
def test_it_finds_what_python_finds(pattern, text):
    expected = [m.span() for m in re.finditer(pattern, text) if m.end() > m.start()]
    assert list(Pattern(pattern, "k").spans(text)) == expected
    assert Pattern(pattern, "k").fullmatch(text) == (re.fullmatch(pattern, text) is not None)


ENDLESS = {r"(a|aa)+$": "a" * 60 + "!", r"(.*?,){20}P": "1," * 60}


@pytest.mark.parametrize("pattern", ENDLESS)
def test_one_that_backtracks_for_ever_ends_with_the_key_and_what_to_do(pattern):
    text = ENDLESS[pattern]
    slow = Pattern(pattern, "identifiers.kinds.case.pattern", limit=0.2)
    begun = time.monotonic()
    with pytest.raises(ConfigError, match=r"identifiers\.kinds\.case\.pattern.*more than 0\.2 s"):
        list(slow.spans(text))
    with pytest.raises(ConfigError, match="without nested repetition"):
        check_pattern(pattern)
    assert time.monotonic() - begun < 60


@pytest.mark.parametrize("pattern", [*PATTERNS, r"\d{2}-\d{7}", r"(?:[A-Z]\w+ ){1,5}v\. \w+", ""])
def test_ordinary_ones_pass(pattern):
    check_pattern(pattern)


def test_no_regular_expression():
    with pytest.raises(ConfigError, match=r"k: '\(' is not a regular expression"):
        Pattern("(", "k")


def test_it_travels_to_workers():
    again = pickle.loads(pickle.dumps(Pattern(r"\d+", "k", 1.5)))
    assert (again.text, again.where, again.limit) == (r"\d+", "k", 1.5)
    assert list(again.spans("a 12")) == [(2, 4)]
