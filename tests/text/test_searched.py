"""What is searched for, and secrets that nothing searches for."""

import pytest

from nes_spark.config import IdentifiersConfig
from nes_spark.text.identifiers import Identifier, known_identifiers
from nes_spark.text.searching import finds_secret

CONFIG = IdentifiersConfig()
KNOWN = [
    Identifier("company", "Acme Corp.", "[Company Name]"),
    Identifier("person", "Ann Roe", "[Executive 1]"),
    Identifier("url", "acme.com", "[URL]"),
]


@pytest.mark.parametrize(
    ("value", "without", "found"),
    [
        ("Acme Corp.", (), True),
        ("Acme Corp.", ("url", "person"), True),
        ("Acme Corp.", ("company",), False),
        ("Ann Roe", ("company",), True),
        ("Ann Roe", ("person", "url"), False),
        ("Acme Corp. and Ann Roe", ("person",), False),
        ("Globex", (), False),
    ],
)
def test_a_secret_is_found_by_the_kinds_that_are_left(value, without, found):
    assert finds_secret(value, KNOWN, CONFIG, without) is found


def test_one_that_has_a_kind_of_its_own_needs_no_other():
    own = [*KNOWN, Identifier("metadata", "Globex", "[Name]")]
    assert finds_secret("Globex", own, CONFIG, ("company", "person"))


def test_a_secret_in_small_letters_does_not_hide_that_only_an_accepted_kind_finds_it():
    value = "Faith Stone"
    own, _ = known_identifiers(value, {"company": [value]}, CONFIG, secret=("firm", value))
    assert [i.kind for i in own] == ["company", "metadata"]
    assert finds_secret(value, own, CONFIG)
    assert not finds_secret(value, own, CONFIG, ["company"])


def test_documents_whose_secret_only_accepted_kinds_find_are_counted(spark):
    from nes_spark.text.leak_stages import index_identifiers
    from nes_spark.text.searched_stages import secrets_accepted

    known = [(i.kind, i.value, i.placeholder) for i in KNOWN]
    rows = [
        ("a", "Acme Corp.", known),
        ("b", "Ann Roe", known),
        ("c", "Globex", [("metadata", "Globex", "[Name]")]),
        ("d", "Acme Corp.", known[:1]),
    ]
    documents = spark.createDataFrame(
        rows,
        "document_id string, metadata string, "
        "identifiers array<struct<kind:string,value:string,placeholder:string>>",
    ).repartition(3)
    assert secrets_accepted(documents, CONFIG, ["other_document", "swapped_in"]) == 0
    assert secrets_accepted(documents, CONFIG, ["company", "part"]) == 2
    assert secrets_accepted(documents, CONFIG, ["person", "company"]) == 3
    index = index_identifiers(documents, CONFIG)
    found = index.searched
    index.drop()
    documents_of = {kind: n for kind, (_, n) in found.items()}
    assert documents_of == {"company": 3, "metadata": 1, "person": 2, "url": 2}
    # Ann Roe, "Roe, Ann", Ann, Roe and "AR:" in two documents
    assert found["person"][0] == 2 * 5
