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
