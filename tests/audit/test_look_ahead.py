"""The figures of docs/look_ahead.md follow from the functions that a dry run uses."""

import re

import pytest
import yaml

from nes_spark.audit import texts_needed
from nes_spark.audit.billing import estimate_tokens, price
from nes_spark.config import AuditConfig, LanguageModelConfig
from tests.documents import ROOT, blocks

PAGE = ROOT / "docs" / "look_ahead.md"
ROW = re.compile(r"^\| (\.\d+) \| " + r"([\d,]+) \| " * 4 + r"([\d.]+) \|$", re.M)


def paid(texts: int, characters: int, config: AuditConfig, model: LanguageModelConfig) -> float:
    """The price of so many texts, both sides, at most."""
    tokens = estimate_tokens(characters, config)
    return price(model, 2 * texts * tokens, 2 * texts * model.max_tokens, False)


@pytest.fixture
def model():
    (shown,) = blocks(PAGE, "yaml")
    audit = AuditConfig(**yaml.safe_load(shown)["audit"])
    assert (audit.answer, audit.about) == ("period", "chunks")
    return audit.models[0]


def test_the_table(model):
    rows = ROW.findall(PAGE.read_text())
    assert [row[0] for row in rows] == [".20", ".10", ".06", ".04"]
    for width, *said in rows:
        w = float(width)
        counts = [texts_needed(w, p) for p in (0.5, 0.2, 0.05)]
        counts.append(texts_needed(w, 0.5, 38, 0.05))
        assert [f"{n:,}" for n in counts] == said[:4]
        assert f"{paid(counts[0], 524, AuditConfig(), model):.2f}" == said[4]


def test_the_other_figures(model):
    text = PAGE.read_text()
    assert str(texts_needed(0.1, share=0.2, per_document=10, correlation=0.05)) == "357"
    assert f"{paid(1, 20_000, AuditConfig(), model):.3f} a document" in text.replace("\n", " ")
    assert f"{paid(43, 20_000, AuditConfig(), model):.2f} for 43 documents" in text
    assert texts_needed(0.30, 0.5) in range(42, 45)
