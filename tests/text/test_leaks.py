import numpy as np
import pytest
from pyspark.sql import Row
from pyspark.sql import functions as F

from nes_spark.config import IdentifiersConfig
from nes_spark.schemas import LEAKS, MENTIONS, OWN_NAMES
from nes_spark.text import Identifier, Matcher
from nes_spark.text.leak_stages import find_leaks, own_names, quote_leaks
from nes_spark.text.leaks import (
    CROSS_LENGTH,
    SWAPPED_IN,
    Sieve,
    candidates,
    find_leaks_in_memory,
    own_leaks,
    own_spellings,
    spellings_in,
)

CONFIG = IdentifiersConfig.model_validate({})


def c(name):
    return Identifier("company", name, "[Company Name]")


def p(name):
    return Identifier("person", name, "[Executive 1]")


DOCUMENTS = {
    "d1": [c("Monro Inc"), p("Brett Ponton"), Identifier("ticker", "MNRO", "[Company Name]")],
    "d2": [c("Lands' End"), c("Target"), p("Ann Price")],
    "d3": [c("Quuxly Holdings"), c("Monro Inc")],
    "d4": [],
}
CHUNKS = [
    ("d1#00000", "d1", "[Company Name] grew, said [Executive 1]. See [URL]."),
    ("d1#00001", "d1", "MONRO's sites, Monro\n Inc, and M O N R O; Mr. Ponton; MNRO."),
    ("d1#00002", "d1", "Lands-End and LANDS END sold; our target at Target is Price."),
    ("d2#00000", "d2", "The QUUXLY team met Brett Ponton. Monrovia is far."),
    ("d3#00000", "d3", "Quuxly-Holdings, see quuxly.com or jane@quuxly.com, 877-344-7529"),
    ("d4#00000", "d4", "Nothing here but [Company Name] and Brett."),
    (
        "d4#00001",
        "d4",
        "From 10.21.7.44 (MAC 3c:22:fb:9a:10:7e), fe80::3e22:fbff:fe9a:107e, at 10:21.",
    ),
]
EXPECTED = [
    ("d1#00001", "d1", "d1", "company", "name", 3),
    ("d1#00001", "d1", "d1", "person", "part", 1),
    ("d1#00001", "d1", "d1", "ticker", "ticker", 1),
    ("d1#00002", "d1", "d2", "company", "other_document", 3),
    ("d2#00000", "d2", "d1", "person", "other_document", 1),
    ("d2#00000", "d2", "d3", "company", "other_document", 1),
    ("d3#00000", "d3", "d3", "company", "name", 1),
    ("d3#00000", "d3", "d3", "email", "email", 1),
    ("d3#00000", "d3", "d3", "phone", "phone", 1),
    ("d3#00000", "d3", "d3", "url", "url", 1),
    ("d4#00001", "d4", "d4", "url", "url", 3),
]


def test_in_memory():
    assert find_leaks_in_memory(CHUNKS, DOCUMENTS) == EXPECTED


def test_allowed_forms_are_no_leaks():
    rows = find_leaks_in_memory(CHUNKS, DOCUMENTS, allow=["Monro Inc", "monro", "Lands End"])
    assert {r[0] for r in rows if r[3] == "company"} == {"d1#00002", "d2#00000", "d3#00000"}


def documents_of(spark, found):
    return spark.createDataFrame(
        [
            Row(
                document_id=name,
                metadata=f"Secret {name}",
                identifiers=[
                    Row(kind=i.kind, value=i.value, placeholder=i.placeholder) for i in items
                ],
            )
            for name, items in found.items()
        ],
        "document_id string, metadata string, "
        "identifiers array<struct<kind:string,value:string,placeholder:string>>",
    )


@pytest.fixture
def frames(spark):
    released = spark.createDataFrame(CHUNKS, "chunk_id string, document_id string, text string")
    return released, documents_of(spark, DOCUMENTS)


def test_spark_finds_the_same(frames, partitions):
    released, documents = frames
    found = find_leaks(released.repartition(partitions), documents, CONFIG)
    assert found.columns == LEAKS.names
    rows = sorted(tuple(r) for r in found.select(*LEAKS.names).collect())
    assert rows == EXPECTED


def test_what_names_a_text_is_quoted_as_it_stands(spark, partitions):
    chunks = [
        ("d1#00000", "d1", "At MONRO we stop, Bob  Hale. Monro's stop."),
        ("d1#00001", "d1", "We stop."),
        ("d2#00000", "d2", "We saw Monro."),
    ]
    released = spark.createDataFrame(chunks, "chunk_id string, document_id string, text string")
    documents = documents_of(spark, {"d1": [c("Monro Inc"), p("Bob Hale")], "d2": [c("Rev Inc")]})
    found = quote_leaks(released.repartition(partitions), documents, CONFIG)
    assert dict(tuple(row) for row in found.collect()) == {
        "d1#00000": "Bob Hale; MONRO; Monro",
        "d1#00001": "",
        "d2#00000": "",
    }
    allowed = CONFIG.model_copy(update={"allow": ["Monro"]})
    found = dict(tuple(row) for row in quote_leaks(released, documents, allowed).collect())
    assert found["d1#00000"] == "Bob Hale"


def test_a_name_of_many_documents_is_one_hit(spark):
    shared = DOCUMENTS | {f"e{i}": [c("Monro Inc"), p("Bob Hale")] for i in range(20)}
    chunks = [("d2#00000", "d2", "We saw Monro and Bob Hale. At Monro we stop.")]
    rows = find_leaks_in_memory(chunks, shared)
    assert rows == [
        ("d2#00000", "d2", "d1", "company", "other_document", 2),
        ("d2#00000", "d2", "e0", "person", "other_document", 1),
    ]
    others = documents_of(spark, shared)
    released = spark.createDataFrame(chunks, "chunk_id string, document_id string, text string")
    found = find_leaks(released, others, CONFIG)
    assert sorted(tuple(r) for r in found.select(*LEAKS.names).collect()) == rows


def test_nothing_left_is_no_row(frames, spark):
    released, documents = frames
    clean = released.filter("chunk_id in ('d1#00000', 'd4#00000')")
    assert find_leaks(clean, documents, CONFIG).count() == 0


def test_a_sieve_misses_nothing_and_lets_little_else_through():
    keys = [f"name{i}" for i in range(5000)]
    sieve = Sieve.of([*keys, *keys])
    assert all(k in sieve and sieve.begins(k) for k in keys)
    through = sum(f"other{i}" in sieve for i in range(20_000))
    assert 0 < through < 20_000 / 25 and 7 not in sieve
    begun = {f"{i:04d}" for i in range(5000)}
    assert sum(sieve.begins(k + "x") for k in begun) < len(begun) / 25
    assert "name1" not in Sieve.of([]) and not Sieve.of([]).begins("name1")


def test_the_sieve_holds_no_spelling_back():
    rng = np.random.default_rng(7)
    matcher = Matcher([], CONFIG.kinds)
    said = "Acme Ann The of & Lands' End 3M it Éclair, was. Ruth's Chris Inc. al-Bo"
    words = said.split()
    for _ in range(200):
        text = " ".join(rng.choice(words, 12))
        every = list(candidates(text, matcher))
        spellings = sorted({c.key for c in every})
        known = {k for k in spellings if rng.random() < 0.3}
        found = list(candidates(text, matcher, Sieve.of(known)))
        assert [c for c in every if c.key in known] == [c for c in found if c.key in known]
        assert len(found) <= len(every)


def test_numbers_of_spellings_are_those_of_spark(spark):
    keys = ["acme", "landsend", "éclair", "三井物産", "a" * 300]
    told = spark.createDataFrame([(k,) for k in keys], "key string")
    begins = F.substring("key", 1, CROSS_LENGTH)
    for row in told.select("key", F.crc32("key"), F.crc32(begins)).collect():
        assert tuple(row)[1:] == (Sieve.number_of(row.key), Sieve.number_of(row.key[:CROSS_LENGTH]))


# -- which entities name a document ----------------------------------------------------------

ENTITIES = {
    "Monro": {"d1", "d3"},
    "Monro Muffler Brake": {"d1", "d3"},
    "the MONROs": {"d1", "d3"},
    "M O N R O": {"d1", "d3"},
    "Lands End": {"d2"},
    "MNRO shares": {"d1"},
    "Brett Ponton": {"d1"},
    "Brett Dawson": set(),  # half the name of an executive is everybody's
    "Monrovia": set(),
    "Quuxly": {"d3"},
    "Visa": set(),
}


def test_spellings_say_which_documents_an_entity_names():
    known = {name: own_spellings(Matcher(items)).keys() for name, items in DOCUMENTS.items()}
    found = {e: {d for d, keys in known.items() if keys & spellings_in(e)} for e in ENTITIES}
    assert found == ENTITIES


def test_whatever_the_leak_search_finds_in_a_name_names_the_document():
    for name, items in DOCUMENTS.items():
        matcher = Matcher(items)
        for entity, named in ENTITIES.items():
            leaks = own_leaks(f"We saw {entity}, too.", matcher, name)
            assert not [leak for leak in leaks if leak.rule != "part"] or name in named


def test_first_and_last_names_of_a_secret_person_are_its_own():
    # a donor's Hunter came into the text of Hunter Lovelock
    items = [
        Identifier("person", "Hunter Lovelock", "[Executive 1]"),
        Identifier("person", "Ann Day", "[Executive 2]"),
    ]
    matcher = Matcher(items)
    own = own_spellings(matcher, "Hunter Lovelock")
    assert own["hunter"] is own["lovelock"] is False
    assert own["hunterlovelock"]
    assert not {"ann", "day"} & own.keys()
    assert not {"hunter", "lovelock"} & own_spellings(matcher).keys()


def test_own_names_on_spark(frames, spark, partitions):
    _, documents = frames
    # the canonical name says nothing, one of the forms that it is mentioned in does
    linked = [("d4#00000", "Organization", "Monro", "MMB Group", 0, 5)]
    rows = [("d4#00000", "Product", entity, entity, 0, 5) for entity in ENTITIES]
    mentions = spark.createDataFrame(linked + rows, MENTIONS.ddl).repartition(partitions)
    found = own_names(mentions, documents, CONFIG)
    assert found.columns == OWN_NAMES.names
    expected = {(d, "Product", e) for e, named in ENTITIES.items() for d in named}
    expected |= {(d, "Organization", "MMB Group") for d in ("d1", "d3")}
    got = [tuple(r) for r in found.collect()]
    assert set(got) == expected and len(got) == len(expected)


SHARED = {
    "d1": [c("Lorvane Gas"), p("Brett Ponton")],
    "d2": [c("Lorvane Bank"), p("Brett Ponton")],
}


@pytest.mark.parametrize(
    "most, secrets, part",
    [(1, 2, False), (2, 2, True), (1, 1, True)],  # the last: one company, two calls
)
def test_a_part_that_many_secrets_share_counts_alone_only(spark, most, secrets, part):
    documents = documents_of(spark, SHARED)
    if secrets == 1:
        documents = documents.withColumn("metadata", F.lit("Lorvane"))
    names = ["Lorvane", "Lorvane Valley", "Brett Ponton", "Brett Ponton Award"]
    rows = [("d1#00000", "Product", e, e, 0, 5) for e in names]
    found = own_names(spark.createDataFrame(rows, MENTIONS.ddl), documents, CONFIG, most)
    got = {(r["document_id"], r["entity"]) for r in found.collect()}
    # Whole names always count: the gate refuses them wherever they come from.
    assert got == {(d, e) for d in SHARED for e in names if part or e != "Lorvane Valley"}


def test_the_only_name_of_a_person_is_a_whole_one():
    """A columnist who signs as "Charlotte": no other Charlotte may come into her texts."""
    matcher = Matcher([p("Charlotte"), p("Mr. Hugo"), p("Brett Ponton")])
    spellings = own_spellings(matcher)
    for name, own in [("Lady Charlotte", True), ("Hugo Chávez", True), ("Brett Roe", False)]:
        assert any(spellings.get(key) for key in spellings_in(name)) == own, name
    for text, rule in [
        ("We met Charlotte.", "name"),
        ("We met Hugo.", "name"),
        ("We met Brett.", SWAPPED_IN),
    ]:
        (leak,) = own_leaks(text, matcher, "d1", [(7, len(text) - 1)])
        assert leak.rule == rule, text


def test_the_gate_accepts_what_the_bound_lets_in_and_refuses_the_rest():
    matcher = Matcher(SHARED["d1"])
    whole = {key for key, name in own_spellings(matcher).items() if name}
    for entity in ("Lorvane Valley", "Lorvane Gas Valley", "Brett Ponton Award"):
        text = f"We saw {entity}, too."
        leaks = own_leaks(text, matcher, "d1", [(7, 7 + len(entity))])
        named = bool(whole & spellings_in(entity))
        assert {leak.rule for leak in leaks} == {"name" if named else SWAPPED_IN}
