import re
from dataclasses import replace

import pytest

from nes_spark.report import figures
from tests.report.samples import adversary, report_data


@pytest.fixture(scope="module")
def drawing():
    data = report_data()
    return figures.risk_utility(data.space, data.choice, (1.0, 0.0))


def test_both_forms_carry_the_alt_text_and_scale_with_the_page(drawing):
    for svg in (drawing.wide, drawing.narrow):
        tag = svg[: svg.index(">")]
        assert f'aria-label="{drawing.alt}"' in tag
        assert "viewBox" in tag
        assert not re.search(r'\s(width|height)="', tag)


def test_no_id_is_used_twice_across_forms_and_figures(drawing):
    data = report_data()
    other = figures.against_swaps(data.space, data.choice)
    page = drawing.wide + drawing.narrow + other.wide + other.narrow
    ids = re.findall(r'\bid="([^"]+)"', page)
    assert len(ids) == len(set(ids))
    targets = set(re.findall(r'(?:url\(#|href="#)([^")]+)', page))
    assert targets
    assert targets <= set(ids)


def test_themed_figures_name_no_colour_of_their_own(drawing):
    themed = figures.themed(drawing.wide)
    assert set(re.findall(r"#[0-9a-f]{6}\b", themed)) == set()
    assert "var(--series-0)" in themed
    assert "var(--ink)" in themed


def test_every_candidate_has_a_mark(drawing):
    data = report_data()
    marks = len(re.findall("<use ", figures.risk_utility(data.space, data.choice, None).wide))
    assert marks >= len(data.space)


def test_a_chosen_candidate_without_a_figure_is_told_and_has_no_star():
    data = report_data()
    choice = replace(data.choice, utility="fidelity", fidelity=None)
    space = data.space.assign(fidelity=0.9)
    known = figures.risk_utility(space, replace(choice, fidelity=0.9), (1.0, 0.0))
    found = figures.risk_utility(space, choice, (1.0, 0.0))
    assert "not known" in found.alt and "not known" not in known.alt
    assert ">chosen<" in known.wide and ">chosen<" not in found.wide


def test_bars_write_their_values():
    svg = figures.bars("b", "alt", ["one", "two"], {"n": [1234, 5]}, "Count").wide
    assert ">1,234<" in svg
    assert ">two<" in svg


def test_audit_draws_every_adversary():
    svg = figures.audit([adversary("first"), adversary("second") | {"pre": {"mean": 0.5}}]).narrow
    assert ">first<" in svg
    assert ">second<" in svg


def test_more_combinations_than_colours_still_get_a_series():
    names = [f"A+{i}" for i in range(20)]
    assert set(figures.series_of(names)) == set(names)


def test_a_stacked_bar_has_its_parts_and_its_sum():
    groups = {"donor": [700, 0], "exchanged": [290, 5], "kept": [10, 0]}
    drawing = figures.stacked("s", "alt", ["Product", "Person"], groups, "Mentions")
    for svg in (drawing.wide, drawing.narrow):
        assert all(f">{told}<" in svg for told in ("700", "290", "1,000", "Product", "kept"))
        assert ">10<" not in svg, "no room"


@pytest.mark.parametrize("values", [[1.0, 1.0], [0.0], [], [0.2, 0.6], [0.05, 0.9]])
def test_an_axis_of_shares_ends_near_nought_and_one(values):
    low, high = figures.share_limits(values)
    assert -0.02 <= low < high <= 1.02 and high - low >= 0.199
    assert all(low <= value <= high for value in values)
