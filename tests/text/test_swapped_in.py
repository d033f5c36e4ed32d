"""Parts of a document's own names that swaps brought into it are told from those that stayed."""

from pyspark.sql import Row

from nes_spark.config import IdentifierKind, IdentifiersConfig
from nes_spark.schemas import EDITS, LEAKS
from nes_spark.text.leak_stages import find_leaks
from nes_spark.text.leaks import SWAPPED_IN, brought_spans, own_leaks
from nes_spark.text.matching import Identifier, Matcher
from nes_spark.text.searching import forms_of_kinds

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
    # It reads as a number with what came alone; a number that was left does not.
    ("d1#00005", "d1", "ALP 340 5028631", [edit("GMC 5028631", "GMC", "ALP 340")]),
    ("d1#00006", "d1", "ALP 340, 020 7946 0632", [edit("GMC, 020 7946 0632", "GMC", "ALP 340")]),
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
    ("d1#00005", "d1", "d1", "phone", SWAPPED_IN, 1),
    ("d1#00006", "d1", "d1", "phone", "phone", 1),
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


def test_a_first_name_before_what_came_is_not_the_documents_for_being_alone():
    """Of 1.3 million chunks one was refused: "Grace" stood there before somebody else's name."""
    people = ("Grace Dahlberg", "Scott Kim")
    items = [{"kind": "person", "value": name, "placeholder": PERSON} for name in people]
    before = "Grace Wainwright left, and Linda Bannister came."
    after = before.replace("Wainwright", "University of Michigan").replace(
        "Linda Bannister", "Grace Kim"
    )
    rows = [
        dict(zip(EDITS_NAMES, (at, at + len(old), old, new, "x", old, new), strict=True))
        for old, new in (("Wainwright", "University of Michigan"), ("Linda Bannister", "Grace Kim"))
        for at in (before.index(old),)
    ]
    matcher = Matcher.of(items, CONFIG)
    (leak,) = own_leaks(after, matcher, "d", brought_spans(rows))
    assert (leak.rule, leak.n) == (SWAPPED_IN, 1)
    # where it is the document's own without what came, it still is
    found = own_leaks(f"{after} Grace agreed.", matcher, "d", brought_spans(rows))
    assert [(leak.rule, leak.n) for leak in found] == [("part", 1), (SWAPPED_IN, 1)]


def test_a_shape_that_a_replacement_made_is_no_identifier_of_the_document():
    def leaks(before, old, new, entity=None):
        after = before.replace(old, new)
        row = dict(zip(EDITS_NAMES, edit(before, old, new, entity), strict=True))
        spans = brought_spans([row | {"new_entity": "x"}])
        found = own_leaks(after, Matcher.of([], CONFIG), "d", brought_spans([row]), spans)
        return [(leak.kind, leak.rule, leak.n) for leak in found]

    made = [("phone", SWAPPED_IN, 1)]
    assert leaks("GMC 5028631", "GMC", "ALP 340") == made
    assert leaks("GMC 5028631 now", "5028631", "340 502 8631") == [("phone", "phone", 1)]
    # also where it was mended around a name, or a date was moved
    assert leaks("of 12 on 4 5028631", "12 on 4", "on 340", "") == made
    # what was left is found, with the word that announces it and beside a number that came
    assert leaks("call Zoe Zoe Zoe Zoe 4451106796", "Zoe Zoe Zoe Zoe", "Ann") == [
        ("phone", "phone", 1)
    ]
    both = leaks("call 02079460632 or GMC 5028631", "GMC", "ALP 340")
    assert both == [("phone", "phone", 1), *made]
    assert leaks("Tel. 0221/4740173 5 Vega", "Vega", "Orr") == [("phone", "phone", 1)]


EDITS_NAMES = ("start", "end", "old", "new", "category", "old_entity", "new_entity")


def test_a_day_that_a_shift_brought_is_told_from_the_listed_one():
    kinds = {"dob": IdentifierKind(placeholder="[Dob]", rule="date")}
    matcher = Matcher([Identifier("dob", "3/4/1957", "[Dob]")], kinds)
    text = "Seen on 3 April 1957, born 3.4.57."
    found = own_leaks(text, matcher, "d1", [(8, 20)])
    assert [(leak.rule, leak.n) for leak in found] == [("date", 1), (SWAPPED_IN, 1)]
    assert [leak.n for leak in own_leaks(text, matcher, "d1")] == [2]
    assert forms_of_kinds(matcher) == {"dob": 1}
