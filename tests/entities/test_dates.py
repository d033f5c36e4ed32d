from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from nes_spark.entities.dates import _DATE, _span, find_dates


@pytest.mark.parametrize(
    ("text", "dates"),
    [
        ("Sales grew in the third quarter of 2020.", ["third quarter of 2020"]),
        ("It began on 31st December 2019 in Oslo.", ["31st December 2019"]),
        ("We meet on May 6 and on June 30th, 2021.", ["May 6", "June 30th, 2021"]),
        ("Up from last year and the prior-year period.", ["last year", "prior-year period"]),
        ("In Q3 2021 and H1 we did well.", ["Q3 2021", "H1"]),
        ("We expect more in fiscal 2022.", ["fiscal 2022"]),
        ("On Monday and in the next two quarters.", ["Monday", "next two quarters"]),
        ("We may do it. You may march on.", []),
        # as deeds have them
        (
            "On 12th day of March, 2019, the twelfth day of May 2019, the thirty-first day of May",
            ["12th day of March, 2019", "twelfth day of May 2019", "thirty-first day of May"],
        ),
        # as people say them
        (
            "In nineteen eighty-four, since two thousand, or in twenty twelve",
            ["nineteen eighty-four", "two thousand", "twenty twelve"],
        ),
        (
            "It was the eighteenth of the fifth ninety nine, the ninth of March nineteen seventy.",
            [
                "the eighteenth of the fifth ninety nine",
                "the ninth of March nineteen seventy",
            ],
        ),
        ("two thousand and six pounds of two thousand and ten people, nineteen fifty quid", []),
        ("the first of the second ones, twenty of them, the third of the four", []),
        ("My date of birth's 4.2.65.", ["4.2.65"]),
        ("It cost $2,020 and 2020 million, for 2020 stores.", []),
        ("At the same time, at the end of the day, today.", []),
        ("In May, sales rose.", ["May"]),
        (
            "Our first full year, and the second consecutive month.",
            ["first full year", "second consecutive month"],
        ),
        ("In the 5th week of 2021 of our fiscal year.", ["5th week of 2021 of our fiscal year"]),
        (
            "Half-year results for the last two or three months",
            ["Half-year", "last two or three months"],
        ),
        ("He has a third year of experience.", []),
        ("A three year 15 billion facility, a two year 8 percent note.", []),
        ("In fiscal year 15 it grew 3%.", ["fiscal year 15"]),
        ("The Jan-San business", []),
        # the hours of a log; in a list of years, or alone, four figures are a year
        ("1953 ldg 33\n2011 OCC advised\n2204 all fast", []),
        ("1953 | landed\n2001\ton stand\n0102 | towed", []),
        ("1953 moved to Oslo\n1966 died", ["1953", "1966"]),
        ("1953 moved to Oslo\n2011 died", ["1953", "2011"]),
        ("Landed at 1953 UTC, 2011 hrs local; built in 2011.", ["2011"]),
        # a month in a name is none, and one of two months is
        ("Jan-Krzysztof Duda won in August, Jan-Krzysztof lost to Anne-June.", ["August"]),
        ("In May-Britt Moser's lab, by March-Ann Lee.", []),
        ("In mid-May or Jan-Feb, by May-June.", ["mid-May", "Jan", "Feb", "May", "June"]),
        ("Open Friday-Saturday, the March-Quarter.", ["Friday", "Saturday", "March"]),
        (
            "Over the last, uh, six, seven quarters and the past five plus years.",
            ["last, uh, six, seven quarters", "past five plus years"],
        ),
        ("Up on the year prior, and in the financial year.", ["year prior", "financial year"]),
        ("Under the Securities Act of 1933, by 203.", ["1933", "203"]),
        ("We have 203. It is prior to that.", []),
        ("Founded in 1923, or since 1898, in 1850 stores.", ["1923", "1898"]),
        ("The Reform Act of 199. Such statements", ["199"]),
        (
            "In 2021-22, from 2019 - 2020, year 2020-2025",
            ["2021-22", "2019 - 2020", "year 2020-2025"],
        ),
        ("In 9M20 and HY 2020, Q four, pre-2019.", ["9M20", "HY 2020", "Q four", "2019"]),
        ("A charge of $9M 2020 and 9M users", ["2020"]),
        (
            "In the nine months, and the six-month period ended June 30, 2020, over three months.",
            ["nine months", "six-month period ended June 30, 2020"],
        ),
        ("As of 2020-10-01 it is a 2020-based index.", ["2020-10-01"]),
    ],
)
def test_dates_and_what_looks_like_them(text, dates):
    assert [text[s:e] for s, e in find_dates(text)] == dates


def test_offsets_are_sorted_and_disjoint():
    text = "From January 2019 to March 31, 2020, and in 2021, Q1 and Q2 and last year."
    spans = find_dates(text)
    assert spans == sorted(spans)
    assert all(a[1] <= b[0] for a, b in pairwise(spans))
    assert len(spans) >= 5


_BITS = st.one_of(
    st.sampled_from(["the end of the", "’ 20", "balance of the", "crop year", "Act of 1933", "İ"]),
    st.sampled_from(["mid-", "'19", "Jan.", "$2020", "course of the", "handful of", "1990s"]),
    st.sampled_from(["in", "a", "year", "years", "ago", "quarter", "Q3", "1Q21", "H1", "first"]),
    st.sampled_from(["Second", "half", "back", "mid", "early", "late", "last", "next", "prior"]),
    st.sampled_from(["same", "period", "fiscal", "FY", "21", "2020", "May", "march", "December"]),
    st.sampled_from(["3rd", "31", "of", "and", "two", "to", "three", "few", "trailing", "12"]),
    st.sampled_from(["months", "week", "weekday", "Monday", "yesterday", "tomorrow", "decade"]),
    st.sampled_from(
        ["ended", "remainder of", "this", "calendar", "spring", "season", "full", "20"]
    ),
    st.sampled_from(["since", "until", "corresponding", "comparable", "latter", "semester"]),
    st.sampled_from(["nine", "the nine", "HY", "Q", "9M", "pre-", "founded"]),
    st.sampled_from(["28/4", "3/4", "on", "13MAY22", "8.5.80", "DOB", "13 Sep 22", "07:45"]),
)
_GLUE = st.sampled_from([" ", " ", " ", "-", ", ", ". ", "", " (", "’s ", "\n"])


@given(st.lists(st.tuples(_BITS, _GLUE), max_size=12).map(lambda p: "".join(a + b for a, b in p)))
@example("İİ in May 2020 and the end of the third quarter")
@example("Act of 1933-3rd ")
def test_looking_at_beginnings_only_misses_no_date(text):
    # the long pattern tried everywhere; it knows no "not inside a word" of its own
    spans, at = [], 0
    for start in range(len(text)):
        if start < at or (start and (text[start - 1] in "$€£_" or text[start - 1].isalnum())):
            continue
        if match := _DATE.match(text, start):
            at = match.end()
            if (span := _span(text, match, spans[-1][1] if spans else 0)) is not None:
                spans.append(span)
                at = span[1]
    assert find_dates(text) == spans


@pytest.mark.parametrize(
    ("text", "dates"),
    [
        ("I was born 1934, in '63 we moved.", ["1934", "'63"]),
        ("The winter of '47 and the summer of 1911.", ["'47", "1911"]),
        ("We built in 1934 stores, of 1934 units in '4711.", []),
    ],
)
def test_years_before_1950_where_a_year_is_told(text, dates):
    assert [text[start:end] for start, end in find_dates(text)] == dates


def test_a_year_is_no_day_of_a_range():
    text = "the Act of 1933-3rd edition"
    assert [text[a:b] for a, b in find_dates(text)] == ["1933"]


def test_days_that_are_called_by_a_weekday_are_no_dates():
    text = "From black Friday to Cyber Monday we sold well; last Friday and on Monday we closed."
    assert [text[a:b] for a, b in find_dates(text)] == ["Friday", "Monday"]


@pytest.mark.parametrize(
    ("text", "dates"),
    [
        ("On 6/29/20 it answered.", ["6/29/20"]),
        ("Sent: 3/12/20 09:14", ["3/12/20"]),
        ("31.12.20 and 12-31-20", ["31.12.20", "12-31-20"]),
        ("17-Nov-18", ["17-Nov-18"]),
        ("since Mar 27 '22!", ["Mar 27 '22"]),
        ("from 4 to 6 May 2018", ["4 to 6 May 2018"]),
        ("on 3rd and 5th June", ["3rd and 5th June"]),
        # versions, ratios, parts of numbers, and somebody called so
        ("v2.0.14, 1.2.10, 4/5/6, 24/7/365, 20-30-40, 1/2/20%, 5/6/20/21", []),
        ("Mar Lin said 5 to 7 stores", []),
    ],
)
def test_years_of_two_digits_and_days_of_one_month(text, dates):
    assert [text[a:b] for a, b in find_dates(text)] == dates


@pytest.mark.parametrize(
    ("text", "dates"),
    [
        ("It is due to be commissioned in 21. The project", ["21"]),
        ("Growth in 21 and beyond, until 23. So we wait.", ["21", "23"]),
        (
            "Still 44% below 19 levels, and above third quarter 19 levels.",
            ["19", "third quarter", "19"],
        ),
        ("A game of 20 levels went to 25 levels, more than 20 levels, below 20 levels.", []),
        ("A quarter 20 level 2 chargers, over 25 levels.", []),
        ("Up 1% compared to 20. In India, a peak in the summer of 19.", ["20", "19"]),
        ("The tax rate in the first quarter of 22 was 20.7%.", ["first quarter of 22"]),
        ("The harvest 21 / 22, and H1, 21 /' 22, in line.", ["21 / 22", "H1", "21 /' 22"]),
        ("Revenue in Q-4 relative to Q-3 is lower.", ["Q-4", "Q-3"]),
        ("Social unrest in May also hit us, as our May shut-in did.", ["May", "May"]),
        ("Volumes rose throughout May, June and July.", ["May", "June and July"]),
        # what counts, and what may be done
        ("In 20 minutes, in 21 stores, until 23 of them left.", []),
        ("It grew in 24 months; compared to 19 last year, in 20% of all.", ["last year"]),
        ("In our view you may, and they may, do it in 2.5 hours.", []),
        ("A net of 19, up by 23 for 3 days, a ratio of 21/2.", []),
        ("Paid back in 18 to 24 months, in 25, 30 or 21 and 22 countries.", []),
        ("Next year in 20 to 25 stores.", ["Next year"]),
        ("Hindsight is 20/20 on the Q-400 turboprop.", []),
    ],
)
def test_years_of_two_digits_without_a_mark_and_the_month_of_may(text, dates):
    assert [text[s:e] for s, e in find_dates(text)] == dates


@pytest.mark.parametrize(
    ("text", "dates"),
    [
        # the month between two numbers
        ("Admitted 24AUG22 - 3 nurses, CXR 03Apr1957: clear.", ["24AUG22", "03Apr1957"]),
        ("Seen 13 MAY 22 - 2 staff. Typed 3 Sep 21 by AN", ["13 MAY 22", "3 Sep 21"]),
        ("It ended on 31 March 21. On 31 March 21 stores closed.", ["31 March 21", "31 March"]),
        ("3 Jan 22 patients, 3 Jan 20 mg, 3 Jan 10 am, 3 Jan 22:00", 4 * ["3 Jan"]),
        ("12 Jan 22 Feb 3 Sep", ["12 Jan", "22 Feb", "3 Sep"]),
        ("Part 13MAYX, 32MAY22, 13MAY22B, 113MAY22", []),
        # with points
        ("DOB 8.5.80, born 20.7.43, D.O.B.: 3.6.69", ["8.5.80", "20.7.43", "3.6.69"]),
        ("Cyril Lee - 20.7.43 - 735-235-8501", ["20.7.43"]),
        ("Admitted: 8.5.22, seen on 9.5.22.", ["8.5.22", "9.5.22"]),
        (
            "Closed from 3.8.23 and open before 3.1.24. Next meeting: 8.10.24 at two.",
            ["3.8.23", "3.1.24", "8.10.24"],
        ),
        ("I'll see you all on 24.7.24, then.", ["24.7.24"]),
        ("It moved from 3.8.23 to 3.9.1; see 5.4.12.", []),
        ("Tomcat 8.5.80 and kernel 5.10.20, upgraded on 8.5.80 to 13.2.10.", []),
        ("4.1.12 Notices\nSee section 4.1.12 and clause 14.1.12, on 10.1.1.20", []),
        # a day and a month
        ("Letter dated 26/11, seen on 4/3. Died on 28/4 at home.", ["26/11", "4/3", "28/4"]),
        ("26/11 07:45\nSlept well\n15/4 - Bay 2\n27/9: fell\n", ["26/11", "15/4", "27/9"]),
        ("signed Dr. Holm 14/4. typed by AN; 5/5. CT head (16/12) NAD", ["14/4", "5/5", "16/12"]),
        ("From 3/4 to 28/4, until 4/28, by 30/6. Follow up: 19/3, Clinic 4",
         ["3/4", "28/4", "4/28", "30/6", "19/3"]),
        ("The show on Mon 12/15 ends 9/20, Friday 1/10.", ["12/15", "9/20", "Friday", "1/10"]),
        # shares, scores, doses and what is called so
        ("On 3/4 of days, to 1/2, on 1/2. By 2/3, from 1/4 to 3/4. 3/4 cup", []),
        ("Open 24/7, on 24/7. Since 9/11. 50/50, BP 120/80", []),
        ("Pain 5/10, from 8/10 to 3/10; GCS 15/15, to 13/15; power on 4/5. VA to 6/9", []),
        ("Seen 3/7 ago, for 2/52, on 5/7 days, on 2/3 occasions", []),
        ("3/4 of it\n1/2 cup of milk\n1/5: a thread\n24/7 care", []),
        ("a ratio of 21/2, and/or 28/4, room 28/4", []),
    ],
)  # fmt: skip
def test_days_in_figures_that_what_is_around_them_tells(text, dates):
    assert [text[a:b] for a, b in find_dates(text)] == dates


@pytest.mark.parametrize(
    ("text", "dates"),
    [
        ('[21/Jun/2026:03:12:44 +0000] "GET', ["21/Jun/2026"]),
        ("a call on may 7 at 10:30, she left on apr 12.", ["may 7", "apr 12"]),
        ("due friday, march 18 or aug 3rd, 2026", ["friday", "march 18", "aug 3rd, 2026"]),
        # what "may" and "march" do, and what is counted
        ("it may 5 times, we march 5 miles, by may 7,000 units, in may 7 units", []),
        ("jan 5,000, nov 3 million, dec 12% and oct 4 people", []),
        ("Date: Tue, 08 Sep 2026 11:23", ["Tue, 08 Sep 2026"]),
        ("On Thu, Jul 23, 2026; Mon 2026-05-18", ["Thu, Jul 23, 2026", "Mon 2026-05-18"]),
        ("The Sun in May rose, Sat by 5 May.", ["May", "5 May"]),
    ],
)
def test_dates_of_logs_chats_and_headers_of_mail(text, dates):
    assert [text[start:end] for start, end in find_dates(text)] == dates
