from __future__ import annotations

import pytest

from nes_spark.audit.answers import Parsed, normalise, parse_answer, spellings
from nes_spark.errors import ConfigError

LABELS = {
    "Synopsys, Inc.": ["SNPS"],
    "Cadence Design Systems, Inc.": ["CDNS"],
    "Agilent Technologies": ["A"],
    "Berkshire Hathaway": ["BRK.B", "BRK-B", "BRK.A"],
}
KEY = spellings(LABELS)


@pytest.mark.parametrize(
    ("content", "answer", "outcome"),
    [
        ("SNPS", "Synopsys, Inc.", "answered"),
        (" snps\n", "Synopsys, Inc.", "answered"),
        ("**SNPS**", "Synopsys, Inc.", "answered"),
        ("$SNPS.", "Synopsys, Inc.", "answered"),
        ("NASDAQ: SNPS", "Synopsys, Inc.", "answered"),
        ("(NASDAQ:SNPS)", "Synopsys, Inc.", "answered"),
        ("“BRK.B”", "Berkshire Hathaway", "answered"),
        ("A", "Agilent Technologies", "answered"),
        ("Synopsys", "Synopsys, Inc.", "answered"),
        ("AAPL", "AAPL", "answered"),
        ("600519.SS", "600519.SS", "answered"),
        ("My best guess is SNPS.", "Synopsys, Inc.", "verbose"),
        (
            "The ticker is **CDNS** (Cadence Design Systems).",
            "Cadence Design Systems, Inc.",
            "verbose",
        ),
        ("This sounds like Synopsys to me", "Synopsys, Inc.", "verbose"),
        ("It could be SNPS or CDNS", None, "verbose"),
        ("A company that I do not know well", None, "verbose"),
        ("I cannot be certain, but SNPS", "Synopsys, Inc.", "verbose"),
        ("I'm sorry, but I can't help with that.", None, "refused"),
        ("Unknown", None, "refused"),
        ("UNKNOWN", None, "refused"),
        ("N/A", None, "refused"),
        ("NONE", None, "refused"),
        ("There is not enough information in the text.", None, "refused"),
        ("", None, "empty"),
        (None, None, "empty"),
        ("  \n ", None, "empty"),
        ('""', None, "empty"),
        ("???", None, "malformed"),
        ("apple", None, "malformed"),
        ("<html>", None, "malformed"),
    ],
)
def test_tickers(content, answer, outcome):
    assert parse_answer(content, "ticker", KEY) == Parsed(answer, outcome)


@pytest.mark.parametrize(
    ("content", "answer", "outcome"),
    [
        ("Synopsys, Inc.", "Synopsys, Inc.", "answered"),
        ("synopsys inc", "Synopsys, Inc.", "answered"),
        ("Cadence Design Systems", "Cadence Design Systems, Inc.", "answered"),
        ("Apple", "Apple", "answered"),
        ("I think it is Cadence Design Systems.", "Cadence Design Systems, Inc.", "verbose"),
        ("Synopsys or Cadence Design Systems", None, "verbose"),
        ("I do not know", None, "refused"),
    ],
)
def test_names(content, answer, outcome):
    assert parse_answer(content, "name", KEY) == Parsed(answer, outcome)


@pytest.mark.parametrize(
    ("content", "answer", "outcome"),
    [
        ("cardiology", "Cardiology", "answered"),
        ("Heart.", "Cardiology", "answered"),
        ("Dermatology", None, "malformed"),
        ("The label is cardiology", "Cardiology", "verbose"),
        ("This note could be from any of the wards that you list", None, "verbose"),
    ],
)
def test_labels(content, answer, outcome):
    key = spellings({"Cardiology": ["heart"], "Neurology": []})
    assert parse_answer(content, "label", key) == Parsed(answer, outcome)


def test_refusals_that_the_endpoint_reports():
    assert parse_answer("SNPS", "ticker", KEY, "content_filter").outcome == "refused"
    assert parse_answer(None, "ticker", KEY, "stop", "I will not").outcome == "refused"


def test_spelling_of_two_is_refused():
    with pytest.raises(ConfigError, match="1 spellings stand for more than one") as error:
        spellings({"One": ["XYZ"], "Two": ["xyz"]})
    assert "'xyz'" in str(error.value)


def test_names_without_legal_form_only_where_clear():
    key = spellings({"Acme Inc.": [], "Acme GmbH": [], "Zenith Ltd": []})
    assert "acme" not in key
    assert key["zenith"] == "Zenith Ltd"


def test_normalise():
    assert normalise(" “ＡＣＭＥ’s”  Corp. ") == "acme's” corp"


@pytest.mark.parametrize(
    ("said", "answer", "outcome"),
    [
        ("2020Q3", "2020Q3", "answered"),
        ("Q3 2020", "2020Q3", "answered"),
        ("3Q20", "2020Q3", "answered"),
        ("third quarter of 2020", "2020Q3", "answered"),
        ("**Q2'21**.", "2021Q2", "answered"),
        ("It sounds like the second quarter of fiscal 2020 to me.", "2020Q2", "verbose"),
        ("Q3 2020 or Q4 2020", None, "verbose"),
        ("autumn", "2020Q3", "answered"),
        ("2020", None, "malformed"),
        ("I cannot tell when this was held.", None, "refused"),
        ("", None, "empty"),
    ],
)
def test_periods(said, answer, outcome):
    accepted = spellings({"2020Q3": ["autumn"], "2020Q2": []}, strip_legal_form=False)
    assert parse_answer(said, "period", accepted) == Parsed(answer, outcome)
