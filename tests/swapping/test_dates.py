"""Dates of a document move together and come back."""

from __future__ import annotations

from datetime import date, timedelta

import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from nes_spark.entities.dates import find_dates
from nes_spark.entities.mentions import Mention
from nes_spark.swapping import Secret, invert_edits, rewrite_text
from nes_spark.swapping.dates import (
    Shift,
    date_replacements,
    day_comes_first,
    days_in_numbers,
    draw_shift,
    reference_of,
    shift_date,
    without_names,
)
from nes_spark.swapping.rows import must_change_rows

MONTHS = [date(2001, month, 1).strftime("%B") for month in range(1, 13)]
DAYS = st.dates(date(1990, 1, 1), date(2060, 12, 31))
SHIFTS = st.integers(-4000, 4000).map(Shift)


@pytest.mark.parametrize(
    ("surface", "days", "expected"),
    [
        ("March 31, 2020", 400, "May 5, 2021"),
        ("March 31st 2020", 1, "April 1st 2020"),
        ("31st of December 2019", 3, "3rd of January 2020"),
        ("DECEMBER 30, 2019", 3, "JANUARY 2, 2020"),
        ("Sep. 5, 2020", 40, "Oct. 15, 2020"),
        ("2020-09-30", 1, "2020-10-01"),
        ("2020/09/30", 1, "2020/10/01"),
        ("2020-02-28", 1, "2020-02-29"),
        ("31/12/2020", 1, "01/01/2021"),
        ("12/31/2020", 1, "01/01/2021"),
        ("5/5/2020", 40, "6/14/2020"),
        ("1.2.2023", 30, "3.3.2023"),
        ("2020-12", 200, "2021-07"),
        ("2020Q4", 91, "2021Q1"),
        ("Q4-2020", 91, "Q1-2021"),
        ("30 Mar 2020", 3, "2 Apr 2020"),
        ("June 30th", 31, "July 31st"),
        ("the 30th day of June, 2020", 31, "the 31st day of July, 2020"),
        ("June 2020", 214, "January 2021"),
        ("June", -151, "January"),
        ("April and May", 61, "June and July"),
        ("mid-March", 30, "mid-April"),
        ("Q3 2020", 182, "Q1 2021"),
        ("Q3'20", 182, "Q1'21"),
        ("3Q20", -274, "4Q19"),
        ("third quarter", 91, "fourth quarter"),
        ("first and fourth quarter", 91, "second and first quarter"),
        ("month of August", 30, "month of September"),
        ("Third Quarter", 182, "First Quarter"),
        ("third quarter of fiscal 2020", 182, "first quarter of fiscal 2021"),
        ("quarter three of 2020", 91, "quarter four of 2020"),
        ("H1 2020", 182, "H2 2020"),
        ("second half of 2020", 183, "first half of 2021"),
        ("back half of the year", 183, "front half of the year"),
        ("fiscal 2019", 365, "fiscal 2020"),
        ("FY19", 365, "FY20"),
        ("fiscal 21", 365, "fiscal 22"),
        ("Q1, ' 21", 91, "Q2, ' 21"),
        ("second semester", 183, "first semester"),
        ("2019-20", 731, "2021-22"),
        ("Monday", 8, "Tuesday"),
        ("5-Mar-2020", 400, "9-Apr-2021"),
        ("17-NOV-18", 30, "17-DEC-18"),
        ("6/29/20", 400, "8/3/21"),
        ("31.12.99", 1, "01.01.00"),
        ("Mar 27 '22", 5, "Apr 1 '22"),
        ("27 Dec ’21", 5, "1 Jan ’22"),
        ("Dec '21", 31, "Jan '22"),
        # two figures of a year, and a day and a month, in their own form
        ("13MAY22", 30, "12JUN22"),
        ("24AUG22", 10, "03SEP22"),
        ("3Apr1957", 31, "4May1957"),
        ("13 MAY 22", 30, "12 JUN 22"),
        ("3 Sep 21", 150, "31 Jan 22"),
        ("31 March 21", 31, "1 May 21"),
        ("17-MAY-18", 30, "16-JUN-18"),
        ("8.5.80", 300, "4.3.81"),
        ("20.7.43", -400, "15.6.42"),
        ("28/4", 3, "1/5"),
        ("26/11", 40, "05/01"),
        ("4/28", 3, "5/1"),
        ("5/5", 40, "6/14"),
        ("03/04", 400, None),
        ("3/4", 400, None),
        ("30/2", 400, None),
        ("21/22", 400, None),
        ("year ended December 31st, 2019", 1, "year ended January 1st, 2020"),
        # relative, and lengths of time
        ("last year", 400, "last year"),
        ("next two to three quarters", 400, "next few quarters"),
        ("trailing 12-month", 400, "trailing 12-month"),
        ("next 15 years", 400, "next few years"),
        ("last four and a half years", 400, "past few years"),
        ("Last 22 years", 400, "Past few years"),
        ("past couple of quarters", 400, "past few quarters"),
        ("the last two fiscal years", 400, "the past few years"),
        ("last three, four years", 400, "past few years"),
        ("last thirty-six months", 400, "past few months"),
        ("following two weeks", 400, "following two weeks"),
        ("15 years ago", 400, "15 years ago"),
        ("trailing 12 months", 400, "trailing 12 months"),
        ("last nine months", 400, "last nine months"),
        ("prior quarters", 400, "prior quarters"),
        ("1990s", 400, "1990s"),
        # not understood
        ("early 202", 400, None),
        ("9M20", 400, None),
        ("3/4/2020", 400, None),
        ("March 3-5, 2020", 400, None),
        ("30-31 March 2020", 400, None),
        ("3/4/20", 400, None),
        ("4 to 6 May 2018", 400, None),
        ("first and second quarters of 2020", 400, None),
        ("thirty-first of March", 400, None),
        ("24", 400, None),
        ("February 30, 2020", 400, None),
        ("Thanksgiving", 400, None),
    ],
)
def test_forms_of_dates(surface, days, expected):
    assert shift_date(surface, Shift(days)) == expected


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("On March 3-5, 2020 and 1 May.", ["March 3-5, 2020", "1 May"]),
        ("It was 30-31 March 2020.", ["30-31 March 2020"]),
        ("FY 2020 Q1 and Q1-2020", ["FY 2020 Q1", "Q1-2020"]),
        ("the first and second quarters of 2020", ["first and second quarters of 2020"]),
        ("in January and March 2020.", ["January and March 2020"]),
        ("the week of March 31st", ["week of March 31st"]),
        ("the thirty-first of March", ["thirty-first of March"]),
        ("on 31/12/2020, 12/31/2020, 31.12.2020", ["31/12/2020", "12/31/2020", "31.12.2020"]),
        ("version 1.2.2023.4, 13/13/2020, 3/4", []),
        ("sales of 30 - March was good", ["March"]),
    ],
)
def test_what_belongs_to_a_date_goes_with_it(text, found):
    assert [text[a:b] for a, b in find_dates(text)] == found


def test_one_date_in_numbers_tells_how_the_others_are_read():
    text = "between 04/11/2023 and 31/12/2023"
    mentions = [Mention(a, b, "Date", text[a:b], text[a:b]) for a, b in find_dates(text)]
    found = date_replacements(mentions, Shift(400))
    assert {old: new.entity for (_, old), new in found.items()} == {
        "04/11/2023": "08/12/2024",
        "31/12/2023": "03/02/2025",
    }
    assert day_comes_first(["31/12/2020", "12/31/2020"]) is None
    assert day_comes_first(["3/4", "28/4"]) is True
    assert shift_date("3/4", Shift(40), date(2020, 4, 1), day_first=True) == "13/5"


def ordinal(n):
    return f"{n}{'th' if 10 < n < 20 else {1: 'st', 2: 'nd', 3: 'rd'}.get(n % 10, 'th')}"


def forms(day: date) -> list[str]:
    month, quarter = MONTHS[day.month - 1], (day.month - 1) // 3
    nth = ("first", "second", "third", "fourth")[quarter]
    return [
        f"{month} {day.day}, {day.year}",
        f"{month[:3]} {day.day} {day.year}",
        f"{ordinal(day.day)} of {month}, {day.year}",
        day.isoformat(),
        f"{month} {day.year}",
        f"late {month.upper()}",
        f"Q{quarter + 1} {day.year}",
        f"{nth} quarter of fiscal {day.year}",
        f"{nth} quarter",
        f"quarter {('one', 'two', 'three', 'four')[quarter]}",
        f"{'first' if quarter < 2 else 'second'} half of {day.year}",
        f"H{1 + quarter // 2}",
        f"fiscal year {day.year}",
        f"{day.year}-{day.year + 1}",
        day.strftime("%A"),
        f"{day.day:02d}{month[:3].upper()}{day.year % 100:02d}",
        f"{day.day} {month[:3].upper()} {day.year % 100:02d}",
        day.strftime("%d.%m.%y"),
    ]


@given(day=DAYS, shift=SHIFTS)
def test_a_shift_is_undone_by_its_opposite(day, shift):
    for surface in forms(day):
        moved = shift_date(surface, shift)
        assert moved is not None
        if "May" in moved and surface[3:4] == " " and surface[:3] in [m[:3] for m in MONTHS]:
            continue  # behind "May" nobody knows that months are abbreviated
        assert shift_date(moved, shift.inverse()) == surface


@given(day=DAYS, shift=SHIFTS, reference=DAYS)
def test_days_without_a_year_are_those_nearest_to_the_reference(day, shift, reference):
    surface = f"{MONTHS[day.month - 1]} {ordinal(day.day)}"
    moved = shift_date(surface, shift, reference)
    if (day.month, day.day) == (2, 29):
        assume(moved is not None)
    back = shift_date(moved, shift.inverse(), shift.apply(reference))
    candidates = [y for y in (-1, 0, 1) if _real(reference.year + y, day.month, day.day)]
    gaps = sorted(
        abs((date(reference.year + y, day.month, day.day) - reference).days) for y in candidates
    )
    # half a year away both neighbours are as near
    assume(gaps[0] < 182)
    assert back == surface


def _real(year, month, day):
    try:
        return date(year, month, day)
    except ValueError:
        return None


@given(first=DAYS, gap=st.integers(0, 4000), shift=SHIFTS)
def test_order_and_gaps_of_days_are_kept(first, gap, shift):
    second = first + timedelta(days=gap)
    moved = [date.fromisoformat(shift_date(d.isoformat(), shift)) for d in (first, second)]
    assert (moved[1] - moved[0]).days == gap


@given(first=DAYS, second=DAYS, shift=SHIFTS)
def test_order_and_gaps_of_quarters_are_kept(first, second, shift):
    def number(surface):
        return int(surface[1]) + 4 * int(surface[3:])

    told = [f"Q{(d.month - 1) // 3 + 1} {d.year}" for d in (first, second)]
    moved = [shift_date(t, shift) for t in told]
    assert number(moved[1]) - number(moved[0]) == number(told[1]) - number(told[0])


@given(day=DAYS, shift=SHIFTS)
def test_kinds_agree_to_half_of_the_coarser_unit(day, shift):
    moved = date.fromisoformat(shift_date(day.isoformat(), shift))
    month = shift_date(f"{MONTHS[day.month - 1]} {day.year}", shift)
    name, year = month.split()
    middle = date(int(year), MONTHS.index(name) + 1, 15)
    assert abs((moved - middle).days) <= 16 + 16 + 2


def test_the_shift_of_a_document():
    digest = Secret(7).digest
    drawn = [draw_shift(digest, f"d{i}", 180, 400) for i in range(300)]
    assert {180 <= abs(s.days) <= 400 for s in drawn} == {True}
    assert 100 < sum(s.days > 0 for s in drawn) < 200
    assert len({s.days for s in drawn}) > 100
    assert draw_shift(digest, "d7", 180, 400) == drawn[7]
    assert draw_shift(Secret(8).digest, "d7", 180, 400) != drawn[7]
    # a year, or four quarters, would leave months and quarters as they are
    assert all(s.months % 12 and s.quarters % 4 and s.years for s in drawn)
    assert {abs(draw_shift(digest, f"d{i}", 364, 366).days) for i in range(40)} == {364, 365, 366}
    with pytest.raises(ValueError, match="low and high"):
        draw_shift(digest, "d", 10, 5)


@given(shift=SHIFTS)
def test_dates_of_a_text_are_shifted_and_come_back(shift):
    text = (
        "In the third quarter of 2020 and in June, sales rose. Third quarter results came on "
        "October 5th. On March 31, 2020 we had 203. Last year's growth was slow by 2019's mark.\n"
        "Seen 13MAY22, born 8.5.80, signed 3 JUN 21: dated 28/4, reviewed on 3/4."
    )
    mentions = [Mention(s, e, "Date", text[s:e], text[s:e].lower()) for s, e in find_dates(text)]
    assert len(mentions) >= 6
    new = date_replacements(mentions, shift, date(2020, 9, 30))
    done = rewrite_text(text, mentions, new)
    assert invert_edits(done.text, done.edits) == text
    # "28/4" tells how "3/4" is read
    by_surface = {
        m.surface: shift_date(m.surface, shift, date(2020, 9, 30), day_first=True) for m in mentions
    }
    for surface, shifted in by_surface.items():
        assert (shifted or "[Date]") in done.text, surface
    assert ("203" in done.text) == ("203" not in by_surface)


def test_relative_dates_have_no_replacement():
    mentions = [
        Mention(0, 9, "Date", "last year", "last year"),
        Mention(12, 16, "Date", "2019", "2019"),
    ]
    assert list(date_replacements(mentions, Shift(365))) == [("Date", "2019")]


@pytest.mark.parametrize(
    ("text", "stays"),
    [
        ("Section 27A of the Securities Act of 1933, as amended.", ["1933"]),
        ("The Private Securities Litigation Reform Act of 1995 and 2019.", ["1995"]),
        ("Under the Companies Act 2006, and the Tax Cuts and Jobs Act of 2017.", ["2006", "2017"]),
        ("In the 2008 financial crisis and the 2001 recession we grew.", ["2008", "2001"]),
        ("As in the global financial crisis of 2008, or the 2007-2009 recession.",
         ["2008", "2007-2009"]),
        ("Rule 3 of the Civil Procedure Rules 1998, and the Waste Regulations 2011 as amended.",
         ["1998", "2011"]),
        ("Protected under the 1954 Act, not the 2002 Regulations.", ["1954", "2002"]),
        ("The 2021 Convention was in May, as the Rules of 2019 said.", ["2019"]),
        # the text's own time, and years that only stand near such words
        ("The 2020 economic downturn, the recession in 2020.", []),
        ("We act in 2019. An Act passed in 2018. After 2008, the crisis was over.", []),
        ("We were founded in 1933 and listed in 1995.", []),
    ],
)  # fmt: skip
def test_years_of_laws_and_crises_do_not_tell_the_shift(text, stays):
    mentions = [Mention(s, e, "Date", text[s:e], text[s:e]) for s, e in find_dates(text)]
    moving = without_names(text, mentions)
    assert [m.surface for m in mentions if m not in moving] == stays
    new = rewrite_text(text, moving, date_replacements(moving, Shift(800))).text
    for mention in mentions:
        told = (
            mention.surface if mention.surface in stays else shift_date(mention.surface, Shift(800))
        )
        assert told in new
    other = [Mention(m.start, m.end, "Place", m.surface, m.entity) for m in mentions]
    assert without_names(text, other) == other


def test_a_year_stays_in_a_law_only():
    text = "The Act of 1995 is older than we are; we were founded in 1995."
    mentions = [Mention(s, e, "Date", text[s:e], text[s:e]) for s, e in find_dates(text)]
    rows = [
        {"start": m.start, "end": m.end, "category": m.category, "surface": m.surface,
         "entity": m.entity}
        for m in mentions
    ]  # fmt: skip
    row = {"chunk_id": "c", "text": text, "mentions": rows, "shift_days": 400, "shift_from": None}
    row["day_first"] = None
    (batch,) = must_change_rows([pa.RecordBatch.from_pylist([row])], {}, True, ["Date"])
    (done,) = batch.to_pylist()
    assert done["text"] == "The Act of 1995 is older than we are; we were founded in 1996."
    assert invert_edits(done["text"], done["edits"]) == text


def test_days_of_the_document_tell_whether_the_day_comes_first():
    # in passages of fifty words most of a chronology's days were "[Date]"
    whole = "24/11/24: seen.\n06/12/22: referral.\n3.4.2023 call; ref 04/13/2021/9"
    told = day_comes_first(days_in_numbers(whole))
    assert told is True
    dates = [Mention(0, 8, "Date", "06/12/22", "06/12/22")]
    shift = Shift(31)
    key = ("Date", "06/12/22")
    assert date_replacements(dates, shift)[key].entity == "[Date]"
    assert date_replacements(dates, shift, day_first=told)[key].entity == "06/01/23"
    # what the passage says itself counts more
    dates.append(Mention(9, 17, "Date", "12/24/22", "12/24/22"))
    assert date_replacements(dates, shift, day_first=told)[key].entity == "07/13/22"


def test_a_period_tells_a_date_of_its_documents():
    named = ("2020", "2020Q3", "Q3 2020", "2020H1", "2020-09", "2020-09-30", "2020-02-30")
    assert [str(reference_of(p)) for p in named] == [
        "2020-07-01", "2020-08-15", "2020-08-15", "2020-04-01", "2020-09-15", "2020-09-30", "None",
    ]  # fmt: skip
    assert reference_of(None) is None and reference_of("wave 2") is None


def test_dates_of_logs_chats_and_headers_of_mail_move_whole():
    shift = Shift(400)
    written = ("21/Jun/2026", "Tue, 18 Sep 2026", "Thu, Jul 23, 2026", "march 18", "Mon 2026-05-18")
    moved = ("26/Jul/2027", "Wed, 23 Oct 2027", "Fri, Aug 27, 2027", "april 22", "Tue 2027-06-22")
    assert tuple(shift_date(day, shift) for day in written) == moved
    assert tuple(shift_date(day, shift.inverse()) for day in moved) == written


@pytest.mark.parametrize(
    ("surface", "shifted"),
    [
        ("nineteen eighty-four", "nineteen eighty-six"),
        ("Nineteen ninety nine", "Two thousand and one"),
        ("twenty twelve", "twenty fourteen"),
        # a day is not written anew, and half of it never moves
        ("the ninth of March nineteen seventy", None),
        ("eighteenth of the fifth ninety nine", None),
        ("twelfth day of March 2019", None),
    ],
)
def test_years_that_are_said_move_with_the_others(surface, shifted):
    assert shift_date(surface, Shift(730)) == shifted
