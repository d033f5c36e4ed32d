"""Terms: what sets a document apart, and what comes near it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nes_spark.entities.further import further_mentions
from nes_spark.entities.mentions import Mention
from nes_spark.entities.terms import (
    NO_TERM,
    Ability,
    TermSimilarity,
    Usage,
    abilities,
    agreement,
    akin,
    form_of,
    kin_of,
    may_give,
    residual_idf,
    stem,
    stems_of,
    term_entity,
    term_mentions,
    term_places,
    term_uses,
    term_word,
    terms_of,
    weight,
)
from nes_spark.swapping import invert_edits, rewrite_text
from nes_spark.swapping.likeness import similarities_for
from nes_spark.swapping.rewriting import Replacement

TEXT = (
    "Cement sold well. In Cement City the kiln-fired cement of Orion's plants and its cement paid."
)


def test_names_placeholders_and_grammar_are_no_terms():
    mentions = [Mention(21, 32, "Location", "Cement City")]
    found = [word for *_, word in term_places(TEXT + " [Company cement] was here", mentions)]
    assert found == ["cement", "sold", "kiln-fired", "cement", "plants", "cement", "paid"]
    assert [m.start for m in term_mentions(TEXT, ["cement"], mentions)] == [0, 48, 81]


def test_weights_are_those_of_the_formula():
    assert weight(9, 1, 5) == pytest.approx(math.log(10) * math.log(6 / 2))
    # what all have sets nobody apart
    assert weight(9, 5, 5) == 0
    assert terms_of({"sales": 30}, {"sales": 5}, 5, 3) == []


@given(
    st.dictionaries(st.text("abc", min_size=3, max_size=4), st.integers(1, 9), min_size=1),
    st.integers(1, 9),
)
def test_terms_are_the_first_by_weight(counts, most):
    documents = {word: 1 + len(word) % 3 for word in counts}
    found = terms_of(counts, documents, 8, most)
    # what is said once here and elsewhere too is no term
    able = [w for w, n in counts.items() if n > 1 or documents[w] == 1]
    assert len(found) == min(most, len(able))
    weights = {w: weight(n, documents[w], 8) for w, n in counts.items()}
    left = [weights[w] for w in able if w not in found]
    assert all(weights[w] >= max(left, default=0) for w in found)
    assert found == terms_of(dict(reversed(counts.items())), documents, 8, most)


def test_capitals_are_terms_and_amounts_are_not():
    text = "RFID and 5G cost $26M, CHF26.5, MXN10 or 3Q's; MOBs, IL-10 and eBay's CD30."
    found = [word for *_, word in term_places(text)]
    assert found == ["RFID", "5G", "cost", "MOBs", "IL-10", "CD30"]
    # capitals for emphasis make no abbreviation of a word of grammar, but WHO is one
    found = [w for *_, w in term_places("Cement AND lime, NOT tar. THE tyres of WHO and RFID.")]
    assert found == ["cement", "lime", "tar", "tyres", "WHO", "RFID"]


def test_common_words_are_no_terms():
    counts = {"tyre": 2, "sales": 9, "drive": 5}
    assert terms_of(counts, {"tyre": 1, "sales": 4, "drive": 3}, 6, 9) == ["tyre", "drive"]
    # of two secrets each has its own words
    assert terms_of({"tyre": 1, "tea": 1}, {"tyre": 1, "tea": 2}, 2, 9) == ["tyre"]


def test_what_is_scattered_as_by_chance_is_no_term():
    counts, documents = {"role": 3, "tyre": 3, "drive": 3}, {"role": 9, "tyre": 9, "drive": 5}
    places = {"role": 11, "tyre": 60, "drive": 6}
    assert set(terms_of(counts, documents, 40, 9)) == {"role", "tyre", "drive"}
    # of what few have nothing is known
    assert set(terms_of(counts, documents, 40, 9, places)) == {"tyre", "drive"}
    assert residual_idf(11, 9, 40) < 0.1 < 1.7 < residual_idf(60, 9, 40)


def test_standing_phrases_are_left_whole():
    text = "After due diligence best-in-class tires are at the heart of notes payable, receivable"
    assert [word for *_, word in term_places(text)] == ["tires", "receivable"]


def test_days_and_numbers_are_no_terms():
    text = "Through cyber Monday 100s of millions of tags were sold, and two thousand on monday."
    assert [word for *_, word in term_places(text)] == ["cyber", "tags", "sold"]


def test_what_stands_side_by_side_is_no_thing():
    assert not abilities(usage_of("They are backed by customers back-to-back."))[
        "back-to-back"
    ].noun
    assert abilities(usage_of("They sell it at a point-of-sale."))["point-of-sale"].noun


def test_what_ends_in_ing_is_a_thing_where_it_is_said_to_be_one():
    soars = ("A soaring demand.", "We saw the volume soaring in May.", "A soaring and high demand.")
    able = abilities(
        usage_of(*soars, "We like sequencing.", "The sequencing of genes.", "Its sequencing.")
    )
    assert not able["soaring"].noun and able["sequencing"].noun


def test_a_noun_that_may_be_a_verb_stays_a_noun():
    able = Ability(noun=True, adjective=True, either=True)
    assert term_entity("pricing", "either", able, modifies=True) == "pricing/modifier"


def usage_of(*texts: str) -> dict[str, Usage]:
    usage: dict[str, Usage] = {}
    for text in texts:
        for place in term_uses(text):
            usage.setdefault(place.word, Usage()).add(place)
    return usage


def test_verbs_and_what_describes_are_no_terms():
    texts = [
        "We are announcing an easier way to store cement, announcing it in the clinical trial.",
        "The cement store is dependent on the clinical staff, and the way is convenient.",
        "Stores of cement are convenient. After announcing our plans the clinical sequencing went",
        "It is a convenient store for loyalty and cancer. ",
    ]
    able = abilities(usage_of(*texts))
    assert able["announcing"] == able["easier"] == able["dependent"] == NO_TERM
    assert not able["convenient"].adjective and able["clinical"].adjective
    for word in ("cement", "loyalty", "sequencing"):
        assert able[word].noun and able[word].uncountable, word
    assert able["store"].noun and not able["store"].uncountable
    # as letters: names of things, not numerals or words
    marks = abilities(usage_of("RFID in III is TRUE; Chinese MOBs"))
    assert {w for w, a in marks.items() if a.noun} == {"RFID", "MOBs", "Chinese"}


def test_gerunds_before_nouns_count_where_they_are_nouns():
    nouns = [f"The drilling of {w} wells and the drilling went on." for w in ("oil", "gas")]
    both = "After drilling wells we left, drilling our wells."
    assert abilities(usage_of(*nouns, both))["drilling"].either
    assert abilities(usage_of(nouns[0], both))["drilling"] == Ability(True, True, False, False)
    assert abilities(usage_of(both))["drilling"] == NO_TERM


def test_a_plural_of_a_verb_must_be_seen_as_one():
    verbs = (
        "We will capture it, and they capture more. Profit captures of 5. We will pump and pump it."
    )
    able = abilities(usage_of(verbs))
    assert able["captures"] == NO_TERM
    able = abilities(usage_of(verbs, *["The captures of the day.", "The captures in May."]))
    assert able["captures"].noun
    assert abilities(usage_of("The captures of the day."))["captures"].noun


def test_one_word_is_two_entities_where_it_is_used_as_two():
    text = "Solar sales fell in solar."
    found = term_mentions(text, ["solar"])
    assert [(m.surface, m.entity) for m in found] == [
        ("Solar", "solar/adjective"), ("solar", "solar"),
    ]  # fmt: skip
    # of a word that is no term here, all places are of another use, and so are compounds of it
    text = "Solar sales fell in solar, solar-powered or low-solar."
    assert [(m.surface, m.entity) for m in term_mentions(text, ["solar"], able={})] == [
        ("Solar", "solar/other"), ("solar", "solar/other"),
        ("solar-powered", "solar-powered/other"), ("low-solar", "low-solar/other"),
    ]  # fmt: skip
    mass = term_mentions(text, ["solar"], able={"solar": Ability(True, False, False, True)})
    assert [m.entity for m in mass][:2] == ["solar/other", "solar/mass"]
    # no donor gives any of it back
    assert {"solar", "solars", "solar/mass", "solar/adjective"} <= set(kin_of("solar/mass"))


def test_a_noun_before_a_noun_is_a_form_of_its_own():
    able = dict.fromkeys(["power", "stores", "tools"], Ability(noun=True, adjective=True))
    text = "The power tools rose, and so did our stores open for power."
    found = term_mentions(text, ["power", "store", "tool"], able=able)
    assert [m.entity for m in found] == ["power tools", "stores", "power"]
    assert form_of("power/modifier") == "modifier" and "power/modifier" in kin_of("powers")
    assert agreement("power/modifier", "oil/modifier") == 1
    assert agreement("power/modifier", "oil") == agreement("oil/mass", "power/modifier") == 0.5
    # "one service mobile customer"
    assert agreement("power/modifier", "rural/adjective") == 0
    assert agreement("power/modifier", "stores") == 0


def test_what_was_not_understood_is_no_term():
    assert [w for *_, w in term_places("The <inaudible> and <unk> tires")] == ["tires"]


def test_participles_rare_gerunds_and_words_said_once_are_no_terms():
    counts = {
        "weighted": 5, "re-branded": 4, "feed": 5, "shed": 2, "drilling": 3, "scheduling": 2,
        "autopilot": 1, "format": 1, "CD30": 1, "vaping": 2, "knitting": 1, "welding": 1,
    }  # fmt: skip
    documents = dict.fromkeys(counts, 2) | {
        "autopilot": 1,
        "vaping": 1,
        "knitting": 1,
        "welding": 1,
    }
    found = terms_of(counts, documents, 9, 20)
    # knitting is a noun alone to a dictionary, welding a verb as well
    told = ["CD30", "autopilot", "drilling", "feed", "knitting", "shed", "vaping"]
    assert sorted(found) == told
    # of many, three are hardly any
    once = {"radio": 1, "podcast": 1, "wedding": 1, "packaging": 1}
    spread = {"radio": 2, "podcast": 3, "wedding": 4, "packaging": 2}
    assert terms_of(once, spread, 43, 20) == ["radio", "podcast"]
    assert terms_of(once, spread, 29, 20) == ["radio"]


def test_a_possessive_is_a_noun():
    text = "It's aviation's margin, and healthcare’s digital arm beside Orion's; that's all."
    found = [(p.word, p.use, p.modifies) for p in term_uses(text)]
    assert found[0] == ("aviation", "noun", False)
    assert ("healthcare", "noun", False) in found
    assert not {"that", "it", "orion"} & {word for word, *_ in found}


def test_what_announces_a_number_is_no_term():
    text = "The cusip of the tags, and their ISIN and SEDOL."
    assert [w for *_, w in term_places(text)] == ["tags"]


def test_words_with_one_letter_before_a_hyphen_are_terms():
    found = [w for *_, w in term_places("E-vapor and x-ray: I-beam a-b, mid-e and pre-x-ray.")]
    assert found == ["e-vapor", "x-ray", "i-beam"]


def test_words_of_accounts_are_no_terms():
    text = "Diluted EPS, GAAP or not, had headwinds of 3 percent; RFID tags and cement had none."
    assert [w for *_, w in term_places(text)] == ["RFID", "tags", "cement"]


def test_adverbs_are_no_terms():
    text = "Historically exactly favorably expectedly obviously: supply family assembly Italy"
    assert [w for *_, w in term_places(text)] == ["supply", "family", "assembly", "italy"]


def test_singular_and_plural_are_one_term():
    places = term_mentions("A tire, tires and RFID; glass, glasses.", ["tire", "glass"])
    assert [m.entity for m in places] == ["tire", "tires", "glass", "glasses"]


def test_names_of_peoples_are_terms_of_their_own_form():
    text = "Chinese and Americans like polish; the Caribbean is Chinese."
    assert [w for *_, w in term_places(text)] == [
        "Chinese", "Americans", "polish", "caribbean", "Chinese",
    ]  # fmt: skip
    # however many documents have them, and beside the most that are asked for
    counts = {"Chinese": 1, "tyre": 9, "sales": 3, "glove": 1}
    found = terms_of(counts, {"Chinese": 4, "tyre": 1, "sales": 5, "glove": 1}, 5, 1)
    assert found == ["tyre", "Chinese"]
    assert form_of("Chinese") == "people" and form_of("Americans") == "plural"
    assert form_of("RFID") == "letters" and form_of("MOBs") == "plural"


def test_the_people_of_a_part_of_a_continent_is_one_place():
    text = "North American sales, South Africans and Latin American's; north American, West Coast."
    places = [(text[a:b], word) for a, b, word in term_places(text)]
    # "North Chinese sales" would be what comes out of two
    assert ("North American", "American") in places and ("South Africans", "Africans") in places
    assert ("American", "American") in places
    assert not {"North", "South", "Latin"} & {surface for surface, _ in places}
    assert "coast" in dict(map(reversed, places))


def test_the_form_of_a_term():
    terms = ["mattress", "wells", "gas", "children", "dental/adjective", "cement/mass", "drilling"]
    assert [form_of(t) for t in terms] == [
        "noun", "plural", "noun", "plural", "adjective", "mass", "noun",
    ]  # fmt: skip


def test_no_nearness_makes_up_for_another_form():
    vectors = {"oil": [1, 0], "oils": [1, 0], "gas": [0.6, 0.8], "jazz": [0, 1], "arid": [1, 0]}
    near = TermSimilarity(lambda terms: np.array([vectors[t] for t in terms]))
    ours, theirs = ["oil", "oils", "arid/adjective"], ["gas", "jazz/mass", "oil"]
    table = near.table(ours, theirs)
    assert table.tolist() == [[near(a, b) for b in theirs] for a in ours]
    assert near("oil", "gas") == pytest.approx(2.6, abs=1e-6)
    assert near("oil", "jazz/mass") == near("jazz/mass", "oil") == 1
    # one case of three: the same letters, or meaning, and another number or part of speech
    assert near("oils", "oil") == near("arid/adjective", "oil") == 1
    refused = [("easier", "cancer"), ("dependent/adjective", "loyalty"), ("wells", "well")]
    assert [agreement(*pair) for pair in refused[1:]] == [0, 0]
    assert agreement("RFID", "tyre") == agreement("tyre/mass", "tyre") == 0.5


def test_units_meet_units():
    texts = ["We run 120 megawatts in a 40 megawatt plant, and 9 gigawatts.", "It ships 300 TEU."]
    texts += ["We hold 7 stores, and 30 megawatts. Our stores and their stores did well."]
    texts += ["A 90 megawatt plant made 4,000 TEU, and 2 gigawatts of the stores."]
    usage = {}
    for place in (p for text in texts for p in term_uses(text)):
        usage.setdefault(place.word, Usage()).add(place)
    able = abilities(usage)
    assert [w for w in sorted(able) if able[w].unit] == [
        "TEU", "gigawatts", "megawatt", "megawatts",
    ]  # fmt: skip
    found = {m.entity for m in term_mentions(texts[0], ["megawatt", "gigawatt"], able=able)}
    assert found == {"megawatts/unit", "megawatt/unit", "gigawatts/unit"}
    forms = ("megawatts/unit", "megawatt/unit", "TEU/unit")
    assert [form_of(t) for t in forms] == ["units", "unit", "units"]
    assert agreement("megawatts/unit", "TEU/unit") == 1 > agreement("megawatts/unit", "stores")
    assert agreement("TEU/unit", "DTC") == 0 and "megawatts/unit" in kin_of("megawatt/adjective")


def test_areas_are_measured_as_they_are():
    text = "It has 179,000 square feet, 3 square-mile lots and a cubic meter of concrete."
    assert [w for *_, w in term_places(text)] == ["concrete"]
    text = "That is 100,000 metric tons of scrap, for a couple of kilns, two thirds single-digit."
    assert [w for *_, w in term_places(text)] == ["scrap", "kilns"]


def test_what_is_numbered_keeps_its_name():
    text = "At tier 1 makers, in phase two and level III, kilns 12 and 4 sold scrap 5% up."
    found = [w for *_, w in term_places(text)]
    assert "makers" in found and "kilns" in found and "scrap" in found
    assert not {"tier", "phase", "level"} & set(found)


def test_a_title_is_no_term():
    text = "We added Doctor [Executive 10]. Doctors [sic] and the doctor [Executive 2] agree."
    assert [w for *_, w in term_places(text)] == ["added", "doctor", "agree"]


def test_what_compares_and_what_every_company_has_is_no_term():
    text = "Customers bear the brunt of it at our headquarters: IT and kilns. Our kilns on a same-"
    text += "station basis, a basis-point of kilns, the same-station kilns. Keep an eye on kilns, "
    text += "a mile from wherever the great recession was."
    usage = {}
    for place in term_uses(text):
        usage.setdefault(place.word, Usage()).add(place)
    able = abilities(usage)
    assert able["kilns"].noun
    assert not {"brunt", "headquarters", "IT", "eye", "mile", "wherever", "recession"} & set(usage)
    for word in {"same-station", "basis-point"} & set(usage):
        assert not (able[word].noun or able[word].adjective)


def test_the_root_of_a_term():
    near = TermSimilarity(lambda terms: np.zeros((len(terms), 2)))
    terms = ["patients", "patient/modifier", "RFID", "e-commerce/modifier", "e-commerce"]
    assert [near.root(t) for t in terms] == ["patient", "patient", "rfid"] + ["e-commerce"] * 2


def test_an_adjective_is_no_noun_for_its_science():
    usage = {"economic": Usage(9, 2, 7), "economics": Usage(4, 4, 0), "chemical": Usage(9, 1, 8)}
    assert not abilities(usage)["economic"].noun
    assert abilities(usage | {"chemicals": Usage(4, 4, 0)})["chemical"].noun


def test_offices_and_what_describes_anything_are_no_terms():
    text = "The CEO and our CFO saw a huge kiln in consecutive quarters, reasonable kilns."
    text += " Yeah, sir, of course the board of directors did, plus 19 billion."
    assert [w for *_, w in term_places(text)] == ["kiln", "kilns"]


def test_people_meet_people():
    near = similarities_for(["Term"], "random")["Term"]
    people = "worker associates viewers physician clients tenants scientists members patients"
    things = "sequencer container office channels chips answers payment dividend carrier factor"
    assert [w for w in people.split() if not near.is_person(w)] == []
    assert [w for w in things.split() if near.is_person(w)] == []
    assert not near.is_person("patient/adjective")
    ours, theirs = ["worker", "office"], ["physician", "facility"]
    table = near.table(ours, theirs)
    assert table.argmax(axis=1).tolist() == [0, 1]
    assert table.tolist() == [[near(a, b) for b in theirs] for a in ours]


def test_a_hyphen_makes_no_other_root():
    assert akin("lock-downs", "lockdowns") and akin("proforma", "pro-forma")


def test_a_word_of_the_same_root_comes_last():
    near = similarities_for(["Term"], "random")["Term"]
    theirs = ["consumership", "patience", "shopper"]
    assert near.table(["consumer"], theirs).argmax() == 2
    assert near("clinical/adjective", "pre-clinical/adjective") < near(
        "clinical/adjective", "rural/adjective"
    )


def test_a_term_comes_in_as_the_old_one_was_written():
    mentions = term_mentions(
        TEXT, ["cement", "plant"], [Mention(21, 32, "Location", "Cement City")]
    )
    new = {
        ("Term", "cement"): Replacement("oil", ("Oil",)),
        ("Term", "plants"): Replacement("wells", ("wells",)),
    }
    done = rewrite_text(TEXT, mentions, new)
    expected = TEXT.replace("Cement sold", "Oil sold").replace("cement", "oil")
    assert done.text == expected.replace("plants", "wells")
    assert invert_edits(done.text, done.edits) == TEXT


def test_further_mentions_are_of_documents_and_outside_names():
    texts = {
        "a#0": "Cement of Kiln City cost $5 million.",
        "a#1": "Cement sold well.",
        "b#0": "Mattresses sold well for $7 million.",
    }
    known = {
        "a#0": [Mention(10, 19, "Location", "Kiln City"), Mention(25, 35, "Money", "$5 million")]
    }
    documents = {i: i[0] for i in texts}
    found = further_mentions(texts, documents, documents, known, ["Quantity", "Term"], 1)
    assert {i: [(m.category, m.surface) for m in mine] for i, mine in found.items()} == {
        "a#0": [("Term", "Cement")],
        "a#1": [("Term", "Cement")],
        "b#0": [("Quantity", "$7 million"), ("Term", "Mattresses")],
    }
    # both documents are of one company: no word sets one apart
    one = dict.fromkeys(texts, "Acme")
    assert not any(further_mentions(texts, documents, one, known, ["Term"], 9).values())
    with pytest.raises(ValueError, match="categories"):
        further_mentions(texts, documents, documents, known, ["Person"], 1)


def test_scraps_of_transcripts_are_no_terms():
    rare, often = Usage(places=2, nouns=2), Usage(places=9, nouns=9)
    found = abilities({"comi": rare, "reit": often, "rent": rare, "genomics": rare})
    assert {word: able.noun for word, able in found.items()} == {
        "comi": False, "reit": True, "rent": True, "genomics": True,
    }  # fmt: skip


def test_titles_of_office_are_no_terms():
    places = [word for _, _, word in term_places("Our Vice President, pursuant to the rules.")]
    assert not {"vice", "pursuant"} & set(places)


def test_what_was_broken_off_is_no_term():
    text = "We shipped elec- electric cement- kiln-fired cement, RF- RFID, pre-, mRNA-1273 -"
    found = [word for *_, word in term_places(text)]
    assert found == ["shipped", "electric", "kiln-fired", "cement", "RFID"]


def test_hours_keep_their_time_zone():
    text = "At 4:05 PM Eastern Time and 5 PM EST, or 9 a.m. CET, eastern PM plants closed in time."
    found = [word for *_, word in term_places(text)]
    assert found == ["eastern", "PM", "plants", "closed"]


def test_money_and_what_is_said_in_passing_are_no_terms():
    text = "Congratulations: the fact is that 273 million euros beat 9 dollars and cement."
    assert [word for *_, word in term_places(text)] == ["beat", "cement"]


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("Growth in mid-single-digit sales, then mid-teens.", ["growth", "sales"]),
        ("We saw high single digits in stores.", ["stores"]),
        ("Sales fell in the mid thirties, stores in the low teens.", ["sales", "stores"]),
        ("It is available online now; online stores sell.", ["online", "stores"]),
        ("These machines speak as of the date hereof.", ["machines", "date"]),
        ("SureSmile now offers a kiln.", ["kiln"]),
        ("Our offers include kilns.", ["offers", "kilns"]),
    ],
)
def test_counted_digits_and_verbs_with_objects_are_no_terms(text, kept):
    found = [p for p in term_uses(text) if p.use]
    assert [p.word for p in found] == kept


def test_fractions_keep_their_words():
    text = "At $9 per square foot, five-eighths notes and twenty-five tons of coal."
    assert [w for *_, w in term_places(text)] == ["notes", "tons", "coal"]


def test_terms_that_stand_together_are_one():
    text = "Wind tunnel tests, RFID wind tunnels; wind, tunnels. American tunnels: wind megawatts."
    words = ["wind", "tunnel", "RFID", "test", "megawatt", "American"]
    able = dict.fromkeys(["wind", "tunnel", "tunnels", "tests", "RFID"], Ability(True, True))
    able |= {"megawatts": Ability(True, True, unit=True), "American": Ability(True, False)}
    found = term_mentions(text, words, able=able)
    assert all(text[m.start : m.end] == m.surface for m in found)
    assert [m.surface for m in found] == [
        *("Wind tunnel tests", "RFID wind tunnels", "wind", "tunnels"),
        *("American", "tunnels", "wind", "megawatts"),
    ]
    two_lines = term_mentions("Wind\ntunnels and wind  tunnels", words, able=able)
    assert [term_word(m.entity) for m in two_lines] == ["wind", "tunnels", "wind", "tunnels"]


def test_a_compound_is_of_the_form_of_its_last_word():
    terms = [
        "wind tunnels",
        "wind tunnel",
        "solar wind/modifier",
        "RFID tags",
        "wind MOBs",
        "dry RFID",
    ]
    assert [form_of(t) for t in terms] == [
        *("plural", "noun", "modifier", "plural", "plural", "letters")
    ]
    assert [stem(w) for w in ("wind batteries", "RFID tags", "tag MOBs")] == [
        *("wind battery", "RFID tag", "tag MOB")
    ]
    near = TermSimilarity(lambda words: np.zeros((len(words), 2)))
    ours, theirs = ["wind tunnels", "furnaces"], ["windows", "tunneling furnaces", "cement"]
    assert near.table(ours, theirs).tolist() == [[near(a, b) for b in theirs] for a in ours]
    assert (
        near("wind tunnels", "tunneling furnaces") == near("furnaces", "tunneling furnaces") == 1.0
    )
    assert near("wind tunnels", "dry kilns") == 2.0


def test_no_donor_gives_a_compound_of_an_own_word():
    barred = {"mattresses", *kin_of("wind turbines")}
    offered = ["turbine", "gas turbines", "winds/mass", "wind/modifier", "mattresses", "gas kilns"]
    assert may_give(offered, barred) == {"gas kilns"}
    # the other way round: who has "turbines" gets no "gas turbine"
    assert may_give(["gas turbine/modifier"], set(kin_of("turbines"))) == set()


def test_everyday_words_and_their_phrases_are_no_terms():
    text = "The reality: two realities bear fruit in the supply chain, an NDA, and fruit is sold."
    assert [word for *_, word in term_places(text)] == ["fruit", "sold"]


def test_a_people_alone_reads_better_in_anothers_place_than_a_placeholder():
    near = TermSimilarity(lambda terms: np.ones((len(terms), 1)))
    assert near("tanker", "ship") == 3.0 and not near.reads("tanker", "ship")
    assert near.reads("Chinese", "German") and near.reads("Germans", "Americans")
    assert not near.reads("Chinese", "Americans")
    assert not near.reads("Chinese", "tanker") and not near.reads("tanker", "Chinese")
    assert near.stands("Chinese/adjective") and not near.stands("tanker")


@pytest.mark.parametrize(
    ("old", "new", "fits"),
    [
        ("basket", "crops", False),
        ("crops", "basket", False),
        ("cough", "anhydrous/adjective", False),
        ("failure", "moles/unit", False),
        ("leaflet", "RFID", True),
        ("moles/unit", "crops", True),
    ],
)
def test_a_plural_changes_places_with_a_plural_alone(old, new, fits):
    near = TermSimilarity(lambda terms: np.ones((len(terms), 1)))
    assert near.fits(old, new) is near.fits(new, old) is fits


def test_what_stands_as_something_else_gives_and_takes_nothing():
    similarity = TermSimilarity(lambda terms: np.ones((len(terms), 1)))
    assert similarity.fits("cement", "oil") and not similarity.fits("cement", "oil/other")
    assert may_give(["tumor-specific/adjective", "kiln", "lease/other"], {*kin_of("tumor")}) == {
        "kiln"
    }
    # grammar is no part: "well-positioned" tells nothing of who has wells
    assert "well" not in stems_of("well-positioned")
    assert not term_mentions("We are well-positioned.", ["well"])


@pytest.mark.parametrize(
    ("text", "term", "surface"),
    [
        ("It sells RFID-based tags.", "RFID", "RFID-based"),
        ("Sales in US-based plants fell.", "US", "US-based"),
        ("Our in-store sales rose.", "store", "in-store"),
        ("The re-bonds are sold.", "bond", "re-bonds"),
        ("Goods are Chinese-made.", "Chinese", "Chinese-made"),
        ("It fell. Cement's price rose.", "cement", "Cement"),
        ("Cement's price rose.", "cement", "Cement"),
        ("It fell.\n“Cement's price rose.”", "cement", "Cement"),
        ("The CD30-positive cells", "CD30", "CD30-positive"),
        ("Our in-store-only offers", "store", "in-store-only"),
    ],
)
def test_a_term_is_found_behind_prefixes_and_capitals(text, term, surface):
    (found,) = term_mentions(text, [term])
    assert text[found.start : found.end] == found.surface == surface
    if "-" in surface:
        assert form_of(found.entity) == "other", "no term of its own"
    assert "polish" in stems_of("nail-polish") and "Polish" in stems_of("nail-polish")


@pytest.mark.parametrize("text", ["It fell, as Cement's price did.", "Then Orion's fell."])
def test_what_owns_with_a_capital_within_a_sentence_is_a_name(text):
    assert not {"cement", "orion"} & {word for *_, word in term_places(text)}


def test_words_of_a_heading_in_capitals_count_as_words():
    text = "HYBRID SEDANS AND RFID\n\nWe sell sedans with RFID, and E&P; see the MD&A, R&D."
    words = [(text[s:e], word) for s, e, word in term_places(text)]
    assert words[:3] == [("HYBRID", "hybrid"), ("SEDANS", "sedans"), ("RFID", "RFID")]
    assert [word for _, word in words[3:]] == ["sell", "sedans", "RFID", "E&P"]
    assert [word for *_, word in term_places("OVERVIEW OF THE QUARTER")] == ["overview"]


def test_what_comes_in_a_heading_in_capitals_is_in_capitals():
    text = "CEMENT AND US\n\nWe sell cement."
    mentions = term_mentions(text, ["cement"])
    new = rewrite_text(text, mentions, {("Term", "cement"): Replacement("tag", ("tag",))})
    assert new.text == "TAG AND US\n\nWe sell tag."


def test_what_hardly_anybody_calls_an_expense_may_be_a_segment():
    # no word of accounts: of 123 calls one had it, six times, and it was a business of its own
    assert [word for *_, word in term_places("Our T&E, P&L and SG&A.")] == ["T&E"]
