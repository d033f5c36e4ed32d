"""The corpora go through reading, chunking and suppression with their own configurations."""

from pathlib import Path

import pytest

from nes_spark.config import load_config
from nes_spark.demo import calls, filings, notes
from nes_spark.demo.__main__ import line_of

CONF = Path(__file__).parents[2] / "conf"
DIRECT = {
    "calls": {"company", "person", "url"},
    "clinical": {"hospital", "physician", "patient", "mrn", "phone"},
    "patents": {"assignee", "inventor", "application_number"},
}


@pytest.mark.parametrize(
    ("name", "make", "conf"),
    [
        pytest.param("calls", lambda: calls(10), "demo", marks=pytest.mark.slow),  # in the demo run
        ("clinical", notes, "clinical"),
        ("patents", filings, "patents"),
    ],
)
def test_nothing_is_quarantined_and_no_identifier_is_left(spark, tmp_path, name, make, conf):
    from nes_spark.text.chunking_stages import chunk_documents
    from nes_spark.text.reading_stages import read_documents

    made = list(make())
    path = tmp_path / "texts.jsonl"
    path.write_text("".join(line_of(document) for document, _ in made), encoding="utf-8")
    config = load_config(CONF / f"{conf}.yaml", {"input.path": str(path)})
    documents, quarantine = read_documents(
        spark, config.input, config.presentation, config.identifiers
    )
    documents = documents.cache()
    assert quarantine.count() == 0
    assert documents.count() == len(made)
    chunks = chunk_documents(documents, config.chunking, config.identifiers, "bundled").toPandas()
    documents.unpersist()
    released = chunks.sort_values("chunk_id").groupby("document_id")["text"].agg("\n".join)
    placeholders = {kind.placeholder.split("#")[0] for kind in config.identifiers.kinds.values()}
    for document, gold in made:
        text = released[document["document_id"]]
        assert any(placeholder in text for placeholder in placeholders)
        for *_, kind, surface in gold["spans"]:
            # a first name alone may be a word or somebody else's; full names and all others go
            if kind in DIRECT[name] and (kind != "person" or " " in surface):
                assert surface not in text, (document["document_id"], kind)
    assert len(chunks) > 5 * len(made)


def test_presentation_parts_end_where_the_gold_says():
    from nes_spark.text import Turn, find_presentation

    exact = 0
    made = list(calls())
    for document, gold in made:
        turns = [Turn(t["text"], t["speaker"], t["speaker_id"]) for t in document["turns"]]
        exact += find_presentation(turns).qa_start_turn == gold["qa_start_turn"]
    assert exact >= 0.9 * len(made)
