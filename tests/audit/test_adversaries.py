"""The registry, and a worked example: an adversary of one's own."""

import pytest

from nes_spark.audit import adversaries
from nes_spark.audit.adversaries import Adversary, View, attacks_of, check_names, register
from nes_spark.config import AuditConfig, LanguageModelConfig
from nes_spark.errors import ConfigError
from nes_spark.releases.publish_stages import chosen_rewrites
from nes_spark.schemas import PREDICTIONS
from tests.audit.corpus import frames, make
from tests.report.samples import adversary, everything, rendered, report_data

RELEASE = ("pkb", "Organization+Product")


@pytest.fixture
def registry(monkeypatch):
    """A registry that the test may add to."""
    monkeypatch.setattr(adversaries, "ADVERSARIES", dict(adversaries.ADVERSARIES))


def first_of_all(view: View, config: AuditConfig):
    """Name the alphabetically first source whatever the chunk says."""
    from pyspark.sql import functions as F

    first = view.cells.agg(F.min("metadata")).collect()[0][0]
    sides = F.explode(F.array(F.lit("pre"), F.lit("post")))
    return (
        view.rewrites.select("draw", "chunk_id", sides.alias("side"))
        .join(view.cells.select("chunk_id", "document_id", "metadata"), "chunk_id")
        .select(
            "draw",
            "chunk_id",
            "document_id",
            "side",
            F.lit("stubborn").alias("model"),
            F.lit(first).alias("answer"),
            (F.col("metadata") == first).alias("correct"),
            F.lit(None).cast("int").alias("rank"),
            F.array().cast("array<string>").alias("evidence"),
            F.lit("answered").alias("outcome"),
        )
        .select(*PREDICTIONS.names)
    )


OWN = Adversary("stubborn", "names the same source whatever it sees", first_of_all)


@pytest.mark.spark
def test_an_adversary_of_ones_own_is_run_with_the_others(spark, registry):
    from nes_spark.audit.attack_stages import attack
    from nes_spark.audit.stages import summarize_audit

    register(OWN)
    corpus = make()
    tables = frames(spark, corpus)
    final = chosen_rewrites(tables["rewrites"], *RELEASE, draws=1)
    shown = [tables[name] for name in ("cells", "chunks", "mentions")]
    view = View(*shown, final, tuple("ab"), small=True)
    config = AuditConfig(text=False, gate_models=["stubborn"])
    check_names(config)
    predictions = attack(view, config, "predictions").cache()
    results = {r.model: r for r in summarize_audit(predictions, config)}
    predictions.unpersist()
    assert set(results) == {"linkage", "linkage-self", "stubborn"}
    owners = {c["chunk_id"]: c["metadata"] for c in corpus.chunks}
    swapped = [r["chunk_id"] for r in final.collect()]
    right = sum(owners[c] == min(owners.values()) for c in swapped) / len(swapped)
    assert 0 < right < 1
    assert results["stubborn"].pre.mean == results["stubborn"].post.mean == right


def test_an_adversary_of_ones_own_is_described_in_the_report(registry):
    register(OWN)
    audit = [adversary("stubborn"), adversary("style")]
    html = rendered(report_data(**everything() | {"audit": audit}))
    assert "<strong>stubborn</strong> names the same source whatever it sees." in html
    assert "<strong>style</strong> looks at words only, with names taken away." in html
    assert "It knows the method and the swap rate, but not the seed" in html


def test_one_pass_serves_several_adversaries():
    assert [f.__name__ for f in attacks_of(AuditConfig(), "predictions")] == ["linkage", "text"]
    assert [f.__name__ for f in attacks_of(AuditConfig(text=False), "predictions")] == ["linkage"]
    assert [f.__name__ for f in attacks_of(AuditConfig(), "partner_guesses")] == ["swap_aware"]
    assert attacks_of(AuditConfig(swap_aware=False), "partner_guesses") == []


@pytest.mark.parametrize("name", [*adversaries.ADVERSARIES])
def test_a_language_model_cannot_take_the_name_of_an_adversary(name):
    config = AuditConfig(models=[LanguageModelConfig(name=name, model="m")])
    with pytest.raises(ConfigError, match=rf"audit.models: \['{name}'\]"):
        check_names(config)


@pytest.mark.parametrize("name", ["swap-aware", "linkag", "stubborn"])
def test_a_gate_cannot_bind_what_names_no_source(name):
    with pytest.raises(ConfigError, match=rf"audit.gate_models: \['{name}'\].*'linkage-self'"):
        check_names(AuditConfig(gate_models=["linkage", name]))


def test_a_name_is_taken_once(registry):
    register(OWN)
    with pytest.raises(ValueError, match="stubborn"):
        register(OWN)
    with pytest.raises(ValueError, match="partner_guesses"):
        register(Adversary("another", "knows nothing", first_of_all, table="guesses"))
