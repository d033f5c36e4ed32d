"""Small grammar of names."""

from __future__ import annotations

import pytest

from nes_spark.swapping.wording import Form, put_together, take_apart, vowel_sound


@pytest.mark.parametrize(
    ("name", "vowel"),
    [
        ("Intel", True),
        ("Dell", False),
        ("IBM", True),
        ("FDA", True),
        ("USDA", True),
        ("UPS", False),
        ("MRI-2", True),
        ("SEC", True),
        ("NASA", False),
        ("NATO", False),
        ("Unilever", False),
        ("Unimpressed", True),
        ("European Union", False),
        ("US", False),
        ("Uber", True),
        ("Utah", False),
        ("One Medical", False),
        ("Oneida", True),
        ("Honda", False),
        ("Honest Company", True),
        ("hourly", True),
        ("8x8", True),
        ("80", True),
        ("11", True),
        ("18-wheeler", True),
        ("180", False),
        ("1,800", False),
        ("11000", True),
        ("110", False),
        ("eBay", True),
        ("iPhone", True),
        ("X", True),
        ("X-ray", True),
        ("[Event]", True),
        ("[Company Name]", False),
        ("“Orion”", True),
        ("東京", None),
        ("…", None),
    ],
)
def test_first_sound(name, vowel):
    assert vowel_sound(name) is vowel


@pytest.mark.parametrize(
    ("surface", "names", "form"),
    [
        ("Orion's", set(), Form("Orion", False, "'s")),
        ("ORION'S", set(), Form("ORION", False, "'S")),
        ("Atlas’", set(), Form("Atlas", False, "’")),
        ("Orions", {"Orion"}, Form("Orion", True)),
        ("Orions", {"Great Orion"}, Form("Orion", True)),
        ("Orions", {"Morion"}, Form("Orions")),
        ("Boxes", {"Box"}, Form("Box", True)),
        ("BERRIES", {"Berry"}, Form("BERRY", True)),
        ("Siemens", {"Siemens", "Siemen"}, Form("Siemens")),
        ("'s", set(), Form("'s")),
    ],
)
def test_taking_apart(surface, names, form):
    assert take_apart(surface, names) == form


@pytest.mark.parametrize(
    ("base", "form", "person", "name"),
    [
        ("Kennedy", Form("x", True), True, "Kennedys"),
        ("Berry", Form("x", True), False, "Berries"),
        ("Day", Form("x", True), False, "Days"),
        ("Jones", Form("x", True), True, "Joneses"),
        ("Windows", Form("x", True), False, "Windows"),
        ("Box", Form("x", True, "'"), False, "Boxes'"),
        ("Vega", Form("x", False, "’"), False, "Vega’s"),
        ("Atlas", Form("x", False, "’s"), False, "Atlas’s"),
        ("Vega", Form("x", True, "'s"), False, "Vegas'"),
    ],
)
def test_putting_together(base, form, person, name):
    assert put_together(base, form, person) == name
