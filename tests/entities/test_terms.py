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
    TermSimilarity,
    form_of,
    term_mentions,
    term_places,
    terms_of,
    weight,
)
from nes_spark.swapping import invert_edits, rewrite_text
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


def test_common_words_and_verbs_are_no_terms():
    counts = {"tyre": 2, "sell": 9, "sales": 9, "drive": 5}
    documents = {"tyre": 1, "sell": 1, "sales": 4, "drive": 3}
    assert terms_of(counts, documents, 6, 9, {"sell": 0.3, "drive": 0.29}) == ["tyre", "drive"]
    # of two secrets each has its own words
    assert terms_of({"tyre": 1, "tea": 1}, {"tyre": 1, "tea": 2}, 2, 9) == ["tyre"]


def test_participles_rare_gerunds_and_words_said_once_are_no_terms():
    counts = {
        "weighted": 5, "re-branded": 4, "feed": 5, "shed": 2, "drilling": 3, "scheduling": 2,
        "autopilot": 1, "format": 1, "CD30": 1, "vaping": 2, "knitting": 1,
    }  # fmt: skip
    documents = dict.fromkeys(counts, 2) | {"autopilot": 1, "vaping": 1, "knitting": 1}
    found = terms_of(counts, documents, 9, 20)
    assert sorted(found) == ["CD30", "autopilot", "drilling", "feed", "shed", "vaping"]


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
    places = term_mentions("A tire, tires and RFID; glass glasses.", ["tire", "glass"])
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
    assert form_of("Chinese") == form_of("Americans") == "people" != form_of("polish")
    assert form_of("RFID") == "CAPS" != form_of("MOBs")


def test_endings_tell_the_form():
    assert [form_of(w) for w in ("useful", "capable", "glass", "digital", "regional")] == [
        "adjective", "adjective", "", "", "adjective",
    ]  # fmt: skip
    assert [form_of(w) for w in ("mattress", "basis", "wells", "quickly", "mined", "gas")] == [
        "", "", "s", "ly", "ed", "",
    ]  # fmt: skip


def test_similarity_counts_form_and_meaning():
    vectors = {"oil": [1, 0], "oils": [1, 0], "gas": [0.6, 0.8], "jazz": [0, 1]}
    near = TermSimilarity(lambda terms: np.array([vectors[t] for t in terms]))
    table = near.table(["oil", "oils"], ["gas", "jazz", "oil"])
    assert table.tolist() == [[near(a, b) for b in ("gas", "jazz", "oil")] for a in ("oil", "oils")]
    assert near("oil", "gas") == pytest.approx(0.5 + 0.3, abs=1e-6)
    assert near("oils", "oil") == pytest.approx(0.5)
    assert near("oil", "jazz") == near("jazz", "oil") == 0.5


def test_a_term_comes_in_as_the_old_one_was_written():
    mentions = term_mentions(TEXT, ["cement", "paid"], [Mention(21, 32, "Location", "Cement City")])
    new = {
        ("Term", "cement"): Replacement("oil", ("Oil",)),
        ("Term", "paid"): Replacement("lost", ("lost",)),
    }
    done = rewrite_text(TEXT, mentions, new)
    expected = TEXT.replace("Cement sold", "Oil sold").replace("cement", "oil")
    assert done.text == expected.replace("paid", "lost")
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
