from pyspark.sql import Row

from nes_spark.config import IdentifiersConfig
from nes_spark.releases.publish_stages import EDITS, identifiers_left
from nes_spark.schemas import LEAKS
from nes_spark.text.leak_stages import index_identifiers

CONFIG = IdentifiersConfig.model_validate({})
PERSON, COMPANY = "[Executive 1]", "[Company Name]"
DOCUMENTS = {
    "d1": [("company", "Monro Inc", COMPANY), ("person", "Brett Ponton", PERSON)],
    "d2": [("company", "Lands' End", COMPANY)],
    "d3": [("company", "Lands' End", COMPANY)],
    "d4": [],
}
#: chunk, document, text before, text after, whether it was swapped
CHUNKS = [
    # A part that was there before stays a leak, one that a swap brought is told apart.
    ("d1#00000", "d1", "Mr. Ponton met Paul.", "Mr. Ponton met Mr. Ponton.", True),
    # Whole names are leaks wherever they come from.
    ("d1#00001", "d1", "A rival.", "Monro Inc", True),
    ("d1#00002", "d1", "Mr. Ponton.", "Mr. Ponton.", False),
    # A name that two documents have is one hit.
    ("d4#00000", "d4", "Nobody.", "Lands' End and Lands End.", True),
    ("d4#00001", "d4", "Nobody.", "Nobody.", False),
]


def test_hits_are_listed_with_document_and_rule(spark, partitions):
    documents = spark.createDataFrame(
        [
            Row(
                document_id=name,
                identifiers=[Row(kind=k, value=v, placeholder=p) for k, v, p in items],
            )
            for name, items in DOCUMENTS.items()
        ],
        "document_id string, "
        "identifiers array<struct<kind:string,value:string,placeholder:string>>",
    )
    chunks = spark.createDataFrame(
        [(chunk, document, before) for chunk, document, before, _, _ in CHUNKS],
        "chunk_id string, document_id string, text string",
    )
    released = [
        (chunk, document, f"r{document}", "2020Q3", 0, after, [], "x" if swapped else None)
        for chunk, document, _, after, swapped in CHUNKS
    ]
    assembled = spark.createDataFrame(
        released,
        "chunk_id string, document_id string, release_document_id string, period string, "
        f"position int, text string, edits {EDITS}, partner_id string",
    ).repartition(partitions)
    index = index_identifiers(documents, CONFIG)
    found = identifiers_left(assembled, chunks, index, CONFIG)
    assert found.columns == LEAKS.names
    rows = sorted(tuple(row) for row in found.collect())
    index.drop()
    assert rows == [
        ("d1#00000", "d1", "d1", "person", "part", 1),
        ("d1#00000", "d1", "d1", "person", "swapped_in", 1),
        ("d1#00001", "d1", "d1", "company", "name", 1),
        ("d1#00002", "d1", "d1", "person", "part", 1),
        ("d4#00000", "d4", "d2", "company", "other_document", 2),
    ]
