"""Plan ``whole`` in memory: which plans there are, and the texts that they make."""

from __future__ import annotations

import pytest

from nes_spark.config import EntitiesConfig, ReleasesConfig
from nes_spark.entities.mentions import Mention
from nes_spark.entities.quantities import quantity_mentions
from nes_spark.entities.terms import term_mentions
from nes_spark.swapping import invert_edits
from nes_spark.swapping.rewriting import Replacement, rewrite_text
from nes_spark.swapping.whole import options_of_whole, rewrite_whole, sample_whole

from .corpus import make_corpus

SWAP = ["Organization", "Person", "Product", "Location"]


def settings(**more):
    further = more.get("further", [])
    return (
        ReleasesConfig(swap=SWAP, neighbours=0, **more),
        EntitiesConfig(categories=[*SWAP, "Event", "Date", *further]),
    )


@pytest.fixture(scope="module")
def corpus():
    tables = make_corpus(n_documents=8, per_document=4)
    texts = {c["chunk_id"]: c["text"] for c in tables["chunks"]}
    document = {c["chunk_id"]: c["document_id"] for c in tables["chunks"]}
    mentions = {i: [] for i in texts}
    for row in tables["mentions"]:
        mentions[row["chunk_id"]].append(
            tuple(row[k] for k in ("start", "end", "category", "surface", "entity"))
        )
    return texts, document, mentions


def released(corpus, releases, entities, **more):
    texts, document, rows = corpus
    mentions = {i: [Mention(*row) for row in mine] for i, mine in rows.items()}
    if releases.further:
        # a word and an amount for each text, told by its number, of two currencies
        words = ["plants", "drills", "pipes", "lamps", "tyres"]
        texts = {
            i: f"{text} We sold {k + 10} {words[k % 5]} for {'$€'[k % 2]}{k + 1} million."
            for k, (i, text) in enumerate(texts.items())
        }
        for i, text in texts.items():
            mentions[i] += quantity_mentions(text, currency="USD")
            mentions[i] += term_mentions(text, words)
    ids = list(texts)
    owners = [document[i] for i in ids]
    held = {
        c: [sorted({m.entity for m in mentions[i] if m.category == c}) for i in ids]
        for c in entities.categories
    }
    plans = sample_whole(
        ids, owners, owners, None, held, options_of_whole(releases, entities), seed=3,
        releases=releases,
    )  # fmt: skip
    return texts, mentions, plans, rewrite_whole(texts, document, mentions, plans, **more)


@pytest.mark.parametrize("unit", ["chunk", "document"])
def test_which_plans_there_are(unit):
    releases, entities = settings(unit=unit, further=["Quantity", "Term"])
    found = options_of_whole(releases, entities)
    parts = [(one.swap, one.unit) for one in found]
    if unit == "chunk":
        assert parts == [((*SWAP, "Term"), "chunk"), (("Quantity",), "likeness")]
        # terms come from donors, in no layer; without donors in one of their own after all names
        assert not any("Term" in layer for layer in found[0].layers)
        alone = releases.model_copy(update={"leftover": ["placeholder"]})
        layers = options_of_whole(alone, entities)[0].layers
        assert layers[-1] == ("Term",)
        assert not any("Term" in layer for layer in layers[:-1])
    else:
        assert parts == [
            (tuple(SWAP), "document"), (("Term",), "chunk"), (("Quantity",), "likeness"),
        ]  # fmt: skip
    for one in found:
        assert not set(one.swap) & set(one.others)
        assert {*one.swap, *one.others} == set(entities.categories) - {"Event"}


@pytest.mark.parametrize("unit", ["chunk", "document"])
def test_nothing_that_is_exchanged_stays_and_all_can_be_undone(corpus, unit):
    releases, entities = settings(unit=unit, further=["Quantity", "Term"])
    texts, mentions, plans, done = released(corpus, releases, entities)
    assert set(done) == set(texts)
    for i, one in done.items():
        assert invert_edits(one.text, one.edits) == texts[i]
        assert "€" not in one.text
        replaced = {(e.category, e.start) for e in one.edits}
        for m in mentions[i]:
            if m.category in (*SWAP, "Quantity", "Term", "Event"):
                assert any(
                    e.start <= m.start and m.end <= e.end and e.old != e.new for e in one.edits
                ), (m, one.edits)
            else:
                assert (m.category, m.start) not in replaced
    assert sum(len(plan.swaps) for plan in plans) > len(texts) / 4
    if unit == "document":
        names = {}
        for fate in plans[0].fates():
            if fate.category in SWAP:
                key = corpus[1][fate.chunk_id], fate.category, fate.entity
                assert names.setdefault(key, fate.replacement) == fate.replacement


def test_texts_that_are_dropped_are_empty_and_other_replacements_stand_beside(corpus):
    releases, entities = settings(leftover=["drop"])
    beside = {
        i: {
            ("Date", row[4]): Replacement("June 7", ("June 7",)) for row in mine if row[2] == "Date"
        }
        for i, mine in corpus[2].items()
    }
    texts, _, plans, done = released(corpus, releases, entities, beside=beside)
    dropped = plans[0].dropped()
    assert dropped
    assert {i for i, one in done.items() if not one.text} == dropped
    dated = [i for i in texts if beside[i] and i not in dropped]
    assert dated
    for i in dated:
        assert "June 7" in done[i].text
        assert invert_edits(done[i].text, done[i].edits) == texts[i]


@pytest.mark.parametrize("unit", ["chunk", "document"])
def test_a_unit_has_the_plans_that_it_has_alone(unit):
    alone, entities = settings(unit=unit, further=["Quantity", "Term"])
    both, _ = settings(unit="both", further=["Quantity", "Term"])
    assert options_of_whole(both, entities, unit) == options_of_whole(alone, entities)
    for wrong in ("", "both", "page"):
        with pytest.raises(ValueError, match="'unit' parameter of options_of_whole"):
            options_of_whole(both, entities, wrong)


def test_an_amount_said_twice_is_no_plural():
    text = "A 5 million dollar loan, of 5 million dollars."
    mentions = quantity_mentions(text, currency="EUR")
    assert len({m.entity for m in mentions}) == 1
    new = {("Quantity", mentions[0].entity): Replacement("[Quantity]", ("[Quantity]",))}
    done = rewrite_text(text, mentions, new)
    assert done.text == "A [Quantity] loan, of [Quantity]."
    assert invert_edits(done.text, done.edits) == text
