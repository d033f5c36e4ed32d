import json
import random

import pytest

from nes_spark.building.annotated import DATA, Annotated, read_annotated
from nes_spark.building.corrections import correct, read_second_corpus, verdicts
from nes_spark.building.names import fit, instances
from nes_spark.building.recognizer import exchange_mentions, to_example
from nes_spark.building.templates import template_sentences
from nes_spark.entities.lists import read_lists
from nes_spark.entities.names import CLASSES, Lexicon, NameClassifier, Words, candidate_spans

TEXT = "We at Acme launched Zorbix in Oslo. Ann Lee joined."
ENTS = ((6, 10, "ORG"), (20, 26, "PRODUCT"), (30, 34, "LOC"), (36, 43, "PERSON"))
DONORS = {"ORG": ["Globex"], "PRODUCT": ["Wexo"], "LOC": ["Rome"], "PERSON": ["Bo Ek"]}


def test_exchanged_mentions_keep_their_labels():
    made = list(
        exchange_mentions([Annotated(TEXT, ENTS)], DONORS, random.Random(1), rate=1, masked=0)
    )
    assert [made[0].text[s:e] for s, e, _ in made[0].ents] == ["Globex", "Wexo", "Rome", "Bo Ek"]
    assert [label for _, _, label in made[0].ents] == [label for _, _, label in ENTS]


def test_masked_mentions_are_no_entities():
    made = next(exchange_mentions([Annotated(TEXT, ENTS)], DONORS, random.Random(1), masked=1))
    assert "[Company Name]" in made.text
    assert "ORG" not in {label for _, _, label in made.ents}


def test_spans_of_unknown_label_are_missing_values():
    import spacy

    nlp = spacy.blank("en")
    text = Annotated("Acme met Zorbix here", ((0, 4, "ORG"),), ((9, 15),))
    tags = to_example(nlp, text).get_aligned_ner()
    assert tags[0] == "U-ORG" and tags[2] is None and tags[3] == "O"


def test_templates_are_seeded_and_their_spans_fit():
    first = template_sentences(DONORS, random.Random(3), 40)
    assert first == template_sentences(DONORS, random.Random(3), 40)
    for text in first:
        for start, end, _ in text.ents:
            surface = text.text[start:end]
            assert surface and surface == surface.strip() and "{" not in surface
        assert "{" not in text.text


def test_corrections_win_over_the_machine():
    text = Annotated(
        "Monro said Piper Sandler and Treasurer.", ((11, 24, "PERSON"), (29, 38, "LOC"))
    )
    fixed = correct([Annotated(text.text, text.ents, source="earnings21")])[0]
    assert [(fixed.text[s:e], label) for s, e, label in fixed.ents] == [
        ("Monro", "ORG"),
        ("Piper Sandler", "ORG"),
    ]
    assert correct([text])[0] is text


def test_verdicts_count_each_machine_span_once():
    text = "Piper Sandler, Treasurer, and Nowhere Else of RFID."
    spans = [("Piper Sandler", "ORG"), ("Treasurer", "ORG"), ("Nowhere Else", "ORG")]
    ents = tuple((text.index(s), text.index(s) + len(s), label) for s, label in spans)
    texts = [Annotated(text, ents, source="earnings21")]
    found = verdicts(texts, correct(texts), "ORG")
    assert found == {"ORG": 1, "none": 1, "unknown": 1}
    assert not verdicts(texts, correct(texts), "LOC")


def test_no_form_has_two_labels():
    for name in ("corrections.txt", "forms.txt", "gazetteer.txt"):
        lists = read_lists(DATA / name)
        lists.pop("TICKERS", None)
        lists.pop("NOT", None)
        clashes = {
            form
            for label, forms in lists.items()
            for form in forms
            for other, others in lists.items()
            if other != label and form in others
        }
        # people and places share names; the first section wins
        assert len(clashes) < 25, sorted(clashes)


def test_classifier_learns_frames_from_names_it_has_not_seen():
    rng = random.Random(5)
    made = template_sentences(DONORS, rng, 400)
    lexicon = Lexicon(common=frozenset({"we", "our", "the"}))
    weights, none = fit(*instances(made, lexicon), epochs=3)
    assert (fit(*instances(made, lexicon), epochs=3)[0] == weights).all()
    assert none is None
    classifier = NameClassifier(weights)
    words = Words.of("We launched Qwerzu in the quarter, and we acquired Hjklon in May.")
    found = {}
    from nes_spark.entities.names import features

    for first, last in candidate_spans(words, lexicon):
        scores = classifier.log_probabilities(features(words, first, last, lexicon))
        found[words.words[first]] = dict(zip(CLASSES, scores, strict=True))
    assert found["Qwerzu"]["PRODUCT"] > found["Qwerzu"]["ORG"]
    assert found["Hjklon"]["ORG"] > found["Hjklon"]["PRODUCT"]


@pytest.mark.parametrize("source", ["wnut17", "gum_by"])
def test_tweets_and_dates_are_left_out(tmp_path, source):
    row = {
        "text": "In May, Acme.",
        "ents": [[3, 6, "DATE"], [8, 12, "ORG"]],
        "missing": [],
        "has": ["ORG"],
        "source": source,
    }
    path = tmp_path / "train.jsonl"
    path.write_text(json.dumps(row) + "\n")
    texts = read_annotated(path)
    assert [t.ents for t in texts] == ([] if source == "wnut17" else [((8, 12, "ORG"),)])


def test_second_corpus_is_labelled_by_form(tmp_path):
    call = {"ticker": "OTGLF", "turns": [{"text": "We shipped Gwent in Poland. Then Qwerzu came."}]}
    other = {"ticker": "ZZZ", "turns": [{"text": "We shipped Gwent in Poland."}]}
    path = tmp_path / "calls.jsonl"
    path.write_text(json.dumps(call) + "\n" + json.dumps(other) + "\n")
    texts = read_second_corpus(path)
    assert len(texts) == 1
    labels = {texts[0].text[s:e]: label for s, e, label in texts[0].ents}
    assert labels == {"Gwent": "PRODUCT", "Poland": "LOC"}
    assert [texts[0].text[s:e] for s, e in texts[0].missing] == ["Qwerzu"]


def test_training_makes_a_pipeline_that_loads_by_path(tmp_path):
    from nes_spark.building.recognizer import main
    from nes_spark.entities import load_recognizer

    row = {"text": TEXT, "ents": [list(e) for e in ENTS], "missing": [], "source": "gum_by"}
    row["has"] = ["ORG", "PERSON", "LOC", "EVENT", "PRODUCT"]
    for name in ("train", "dev"):
        (tmp_path / f"{name}.jsonl").write_text((json.dumps(row) + "\n") * 4)
    output = tmp_path / "model"
    arguments = ["--data", str(tmp_path), "--output", str(output)]
    main([*arguments, "--epochs", "1", "--templates", "12"])
    assert (output / "nes_rules" / "names.npz").is_file()
    mentions = load_recognizer(str(output))(["In March 2020, Goldman Sachs came to Boston."])[0]
    assert ("March 2020", "Date") in {(m.surface, m.category) for m in mentions}
    assert ("Goldman Sachs", "Organization") in {(m.surface, m.category) for m in mentions}
