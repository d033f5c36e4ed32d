"""``nes-spark names``: the list of a finished run."""

import csv
import shutil
import stat
from collections import Counter

import pytest
import yaml
from click.testing import CliRunner

from nes_spark import cli
from nes_spark.entities.listing import ListedName
from nes_spark.errors import InputError
from nes_spark.run.naming import as_denied, names_of, table_of
from nes_spark.store import Store


def run(*options):
    return CliRunner().invoke(cli.main, ["names", *map(str, options)])


def test_every_name_is_listed_once_with_its_places(finished, tmp_path):
    _, result = finished
    mentions = result.table("mentions")
    names = mentions[~mentions["category"].isin(["Date", "Quantity", "Term", "Clue"])]
    expected = Counter(zip(names["category"], names["entity"], strict=True))
    found = names_of(result.directory)
    assert {(r.category, r.form): r.mentions for r in found} == expected and expected
    owner = result.table("chunks").set_index("chunk_id")["metadata"]
    sources = names.assign(of=names["chunk_id"].map(owner)).groupby(["category", "entity"])["of"]
    assert {(r.category, r.form): r.sources for r in found} == sources.nunique().to_dict()

    path = tmp_path / "names.csv"
    done = run(result.directory, "--output", path)
    assert done.exit_code == 0 and f"{len(found):,} forms written" in done.output
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    rows = list(csv.DictReader(path.open(newline="")))
    assert [(r["category"], r["form"], int(r["mentions"])) for r in rows] == [
        (r.category, r.form, r.mentions) for r in found
    ]

    shown = run(result.directory, "--category", "Product", "--most", 3).output.splitlines()
    products = [r for r in found if r.category == "Product"]
    assert shown[:4] == table_of(products[:3]).splitlines()
    assert f"and {len(products) - 3} more" in shown[4]


def test_what_cannot_be_listed_is_one_line(finished, tmp_path):
    _, result = finished
    with pytest.raises(InputError, match="--category Fish: the run has Organization, "):
        names_of(result.directory, "Fish")
    done = run(tmp_path)
    assert done.exit_code != 0 and "holds no finished run" in done.output


def test_names_of_other_chunks_are_not_listed(finished, tmp_path):
    """A run that was begun since and cut its texts anew has the mentions of the last one."""
    _, result = finished
    run = tmp_path / "all"
    shutil.copytree(result.directory, run)
    store = Store(run)
    chunks = store.read_pandas("chunks").assign(chunk_id=lambda rows: "new-" + rows["chunk_id"])
    store.write_table("chunks", [*chunks.itertuples(index=False, name=None)], "another key")
    with pytest.raises(InputError, match="another run was begun since"):
        names_of(run)


def test_what_most_likely_is_no_name_is_ready_for_the_configuration():
    both = ("general words", "many sources")
    rows = [
        ListedName("Organization", "NOTE", 9, 9, both),
        ListedName("Product", 'D:\\"Backups"', 9, 9, both),
        ListedName("Organization", "Ops: Lead", 8, 9, both),
        ListedName("Person", "Marsh", 8, 9, both),
        ListedName("Organization", "Velmira", 8, 9, both[1:]),
    ]
    lines = as_denied(rows)
    assert yaml.safe_load(lines) == {
        "entities": {"deny": {"Organization": ["NOTE", "Ops: Lead"], "Product": ['D:\\"Backups"']}}
    }
    assert as_denied(rows[3:]) == ""
