"""The list of words with a capital that one secret's documents alone have."""

from __future__ import annotations

from tests.benchmarks.left_capitals import capitals_left


def test_what_is_left_and_whose():
    chunks = [
        ("Acme", "Our Zorbex pumps and QPR meet Vega.", "Our Zorbex pumps and QPR meet Nova."),
        ("Acme", "The Zorbex [Company Name] sold.", "The Zorbex [Company Name] sold."),
        ("Brill", "We sell qpr to Nova.", "We sell qpr to Vega."),
    ]  # fmt: skip
    found = capitals_left(chunks)
    # QPR is said by the other too, Nova came in, Vega went, a placeholder is no word
    assert [(word, secret, n) for word, secret, n, _ in found if word not in ("Our", "We")] == [
        ("The", "Acme", 1),
        ("Zorbex", "Acme", 2),
    ]
    assert "Zorbex pumps" in {row[0]: row[3] for row in found}["Zorbex"]
