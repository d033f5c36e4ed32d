import hashlib
import json

import numpy as np
import pytest

from nes_spark.building.names import build_lexicon
from nes_spark.demo.calls import calls
from nes_spark.demo.clinical import notes
from nes_spark.demo.patents import filings
from nes_spark.entities import rules as rule_module
from nes_spark.entities.names import BUCKETS, CLASSES, Lexicon, NameClassifier
from nes_spark.entities.recognizers import load_recognizer
from nes_spark.entities.rules import EVIDENCE, RULES, Rules
from nes_spark.entities.sweep import candidates_of

LEXICON = Lexicon(organizations=frozenset({"Acme"}), products=frozenset({"A320"}))


@pytest.fixture(scope="module")
def rules():
    """Rules whose classifier has no opinion: what they say comes from lists and frames."""
    return Rules(LEXICON, NameClassifier(np.zeros((BUCKETS, len(CLASSES)), dtype=np.float16)))


def found(rules, text):
    return {(text[s:e], label) for s, e, label in rules(text, [])}


@pytest.mark.parametrize(
    "amount",
    [
        "COP10 billion",
        "USD 5 million",
        "R12 billion",
        "INR20",
        "Rs",
        "Rp 5 billion",
        "GH₵ 5 million",
    ],
)
def test_amounts_are_no_names(rules, amount):
    assert found(rules, f"We invested {amount} in the plant.") == set()


@pytest.mark.parametrize(
    "body", ["Board of Directors", "General Shareholders' Meeting", "Audit Committee"]
)
def test_bodies_of_any_company_are_no_names(body):
    recognizer = load_recognizer("bundled")
    (found_,) = recognizer([f"In September, the {body} declared a special dividend. Next slide."])
    assert [m.surface for m in found_ if m.category != "Date"] == []


def test_ways_to_work_are_no_names():
    recognizer = load_recognizer("bundled")
    texts = [
        "He is a Master Black Belt in Six Sigma Lean Sensei and runs our Kaizen events.",
        "We bought Sigma Designs, Kanban Software and the Black Sea plant in Ohio.",
    ]
    first, second = recognizer(texts)
    assert first == [] and candidates_of(texts[:1], [first]) == [[]]
    assert [m.surface for m in second] == ["Sigma Designs", "Kanban Software", "Black Sea", "Ohio"]


def test_places_that_begin_a_sentence_are_whole():
    recognizer = load_recognizer("bundled")
    text = "We sold more. North America volumes grew. New York City reopened. New Ohio stores did."
    (found_,) = recognizer([text])
    places = [m.surface for m in found_ if m.category == "Location"]
    assert places == ["North America", "New York City", "Ohio"]


def test_feasts_in_small_letters_are_events():
    recognizer = load_recognizer("bundled")
    text = "In Chinese new year, lunar new year's eve, a new year, and German new years, we ran."
    sales = "Until cyber Monday we ran, on black Friday, and on a black Monday."
    first, second = (
        [m.surface for m in found_ if m.category == "Event"] for found_ in recognizer([text, sales])
    )
    assert first == ["Chinese new year", "lunar new year's eve"]
    assert second == ["cyber Monday", "black Friday"]


def test_organisations_that_begin_a_sentence_with_a_place_have_all_of_it():
    # "York Public Service Commission" went into other texts, and "New" was left of it
    recognizer = load_recognizer("bundled")
    texts = [
        "New York Public Service Commission hearings begin. South Carolina Power Authority agreed.",
        "New Acme Holdings stores opened. Central Banking Group plc grew.",
    ]
    first, second = ([m.surface for m in ms] for ms in recognizer(texts))
    assert first == ["New York Public Service Commission", "South Carolina Power Authority"]
    assert "New Acme Holdings" not in second


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("We built Ruta del Sol and more.", ["Ruta del Sol"]),
        ("Banco de la República was asked.", ["Banco de la República"]),
        ("We met Charles de Gaulle there.", ["Charles de Gaulle"]),
        ("The line of Tribeca House de facto ended.", ["Tribeca House"]),
        ("In Colombia de la same thing happened.", ["Colombia"]),
        ("The Ministry of Energy and Mines agreed.", ["Ministry of Energy and Mines"]),
        ("The Ministry of Energy and Acme agreed.", ["Ministry of Energy and Acme"]),
        ("The Ministry of Energy and FDA staff agreed.", ["Ministry of Energy", "FDA"]),
    ],
)
def test_a_name_goes_on_behind_its_particles_and_a_ministry_behind_an_and(text, names):
    (found_,) = load_recognizer("bundled")([text])
    assert [m.surface for m in found_] == names


def test_regulations_are_no_offices():
    recognizer = load_recognizer("bundled")
    (found_,) = recognizer(["It is a measure under SEC Regulation G and Rule 10b-5, as you know."])
    assert not [m.surface for m in found_ if "Regulation" in m.surface]


def test_a_currency_or_standard_names_no_place():
    recognizer = load_recognizer("bundled")
    texts = [
        "Figures are in U.S. dollars under US GAAP, at US dollar rates and U.S. Treasury yields.",
        "We grew in the US. Dollars were spent in the U.S. and in Canada.",
    ]
    none, some = recognizer(texts)
    assert none == []
    assert [m.surface for m in some if m.category == "Location"][-2:] == ["U.S.", "Canada"]


def test_a_price_of_oil_is_nobody():
    texts = [
        "Our price deck was set at $50 Brent and $2.50 Henry Hub. It is priced off Brent.",
        "Brent crude rose, and the Brent was up; Brent prices, WTI and TTF versus Brent fell.",
        "The result was RMB656 million, equivalent to U.S. $101 million, or the US $102 million.",
    ]
    assert load_recognizer("bundled")(texts) == [[], [], []]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("I will now turn it over to Brent Miller, our Chief Financial Officer.", "Brent Miller"),
        ("Since then, on May 4 Brent left us.", "Brent"),
        ("In 2020 Brent came back.", "Brent"),
        ("Revenue was $12 Brent added that it grew.", "Brent"),
        ("The question is from Henry Hub of Citi.", "Henry Hub"),
        ("The result was in the US $4 million, as in Canada.", "US"),
    ],
)
def test_who_is_called_like_a_price_is_somebody(text, name):
    (found_,) = load_recognizer("bundled")([text])
    assert name in [m.surface for m in found_]


def test_a_model_number_is_no_amount(rules):
    assert found(rules, "We fly the A320 now.") == {("A320", "PRODUCT")}


@pytest.mark.parametrize("drug", ["remdesivir", "pembrolizumab", "osimertinib", "atorvastatin"])
def test_drugs_are_known_by_their_stems(rules, drug):
    assert found(rules, f"Those on {drug} did well.") == {(drug, "PRODUCT")}


@pytest.mark.parametrize("word", ["reservoir", "peptide", "elimination", "accept", "container"])
def test_common_words_are_no_drugs(rules, word):
    assert found(rules, f"We spoke of the {word} then.") == set()


@pytest.mark.parametrize(
    "text",
    ["Our subsidiary, Zorbal, grew.", "We sold to Zorbal, which is a bank in the region."],
)
def test_what_a_sentence_calls_a_company_is_one(rules, text):
    assert ("Zorbal", "ORG") in found(rules, text)


def test_programmes_are_known_by_their_last_word(rules):
    assert ("Zorbal Forward Initiative", "PRODUCT") in found(
        rules, "We are pleased with the Zorbal Forward Initiative so far."
    )


def test_places_are_known_without_their_accents():
    places = build_lexicon([]).places
    assert {"Brasília", "Brasilia", "Cancún", "Cancun"} <= places


def strings(value):
    """All strings in a record, keys in order."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key in sorted(value):
            yield from strings(value[key])
    elif isinstance(value, list):
        for part in value:
            yield from strings(part)


def test_decisions_are_those_recorded():
    """Every mention in made texts of three kinds; recorded before the rules became a table.

    Since then two mentions went: "U.S." before "dollars"; later words that begin a sentence or line
    ("Inventors:", "Depicted in") and 23 figures and tables ("Figure 6"), and storms and a lane
    changed their kind. A hospital of children and women is whole.
    """
    texts = [
        text
        for made in (calls(12, 5), notes(40, 5), filings(20, 5))
        for record, _ in made
        for text in strings(record)
        if len(text) > 40
    ]
    digest, count = hashlib.sha256(), 0
    for mentions in load_recognizer("bundled")(texts):
        for m in mentions:
            digest.update(json.dumps([m.start, m.end, m.category, m.surface]).encode())
            count += 1
    assert (len(texts), count) == (259, 2449)
    assert digest.hexdigest().startswith("66fc4f88dab5aca7f80f8ec1889c202b")


def test_rules_and_evidence_have_names_of_their_own():
    for table in (RULES, EVIDENCE):
        assert len({row.name for row in table}) == len(table)
    assert {rule.label for rule in RULES} <= {None, *CLASSES}
    assert {evidence.label for evidence in EVIDENCE} <= set(CLASSES)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # a list comes before the frame of a person, the frame of a person before the last word
        ("I will hand over to Acme now.", {("Acme", "ORG")}),
        ("I will hand over to Zorbal Day now.", {("Zorbal Day", "PERSON")}),
        ("We met at Zorbal Day in spring.", {("Zorbal Day", "EVENT")}),
    ],
)
def test_the_first_rule_that_holds_decides(rules, text, expected):
    assert expected <= found(rules, text)


def kinds(text):
    return {(m.surface, m.category) for m in load_recognizer("bundled")([text])[0]}


def test_a_heading_in_capitals_is_no_name_but_for_the_name_in_it():
    assert kinds("NOTICE OF HEARING\nMINUTES OF THE MEETING\n\nWe met at noon.") == set()
    assert {surface for surface, _ in kinds("REGISTRY OF THE COURT AT PELDONBY\n\nOrder.")} == {
        "PELDONBY"
    }
    assert ("GRANITE PEAK BANK", "Organization") in kinds("LOAN FROM GRANITE PEAK BANK\n\nTerms.")


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("At 250 Livingstone Street we let two floors.", "250 Livingstone Street"),
        ("We bought 1010 Pacific street, and more.", "1010 Pacific street"),
        ("The property in 10 West 65th street was sold.", "10 West 65th street"),
        ("Our shop on Fifth Avenue did well.", "Fifth Avenue"),
        ("He lives alone at 105 Chapel Row; carers come.", "105 Chapel Row"),
        ("Copy to her at 57A Wood Street.", "57A Wood Street"),
        ("She moved to Flat 6, 81 Wood Street, in May.", "Flat 6, 81 Wood Street"),
        ("It stands at 7 Nelson Mandela Way today.", "7 Nelson Mandela Way"),
    ],
)
def test_an_address_is_one_place_with_the_number_of_the_house(text, place):
    assert (place, "Location") in kinds(text)


def test_some_names_have_the_word_city():
    found = kinds("We own houses in the New York city market, and in the Chicago city center.")
    assert {"New York city", "Chicago"} <= {surface for surface, _ in found}


def test_a_stop_without_its_space_ends_a_name():
    text = "It grew faster than at Corvex Holdings.As a reminder, we sold Tarvo Bank.Then we left."
    found = kinds(text)
    assert {"Corvex Holdings", "Tarvo Bank"} <= {surface for surface, _ in found}


def test_numbers_that_are_of_no_house_stay_out():
    for text in (
        "In 2020 Wall Street analysts asked.",
        "In 2020 Flatbush Gardens grew, and 3D Print Drive too.",
        "In 2019 Ocean Road opened.",
        "It is the third street that we sell, on $150 Main Street loans.",
    ):
        assert not [s for s, c in kinds(text) if c == "Location" and s[0].isdigit()], text


def test_a_lone_word_in_capitals_is_emphasis_only_where_it_is_usual():
    assert kinds("This is URGENT, and we NEVER got it.") == set()
    for text in (
        "Excluding GRAIL for a moment, we remain confident.",
        "We own 12% of GRAIL's equity.",
        "GRAIL is not replacing anything.",
        "We met the team of SHELL in spring.",
    ):
        assert {surface for surface, _ in kinds(text)} & {"GRAIL", "SHELL"}, text


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("It was heard by Judge Orla Brackenridge herself.", "Orla Brackenridge"),
        ("We asked Deputy Attorney General Rosa Quint about it.", "Rosa Quint"),
        ("The nurse was Sister Pemble.", "Pemble"),
        ("A letter came from H. J. Tolliver on the day.", "H. J. Tolliver"),
        ("Present were Mrs K. Vandermeer and others.", "K. Vandermeer"),
        ("She thanked Mr Abbot for it.", "Abbot"),
        ("Counsel was Ms Edwina Starkey QC, who agreed.", "Edwina Starkey"),
        # "Hall" is what institutions are called, too
        ("The minutes were read by Cllr Hall and signed.", "Hall"),
        ("In the chair was CLLR Tattersall for once.", "Tattersall"),
        ("We heard Cllr. T. Ackroyd on this.", "Ackroyd"),
    ],
)
def test_titles_stand_before_a_name_and_initials_are_part_of_it(text, name):
    assert kinds(text) == {(name, "Person")}


@pytest.mark.parametrize(
    "text",
    [
        "It was proposed by Cllr [Person 2], seconded by CLLR [Person 3].",
        "There: Cllr. [Person 2], Councillor [Person 3]; Cllrs [Person 4] and others.",
    ],
)
def test_a_councillor_without_a_name_is_none(text):
    assert kinds(text) == set()


def test_a_title_and_an_institution_named_before_are_no_names():
    text = "We wrote to the Commissioner, and the Council said that this Court has no jurisdiction."
    assert kinds(text) == set()
    # what goes on is a name of its own
    assert ("League", "Organization") in {
        (s.split()[0], c) for s, c in kinds("He joined the League of Norland Bakers in May.")
    }


@pytest.mark.parametrize(
    "text",
    [
        "Repainted twice, the door still sticks.",
        "Weevils are a pest. Barley grows here.",
        "The list:\nScrewdriver, two sizes.",
        "[3] Parcels go by rail.",
        'He read it out. "Locked again," he said.',
    ],
)
def test_a_word_that_begins_a_sentence_a_line_or_a_speech_is_no_name(text):
    assert kinds(text) == set()


def test_a_verb_in_the_past_is_not_glued_to_the_name_behind_it():
    assert "Microsoft" in {s for s, _ in kinds("Reinstalled Microsoft on Monday.")}
    assert "Engineered Products" in {s for s, _ in kinds("Engineered Products led the way.")}


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("He has a farm near Tollesbrook and keeps geese.", "Tollesbrook"),
        ("She moved to Wexlingham in May.", "Wexlingham"),
        ("The church at Nether Pridley is old.", "Nether Pridley"),
        ("They live off Foxglove Lane.", "Foxglove Lane"),
    ],
)
def test_places_are_known_by_where_they_stand(text, place):
    assert (place, "Location") in kinds(text)


def test_who_signs_a_letter_or_speaks_in_a_chat_is_a_person():
    letter = "Dear Ottoline,\n\nIt works again.\n\nMany regards,\nIngmar Vesslund"
    assert {("Ottoline", "Person"), ("Ingmar Vesslund", "Person")} <= kinds(letter)
    assert ("Brunhild", "Person") in kinds("Brunhild: Is it on?\nAgent: Yes.")
    assert ("Xaverina", "Person") in kinds("My niece Xaverina swears that it rang.")


def test_storms_are_events():
    assert kinds("Sales fell after Winter Storm Petra and Hurricane Odell.") == {
        ("Winter Storm Petra", "Event"),
        ("Hurricane Odell", "Event"),
    }


@pytest.mark.parametrize(
    "text",
    [
        "The Adjusted EBITDA and EBITAX were flat, EBDA was not.",
        "Welcome to our Second Quarter 2020 Earnings Conference Call and webcast.",
        "Welcome to our Third Quarter Results Conference Call.",
    ],
)
def test_measures_of_earnings_and_the_call_itself_are_no_names(text):
    recognizer = load_recognizer("bundled")
    (found_,) = recognizer([text])
    assert [m.surface for m in found_ if m.category != "Date"] == []


@pytest.mark.parametrize("name", ["Square", "Gap", "Netflix", "Air Medical Group"])
def test_who_stands_before_a_measure_of_earnings_is_a_name_all_the_same(name):
    recognizer = load_recognizer("bundled")
    (found_,) = recognizer([f"In the quarter {name} EBITDA rose, and EBITAX of ours fell a bit."])
    assert name in {m.surface for m in found_}
    assert not [m.surface for m in found_ if "EB" in m.surface]


def test_a_company_right_before_a_sum_is_one():
    recognizer = load_recognizer("bundled")
    (found_,) = recognizer(["They paid Uber$7 million, Volvo€3 million and EBATES a fee."])
    assert [m.surface[:4] for m in found_] == ["Uber", "Volv", "EBAT"]


def test_a_conference_with_a_name_is_an_event():
    recognizer = load_recognizer("bundled")
    (found_,) = recognizer(["We spoke at the Wedbush PacGrow Healthcare Conference in August."])
    assert ("Event", "Wedbush PacGrow Healthcare Conference") in {
        (m.category, m.surface) for m in found_
    }


def test_the_number_of_a_percentage_is_no_part_of_a_name():
    recognizer = load_recognizer("bundled")
    (found_,) = recognizer(["For Galleri, we predict a PPV 43 %, and iPhone 12 sales rose 5%."])
    surfaces = {m.surface for m in found_}
    assert "PPV 43" not in surfaces and "iPhone 12" in surfaces


def test_corona_is_an_event_where_it_is_no_beer(rules):
    assert found(rules, "Sites were closed due to the Corona crisis.") == {("Corona", "EVENT")}
    assert ("Corona", "EVENT") not in found(rules, "We sell Corona in bottles.")


def test_words_of_rulings_and_messages_are_no_names():
    recognizer = load_recognizer("bundled")
    for text, names in (
        ("The Tribunal: (i) DECLARES that Vesper owes it; (ii) REJECTS all else.", {"Vesper"}),
        ("Thats up in Leeds. Pls call the Claimant.", {"Leeds"}),
        ("We saw ORACLES in Boston. GRANTS Pass is near.", {"Boston"}),
    ):
        shown = {m.surface for m in recognizer([text])[0]}
        assert names <= shown
        wrong = {"Tribunal", "DECLARES", "REJECTS", "Thats", "Pls", "Claimant"}
        assert not shown & wrong
    # letters are no word of messages
    assert {m.surface for m in recognizer(["Use of IM grew, and IM's sales rose."])[0]} >= {"IM"}


def test_parties_and_parts_of_a_contract_are_no_names():
    recognizer = load_recognizer("bundled")
    deed = (
        "W I T N E S S E T H :\nRECITALS\nThe Borrower has asked the Lender to lend. Lessee pays "
        "what Licensor, the Obligors and Buyer ask, as listed in Schedule 2. S C H E D U L E 1\n"
    )
    assert recognizer([deed]) == [[]]
    assert candidates_of([deed], [[]]) == [[]]
    # who is called so, companies that begin with the word, and letters that are no word
    text = "Mr. Seller met Tenant Solutions Inc. and the Lender Group at A C M E Kilns."
    assert [m.surface for m in recognizer([text])[0]][:3] == [
        "Seller",
        "Tenant Solutions Inc.",
        "Lender Group",
    ]


def test_parts_of_a_proposal_and_who_reads_it_are_no_names():
    recognizer = load_recognizer("bundled")
    text = (
        "Aim 3 hinges on it. The logic from Aim 1 to Aim 2 holds; see Figure 2 and Table 1b. "
        "Deliverable D2.3 is fine, and Work package 2 leans on it, as WP1 and WP3 do. Referee 2 "
        "was kind, Reviewer 3 was not. The Referee's own work is cited. Neither Objective 1 nor "
        "Milestone 4 is clear."
    )
    (found,) = recognizer([text])
    assert found == []
    assert candidates_of([text], [[]]) == [[]]
    # what is longer is a name
    (held,) = candidates_of(["We met Milestone Kilns in Hull."], [[]])
    assert "Milestone Kilns" in {c.surface for c in held}


ADDRESSES = [
    "at 12 Elm Street", "at 12 Elm street", "at 3 Oak Avenue", "at 3 Oak avenue", "at 3 Oak Road",
    "at 3 Oak road", "at 9 Ash Boulevard", "at 9 Ash boulevard", "at 9 Ash Lane", "at 9 Ash lane",
    "at 1 Fir Drive", "at 1 Fir Place", "at 1 Fir Plaza", "at 1 Fir Square", "at 1 Fir Terrace",
    "at 1 Fir Parkway", "at 1 Fir Highway", "at 1 Fir Court", "at 1 Fir Crescent",
    "at 1 Fir Row", "at 1 Fir Close", "at 1 Fir Mews", "at 1 Fir Grove", "at 1 Fir Gardens",
    "at 1 Fir Walk", "at 1 Fir Way", "at 1B Fir Road", "at 7 Elm Circle", "at 7 Elm Quay",
    "on 65th street", "on Fifth Avenue", "10 West 65th Street",
]  # fmt: skip
POSITIONS = [
    "in 52°15.00'N 003°20.10'W now", "at 50° 42' 23\" N, 2° 38' 52\" W then", "near 52°N",
    "at N51 53.5 W001 26.3 then", "at N51.8912 W001.4412,", "at 5047N 00130W then",
    "at 504712N/0013012W.", "at 52.0039, -2.9431 the", "(-33.8688 151.2093)",
]  # fmt: skip
NO_POSITIONS = [
    "p-values of 0.0012, 0.0301", "rates of 1.1834, 1.3321 each", "it was 12°C. North of it",
    "12.5, 13.5", "Section N 12 and E 14", "for 12.3456% 13.4567%", "S 4 E 5", "4°C. Engineers",
]  # fmt: skip
OFFICES = [
    "the Bank of Elmland", "the Department of Elmland", "the Dept. of Elmland",
    "the Ministry of Elmland", "the University of Elmland", "the College of Elmland",
    "the Institute of Elmland", "the Bureau of Elmland", "the Board of Elmland",
    "the Chamber of Elmland", "the Academy of Elmland", "the Council of Elmland",
    "the Federation of Elmland", "the Association of Elmland", "the Society of Elmland",
    "the Oil and Gas Administration", "the Oil and Gas Commission", "the Oil and Gas Authority",
    "the Oil and Gas Agency", "the Oil and Gas Council", "the Oil and Gas Ministry",
    "the Oil and Gas Board", "the Oil and Gas Bureau", "the Oil and Gas Association",
    "the Oil and Gas Federation",
]  # fmt: skip
DRUGS = [
    "ouzaximab", "ouzaxitinib", "ouzaxiciclib", "ouzaxiparib", "ouzaxirafenib", "ouzaxizomib",
    "ouzaxidegib", "ouzaxivir", "ouzaxigliptin", "ouzaxigliflozin", "ouzaxiglutide",
    "ouzaxipatide", "ouzaxisartan", "ouzaxivastatin", "ouzaxiprazole", "ouzaxiconazole",
    "ouzaxitriptan", "ouzaxisetron", "ouzaxilukast", "ouzaxixaban", "ouzaxigatran",
    "ouzaxicillin", "ouzaximycin", "ouzaxifloxacin", "ouzaxiplatin", "ouzaxitaxel",
    "ouzaxirubicin", "ouzaxitrexate", "ouzaxiafil", "ouzaxibercept", "ouzaxitacept",
    "ouzaxilimus", "ouzaxinetant", "ouzaxileucel", "ouzaxidronate", "ouzaxioxetine",
    "ouzaxiazepam", "ouzaxiprofen",
]  # fmt: skip


@pytest.mark.parametrize(
    ("pattern", "needed", "texts"),
    [
        (rule_module._ADDRESS, rule_module._ADDRESS_WORDS, ADDRESSES),
        (rule_module._POSITION, ("",), POSITIONS),
        (rule_module._OFFICE, rule_module._OFFICE_WORDS, OFFICES),
        (rule_module._DRUG, rule_module._DRUG_STEMS, DRUGS),
        (rule_module._STORM, rule_module._STORM_WORDS, ["Storm Uri", "Hurricane Ida"]),
        (rule_module._COVID, rule_module._COVID_WORDS, ["COVID-19", "covid", "coronavirus"]),
    ],
)  # fmt: skip
def test_patterns_are_tried_where_they_match(pattern, needed, texts):
    for text in texts:
        assert rule_module._spans(pattern, needed, text) == [pattern.search(text).span()]
        assert rule_module._spans(pattern, needed, "Sales grew well.") == []


@pytest.mark.parametrize("text", POSITIONS)
def test_positions_on_earth_are_places(text):
    ((found, category),) = of_bundled(f"The tug was {text} and nothing was left of it.")
    # whole: half of it would tell nearly as much
    whole = rule_module._POSITION.search(text).group().lstrip("-")
    assert (whole, "Location") == (found.rstrip("."), category)


@pytest.mark.parametrize("text", NO_POSITIONS)
def test_numbers_that_are_no_positions(text):
    assert rule_module._POSITION.search(text) is None


def test_the_longest_of_some_names_is_found_where_no_word_goes_on():
    pattern = rule_module._any_of(["Coca-Cola", "Coca-Cola Zero", "3M-Co", "AT&T", ".net-Corp"])
    text = "Coca-Cola Zero, xCoca-Cola, Coca-Colas, 3M-Co AT&T .net-Corp"
    assert pattern.findall(text) == ["Coca-Cola Zero", "3M-Co", "AT&T", ".net-Corp"]


@pytest.mark.parametrize(
    "text",
    [
        "At 1942 UTC the crew shut down the engine, and at 1950 BST they left.",
        "It was late, 9 p.m. CET or 2100 hrs CEST.",
        "The icing began at 4°C. Engineers found it at -10 °C.",
    ],
)
def test_clocks_and_degrees_are_nobody(text):
    assert of_bundled(text) == [] == candidates_of([text], [[]])[0]


def test_a_clock_may_be_a_company():
    assert of_bundled("We met UTC and its people.") == [("UTC", "Organization")]


def of_bundled(text):
    (mentions,) = load_recognizer("bundled")([text])
    return [(m.surface, m.category) for m in mentions]


@pytest.mark.parametrize(
    "sentence",
    [
        "As {} said, no.",
        "I once adjourned against {} overnight.",
        "We play, and {} brings the clocks.",
    ],
)
def test_a_given_name_of_two_that_begins_with_a_month_is_a_person(sentence):
    name = "Jan-Krzysztof Duda"
    assert (name, "Person") in of_bundled(sentence.format(name))


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("April Fernandes said no.", "April Fernandes"),
        ("I spoke to April Fernandes about it.", "April Fernandes"),
        ("June Whitfield was there.", "June Whitfield"),
        ("A report by June Whitfield, who left.", "June Whitfield"),
        ("We asked Jan Timman.", "Jan Timman"),
        ("Prime minister Theresa May said so.", "Theresa May"),
        ("Will Grant said so.", "Will Grant"),
        ("We asked Will Grant about it.", "Will Grant"),
        ("As Will Grant of our office put it, no.", "Will Grant"),
        ("A combine that Rose Meadows already owns.", "Rose Meadows"),
        ("By Grace Hope\n\nForgive, they say.", "Grace Hope"),
        ("Mark Hughes came in.", "Mark Hughes"),
        ("Bill Wagner, our chief executive officer", "Bill Wagner"),
        ("Dean Acheson said it.", "Dean Acheson"),
    ],
)
def test_first_names_that_are_words_too_belong_to_people(text, name):
    assert of_bundled(text) == [(name, "Person")]


@pytest.mark.parametrize(
    ("text", "no_name"),
    [
        ("In March Cepheid launched it.", "March Cepheid"),
        ("Last April Novartis bought it.", "April Novartis"),
        ("It grew until June Novartis left.", "June Novartis"),
        ("From April Novartis sold it.", "April Novartis"),
        ("Will Grant approve it?", "Will Grant"),
        ("May Tesla sell it?", "May Tesla"),
        ("See also [Will Grant be the best]", "Will Grant"),
        ("How Will Grant Pay", "Will Grant"),
        ("Hope Peter is well.", "Hope Peter"),
        ("We told John March 3.", "John March"),
        ("She asked Theresa May 6 times.", "Theresa May"),
    ],
)
def test_months_modals_and_verbs_before_a_name_are_none_of_it(text, no_name):
    assert not any(surface.startswith(no_name) for surface, _ in of_bundled(text))


def test_a_question_about_somebody_named_inside_a_sentence_names_them():
    found_ = of_bundled("We asked Will Grant. Will Grant approve it?")
    assert found_ == [("Will Grant", "Person")] * 2


@pytest.mark.parametrize(
    ("text", "name", "category"),
    [
        ("FIDE fined Magnus Carlsen 32 euros for it.", "Magnus Carlsen", "Person"),
        ("We saw Boris Spassky 23's game.", "Boris Spassky", "Person"),
        ("Thanks, John Smith 5.", "John Smith", "Person"),
        ("Magnus Carlsen 32 games later", "Magnus Carlsen", "Person"),
        ("He gave Wilson 9,999 reasons.", "Wilson", "Person"),
        ("It left Toulouse 24 minutes late.", "Toulouse", "Location"),
        (
            "It pushed back at Jomo Kenyatta International 9,443 minutes late.",
            "Jomo Kenyatta International",
            "Organization",
        ),
    ],
)
def test_a_name_has_no_figure_that_counts(text, name, category):
    assert (name, category) in of_bundled(text)


@pytest.mark.parametrize(
    "name",
    ["Boeing 737", "TSO 500", "Model 3", "Forever 21", "Studio 54", "Pope John Paul II"],
)
@pytest.mark.parametrize("sentence", ["We saw the {} in Ohio.", "We sold {} tests in Ohio."])
def test_a_name_keeps_the_figure_that_is_part_of_it(name, sentence):
    assert name in dict(of_bundled(sentence.format(name)))


@pytest.mark.parametrize(
    ("text", "name", "category"),
    [
        ("I slept in Wijk aan Zee and lost.", "Wijk aan Zee", "Location"),
        ("He lives in Bergen op Zoom.", "Bergen op Zoom", "Location"),
        ("She is from Frankfurt an der Oder.", "Frankfurt an der Oder", "Location"),
        ("We sold Frankfurt am Main last.", "Frankfurt am Main", "Location"),
        ("A plant in Burton upon Trent.", "Burton upon Trent", "Location"),
        ("We met Walter der Vogel.", "Walter der Vogel", "Person"),
        ("I asked Jan Pieter den Hartog.", "Jan Pieter den Hartog", "Person"),
        ("At the Women's Institute we met.", "Women's Institute", "Organization"),
        ("It lost its tenor to the Mothers’ Union.", "Mothers’ Union", "Organization"),
        (
            "At Ely Children's and Women's Hospital",
            "Ely Children's and Women's Hospital",
            "Organization",
        ),
        ("Boston Children's Hospital buys it.", "Boston Children's Hospital", "Organization"),
        ("He works for Movistar Plus Inc now.", "Movistar Plus Inc", "Organization"),
    ],
)
def test_a_name_is_whole_with_its_small_words_and_owners(text, name, category):
    assert (name, category) in of_bundled(text)


@pytest.mark.parametrize(
    ("text", "no_name"),
    [
        ("I am Peter.", "am"),
        ("The Borrower upon Completion pays Acme upon Closing.", "upon"),
        ("Roche is an Orion company.", " an "),
        ("We met Pfizer. Plus Novartis came.", "Plus"),
    ],
)
def test_english_words_are_no_small_words_of_names(text, no_name):
    assert not any(no_name in surface for surface, _ in of_bundled(text))


@pytest.mark.parametrize("text", ["Mark de MD said so.", "Rose de PhD was here.", "Hope der MBA."])
def test_a_given_name_before_nothing_but_a_particle_is_no_fault(text):
    # by the lists of the bundled recogniser: what is behind a name's end is cut off there
    (mentions,) = load_recognizer("bundled")([text])
    assert all(text[m.start : m.end] == m.surface for m in mentions)


@pytest.mark.parametrize(
    "text",
    [
        "LIQUIDITY AND CAPITAL RESOURCES\n\nCash provided by operations rose.",
        "[Company Name] LIQUIDITY AND CAPITAL RESOURCES (continued)\n\nCash rose.",
        "Sales rose.\n\nLiquidity and Capital Resources\n\nTotal debt fell.",
        "Sales rose.\n\nRESULTS OF OPERATIONS\n\nTotal debt fell.",
        "WHAT WE MAKE",
        "It grew.\n\nHOW WE DID\n\nSales rose.",
        "It grew.\n\nOur Quarter\n\nA strike closed the plant.",
        "It grew.\n\nCritical Accounting Estimates\n\nWe estimate useful lives.",
        'The terms "[Company Name]" and "the Registrant" mean the same.',
        "(2) Unaudited. Reviewed by us.",
        "Dear Fellow [Company Name] Shareholders,\n\nDear Owners of [Company Name]:",
    ],
)
def test_words_of_headings_and_of_reports_are_no_names(text):
    assert not of_bundled(text)
    (mentions,) = load_recognizer("bundled")([text])
    assert not candidates_of([text], [mentions])[0]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("FIRST COASTAL BANK\n\nIt lends to farms.", "COASTAL BANK"),
        ("GLENROCK RESOURCES\n\nIt digs for zinc.", "GLENROCK RESOURCES"),
        ("TRUE COPPER RESOURCES\n\nWe met True Copper Resources.", "COPPER RESOURCES"),
        ("It grew.\n\nFirst Coastal Bank\n\nIt lends to farms.", "First Coastal Bank"),
        ("By Grace Hope\n\nGrace is what is left.", "Grace Hope"),
    ],
)
def test_companies_and_people_in_headings_are_names(text, name):
    (mentions,) = load_recognizer("bundled")([text])
    swept = candidates_of([text], [mentions])[0]
    assert name in {m.surface for m in mentions} | {c.surface for c in swept}


@pytest.mark.parametrize(
    ("text", "name"),
    [
        # "First [Organization]" would tell the name, and "Fifth Third" is all of it
        ("The cash is held mainly with First Republic Bank and others.", "First Republic Bank"),
        ("Fifth Third Bancorp is a lender.", "Fifth Third Bancorp"),
        ("Notes are held by First Citizens BancShares, Inc.", "First Citizens BancShares, Inc."),
        ("The peer is Third Point LLC.", "Third Point LLC"),
        # who counts where a sentence begins names nobody
        ("First Pinecrest Outfitters LLC grew.", "Pinecrest Outfitters LLC"),
    ],
)
def test_the_numbers_with_which_a_name_begins_are_of_it(text, name):
    (mentions,) = load_recognizer("bundled")([text])
    assert [m.surface for m in mentions] == [name]


def test_a_name_of_the_text_is_one_in_its_headings():
    text = "ORCHARD LANE SHAREHOLDER LETTER\n\nWe thank Orchard Lane for its orders."
    (mentions,) = load_recognizer("bundled")([text])
    swept = candidates_of([text], [mentions])[0]
    assert "ORCHARD LANE" in {m.surface for m in mentions} | {c.surface for c in swept}


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (
            "Free cash flow at Pinecrest Outfitters, LLC\n- More to come.",
            "Pinecrest Outfitters, LLC",
        ),
        ("It was paid (by Pinecrest Outfitters, LLC).", "Pinecrest Outfitters, LLC"),
        ("We saw Pinecrest Outfitters LLC's plans.", "Pinecrest Outfitters LLC"),
        ("Deposits at Inverness Bank, N.A. grew.", "Inverness Bank, N.A."),
        (
            "Lent by Inverness Bank, National Association now.",
            "Inverness Bank, National Association",
        ),
        ("Halvorsen Terminals, L.P. guarantees it.", "Halvorsen Terminals, L.P."),
        ("Marlowe Devices Sdn. Bhd. taped it out.", "Marlowe Devices Sdn. Bhd."),
        ("Tidewater Holdings Co. KG and others.", "Tidewater Holdings Co. KG"),
    ],
)
def test_a_company_is_whole_with_its_legal_form(text, name):
    (mentions,) = load_recognizer("bundled")([text])
    assert [(m.surface, m.category) for m in mentions] == [(name, "Organization")]


@pytest.mark.parametrize("form", ["N.A.", "Bhd", "LLC", "Sdn. Bhd."])
def test_a_legal_form_alone_and_what_announces_a_number_are_no_names(rules, form):
    for text in (f"They own {form} of it.", "They know its (CUSIP [Security Number]) too."):
        mentions = load_recognizer("bundled")([text])
        assert mentions == [[]] and candidates_of([text], mentions) == [[]]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("As Desmond A. Price used to say, it grew.", "Desmond A. Price"),
        ("We met Helen B. Stone's team.", "Helen B. Stone"),
        ("Franklin J. Power, our CFO, left.", "Franklin J. Power"),
    ],
)
def test_a_surname_behind_an_initial_may_be_any_word(text, name):
    (mentions,) = load_recognizer("bundled")([text])
    assert [(m.surface, m.category) for m in mentions] == [(name, "Person")]


def test_no_name_goes_on_behind_an_initial_into_a_firm_or_sentence():
    text = "Desmond A. Price & Co. was bought. We thanked Helen B. The plant grew."
    (mentions,) = load_recognizer("bundled")([text])
    assert not {"Desmond A. Price", "Helen B. The"} & {m.surface for m in mentions}


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("It was filed in the Southern District of New York.", "Southern District of New York"),
        ("A contract with U.S. Department of Defense ended.", "U.S. Department of Defense"),
    ],
)
def test_a_body_has_its_district_and_its_country(text, name):
    (mentions,) = load_recognizer("bundled")([text])
    assert [(m.surface, m.category) for m in mentions] == [(name, "Organization")]


def test_a_year_of_two_digits_has_its_apostrophe_over_a_space():
    # "24" alone says no year to who shifts it: "' [Date]" stood in a release
    (found_,) = load_recognizer("bundled")(["It moves from ' 20 to ' 22, and 24 more."])
    assert [m.surface for m in found_] == ["' 20", "' 22"]
