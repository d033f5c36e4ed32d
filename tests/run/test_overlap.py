"""``nes-spark overlap --attack`` on a finished run; the attackers: tests/audit/test_history.py."""

import pytest
from click.testing import CliRunner

from nes_spark.audit.history import quarter_table
from nes_spark.audit.linkage import features_of
from nes_spark.cli import main
from nes_spark.compare.quarters import attack_quarters, quarter_of
from nes_spark.errors import InputError
from nes_spark.run.published import PublishedRun

pytestmark = pytest.mark.usefixtures("seeded")


@pytest.fixture(scope="module")
def table(whole):
    return quarter_of(PublishedRun(whole.directory))


def test_a_run_becomes_the_table_of_a_quarter(whole, table):
    chunks = whole.table("chunks")
    assert table["text_before"].tolist() == chunks["text"].tolist()
    released = dict(PublishedRun(whole.directory).released_texts())
    assert sorted(t for t in table["text_after"] if t) == sorted(released.values())
    assert (table["text_after"] == "").sum() == len(chunks) - len(released) > 0
    shown = quarter_table("test", table)
    changed = 0
    for row in shown.itertuples():
        before, after = (set(features_of(e, pairs=False)) for e in (row.entities, row.shown))
        if not row.text_after:
            assert not after
            continue
        changed += before != after
        for edit in row.edits:
            assert edit["old"] == row.text_before[edit["start"] : edit["end"]]
    assert changed > len(shown) / 3


def test_who_holds_the_same_originals_names_them(whole):
    """The quarter before is the same one: nobody has to learn anything."""
    result = CliRunner().invoke(
        main, ["overlap", str(whole.directory), str(whole.directory), "--attack"]
    )
    assert result.exit_code == 0, result.output
    head, row = result.output.strip().splitlines()
    assert head.startswith("quarters held")
    cells = [cell.strip() for cell in row.split("|")]
    assert cells[0] == "1" and int(cells[1]) == whole.figures["documents"]
    assert cells[2].startswith("100.0%") and cells[4].startswith("+0.0%")
    names = {e for mine in whole.table("mentions")["entity"].unique() for e in [mine] if len(e) > 8}
    assert not any(name in result.output for name in names)


def test_several_earlier_runs_are_counted_each(whole):
    result = CliRunner().invoke(main, ["overlap", *[str(whole.directory)] * 3])
    assert result.exit_code == 0, result.output
    assert result.output.count("chunks that both releases hold") == 2


def test_what_is_refused_says_so(whole, tmp_path):
    with pytest.raises(InputError, match=r"holds 14 documents, and at most 5 .* --max-documents"):
        attack_quarters([whole.directory], whole.directory, 5)
    with pytest.raises(InputError, match="no published run here"):
        attack_quarters([tmp_path], whole.directory)
    result = CliRunner().invoke(
        main, ["overlap", str(whole.directory), str(whole.directory), "--max-documents", "5"]
    )
    assert result.exit_code == 2 and "--max-documents is for --attack" in result.output
