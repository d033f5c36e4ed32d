import pandas as pd
import pytest
from click.testing import CliRunner

from nes_spark.building.sweep_measures import half_of, main, measure

CHUNKS = pd.DataFrame(
    [
        ("a#00000", "a", "one", "We sell mophie cases in Flatbush."),
        ("a#00001", "a", "one", "Zagg likes GPT-4."),
        ("b#00000", "b", "two", "We like GPT-4 too."),
    ],
    columns=["chunk_id", "document_id", "metadata", "text"],
)
MENTIONS = pd.DataFrame(
    [("a#00001", "Organization", "Zagg", "Zagg", 0, 4)],
    columns=["chunk_id", "category", "surface", "entity", "start", "end"],
)


def test_counts():
    found = measure(CHUNKS, MENTIONS, share=0.5)
    assert (found.documents, found.chunks, found.words, found.mentioned) == (2, 3, 13, 1)
    assert dict(found.swept) == {"rare": 1, "capital": 1}
    assert found.forms[0] == ("gpt-4", "digits", 2, 2, False)
    assert dict(measure(CHUNKS, MENTIONS, share=1.0).swept)["digits"] == 2


def test_a_half_is_counted_with_the_evidence_of_all():
    halves = [measure(CHUNKS, MENTIONS, share=0.5, half=half) for half in (0, 1)]
    assert sum(h.words for h in halves) == 13
    assert sum(sum(h.swept.values()) for h in halves) == 2
    assert all(form[2] == 2 for h in halves for form in h.forms if form[0] == "gpt-4")
    assert {half_of(str(i)) for i in range(20)} == {0, 1}


def test_command(tmp_path):
    for name, table in (("chunks", CHUNKS), ("mentions", MENTIONS)):
        (tmp_path / name).mkdir()
        table.to_parquet(tmp_path / name / "part.parquet")
    result = CliRunner().invoke(main, [str(tmp_path), "--share", "0.5"])
    assert result.exit_code == 0, result.output
    assert "swept: 2 words, 153.85 in 1,000" in result.output
    assert "'gpt-4' (digits, 2 of the secrets, left alone)" in result.output
    assert "cases" not in result.output


@pytest.mark.parametrize("missing", ["chunks", "mentions"])
def test_a_folder_without_tables_is_refused(tmp_path, missing):
    for name in {"chunks", "mentions"} - {missing}:
        (tmp_path / name).mkdir()
    result = CliRunner().invoke(main, [str(tmp_path)])
    assert result.exit_code == 1 and f"has no table '{missing}'" in result.output
