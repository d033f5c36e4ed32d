"""Phone numbers of many countries, numbers of securities, addresses of all countries."""

import random
import re

import pytest
from stdnum import cusip, isin

from nes_spark.config import IdentifierKind, IdentifiersConfig
from nes_spark.text import Identifier, Matcher, find_identifiers, numbers, suppress
from nes_spark.text.numbers import phone_spans, security_spans

CONFIG = IdentifiersConfig.model_validate({})


@pytest.mark.parametrize(
    "number",
    [
        "020 7946 0632",
        "+44 20 7946 0632",
        "030 901820",
        "01 42 68 53 00",
        "(11) 3003 7300",
        "03 3580 3311",
        "0800 123 4567",
        "8005550199",
        "1-800-555-0199",
        "+442079460632",
        "877 344 7529",
        "(877) -(555) -7905",
        "0２0 7946 0632",
        "+33 1 42 68 53 00",
        "+33 (0)1 42 68 53 00",
        "+61 2 9374 4000",
        "+81-3-6384-9000",
        "+49 (0) 89 2180 0",
    ],
)
def test_phone_numbers(number):
    text = f"it is {number} now"
    assert [(text[a:b], k) for a, b, k in find_identifiers(text, [])] == [(number, "phone")]


def test_national_numbers_are_those_of_the_regions():
    text = "it is 020 7946 0632 now, or +44 20 7946 0632"

    def found(*regions):
        config = IdentifiersConfig.model_validate({"phone_regions": regions})
        return [text[m.start : m.end] for m in Matcher.of([], config).find(text)]

    assert found("GB") == ["020 7946 0632", "+44 20 7946 0632"]
    assert found("US", "FR") == found() == ["+44 20 7946 0632"]
    with pytest.raises(ValueError, match="'UK'"):
        IdentifiersConfig.model_validate({"phone_regions": ["UK"]})


@pytest.mark.parametrize("number", ["0221/4740173", "0911 / 2313100", "01632 960 123"])
def test_a_national_number_that_is_announced(number):
    found = [text[a:b] for text in (f"Tel. {number}.",) for a, b, _ in find_identifiers(text, [])]
    assert found == [number]


@pytest.mark.parametrize(
    "text, left",
    [
        # half of the number of a part is nobody's, and the rest of it would stay
        ("the valve, P/N 623-8375-1, was new", "the valve, P/N 623-8375-1, was new"),
        ("Call 623-8375 or 0221 4740173-0.", "Call [Phone] or [Phone]."),
        # mistyped or of no place that is known, and no amount all the same
        ("or to 01313 675335. At 0758 232520934 sailed", "or to [Phone]. At 0758 232520934 sailed"),
    ],
)
def test_the_last_figure_of_a_number_goes_with_it(text, left):
    kinds = {"phone": IdentifierKind(placeholder="[Phone]", rule="phone")}
    assert suppress(text, [], kinds)[0] == left


def test_a_bare_number_must_be_free_of_charge_or_announced():
    assert find_identifiers("in all 2079460632 units and 1234567890 more", []) == []
    assert [k for *_, k in find_identifiers("call us on 02079460632 now", [])] == ["phone"]


@pytest.mark.parametrize(
    "text, number",
    [
        ("I rang Bridget (01535669678) to say so", "01535669678"),
        ("please contact Staff Nurse Abi on 01282737353.", "01282737353"),
        ("Femi Summers (07700900123, femi", "07700900123"),
        ("her next of kin, Leroy: 07852020064", "07852020064"),
        ("he can be reached on 02079460632", "02079460632"),
        ("contact Ann on 01632 960 123", "01632 960 123"),
        ("call the Elizabeth Garrett Anderson Unit on 01632 555 0859.", "01632 555 0859"),
    ],
)
def test_a_national_number_without_spaces_needs_no_word_before_it(text, number):
    assert [text[a:b] for a, b, _ in find_identifiers(text, [])] == [number]


@pytest.mark.parametrize(
    "text, numbers",
    [
        ("tel. 01282 737353\n12 High Street", ["01282 737353"]),
        ("445-110-6796\n63 St. Mary's Road", ["445-110-6796"]),
        ("+44 20 7946 0632\r\n2020 was good", ["+44 20 7946 0632"]),
        ("020 7946\u00a00632\t\n5 Elm Row", ["020 7946\u00a00632"]),
        ("Ward 020\n7946 0632 beds", []),
    ],
)
def test_a_number_ends_with_its_line(text, numbers):
    assert [text[a:b] for a, b, _ in find_identifiers(text, [])] == numbers


@pytest.mark.parametrize(
    "text",
    [
        "01234567890123 and 012345678 and 00123456",
        "on the call, we said that in all we have 2079460632 shares",
        "reached 2079460632 units, contacted 1234567890",
        "2019 2020 2021",
        "100 200 300 units",
        "10-12-14 and 2020-11-04",
        "sold 1 234 567 or 12 345 678",
        "$020 7946 0632",
        "pages 20 30 40 50 60",
        "on 01/10/2024 and in 2019/2020",
        "mobile revenue of 1 234 567 890",
        "16 17 18 19 20",
        "COVID2020 and 2020Q3 and 123456789",
        "US0378331006 is mistyped",
        "3 Q 2020, 4K, 5G, B2B",
        "year 220- 2020 and",
    ],
)
def test_no_numbers_here(text):
    assert find_identifiers(text, []) == []


@pytest.mark.parametrize(
    "text, numbers",
    [
        ("CUSIPs 037833100 and 594918104 fell", ["037833100", "594918104"]),
        ("CUSIP Nos. 037833100, 594918104, or 2030", ["037833100", "594918104"]),
        ("SEDOLs: 0263494/B1YW440", ["0263494", "B1YW440"]),
        ("ISIN: US 037833 1005, in 2030", ["US 037833 1005"]),
        ("IBAN DE89 3704 0044 0532 0130 00 is ours", ["DE89 3704 0044 0532 0130 00"]),
        ("IBAN DE89 3704 0044 0532 0130 01 is mistyped", []),
    ],
)
def test_numbers_in_lists_and_groups(text, numbers):
    assert [text[a:b] for a, b, _ in find_identifiers(text, [])] == numbers


@pytest.mark.parametrize(
    "text, number",
    [
        ("ISIN US0378331005.", "US0378331005"),
        ("the notes (US0378331005) fell", "US0378331005"),
        ("our 38259P508 shares", "38259P508"),
        ("CUSIP 037833100 is ours", "037833100"),
        ("CUSIP No. 037833100", "037833100"),
        ("CIK: 320193", "320193"),
        ("filed under 0000320193 at", "0000320193"),
        ("Central Index Key 320193", "320193"),
        ("LEI 213800KUD8LAJWSQ9D15", "213800KUD8LAJWSQ9D15"),
        ("by 213800KUD8LAJWSQ9D15,", "213800KUD8LAJWSQ9D15"),
        ("SEDOL B15KXQ8", "B15KXQ8"),
        ("figi BBG000B9XRY4", "BBG000B9XRY4"),
    ],
)
def test_numbers_of_securities(text, number):
    assert [(text[a:b], k) for a, b, k in find_identifiers(text, [])] == [(number, "security")]


def test_check_digits_decide():
    stem, right = "US037833100", "US0378331005"
    found = [d for d in "0123456789" if find_identifiers(f"see {stem}{d} now", [])]
    assert [stem + d for d in found] == [right]
    assert isin.is_valid(right)
    stem = "38259P50"
    found = [d for d in "0123456789" if find_identifiers(f"see {stem}{d} now", [])]
    assert found == [cusip.calc_check_digit(stem)]


@pytest.mark.parametrize(
    "address",
    [
        "bww.de",
        "www.bww.de",
        "acme.co.uk",
        "ir.acme.fr/news",
        "acme.health",
        "acme.eu",
        "a-b.ch",
        "acme.com .br",
    ],
)
def test_addresses_of_other_countries(address):
    text = f"see {address}. Today"
    assert [(text[a:b], k) for a, b, k in find_identifiers(text, [])] == [(address, "url")]


@pytest.mark.parametrize(
    "text",
    ["It grew.in 2020", "readme.md and run.py", "the U.S. de facto", "e.g.it", "a.m. to p.m."],
)
def test_no_addresses_here(text):
    assert find_identifiers(text, []) == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("ring (202) 555-1234 ext. 4242!", "(202) 555-1234 ext. 4242"),
        ("T: 202-555-1234 x350", "202-555-1234 x350"),
        ("202-555-1234, extension 9.", "202-555-1234, extension 9"),
        ("202-555-1234 x 3 boxes, 202 extra", "202-555-1234"),
        ("202-555-1234\next 4242", "202-555-1234"),
    ],
)
def test_the_desk_belongs_to_a_number(text, found):
    assert [text[start:end] for start, end, _ in find_identifiers(text, [])] == [found]


@pytest.mark.parametrize(
    ("text", "number"),
    [
        (
            "it's oh seven double six eight four nine five four eight six, that's it",
            "oh seven double six eight four nine five four eight six",
        ),
        (
            "zero seven three three four, oh seven five, one nine one",
            "zero seven three three four, oh seven five, one nine one",
        ),
        ("ring her, four one three four oh oh seven", "four one three four oh oh seven"),
    ],
)
def test_a_number_that_is_said_figure_by_figure(text, number):
    assert [text[a:b] for a, b, kind in find_identifiers(text, []) if kind == "phone"] == [number]


@pytest.mark.parametrize(
    "text",
    ["oh one two three and then nine", "one two five oh seven three four four one two", "oh no oh"],
)
def test_figures_that_are_said_and_no_number_to_call(text):
    assert find_identifiers(text, []) == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Told me to fax to 877-555-7905. 15 USC 1666b says so.", ["877-555-7905"]),
        ("I rang 1 800 555 0142. 30 days went by.", ["1 800 555 0142"]),
        ("I rang 855-555-0104 12 times.", ["855-555-0104"]),
        ("It sold 100 200 300 4000. 500 were left.", []),
        ("From 10-15. 20 of 2019-2020. 15 came.", []),
    ],
)
def test_figures_behind_a_number_do_not_hide_it(text, found):
    assert [text[a:b] for a, b, kind in find_identifiers(text, []) if kind == "phone"] == found


@pytest.mark.parametrize(
    "number",
    ["1-800-HARLOW1", "1-855-OGDEN-ST", "1-866-sumrval", "877-FLOWERS", "(855) OGDEN-ST"],
)
def test_a_number_that_letters_tell(number):
    text = f"the number on the card ({number}), it rings"
    assert [(text[a:b], k) for a, b, k in find_identifiers(text, [])] == [(number, "phone")]
    own = Identifier("company", "Harlow", "[Firm]")
    assert suppress(text, [own])[0] == "the number on the card ([Phone]), it rings"


@pytest.mark.parametrize(
    "text",
    [
        "1-800-Dentist grew",
        "1-800-FLOWERS.COM grew",
        "an 800-person team",
        "an 800-MILLION loan",
        "800 DOLLARS",
    ],
)
def test_letters_that_tell_no_number(text):
    assert [kind for *_, kind in find_identifiers(text, []) if kind == "phone"] == []


def test_what_is_looked_for_first_hides_no_number(monkeypatch):
    """Numbers are the same without the quick looks that spare texts without any the long ones."""
    pieces = [
        *("+33 1 42 68 53 00", "(0)", "0221/", "4740173", "877", "555", "79", "0", "1", "15."),
        *("call ", "800", "855-", "HARLOW1", "OGDEN-ST", "1-", "$", "US", "037833", "100", "5"),
        *("US0378331005", "DE89 3704 0044 0532 0130 00", "0000320193", "CUSIP ", "ab", "٣"),
    ]
    between = [" ", "-", ".", " – ", ") (", "/", ",", "", "\n", " + ", ". ("]
    chance = random.Random(12)
    texts = []
    for _ in range(3000):
        n = chance.randint(1, 7)
        texts.append("".join(chance.choice(pieces) + chance.choice(between) for _ in range(n)))

    def everything():
        return [(sorted(phone_spans(t, ["US"])), sorted(security_spans(t))) for t in texts]

    found = everything()
    for name in ("_SEVEN", "_FREE", "_LONG", "_COUNTRY_AND_CHECK"):
        monkeypatch.setattr(numbers, name, re.compile(""))
    assert everything() == found
    assert all(sum(map(bool, kind)) > 100 for kind in zip(*found, strict=True))
