"""The Spark stage of terms finds what the in-memory form does."""

from nes_spark.config import EntitiesConfig
from nes_spark.entities import further_stages
from nes_spark.entities.clue_stages import add_clues
from nes_spark.entities.further import further_mentions
from nes_spark.entities.further_stages import add_further, find_terms, further_rows
from nes_spark.entities.telling_stages import find_telling
from nes_spark.schemas import MENTIONS
from tests.conftest import setting_of

TEXTS = {
    "a#0": "Cement of Kiln City sold well. The plants made cement. Our cement plants ran.",
    "a#1": "Cement sold well again, and the plants ran.",
    "a#3": "We plant trees that cement ties, as cement-based, low-cement and plant-kiln goods do.",
    "b#0": "Mattresses sold well. The stores have mattresses.",
    # nothing that another document has not: it has no terms, but words that could be some
    "c#0": "The stores sold well, and the plants too.",
    "d#0": "Thank you.",
    # said by six of fourteen, scattered as by chance
    **{f"{name}#0": "The role went well." for name in "efghi"},
    "j#0": "The role went well, a role for cement tools of brakes, and the brakes.",
    **{f"{name}#0": "Good morning." for name in "klmn"},
}


def test_terms_as_in_memory_also_where_a_document_has_none(spark):
    documents = {chunk: chunk[0] for chunk in TEXTS}
    expected = further_mentions(TEXTS, documents, documents, {}, ["Term"], 5)
    assert not expected["c#0"] and not expected["d#0"] and expected["a#0"]
    assert {m.surface for m in expected["j#0"]} == {"tools", "brakes"}
    assert "cement plants" in {m.entity for m in expected["a#0"]}
    assert {"plant/other", "cement/other", "cement-based/other", "plant-kiln/other"} <= {
        m.entity for m in expected["a#3"]
    }
    rows = [(chunk, documents[chunk], documents[chunk], text) for chunk, text in TEXTS.items()]
    chunks = spark.createDataFrame(
        rows, "chunk_id string, document_id string, metadata string, text string"
    ).repartition(7)
    with setting_of(spark, "spark.sql.shuffle.partitions", 2):
        found = find_terms(chunks, spark.createDataFrame([], MENTIONS.ddl), 5).collect()
    assert sorted((r["chunk_id"], r["start"], r["entity"]) for r in found) == sorted(
        (chunk, m.start, m.entity) for chunk, mine in expected.items() for m in mine
    )


def test_in_one_call_the_mentions_are_those_of_the_stage(spark, partitions, monkeypatch):
    texts = TEXTS | {"a#2": "We sold 40 plants to Acme Cement for $5 million, 12 of them in May."}
    rows = [(chunk, chunk[0], chunk[0], text) for chunk, text in texts.items()]
    chunks = spark.createDataFrame(
        rows, "chunk_id string, document_id string, metadata string, text string"
    ).repartition(partitions)
    start = texts["a#2"].index("Acme")
    known = [
        ("a#2", "Organization", "Acme Cement", "Acme Cement", start, start + 11),
        ("a#2", "Term", "plants", "of another run", 11, 17),
    ]
    mentions = spark.createDataFrame(known, MENTIONS.ddl)
    categories = ["Organization", "Quantity", "Term"]
    config = EntitiesConfig(terms=5, currency="EUR").model_copy(update={"categories": categories})
    here = further_rows(iter(rows), mentions, config)
    found = sorted(tuple(r) for r in add_further(chunks, mentions, config).collect())
    assert sorted(here) == found
    assert {row[1] for row in here} == {"Organization", "Quantity", "Term"}
    assert "of another run" not in {row[3] for row in here}
    assert "€5 million (money/e+6/0)" in {row[3] for row in here}
    with monkeypatch.context() as patched:  # and with texts that workers look at
        patched.setattr(further_stages, "MANY_CHUNKS", 1)
        assert further_rows(iter(rows), mentions, config) == here
    # and telling words on top of them
    told = config.model_copy(update={"telling": 0.5})
    found = spark.createDataFrame(found, MENTIONS.ddl)  # each reader would find them again
    with_clues = add_clues(chunks, found, None, telling=find_telling(chunks, found, 0.5))
    here = further_rows(iter(rows), mentions, told)
    assert sorted(here) == sorted(tuple(r) for r in with_clues.collect())
    assert "Clue" in {row[1] for row in here}
