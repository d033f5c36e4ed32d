from __future__ import annotations

from typing import get_args

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from nes_spark.config.sections import Currency
from nes_spark.entities.currencies import CODES, CURRENCIES, MONEY, in_currency, in_millions
from nes_spark.entities.quantities import find_quantities, likeness_of, quantity_mentions


def test_a_configuration_names_the_same_currencies():
    assert get_args(Currency) == CODES
    assert set(CODES) == MONEY


@pytest.mark.parametrize(
    ("amount", "dollars", "euros"),
    [
        ("CHF383 million", "$383 million", "€383 million"),
        ("CHF 383 million", "$383 million", "€383 million"),
        ("MXN8", "$8", "€8"),
        ("18.4 million euros", "18.4 million dollars", "18.4 million euros"),
        ("9.6 billion pesos", "9.6 billion dollars", "9.6 billion euros"),
        ("5 million euro", "5 million dollars", "5 million euro"),
        ("5 million dollar", "5 million dollar", "5 million euros"),
        ("€3 to €4", "$3 to $4", "€3 to €4"),
        ("£1.2-1.4 billion", "$1.2-1.4 billion", "€1.2-1.4 billion"),
        ("1 billion $275 million", "1 billion $275 million", "1 billion €275 million"),
        ("5 million U.S. dollars", "5 million dollars", "5 million euros"),
        ("US$5.5 million", "$5.5 million", "€5.5 million"),
        ("C$.40", "$.40", "€.40"),
        ("7 MXN", "7 USD", "7 EUR"),
        ("RMB 7", "$7", "€7"),
        ("300 million yen", "300 million dollars", "300 million euros"),
        ("13 euro cents", "13 cents", "13 euro cents"),
        ("€five hundred million", "$five hundred million", "€five hundred million"),
        ("CHF five million", "$five million", "€five million"),
        ("HK$5 million dollars", "$5 million dollars", "€5 million euros"),
        ("5 million pounds sterling", "5 million dollars", "5 million euros"),
        ("TL 4.4 billion", "$4.4 billion", "€4.4 billion"),
        ("120 TL", "120 USD", "120 EUR"),
        ("1zł", "1 dollars", "1 euros"),
        ("RMB5 million", "$5 million", "€5 million"),
        ("U.S. $37.5 million", "$37.5 million", "€37.5 million"),
        ("US $5", "$5", "€5"),
        ("RM 5 million", "$5 million", "€5 million"),
        ("GH₵ 0.05", "$0.05", "€0.05"),
        ("Rs. 500 crores", "$5 billion", "€5 billion"),
        ("INR 4,71,000 crores", "$4.71 trillion", "€4.71 trillion"),
        ("₹ 2.3 lakh", "$230,000", "€230,000"),
        ("five pesewas", "five cents", "five cents"),
        ("173.4 billion rubles", "173.4 billion dollars", "173.4 billion euros"),
        ("12%", "12%", "12%"),
        ("40 stores", "40 stores", "40 stores"),
        ("seven cents", "seven cents", "seven cents"),
    ],
)
def test_another_currency_and_the_same_figures(amount, dollars, euros):
    assert in_currency(amount, "USD") == dollars
    assert in_currency(amount, "EUR") == euros


def test_an_unknown_currency_is_refused():
    with pytest.raises(ValueError, match=r"'code' parameter of in_currency .* Got 'XYZ'"):
        in_currency("$5", "XYZ")


SMALL = ("COP", "PHP", "RON", "PEN", "AED")
_AMOUNTS = st.sampled_from(
    ["${}", "€{}", "£ {}", "CHF {}", "{} dollars", "{} million euros", "US${} million", "{} pesos"]
)


@given(_AMOUNTS, st.sampled_from(["5", "1,200", "3.75", "18"]), st.sampled_from(CODES))
def test_what_is_written_is_an_amount_of_that_currency_and_size(form, number, code):
    amount = form.format(number)
    # "RON 95" is no money
    assume("million" in form or float(number.replace(",", "")) > 99 or code not in SMALL)
    written = in_currency(amount, code)
    assert in_currency(written, code) == written
    (old,), (new,) = find_quantities(f"It was {amount} so."), find_quantities(f"It was {written}.")
    assert new.value == old.value
    # a word alone is at times another country's, or a weight
    if written[0].isdigit():
        assert new.unit in MONEY or code in ("GBP", "EGP", "KRW", "ZAR", "RON", "VND")
    else:
        assert new.unit == code


def test_amounts_come_into_other_texts_in_one_currency():
    text = "We sold for CHF383 million, or MXN8 a share, up 12% and 15 cents, in 40 stores."
    apart, one = quantity_mentions(text), quantity_mentions(text, currency="USD")
    assert [m.entity.split(" (")[0] for m in one] == ["$383 million", "$8", "12%", "15 cents", "40"]
    # the places, and what is like what, are the same
    assert [(m.start, m.end, m.surface) for m in one] == [
        (m.start, m.end, m.surface) for m in apart
    ]
    assert [likeness_of(m.entity) for m in one] == [likeness_of(m.entity) for m in apart]
    assert [m.entity for m in quantity_mentions("It cost $5 or 5 dollars.", currency="USD")] == [
        m.entity for m in quantity_mentions("It cost $5 or 5 dollars.")
    ]


def test_every_word_for_money_is_one_of_a_currency():
    assert all(code in (*CODES, "cent") for code in CURRENCIES.values())


@pytest.mark.parametrize("crores", ["15,580 crores", "6,81,225 crores", "2.3 lakh", "25.0 lakh"])
def test_indian_scales_are_those_of_the_reader(crores):
    (old,) = find_quantities(f"It was {crores}.")
    (new,) = find_quantities(f"It was {in_millions(crores)}.")
    assert new.value == pytest.approx(old.value)
    assert in_currency(f"INR {crores}", "INR") == f"₹{crores}"
