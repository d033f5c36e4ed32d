import pytest

from nes_spark.compare.comparison import build_comparison, compare_runs, summary_of, table_of
from nes_spark.errors import InputError
from nes_spark.run.published import PUBLICATION, PublishedRun
from nes_spark.store import Store
from tests.report.samples import report_data, summaries
from tests.report.test_page import outline


def test_page_lists_every_run_and_what_changed(tmp_path):
    html = build_comparison(summaries(), tmp_path).read_text(encoding="utf-8")
    outline(html)
    assert "demo 2031Q2" in html
    assert "demo 2031Q3" in html
    assert "25.0%" in html  # 320 to 400 chunks
    assert "Product: 6.0 points of all chunks" in html
    assert "80.0% → 40.0%" in html
    assert (tmp_path / "figures" / "risk.svg").exists()


def test_equal_runs_give_equal_bytes(tmp_path):
    first = build_comparison(summaries(), tmp_path / "a").read_bytes()
    assert build_comparison(summaries(), tmp_path / "b").read_bytes() == first


def test_one_run_is_not_a_comparison(tmp_path):
    with pytest.raises(ValueError, match=r"at least two runs\. Got 1 instead"):
        build_comparison(summaries()[:1], tmp_path)
    with pytest.raises(InputError, match="at least two"):
        compare_runs([tmp_path], tmp_path / "out")


def test_a_folder_without_a_run_is_named(tmp_path):
    with pytest.raises(InputError, match="no published run here"):
        compare_runs([tmp_path, tmp_path], tmp_path / "out")


def test_table_for_the_terminal_is_aligned():
    head, *rows = table_of(summaries()).splitlines()
    assert head.split()[:3] == ["run", "documents", "chunks"]
    assert len(rows) == 2
    assert all(row.index("Organization+Product") == head.index("exchanged") for row in rows)


def test_summary_of_a_publication(tmp_path):
    data = report_data()
    result = {"model": "linkage", "pre": {"mean": 0.8}, "post": {"mean": 0.4}}
    details = {
        "name": "demo",
        "period": None,
        "figures": data.figures,
        "choice": data.choice.to_dict(),
        "gates": [{"name": "a", "passed": True, "detail": ""}],
        "audit": {"results": [result]},
        "configuration": "0123",
        "mlflow_run_id": None,
    }
    store = Store(tmp_path)
    store.prepare()
    store.write_artifact(PUBLICATION, "key", lambda _: details)
    run = summary_of(PublishedRun(store))
    assert run.label == "demo"
    assert run.published
    assert run.categories["Organization"] == pytest.approx(310 / 640)
    assert run.audit == {"linkage": (0.8, 0.4)}
    assert run.combination == data.choice.combination.name
