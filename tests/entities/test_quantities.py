"""Amounts, percentages and counts: where they are, and which are alike."""

from __future__ import annotations

import re
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nes_spark.entities.quantities import (
    SCALES,
    InOrder,
    connected_as,
    find_quantities,
    likeness_of,
    quantity_mentions,
    size_of,
    spelled,
)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (
            "Revenue grew 12% to $3.4 million.",
            [("12%", "%/e+1/+"), ("$3.4 million", "money/e+6/+")],
        ),
        # where a sentence bears one and not another: these meet their like
        ("benefits of $2.61 cents", [("$2.61 cents", "twice money/e+0/0")]),
        ("$104.1 million Euros of it", [("$104.1 million Euros", "twice money/e+8/0")]),
        ("a 65 cent dividend", [("65 cent", "single cent/e+1/0")]),
        ("high 20s to low $30 million", [("$30 million", "round money/e+7/0")]),
        ("in the mid-40% range", [("40%", "round %/e+1/0")]),
        ("of high $100 million", [("$100 million", "round money/e+8/0")]),
        ("a low 12% share", [("12%", "%/e+1/0")]),
        ("a low 5% vacancy, a low 30.5%", [("5%", "%/e+0/0"), ("30.5%", "%/e+1/0")]),
        ("a record low 30% and an all-time high 40%", [("30%", "%/e+1/0"), ("40%", "%/e+1/0")]),
        ("in the mid-30% to 40% range", [("30% to 40%", "range of %/e+1/0")]),
        # money of everywhere, so that no word for it stays behind its figure
        (
            "541 billion won of bonds, 56,000 won and 30,000 won. We won 3 bids, 5 won twice",
            [
                ("541 billion won", "money/e+11/0"),
                ("56,000 won", "money/e+4/0"),
                ("30,000 won", "money/e+4/0"),
                ("3", "count/e+0/0"),
                ("5", "count/e+0/0"),
            ],
        ),
        ("a 120 billion won level", [("120 billion won", "money/e+11/0")]),
        (
            "was 2 trillion, 980.7 billion won. For 2 million, 5 million euros",
            [
                ("2 trillion, 980.7 billion won", "money/e+12/0"),
                ("2 million", "count/e+6/0"),
                ("5 million euros", "money/e+6/0"),
            ],
        ),
        ("half a million pounds", [("half a million", "pounds/e+5/0")]),
        ("300 million reals for it", [("300 million reals", "money/e+8/0")]),
        (
            "2.1 million real, and 5 real options",
            [
                ("2.1 million real", "money/e+6/0"),
                ("5", "count/e+0/0"),
            ],
        ),
        ("3 million real customers", [("3 million", "count/e+6/0")]),
        (
            "₽92 billion, TL 136 million",
            [
                ("₽92 billion", "money/e+10/0"),
                ("TL 136 million", "money/e+8/0"),
            ],
        ),
        (
            "INR 1,821 crores, 6,81,225 of them",
            [
                ("INR 1,821 crores", "money/e+10/0"),
                ("6,81,225", "count/e+5/0"),
            ],
        ),
        (
            "of COP26, COP15 and COP 30 talks, then COP10 .6 trillion, COP25m and COP 25 bn",
            [
                ("COP10 .6 trillion", "money/e+13/0"),
                ("COP25m", "money/e+7/0"),
                ("COP 25 bn", "money/e+10/0"),
            ],
        ),
        ("We try 5 of them", [("5", "count/e+0/0")]),
        ("200 TL drivers and 3,000 TL loads, 12 tl", [("3,000", "count/e+3/0")]),
        ("a team of 100 PHP developers, PHP 8, RON 95, AED 3", []),
        ("rub 3 million people", [("3 million", "count/e+6/0")]),
        ("in TL 5.3% and LTL 3%", [("5.3%", "%/e+0/0"), ("3%", "%/e+0/0")]),
        ("of ₩541 billion won", [("₩541 billion won", "twice money/e+11/0")]),
        ("5 L\u0130RA", [("5 L\u0130RA", "money/e+0/0")]),
        ("$2 trillions of it", [("$2 trillions", "money/e+12/0")]),
        ("Rs. 5 thousand crores", [("Rs. 5 thousand crores", "money/e+10/0")]),
        ("a billion-dollar company, a billion dollar company", []),
        # and no figure
        (
            "a billion euros, half a million rand, a million things",
            [
                ("a billion euros", "money/e+9/0"),
                ("half a million rand", "money/e+5/0"),
            ],
        ),
        # a space that a transcript put in
        ("were RMB61 .1 million", [("RMB61 .1 million", "money/e+7/0")]),
        ("in 5 stores .5 million", [("5", "count/e+0/0"), (".5 million", "count/e+5/0")]),
        # a year that is no date of its own
        ("the 1918 influenza pandemic, the 1889 war", []),
        ("1943 young people", [("1943", "count/e+3/0")]),
        ("1918 stores, 1950 people", [("1918", "count/e+3/0"), ("1950", "count/e+3/0")]),
        (
            "a 200 basis point improvement",
            [("200 basis point", "single points/e+2/+")],
        ),
        # the ends of a range go together, so that it stays one
        ("grow by 6% to 8% a year", [("6% to 8%", "range of %/e+0/+")]),
        ("of $8.70 to $9.20, then", [("$8.70 to $9.20", "range of money/e+0/0")]),
        ("of $1.2-1.4 billion, then", [("$1.2-1.4 billion", "range of money/e+9/0")]),
        ("of €3 to 4 million, then", [("€3 to 4 million", "range of money/e+6/0")]),
        ("of $5 to 40 stores", [("$5", "money/e+0/0"), ("40", "count/e+1/0")]),
        ("of 5%-6%, then", [("5%-6%", "range of %/e+0/0")]),
        ("of $5\u00a0million, then", [("$5\u00a0million", "money/e+6/0")]),
        (
            "fell from $9 million to $7 million",
            [("$9 million to $7 million", "fall of money/e+6/-")],
        ),
        ("grew 8% to $4 million", [("8%", "%/e+0/+"), ("$4 million", "money/e+6/+")]),
        ("$10 to $10.75 cents", [("$10", "money/e+1/0"), ("$10.75 cents", "twice money/e+1/0")]),
        ("growth of between 7% and 8%", [("7% and 8%", "range of %/e+0/+")]),
        ("to stay within 7% and 8%", [("7% and 8%", "range of %/e+0/0")]),
        (
            "stay within .5 and .6 billion euros",
            [(".5 and .6 billion euros", "range of money/e+8/0")],
        ),
        ("up 7% and 8%", [("7%", "%/e+0/+"), ("8%", "%/e+0/0")]),
        ("a 450 basis-point benefit", [("450 basis-point", "single points/e+2/0")]),
        ("an 85 euro cents dividend", [("85 euro cents", "cent/e+1/0")]),
        (
            "of 85 Euro cent, or 9 euros",
            [("85 Euro cent", "single cent/e+1/0"), ("9 euros", "money/e+0/0")],
        ),
        ("of 5 to 6% to 8%", [("5 to 6%", "range of %/e+0/0"), ("8%", "%/e+0/0")]),
        ("They stand 400 points higher.", [("400", "count/e+2/+")]),
        ("They stand 400 basis points higher.", [("400 basis points", "points/e+2/+")]),
        ("Costs fell by €21 million.", [("€21 million", "money/e+7/-")]),
        ("a loss of 14 cents a share", [("14 cents", "cent/e+1/-")]),
        (
            "margins of 8.5%, down 90 basis points",
            [("8.5%", "%/e+0/0"), ("90 basis points", "points/e+1/-")],
        ),
        ("a cash flow of -$5 million", [("$5 million", "money/e+6/-")]),
        # brackets stay where they are; in place of an amount they are its minus
        ("a result of ($5 million) then", [("$5 million", "money/e+6/-")]),
        ("a contract with Acme ($5 million) then", [("$5 million", "money/e+6/0")]),
        ("it cost (LTL 3%)", [("3%", "%/e+0/0")]),
        ("it (12%) was", [("12%", "%/e+1/0")]),
        (
            "CHF70 million and RMB 26.8 million",
            [("CHF70 million", "money/e+7/0"), ("RMB 26.8 million", "money/e+7/0")],
        ),
        ("273 million euros in debt", [("273 million euros", "money/e+8/0")]),
        ("US$1,250 for it", [("US$1,250", "money/e+3/0")]),
        ("worth U.S. $37.5 million", [("U.S. $37.5 million", "money/e+7/0")]),
        ("worth U.S.$1.2 billion", [("U.S.$1.2 billion", "money/e+9/0")]),
        ("or US $102 million", [("US $102 million", "money/e+8/0")]),
        ("the US $4 million grant", [("US $4 million", "money/e+6/0")]),
        ("sold in the U.S. $4 million", [("$4 million", "money/e+6/0")]),
        ("which gave us $4 million", [("$4 million", "money/e+6/0")]),
        ("in 40 stores and 1,300 employees", [("40", "count/e+1/0"), ("1,300", "count/e+3/0")]),
        ("adding 700 megawatts", [("700", "megawatts/e+2/+")]),
        ("a range of 10 to 15%", [("10 to 15%", "range of %/e+1/0")]),
        ("a range of 31 to 32 million", [("31 to 32 million", "range of count/e+7/0")]),
        # numbers in words, with a unit or a scale
        (
            "of new seven and a quarter percent notes",
            [("seven and a quarter percent", "%/e+0/0")],
        ),
        ("15%, one-five percent", [("15%", "%/e+1/0"), ("one-five percent", "%/e+1/0")]),
        (
            "from 34 to 16%, or 16 to 34%",
            [("34 to 16%", "fall of %/e+1/0"), ("16 to 34%", "range of %/e+1/0")],
        ),
        ("from seven to five percent", [("seven to five percent", "fall of %/e+0/0")]),
        ("of 34 to 16 million", [("34 to 16 million", "fall of count/e+7/0")]),
        ("of 900 to 1.2 million", [("900 to 1.2 million", "range of mixed count/e+6/0")]),
        ("from 5 to 0%", [("5 to 0%", "fall of %/e+0/0")]),
        ("150 to 1.6 billion", [("150 to 1.6 billion", "range of mixed count/e+9/0")]),
        ("fell from 120 to 9 million", [("120 to 9 million", "fall of count/e+6/-")]),
        (
            "of between five and seven percent",
            [("five and seven percent", "range of %/e+0/0")],
        ),
        (
            "between one and a half and two percent",
            [("one and a half and two percent", "range of %/e+0/0")],
        ),
        ("between five and seven stores", []),
        (
            "from 78% in the second quarter of 19 to 82% now",
            [("78%", "%/e+1/0"), ("82%", "%/e+1/0")],
        ),
        ("in fourth quarter 19 results", []),
        ("In the first half 20 stores opened.", [("20", "count/e+1/0")]),
        ("half of 20 to 25 turbines", [("20 to 25", "range of count/e+1/0")]),
        ("in the second half 20 to 25%", [("20 to 25%", "range of %/e+1/0")]),
        ("a quarter of 18 employees", [("18", "count/e+1/0")]),
        ("sections 4 and 12 of the Act, claims 10-20 of the patent", []),
        ("in year 3 of our plan, stage 2 of our trial, #1 of our peers", []),
        ("a margin in the fourth quarter of 18 to 20%", [("18 to 20%", "range of %/e+1/0")]),
        ("In the first half 15 call centers opened.", [("15", "count/e+1/0")]),
        ("and 42 of our new stores", [("42", "count/e+1/0")]),
        ("on page 42 of the report, in section 12 of the act", []),
        ("the 3 of May, 12 of us", []),
        ("and 20 to 25% of it", [("20 to 25%", "range of %/e+1/0")]),
        ("fell between 60 and 45%", [("60 and 45%", "fall of %/e+1/0")]),
        ("between 7 and 8 million units", [("7 and 8 million", "range of count/e+6/0")]),
        (
            "declined from 1,150 to 870 head, from 9,000 to 3 stores",
            [
                ("1,150 to 870", "fall of count/e+2/-"),
                ("9,000", "count/e+3/0"),
                ("3", "count/e+0/0"),
            ],
        ),
        # people are whole
        ("5 staff, 6.1 staff", [("5", "count/e+0/0"), ("6.1", "part count/e+0/0")]),
        ("150 to 1%, 5, to 6%", [("150 to 1%", "fall of %/e+0/0"), ("6%", "%/e+0/0")]),
        ("in 1.1 hundred stores", [("1.1 hundred", "count/e+2/0")]),
        ("it grew 100% in the year", [("100%", "%/e+2/+")]),
        ("10K customers, our 10K with the SEC", [("10K", "count/e+4/0")]),
        # all of it
        ("100% sure, one hundred percent, 100 per cent", []),
        (
            "from 80% to 100%, or 100.5%",
            [("80% to 100%", "range of %/e+2/0"), ("100.5%", "%/e+2/0")],
        ),
        ("a drop of five to seven percent", [("five to seven percent", "range of %/e+0/-")]),
        ("About seven million customers", [("seven million", "count/e+6/0")]),
        (
            "two hundred and thirty million dollars",
            [("two hundred and thirty million dollars", "money/e+8/0")],
        ),
        ("two hundred employees", [("two hundred", "count/e+2/0")]),
        ("three miles, yes, three miles", [("three", "miles/e+0/0"), ("three", "miles/e+0/0")]),
        (
            "six cents, eight basis points",
            [("six cents", "cent/e+0/0"), ("eight basis points", "points/e+0/0")],
        ),
        ("seven stores, two points, three times, one k, one hundred days, two thirds", []),
        ("one 3 million deal", [("3 million", "count/e+6/0")]),
        # a range of counts goes up a little
        (
            "45 to 50 gas turbines, 12-15 plants",
            [("45 to 50", "range of count/e+1/0"), ("12-15", "range of count/e+1/0")],
        ),
        ("of 300- 3,189 open stores", [("3,189", "count/e+3/0")]),
        ("one to 50 stores, 50 to 45 stores", [("50", "count/e+1/0"), ("45", "count/e+1/0")]),
        ("debt of 2.5 times EBITDA", [("2.5 times", "times/e+0/0")]),
        ("$.05 a share", [("$.05", "money/e-2/0")]),
        ("0% of it", [("0%", "%/e+0/0")]),
        # the direction is that of its own clause
        ("Sales rose, and costs were 4%.", [("4%", "%/e+0/0")]),
        ("Sales rose 4%. Costs were 3%.", [("4%", "%/e+0/+"), ("3%", "%/e+0/0")]),
        ("a 4% increase", [("4%", "%/e+0/+")]),
        ("a 4% decline", [("4%", "%/e+0/-")]),
        # amounts that are said in parts are one
        ("of $1 billion $275 million", [("$1 billion $275 million", "money/e+9/0")]),
        ("3 billion 400 million euros", [("3 billion 400 million euros", "money/e+9/0")]),
        (
            "one million two hundred thousand shares",
            [("one million two hundred thousand", "count/e+6/0")],
        ),
        (
            "We run four thousand two hundred stores.",
            [("four thousand two hundred", "count/e+3/0")],
        ),
        (
            "a hundred and seventy million lives, a hundred million dollars, a hundred basis "
            "points",
            [
                ("a hundred and seventy million", "count/e+8/0"),
                ("a hundred million dollars", "money/e+8/0"),
                ("a hundred basis points", "points/e+2/0"),
            ],
        ),
        ("a hundred people, a hundred percent, a hundred times", []),
        (
            "from $1 billion $295 million to $1 billion $315 million",
            [("$1 billion $295 million to $1 billion $315 million", "range of money/e+9/0")],
        ),
        ("$1 million $2 million", [("$1 million", "money/e+6/0"), ("$2 million", "money/e+6/0")]),
        ("$2 billion, 3 million", [("$2 billion", "money/e+9/0"), ("3 million", "count/e+6/0")]),
        (
            "$1 billion 2 million customers",
            [("$1 billion", "money/e+9/0"), ("2 million", "count/e+6/0")],
        ),
        # no quantities
        ("On slide 4 and page 12 of Form 10", []),
        ("The Boeing 757 planes and King Air 360 units", []),
        ("In 2020, on March 31, 2020, in Q3", []),
        ("[Executive 1] paid", []),
        ("COVID-19 cases and 5G", []),
        ("on Form 10-K and form 8-K, in our 10-K/A and paragraph 5-b items", []),
        ("our 10Q and 10K, the 8 K of May", []),
        ("about 10k users, $10K in fees", [("10k", "count/e+4/0"), ("$10K", "money/e+4/0")]),
        ("Case 40k items", []),
        ("for 10 years, at 5 pm, the 3rd time", []),
        ("Section 5 applies to rule 39 cases", []),
        ("we had 12. Then 5 and 7", []),
        ("call 020 7946 0632", []),
        ("at 4:05 PM, 1.2.3 and 12/31", []),
    ],
)
def test_quantities_and_what_looks_like_them(text, found):
    assert [(text[q.start : q.end], q.likeness) for q in find_quantities(text)] == found


@pytest.mark.parametrize(
    ("text", "unit", "value"),
    [
        ("$3.4 million", "USD", 3.4e6),
        ("£1,200", "GBP", 1200.0),
        ("negative 2.6 billion pesos", "MXN", -2.6e9),
        ("35 basis points", "points", 35.0),
        ("12 per cent", "%", 12.0),
        ("40 new stores", "stores", 40.0),
        ("$2bn", "USD", 2e9),
        ("30 US dollars", "USD", 30.0),
        ("$1 billion 275 million", "USD", 1.275e9),
        ("3 billion 400 million euros", "EUR", 3.4e9),
    ],
)
def test_units_and_values(text, unit, value):
    (quantity,) = find_quantities(text)
    assert (quantity.unit, quantity.value) == (unit, pytest.approx(value))
    # the counted noun and a minus stay outside
    assert text[quantity.start : quantity.end] in (text, "40", text.removeprefix("negative "))


WORDS = st.lists(
    st.sampled_from(
        [
            *("$3.4 million", "12%", "40 stores", "10 to 15%", "-$5", "($7 million)", "90 bps"),
            *(
                "rose",
                "fell",
                "to",
                "and",
                ",",
                ".",
                "in 2020",
                "[Executive 1]",
                "Boeing 757",
                "5x",
            ),
            *("é", "CHF70m", "slide 4", "\n", "1,000", "(3", "$", "%", "2.5 times"),
        ]
    ),
    max_size=9,
)


@given(WORDS)
def test_quantities_are_disjoint_and_stand_in_the_text(words):
    text = " ".join(words)
    found = find_quantities(text)
    ends = 0
    for q in found:
        assert ends <= q.start < q.end <= len(text)
        assert any(c.isdigit() for c in text[q.start : q.end])
        assert q.direction in (-1, 0, 1)
        ends = q.end
    mentions = quantity_mentions(text)
    assert [(m.start, m.end, m.surface) for m in mentions] == [
        (q.start, q.end, text[q.start : q.end]) for q in found
    ]
    assert [likeness_of(m.entity) for m in mentions] == [q.likeness for q in found]


@given(st.floats(0.001, 999_999), st.sampled_from(["million", "billion", "thousand"]))
def test_likeness_goes_by_the_order_of_magnitude(number, scale):
    factor = {"thousand": 1e3, "million": 1e6, "billion": 1e9}[scale]
    (quantity,) = find_quantities(f"{number:.3f} {scale} dollars")
    assert quantity.value == pytest.approx(float(f"{number:.3f}") * factor)
    assert 10.0**quantity.magnitude <= quantity.value * (1 + 1e-9)
    assert quantity.value < 10.0 ** (quantity.magnitude + 1) * (1 + 1e-9)


@given(st.data())
def test_those_that_are_exchanged_keep_their_order(data):
    values = st.lists(st.integers(100, 112), unique=True, min_size=1, max_size=6)
    ours, theirs = ([f"{v / 10:.1f}% (%/e+1/+)" for v in data.draw(values)] for _ in range(2))
    pairs = InOrder().pairs(ours, theirs)
    n = min(len(ours), len(theirs))
    met = sorted((size_of(ours[i]), size_of(theirs[k])) for i, k in pairs)
    assert [b for _, b in met] == sorted(b for _, b in met)
    used = sorted(i for i, _ in pairs), sorted(k for _, k in pairs)
    assert len(pairs) == n and all(len(set(side)) == n for side in used)
    if not {*map(size_of, ours)} & {*map(size_of, theirs)}:
        # the first of both lists, whatever their values: no figure chooses its like
        assert used == (list(range(n)), list(range(n)))
    # no choice of the longer list, each in its order, has fewer that meet themselves
    short, long = sorted((ours, theirs), key=len)
    ordered = sorted(short, key=size_of)
    least = min(
        sum(map(InOrder().same, ordered, others))
        for others in combinations(sorted(long, key=size_of), n)
    )
    assert sum(InOrder().same(ours[i], theirs[k]) for i, k in pairs) == least


def test_a_figure_does_not_meet_itself_in_another_writing():
    ours = ["1.8 billion euros (money/e+9/0)"]
    same, other = "$1.80 billion (money/e+9/0)", "$3.1 billion (money/e+9/0)"
    measure = InOrder()
    assert measure.pairs(ours, [same, other]) == [(0, 1)]
    assert measure.pairs([same, other], ours) == [(1, 0)]
    assert measure.pairs(ours, [same]) == [(0, 0)]
    assert measure.same(ours[0], same) and not measure.takes(ours[0], same)
    assert not measure.same(ours[0], other) and measure.takes(ours[0], other)
    kind = "(range of %/e+1/0)"
    for first, second, told in (
        ("10 to 15%", "10 to 16%", True),
        ("10 to 15%", "fifteen to twenty percent", True),
        ("10 to 15%", "11 to 16%", False),
        ("1 to 12%", "10 to 15%", False),
        ("five to 17%", "5 to 18%", True),
    ):
        assert measure.same(f"{first} {kind}", f"{second} {kind}") == told


@pytest.mark.parametrize(
    ("entity", "size"),
    [
        ("$3.4 million (money/e+6/+)", 3.4e6),
        ("500 to 800 million (range of money/e+8/0)", 8e8),
        ("$9 million to $7 million (fall of money/e+6/-)", 7e6),
        ("-$1,250.50 (money/e+3/-)", 1250.5),
        ("$.05 (money/e-2/0)", 0.05),
        ("0% (%/e+0/0)", 0.0),
        ("seven and a quarter percent (%/e+0/0)", 7.25),
        ("five to seven percent (range of %/e+0/0)", 7.0),
        ("Seven million (count/e+6/0)", 7e6),
        ("$1 billion $275 million (money/e+9/0)", 1.275e9),
    ],
)
def test_sizes(entity, size):
    assert size_of(entity) == pytest.approx(size)


@pytest.mark.parametrize(
    ("words", "value"),
    [
        ("nine", 9), ("Twenty-One", 21), ("ninety nine", 99), ("one-five", 15), ("two-zero", 20),
        ("seven hundred", 700), ("seven hundred and nineteen", 719), ("a hundred and ten", 110),
        ("six and five eighths", 6.625),
        ("four and a half", 4.5), ("five and three-quarters", 5.75), ("one point oh five", 1.05),
        ("zero", 0), ("two and a third", 2 + 1 / 3),
    ],
)  # fmt: skip
def test_values_of_words(words, value):
    assert spelled(words) == pytest.approx(value, abs=1e-12)


def test_an_entity_of_another_kind_is_refused_without_quoting_it():
    with pytest.raises(ValueError, match="quantity_mentions") as error:
        likeness_of("Lindqvist")
    assert "Lindqvist" not in str(error.value)


def test_a_slip_of_a_transcript_stays_where_it_is():
    (found,) = quantity_mentions("It made RMB61 .1 million.")
    assert (found.surface, found.entity) == ("RMB61 .1 million", "RMB61.1 million (money/e+7/0)")
    assert size_of(found.entity) == pytest.approx(6.11e7)


def test_an_amount_without_a_figure_gets_one_elsewhere():
    (found,) = quantity_mentions("We raised half a billion euros.", currency="USD")
    assert found.entity == "0.5 billion dollars (money/e+8/+)"
    assert size_of(found.entity) == 5e8


def test_what_researchers_are_ranked_by_is_a_figure_however_small():
    text = "An h-index of 27 (H-index: 9), on page 27; the h-index of 2019."
    assert [text[q.start : q.end] for q in find_quantities(text)] == ["27", "9"]


def test_a_form_that_is_filed_is_no_count():
    for text in ("the factors described in our 10K filed on March 2nd", "an 8K dated May 5"):
        assert not [q for q in find_quantities(text) if text[q.start : q.end].endswith("K")]
    assert find_quantities("We sold 10K units.")


@pytest.mark.parametrize(
    ("quantity", "old", "expected"),
    [
        ("1.9 or 11 cents", "41 and 53 cents", "1.9 and 11 cents"),
        ("$1 billion $275 million to 1 billion $290 million", "$6 and $7 billion",
         "$1 billion $275 million and 1 billion $290 million"),
        ("5-7%", "five to seven percent", "5 to 7%"),
        ("5 to 7%", "$3-$4", "5-7%"),
        ("CHF 5 to CHF 7", "3 and 4", "CHF 5 and CHF 7"),
        ("twenty-five percent", "5-6%", "twenty-five percent"),
        ("5 to 7%", "twenty-five percent", "5 to 7%"),
        ("12%", "5 to 6%", "12%"),
    ],
)  # fmt: skip
def test_a_range_is_joined_as_its_place_wants_it(quantity, old, expected):
    assert connected_as(quantity, old) == expected


@pytest.mark.parametrize(
    ("text", "written", "value"),
    [
        ("The excess is €714,61 now.", "€714,61", 714.61),
        ("They offered EUR 1.234,50, no more.", "EUR 1.234,50", 1234.5),
        ("A room at € 12,00 per night.", "€ 12,00", 12.0),
        ("It cost €2.250,00 to €3.150,75.", "€2.250,00 to €3.150,75", 3150.75),
        ("It cost €1,234 then.", "€1,234", 1234.0),
    ],
)
def test_a_comma_parts_cents_from_euros(text, written, value):
    (mention, *_), (found, *_) = quantity_mentions(text), find_quantities(text)
    assert (mention.surface, found.value) == (written, value)
    assert size_of(mention.entity) == pytest.approx(value)
    assert InOrder().takes(mention.entity, "$9 (money/e+0/0)")


@pytest.mark.parametrize(
    ("text", "written", "value"),
    [
        ("We surpassed 500 000 customers.", "500 000", 5e5),
        ("It sold 5 000 000 units.", "5 000 000", 5e6),
        ("It cost 3 000 dollars.", "3 000 dollars", 3e3),
        ("Of 2 customers 000 stayed.", "2", 2),
        ("It cost 5 000 to 6 000 euros.", "5 000 to 6 000 euros", 6e3),
        ("It has between 5 000 and 6 000 stores.", "5 000 and 6 000", 6e3),
    ],
)
def test_thousands_may_be_apart(text, written, value):
    (mention, *_), (found, *_) = quantity_mentions(text), find_quantities(text)
    assert (mention.surface, found.value) == (written, value)
    assert size_of(mention.entity) == value


@pytest.mark.parametrize(
    ("text", "figures"),
    [
        # who has the figure finds its source: it needs no noun
        ("Restructuring charges were 769,000 in the quarter.", ["769,000"]),
        ("Cash flow was 519,000, outstanding debt 925,000.", ["519,000", "925,000"]),
        ("Leverage is 3.5 compared to 3.52 at year end, and 5.18.", ["3.5", "3.52", "5.18"]),
        ("Deliveries of 731, more than double, and head count down 700.", ["731", "700"]),
        ("It was 394, uh, now at 387.", ["394", "387"]),
        ("We shipped 217,000 TEU less.", ["217,000"]),
        ("EBIT between 1.2 and 1.5, or from 3.1 to 2.9.", ["1.2 and 1.5", "3.1 to 2.9"]),
        # no figures
        ("On version 2.0, Web 3.0 and Atlas 4.1, at 8.30 a.m. we meet.", []),
        ("See room 731, the 737, and item 4 of 10 at most.", []),
        ("Up 12 from 9, and of 7, by 20.", []),
        ("For 2.5 years, at 430 p.m., at 14.30 CET, over 10,000 hours.", []),
        ("In the 2.4 GHz band, of 4.8/5, of 737 MAX, by strategy 2.0.", []),
        ("See Exhibits 99.1 and 99.2, a score out of 100, the crash of 1929.", []),
        ("The number is 877 660 6853 and the passcode is 13712345.", []),
    ],
)
def test_a_figure_needs_no_noun_where_it_can_be_looked_up(text, figures):
    assert [text[q.start : q.end] for q in find_quantities(text)] == figures


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (
            "In millions    2024    2023\nNet revenue     1,679.3    (720.2)   32 basis points\n",
            [
                ("1,679.3", "part count/e+3/0"),
                ("720.2", "part count/e+2/-"),
                ("32 basis points", "points/e+1/0"),
            ],
        ),
        ("Revenue\t679.3\t-720.2", [("679.3", "part count/e+2/0"), ("720.2", "part count/e+2/-")]),
        (
            "a loss of $3\n| Revenue | $ (12.4) | 311 | 8 | n/a |",
            [("$3", "money/e+0/-"), ("12.4", "part count/e+1/-"), ("311", "count/e+2/0")],
        ),
        ("EBITDA 119.0 (241.3)", [("119.0", "part count/e+2/0"), ("241.3", "part count/e+2/-")]),
        ("EBITDA (1) 119 (4.1)%", [("119", "count/e+2/0"), ("4.1", "part count/e+0/-")]),
        ("Liquid assets    0.42", [("0.42", "part count/e-1/0")]),
        ("   1234567    891", [("1234567", "count/e+6/0"), ("891", "count/e+2/0")]),
        ("Years    2024    2023", []),
        ("Exhibit    99.1    99.2\nPage    312    314", []),
        ("Operating income 484 611", []),
        ("Toll free 1 (877) 660 6853", []),
        ("Stores    484", []),
        # nobody rounds to three decimals but whoever fixes a ratio
        ("each became 0.412 of a share", [("0.412", "part count/e-1/0")]),
        ("17 CFR 229.303 and Section 229.303", []),
        ("Leverage: 2.4\nNext", [("2.4", "part count/e+0/0")]),
    ],
)
def test_figures_of_tables(text, found):
    assert [(text[q.start : q.end], q.likeness) for q in find_quantities(text)] == found


def test_ends_of_ranges_come_before_bare_figures():
    for text in (
        "It grew 2.5 to 3.5%, 1.5 to 2.0x.", "Up 100 to 150 basis points, of 900 to 1.2 million.",
        "It declined from 1,150 to 870 head, between 5 000 and 6 000 stores.",
    ):  # fmt: skip
        found = find_quantities(text)
        assert len(found) == 2 and all(q.ranged for q in found), text


def test_a_figure_with_a_point_is_no_count():
    (leverage,) = find_quantities("Leverage was 2.0.")
    (stores,) = find_quantities("We opened 5 stores.")
    assert leverage.likeness == "part count/e+0/0" and stores.likeness == "count/e+0/0"


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("Rs.500 crore", "$5 billion"),
        ("Rs.85 lakh", "$8.5 million"),
        ("\u20b9500 to 600 crores", "$5 to 6 billion"),
        ("INR 12 to INR 15 crores", "$120 to $150 million"),
        ("15-20 lakh users", "1.5-2 million"),
        ("five crore rupees", "50 million dollars"),
        ("two lakh crore of it", "2 trillion"),
        ("INR 500 Cr", "$5 billion"),
    ],
)
def test_lakhs_and_crores_come_in_as_millions(text, written):
    (found,) = quantity_mentions(text, currency="USD")
    assert found.entity.rpartition(" (")[0].partition(" (")[0] == written
    (old,), (new,) = find_quantities(text), find_quantities(f"{written} users")
    assert new.value == pytest.approx(old.value)
    (kept,) = quantity_mentions(text, currency="INR")
    assert find_quantities(f"{kept.entity.partition(' (')[0]} users")[0].value == old.value


def test_every_word_of_a_scale_has_its_factor():
    for word in re.split(r"[|()?]+", "lakh|lakhs|crore|crores|cr|crs|lakh crores|thousand crore"):
        assert word in SCALES
    for scale in ("thousand", "million", "millions", "billions", "trillions", "mm", "bn", "k"):
        assert find_quantities(f"$2 {scale}")[0].value == 2 * SCALES[scale]


@pytest.mark.parametrize(
    ("text", "shares"),
    [
        ("Views were up 50 and 60% respectively.", ["50", "60%"]),
        ("It increases 74 and 73.5%, as said, respectively.", ["74", "73.5%"]),
        ("A response rate of 42 and 46% in both.", ["42", "46%"]),
        ("Compared to 19 and 12.3% in all.", ["12.3%"]),
        ("See slides 4 and 5% more of it.", ["5%"]),
        ("It fell by between 45 and 50%.", ["45 and 50%"]),
    ],
)
def test_the_first_of_two_shares_has_the_sign_of_the_second(text, shares):
    found = find_quantities(text)
    assert [text[q.start : q.end] for q in found] == shares
    assert {q.unit for q in found} == {"%"}
