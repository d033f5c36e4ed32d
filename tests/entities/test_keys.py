"""Keys are told from names of products by how many figures and groups they have."""

import pytest

from nes_spark.entities.keys import is_key


@pytest.mark.parametrize(
    "code",
    [
        "634984",
        "nine five one three double one",
        "H20/92174",
        "R91S-K35E-R87R-A85Y-Y54Q",
        "70ACF-CD30E-6E166-8A4CD",
        "BL-BLRS-8171-HJXA",
        "EH33-7772-V18",
    ],
)
def test_codes_of_one_record(code):
    assert is_key(code, "Product")
    assert is_key(code, "Name")
    assert not is_key(code, "Location")


@pytest.mark.parametrize(
    "code", ["ADX-1612", "HSP90", "DC-10-30", "RTX-4090-TI", "SARS-CoV-2", "A320-200", "EH33-V18"]
)
def test_codes_of_products(code):
    assert not is_key(code, "Product")
