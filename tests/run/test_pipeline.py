"""The main job end to end on a small corpus: what a user, an operator and an officer rely on."""

from __future__ import annotations

import dataclasses
import io
import json
import os
import shutil
import stat
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import nes_spark as nes
from nes_spark import logs
from nes_spark.demo import config_path
from nes_spark.errors import ConfigError, EstimationError, GateRefused, InputError
from nes_spark.report import ReportData
from nes_spark.run.choosing import choose_again
from nes_spark.run.pipeline import STAGES
from nes_spark.run.published import CONFIGURATION
from nes_spark.run.result import MANY
from nes_spark.schemas import TABLES
from nes_spark.store import Store
from tests.check_run import check
from tests.conftest import setting_of
from tests.run.small import (
    BAD_LINES,
    DOCUMENTS,
    SEED,
    UNATTACKED,
    records,
    release_bytes,
    settings,
    write_corpus,
)

pytestmark = pytest.mark.usefixtures("seeded")


def test_a_run_publishes_a_complete_release(finished):
    _, result = finished
    assert result.status == "published"
    check(Path(result.directory))
    assert result.choice.n_swaps > 0
    assert result.choice.DR < 1
    summary = str(result)
    for word in ("documents", "chunks", "components", "candidates", "DR =", "gate", "report"):
        assert word in summary


def test_every_document_is_accounted_for(finished):
    _, result = finished
    figures = result.figures
    assert figures["documents_in"] == DOCUMENTS + len(BAD_LINES)
    assert figures["documents"] + sum(figures["quarantined"].values()) == figures["documents_in"]
    assert sum(figures["quarantined"].values()) == len(BAD_LINES)


def test_why_documents_were_put_aside_is_said_in_words(logged_run):
    _, result, log = logged_run
    reasons = (
        "2 quarantined: 1 the field that must stay secret is missing or empty, "
        "1 the line is not a JSON object"
    )
    assert f"({reasons})" in str(result)
    assert f"of {result.figures['documents_in']} documents {reasons}; " in log


def test_tables_have_unique_keys_and_declared_columns(finished):
    _, result = finished
    for name, table in TABLES.items():
        if Store(result.directory).manifest(name) is None:
            continue
        frame = result.table(name)
        assert list(frame.columns) == table.names, name
        if len(frame):
            assert not frame.duplicated(list(table.key)).any(), name


def test_scores_follow_from_their_parts(finished):
    _, result = finished
    scores = result.table("scores")
    assert len(scores) > 0
    risk = 1 - scores["swapped_uniques"] / scores["s1"] * scores["p_hat_clipped"]
    pd.testing.assert_series_equal(risk, scores["DR"], check_names=False)
    pd.testing.assert_series_equal(
        scores["log_f_post"] / scores["log_f_pre"], scores["DU"], check_names=False
    )
    pd.testing.assert_series_equal(
        2 * scores["n_swaps"] / scores["n"], scores["r"], check_names=False
    )


def test_the_candidates_hold_the_release_without_swaps_and_the_choice(finished):
    _, result = finished
    candidates = result.table("candidates")
    zero = candidates[candidates["n_swaps"] == 0]
    assert len(zero) == 1
    # events are replaced in every release, so none costs nothing
    assert zero["DR"].item() == 1
    assert 0.9 < zero["DU"].item() < 1
    row = candidates[
        (candidates["combination"] == result.choice.combination.name)
        & (candidates["n_swaps"] == result.choice.n_swaps)
    ]
    # one that ties with the best need not be on the frontier of averages
    assert row["on_frontier"].all() or result.choice.tied > 1


def test_the_second_run_does_nothing(finished, spark):
    config, result = finished
    before = {p: p.stat().st_mtime_ns for p in Path(result.directory).rglob("*") if p.is_file()}
    again = nes.run(config, spark)
    assert again.status == "unchanged"
    assert again.choice == result.choice
    assert "nothing to do" in str(again)
    assert str(again).splitlines()[1:] == str(result).splitlines()[1:]
    assert again.chunks_named
    after = {p: p.stat().st_mtime_ns for p in Path(result.directory).rglob("*") if p.is_file()}
    assert {k: v for k, v in before.items() if k.name != ".lock"} == {
        k: v for k, v in after.items() if k.name != ".lock"
    }


@pytest.mark.usefixtures("plain_report")
def test_same_seed_same_release_whatever_order_and_partitions(finished, spark, tmp_path):
    _, result = finished
    corpus = write_corpus(tmp_path / "calls.jsonl", shuffle=5)
    config = settings(corpus, tmp_path / "out", **UNATTACKED)
    # as in a session of a user: adaptive, and several partitions a shuffle
    with (
        setting_of(spark, "spark.sql.shuffle.partitions", 2),
        setting_of(spark, "spark.sql.adaptive.enabled", "true"),
    ):
        other = nes.run(config, spark)
    first, second = release_bytes(result.directory), release_bytes(other.directory)
    records = [json.loads(files.pop("release.json")) for files in (first, second)]
    assert first == second
    for name in ("choice", "candidates", "chunk_status", "files", "seed_fingerprint"):
        assert records[0][name] == records[1][name], name


@pytest.mark.usefixtures("plain_report")
def test_only_affected_stages_run_again_and_a_refused_gate_publishes_a_report_only(
    finished, spark, tmp_path
):
    config, result = finished
    run = tmp_path / "out" / "all"
    shutil.copytree(result.directory, run)
    for folder in ("release", "sealed", "report"):
        shutil.rmtree(run / folder)
    more = {"risk.population": 1e10, "gates.min_swaps": 1000}
    changed = settings(Path(config.input.path), tmp_path / "out", **more, **UNATTACKED)
    log = io.StringIO()
    logs.configure(stream=log)
    with pytest.raises(GateRefused, match="at least 1000"):
        nes.run(changed, spark)
    lines = log.getvalue().splitlines()
    ran = [
        stage.name
        for stage in STAGES
        if not any(f"] {stage.name} " in line and "up to date" in line for line in lines)
    ]
    assert ran == ["scores", "candidates"]
    assert not (run / "release").exists()
    assert not list((run / "sealed").glob("ledger*"))
    assert (run / "report" / "index.html").is_file()


@pytest.mark.slow
def test_all_that_can_be_found_out_about_a_release(finished, spark, tmp_path):
    config, before = finished
    shutil.copytree(before.directory, tmp_path / "out" / "all")
    more = {
        "report.options": {
            "two rounds": {"swapping.rounds": 2},
            "same sector": {"releases.constraints.same_covariates": ["sector"]},
            "impossible": {"releases.constraints.min_concentration": 0.999},
        },
        "report.option_draws": 2,
        "report.option_swaps": 8,
        "report.examples": True,
        "report.linking": True,
        "utility.total_variation": True,
        "utility.tasks": ["nes_spark.utility.sentiment.Sentiment"],
        "audit.frontier": True,
        "audit.text": False,
        "audit.swap_aware": False,
        "audit.reference": str(Path(before.directory, "stages")),
    }
    result = nes.run(settings(Path(config.input.path), tmp_path / "out", **more), spark)
    assert release_bytes(result.directory).keys() == release_bytes(before.directory).keys()
    page = Path(result.report).read_text()
    for words in ("two rounds", "measured attack", "Total variation", "sentiment"):
        assert words in page, words
    # What quotes texts is on the pages beside the ledger alone.
    sealed = Path(result.directory, "sealed")
    assert "linkage adversary still names" in (sealed / "report.html").read_text()
    assert "linkage adversary still names" not in page
    assert "It begins" in (sealed / "review.html").read_text()
    data = ReportData.from_json(Path(result.directory, "stages", "report.json").read_text())
    options = data.options.set_index("option")
    assert list(options.index) == ["as configured", "two rounds", "same sector", "impossible"]
    reached = options["reached"]
    assert reached["two rounds"] >= reached["as configured"] > 0
    assert reached["as configured"] >= reached["same sector"]  # few calls: there may be no pair
    assert options.loc["as configured", "n_swaps"] == result.choice.n_swaps
    assert reached["impossible"] == 0
    assert pd.isna(options.loc["impossible", "DR"])
    assert list(data.agreement["category"]) == list(config.entities.categories)
    assert (data.agreement["n"] == 2 * result.choice.n_swaps).all()
    assert len(data.attacks) == len(data.space) - 1
    assert {r["model"] for r in data.audit} == {"linkage", "linkage-self"}
    assert data.partners is None
    fits = result.table("risk_fits").set_index("combination")
    # Shares of all chunks; the fit's n leaves out those that hold no name of the categories.
    both = data.linking.set_index("combination")["both"] * result.figures["chunks"]
    uniques = fits["s1"].astype(float)
    pd.testing.assert_series_equal(both, uniques, check_names=False, check_like=True)
    record = json.loads(Path(result.directory, "release", "release.json").read_text())
    assert record["utility_tasks"][0]["task"] == "sentiment"
    assert {row["category"] for row in record["total_variation"]} >= {"Product"}
    # The reference holds the very chunks in question: the adversary knows more than usual.
    usual = {r["model"]: r for r in ReportData.from_json(
        Path(before.directory, "stages", "report.json").read_text()).audit}  # fmt: skip
    mine = {r["model"]: r for r in data.audit}
    assert mine["linkage"]["pre"]["mean"] >= usual["linkage"]["pre"]["mean"]


def test_a_task_that_is_not_there_is_told_before_any_work(finished, spark, tmp_path):
    config, _ = finished
    wrong = settings(Path(config.input.path), tmp_path, **{"utility.tasks": ["no.such.Task"]})
    with pytest.raises(ConfigError, match=r"utility\.tasks: no class 'no\.such\.Task'"):
        nes.run(wrong, spark)
    assert not list(tmp_path.iterdir())


def test_a_changed_model_behind_the_same_path_counts(tmp_path):
    from nes_spark.run.context import Context

    model = tmp_path / "model"
    model.mkdir()
    (model / "weights").write_bytes(b"1")
    settings = {"entities.recognizer": str(model)}
    settings["embedding.model"] = f"sentence-transformers:{model}"
    config = nes.load_config(config_path(), settings)
    context = Context(None, config, Store(tmp_path / "run"), b"secret", "")
    # these depend on other things
    others = ("documents", "mentions", "mixture", "utility", "measured_risk", "candidates")
    stages = [s for s in STAGES if s.also is not None and s.name not in others]
    assert [s.name for s in stages] == ["chunks", "recognised", "embeddings", "post_density"]
    before = [stage.also(context) for stage in stages]
    assert [stage.also(context) for stage in stages] == before
    (model / "weights").write_bytes(b"2")
    assert not set(before) & {stage.also(context) for stage in stages}


def test_a_changed_list_of_clues_behind_the_same_path_counts(spark, tmp_path):
    from nes_spark.run.context import Context

    path = tmp_path / "clues.csv"
    path.write_text("chunk_id,clue\na#0,cement\n")
    (mentions,) = [stage for stage in STAGES if stage.name == "mentions"]

    def told(clues):
        config = nes.load_config(config_path(), {"entities.clues": clues})
        return mentions.also(Context(spark, config, Store(tmp_path / "run"), b"secret", ""))

    before = told(str(path))
    assert told(str(path)) == before != told(None)
    path.write_text("chunk_id,clue\na#0,kilns\n")
    assert told(str(path)) != before


def test_the_ledger_undoes_the_release(finished, tmp_path):
    from nes_spark.run.inverting import invert_release

    _, result = finished
    rows = invert_release(result.directory, tmp_path / "restored.jsonl")
    restored = pd.read_json(tmp_path / "restored.jsonl", lines=True, dtype=False)
    chunks = result.table("chunks")
    assert rows == len(chunks)
    merged = chunks.merge(restored, on="chunk_id", suffixes=("", "_restored"))
    assert len(merged) == len(chunks)
    assert (merged["text"] == merged["text_restored"]).all()


def test_a_result_shows_itself_and_gives_its_release(finished):
    _, result = finished
    release, chunks = result.release, result.released("chunks")
    assert len(release) == result.figures["documents"]
    assert set(chunks["document_id"]) == set(release["document_id"])
    assert len(result.to_frame()) == result.choice.candidates
    assert result.summary() == str(result)
    html = result._repr_html_()
    assert html.startswith("<table><caption>release published</caption>")
    assert result.report in html
    # most documents of a release of the paper's space can be named, and what hides more is told
    assert result.documents_named["after"]["named"] > MANY
    assert [sorted(step.settings) for step in result.hide_more] == [["releases.plan"]]
    assert "\nto hide more " in str(result) and "--set releases.plan=whole   all names" in str(
        result
    )
    told = Path(result.report).read_text()
    assert "<code>--set releases.plan=whole</code>" in told
    with pytest.raises(ValueError, match="'documents' or 'chunks'"):
        result.released("ledger")


def test_nothing_secret_leaves_the_private_folders(logged_run):
    config, result, log = logged_run
    swaps = result.table("swaps")
    companies = {record["company_name"] for record in records()}
    ids = {record["document_id"] for record in records()}
    public = [
        p
        for root in ("release", "report")
        for p in Path(result.directory, root).rglob("*")
        if p.is_file()
    ]
    public += [p for p in Path(config.output.directory, "mlartifacts").rglob("*") if p.is_file()]
    public += list(Path(config.output.directory).glob("mlflow.db*"))
    contents = {p: p.read_bytes() for p in public} | {Path("log"): log.encode()}
    assert len(contents) > 8
    for path, content in contents.items():
        assert SEED.encode() not in content, path
        for company in companies:
            assert company.encode() not in content, (path, company)
        for chunk_id in {*swaps["chunk_a"], *swaps["chunk_b"]}:
            assert chunk_id.encode() not in content, (path, chunk_id)
        if path.suffix in (".jsonl", ".json", ".parquet", ".html"):
            for document_id in ids:
                assert document_id.encode() not in content, (path, document_id)


def test_private_folders_are_for_the_owner(finished):
    _, result = finished
    for folder in ("sealed", "stages"):
        assert stat.S_IMODE(os.stat(Path(result.directory, folder)).st_mode) == 0o700


def test_mlflow_has_curves_frontier_report_and_mixture(finished):
    from mlflow import MlflowClient

    config, result = finished
    client = MlflowClient(tracking_uri=config.tracking.uri)
    run = client.get_run(result.mlflow_run_id)
    assert run.data.tags["gates"] == "passed"
    assert run.data.tags["unit"] == config.releases.unit == "chunk"
    assert run.data.params["mixture.n_components"] == "[3]"
    assert run.data.metrics["release/DR"] == result.choice.DR
    combination = result.choice.combination.name.replace("+", "_")
    history = client.get_metric_history(result.mlflow_run_id, f"DR/{combination}")
    candidates = result.table("candidates")
    expected = candidates[candidates["combination"] == result.choice.combination.name]
    assert sorted((m.step, m.value) for m in history) == sorted(
        zip(expected["n_swaps"], expected["DR"], strict=True)
    )
    names = {a.path for a in client.list_artifacts(result.mlflow_run_id)}
    assert {"report", "release", "tables"} <= names
    # What names chunks stays on the machine that made the release.
    assert Path(result.directory, "report", "review.html").is_file()
    tracked = {a.path for a in client.list_artifacts(result.mlflow_run_id, "report")}
    assert tracked == {"report/index.html", "report/figures"}
    versions = client.search_model_versions("name = 'mixtures of small calls'")
    assert [version.run_id for version in versions] == [result.mlflow_run_id]


def test_the_adversary_who_knows_about_swapping_looks_where_swaps_are_valid(finished):
    config, result = finished
    bound = config.releases.constraints.min_cosine
    guesses = result.table("partner_guesses").dropna(subset=["answer"])
    vectors = result.table("embeddings").set_index("chunk_id")["vector"]
    pairs = zip(guesses["chunk_id"], guesses["answer"], strict=True)
    cosines = [float(np.dot(vectors[a], vectors[b])) for a, b in pairs]
    assert len(cosines) >= 5
    assert min(cosines) >= bound - 1e-6
    # without the bound others would be candidates too
    assignments = result.table("assignments")
    (mine,) = [g for s, g in assignments.groupby("setting") if s == result.choice.setting]
    cells = result.table("cells")
    held = [all(len(found[c]) for c in result.choice.combination) for found in cells["entities"]]
    eligible = mine[mine["chunk_id"].isin(set(cells["chunk_id"][held]))]
    inside = [np.stack(vectors[list(g["chunk_id"])]) for _, g in eligible.groupby("component")]
    assert min((table @ table.T).min() for table in inside) < bound


def test_a_killed_run_does_not_stay_open_in_mlflow(finished):
    from mlflow import MlflowClient

    from nes_spark.run.mlflow_run import folder_tag, tracker_of
    from nes_spark.store import Store

    config, result = finished
    client = MlflowClient(tracking_uri=config.tracking.uri)
    experiment = client.get_run(result.mlflow_run_id).info.experiment_id
    mine = folder_tag(Store(result.directory))
    assert client.get_run(result.mlflow_run_id).data.tags["folder"] == mine
    killed, other = (
        client.create_run(experiment, tags={"folder": tag}).info.run_id for tag in (mine, "other")
    )
    tracker = tracker_of(config, Store(result.directory))
    assert tracker.close_abandoned("folder", mine) == 1
    assert client.get_run(killed).info.status == "KILLED"
    assert client.get_run(other).info.status == "RUNNING"
    assert client.get_run(result.mlflow_run_id).info.status == "FINISHED"


@pytest.mark.slow
def test_language_models_audit_the_release(finished, spark, monkeypatch):
    from nes_spark.run.language_models import audit_run, results_table
    from nes_spark.run.published import configuration_of
    from tests.audit.server import ModelServer

    _, result = finished
    monkeypatch.setenv("TEST_MODEL_KEY", "key-of-the-tests")
    told = []
    with ModelServer() as server:
        model = {
            "name": "loopback",
            "model": "test-model",
            "base_url": server.base_url,
            "api_key_env": "TEST_MODEL_KEY",
        }
        overrides = {"audit.models": [model], "audit.draws": 2, "audit.bootstrap": 100}
        config = configuration_of(result.directory, None, overrides)
        assert audit_run(result.directory, config, spark, dry_run=True, tell=told.append) == []
        assert told
        assert not server.requests
        (found,) = audit_run(result.directory, config, spark, tell=told.append)
        asked = len(server.requests)
        assert asked > 0
        audit_run(result.directory, config, spark, tell=told.append)
        assert len(server.requests) == asked, "an answer was paid for twice"
    assert found.model == "loopback"
    assert found.draws == 2
    assert "loopback" in results_table([found])
    record = json.loads(Path(result.directory, "release", "release.json").read_text())
    assert [r["model"] for r in record["audit"]["language_models"]] == ["loopback"]
    page = Path(result.directory, "report", "index.html").read_text()
    assert page.count("loopback") >= 3
    assert "linkage" in page
    everything = b"".join(p.read_bytes() for p in Path(result.directory).rglob("*") if p.is_file())
    assert b"key-of-the-tests" not in everything


def test_a_single_document_is_refused_in_one_line(spark, tmp_path):
    (tmp_path / "calls.jsonl").write_text(json.dumps(records(1)[0]) + "\n")
    with pytest.raises(InputError, match="at least two documents") as caught:
        nes.run(settings(tmp_path / "calls.jsonl", tmp_path / "out"), spark)
    assert "\n" not in str(caught.value)
    with pytest.raises(InputError, match="at least two documents"):  # also when up to date
        nes.run(settings(tmp_path / "calls.jsonl", tmp_path / "out"), spark)


def test_a_secret_that_is_spelled_in_several_ways_is_told(spark, tmp_path, caplog):
    names = ("Tom Baker", "TOM BAKER", "Ann Roe")
    rows = [{"id": name, "who": name, "body": f"{name} did well."} for name in names]
    (tmp_path / "calls.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    columns = {"document_id": "id", "metadata": "who", "text": "body"}
    config = nes.load_config(
        None,
        {
            "input": {"path": str(tmp_path / "calls.jsonl"), "columns": columns},
            "presentation.method": "none",
            "output.directory": str(tmp_path / "out"),
        },
    )
    nes.run_stage(config, "documents", spark)
    assert (
        "1 secret(s) spelled in several ways, each of which counts as one of its own: T...R (9 "
        "characters) and T...r (9 characters); spell them alike in column who, unless"
        in caplog.text
    )


def test_a_corpus_in_which_nothing_can_be_swapped(spark, tmp_path):
    rows = [
        {"id": name, "who": name, "body": "We did well. We will go on as we did before this year."}
        for name in ("a", "b", "c")
    ]
    (tmp_path / "t.jsonl").write_text("\n".join(json.dumps(r) for r in rows))
    config = nes.load_config(
        None,
        {
            "input.path": str(tmp_path / "t.jsonl"),
            "input.columns": {"document_id": "id", "metadata": "who", "text": "body"},
            "presentation.method": "none",
            "output.directory": str(tmp_path / "out"),
            "mixture.n_components": 1,
            "mixture.n_init": 1,
            "tracking.enabled": False,
        },
    )
    with pytest.raises(EstimationError, match="nothing can be swapped") as caught:
        nes.run(config, spark)
    assert "\n" not in str(caught.value)
    with pytest.raises(EstimationError, match="nothing can be swapped"):  # also when up to date
        nes.run(config, spark)
    assert not (tmp_path / "out" / "all" / "release").exists()


def test_without_input_there_is_a_hint(spark):
    with pytest.raises(ConfigError, match="--input"):
        nes.run(nes.load_config(), spark)


def test_the_plan_names_every_stage(finished):
    config, _ = finished
    plan = nes.describe_plan(config)
    told = nes.describe_plan(nes.load_config(config_path()))
    assert "judge: reads at most 700 texts, about 8 s on two cores" in told
    for stage in STAGES:
        assert stage.name in plan


@pytest.mark.usefixtures("plain_report")
def test_another_candidate_is_published_without_running_a_stage(finished, spark, tmp_path):
    config, result = finished
    log = io.StringIO()
    logs.configure(stream=log)
    shutil.copytree(config.output.directory, tmp_path / "out")
    moved = tmp_path / "out" / Path(result.directory).name
    # a run of which nobody asks who can be named: the attacks are those of every publication
    unasked = settings(Path(config.input.path), tmp_path / "out", **UNATTACKED)
    Store(moved).write_bytes(unasked.model_dump_json().encode(), *CONFIGURATION)
    before = {name: (moved / "stages" / name).stat().st_mtime_ns for name in ("swaps", "scores")}
    choice = {
        "rule": "candidate",
        "combination": list(result.choice.combination),
        "n_swaps": result.choice.n_swaps - 1,
    }
    again = choose_again(moved, choice, spark)
    assert again.status == "published"
    assert again.directory == str(moved)
    assert again.choice.n_swaps == result.choice.n_swaps - 1
    assert release_bytes(again.directory) != release_bytes(result.directory)
    after = {name: (moved / "stages" / name).stat().st_mtime_ns for name in before}
    assert after == before
    one = again.choice.draw == result.choice.draw
    assert ("are of one sequence" in log.getvalue()) == one
    with pytest.raises(ConfigError, match=r"no candidate swaps .* there are: nothing 0 times; "):
        choose_again(moved, choice | {"n_swaps": 99}, spark)
    with pytest.raises(ConfigError, match="nothing to choose by"):
        choose_again(moved, {}, spark)
    (moved / "stages" / "scores" / "_manifest.json").unlink()
    with pytest.raises(InputError, match="stage scores is not that of today's"):
        choose_again(moved, choice, spark)


@pytest.mark.usefixtures("plain_report")
def test_chunks_can_be_released_by_themselves(finished, spark, tmp_path):
    from nes_spark.run.inverting import invert_release

    config, result = finished
    folder = tmp_path / "out" / Path(result.directory).name
    shutil.copytree(result.directory, folder)  # its stages are up to date
    chunks = {"output.publish": "chunks"}
    attacked = UNATTACKED | {"audit.documents": True, "audit.linkage": True}
    alone = settings(Path(config.input.path), tmp_path / "out", **attacked, **chunks)
    swaps = (folder / "stages" / "swaps").stat().st_mtime_ns
    again = nes.run(alone, spark)
    assert again.status == "published"
    assert (folder / "stages" / "swaps").stat().st_mtime_ns == swaps
    assert "each chunk by itself" in str(again)
    release = folder / "release"
    assert {p.name for p in release.iterdir()} == {"chunks.jsonl", "chunks.parquet", "release.json"}
    record = json.loads((release / "release.json").read_text())
    assert record["publish"] == "chunks"
    # who has nothing else puts some of them together
    measured = again.table("measured")
    asked = measured[(measured["unit"] == "chunks_together") & (measured["side"] == "after")]
    share, found = asked.set_index("attacker")["named"], record["chunks_together"]
    assert found["after"]["named"] == share.drop("chance").max()
    assert found["chance"] == share["chance"]
    assert "the one most like it is of the same document" in str(again)
    assert again.chunks_together == found
    # where nobody looked, that is said
    unseen = str(dataclasses.replace(again, chunks_together=None))
    assert "which chunks are was not measured" in unseen
    files = (folder, Path(result.directory))
    rows, together = (
        [json.loads(x) for x in (f / "release" / "chunks.jsonl").read_text().split("\n") if x]
        for f in files
    )
    # The same texts, under names that say nothing of each other or of the other release's.
    assert sorted(row["text"] for row in rows) == sorted(row["text"] for row in together)
    assert {name for row in rows for name in row} == {"chunk_id", "text"}
    assert not {r["chunk_id"][1:] for r in rows} & {r["chunk_id"][1:17] for r in together}
    restored = tmp_path / "restored.jsonl"
    assert invert_release(str(folder), restored) == len(rows)
    chunks = again.table("chunks").set_index("chunk_id")["text"].to_dict()
    found = [json.loads(line) for line in restored.read_text().split("\n") if line]
    assert {row["chunk_id"]: row["text"] for row in found} == chunks


def test_a_run_that_is_refused_leaves_no_folder_that_it_made(spark, tmp_path, monkeypatch):
    monkeypatch.delenv("NES_SPARK_SEED")
    corpus = write_corpus(tmp_path / "calls.jsonl", n=2)
    tracked = {"tracking.enabled": False}
    refused = {**tracked, "input.columns.text": "body", "input.columns.turns": None}
    config = settings(corpus, tmp_path / "a" / "out", **refused)
    with pytest.raises(InputError, match="body"):
        nes.run(config, spark)
    assert not (tmp_path / "a").exists()
    # one that was there before may hold the seed of somebody's release
    seed = tmp_path / "a" / "out" / "all" / "sealed" / "seed"
    seed.parent.mkdir(parents=True)
    seed.write_text(SEED)
    with pytest.raises(InputError, match="body"):
        nes.run(config, spark)
    assert seed.read_text() == SEED
    # where a stage has finished its tables say why the run was refused
    one = write_corpus(tmp_path / "one.jsonl", n=1)
    with pytest.raises(InputError, match="at least two documents"):
        nes.run(settings(one, tmp_path / "b", **tracked), spark)
    assert (tmp_path / "b" / "all" / "stages" / "quarantine").exists()
