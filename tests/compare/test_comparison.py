from dataclasses import replace

import pytest

from nes_spark.compare.comparison import (
    ESTIMATED,
    RISKS,
    _fidelity,
    _first_table,
    _settings_table,
    build_comparison,
    compare_runs,
    differing,
    summary_of,
    table_of,
    told_apart,
)
from nes_spark.config import load_config
from nes_spark.config.sections import DEFAULT_CATEGORIES
from nes_spark.errors import InputError
from nes_spark.run.differing import Setting, settings
from nes_spark.run.published import CONFIGURATION, PUBLICATION, PublishedRun
from nes_spark.store import Store
from tests.report.samples import report_data, summaries
from tests.report.test_page import outline


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """The page of the plain summaries: drawing its figures is the slow part."""
    return build_comparison(summaries(), tmp_path_factory.mktemp("compared"))


def test_page_lists_every_run_and_what_changed(page):
    html = page.read_text(encoding="utf-8")
    outline(html)
    assert "demo 2031Q2" in html
    assert "demo 2031Q3" in html
    assert "25.0%" in html  # 320 to 400 chunks
    assert "Product: 6.0 points of all chunks" in html
    assert "80.0% → 40.0%" in html
    assert (page.parent / "figures" / "risk.svg").exists()


def test_equal_runs_give_equal_bytes(page, tmp_path):
    assert build_comparison(summaries(), tmp_path).read_bytes() == page.read_bytes()


def test_one_run_is_not_a_comparison(tmp_path):
    with pytest.raises(ValueError, match=r"at least two runs\. Got 1 instead"):
        build_comparison(summaries()[:1], tmp_path)
    with pytest.raises(InputError, match="at least two"):
        compare_runs([tmp_path], tmp_path / "out")


def test_a_folder_without_a_run_is_named(tmp_path):
    (tmp_path / "outer" / "2020Q3" / "release").mkdir(parents=True)
    with pytest.raises(InputError, match=r"folders such as .*outer.2020Q3, where"):
        PublishedRun(tmp_path / "outer")
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
        "documents_named": {"before": {"named": 1.0}, "after": {"named": 0.3}},
        "chunks_named": {
            "known": {
                "before": {"named": 0.9},
                "after": {"named": 0.5},
                "linkage": {"before": {"named": 0.8}, "after": {"named": 0.1}},
            }
        },
        "utility": {
            "fidelity": {
                "value": 0.8,
                "standard_error": 0.01,
                "anchors": {
                    "names_blanked": {"value": 0.85, "standard_error": None},
                    "half_deleted": {"value": None, "standard_error": None},
                },
            }
        },
        "mlflow_run_id": None,
    }
    store = Store(tmp_path)
    store.prepare()
    store.write_artifact(PUBLICATION, "key", lambda _: details)
    store.write_json({"no_such_section": {}}, *CONFIGURATION)
    run = summary_of(PublishedRun(store))
    assert run.parameters is None
    assert run.label == "demo"
    assert run.published
    assert run.categories["Organization"] == pytest.approx(310 / 640)
    assert run.audit == {"linkage": (0.8, 0.4)}
    assert run.combination == data.choice.combination.name
    assert run.named == {"documents": (1.0, 0.3), "known": (0.9, 0.5), "names_known": (0.8, 0.1)}
    assert run.fidelity == {"release": (0.8, 0.01), "names_blanked": (0.85, None)}
    assert run.axes == ESTIMATED
    assert run.chosen == {ESTIMATED: (data.choice.DU, data.choice.DR)}


PLAIN = {"releases.plan": "whole", "mixture.n_components": "[10]", "choice.rule": "line"}


def two_of_a_kind():
    first, _ = summaries()
    plain = {key: Setting(value, value) for key, value in PLAIN.items()}
    first = replace(
        first, parameters=plain, folder="a/2031Q2",
        frontiers={ESTIMATED: [(0.98, 0.74), (1.0, 1.0)]}, chosen={ESTIMATED: (0.98, 0.74)},
        documents_named={"words": (0.9, 0.8), "names": (0.7, 0.2)},
    )  # fmt: skip
    second = replace(
        first, parameters=plain | {"releases.plan": Setting("pairs", "pairs")},
        folder="b/2031Q2", DR=0.9,
        frontiers={ESTIMATED: [(0.99, 0.9), (1.0, 1.0)]},
        documents_named={"words": (0.9, 0.9)},
    )  # fmt: skip
    return first, second


def test_runs_of_one_name_are_told_apart_by_what_differs():
    first, second = told_apart(two_of_a_kind())
    assert first.label == "demo 2031Q2, releases.plan=whole"
    assert second.label == "demo 2031Q2, releases.plan=pairs"
    assert differing([first, second]) == ["releases.plan"]


def test_runs_without_any_difference_are_told_apart_by_their_folders():
    first, _ = two_of_a_kind()
    twins = told_apart([first, replace(first, folder="c/2031Q2")])
    assert [run.label for run in twins] == ["demo 2031Q2 (a/2031Q2)", "demo 2031Q2 (c/2031Q2)"]
    same = told_apart([first, first])
    assert [run.label for run in same] == ["demo 2031Q2 (a/2031Q2) #1", "demo 2031Q2 (a/2031Q2) #2"]
    assert [run.label for run in told_apart(summaries())] == ["demo 2031Q2", "demo 2031Q3"]


def test_attackers_settings_and_frontiers_stand_side_by_side(tmp_path):
    html = build_comparison(two_of_a_kind(), tmp_path).read_text(encoding="utf-8")
    outline(html)
    row = html[html.index('<th scope="row">words</th>') :].split("</tr>")[0]
    assert row.count("→") == 2
    assert "90.0% → 80.0%" in row
    assert "90.0% → 90.0%" in row
    row = html[html.index('<th scope="row">names</th>') :].split("</tr>")[0]
    assert row.count("→") == 1
    assert '<th scope="row">releases.plan</th>' in html
    assert "choice.rule" not in html
    assert (tmp_path / "figures" / "frontiers.svg").exists()
    assert "releases, Disclosure risk DR from 0.7400" in html


def test_without_frontiers_and_measures_their_parts_are_left_out(page):
    html = page.read_text(encoding="utf-8")
    assert not (page.parent / "figures" / "frontiers.svg").exists()
    assert "Who names how many documents" not in html
    assert "What can be named" not in html
    assert _first_table(summaries()) == []


def test_what_can_be_named_and_what_it_cost_comes_first(tmp_path):
    first, second = two_of_a_kind()
    first = replace(
        first,
        named={"documents": (1.0, 0.25), "names_known": (0.9, 0.06)},
        fidelity={"release": (0.81, 0.012), "names_blanked": (0.83, None)},
    )
    second = replace(second, named={"documents": (1.0, 0.5)}, fidelity={"release": (0.9, 0.01)})
    html = build_comparison([first, second], tmp_path).read_text(encoding="utf-8")
    outline(html)
    assert html.index("What can be named") < html.index("The releases side by side")
    row = html[html.index(f'<th scope="row">{RISKS["documents"]}') :].split("</tr>")[0]
    assert "100.0% → 25.0%" in row and "100.0% → 50.0%" in row
    row = html[html.index(f'<th scope="row">{RISKS["names_known"]}') :].split("</tr>")[0]
    assert "90.0% → 6.0%" in row and "–" in row
    assert "0.810" in html and "± 0.024" in html and "0.830" in html
    assert RISKS["public_words"] not in html
    # drawn is what is known of all
    drawn = (tmp_path / "figures" / "named.svg").read_text()
    assert RISKS["documents"] in drawn or "50.0%" in drawn
    assert "6.0%" not in drawn
    assert (tmp_path / "figures" / "fidelity.svg").exists()
    table, _ = _first_table([first, second])
    assert table.splitlines()[0].startswith("named, before and after")
    assert "100.0% -> 25.0%" in table and "0.810 (± 0.024)" in table


@pytest.mark.parametrize(
    ("utility", "expected"),
    [
        (None, {}),
        ({"DU": {"value": 1.0}}, {}),
        ({"fidelity": {"anchors": {"half_deleted": {"value": 0.7, "standard_error": None}}}},
         {"half_deleted": (0.7, None)}),
        ({"fidelity": {"value": 0.9, "standard_error": 0.1}}, {"release": (0.9, 0.1)}),
        ({"fidelity": {"value": None, "standard_error": None, "anchors": {}}}, {}),
    ],
)  # fmt: skip
def test_what_was_not_judged_is_no_cost(utility, expected):
    assert _fidelity({"utility": utility}) == expected


def test_frontiers_are_drawn_on_the_axes_of_the_choice_where_all_have_them(tmp_path):
    measured = ("fidelity", "measured")
    first, second = (
        replace(
            run, axes=measured,
            frontiers=run.frontiers | {measured: [(0.7, 0.2), (0.8, 0.4)]},
            chosen=run.chosen | {measured: (0.7, 0.2)},
        )
        for run in two_of_a_kind()
    )  # fmt: skip
    html = build_comparison([first, second], tmp_path / "a").read_text(encoding="utf-8")
    assert "releases, Documents named from 20%" in html
    other = replace(second, axes=ESTIMATED)
    html = build_comparison([first, other], tmp_path / "b").read_text(encoding="utf-8")
    assert "releases, Disclosure risk DR from 0.7400" in html


def test_a_configuration_of_another_version_is_said_and_not_compared(tmp_path):
    first, second = two_of_a_kind()
    old = replace(second, parameters=None, period="2031Q1")
    assert differing([first, old]) == []
    html = build_comparison([first, old], tmp_path).read_text(encoding="utf-8")
    assert "The settings of demo 2031Q1 are of another version" in html
    assert "All settings are the same" not in html
    third = replace(second, period="2031Q4")
    html = build_comparison([first, old, third], tmp_path / "b").read_text(encoding="utf-8")
    assert '<td class="text">another version</td>' in html


def test_long_values_stand_in_no_title_and_whole_in_the_table(tmp_path, recwarn):
    first, second = two_of_a_kind()
    long = "comparable, 10000000000.0, 1e+20, 1e+30"
    first = replace(first, parameters={"risk.population": Setting("a", long)})
    second = replace(second, parameters={"risk.population": Setting("b", "1e+20")})
    titles = [run.label for run in told_apart([first, second])]
    assert titles == ["demo 2031Q2 (a/2031Q2)", "demo 2031Q2 (b/2031Q2)"]
    seeds = {"mixture.n_init": Setting("5", "5")}, {"mixture.n_init": Setting("9", "9")}
    first = replace(first, parameters={**first.parameters, **seeds[0]})
    second = replace(second, parameters={**second.parameters, **seeds[1]})
    titles = [run.label for run in told_apart([first, second])]
    assert titles == ["demo 2031Q2, mixture.n_init=5", "demo 2031Q2, mixture.n_init=9"]
    html = build_comparison([first, second], tmp_path).read_text(encoding="utf-8")
    assert long in html
    assert not [w for w in recwarn if "constrained_layout" in str(w.message)]


def test_every_key_that_differs_is_named(tmp_path):
    first, second = two_of_a_kind()
    given = {
        "entities.categories": [*DEFAULT_CATEGORIES, "Quantity", "Term"],
        "entities.telling": 0.1, "entities.terms": 10, "entities.currency": "GBP",
        "output.publish": "chunks", "audit.public_words": "secret/words.csv",
        "releases.must_change": {"Event": "[Event]", "Date": "[Date]"},
    }  # fmt: skip
    first = replace(first, parameters=settings(load_config()))
    second = replace(second, parameters=settings(load_config(None, given)))
    table = "\n".join(_settings_table(told_apart([first, second])))
    for key in given:
        assert key in table
    assert "6 in common + Quantity, Term, Clue" in table
    assert "secret" not in table
    assert "…" not in table
    third = replace(second, parameters=None)
    assert "another version" in "\n".join(_settings_table(told_apart([first, second, third])))


def test_documents_named_are_those_of_questions_about_documents():
    from nes_spark.compare.comparison import _documents_named

    rows = [
        ("documents", "combined", "before", 0.9), ("documents", "combined", "after", 0.2),
        ("documents_background", "combined", "before", 0.8),
        ("documents_background", "combined", "after", 0.3),
        ("chunks_together", "combined", "before", 0.51),
        ("chunks_together", "combined", "after", 0.4),
        ("chunks_together", "chance", "before", 0.03), ("chunks_together", "chance", "after", 0.03),
    ]  # fmt: skip

    class Run:
        class store:
            manifest = staticmethod(lambda name: name)
            rows = staticmethod(lambda name, columns: rows)

    assert _documents_named(Run()) == {"combined": (0.9, 0.3)}
