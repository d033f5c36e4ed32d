import random
from itertools import pairwise

import pytest
import spacy

from nes_spark.config import EntitiesConfig, build_config
from nes_spark.entities import load_recognizer
from nes_spark.entities.component import Alone, RulesComponent
from nes_spark.entities.keys import is_key, with_whole_addresses
from nes_spark.entities.recognizers import split_long
from nes_spark.errors import ConfigError

CALL = (
    "I will now turn the call over to our CEO, Maria Lopez. We opened a plant in Boston in the "
    "third quarter of 2020. Goldman Sachs advised us, and Microsoft Teams was rolled out during "
    "COVID-19. On a GAAP basis, EBITDA rose. As I said, Chinese demand is back."
)


def found(text, **config):
    mentions = load_recognizer("bundled", EntitiesConfig.model_validate(config))([text])[0]
    return {m.surface: m.category for m in mentions}


def test_bundled_finds_the_six_categories():
    mentions = found(CALL)
    assert mentions["Maria Lopez"] == "Person"
    assert mentions["Boston"] == "Location"
    assert mentions["third quarter of 2020"] == "Date"
    assert mentions["Goldman Sachs"] == "Organization"
    assert mentions["Microsoft Teams"] == "Product"
    assert mentions["COVID-19"] == "Event"


@pytest.mark.parametrize("name", ["Inês Prata", "Łukasz Nowak", "Søren Høst", "Zoë Hart"])
def test_given_names_are_known_with_their_accents(name):
    assert found(f"{name} will lead the new pier.")[name] == "Person"


@pytest.mark.parametrize(
    "name",
    [
        "New York Department of Public Service",
        "New Jersey Board of Public Utilities",
    ],
)
def test_an_authority_is_named_with_its_whole_state(name):
    assert found(f"At the end we filed a proposal with the {name} to settle.")[name] == (
        "Organization"
    )
    assert name in found(f"In September {name} agreed.")


def test_a_board_of_directors_is_no_name():
    assert not any("Board" in name for name in found("The Board of Directors met in Boston."))


def test_jargon_titles_demonyms_and_sentence_starts_are_nothing():
    mentions = found(CALL)
    assert not {"GAAP", "EBITDA", "CEO", "Chinese", "As I", "As", "On"} & set(mentions)


def test_surfaces_are_slices_and_never_overlap():
    text = "Boston's mayor met Goldman Sachs’s Ann Smith in “New York” 🎉 on May 6. " * 3
    mentions = load_recognizer("bundled")([text])[0]
    assert mentions
    for m in mentions:
        assert m.surface == text[m.start : m.end]
        assert not m.surface.endswith(("'s", "’s"))
    for before, after in pairwise(mentions):
        assert before.end <= after.start


def test_placeholders_are_never_entities():
    text = (
        "[Executive 1] of [Company Name] said [Company Name] Forward in [URL] and [Event] went on. "
        "Thank you, [Executive 2]. [Company Name]'s Boston plant."
    )
    for m in load_recognizer("bundled")([text])[0]:
        assert "[" not in m.surface and "]" not in m.surface
        assert "Company Name" not in m.surface and "Executive" not in m.surface
    assert found(text)["Boston"] == "Location"


def test_deny_and_allow():
    mentions = found(
        CALL, deny={"Location": ["boston"]}, allow={"Product": ["plant", "Goldman Sachs"]}
    )
    assert "Boston" not in mentions
    assert mentions["plant"] == "Product"
    assert mentions["Goldman Sachs"] == "Product"


def test_label_mapping_drops_and_renames():
    mentions = found(CALL, categories=["Place"], labels={"LOC": "Place"}, recognizer="bundled")
    assert set(mentions.values()) == {"Place"}


def test_loaded_once():
    assert load_recognizer("bundled") is load_recognizer("bundled")
    other = EntitiesConfig.model_validate({"deny": {"Person": ["x"]}})
    assert load_recognizer("bundled", other).nlp is load_recognizer("bundled").nlp


def test_empty_texts_and_many_texts_keep_their_places():
    texts = ["", CALL, " ", "Boston."]
    mentions = load_recognizer("bundled")(texts)
    assert [bool(m) for m in mentions] == [False, True, False, True]


def test_predictions_do_not_depend_on_the_batch():
    texts = [CALL, "Boston.", CALL + " " + CALL, "Thank you, Ann. Hi.", "x" * 50, CALL[:90]] * 4
    single = [load_recognizer("bundled")([t])[0] for t in texts]
    for size in (1, 3, 64):
        config = EntitiesConfig.model_validate({"batch_size": size})
        assert load_recognizer("bundled", config)(texts) == single
    assert load_recognizer("bundled")(texts[::-1]) == single[::-1]


def test_long_texts_are_split_not_cut_off():
    text = (CALL + " ") * 60 + "We like Boston."
    mentions = load_recognizer("bundled")([text])[0]
    assert mentions[-1].surface == "Boston" and mentions[-1].end == len(text) - 1
    assert sum(m.surface == "Maria Lopez" for m in mentions) == 60


@pytest.mark.parametrize("text", ["", "a", "word " * 2000, "x" * 9000, "One. " * 3000])
def test_pieces_cover_the_text(text):
    bounds = split_long(text, 400)
    assert "".join(text[s:e] for s, e in bounds) == text
    assert all(e - s <= 400 for s, e in bounds)


def test_a_missing_pipeline_is_one_line():
    with pytest.raises(ConfigError) as error:
        load_recognizer("en_core_web_none")
    assert "python -m spacy download en_core_web_none" in str(error.value)
    assert "\n" not in str(error.value)


def test_a_folder_that_is_no_pipeline(tmp_path):
    with pytest.raises(ConfigError, match="no spaCy pipeline"):
        load_recognizer(str(tmp_path))


def test_an_empty_pipeline_is_refused(tmp_path):
    spacy.blank("en").to_disk(tmp_path / "empty")
    with pytest.raises(ConfigError, match="no components"):
        load_recognizer(str(tmp_path / "empty"))


def test_any_pipeline_by_path(tmp_path):
    nlp = spacy.blank("en")
    ruler = nlp.add_pipe("entity_ruler")
    ruler.add_patterns(
        [{"label": "GPE", "pattern": "Oslo"}, {"label": "CARDINAL", "pattern": "seven"}]
    )
    nlp.to_disk(tmp_path / "mine")
    mentions = load_recognizer(str(tmp_path / "mine"))(["The Oslo office has seven rooms."])[0]
    assert [(m.surface, m.category, m.start) for m in mentions] == [("Oslo", "Location", 4)]


def test_bundled_pipeline_is_small():
    from nes_spark.entities.recognizers import BUNDLED

    size = sum(path.stat().st_size for path in BUNDLED.rglob("*") if path.is_file())
    assert size < 10_000_000
    assert (BUNDLED.parent / "README.md").is_file()


@pytest.mark.parametrize(
    ("text", "surface", "category"),
    [
        (
            "We spoke to the Department of Defense about it.",
            "Department of Defense",
            "Organization",
        ),
        ("The Ministry of Health of that country agreed.", "Ministry of Health", "Organization"),
        ("That is a great question, Vipul. Let me answer.", "Vipul", "Person"),
        ("Sales of the Quandrix tablet were up.", "Quandrix", "Product"),
        ("Qandrix shareholders approved the merger with Bolvera.", "Bolvera", "Organization"),
    ],
)
def test_frames_of_the_bundled_recogniser(text, surface, category):
    found = {(m.surface, m.category) for m in load_recognizer("bundled")([text])[0]}
    assert (surface, category) in found, found


def test_a_category_of_ones_own():
    """Configuration alone makes one: forms that are always of it, or a recogniser's label."""
    own = {
        "categories": ["Organization", "Person", "Location", "Drug"],
        "labels": {"ORG": "Organization", "PERSON": "Person", "LOC": "Location", "DRUG": "Drug"},
        "allow": {"Drug": ["zorvimab"]},
    }
    mentions = found("Patients in Boston took zorvimab twice a day.", **own)
    assert mentions == {"Boston": "Location", "zorvimab": "Drug"}
    with pytest.raises(ConfigError, match="unknown category 'Drug'"):
        build_config({"entities": {"allow": {"Drug": ["zorvimab"]}}})


@pytest.mark.parametrize("code", ["BB19 9AA", "OL5 3BE", "BD17 7DA"])
def test_a_postcode_is_found_whole_or_not_at_all(code):
    # "Heckley BB19" and "9AA" were exchanged one by one, for the halves of a true one
    text = f"He lives at 12 Cobden Street, Heckley {code} with his sister."
    mentions = found(text)
    assert f"Heckley {code}" in mentions
    assert is_key(f"Heckley {code}", mentions[f"Heckley {code}"])


def test_a_postcode_in_two_names_is_one():
    text = "Heckley BD17 7DA"
    spans = [(0, 12, "Product"), (13, 16, "Name")]
    assert with_whole_addresses(text, spans) == [(0, 16, "Product")]
    assert with_whole_addresses(text, []) == []
    assert with_whole_addresses("Q4 1BN", [(0, 2, "Date")]) == [(0, 2, "Date")]


def test_rules_alone_find_what_the_pipeline_finds():
    """Tokens where spans begin and end are as good as tokens everywhere."""
    recognizer = load_recognizer("bundled")
    alone = Alone(recognizer.nlp.get_pipe("nes_rules"), recognizer.nlp.tokenizer)
    pieces = [
        *CALL.split(". "), "Paris/London-based Globex", "(see Rule 8)", "U.S.-made Microsoft Teams",
        "“Goldman Sachs”", "Maria  Lopez's", "q3'20", "\nIn May", "Boston\u00a0and Lyon", "(Lyon)!",
        "AT&T/Verizon", "Q1-Q3", ":-)", "can't", "3rd-quarter", "Łukasz Nowak--", "https://x.com/May",
    ]  # fmt: skip
    chance, asked, several = random.Random(13), 0, 0
    for _ in range(400):
        between = chance.choice([" ", ". ", "  ", "\n", ", ", "/"])
        text = between.join(chance.choices(pieces, k=chance.randint(1, 6)))
        doc = recognizer.nlp(text)
        expected = [(e.start_char, e.end_char, e.label_) for e in doc.ents]
        entities = alone(text)
        assert entities is None or entities == expected, text
        asked += entities is None
        several += len(expected) > 2
    assert asked < 80
    assert several > 200


@pytest.mark.parametrize(
    ("spans", "found"),
    [
        ([(8, 11, "ORG"), (0, 3, "LOC")], [(0, 3, "LOC"), (7, 12, "ORG")]),
        # both are of the one token that nothing cuts
        ([(7, 8, "ORG"), (9, 11, "LOC")], None),
        ([(3, 6, "ORG")], None),
        ([(0, 4, "ORG")], None),
        ([], []),
    ],
)
def test_what_tokens_cannot_tell_apart_is_left_to_the_pipeline(spans, found):
    component = RulesComponent("nes_rules")
    component.rules = lambda text, recognized: spans
    alone = Alone(component, spacy.blank("en").tokenizer)
    assert alone("Abc de xyzzy.") == found


def test_names_that_share_a_token_are_those_of_the_pipeline():
    nlp = spacy.blank("en")
    nlp.add_pipe("nes_rules").rules = lambda text, recognized: [(7, 8, "ORG"), (9, 11, "LOC")]
    recognizer = type(load_recognizer("bundled"))("shared", nlp, EntitiesConfig())
    assert recognizer._alone("Abc de xyzzy.") is None
    assert [m.surface for m in recognizer(["Abc de xyzzy."])[0]] == ["xyzzy"]


def test_a_tokenizer_that_looks_beyond_blanks_is_asked_itself():
    recognizer = load_recognizer("bundled")
    nlp = spacy.blank("en")
    nlp.add_pipe("nes_rules")
    kind = type(recognizer)
    assert kind("as it comes", nlp, EntitiesConfig())._alone is not None
    nlp.tokenizer.add_special_case("New York", [{"ORTH": "New York"}])
    assert kind("with a special case", nlp, EntitiesConfig())._alone is None
    nlp.tokenizer = lambda text: spacy.tokens.Doc(nlp.vocab, [text])
    assert kind("another", nlp, EntitiesConfig())._alone is None


def test_a_pipeline_with_more_than_rules_is_asked_itself():
    recognizer = load_recognizer("bundled")
    nlp = spacy.blank("en")
    nlp.add_pipe("entity_ruler").add_patterns([{"label": "ORG", "pattern": "Globex"}])
    other = type(recognizer)("other", nlp, EntitiesConfig())
    assert other._alone is None and recognizer._alone is not None
    assert [m.surface for m in other(["So Globex said in Boston."])[0]] == ["Globex"]
