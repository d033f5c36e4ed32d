"""The second opinion on products: its features, how it is fitted, and how it travels."""

import dataclasses

import numpy as np
import pytest

from nes_spark.building.annotated import Annotated
from nes_spark.building.names import fit_products
from nes_spark.building.recognizer import EMBEDDER, doubt_parts
from nes_spark.entities import rules as rules_module
from nes_spark.entities.component import RulesComponent
from nes_spark.entities.names import (
    BUCKETS,
    CLASSES,
    Lexicon,
    NameClassifier,
    ProductClassifier,
    Words,
    product_features,
)
from nes_spark.entities.rules import Rules
from nes_spark.entities.wordvectors import from_embedder

LEXICON = Lexicon(common=frozenset({"we", "the", "sales", "of", "app"}))
UNDECIDED = np.zeros((BUCKETS, len(CLASSES)), dtype=np.float16)
PRODUCTS = ("Zorvia", "Kelpro", "Mandex", "Tirova", "Blenix", "Corvado", "Pelmira", "Luntra")
FIRMS = ("Gorman", "Halberd", "Iversen", "Jastrow", "Kimbrough", "Lassiter", "Morrow", "Nesbitt")


@pytest.fixture(scope="module")
def vectors():
    """Vectors of word pieces of the bundled embedder."""
    return from_embedder(EMBEDDER, 8)


def sentences():
    """Texts in which products and companies stand in frames of their own."""
    made = []
    for name in PRODUCTS:
        for frame in ("We launched the {} app.", "The {} app has many users."):
            start = frame.index("{}")
            made.append(Annotated(frame.format(name), ((start, start + len(name), "PRODUCT"),)))
    for name in FIRMS:
        for frame in ("We met the board of {}.", "The shareholders of {} agreed."):
            start = frame.index("{}")
            made.append(Annotated(frame.format(name), ((start, start + len(name), "ORG"),)))
    return made


def span(words, name):
    first = words.words.index(name)
    return first, first + 1


def test_a_short_name_is_no_feature_of_itself():
    one, other = Words.of("We launched the Zorvia app."), Words.of("We launched the Torvia app.")
    got = [product_features(w, 3, 4, [], LEXICON) for w in (one, other)]
    assert got[0] == got[1]


def test_frames_of_the_same_name_elsewhere_count():
    words = Words.of("Then came Zorvia. We launched the Zorvia app.")
    first, second = [(i, i + 1) for i, w in enumerate(words.words) if w == "Zorvia"]
    alone = product_features(words, *first, [], LEXICON)
    together = product_features(words, *first, [second], LEXICON)
    assert "elsewhere nc=software|False" in set(together) - set(alone)


def test_features_stop_at_the_sentence():
    words = Words.of("It was Zorvia. App users came.")
    found = product_features(words, *span(words, "Zorvia"), [], LEXICON)
    assert not [f for f in found if f.startswith("r=")]


def test_a_fit_tells_products_of_unseen_names_and_repeats(vectors):
    weights, projection = fit_products(sentences(), LEXICON, vectors, penalty=0.1)
    again = fit_products(sentences(), LEXICON, vectors, penalty=0.1)
    assert np.array_equal(weights, again[0])
    assert np.array_equal(projection, again[1])
    second = ProductClassifier(weights, projection, vectors)
    odds = {}
    for text in ("We launched the Quenda app.", "We met the board of Quenda."):
        words = Words.of(text)
        first, last = span(words, "Quenda")
        odds[text] = second.log_odds(product_features(words, first, last, [], LEXICON), ["Quenda"])
    app, board = odds.values()
    assert app > 0 > board


def test_spans_of_unknown_label_teach_nothing(vectors):
    known = sentences()
    doubtful = [dataclasses.replace(t, ents=(), missing=((0, len(t.text)),)) for t in known]
    with_them = fit_products([*known, *doubtful], LEXICON, vectors)
    assert np.array_equal(with_them[0], fit_products(known, LEXICON, vectors)[0])
    assert not fit_products(doubtful, LEXICON, vectors)[0].any()


def test_the_second_opinion_is_bounded_and_skipped_where_it_cannot_matter(vectors):
    class Certain(ProductClassifier):
        asked = 0

        def log_odds(self, found, span):
            self.asked += 1
            return 1e6

    second = Certain(np.zeros(BUCKETS), np.zeros(8), vectors)
    rules = Rules(LEXICON, NameClassifier(UNDECIDED), second)
    words = Words.of("We met Zorvia.")
    reach = rules_module.SECOND_BIAS + rules_module.SECOND_WEIGHT * rules_module.SECOND_BOUND
    scores = np.zeros(len(CLASSES))
    rules.weigh_product(scores, words, (2, 3), [(2, 3)])
    assert scores[CLASSES.index("PRODUCT")] == pytest.approx(reach)
    scores = np.zeros(len(CLASSES))
    scores[CLASSES.index("LOC")] = reach
    rules.weigh_product(scores, words, (2, 3), [(2, 3)])
    assert scores[CLASSES.index("PRODUCT")] == 0
    assert second.asked == 1


def test_the_second_opinion_travels_in_the_pipeline(tmp_path, vectors):
    projection = np.zeros((8, len(CLASSES)), dtype=np.float32)
    products = fit_products(sentences(), LEXICON, vectors)
    component = RulesComponent("nes_rules")
    component.set_content(LEXICON, UNDECIDED, vectors, projection, products)
    component.to_disk(tmp_path)
    loaded = RulesComponent("nes_rules").from_disk(tmp_path).rules.products
    assert loaded is not None
    assert np.array_equal(loaded.weights, products[0].astype(np.float32))
    assert np.array_equal(loaded.projection, products[1].astype(np.float64))


@pytest.mark.parametrize(
    "name", ["IFRS-16", "CD30", "PDL-1", "Phase IIA", "Phase IIA/IIB", "Q-4", "EGFR"]
)
def test_standards_and_markers_are_no_models(name):
    rules = Rules(LEXICON, NameClassifier(UNDECIDED))
    labels = {label for _, _, label in rules(f"We saw {name} here.", [])}
    assert labels <= {"DATE"}
    # the same rules call a name of that writing something
    assert {label for _, _, label in rules("We saw ZQX-16 here.", [])} == {"PRODUCT"}


def test_a_code_that_the_transcript_has_cut_is_a_product():
    rules = Rules(LEXICON, NameClassifier(UNDECIDED))
    text = "We test QBX- 1612 now, and QBX- we stopped."
    assert [(text[s:e], label) for s, e, label in rules(text, [])] == [("QBX", "PRODUCT")]


def test_parts_of_gazetteer_names_are_unknown_where_they_stand_alone():
    text = "We met Standard Chartered in May, and then Chartered in June."
    bank = text.index("Standard Chartered")
    alone = text.rindex("Chartered")
    doubted = doubt_parts([Annotated(text, ((bank, bank + 18, "ORG"),))])[0]
    assert doubted.missing == ((alone, alone + 9),)
    assert doubted.ents == ((bank, bank + 18, "ORG"),)
