import json
import math
import re
import subprocess
import sys
from dataclasses import replace
from html.parser import HTMLParser

import pandas as pd
import pytest

from nes_spark.entities.combination import Combination
from nes_spark.releases.frontier import frontier_of
from nes_spark.releases.publishing import Gate
from nes_spark.report import ExampleSide, ReportData, build_report, page
from nes_spark.report.data import ReviewRow
from nes_spark.report.explorer import command_of, explorer
from tests.report.samples import (
    COVERAGE,
    MEASURED,
    UTILITY,
    candidates,
    everything,
    examples,
    measured_space,
    rendered,
    report_data,
)

VOID = {"meta", "link", "br", "img", "input", "hr"}


class Outline(HTMLParser):
    """Checks nesting and collects what the tests ask about."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.tables: list[dict[str, int]] = []

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        if "id" in attrs:
            self.ids.append(attrs["id"])
        for name in ("href", "src", "xlink:href"):
            if name in attrs:
                self.links.append(attrs[name])
        if tag == "table":
            self.tables.append({"caption": 0, "scoped": 0})
        if tag == "caption":
            self.tables[-1]["caption"] += 1
        if tag == "th":
            assert attrs.get("scope") in ("col", "row")
            self.tables[-1]["scoped"] += 1
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def outline(html: str) -> Outline:
    parser = Outline()
    parser.feed(html)
    assert parser.open == []
    return parser


@pytest.fixture(scope="module")
def full(tmp_path_factory):
    data = report_data(**everything(), **examples())
    path = build_report(data, tmp_path_factory.mktemp("report"))
    return path, path.read_text(encoding="utf-8")


@pytest.fixture
def render():
    return lambda **changes: rendered(report_data(**changes))


def test_page_is_well_formed_and_needs_no_other_file(full):
    found = outline(full[1])
    assert len(found.ids) == len(set(found.ids))
    assert all(link.startswith(("#", "data:,")) for link in found.links)
    assert {link[1:] for link in found.links if link.startswith("#")} <= set(found.ids)
    # what is drawn by a script has the script in the page, and no element loads one
    plain = re.sub(r"<script>.*?</script>", "", full[1], flags=re.DOTALL)
    assert "http://" not in re.sub(r'xmlns(:\w+)?="[^"]+"', "", plain)
    assert not re.search(r"<(script|img|iframe|link)[^>]+(src|href)=\"(?!data:)", full[1])


def test_tables_have_captions_and_scoped_headers(full):
    found = outline(full[1])
    assert len(found.tables) >= 10
    assert all(table["caption"] == 1 for table in found.tables)
    assert all(table["scoped"] for table in found.tables)


def test_figures_are_saved_beside_the_page(full):
    folder = full[0].parent / "figures"
    names = {"risk-utility", "against-swaps", "categories", "components", "statuses", "audit"}
    names.add("attacks")
    assert {p.stem for p in folder.glob("*.svg")} == names
    assert {p.stem for p in folder.glob("*.png")} == names
    assert (folder / "risk-utility.png").read_bytes().startswith(b"\x89PNG")
    assert 'xmlns="http://www.w3.org/2000/svg"' in (folder / "audit.svg").read_text()


def test_saved_data_give_equal_bytes_in_another_process(full, tmp_path):
    saved, folder = tmp_path / "data.json", tmp_path / "report"
    saved.write_text(report_data(**everything(), **examples()).to_json())
    code = (
        "import pathlib, sys; from nes_spark.report import ReportData, build_report;"
        "data = ReportData.from_json(pathlib.Path(sys.argv[1]).read_text());"
        "build_report(data, sys.argv[2])"
    )
    command = [sys.executable, "-c", code, str(saved), str(folder)]
    subprocess.run(command, check=True, env={"PYTHONHASHSEED": "7"})
    again = {p.relative_to(folder): p.read_bytes() for p in folder.rglob("*.*")}
    first = full[0].parent
    assert again == {p.relative_to(first): p.read_bytes() for p in first.rglob("*.*")}


def test_the_figures_of_the_choice_and_counts_are_there(full):
    html = full[1]
    choice = report_data().choice
    assert f">{choice.DR:.3f}<" in html
    assert f">{choice.DU:.4f}<" in html
    assert "50 documents were read. 48 were used" in html
    assert "empty text" in html
    assert "10²⁰" in html
    assert html.count('class="chosen"') >= 2  # in the risk table and in the list of candidates


def test_no_text_or_name_without_permission(render, full):
    shown = full[1]
    assert "Loomstack" in shown
    assert "Not this report" in shown
    html = render()
    assert "Loomstack" not in html
    assert "Aurelia" not in html
    assert 'id="examples"' not in html
    assert "Not this report" not in html


def test_chunks_to_read_first_have_a_page_without_texts_unless_allowed():
    data = report_data(**examples())
    shown = page.review_page(data)
    outline(shown)
    assert "d0a1#00003" in shown and "2 Date, 1 Person" in shown
    assert "&lt;Quillbase&gt;" in shown and "This page quotes released texts" in shown
    bare = page.review_page(data.without_texts())
    outline(bare)
    assert "d0a2#00001" in bare
    assert "Quillbase" not in bare and "quotes" not in bare
    assert "their order says nothing" not in bare


def test_what_sets_chunks_to_read_first_apart_is_said_and_what_they_go_by_wraps():
    kinds = ["names", "words and names", "words that are no names"]
    rows = [ReviewRow("d0#00000", kinds, 10, 10, 10)]
    rows += [ReviewRow(f"d{i}#00000", kinds, 9, 9, 9, missed=["linkage", "style"]) for i in "123"]
    shown = page.review_page(report_data(review=rows))
    outline(shown)
    assert "3 of them are named by the same attackers with the same confidence" in shown
    assert shown.count('<td class="text wrapped">linkage, style</td>') == 3
    assert f'<td class="text wrapped">{"; ".join(kinds)}</td>' in shown


def test_public_words_and_the_list_for_a_person_are_told_on_the_first_screen(render):
    asked = pd.DataFrame(
        [
            ("documents_public_words", "public-words", side, 43, named, 0.0, 0.2, float("nan"))
            for side, named in (("before", 41 / 43), ("after", 2 / 43))
        ],
        columns=MEASURED.columns,
    )
    measured = pd.concat([MEASURED, asked], ignore_index=True)
    html = render(measured=measured, coverage=COVERAGE, review=examples()["review"])
    head = html[html.index('id="verdict"') : html.index('class="cards"')]
    assert "<strong>2 of 43</strong>" in head
    assert "before swapping it was 41" in head and "Asked of single documents" not in head
    each = asked.assign(unit="each_document_public_words", n=870, named=[822 / 870, 678 / 870])
    several = render(measured=pd.concat([measured, each], ignore_index=True), coverage=COVERAGE)
    assert "Asked of single documents whose they are, it names <strong>678 of 870" in several
    assert ", before 822." in several
    assert "The 2 chunks that attackers still name, those to read first" in head
    assert "Loomstack" not in html
    assert "public words" not in render(measured=MEASURED, coverage=COVERAGE)


def test_examples_are_escaped_and_mark_what_changed(full):
    assert "<del>Union Prairie Railway</del> <ins>Aurelia Motors</ins>" in full[1]
    assert "&lt;" in full[1]
    assert "<Quillbase>" not in full[1]


def test_a_hostile_name_cannot_break_the_page(render):
    html = render(name='<script>alert("x")</script>', provenance={"a&b": "<i>"})
    assert '<script>alert("x")' not in html
    outline(html)


def test_a_refused_release_says_so_first(render):
    gates = [Gate("direct identifiers", False, "still found: 2 url (exact)")]
    html = render(gates=gates)
    assert "<span>Not published.</span> 1 of 1 gates did not pass." in html
    assert "still found: 2 url (exact)" in html
    assert "Published." not in html


def test_the_release_without_swaps(tmp_path):
    only = candidates().head(1)
    nothing = {"combination": Combination(), "n_swaps": 0, "r": 0.0, "DR": 1.0, "DU": 1.0}
    choice = replace(report_data().choice, **nothing)
    data = report_data(
        candidates=only, choice=choice, statuses={"unpaired": 640}, categories={"Person": "U"}
    )
    html = build_report(data, tmp_path).read_text(encoding="utf-8")
    outline(html)
    assert "has <strong>no swaps</strong>" in html
    assert not (tmp_path / "figures" / "against-swaps.svg").exists()


def test_a_combination_without_an_estimate_shows_its_reason(render):
    data = report_data()
    fits = data.risk_fits.copy()
    fits.loc[1, ["theta", "alpha", "converged", "reason"]] = [math.nan, math.nan, False, "one_cell"]
    left = data.p_hats[data.p_hats["combination"] != fits.loc[1, "combination"]]
    html = render(risk_fits=fits, p_hats=left)
    assert "No estimate: one cell." in html
    outline(html)


def test_a_grid_of_settings_is_summarised(render):
    both = pd.concat([candidates(), candidates("spcauchy-K30-eps1e-10", 1e10)])
    html = render(candidates=both)
    assert "Other settings that were tried" in html
    assert "spcauchy-K30-eps1e-10" in html
    assert "121 candidate releases were compared" in html


def test_standard_errors_are_told_where_there_are_some(render):
    choice = replace(report_data().choice, draws=30, DR_se=0.0123, DU_se=0.00045)
    html = render(choice=choice)
    assert "averages over 30 random draws" in html
    assert "± 0.0123" in html


def test_a_choice_that_noise_decides_is_called_a_toss(render):
    choice = replace(report_data().choice, drawn=10, draws=10, tied=4, stability=0.3)
    html = render(choice=choice)
    assert "4 candidates could not be told from the best" in html
    assert "The choice is a toss" in html
    assert "choose another one in 70% of the cases" in html.replace("\u202f", "")
    sure = render(choice=replace(choice, stability=0.95))
    assert "a toss" not in sure
    assert "choose the same release in 95% of the cases" in sure.replace("\u202f", "")


def test_how_many_chunks_still_stand_alone_comes_with_an_interval(render):
    choice = replace(report_data().choice, uniques_left=40.0, uniques_expected=4.2)
    html = render(choice=choice)
    assert "Chunks that still stand alone" in html
    assert "4.2 of them are expected to be unique" in html
    assert "π(N)" in html
    assert "If the world is larger" in html


def test_the_frontier_can_be_explored(render):
    html = render()
    item = json.loads(
        re.search(r'id="explorer-item">(.*?)</script>', html, re.DOTALL)
        .group(1)
        .replace("<\\/", "</")
    )
    assert item["target_id"] == "explorer-plot"
    told = json.dumps(item)
    space = report_data().space
    for row in space.to_dict("records"):
        shown = command_of(row["combination"], row["n_swaps"])
        assert json.dumps(shown)[1:-1] in told
    assert 'id="explorer-told"' in html and "Bokeh.embed.embed_item" in html
    # a plot of a single point is no frontier
    assert explorer(space.iloc[:1], report_data().choice) is None


def test_a_name_in_the_plot_cannot_end_its_script(render):
    data = report_data()
    hostile = data.candidates.assign(
        combination=data.candidates["combination"].replace("Organization+Person", "</script><b>")
    )
    found = explorer(hostile[hostile["setting"] == data.choice.setting], data.choice)
    assert "</script" not in found.item
    assert "<\\/script><b>" in found.item


def test_measured_axes_stand_beside_the_estimated_ones(render):
    space = report_data().candidates.assign(
        measured=0.4, measured_low=0.3, measured_high=0.5, fidelity=0.85, fidelity_se=0.01
    )
    html = render(candidates=space)
    assert "Documents named" in html and "0.850 ± 0.010" in html
    assert "Documents named</th>" not in render()


def test_what_names_chunks_stands_beside_them_where_it_decided(render):
    chunks = {"measured_chunks": 0.27, "measured_chunks_low": 0.2, "measured_chunks_high": 0.3}
    documents = {"measured": 0.4, "measured_low": 0.3, "measured_high": 0.5}
    data = report_data()
    space = data.candidates.assign(**chunks, **documents, fidelity=0.85, fidelity_se=0.01)
    choice = replace(
        data.choice, risk="measured_chunks", utility="fidelity", measured_chunks=0.27, fidelity=0.85
    )
    html = render(candidates=space, choice=choice)
    assert "Chunks named</th>" in html and "27% (20% to 30%)" in html
    assert "Documents named</th>" not in html
    assert "where risk is the share of chunks with names" in html
    assert "Chunks named (less is better)" in explorer(space, choice).item


def test_the_table_of_the_frontier_is_that_of_the_picture(render):
    """It was that of DR and DU, whatever the choice weighed."""
    data = report_data()
    space = measured_space()
    choice = replace(data.choice, risk="measured", utility="fidelity", measured=0.5, fidelity=0.8)
    mine = space[space["setting"] == choice.setting]
    marks = frontier_of(mine, "fidelity", "measured")
    assert marks.sum() != mine["on_frontier"].sum()
    html = render(candidates=space, choice=choice)
    table = html.partition("The frontier, from the lowest risk")[2].partition("</table>")[0]
    assert f"(first {page.SHOWN} of {marks.sum()})" in table
    assert "<td>no</td>" not in table


def test_edits_outside_the_text_are_refused():
    with pytest.raises(ValueError, match="disjoint and inside"):
        ExampleSide("short", [(0, 3, "a"), (2, 4, "b")]).pieces()
    with pytest.raises(ValueError, match="disjoint and inside"):
        ExampleSide("short", [(3, 9, "a")]).pieces()


@pytest.mark.parametrize(
    ("function", "value", "written"),
    [
        (page.power, 1e20, "10²⁰"),
        (page.power, 2.5e10, "2.5 × 10¹⁰"),
        (page.power, 1200, "1,200"),
        (page.number, None, "–"),
        (page.number, 1234.4, "1,234"),
        (page.percent, 0.0625, "6.2%"),
        (page.significant, 0.00037301, "0.000373"),
        (page.significant, float("nan"), "–"),
        (page.p_value, 1e-9, "< 0.001"),
        (page.p_value, 0.2, "= 0.200"),
        (page.duration, 5.04, "5.0 s"),
        (page.duration, 71.25, "1 min 11 s"),
        (page.duration, 7260, "2 h 1 min"),
    ],
)
def test_numbers_are_written_for_people(function, value, written):
    assert function(value) == written


def test_importing_the_report_loads_neither_spark_nor_matplotlib():
    code = "import sys, nes_spark.report; print({'pyspark', 'matplotlib'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_everything_found_out_is_shown(full):
    html = full[1]
    for words in (
        "Counts observed and expected under the model",
        "What merging names into classes",
        "What linking names did to the sample uniques",
        "What other options of the sampler would do",
        "200 or more",
        "31.4",
        "rank correlation of 1.00",
        "Mixtures that were fitted",
        "1 component holds chunks of a single document",
        "at ceiling",
        "disagrees with the computed table in 13.6% of the cells",
        "Total variation",
        "97.7%",
        "An adversary who knows about swapping",
        "22 undone, 2 true",
        "Tarn &amp; Co",
        "Loomstack; Loomstack + Ulm",
        "40 answered, 4 refused",
        "among its first five guesses 90.0% of the time before and 60.0% after",
    ):
        assert words in html, words


def test_what_was_not_asked_for_is_not_shown(render):
    html = render()
    for words in ("other options", "measured attack", "knows about swapping", "still names"):
        assert words not in html


def test_data_of_another_version_are_refused():
    content = json.loads(report_data().to_json())
    content["more"] = 1
    with pytest.raises(ValueError, match="another version"):
        ReportData.from_json(json.dumps(content))


def test_the_first_lines_say_how_many_documents_can_be_named(render):
    html = render(measured=MEASURED, coverage=COVERAGE)
    outline(html)
    head = html[html.index('id="verdict"') : html.index('class="cards"')]
    assert "24 of 48 documents" in head
    assert "Before swapping it was 45 (95 %: " in head
    assert "This release protects little." in head
    assert "who holds half of every original document" in head
    told = (
        "by the exchanged names alone 4.0% (95 %: 2.0% to 6.0%; before 61.0%, 95 %: 50.0% to 70.0%)"
    )
    assert told in head
    assert html.count("with the 95 % interval.") == 3
    assert "no partner" in html
    weak = MEASURED.assign(named=MEASURED["named"].where(MEASURED["side"] == "before", 0.1))
    assert "This release protects little." not in render(measured=weak, coverage=COVERAGE)


def test_what_hides_more_stands_below_what_is_named(render):
    steps = [("--set entities.telling=0.1", "a tenth of the words"), ("--set a='[B,<C>]'", "more")]
    html = render(measured=MEASURED, hide_more=steps)
    outline(html)
    head = html[html.index('id="verdict"') : html.index('class="cards"')]
    assert "<li><code>--set entities.telling=0.1</code>: a tenth of the words</li>" in head
    assert "[B,&lt;C&gt;]" in head
    assert "What hides more" not in render(measured=MEASURED)
    data = report_data(measured=MEASURED, hide_more=steps)
    assert [*map(tuple, type(data).from_json(data.to_json()).hide_more)] == steps


def test_what_keeps_more_of_the_meaning_is_told_with_or_without_attackers(render):
    steps = [("--set entities.telling=0", "words that tell stay")]
    for measured in (None, MEASURED):
        html = render(measured=measured, keep_more=steps)
        outline(html)
        head = html[html.index('id="verdict"') : html.index('class="cards"')]
        assert "<li><code>--set entities.telling=0</code>: words that tell stay</li>" in head
    assert "What keeps more" not in render(measured=MEASURED)
    data = report_data(measured=MEASURED, keep_more=steps)
    assert [*map(tuple, type(data).from_json(data.to_json()).keep_more)] == steps


def test_of_chunks_by_themselves_it_says_how_well_they_are_put_together(render):
    rows = [
        ("chunks_together", attacker, side, 600, named, named - 0.02, named + 0.02, float("nan"))
        for attacker, side, named in [
            ("words", "before", 0.5), ("words", "after", 0.14), ("chance", "before", 0.03),
            ("chance", "after", 0.02),
        ]
    ]  # fmt: skip
    measured = pd.concat([MEASURED, pd.DataFrame(rows, columns=MEASURED.columns)])
    html = render(measured=measured, coverage=COVERAGE, alone=True)
    outline(html)
    head = html[html.index('id="verdict"') : html.index('class="cards"')]
    assert "for <strong>14%</strong> of 600 (95 %: 12% to 16%; before 50%, by chance 2%)" in head
    assert "takes for each the one that is most like it" in html
    assert "was <strong>not measured" in (other := render(measured=MEASURED, alone=True))
    assert "can they be put together?" not in other


def test_every_figure_of_the_first_screen_has_an_interval_or_is_a_count(render):
    html = render(measured=MEASURED)
    cards = html[
        html.index('class="cards"') : html.index("</section>", html.index('class="cards"'))
    ]
    for card in cards.split('<div class="card">')[1:]:
        sure = ("95 %: ", "Standard error", "exact", "a count", "that came in")
        assert any(words in card for words in sure), card
    head = html[html.index('id="verdict"') : html.index('class="cards"')]
    for share in re.findall(r"names \d.*?</p>", head):
        assert share.count("95 %: ") >= 2, share
    data = report_data()
    p = data.p_hats[
        (data.p_hats["combination"] == data.choice.combination.name)
        & (data.p_hats["population"] == data.choice.population)
    ].iloc[0]
    low = 1 - (1 - data.choice.DR) / p["p_hat_clipped"] * min(p["p_high"], 1.0)
    assert f"95 %: {low:.3f} to " in cards


def test_what_was_not_measured_is_called_so(render):
    assert "<strong>not measured</strong>" in render(measured=None)


def test_what_it_cost_is_told_beside_anchors(render):
    html = render(utility=UTILITY)
    assert "They kept a cosine of 0.853" in html
    assert "that is 0.034 (± 0.010) below" in html
    assert "0.887 <small>± 0.010</small>" in html
    assert "half of the words" not in html  # no figure, no row
    above = UTILITY.assign(value=[-0.01 if m == "below_blanking" else v for m, v in zip(
        UTILITY["measure"], UTILITY["value"], strict=True)])  # fmt: skip
    assert "that is 0.010 (± 0.010) above" in render(utility=above)
    assert "What it cost" not in render(utility=None)
    # nothing was changed: there is nothing to tell
    assert "What it cost" not in render(utility=UTILITY[UTILITY["subject"] == "unchanged"])


def test_measures_survive_being_stored():
    data = report_data(measured=MEASURED, coverage=COVERAGE, utility=UTILITY)
    again = ReportData.from_json(data.to_json())
    assert again.documents_named == data.documents_named
    pd.testing.assert_frame_equal(again.coverage, COVERAGE)
    pd.testing.assert_frame_equal(again.utility, UTILITY)


def test_what_is_left_out_is_said_before_what_is_named(render):
    figures = report_data().figures
    gone = figures | {"left_out": {"chunks": 600, "words": 30_000}}
    told = re.sub(r"\s+", " ", render(figures=gone))
    assert "released are 40 of 640, with 9% of the words" in told
    assert told.index("Left out") < told.index("How many documents can be named")
    assert "Left out" not in render(figures=figures)
    retold = figures | {"summarised": {"chunks": 40, "words": 3_000, "told": 1_200}}
    told = re.sub(r"\s+", " ", render(figures=retold))
    assert "language model: 40 of 640 chunks; of their 3,000 words the summaries have 1,200" in told
    assert told.index("as summaries") < told.index("How many documents can be named")
    assert "that of the exchanges alone: what was left out or summarised counts" in told
    assert "of the exchanges alone" not in render(figures=figures)


def test_what_became_of_a_category_is_told_in_shares():
    found = pd.DataFrame(
        [("Term", "placeholder", 900), ("Term", "donor", 60), ("Term", "donor", 39),
         ("Term", "kept", 1), ("Person", "exchanged", 2)],
        columns=["category", "fate", "mentions"],
    )  # fmt: skip
    assert page.fates_of(found) == {
        "Term": "placeholder 90%, donor 10%, kept <1%", "Person": "exchanged 100%"
    }  # fmt: skip
    assert page.fates_of(None) == page.fates_of(found[:0]) == {}
