"""Keys are told from names of products by how many figures and groups they have."""

import re

import pytest

from nes_spark.entities import keys
from nes_spark.entities.keys import is_key, with_whole_addresses
from tests.chance import texts_of


@pytest.mark.parametrize(
    "code",
    [
        "634984",
        "nine five one three double one",
        "H20/92174",
        "R91S-K35E-R87R-A85Y-Y54Q",
        "70ACF-CD30E-6E166-8A4CD",
        "BL-BLRS-8171-HJXA",
        "EH33-7772-V18",
        "FMJH2WE3",
        "9gynu61j",
        "M42Y9V40 15 USC",
        "D4RMSW7P.",
        "XXXX6822",
        "REC 19/LO/0412",
        "rec 19/lo/0412",
        "0102.B-0287",
        "2017.1.02078.S",
        "2203.01234",
    ],
)
def test_codes_of_one_record(code):
    assert is_key(code, "Product")
    assert is_key(code, "Name")
    assert not is_key(code, "Location")


@pytest.mark.parametrize(
    "code",
    [
        "SY24 MAP",
        "Ford Fiesta SY24MAP",
        "BD23 4AB",
        "7 Mill Lane, HX3 7SU",
        "K1A 0B1",
        "PNR VEX4EP",
        "PC 2982 Bright",
        "kilo victor one nine golf tango",
    ],
)
def test_codes_of_one_car_house_or_journey(code):
    assert is_key(code, "Product")
    assert is_key(code, "Location")
    assert not is_key(code, "Quantity")


@pytest.mark.parametrize(
    "code",
    ["FY24 EPS", "CY25 GDP", "CYP2D6", "HSP90", "H1N1", "A320 neo", "M62 J24", "X5 M50i", "GLP-1"],
)
def test_codes_of_many(code):
    assert not is_key(code, "Product")


@pytest.mark.parametrize(
    "code",
    [
        "ADX-1612",
        "HSP90",
        "DC-10-30",
        "RTX-4090-TI",
        "SNDX5613",
        "iPhone14Pro",
        "5GADVANCED",
        "SARS-CoV-2",
        "A320-200",
        "EH33-V18",
    ],
)
def test_codes_of_products(code):
    assert not is_key(code, "Product")


@pytest.mark.parametrize("code", ["LG61 ADH", "AB77DKC"])
def test_plates(code):
    assert is_key(code, "Product")
    assert is_key(code, "Name")


@pytest.mark.parametrize("place", ["QX28 6AP", "TW2 1FH", "17 Tannery Close, ZB4 8FQ"])
def test_postcodes_are_keys_of_places_too(place):
    assert is_key(place, "Location")
    assert is_key(place, "Product")


@pytest.mark.parametrize(
    "place",
    [
        *("12 Cobden Street", "7a Back Clough Row", "10450 Clover Road", "8 Priory Road, Hull"),
        *("4411 Orchard Parkway", "88 Clover Place", "77 East Old Highway", "21 Hollin Boulevard"),
        *("Elbgasse 18", "Hohe Kirchstraße 4b", "Kirkegata 41", "12 rue des Fours", "3 place d'Or"),
        *("Ohio 44101", "Hull, Texas 77002-1234"),
    ],
)
def test_a_house_is_the_home_of_others_in_another_text(place):
    assert is_key(place, "Location")
    assert is_key(place, "Organization")
    assert not is_key(place, "Date")


@pytest.mark.parametrize(
    "place",
    [
        *("Cobden Street", "2019 Cobden Street", "5th Avenue", "40 Wall Street", "200 Park"),
        *("Orchard Parkway", "Elbgasse", "rue des Fours", "Ohio", "Ohio 2020", "Colgate 4%"),
    ],
)
def test_streets_and_years_are_no_houses(place):
    assert not is_key(place, "Location")


@pytest.mark.parametrize(
    "house",
    [
        "4748 Peachtree Industrial Blvd",
        "2407 N HALVERSON PKWY",
        "8633 W. Tecumseh Street",
        "3887 14th Street",
        "580 Canal St",
        "12 Martin Luther King Dr",
    ],
)
def test_american_houses_are_one_household_s(house):
    assert is_key(house, "Location")
    assert is_key(f"{house}, Ocala", "Organization")
    # the recogniser leaves the number out; without it the street would be another's house
    text = f"the branch at {house} is"
    street = text.index(house) + house.index(" ") + 1
    end = text.index(" is")
    found = with_whole_addresses(text, [(street, end, "Location")])
    assert [text[a:b] for a, b, _ in found] == [house]


@pytest.mark.parametrize(
    "place",
    ["20 Wall Street banks", "2019 High Street", "5 January St Andrews", "7 DAYS ON A WAY"],
)
def test_no_houses(place):
    assert not is_key(place, "Location")


@pytest.mark.parametrize("key", ["9,304,118", "15/304,118", "D712,345", "ACMEGB21XXX"])
def test_patents_and_banks(key):
    assert is_key(key, "Name")
    assert is_key(key, "Product")
    assert not is_key(key, "Quantity")


@pytest.mark.parametrize("place", ["52.0039, -2.9431", "52°15.0'N 003°20.1'W"])
def test_a_position_is_that_of_others_in_another_text(place):
    assert is_key(place, "Location")


def test_what_is_looked_for_first_hides_no_address(monkeypatch):
    """Addresses are the same without the quick looks that spare texts without any the long ones."""
    pieces = (
        *(
            "HU1",
            "6BT",
            "K1A",
            "0B1",
            "M1 1AA",
            "Q3",
            "B2B",
            "12",
            "4748",
            "19",
            "4b",
            "90210",
            "9 ter",
        ),
        *(
            "Ash",
            "Road",
            "Cobden Street",
            "Wall",
            "St",
            "Dr",
            "5th",
            "Avenue",
            "Elbgasse",
            "Kirkegata",
        ),
        *(
            "Hauptstraße",
            "rue",
            "du Four",
            "boulevard",
            "Texas",
            "sold",
            "Blvd",
            "Marktplatz",
            "of",
        ),
    )
    texts = texts_of(pieces, [" ", " ", ", ", ""], count=4000)

    def everything():
        return [
            with_whole_addresses(text, [(*m.span(), "Location") for m in re.finditer(r"\w", text)])
            for text in texts
        ]

    found = everything()
    assert sum(any(end - start > 1 for start, end, _ in spans) for spans in found) > 100
    monkeypatch.setattr(keys, "_LIKE_POSTCODE", re.compile(""))
    monkeypatch.setattr(keys, "_LIKE_HOUSE", re.compile(""))
    assert everything() == found
