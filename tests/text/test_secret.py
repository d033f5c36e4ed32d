"""The value that must stay secret is suppressed and searched for, whatever is configured."""

import pytest

from nes_spark.config import ColumnsConfig, IdentifiersConfig, InputConfig, PresentationConfig
from nes_spark.errors import ConfigError
from nes_spark.text import Identifier, Matcher, check_kinds, known_identifiers, undeclared_kinds
from nes_spark.text.identifiers import find_identifiers, secret_identifiers, suppress
from nes_spark.text.kinds import title_placeholder
from nes_spark.text.leaks import find_leaks_in_memory
from nes_spark.text.reading import prepare_document, read_record
from nes_spark.text.reading_stages import read_documents

CONFIG = IdentifiersConfig.model_validate({})
MAPPED = ColumnsConfig.model_validate(
    {"text": "text", "metadata": "court", "identifiers": {"court": ["court"], "judge": ["judge"]}}
)


def prepared(value, text, identifiers=CONFIG):
    mapping = {"text": "text", "metadata": "court", "document_id": "id"}
    config = InputConfig.model_validate({"columns": mapping})
    raw = read_record({"id": "1", "court": value, "text": text}, config)
    presentation = PresentationConfig(method="none")
    return prepare_document(raw, presentation, identifiers)


def test_a_kind_that_is_not_declared_is_an_error():
    assert undeclared_kinds(MAPPED, CONFIG.kinds) == ["court", "judge"]
    with pytest.raises(ConfigError, match=r"identifiers\.kinds\.court") as caught:
        check_kinds(MAPPED, CONFIG)
    lines = str(caught.value).splitlines()
    assert len(lines) == 2
    assert all("declared are company, email, person, phone" in line for line in lines)
    declared = IdentifiersConfig.model_validate(
        {"kinds": {k: {"placeholder": f"[{k}]"} for k in ("court", "judge")}}
    )
    check_kinds(MAPPED, declared)


def test_reading_and_matching_refuse_it_too():
    with pytest.raises(ConfigError, match="'judge'"):
        known_identifiers("x", {"judge": ["Ann Roe"]}, CONFIG)
    with pytest.raises(ConfigError, match="'judge'"):
        Matcher([Identifier("judge", "Ann Roe", "[Judge]")])


def test_the_reading_stage_refuses_it_before_it_needs_spark():
    config = InputConfig.model_validate({"path": "nowhere", "columns": MAPPED.model_dump()})
    with pytest.raises(ConfigError, match="court"):
        read_documents(None, config, PresentationConfig(), CONFIG)


def test_the_name_of_the_reserved_kind_cannot_be_declared():
    with pytest.raises(ValueError, match="another name"):
        IdentifiersConfig.model_validate({"kinds": {"metadata": {"placeholder": "[M]"}}})


@pytest.mark.parametrize(
    "value, text, expected",
    [
        (
            "Court of Appeal (Civil Division)",
            "In the Court of Appeal (Civil Division), the COURT OF APPEAL's list.",
            "In the [Court], the [Court]'s list.",
        ),
        ("Acme Corp.", "Acme Corp. sued; Acme won.", "[Court]. sued; [Court] won."),
        ("Roe, Ann", "Ann Roe and Roe, Ann", "[Court] and [Court]"),
        ("GAP", "GAP closed the gap", "[Court] closed the gap"),
        ("gap", "the gap", "the [Court]"),
        ("42", "case 42, not 420", "case [Court], not 420"),
        ("§§", "under §§ here", "under [Court] here"),
        ("最高裁判所", "本日最高裁判所は判決", "本日[Court]は判決"),
        (
            "The Most Honourable and Ancient Court of the Ten Northern Shires and Isles",
            "at the Most Honourable and Ancient Court of the Ten Northern Shires and Isles.",
            "at [Court].",
        ),
    ],
)
def test_without_any_kind_that_covers_it(value, text, expected):
    document = prepared(value, text)
    assert suppress(text, document.identifiers)[0] == expected
    leaks = find_leaks_in_memory([("c", "1", text)], {"1": document.identifiers})
    assert leaks and {row[3] for row in leaks} == {"metadata"}
    assert find_leaks_in_memory([("c", "1", expected)], {"1": document.identifiers}) == []


def test_a_kind_that_covers_the_column_is_enough():
    config = IdentifiersConfig.model_validate(
        {"kinds": {"court": {"placeholder": "[The Court]", "rule": "company"}}}
    )
    document = prepared("Acme Holdings", "Acme", identifiers=config)
    assert [i.kind for i in document.identifiers] == ["metadata"]
    names, _ = known_identifiers(
        "Acme", {"court": ["Acme Holdings"]}, config, secret=("court", "Acme Holdings")
    )
    assert [(i.kind, i.placeholder) for i in names] == [("court", "[The Court]")]


@pytest.mark.parametrize(
    "kind, value, config",
    [
        ("person", "Operator", {}),  # no name, so the kind leaves it out
        ("ticker", "IT", {}),  # found beside "ticker" only
        ("company", "Acme Corp", {"allow": ["Acme Corp", "Acme"]}),
    ],
)
def test_a_kind_that_does_not_find_the_value_does_not_cover_it(kind, value, config):
    config = IdentifiersConfig.model_validate(config)
    names, _ = known_identifiers("x", {kind: [value]}, config, secret=("who", value))
    assert [i.kind for i in names if i.value == value][-1] == "metadata"
    found = find_identifiers(f"We saw {value} there.", names, config.kinds, config.allow)
    assert found == [(7, 7 + len(value), "metadata")]


def test_what_is_covered_is_not_listed_twice():
    known = Matcher([Identifier("company", "Acme Corp", "[Company Name]")])
    assert secret_identifiers("company_name", "Acme Corp", known) == []
    assert secret_identifiers("company_name", "Acme", known) == []
    assert secret_identifiers("company_name", "Globex", known) != []


@pytest.mark.parametrize(
    "column, placeholder",
    [
        ("court", "[Court]"),
        ("a.company_name", "[Company Name]"),
        ("ICD-code", "[ICD Code]"),
        ("1", "[Name]"),
    ],
)
def test_placeholders_are_made_of_the_columns_name(column, placeholder):
    assert title_placeholder(column) == placeholder
