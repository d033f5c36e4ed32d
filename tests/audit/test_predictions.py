"""Guesses in memory are those of the definition and of the Spark stages."""

import pytest

from nes_spark.audit.adversaries import PREDICTIONS_TABLE, View
from nes_spark.audit.attack_stages import attack
from nes_spark.audit.predictions import linkage_predictions, text_predictions
from nes_spark.errors import InputError
from nes_spark.schemas import PREDICTIONS
from tests.audit.corpus import frames, make
from tests.audit.test_stages import CONFIG, J, oracle, rows, text_oracle


@pytest.fixture(scope="module")
def corpus():
    return make()


def records(found):
    return [dict(zip(PREDICTIONS.names, row, strict=True)) for row in found]


@pytest.mark.parametrize("most", [2, 1000])
def test_linkage_agrees_with_its_definition(corpus, most):
    config = CONFIG.model_copy(update={"max_candidates_per_entity": most})
    found = records(linkage_predictions(corpus.cells, corpus.rewrites, config, ["Date"]))
    assert len(found) == 2 * 2 * 2 * 12
    for model, leave_out in (("linkage", True), ("linkage-self", False)):
        mine = {
            (r["draw"], r["chunk_id"], r["side"]): (r["answer"], r["rank"])
            for r in found
            if r["model"] == model
        }
        assert mine == oracle(corpus, leave_out, config, ["Date"])
    assert any(r["evidence"] for r in found)


@pytest.mark.parametrize("most", [2, 1000])
def test_text_agrees_with_its_definition(corpus, most):
    config = CONFIG.model_copy(update={"max_candidates_per_entity": most})
    spans = {}
    for m in corpus.mentions:
        spans.setdefault(m["chunk_id"], []).append((m["start"], m["end"]))
    found = records(text_predictions(corpus.chunks, spans, corpus.rewrites, config))
    got = {
        (r["draw"], r["chunk_id"], r["side"], r["model"]): (r["answer"], r["rank"]) for r in found
    }
    assert len(got) == len(found)
    assert got == text_oracle(corpus, corpus.rewrites, most)


def test_there_is_nothing_to_learn_from(corpus):
    for found in (
        linkage_predictions([], corpus.rewrites, CONFIG),
        text_predictions([], {}, corpus.rewrites, CONFIG),
    ):
        with pytest.raises(InputError, match="no chunks to learn from"):
            list(found)


def test_a_small_corpus_gives_the_same_table(spark, corpus, attacked):
    tables = frames(spark, corpus)
    mine = [tables[name] for name in ("cells", "chunks", "mentions", "rewrites")]
    found = attack(View(*mine, J, ("Date",), small=True), CONFIG, PREDICTIONS_TABLE)
    assert isinstance(found, list)  # without a query: the store writes them as they are
    small = rows(spark.createDataFrame(found, PREDICTIONS.ddl), 5)
    assert small == sorted(map(tuple, attacked[1]), key=lambda r: tuple(map(str, r[:5])))
