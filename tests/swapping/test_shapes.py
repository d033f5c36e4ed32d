"""Names of like shape and kind."""

from __future__ import annotations

import itertools
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nes_spark.swapping import Secret, plan_exchange
from nes_spark.swapping.likeness import similarities_for
from nes_spark.swapping.shapes import (
    ShapeSimilarity,
    are_kin,
    date_form,
    date_similarity,
    may_stand_in,
    place_kind,
    shape_class,
    shape_of,
    shape_similarity,
    sort_of,
)


@pytest.mark.parametrize(
    ("kind", "names"),
    [
        ("country", ["US", "U.S.", "United States", "the Netherlands", "Peru", "South Korea"]),
        ("state", ["Ohio", "North Dakota", "Georgia", "Quebec"]),
        ("region", ["Gulf Coast", "Latin America", "Europe", "Midwest", "Asia Pacific"]),
        ("site", ["Henry Hub", "Dania Beach Clean Energy Center", "Heathrow Airport"]),
        ("city", ["Lyon", "San Diego", "New York", "Neuf-Brisach"]),
        ("letters", ["SSA", "DFW"]),
    ],
)
def test_kinds_of_places(kind, names):
    assert [place_kind(name) for name in names] == [kind] * len(names)


@pytest.mark.parametrize(
    ("category", "like", "unlike"),
    [
        ("Person", ("Maria Keller", "Peter van der Berg"), "Keller"),
        ("Person", ("Keller", "Dr. Orr"), "J. Orr"),
        ("Organization", ("FDA", "SEC"), "Food and Drug Agency"),
        ("Organization", ("Vega", "Zimmer"), "Court of Appeals"),
        ("Organization", ("Vega Labs Ltd.", "Zimmer Biomet Inc."), "SEC"),
        ("Organization", ("Court of Appeals", "Department of Justice"), "Vega Labs"),
        ("Organization", ("Bank of Mexico", "Bank of England"), "Vega Labs"),
        ("Location", ("United States", "Netherlands"), "Chicago"),
        ("Location", ("Peru", "France"), "Lyon"),
        ("Location", ("Lyon", "Chicago"), "Gulf Coast"),
        ("Product", ("King Air 360", "ClearLedger 4"), "Galleri"),
        ("Product", ("Galleri", "Orchidea"), "RASP"),
    ],
)
def test_like_comes_before_unlike(category, like, unlike):
    near = shape_similarity(*like, category)
    assert near > max(shape_similarity(name, unlike, category) for name in like)
    assert near > 0.7


@pytest.mark.parametrize(
    ("category", "one_sort", "others"),
    [
        (
            "Organization",
            ("the FDA", "Department of Energy", "DOD", "USFDA"),
            ("Vega", "IBM", "Acme Ltd"),
        ),
        ("Organization", ("Court of Appeals", "Supreme Court"), ("Vega", "IBM", "Acme Ltd")),
        ("Organization", ("Court of Appeals", "Supreme Court"), ("FDA", "Department of Energy")),
        ("Organization", ("Bank of Mexico", "Reserve Bank of India"), ("Vega", "Deutsche Bank")),
        (
            "Organization",
            ("US Navy", "Army Corps of Engineers", "Coast Guard", "Royal Marines", "Air Force"),
            ("Vega", "IBM", "Security Guard Services"),
        ),
        (
            "Organization",
            ("US Navy", "US Army"),
            ("FDA", "Department of the Navy", "Credit Union Administration"),
        ),
        (
            "Organization",
            ("US Senate", "European Parliament", "National Assembly", "US Congress", "Legislature"),
            ("FDA", "Department of Energy", "Security Council"),
        ),
        (
            "Organization",
            ("American Gas Association", "League of Cities", "Humane Society", "Dairy Federation"),
            ("FDA", "DOD", "European Union", "National Credit Union Administration"),
        ),
        (
            "Organization",
            ("Seabrook Nuclear Facility", "Flatbush Gardens", "Oslo Airport", "Vega Refinery"),
            ("Vega", "Acme Ltd", "Guitar Center", "Olive Garden"),
        ),
        (
            "Organization",
            ("Retail Division", "Vega Health Division", "Orr Unit", "Zyx Team"),
            ("Vega", "Acme Ltd"),
        ),
        (
            "Organization",
            ("MD Anderson Cancer Center", "Dana-Farber Cancer Institute", "Duke University"),
            ("Vega", "Acme Ltd"),
        ),
        (
            "Product",
            ("Promise Program", "Thrive Initiatives", "the Climate Pledge", "Vega Project"),
            ("Galleri", "King Air 260"),
        ),
        (
            "Product",
            ("Hinkley Pipeline", "Seabrook Plant"),
            ("Galleri", "Nest Hub", "Square Terminal", "Vitamin B Complex"),
        ),
        ("Organization", ("Duke University", "Mayo Clinic"), ("Vega", "IBM", "Acme Ltd")),
        ("Organization", ("SCC", "CUD", "QRX"), ("Vega", "IBM", "CVS", "Acme Ltd")),
        ("Location", ("Clover House", "250 Livingstone Street"), ("Ohio", "Gulf Coast", "Lyon")),
        ("Location", ("Peru", "South Africa", "US", "America"), ("Ohio", "Gulf Coast", "Lyon")),
        ("Name", ("German", "North American", "Peruvian"), ("Conrad", "Aficionado Prime")),
        ("Name", ("Germans", "North Americans"), ("Conrad", "Aficionado Prime")),
        ("Name", ("PDL-1", "BCMA-CD16a", "MOBs"), ("Conrad", "Aficionado Prime")),
        ("Product", ("ADX-629", "RASP", "PC-24", "TSO 500"), ("Galleri", "King Air 260", "iPhone")),
        ("Product", ("mophie", "vedolizumab"), ("ADX-629", "RASP")),
        ("Product", ("757s", "A320", "PC-24"), ("Galleri", "King Air 260")),
        (
            "Location",
            ("Europe", "Asia Pacific", "Latin America", "EMEA", "Rest of Europe", "Indo-Pacific"),
            ("Gulf Coast", "Ohio", "Lyon", "Irvine Pacific"),
        ),
    ],
)
def test_sorts_of_names_that_do_not_meet(category, one_sort, others):
    similarity = ShapeSimilarity(category)
    for first, second in itertools.combinations(one_sort, 2):
        assert similarity.fits(first, second) and similarity.fits(second, first)
        for other in others:
            assert not similarity.fits(first, other)
            # as many as can meet one of their own sort, whatever their shapes
            assert similarity(first, other) < 0.0 <= similarity(first, second)
    for first, second in itertools.combinations(others, 2):
        assert similarity.fits(first, second)
        assert similarity(first, second) == shape_similarity(first, second, category)


@pytest.mark.parametrize(
    ("category", "name", "other"),
    [
        ("Organization", "Mines", "Zimmer"),
        ("Organization", "Energy Resources", "Zimmer Biomet"),
        ("Organization", "Cortec Co-President", "Zimmer Biomet"),
        ("Organization", "Lufthansa.As", "Zimmer"),
        ("Organization", "St. Louis-based Mercy", "Zimmer Biomet"),
        ("Product", "Insurance", "Galleri"),
        ("Name", "EGFR-positive", "Conrad"),
        ("Name", "recog", "Conrad"),
        ("Name", "variabilize", "Conrad"),
        ("Product", "habour", "mophie"),
        ("Name", "Making Things Cool", "Conrad"),
        ("Name", "Regu", "Conrad"),
        ("Name", "Superintendency", "Pathfinder"),
        ("Organization", "Corp", "Zimmer"),
        ("Organization", "Foundation", "Zimmer"),
        ("Organization", "QOQ", "IBM"),
        ("Product", "Tobacco Monopoly Law", "Galleri"),
        ("Product", "Turkish Lira", "Galleri"),
        ("Product", "Approx 13", "King Air 260"),
        ("Product", "Article 16", "King Air 260"),
        ("Person", "South Africa", "Ana Orr"),
    ],
)
def test_what_is_no_name_by_itself_takes_no_place(category, name, other):
    assert not may_stand_in(name, category) and may_stand_in(other, category)
    similarity = ShapeSimilarity(category)
    assert similarity.gives(other) and not similarity.gives(name)
    # nor that of another of its kind
    assert not (similarity.fits(name, other) or similarity.fits(other, name))
    assert not similarity.fits(name, name)


@pytest.mark.parametrize(
    ("category", "name"),
    [
        ("Organization", "American Airlines"),
        ("Organization", "Apple"),
        ("Organization", "NASDAQ"),
        ("Organization", "Bank of Mexico"),
        ("Organization", "Department of Energy"),
        ("Organization", "IBM"),
        ("Organization", "PG&E"),
        ("Location", "US"),
        ("Location", "U.S."),
        ("Location", "Long Island"),
        ("Location", "Turkey"),
        ("Product", "iPhone 12"),
        ("Product", "Forward Initiative"),
        ("Product", "MAX"),
        ("Name", "Irish"),
        ("Name", "IL-17"),
        ("Person", "Young"),
        ("Person", "Grace Hall"),
        ("Person", "Adam West"),
        ("Person", "Grace Parker"),
        ("Event", "Earth Day"),
    ],
)
def test_names_of_ordinary_words_stand_where_that_is_usual(category, name):
    assert may_stand_in(name, category)


def test_equal_shapes_are_one_class():
    assert shape_class("Ana Orr", "Person") == shape_class("Peter van der Berg", "Person")
    assert shape_class("Keller", "Person") != shape_class("Ana Keller", "Person")
    assert shape_class("US", "Location") == shape_class("Netherlands", "Location")
    assert shape_class("US", "Location") != shape_class("Peru", "Location")
    assert shape_class("Vega Ltd.", "Organization") == shape_class("Zimmer", "Organization")


def test_neither_gender_nor_given_name_of_a_person_counts():
    women, men = ["Maria Keller", "Ana Orr", "Ines Vidal"], ["Peter Keller", "Al Orr", "Ivo Vidal"]
    values = {shape_similarity(a, b, "Person") for a, b in itertools.product(women, men)}
    assert values == {1.0}
    assert shape_of("Maria Keller", "Person") == shape_of("Mario Keller", "Person")


NAMES = st.text(alphabet="aB c.D&9-é'", min_size=1, max_size=14)


@given(NAMES, NAMES, st.sampled_from(["Person", "Organization", "Location", "Product", "Event"]))
def test_similarity_is_symmetric_and_bounded(first, second, category):
    value = shape_similarity(first, second, category)
    assert value == pytest.approx(shape_similarity(second, first, category))
    assert 0.0 <= value <= 1.0 + 1e-12
    assert shape_similarity(first, first, category) == pytest.approx(1.0)
    assert shape_class(first, category).startswith(f"{category}/")


def test_the_assignment_of_a_swap_keeps_shapes():
    ours = {"Organization": ["FDA", "Zimmer Biomet Inc.", "Court of Appeals"]}
    theirs = {"Organization": ["Department of Justice", "Vega Labs Ltd.", "SEC"]}
    plan = plan_exchange(
        ours,
        theirs,
        ["Organization"],
        Secret(3).digest,
        matching="similar",
        similarity=partial(shape_similarity, category="Organization"),
    )
    assert {(e.old, e.new) for e in plan if e.side == "a"} == {
        ("FDA", "SEC"),
        ("Zimmer Biomet Inc.", "Vega Labs Ltd."),
        ("Court of Appeals", "Department of Justice"),
    }


@pytest.mark.parametrize(
    ("form", "names"),
    [
        ("DMY", ["2 April 1997", "11th May, 2001"]),
        ("MDY", ["April 2, 1997", "May 11th 2001"]),
        ("Y", ["1943", "2007", "1990s"]),
        ("DU", ["eighteen months", "11 month", "three-year", "ninety days"]),
        ("WDMY", ["Monday 3 May 1999"]),
        ("wU", ["last year", "next quarter"]),
    ],
)
def test_how_dates_are_written(form, names):
    assert [date_form(name) for name in names] == [form] * len(names)
    assert all(date_similarity(names[0], name) == 1 for name in names)
    assert date_similarity(names[0], "Easter Monday afternoon") < 1


DATES = st.from_regex(r"((1[0-9]|May|1999|last|years) ?){1,4}", fullmatch=True)


@given(DATES, DATES)
def test_similarity_of_dates_is_symmetric_and_bounded(first, second):
    value = date_similarity(first, second)
    assert value == date_similarity(second, first)
    assert value == 1 if date_form(first) == date_form(second) else 0 <= value <= 0.5


def test_dates_meet_dates_that_are_written_alike_whatever_the_matching():
    ours, theirs = ["2 April 1997", "1943", "March"], ["May", "11 June 2001", "2007"]
    found = plan_exchange(
        {"Date": ours}, {"Date": theirs}, ["Date"], Secret(1).digest,
        similarities=similarities_for(["Date"], "random"),
    )  # fmt: skip
    met = {e.old: e.new for e in found if e.side == "a"}
    assert met == {"2 April 1997": "11 June 2001", "1943": "2007", "March": "May"}


def test_models_go_by_a_number_among_products():
    assert ShapeSimilarity("Product").fits("737", "A320")


def test_countries_change_places_with_countries():
    """ "Sales in Arizona fell, in the rest of the world they rose" is said of no country."""
    alike = ShapeSimilarity("Location")
    for country in ("China", "US", "America", "Peru"):
        assert alike.fits("Mexico", country)
    for other in ("Arizona", "Lyon", "Gulf Coast", "Europe"):
        assert not alike.fits("Mexico", other)
        # where no country is at hand another place still does
        assert alike.takes("Mexico", other)
    assert alike.fits("Arizona", "Lyon")


def test_a_place_among_people_takes_nobodys_place():
    alike = ShapeSimilarity("Person")
    assert not alike.takes("Harry Welten", "Flatbush Gardens")
    assert alike.takes("Harry Welten", "Rebecca Hall") and alike.takes("Ann Roe", "Gardens")


KIN = [
    ("Organization", "Leeds Beckett University", "University of Leeds"),
    ("Organization", "Zimmer Biomet Holdings Inc.", "Zimmer"),
    ("Organization", "Boston Scientific", "Boston Omaha"),
    ("Person", "Anna Keller", "Jim Keller"),
    ("Person", "Dr. Keller", "Jim Keller"),
    ("Person", "Anna", "Anna Roe"),
    ("Location", "Flatbush Gardens", "Flatbush"),
    ("Product", "Nest Hub", "Nest Cam"),
]
STRANGERS = [
    ("Organization", "Bank of Mexico", "Bank of Ghana"),
    ("Organization", "Acme Energy Holdings", "Orr Energy Holdings"),
    ("Organization", "American Airlines", "American Express"),
    ("Person", "Anna Keller", "Anna Roe"),
    ("Location", "New York", "New Haven"),
    ("Location", "Gulf Coast", "East Coast"),
]


@pytest.mark.parametrize(("category", "first", "second"), KIN)
def test_names_that_share_a_telling_word_hide_nothing(category, first, second):
    alike = ShapeSimilarity(category)
    assert are_kin(first, second, category) and are_kin(second, first, category)
    for old, new in ((first, second), (second, first)):
        assert not (alike.fits(old, new) or alike.takes(old, new) or alike.reads(old, new))
    # and where another name of the kind is at hand, it is the one that comes
    assert alike(first, "Zyx") > alike(first, second)


@pytest.mark.parametrize(("category", "first", "second"), STRANGERS)
def test_names_that_share_words_in_general_use_are_strangers(category, first, second):
    assert not are_kin(first, second, category)
    assert ShapeSimilarity(category).takes(first, second)


def test_no_name_takes_the_place_of_a_rare_word():
    """What is written without a capital is mostly a word ("deductibility"), among brands a name."""
    assert not ShapeSimilarity("Name").takes("deductibility", "Salic")
    assert ShapeSimilarity("Name").takes("Conrad", "Salic")
    assert ShapeSimilarity("Product").takes("mophie", "Galleri")


@pytest.mark.parametrize(
    ("category", "old", "new", "fine"),
    [
        ("Organization", "FERC", "University of Maine", False),
        ("Organization", "FERC", "Department of Energy", True),
        ("Organization", "Acme", "Bank of Mexico", False),
        ("Organization", "Acme", "Vega Group", True),
        ("Organization", "Duke University", "Mayo Clinic", True),
        ("Organization", "Supreme Court", "Department of Energy", False),
        ("Organization", "Supreme Court", "Court of Appeals", True),
        ("Organization", "US Senate", "US Navy", False),
        ("Organization", "American Gas Association", "Department of Energy", False),
        ("Organization", "Vega", "Seabrook Nuclear Facility", False),
        ("Product", "Galleri", "Thrive Initiative", False),
        ("Product", "Mountain Valley Pipeline", "Thrive Initiative", False),
        ("Organization", "Guitar Center", "Vega Group", True),
        ("Organization", "Harvard Business Review", "Vega Group", True),
        ("Person", "Anna Solar", "Ann Roe", True),
        ("Product", "ADX-629", "Galleri", True),
        ("Name", "ICEs", "Conrad", False),
        ("Name", "PDL-1", "BCMA", True),
        ("Location", "Oslo", "Clover House", False),
        ("Location", "New England", "Hickory Park Solar", False),
        ("Location", "Peru", "Lyon", True),
    ],
)
def test_a_placeholder_reads_better_than_another_sort(category, old, new, fine):
    alike = ShapeSimilarity(category)
    assert alike.reads(old, new) == fine
    # where nothing else would be written it comes in all the same
    assert alike.takes(old, new) and alike.gives(new)


@pytest.mark.parametrize(
    ("category", "slip", "name"),
    [
        ("Person", "Flatbush Gardens", "Ann Roe"),
        ("Organization", "Tobacco Monopoly Law", "Acme"),
        ("Organization", "QOQ", "Acme"),
        ("Person", "St. Louis-based", "Ann Roe"),
        ("Organization", "CEO/CFO", "Acme"),
        ("Organization", "NSTAR Gas Rate Review", "Acme"),
        ("Organization", "Vega Rate Case", "Acme"),
        ("Organization", "NSTAR Petition", "Acme"),
        ("Organization", "Contract Logistics", "Acme"),
        ("Product", "US GAAP", "Galleri"),
        ("Product", "Drinkware", "Galleri"),
        ("Name", "Wars", "Conrad"),
        ("Name", "Making Things Cool", "Conrad"),
    ],
)
def test_a_placeholder_reads_better_where_no_name_was(category, slip, name):
    alike = ShapeSimilarity(category)
    assert not alike.reads(slip, name) and alike.takes(slip, name)
    other = {"Organization": "Zimmer", "Person": "Jim Orr", "Product": "mophie", "Name": "Salic"}
    assert alike.reads(name, other[category]), "names get names"
    # names of countries may be names of people, and ordinary words those of cities
    assert ShapeSimilarity("Person").reads("Jordan", "Ann")
    assert ShapeSimilarity("Location").reads("Reading", "Lyon")


@pytest.mark.parametrize("name", ["Compass", "Target", "Visa", "Oracle", "Shell", "Ford", "Gap"])
def test_well_known_companies_called_by_a_word_get_names(name):
    assert ShapeSimilarity("Organization").reads(name, "Acme")


@pytest.mark.parametrize(
    ("name", "sort"),
    [
        ("Supreme Court", "court"), ("Southern District of New York", "court"),
        ("International Court of Justice", "court"),
        ("National Bank of Canada", "bank"), ("Reserve Bank of India", "bank"),
        ("Department of Energy", "body"), ("Museum of Modern Art", "school"),
        ("NYSE", "exchange"), ("Nasdaq Global Select Market", "exchange"),
        ("London Stock Exchange", "exchange"), ("Nasdaq, Inc.", ""),
        ("Scholastic School", "school"), ("Church & Dwight", ""), ("Food Court Inc", ""),
        ("Hospital Corporation of America", ""), ("Deutsche Bank", ""),
    ],
)  # fmt: skip
def test_sorts_of_organisations(name, sort):
    assert sort_of(name, "Organization") == sort


@pytest.mark.parametrize(
    ("name", "stands"),
    [("US GAAPs", False), ("ACME INC", True), ("BP PLC", True), ("US STEEL", True), ("FDA", True)],
)
def test_capitals_bar_nobody(name, stands):
    assert may_stand_in(name, "Organization") == stands


@pytest.mark.parametrize(
    ("name", "category"),
    [
        ("CEO/CFO", "Organization"), ("EVP/COO", "Organization"), ("Form 10", "Product"),
        ("Phase 2", "Product"), ("Level 3", "Product"), ("Class A", "Product"),
    ],
)  # fmt: skip
def test_roles_and_what_is_counted_stand_in_for_no_name(name, category):
    assert not may_stand_in(name, category)
    assert not ShapeSimilarity(category).takes("Galleri", name)
