"""Parts of a document's own names that swaps brought into it are told from those that stayed."""

from pyspark.sql import Row

from nes_spark.config import IdentifiersConfig
from nes_spark.schemas import EDITS, LEAKS
from nes_spark.text.leak_stages import find_leaks
from nes_spark.text.leaks import SWAPPED_IN, brought_spans, own_leaks
from nes_spark.text.matching import Matcher

CONFIG = IdentifiersConfig.model_validate({})
PERSON, COMPANY = "[Executive 1]", "[Company Name]"
DOCUMENTS = {
    "d1": [("company", "Monro Inc", COMPANY), ("person", "Brett Ponton", PERSON)],
    "d2": [("company", "Lands' End", COMPANY)],
    "d3": [("company", "Lands' End", COMPANY)],
    "d4": [],
}


def edit(before, old, new, entity=None):
    start = before.index(old)
    kind = "Person" if entity != "" else "article"
    return (start, start + len(old), old, new, kind, old, new if entity is None else entity)


MET, LANDS = "Brett met Paul.", "Lands' End and Lands End."
#: chunk, document, text after, edits
CHUNKS = [
    # A part that was there before stays a leak, one that a swap brought is told apart.
    (
        "d1#00000", "d1", "Mr. Ponton met Mr. Ponton.",
        [edit("Mr. Ponton met Paul.", "Paul", "Mr. Ponton")],
    ),
    # The own one was exchanged, and a stranger of the same name came: as many as before.
    (
        "d1#00001", "d1", "Mr. Roe met Mr. Ponton.",
        [edit(MET, "Brett", "Mr. Roe"), edit(MET, "Paul", "Mr. Ponton")],
    ),
    # Whole names are leaks wherever they come from.
    ("d1#00002", "d1", "Monro Inc", [edit("A rival.", "A rival.", "Monro Inc")]),
    ("d1#00003", "d1", "Mr. Ponton.", []),
    # What was mended around a name brings none.
    ("d1#00004", "d1", "the Ponton", [edit("a Ponton", "a Ponton", "the Ponton", "")]),
    # A name that two documents have is one hit.
    ("d4#00000", "d4", LANDS, [edit("Nobody.", "Nobody.", LANDS)]),
    ("d4#00001", "d4", "Nobody.", []),
]  # fmt: skip
FOUND = [
    ("d1#00000", "d1", "d1", "person", "part", 1),
    ("d1#00000", "d1", "d1", "person", SWAPPED_IN, 1),
    ("d1#00001", "d1", "d1", "person", SWAPPED_IN, 1),
    ("d1#00002", "d1", "d1", "company", "name", 1),
    ("d1#00003", "d1", "d1", "person", "part", 1),
    ("d1#00004", "d1", "d1", "person", "part", 1),
    ("d4#00000", "d4", "d2", "company", "other_document", 2),
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
    released = spark.createDataFrame(
        CHUNKS, f"chunk_id string, document_id string, text string, edits {EDITS}"
    )
    found = find_leaks(released.repartition(partitions), documents, CONFIG)
    assert found.columns == LEAKS.names
    assert sorted(tuple(row) for row in found.collect()) == FOUND


def test_a_name_that_goes_on_behind_what_came_is_the_documents_own():
    """A given name that came makes the surname behind it one hit with it; it stood there before."""
    items = [{"kind": "person", "value": "Brett Ponton", "placeholder": PERSON}]
    before, after = "We met Ann Ponton.", "We met Bret Ponton."
    row = dict(zip(EDITS_NAMES, edit(before, "Ann", "Bret"), strict=True))
    (leak,) = own_leaks(after, Matcher.of(items, CONFIG), "d", brought_spans([row]))
    assert (leak.rule, leak.n) == ("part", 1)


EDITS_NAMES = ("start", "end", "old", "new", "category", "old_entity", "new_entity")
