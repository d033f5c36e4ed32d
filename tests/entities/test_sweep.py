"""The sweep for residual names: kernel, then stages."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from nes_spark.config import EntitiesConfig
from nes_spark.entities.general_english import general_english
from nes_spark.entities.linking import Located
from nes_spark.entities.mentions import Mention, placeholder_spans
from nes_spark.entities.sweep import (
    NAME,
    REASONS,
    candidates_of,
    categories_by_form,
    entities_by_form,
    name_entities,
    named_elsewhere,
    settle,
    strongest,
)
from nes_spark.schemas import MENTIONS, SWEPT


def mention(text, surface, category="Organization", entity=""):
    start = text.index(surface)
    return Mention(start, start + len(surface), category, surface, entity or surface)


def found(*texts, mentions=None, always=()):
    """(surface, reason) of all candidates of a document."""
    mentions = mentions or [[] for _ in texts]
    return [
        (c.surface, c.reason) for chunk in candidates_of(texts, mentions, always) for c in chunk
    ]


@pytest.mark.parametrize(
    ("text", "surface", "reason"),
    [
        ("Patients on reproxalap did better.", "reproxalap", "rare"),
        ("We opened two buybuy stores.", "buybuy", "rare"),
        ("Traffic of ifeng rose.", "ifeng", "rare"),
        ("We sell the 3VR to banks.", "3VR", "digits"),
        ("It has a 35 year 421-a tax abatement.", "421-a", "digits"),
        ("It has a J-51 exemption.", "J-51", "digits"),
        ("Those receiving 421 G tax benefits stay.", "421 G", "digits"),
        ("It fell as the 737-Max did.", "737-Max", "digits"),
        ("It was built on GPT-4 alone.", "GPT-4", "digits"),
        ("We ship to Flatbush weekly.", "Flatbush", "capital"),
        ("Flatbush was sold.", "Flatbush", "capital"),
        ("They moved to Flatbush Gardens later.", "Flatbush Gardens", "capital"),
        ("Sales in our Colombian stores fell.", "Colombian", "capital"),
        ("The team flew a King Air there.", "King Air", "phrase"),
        ("King Air flew there.", "King Air", "phrase"),
        ("Our bond Long Point Re III is placed.", "Long Point", "phrase"),
        ("We built the Six Oaks mall.", "Six Oaks", "phrase"),
        ("We built Zyxwvo del Qopqo there.", "Zyxwvo del Qopqo", "capital"),
        ("We built Zyxwvo de la Qopqo there.", "Zyxwvo de la Qopqo", "capital"),
        ("A guest of Travelers asked.", "Travelers", "word"),
        ("The eBid platform grew.", "eBid", "mixed"),
        ("The PVRL trial goes on.", "PVRL", "capitals"),
        ("I turn the call over to Ivk.", "Ivk", "capital"),
        (
            "The securities and exchange  commission.",
            "securities and exchange  commission",
            "listed",
        ),
        ("We entered the French market.", "French", "capital"),
        ("The Office of Public Counsel wrote.", "Office of Public Counsel", "phrase"),
        ("They fly 737s and more.", "737s", "digits"),
        ("Customers like ifeng.com best.", "ifeng.com", "rare"),
        ("We raised prices.Flatbush did too.", "Flatbush", "capital"),
    ],
)
def test_what_looks_like_a_name(text, surface, reason):
    assert found(text) == [(surface, reason)]


@pytest.mark.parametrize(
    "text",
    [
        "We sell mattress fabrics, RFID tags and cement, cybersecurity and telematics.",
        "I'll say it's our 10-K, Form 8-K, GAAP EPS, EBTIDA, EBITDA, SG&A and R&D, don't you?",
        "The book stood at INR 50,478 crores and Rp5 trillion, some lakhs more.",
        "Welcome to our Business Update Conference and to the Second Quarter Earnings Call.",
        "The CEO and Chief Financial Officer spoke to the Board. Our Senior Vice President left.",
        "It cost CHF26 or US$5.2 million, 30bps, 10x, 5G, the 3rd, 1990s, 24/7, 2,000 and 12mm.",
        "Its EIN, LEI and VIN; the IBAN and BACS are on file, and so is the EAN.",
        "A fee of 4½% a year, 3½ miles and ¾ of 12¾ acres.",
        "In Q3, 1H20, FY2021, Q1'20, 2Q and H2 we repaid 50 MW and 300kV. On Monday in May.",
        "The COVID-19-related re-openings, long-term and cross-border run-rates, IT-centric.",
        "Reorganised colours, decarbonization, roadmaps, longterm cashflows, seafreight, repriced.",
        "Uh, we had a stru- structure, <inaudible> and <crosstalk> and transa transaction costs.",
        "[Executive 1] of [Company Name] wrote to [Email] in the U.S.-based S-4, Phase III.",
        "The 100-m race, a 200-k loan, a 401-k plan, a 401 K tax, a 120-v line and a 30-y lease.",
        "Mail a.zyxw@zyxw.example or see www.zyxwv.example for more.",
        "However, Thank You all. Yes. Didn't fall. And That is What We Do. So it Won’t.",
        "The Head of Investor Relations and the Board of Directors met.",
        "Long Points are for you; we had a Full Year and One For all, and Two Directors.",
    ],
)
def test_what_is_no_name(text):
    assert found(text) == []


def test_a_word_in_capitals_is_swept_unless_it_is_emphasis():
    assert found("We NEVER got GRAIL's figures, and this is URGENT.") == [("GRAIL", "word")]
    assert found("Results of the Phase III URGENT chamber trial come.") == [("URGENT", "word")]
    assert found("Results of the INVIGORATE trial come.") == [("INVIGORATE", "word")]
    assert found("This is URGENT. The trial goes on.") == []


def test_time_zones_are_no_names():
    assert found(
        "It airs from 8:00 PM to 11:00 PM EET and at 9 a.m. CET, and the XET plant opens."
    ) == [("XET", "capitals")]


def test_what_the_recogniser_found_is_never_found_again():
    text = "Flatbush and reproxalap met Zagg."
    mentions = [mention(text, "Flatbush"), mention(text, "Zagg")]
    assert found(text, mentions=[mentions]) == [("reproxalap", "rare")]


def test_a_name_somewhere_is_a_name_everywhere_in_the_document():
    first, second = "We bought Mophie and Sprouts.", "Sprouts grew, and so did mophie."
    mentions = [[mention(first, "Mophie"), mention(first, "Sprouts")], []]
    assert found(first, second, mentions=mentions) == [("Sprouts", "known"), ("mophie", "known")]
    # another document knows nothing of it
    assert found(second) == [("mophie", "rare")]


def test_the_initials_of_a_name_are_one_whatever_else_they_stand_for():
    whole = "We own a third of Mountain Valley Pipeline, LLC and Acme Energy."
    text = "MVP's permits came, the MVP's and MVPs', but an MVP-like, AE or CEO is another thing."
    mentions = [
        [mention(whole, "Mountain Valley Pipeline, LLC"), mention(whole, "Acme Energy")],
        [],
    ]
    assert found(whole, text, mentions=mentions) == [("MVP", "known")] * 2
    # elsewhere it is the smallest product that works
    assert found(text) == []
    for name, letters in (("Central European Operations", "CEO"), ("Louisiana Natural Gas", "LNG")):
        first, second = f"The {name} grew.", f"Our {letters} said so."
        assert found(first, second, mentions=[[mention(first, name)], []]) == []


def test_a_general_word_before_a_mention_is_part_of_it():
    text = "King Air 360 flew."
    assert found(text, mentions=[[mention(text, "Air 360", "Product")]]) == [("King", "word")]
    usual = "The king came."
    assert found(text, usual, mentions=[[mention(text, "Air 360", "Product")], []]) == []


def test_places_and_authorities_are_names_although_common():
    assert found("US sales, SEC filings and our UK stores.") == [
        ("US", "capital"),
        ("SEC", "capital"),
        ("UK", "capital"),
    ]


def test_a_word_of_geography_alone_is_no_name():
    text = "In the North, Northern stores and the Gulf sold; the Gulf Coast did not."
    assert [surface for surface, _ in found(text)] == ["Gulf Coast"]


def test_names_of_peoples_are_left_to_the_terms_where_there_are_any():
    text = "Our European and North American sales, and the European Union's, met Mexicans."
    surfaces = [c.surface for c in candidates_of([text], [[]])[0]]
    assert {"European", "North American", "Mexicans"} < set(surfaces)
    left = [c.surface for c in candidates_of([text], [[]], peoples=False)[0]]
    assert left == [s for s in surfaces if "Union" in s] and set(left) < set(surfaces)


@pytest.mark.parametrize(
    "text, names",
    [
        # words that many documents have and settling would let go: half of a family stayed
        ("He spoke of his nan Beryl. A card from Beryl came.", ["Beryl", "Beryl"]),
        ("We saw his uncle Will and her sister May. They will go.", ["Will", "May"]),
        ("[Child 1]'s grandmother, Patience, has great patience.", ["Patience"]),
        ("told my mum But then our sister Company grew", []),
    ],
)
def test_who_is_named_behind_a_word_for_family_is_known(text, names):
    known = [surface for surface, reason in found(text) if reason == "known"]
    assert known == names


def test_parts_of_a_persons_name_are_known():
    text = "We thank Zora Baker. Baker left."
    named = [mention(text, "Zora Baker", "Person")]
    assert found(text, mentions=[named]) == [("Baker", "known")]


def test_a_word_that_the_document_writes_in_lower_case_is_none():
    assert found("Our Harvest segment grew.") == [("Harvest", "word")]
    assert found("Our Harvest segment grew.", "The harvest was good.") == []


def test_an_abbreviation_of_ordinary_words_is_none():
    text = "The surcharge on grid wiring, or SGW, rose. Later the SGW fell."
    assert found(text) == []
    assert found("The SGW rose.") == [("SGW", "capitals")]
    assert found("The SGW of the State Gas Works rose.")[0] == ("SGW", "capitals")


def test_a_name_ends_before_particles_that_lead_to_no_other():
    assert found("We built Zyxwvo de facto there.")[0] == ("Zyxwvo", "capital")


def test_longer_names_hold_shorter_ones():
    text = "We wrote to the Office of Public Counsel Zyxwvut."
    assert found(text) == [("Office of Public Counsel Zyxwvut", "capital")]
    name = "Harvest Zyx grew. The harvest came. We sold Harvest Zyx."
    assert [surface for surface, _ in found(name)] == ["Harvest Zyx", "Harvest Zyx"]


def test_the_first_word_of_a_sentence_needs_evidence():
    assert found("Harvest was good.") == []
    assert found("Harvest was good.", "We sold Harvest.") == [("Harvest", "word")] * 2


def test_titles_are_cut_off_a_name():
    assert found("We welcome Director Zyxwvut there.") == [("Director Zyxwvut", "capital")]
    assert found("The EBITDA of Zyxwvut EPS fell.") == [("Zyxwvut", "capital")]


def test_forms_that_are_always_names():
    text = "The innate cell works. Innate  Cell [innate cell] too."
    assert found(text, always=["innate cell"]) == [
        ("innate cell", "listed"),
        ("Innate  Cell", "listed"),
    ]


def test_spelling_variants_share_a_form():
    candidates = candidates_of(["We like Zyxwvut's shoes, the zyxwvut and ZYXWVUT."], [[]])[0]
    assert [c.surface for c in candidates] == ["Zyxwvut", "zyxwvut", "ZYXWVUT"]
    assert {c.form for c in candidates} == {"zyxwvut"}


def test_dictionary_words_names_and_compounds():
    english = general_english()
    assert all(map(english.word, ["table", "tables", "Table", "colour", "re-opened", "don't"]))
    assert not any(map(english.word, ["bloomberg", "paris", "mophie", "tallgrass"]))
    assert english.derived("tallgrass") and not english.derived("buybuy")
    assert english.quantity("2x") and not english.quantity("3VR")
    # the codes of trains, with the letter of some unit inside: no amount goes on behind it
    assert not any(map(english.quantity, ["1A53", "9K41", "2M62", "6B07"]))
    assert all(map(english.quantity, ["4Q20", "9M20", "1H21", "20k", "10bn", "1E6", "5m20"]))


WORDS = (
    "Flatbush reproxalap the The and 3VR <inaudible> King Air . , ? iPhone table U.S. CHF26 Zyx's "
    "stru- É ſ 🙂 “Quote” GPT-4 I'll a.b.c EBITDA - & Q&A [ Net Income Office of Public Counsel "
    "federal reserve Union king air LTI low tax US $5"
)
pieces = st.sampled_from([*WORDS.split(), "[Company Name]", "\n"])
documents = st.lists(st.lists(pieces, max_size=25).map(" ".join), min_size=1, max_size=4)


@settings(max_examples=150, deadline=None)
@given(documents, st.randoms(use_true_random=False))
def test_candidates_are_slices_that_touch_nothing(texts, random):
    mentions = []
    for text in texts:
        starts = [i for i in range(len(text)) if text.startswith("Flatbush", i)]
        mentions.append([Mention(i, i + 8, "Location", "Flatbush") for i in starts])
    chunks = candidates_of(texts, mentions)
    for text, known, candidates in zip(texts, mentions, chunks, strict=True):
        end = 0
        taken = [(m.start, m.end) for m in known] + placeholder_spans(text)
        for c in candidates:
            assert text[c.start : c.end] == c.surface and c.form and c.reason in REASONS
            assert c.start >= end
            assert not any(s < c.end and c.start < e for s, e in taken)
            end = c.end
    order = list(range(len(texts)))
    random.shuffle(order)
    again = candidates_of([texts[i] for i in order], [mentions[i] for i in order])
    assert again == [chunks[i] for i in order]


def test_settle_by_documents():
    decided = settle(
        ["a", "b", "c", "d", "e", "f", "g"],
        ["rare", "rare", "capitals", "capitals", "capital", "known", "word"],
        [1, 2, 4, 5, 40, 40, 1],
        total=40,
        share=0.1,
        never=["The G"],
    )
    assert decided.tolist() == [True, False, True, False, True, True, False]
    assert settle([], [], [], 3, 0.1).shape == (0,)
    # one document is never too many
    assert settle(["a"], ["digits"], [1], 3, 0.0).all()


@given(
    st.lists(st.tuples(st.sampled_from(REASONS), st.integers(1, 50)), min_size=1),
    st.floats(0, 1),
    st.floats(0, 1),
)
def test_a_larger_share_sweeps_more(rows, one, other):
    reasons, counts = zip(*rows, strict=True)
    forms = [str(i) for i in range(len(rows))]
    low = settle(forms, reasons, counts, 50, min(one, other))
    high = settle(forms, reasons, counts, 50, max(one, other))
    assert not np.any(low & ~high)


def test_settle_refuses_what_cannot_be():
    with pytest.raises(ValueError, match="share is 2"):
        settle(["a"], ["rare"], [1], 3, 2)
    with pytest.raises(ValueError, match="used by 4 to 4 of 3"):
        settle(["a"], ["rare"], [4], 3, 0.1)


def test_strongest_reason():
    assert strongest(["rare", "known", "word"]) == "known"


def test_entities_of_swept_names():
    text = "Zagg Inc. sold Mophie in May."
    mentions = [
        mention(text, "Mophie", "Product", "Mophie"),
        mention(text, "May", "Date"),
        mention(text, "Zagg Inc.", entity="Zagg"),
    ]
    known = entities_by_form(mentions)
    assert known == {"mophie": "Mophie", "zagg inc": "Zagg"}
    spans = [(0, 6, "mophie"), (9, 15, "Zyxwvut"), (20, 29, "zyxwvut's"), (30, 37, "Zyxwvut")]
    located = [Located("c", Mention(s, e, NAME, surface)) for s, e, surface in spans]
    assert name_entities(located, ["Mophie", "", "", ""]) == ["Mophie"] + ["Zyxwvut"] * 3


def test_a_form_is_not_always_and_never_a_name():
    with pytest.raises(ValidationError, match="both name Acme"):
        EntitiesConfig(sweep_always=["Acme"], sweep_never=["acme "])


# --- Spark

DOCUMENTS = {
    "a": ["We sell mophie cases and 3VR.", "The seasonalization of GPT-4 is new.", ""],
    "b": ["We like GPT-4 and the seasonalization of Zyxwvut.", "zyxwvut and Flatbush grew."],
    "c": ["Flatbush uses GPT-4.", "[Company Name] met Flatbush. The innate cell works."],
    "d": ["GPT-4, they say.", "Nothing of note."],
}


def rows(frame):
    return sorted(tuple(row) for row in frame.collect())


@pytest.fixture(scope="module")
def chunks(spark):
    table = [
        (f"{d}#{i:05d}", d, f"secret-{d}", text)
        for d, texts in DOCUMENTS.items()
        for i, text in enumerate(texts)
    ]
    return spark.createDataFrame(
        table, "chunk_id string, document_id string, metadata string, text string"
    )


@pytest.fixture(scope="module")
def mentions(spark):
    start = DOCUMENTS["c"][1].index("Flatbush")
    row = ("c#00001", "Location", "Flatbush", "Flatbush, NY", start, start + 8)
    return spark.createDataFrame([row], MENTIONS.ddl)


def swept(chunks, mentions, **content):
    from nes_spark.entities.sweep_stages import sweep

    return sweep(chunks, mentions, EntitiesConfig(**content))


def test_stage_gives_mentions_and_the_list(chunks, mentions):
    result = swept(chunks, mentions, sweep_share=0.5)
    assert result.mentions.columns == MENTIONS.names
    assert result.swept.columns == SWEPT.names
    forms = {row.form: row for row in result.swept.collect()}
    assert {form for form, row in forms.items() if row.treated} == {
        "mophie",
        "3vr",
        "zyxwvut",
        "flatbush",
    }
    assert forms["gpt-4"].documents == forms["gpt-4"].occurrences == 4
    # a name that begins a sentence and is a mention elsewhere in the document
    assert forms["flatbush"].documents == 2 and forms["flatbush"].reason == "capital"
    texts = {row.chunk_id: row.text for row in chunks.collect()}
    found = result.mentions.collect()
    # of the same kind where the recogniser found the name elsewhere in the document
    assert {row.surface: row.category for row in found}["Flatbush"] == "Location"
    assert {row.category for row in found if row.surface != "Flatbush"} == {NAME}
    assert all(texts[row.chunk_id][row.start : row.end] == row.surface for row in found)
    entities = {(row.chunk_id, row.surface): row.entity for row in found}
    assert entities["c#00000", "Flatbush"] == "Flatbush, NY"
    assert entities["b#00001", "Flatbush"] == "Flatbush"
    assert entities["b#00001", "zyxwvut"] == entities["b#00000", "Zyxwvut"] == "Zyxwvut"
    assert len(found) == sum(row.occurrences for row in forms.values() if row.treated)


@pytest.fixture(scope="module")
def on_one(chunks, mentions):
    """What the stage gives on one partition."""
    one = swept(chunks.coalesce(1), mentions)
    return rows(one.mentions), rows(one.swept)


@pytest.mark.parametrize("partitions", [pytest.param(2, marks=pytest.mark.slow), 7])
def test_stage_is_the_same_on_any_number_of_partitions(chunks, mentions, on_one, partitions):
    many = swept(chunks.repartition(partitions), mentions.repartition(partitions))
    assert (rows(many.mentions), rows(many.swept)) == on_one


def test_a_person_decides(chunks, mentions):
    result = swept(
        chunks, mentions, sweep_never=["Mophie"], sweep_always=["innate cell"], sweep_share=1.0
    )
    treated = {row.form: row.treated for row in result.swept.collect()}
    assert treated["mophie"] is False and treated["innate cell"] and treated["gpt-4"]
    assert {"mophie"}.isdisjoint(row.surface for row in result.mentions.collect())


def test_what_is_denied_as_a_name_is_not_swept_as_one(chunks, mentions, on_one):
    form, told = "mophie", [dict(zip(SWEPT.names, row, strict=True)) for row in on_one[1]]
    assert form in {row["form"] for row in told if row["treated"]}
    denied = swept(chunks, mentions, deny={"Organization": ["The Mophie"]})
    assert {row.form: row.treated for row in denied.swept.collect()}[form] is False


def test_currencies_and_standards_are_left_alone():
    texts = [
        "All in U.S. dollars and US GAAP, at US dollar rates, $50 Brent and $2.50 Henry Hub.",
        "We sell in the US now.",
        "We thank Brent for it, and the Brent family.",
        "We paid XELTRUS $40 million.",
    ]
    found = candidates_of(texts, [[], [], [], []])
    surfaces = [[c.surface for c in chunk] for chunk in found]
    assert surfaces == [[], ["US"], ["Brent", "Brent"], ["XELTRUS"]]


def test_a_swept_name_has_the_kind_that_it_has_elsewhere_in_the_document():
    mentions = [
        Mention(0, 12, "Person", "Ada Thrussell"),
        Mention(20, 26, "Location", "Norvik"),
        Mention(30, 36, "Location", "Norvik"),
        Mention(40, 46, "Organization", "Norvik"),
        Mention(50, 54, "Date", "June"),
    ]
    assert categories_by_form(mentions) == {
        "ada thrussell": "Person", "ada": "Person", "thrussell": "Person", "norvik": "Location",
    }  # fmt: skip


def test_words_put_together_and_british_ones_are_general():
    english = general_english()
    assert all(map(english.derived, ["shoebox", "fishmen", "cheques", "kerb", "sawn"]))
    assert not any(map(english.derived, ["reproxalap", "zyxwvut"]))


def test_words_of_a_heading_are_not_swept():
    text = "SCHEDULE OF REPAIRS\n\nThe works at Zuthwick began."
    assert [c.surface for c in candidates_of([text], [[]])[0]] == ["Zuthwick"]


def test_a_name_of_the_document_is_one_in_its_headings_too():
    subject = "RE: PUMP NOT WORKING IN HULL, GRANT PLEASE HELP ME"
    letter = "I live near Mount Hope in Hull. Grant Whitcombe sold me the pump. I grant you that."
    known = [
        [],
        [
            mention(letter, "Mount Hope", "Location"),
            mention(letter, "Hull", "Location"),
            mention(letter, "Grant Whitcombe", "Person"),
        ],
    ]
    # "grant" is written in lower case too, and then it may be the word
    assert found(subject, letter, mentions=known) == [("HULL", "known")]
    other = letter.replace(" I grant you that.", "")
    assert found(subject, other, mentions=known) == [("HULL", "known"), ("GRANT", "known")]
    assert found("ORDERS FROM MOUNT HOPE AND HULL, WE HOPE", other, mentions=known) == [
        ("MOUNT HOPE", "known"),
        ("HULL", "known"),
    ]
    # what no name of the document is stays a word, and so does a word of the grammar
    assert found("ORDERS FROM BATH", other, mentions=known) == []
    will = "Will Hammer came."
    person = [[], [mention(will, "Will Hammer", "Person")]]
    assert found("THE PUMP WILL NOT START, SAYS HAMMER", will, mentions=person) == [
        ("HAMMER", "known")
    ]


def test_a_word_that_is_mostly_a_name_is_one_at_the_beginning_of_a_sentence():
    texts = ["We own Nets now.", "Sales of Nets rose.", "Nets grew, what nets us cash."]
    known = [[mention(text, "Nets")] for text in texts[:2]]
    assert found(*texts, mentions=[*known, []]) == [("Nets", "known")]
    # as often a word as a name: it may be the word
    assert found(*texts[1:], mentions=[known[1], []]) == []


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("Order #634984 came late; order 448894620 never did.", ["634984", "448894620"]),
        ("Your ticket no. 7771234 and policy number: 22334455", ["7771234", "22334455"]),
        (
            "Employee no. 4723446, patient no. 883412, student number 100200",
            ["4723446", "883412", "100200"],
        ),
        ("it is #41898, the passcode is 10147392", ["41898", "10147392"]),
        ("Order number? - 4261855. Is order 4261855 here?", ["4261855", "4261855"]),
        ("She is member no. 04431, of ticket, no. 0662.", ["04431", "0662"]),
        # five figures behind what says that it is a number, or letters of a register
        ("NHS Number: 9793145237\nHospital No.: 99159", ["9793145237", "99159"]),
        # as people talk
        ("My hospital number's 776643, you know", ["776643"]),
        ("NHS number? Hang on, it's on the letter. 2318405062. There.", ["2318405062"]),
        ("Cheque 627232 of 154821, check no. 88213, chq 495426", ["627232", "88213", "495426"]),
        ("under code 48213, cost code: 48214", ["48213", "48214"]),
        ("883976\tgrass cut\t£53.95\n654321\tbulbs\t40", ["883976"]),
        ("MRN 88213, mrn 14759, MRN: 17784, GMC 5028631", ["88213", "14759", "17784", "5028631"]),
        ("Unit no: 84407, Hosp. no 60431, hosp no 60432", ["84407", "60431", "60432"]),
        ("record number 31313, matter no 20417, docket 204178", ["31313", "20417", "204178"]),
        ("Our ref: 99159, CHI 1234567890, DVLA no 33456", ["99159", "1234567890", "33456"]),
        ("Parcel number 48213, Widget No. 48214, wallet ID 48215", ["48213", "48214", "48215"]),
        ("quote the number 634984, or number 88213", ["634984", "88213"]),
        # banks, insurers and companies in theirs
        (
            "RSSD 480228, NMLS 401234, NAIC: 12345, HRB 90817, FDIC no. 57803",
            ["480228", "401234", "12345", "90817", "57803"],
        ),
        # ships in their registers; what a fleet numbers has four figures and fewer
        ("MMSI 232520934, IMO No. 9782136, IMO: 9782137", ["232520934", "9782136", "9782137"]),
        ("fleet no 3316, as 3316 and bus no. 1957", ["3316", "3316", "1957"]),
        ("S/N 88213, P/N: 99159 and part no 60431", ["88213", "99159", "60431"]),
        ("Chassis ends 666345, card ending in 4432, 4432 again", ["666345", "4432", "4432"]),
        ("collar 2982. PC 2982 said, warrant no. 77120", ["2982", "2982", "77120"]),
        ("the year ending 2019, a term ends 2024, collar 15, the number ended 12,000 up", []),
        # counts, amounts and years
        ("an order of 500000 units, order 500,000, case 2020, #1 and claims up 123456.5", []),
        ("a contract 2019-2020, customers 123456789", []),
        ("number 16, page number 16, a number of 12,000, the No. 1 player, Unit 4", []),
        ("store number 1,250, slide number 2020, unit 53200, hospital 250000, no 53200 left", []),
        ("the number 52400, our number 52400, number 50000, No. 12000, the number 500000", []),
        ("order 53200, patient 53200, GMC 1500, lot of 53200, number 53,200, number 53200.5", []),
        ("a fleet of 3316, the bus 1957, vehicle 2020, IMO 2020, part 12345, engine 53200", []),
        ("WBC 12300, platelets 153000, dose no 2 of 1250 mg, PSA number 11.4, MRN 8821", []),
    ],
)
def test_numbers_that_are_keys_are_swept(text, keys):
    (found,) = candidates_of([text], [[]])
    assert [c.surface for c in found if c.surface.isdigit()] == keys


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("Her policy, numbered 6335 8800 1902, lapsed.", ["6335 8800 1902"]),
        ("The schedule, numbered 00417-882-6, was sent.", ["00417-882-6"]),
        ("Gate attending re 560-9360-3, not 560-9361-35.", ["560-9360-3"]),
        (
            "Valve P/N 715-8838-4, part no 253-6461-9, part 668-8170-5; in part 2019-2020.",
            ["715-8838-4", "253-6461-9", "668-8170-5"],
        ),
        ("See roll no. 7/0041887-03 and my paybook, No. NX 119842.", ["7/0041887-03", "NX 119842"]),
        ("membership, No. 4836/GB 430683, twice: 4836/GB 430683", ["4836/GB 430683"] * 2),
        (
            "Lab no 23-22477, incident 23-22478, trial no. 20-73262, CHI 010203 4451",
            ["23-22477", "23-22478", "20-73262", "010203 4451"],
        ),
        ("Bank details for BACS: 00-09-12 / 4952 9930, a/c", ["00-09-12", "4952 9930"]),
        ("to 98 69 70, a/c no. 65322343. On 98 69 70", ["98 69 70", "65322343", "98 69 70"]),
        ("the excess, sort code 05 50 69, was", ["05 50 69"]),
        ("the police report, 13/41070/24, is here", ["13/41070/24"]),
        ("NI no ND 63 02 01 D given", ["ND 63 02 01 D"]),
        ("on 12/05/2023, 12-05-23 or 12 05 23; 12 05 23, 2023 2024 units; 1/2024/5", []),
        ("sort code 04-88-61 and grant of probate, number 1992-401-7", ["04-88-61", "1992-401-7"]),
        ("teams id 868 298 045 237, Meeting ID: 643 218 236", ["868 298 045 237", "643 218 236"]),
        ("the id 12 000, id 7 of 250, an order of 868 298 045 units", []),
        # accounts, minutes and applications
        ("budget code 2874-411, code 8085/295", ["2874-411", "8085/295"]),
        ("763953 | expenses | £8,884.12 | 2813/660", ["763953", "2813/660"]),
        ("Okay, planning, 51/24/5475; w/2024/6532/p", ["51/24/5475", "w/2024/6532/p"]),
        ("On 12/11/2024, 14/02/1998 and 2/28/2024 for 30 min. 5 times", []),
        ("Revenue\t123456\t234567\nSales 100-200\t12", []),
        # court files, whichever letters their clerks use
        (
            "Roe v. Acme, No. 1:18-cv-09931-ABC; docket 20-CR-412, 18 Civ. 9931 and 20-bk-33233",
            ["1:18-cv-09931-ABC", "20-CR-412", "18 Civ. 9931", "20-bk-33233"],
        ),
        ("on 10-Mar-2020 and 10-Dec-20, form 10-K-2020, a 12-mo 2020 plan", []),
        # patents, which are public; how many there are is a count
        (
            "U.S. Patent No. 9,304,118; Pat. Nos. 8,100,200 and 8,100,201; patent number 7654321",
            ["9,304,118", "8,100,200", "8,100,201", "7654321"],
        ),
        ("Patent Application Serial No. 15/304,118", ["15/304,118"]),
        ("We hold 10,500 patents, patents 10,500, patent income of 9,304,118", []),
        # companies in their registers
        ("registered number 19980432D, under number 201544719K", ["19980432D", "201544719K"]),
        ("The company number of the Lessee is 3340917.", ["3340917"]),
        ("The EIN of Acme is 12-3456789; 34-5678901 is hers", ["12-3456789", "34-5678901"]),
        ("the study, doi 10.9789/wen.34165. Seen", ["10.9789/wen.34165"]),
        ("listed as entity 7604895, of 10.5000 or 10.25/mile", ["7604895"]),
        ("its article number (EAN) is 5901234123457", ["5901234123457"]),
        ("a market of 123456789 or 50000000000 people, $12345678901, 12-34567", []),
        ("Our organisational number of old was: 917733", ["917733"]),
        ("The file number of Hull is RC 447193, that of Ely 5127-448-1", ["RC 447193"]),
        ("Registered number of the Lessee: 5127-448-1", ["5127-448-1"]),
        ("the number of shares is 4410728, the registered number of holders is 12000", []),
        ("VAT no. FR 31 447192008, parcel APN 702-702-10", ["FR 31 447192008", "702-702-10"]),
        ("24.07.2018\t$96,507.00\tCAR-EM-20/5468", ["CAR-EM-20/5468"]),
        ("3 May\t£125.50\tS-346817\n4 May\t£861.00\t1804-546230", ["S-346817", "1804-546230"]),
        ("P.O. Box 4471, Suite 1150. 1150 of 4471 came", ["P.O. Box 4471", "Suite 1150"]),
        ("Creative Suite 6 and Box 12 in suite 1150", []),
        # where letters go, behind the state or before the town
        (
            "at Hull, Ohio 44101, in Hull, TX 77002-1234\nMichigan 48075\nSingapore 048424",
            ["44101", "77002-1234", "48075", "048424"],
        ),
        ("at Elbgasse 18, 20457 Hull and 12 rue du Four, 51100 Ely", ["20457", "51100"]),
        ("on June 14, 2018 Hull paid, in Ohio 44,101 did, or 44101 in all, OR 50000", []),
        # years, amounts, counts, ranks
        ("contract 2019-2020, order 2019/20, licence 10 000 000, case 12 30 45 99", []),
        ("We have no 10-year 2030 notes; number 1 2020 goal; orders 500-600 a day; no. 1-2", []),
        ("order 100-200 units, claim 3/4 of 5/6, file 10-K 2020, account 401 K", []),
    ],
)
def test_keys_of_several_groups_are_swept(text, keys):
    (found,) = candidates_of([text], [[]])
    assert [c.surface for c in found if c.reason == "digits"] == keys


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("She (0000-0030-0863-846X) is known.", ["0000-0030-0863-846X"]),
        ("pays with 4111 1111 1111 1111 since", ["4111 1111 1111 1111"]),
        (
            "297000/Z/20/Z overlaps with ST/P001234/1; see 19/LO/0412, HREC/20/QRBW/573.",
            ["297000/Z/20/Z", "ST/P001234/1", "19/LO/0412", "HREC/20/QRBW/573"],
        ),
        ("Nights 0102.B-0287 and 2017.1.02078.S", ["0102.B-0287", "2017.1.02078.S"]),
        (
            "NSF award 2204655, NSF 2145678, ERC StG 912353, a grant 6610442, grant DMS-1852341",
            ["2204655", "2145678", "912353", "6610442", "DMS-1852341"],
        ),
        ("done under Horizon Europe 101181843.", ["101181843"]),
        ("PMID 58106867, ssrn 7529877, REC 18/YH/5612", ["58106867", "7529877", "18/YH/5612"]),
        ("IACUC 1090-72, IRB #2018-1244, DFG AC 5917/3-1", ["1090-72", "2018-1244", "5917/3-1"]),
        ("doi:10.9789/wen.34165.", ["10.9789/wen.34165"]),
        (
            "10.1234/S0140-6736(20)30183-5 (hdl:2013.3974/28)",
            ["10.1234/S0140-6736(20)30183-5", "2013.3974/28"],
        ),
        ("bioRxiv 2022.02.11.102873, arXiv:0703.0123", ["2022.02.11.102873", "0703.0123"]),
        ("rec 18/yh/5612 and 297000/z/20/z", ["18/yh/5612", "297000/z/20/z"]),
        ("See 2023-COM-0077 of the panel, not 2023-Q1-100.", ["2023-COM-0077"]),
        # one run of figures among thousands that are written apart
        ("erc stg 912353 paid 412,300 of EUR 412301 and 500000 to 6.1", ["912353"]),
        ("erc stg 912353 paid 412 once", []),
        # amounts, years, days, lists
        ("USD 1234567 and EUR 912353 in 2019/20-21. Revenue 12345678 fell; NSF 5000000", []),
        ("Years 2016 2017 2018 2019, NHS 2017-18, REC of 2020, Q1/Q2/2023, on 2020.01.02", []),
    ],
)
def test_keys_of_research_are_swept(text, keys):
    """Grants, approvals, researchers and publications are all listed in public."""
    (found,) = candidates_of([text], [[]])
    assert [c.surface for c in found if c.reason == "digits"] == keys


def test_what_a_mention_leaves_of_a_key_is_swept():
    text = "under VAT number FR 31 447192008, and FR 31 447192008 again"
    assert found(text, mentions=[[mention(text, "FR 31", "Product")]]) == [
        ("447192008", "digits"),
        ("FR 31 447192008", "digits"),
    ]
    # few figures tell nothing
    other = "under policy AB 12 44718"
    assert found(other, mentions=[[mention(other, "12 44718", "Product")]]) == []


# -- names of other documents of the same secret ----------------------------------------------


def test_words_that_begin_sentences_are_candidates_where_other_documents_may_tell():
    text = "Mercy disagreed. Bread rose, and the bread sold. We wait. King Air flew."
    (found,) = candidates_of([text], [[]], elsewhere=True)
    assert [(c.surface, c.reason) for c in found] == [
        ("Mercy", "elsewhere"),
        ("King Air", "phrase"),
    ]
    assert [c.surface for c in candidates_of([text], [[]])[0]] == ["King Air"]


@pytest.mark.parametrize(
    "named, begun, expected",
    [(2, 1, True), (2, 6, True), (2, 7, False), (1, 1, False), (5, 15, True), (5, 16, False)],
)
def test_two_documents_and_a_third_of_the_others_tell_a_name(named, begun, expected):
    assert named_elsewhere(named, begun) == expected


#: Document -> secret, text, and who is a mention there. "Pioneer" is swept inside sentences.
SHORT = {
    "s1": ("S", "We met Mercy at noon. Bread rose.", {"Mercy": ("Person", "Mercy Okafor")}),
    "s2": ("S", "They saw Mercy go, and Pioneer paid.", {"Mercy": ("Person", "Mercy Okafor")}),
    "s3": ("S", "Mercy disagreed. Pioneer wants a key. Bread rose.", {}),
    "s4": ("S", "Then Pioneer closed. Bread rose.", {}),
    # a word here, although no name of it stands in this secret's texts
    "t1": ("T", "Mercy is kind. Pioneer spirit is all.", {}),
    # once is not enough
    "t2": ("T", "They asked Harvest in. Bread rose.", {"Harvest": ("Organization", "Harvest")}),
    "t3": ("T", "Harvest came late. The mercy of it!", {}),
}


@pytest.mark.parametrize("partitions", [7], indirect=True)
def test_a_name_of_other_documents_of_the_secret_is_one_at_the_beginning_of_a_sentence(
    spark, partitions
):
    texts = spark.createDataFrame(
        [(f"{d}#0", d, secret, text) for d, (secret, text, _) in SHORT.items()],
        "chunk_id string, document_id string, metadata string, text string",
    )
    known = [
        (f"{d}#0", category, name, entity, text.index(name), text.index(name) + len(name))
        for d, (_, text, names) in SHORT.items()
        for name, (category, entity) in names.items()
    ]
    given = spark.createDataFrame(known, MENTIONS.ddl)
    result = swept(texts.repartition(partitions), given.repartition(partitions), sweep_share=1.0)
    found = {
        (row.chunk_id[:2], row.surface): (row.category, row.entity)
        for row in result.mentions.collect()
    }
    assert found == {
        ("s2", "Pioneer"): (NAME, "Pioneer"),
        ("s3", "Mercy"): ("Person", "Mercy Okafor"),
        ("s3", "Pioneer"): (NAME, "Pioneer"),
        ("s4", "Pioneer"): (NAME, "Pioneer"),
    }
    listed = {row.form: (row.reason, row.occurrences) for row in result.swept.collect()}
    assert listed["mercy"] == ("elsewhere", 1) and listed["pioneer"] == ("word", 3)
    assert {"bread", "harvest"}.isdisjoint(listed)


def test_what_other_documents_tell_makes_no_form_more_usual(spark):
    """One secret says Mercy inside a sentence, of another two documents name her and one begins."""
    told = SHORT | {"u1": ("U", "We saw Mercy go.", {})}
    texts = spark.createDataFrame(
        [(f"{d}#0", d, secret, text) for d, (secret, text, _) in told.items()],
        "chunk_id string, document_id string, metadata string, text string",
    )
    known = [
        (f"{d}#0", "Person", "Mercy", "Mercy Okafor", text.index("Mercy"), text.index("Mercy") + 5)
        for d, (_, text, names) in told.items()
        if "Mercy" in names
    ]
    given = spark.createDataFrame(known, MENTIONS.ddl)

    def found(**content):
        result = swept(texts, given, **content)
        mine = {row.chunk_id[:2] for row in result.mentions.collect() if row.surface == "Mercy"}
        (listed,) = [row for row in result.swept.collect() if row.form == "mercy"]
        return mine, listed.documents, listed.treated

    # alone it is rare enough, and stays so
    assert found(sweep_share=0.0) == ({"s3", "u1"}, 1, True)
    assert found(sweep_share=0.0, sweep_never=["Mercy"]) == (set(), 1, False)


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("the case, pa/21241/2016, took three years", ["pa/21241/2016"]),
        ("I was payroll number five one six five two, that is all", ["five one six five two"]),
        ("reference nine five, one three double one. Yes", ["nine five, one three double one"]),
        (
            "the plate was kilo victor one nine golf tango echo, she says",
            ["kilo victor one nine golf tango echo"],
        ),
        ("we saw one hotel, then golf, and one more echo of the tango", []),
        ("we won four two, two one and three nil; one, two, three, four, five", []),
        ("we said and/or 20000 and up/down", []),
    ],
)
def test_keys_are_swept_as_people_say_them(text, keys):
    (found,) = candidates_of([text], [[]])
    assert [c.surface for c in found] == keys


def test_numbers_of_minutes_are_swept_however_many_have_the_same():
    text = "Min. 142/24 and MINUTE 43/2024; minute no. 7/24, as 142/24, for 30 min. 5 times"
    (found,) = candidates_of([text], [[]])
    assert [c.surface for c in found] == ["142/24", "43/2024", "7/24", "142/24"]
    forms, reasons = [c.form for c in found], [c.reason for c in found]
    assert settle(forms, reasons, [40] * 4, 40, 0.1).all()


@pytest.mark.parametrize("title", ["Cllr", "CLLR", "Cllrs", "Sgt", "Revd", "Messrs", "Insp", "Lt"])
def test_a_title_before_a_placeholder_is_no_name(title):
    text = f"In the end {title} [Person 6] did not vote. We heard that {title} [Person 2] did."
    assert candidates_of([text], [[]]) == [[]]


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("a rep named Tasha, ID #2702", ["2702"]),
        ("rep id 7630 and the call with Trent, employee 3759, is", ["7630", "3759"]),
        ("LAST FOUR OF MY SOCIAL ARE 8779, last 4 digits: 4432", ["8779", "4432"]),
        ("the last 4 of the card is 0912; the last four, 2019 among them", ["0912"]),
        ("the last four years of our account, in 2019; the last four 2019 bids", []),
        ("agent's number 4471; revenue per employee 4500", ["4471"]),
        (
            "P.O. Box 56437, Sioux Falls, SD 57117, or po box 42590",
            ["P.O. Box 56437", "57117", "po box 42590"],
        ),
        ("write to sioux falls, sd 57117 or Tempe AZ 85285-1234", ["57117", "85285-1234"]),
        ("IT PUT 20000 IN 20000, OR 30000 more, or 40000", []),
        ("police report 236415, or 23-641684", ["236415", "23-641684"]),
        ("no such case, 2242-096611. From 10-150000, 2020-500000", ["2242-096611"]),
        ("parcel 94074792556321308874 of 10000000000000000", ["94074792556321308874"]),
        ("CASE NUMBER #028758391 AND TOLD ME TO FAX", ["028758391"]),
        ("NO SUCH CASE AS 2242-096611 WAS OPEN", ["2242-096611"]),
        ("No. 4836/GB 430683", ["4836/GB 430683"]),
    ],
)
def test_keys_of_desks_boxes_and_files(text, keys):
    (found,) = candidates_of([text], [[]])
    assert [c.surface for c in found if any(map(str.isdigit, c.surface))] == keys


def test_a_key_among_capitals_stands_without_the_words_beside_it():
    # the recogniser took these words; with them in it the key would be left where it stands
    text = "GAVE ME CASE NUMBER #028758391 AND TOLD ME TO FAX IT"
    start = text.index("AND")
    mention = Mention(start, len(text) - 3, "Organization", text[start:-3])
    (found,) = candidates_of([text], [[mention]])
    assert [c.surface for c in found] == ["028758391"]


def test_a_motto_is_a_name_wherever_it_stands():
    texts = [
        'As our motto\ngoes, "Here for\nGood", and we are here for good reasons.',
        "Here for Good is more than a line. “Ahead of What’s Next” is our slogan.",
        'Ahead of What’s Next, as we say, and our mantra is "grow".',
    ]
    found = candidates_of(texts, [[], [], []])
    assert [[c.surface for c in chunk] for chunk in found] == [
        ["Here for\nGood"],
        ["Here for Good", "Ahead of What’s Next"],
        ["Ahead of What’s Next"],
    ]


def test_an_arm_of_the_company_is_a_name_behind_its_placeholder():
    # "[Company Name] Capital" is told by who knows one company that has one
    texts = [
        "At [Company Name] Capital, we repaid debt. Support of [Company Name] capital was due.",
        "[Company Name] capital expenditures and our capital fell.",
    ]
    found = candidates_of(texts, [[], []])
    assert [[c.surface for c in chunk] for chunk in found] == [["Capital", "capital"], []]
    assert candidates_of(["[Company Name] capital rose."], [[]]) == [[]]
