"""The report in a real browser: nothing is cut, nothing is loaded, and what can be clicked works.

Needs a Chromium of the machine (``apt-get install chromium``; ``CHROMIUM`` names another one) and
the package playwright, which brings none. ``make test-browser`` runs these tests alone.
"""

from __future__ import annotations

import os
import shutil
from dataclasses import replace

import pytest

from nes_spark.compare.comparison import COSTS, RISKS, build_comparison
from nes_spark.report import build_report
from tests.report.samples import (
    COVERAGE,
    MEASURED,
    UTILITY,
    everything,
    examples,
    measured_space,
    report_data,
    summaries,
)

pytestmark = pytest.mark.browser

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
#: Where a point of the frontier stands on the screen, and which one: [x, y, combination, swaps].
PLOT = "Bokeh.index.roots.find((view) => view.model.renderers)"
POINT = """() => {
  const view = PLOT, frame = view.frame;
  const box = view.el.getBoundingClientRect();
  const renderer = view.model.renderers.find((r) => r.data_source.data.name?.length > 3);
  const data = renderer.data_source.data, i = Math.floor(data.x.length / 2);
  return [
    box.left + frame.x_scale.compute(data.x[i]), box.top + frame.y_scale.compute(data.y[i]),
    data.name[i], data.swaps[i],
  ];
}""".replace("PLOT", PLOT)
#: Whether what a page shows is wider than the window, scrolled boxes and hidden links left out.
WIDE = """() => {
  const found = [], width = document.documentElement.clientWidth + 1;
  const walk = (root) => {
    for (const e of root.querySelectorAll("*")) {
      if (!e.closest(".scroll") && e.getBoundingClientRect().right > width && e.textContent.trim())
        found.push(e.tagName + " " + e.className + " " + e.textContent.trim().slice(0, 40));
      if (e.shadowRoot) walk(e.shadowRoot);
    }
  };
  walk(document);
  return [document.documentElement.scrollWidth - document.documentElement.clientWidth, found];
}"""
#: What is written along the axes of the plot and does not fit, and what stands beyond its drawing.
CUT = """() => {
  const view = window.Bokeh && PLOT, { inner_width, inner_height } = view?.frame.bbox ?? {};
  const ink = document.createElement("canvas").getContext("2d");
  const found = [];
  const axes = view ? [...view.model.below, ...view.model.left] : [];
  for (const [axis, room] of axes.map((axis, i) => [axis, i ? inner_height : inner_width])) {
    ink.font = ["style", "size", ""].map((of) => axis["axis_label_text_font" + (of && "_" + of)])
      .join(" ");
    if (ink.measureText(axis.axis_label).width > room) found.push(axis.axis_label);
  }
  for (const text of document.querySelectorAll("figure svg text")) {
    const inner = text.getBoundingClientRect(), outer = text.closest("svg").getBoundingClientRect();
    if (!inner.width || !outer.width) continue;
    if (inner.top < outer.top - 1 || inner.bottom > outer.bottom + 1) found.push(text.textContent);
    if (inner.left < outer.left - 1 || inner.right > outer.right + 1) found.push(text.textContent);
  }
  return found;
}""".replace("PLOT", PLOT)
#: Columns whose head stands at another side than what is below it.
ASKEW = """() => [...document.querySelectorAll("table")].flatMap((table) => {
  const heads = table.tHead ? [...table.tHead.rows[0].cells] : [], row = table.tBodies[0]?.rows[0];
  const side = (cell) => getComputedStyle(cell).textAlign;
  return heads.filter((head, i) => row && side(head) !== side(row.cells[i]))
    .map((head) => head.textContent);
})"""


@pytest.fixture(scope="module")
def browser():
    pytest.importorskip("playwright", reason="the package playwright is not installed")
    from playwright.sync_api import sync_playwright

    given = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
    if given is None:
        pytest.skip("no Chromium on this machine: install one, or name it with CHROMIUM")
    with sync_playwright() as driver:
        # Containers let no process make the namespaces of a sandbox; the pages are our own.
        found = driver.chromium.launch(executable_path=given, args=["--no-sandbox"])
        yield found
        found.close()


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    data = report_data(**everything(), **examples())
    return build_report(data, tmp_path_factory.mktemp("report")).as_uri()


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    choice = replace(
        report_data().choice,
        rule="lowest_risk",
        risk="measured",
        utility="fidelity",
        measured=0.5,
        fidelity=0.78,
    )
    told = {"measured": MEASURED, "coverage": COVERAGE, "utility": UTILITY}
    data = report_data(candidates=measured_space(), choice=choice, **told)
    return build_report(data, tmp_path_factory.mktemp("measured")).as_uri()


@pytest.fixture(scope="module")
def compared(tmp_path_factory):
    named = {key: (1.0, 0.9 / place) for place, key in enumerate(RISKS, start=1)}
    fidelity = dict.fromkeys(COSTS, (0.8, 0.01))
    titles = (f"calls of 2031Q2, releases.plan={'-'.join(['whole'] * n)}" for n in range(2, 9))
    runs = [
        replace(summaries()[0], named=named, fidelity=fidelity, title=title) for title in titles
    ]
    return build_comparison(runs, tmp_path_factory.mktemp("compared")).as_uri()


@pytest.fixture
def visit(browser):
    """Open a page; what it complains about or loads from elsewhere fails the test."""
    contexts, complaints = [], []

    def go(uri, width=1280, height=900, **options):
        context = browser.new_context(viewport={"width": width, "height": height}, **options)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on(
            "console", lambda said: complaints.append(said.text) if said.type == "error" else None
        )
        page.on(
            "request",
            lambda r: None if r.url.startswith(("file:", "data:")) else complaints.append(r.url),
        )
        page.goto(uri)
        return page

    yield go
    for context in contexts:
        context.close()
    assert complaints == []


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("name", ["report", "measured", "compared"])
def test_nothing_is_cut_or_wider_than_the_window(visit, request, name, width):
    page = visit(request.getfixturevalue(name), width)
    if name != "compared":
        page.wait_for_function(f"{PLOT}?.frame?.x_scale")
        page.wait_for_timeout(300)
    assert page.evaluate(WIDE) == [0, []]
    assert page.evaluate(ASKEW) == []
    assert page.evaluate(CUT) == []
    # Wide tables scroll in a box of their own, which a keyboard reaches.
    assert page.locator("table").count() > 0
    for box in page.locator(".scroll").all():
        if box.evaluate("e => e.scrollWidth > e.clientWidth"):
            assert box.get_attribute("tabindex") == "0"


def test_the_check_finds_what_is_too_wide(visit, tmp_path):
    bad = tmp_path / "bad.html"
    bad.write_text("<p style='width:900px'>too wide for a telephone</p>")
    excess, found = visit(bad.as_uri(), 390).evaluate(WIDE)
    assert excess > 0
    assert found == ["P  too wide for a telephone"]


@pytest.mark.parametrize("width", [1280, 390])
def test_a_candidate_that_is_clicked_tells_how_to_publish_it(visit, report, width):
    page = visit(report, width)
    page.wait_for_function(f"{PLOT}?.frame?.x_scale")
    page.locator("#explorer-plot").scroll_into_view_if_needed()
    page.wait_for_timeout(300)
    command = page.locator("#explorer-told-command")
    assert not command.is_visible()
    x, y, name, swaps = page.evaluate(POINT)
    page.mouse.move(x - 40, y - 40)
    page.mouse.move(x, y, steps=4)
    page.locator(".bk-Tooltip", has_text=name).wait_for()
    page.mouse.click(x, y)
    page.wait_for_timeout(300)
    assert command.is_visible()
    told = page.locator("#explorer-told").text_content()
    assert told.startswith(f"{name}, ")
    assert f"--swaps {told.split(', ')[1].split()[0]}" in command.text_content()
    assert abs(int(told.split(", ")[1].split()[0]) - swaps) <= 2  # neighbours may overlap


def test_a_name_below_the_plot_hides_its_candidates(visit, report):
    page = visit(report)
    page.wait_for_function(f"{PLOT}?.frame?.x_scale")
    page.locator("#explorer-plot").scroll_into_view_if_needed()
    seen = f"() => {PLOT}.model.renderers.map((r) => r.visible)"
    assert all(page.evaluate(seen))
    page.locator("#explorer-plot .bk-label").nth(1).click()
    assert page.evaluate(seen).count(False) == 1


@pytest.mark.parametrize("way", ["pointer", "keyboard"])
def test_candidates_are_sorted_by_a_column(visit, report, way):
    page = visit(report)
    page.get_by_text("candidates", exact=False).locator("xpath=self::summary").first.click()
    table = page.locator("table.sortable").first
    head = table.locator("thead th").nth(1)
    button = head.locator("button")

    def column():
        texts = table.locator("tbody tr > :nth-child(2)").all_text_contents()
        return [float(t.replace(",", "").replace("\u2212", "-")) for t in texts]

    for direction in ("ascending", "descending"):
        if way == "pointer":
            button.click()
        else:
            button.focus()
            page.keyboard.press("Enter")
        assert head.get_attribute("aria-sort") == direction
        assert column() == sorted(column(), reverse=direction == "descending")


def test_it_can_be_read_in_the_dark(visit, report):
    page = visit(report, color_scheme="dark")
    ratio = page.evaluate(
        """() => {
          const light = (c) => {
            const [r, g, b] = c.match(/[\\d.]+/g).slice(0, 3).map((v) => {
              v /= 255;
              return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
            });
            return 0.2126 * r + 0.7152 * g + 0.0722 * b;
          };
          const ground = light(getComputedStyle(document.body).backgroundColor);
          const ink = light(getComputedStyle(document.querySelector("p")).color);
          return [ground, (Math.max(ground, ink) + 0.05) / (Math.min(ground, ink) + 0.05)];
        }"""
    )
    assert ratio[0] < 0.1
    assert ratio[1] >= 4.5


def test_without_a_script_figures_and_tables_say_the_same(visit, report):
    page = visit(report, java_script_enabled=False)
    assert page.locator("figure svg").first.is_visible()
    assert page.locator("table.sortable tbody tr").count() > 20


def test_it_prints(visit, report):
    page = visit(report)
    page.emulate_media(media="print")
    assert len(page.pdf(format="A4")) > 50_000


def test_a_keyboard_gets_past_what_stands_on_every_page(visit, report):
    page = visit(report)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    assert page.evaluate("location.hash.length") > 1
