"""Lines that are headings."""

import pytest

from nes_spark.text.headings import headings


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("OVERVIEW", [("OVERVIEW", True)]),
        ("Sales rose.\n\nItem 2. PROCEEDINGS\nWe won.", [("Item 2. PROCEEDINGS", True)]),
        ("[Company] NEWS (continued)\n\nAll is well.", [("[Company] NEWS (continued)", True)]),
        ("Results of Operations\n\nSales rose.", [("Results of Operations", False)]),
        ("LIQUIDITY, Q3 2026\n\nWe won.", [("LIQUIDITY, Q3 2026", True)]),
        ("Outlook for 2027", [("Outlook for 2027", False)]),
        ("SALES – FY25", [("SALES – FY25", True)]),
        ("Third Quarter, Fiscal Year 2026", [("Third Quarter, Fiscal Year 2026", False)]),
        # no line of its own, an item, a row, a sentence, words of somebody, nothing but capitals
        ("Sales rose.\nResults of Operations", []),
        ("* Sales up", []),
        ("Net sales   $ 4\nNET SALES   $ 4", []),
        ("Sales Rose.", []),
        ("Sales 12", []), ("2026", []), ("Net sales   $ 4 2026", []),
        ("Ann Lee:", []),
        ("CALL ME\nAT ONCE", []),
        ("", []),
    ],
)  # fmt: skip
def test_headings_are_lines_in_capitals_or_of_capitals(text, expected):
    assert [(text[h.start : h.end], h.capitals) for h in headings(text)] == expected
