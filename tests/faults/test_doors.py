"""What is wrong before any work: found before Spark starts, one line, the right exit code."""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import importlib
import json
import logging
import os
import signal
import time
from dataclasses import fields

import psutil
import pytest
import yaml
from click.testing import CliRunner

from nes_spark import logs
from nes_spark.cli import main
from nes_spark.config import LedgerConfig, build_config, load_config
from nes_spark.demo import calls, config_path
from nes_spark.releases.choice import Choice
from nes_spark.run.beside import check_columns
from nes_spark.run.published import PUBLICATION
from nes_spark.run.secrets import required_secrets
from nes_spark.run.verifying import files_digest, record_digest
from nes_spark.store import Store
from nes_spark.swapping import Secret
from nes_spark.swapping.ledger import FOLDER, generate_key, write_ledger
from tests.jobs import SEED, SMALL, Job, copy_package, environment, run_command, seed_named


@pytest.fixture
def door(tmp_path, monkeypatch):
    """Call the command line where starting Spark is a failure of the test."""

    def started(*_args, **_more):
        raise AssertionError("Spark was started")

    monkeypatch.setattr("nes_spark.session.get_session", started)
    monkeypatch.setenv("NES_SPARK_SEED", SEED)
    for name in ("NES_SPARK_LEDGER_KEY", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    conf = tmp_path / "conf.yaml"
    conf.write_text(yaml.safe_dump({"input": {"columns": {"text": "text"}}}))
    corpus = tmp_path / "calls.jsonl"
    corpus.write_text('{"document_id": "a", "company_name": "b", "text": "c"}\n')

    def call(*arguments, run=True):
        before = ["run", str(conf)] if run else []
        if run and not any("output.directory" in str(word) for word in arguments):
            before += ["--output", str(tmp_path / "out")]
        if run and "--input" not in arguments:
            before += ["--input", str(corpus)]
        done = CliRunner().invoke(main, [*before, *map(str, arguments)])
        assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
        said = done.output
        assert "Traceback" not in said
        assert said.count("\n") == 1, said
        return done.exit_code, said

    return call


# -- inputs --------------------------------------------------------------------------------------


def looping(folder):
    (folder / "loop").symlink_to(folder / "loop")
    return folder / "loop"


def holding(name, content):
    def make(folder):
        (folder / name).write_bytes(content)
        return folder / name

    return make


def directory(folder):
    (folder / "empty").mkdir()
    (folder / "empty" / ".hidden").write_text("x")
    return folder / "empty"


INPUTS = {
    "no such file": (lambda f: f / "nowhere.jsonl", "no such file"),
    "no match": (lambda f: f / "*.nothing", "no such file"),
    "a link to itself": (looping, "cannot be read|no such file"),
    "a name that is too long": (lambda f: f / ("x" * 300), "cannot be read|no such file"),
    "an empty file": (holding("e.jsonl", b""), "is empty"),
    "an empty Parquet file": (holding("e.parquet", b""), "is empty"),
    "an empty folder": (directory, "holds no files"),
    "JSON Lines as Parquet": (holding("j.parquet", b'{"a": 1}\n' * 9), "no whole Parquet file"),
    "half a Parquet file": (holding("h.parquet", b"PAR1" + b"\0" * 99), "no whole Parquet file"),
    "text as gzip": (holding("t.jsonl.gz", b'{"a": 1}\n'), "not compressed with gzip"),
    "a name with a zero byte": (lambda f: "a\0b.jsonl", "cannot be read|no such file"),
}


@pytest.mark.parametrize("name", INPUTS)
def test_an_input_that_cannot_be_used_is_three_before_spark(door, tmp_path, name):
    make, words = INPUTS[name]
    folder = tmp_path / "data"
    folder.mkdir()
    code, said = door("--input", make(folder))
    assert code == 3, said
    assert any(word in said for word in words.split("|")), said


@pytest.mark.parametrize(
    ("key", "name", "content", "said"),
    [
        ("entities.clues", "c.csv", "clue,metadata\nx,b\n", "no column chunk_id; columns"),
        ("entities.clues", "c.csv", "chunk_id;clue\n;x\n", "divide its columns by commas"),
        ("entities.clues", "c.jsonl", '{"clue": "x"}\n\n{"clue": "y"}\n', "no column chunk_id"),
        ("output.withhold", "w.csv", "\ufeffchunk\na#1\n", "no column chunk_id; column chunk_id"),
        ("audit.public_words", "p.csv", "metadata\nb\n", "no column words"),
        ("audit.background", "b.csv", "text\nb\n", "no column metadata"),
    ],
)
def test_a_list_without_its_columns_is_three_before_spark(door, tmp_path, key, name, content, said):
    (tmp_path / name).write_text(content)
    code, told = door("--set", f"{key}={tmp_path / name}")
    assert code == 3 and f"{key}: " in told and said in told
    assert not (tmp_path / "out").exists()


def test_columns_of_lists_are_found_in_every_format(tmp_path):
    import pandas as pd

    (tmp_path / "c.csv").write_text('\ufeff\n"chunk_id",clue,"a ""b"""\n')
    # what the first rows have not may come later, and what cannot be read is told where it is read
    (tmp_path / "c.jsonl").write_text('{"clue": "x"}\n{"chunk_id": "a"}\nnonsense\n')
    (tmp_path / "d.jsonl").write_text("nonsense\n")
    pd.DataFrame({"chunk_id": ["a"], "clue": ["x"]}).to_parquet(tmp_path / "c.parquet")
    (tmp_path / "d.parquet").write_text("nonsense")
    # Spark takes an array for its elements, and null for a row
    (tmp_path / "c.json").write_text('[{"chunk_id": "a"}, {"clue": "x"}]\n')
    (tmp_path / "e.jsonl").write_text('null\n3\n{"chunk_id": "a", "clue": "x"}\n')
    (tmp_path / "d.csv").write_text('"chunk_id' + "x" * 200_000)
    for name in (
        "c.csv",
        "c.jsonl",
        "d.jsonl",
        "c.parquet",
        "d.parquet",
        "c.json",
        "e.jsonl",
        "d.csv",
    ):
        check_columns(load_config(None, {"entities.clues": str(tmp_path / name)}))


def test_whole_files_are_no_fault(tmp_path):
    import pandas as pd

    from nes_spark.store import find_inputs

    (tmp_path / "a.jsonl.gz").write_bytes(gzip.compress(b"{}\n"))
    pd.DataFrame({"a": [1]}).to_parquet(tmp_path / "b.parquet")
    (tmp_path / "back").symlink_to(tmp_path)
    find_inputs([str(tmp_path), "s3a://elsewhere/x", f"file://{tmp_path}"])


# -- secrets -------------------------------------------------------------------------------------

SECRETS = {
    "no key of the ledger": (["ledger.encrypt=true"], {}, "NES_SPARK_LEDGER_KEY is not set"),
    "half a key": (["ledger.encrypt=true"], {"NES_SPARK_LEDGER_KEY": "abc"}, "must be 32 bytes"),
    "no key of the endpoint": (["embedding.model=openai:x"], {}, "OPENAI_API_KEY is not set"),
    "a seed that can be guessed": ([], {"NES_SPARK_SEED": "20200930"}, "can be guessed"),
    "no seed file": (["seed.file=/nowhere/seed"], {"NES_SPARK_SEED": ""}, "no such seed file"),
    "an output of no file system": (["output.directory=nowhere://x"], {}, "not a usable location"),
}


@pytest.mark.parametrize("name", SECRETS)
def test_a_secret_that_will_be_needed_is_looked_for_before_spark(door, monkeypatch, name):
    settings, environ, words = SECRETS[name]
    for key, value in environ.items():
        monkeypatch.setenv(key, value)
    code, said = door(*[word for s in settings for word in ("--set", s)])
    assert code == (5 if "output" in name else 2), said
    assert words in said


def test_all_missing_secrets_are_listed_and_none_is_quoted(monkeypatch):
    from nes_spark.config import load_config
    from nes_spark.errors import ConfigError

    monkeypatch.setenv("NES_SPARK_SEED", "correcthorse")
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setenv("NES_SPARK_LEDGER_KEY", "batterystaple")
    config = load_config(None, {"ledger.encrypt": True, "embedding.model": "openai:x"})
    with pytest.raises(ConfigError, match="3 secrets") as caught:
        required_secrets(config, None)
    assert "correcthorse" not in str(caught.value)
    assert "batterystaple" not in str(caught.value)
    monkeypatch.setenv("NES_SPARK_SEED", seed_named("x"))
    monkeypatch.setenv("NES_SPARK_LEDGER_KEY", generate_key())
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    required_secrets(config, None)
    monkeypatch.delenv("NES_SPARK_SEED")
    with pytest.raises(ConfigError, match="the run folder is remote"):
        required_secrets(config, None)


# -- other commands ------------------------------------------------------------------------------


def test_invert_says_what_is_wrong_with_its_arguments(door, tmp_path):
    (tmp_path / "empty").mkdir()
    for run_dir in ("nowhere", "empty"):
        code, said = door("invert", tmp_path / run_dir, "--output", tmp_path / "x", run=False)
        assert code == 3, said
        assert "no published run" in said


def test_a_place_that_cannot_be_written_is_one_line(door, tmp_path, monkeypatch):
    def nowhere(*_args, **_more):
        raise FileNotFoundError(2, "No such file or directory", str(tmp_path / "no" / "x"))

    module = importlib.import_module("nes_spark.run.inverting")
    monkeypatch.setattr(module, "invert_release", nowhere)
    code, said = door("invert", tmp_path, "--output", tmp_path / "no" / "x", run=False)
    assert code == 5
    assert "No such file" in said
    assert str(tmp_path / "no" / "x") in said


def test_a_plain_ledger_is_called_plain(door, tmp_path, monkeypatch):
    run = tmp_path / "run"
    write_ledger(run.joinpath(*FOLDER), [{"chunk_id": "a", "edits": []}], LedgerConfig())
    code, said = door("rotate-key", run, run=False)
    assert code == 5
    assert "the ledger is plain" in said
    assert "NES_SPARK_LEDGER_NEW_KEY is not set" in said
    monkeypatch.setenv("NES_SPARK_LEDGER_NEW_KEY", generate_key())
    code, said = door("rotate-key", run, run=False)
    assert code == 0
    assert "was plain and is now encrypted" in said


@pytest.fixture
def published(tmp_path):
    """A run folder with a release, its ledger and its publication."""
    store = Store(tmp_path / "out" / "all")
    store.prepare()
    content = b"{}\n"
    files = [{"file": "chunks.jsonl", "rows": 1, "sha256": hashlib.sha256(content).hexdigest()}]
    mark = Secret(SEED).fingerprint()
    record = {"files": files, "chunks": 1, "seed_fingerprint": mark, "audit": {}}
    store.write_bytes(content, "release", "chunks.jsonl")
    store.write_json(record, "release", "release.json")
    write_ledger(
        store, [{"chunk_id": "a"}], LedgerConfig(), seed=Secret(SEED), release=files_digest(files)
    )
    choice = {field.name: None for field in fields(Choice)} | {
        "combination": "Person",
        "n_swaps": 1,
    }
    details = {"choice": choice, "record": record_digest(store), "mlflow_run_id": None}
    store.write_artifact(PUBLICATION, "k", lambda _: details)
    store.write_bytes(load_config().model_dump_json().encode(), "stages", "config.json")
    return store


MODEL = "audit.models=[{name: m, model: x, api_key_env: NES_TEST_KEY}]"


def test_an_audit_needs_models_keys_and_the_seed_of_its_run_before_spark(
    door, published, monkeypatch
):
    monkeypatch.delenv("NES_TEST_KEY", raising=False)
    run = published.root
    code, said = door("audit", run, "--dry-run", run=False)
    assert (code, "audit.models: is empty" in said) == (2, True), said
    code, said = door("audit", run, "--set", MODEL, run=False)
    assert (code, "NES_TEST_KEY is not set" in said) == (2, True), said
    monkeypatch.setenv("NES_SPARK_SEED", "")
    mark = Secret(SEED).fingerprint()
    for dry in ([], ["--dry-run"]):
        monkeypatch.setenv("NES_TEST_KEY", "k")
        code, said = door("audit", run, "--set", MODEL, *dry, run=False)
        assert (code, f"fingerprint {mark}; NES_SPARK_SEED is not set" in said) == (2, True), said
    assert not published.exists("sealed", "seed")
    monkeypatch.setenv("NES_SPARK_SEED", seed_named("another"))
    code, said = door("audit", run, "--set", MODEL, run=False)
    assert (code, f"fingerprint {mark}; environment variable" in said) == (2, True), said
    published.write_bytes(b"", "release", "chunks.jsonl")
    code, said = door("audit", run, "--set", MODEL, run=False)
    assert (code, "chunks.jsonl: has changed" in said) == (3, True), said
    # what would be restored is not what was published either
    code, said = door("invert", run, "--output", "restored.jsonl", run=False)
    assert (code, "chunks.jsonl: has changed" in said) == (3, True), said


def test_mistakes_of_this_program_keep_their_trace(monkeypatch):
    def broken(*_args, **_more):
        raise KeyError("x")

    monkeypatch.setattr("nes_spark.run", broken)
    monkeypatch.setattr("nes_spark.load_config", lambda *_: build_config({}))
    done = CliRunner().invoke(main, ["run", "conf.yaml"])
    assert isinstance(done.exception, KeyError)


def test_a_broken_connection_to_java_leaves_no_trace(capsys):
    logs.configure()
    logging.getLogger("py4j.clientserver").error("KeyboardInterrupt while sending command.")
    record = logging.LogRecord("root", logging.ERROR, "/x/py4j/java_gateway.py", 1, "x", (), None)
    logging.getLogger().handle(record)
    assert capsys.readouterr().err == ""


def processes_of(session: int) -> list[str]:
    """What still runs in a session: Java and Python workers too."""
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(ProcessLookupError, psutil.Error):
            if os.getsid(process.pid) == session:
                found.append(process.name())
    return found


@pytest.mark.slow
def test_an_interrupt_is_one_line_and_leaves_no_working_files(tmp_path):
    source = copy_package(tmp_path / "source")
    corpus = tmp_path / "calls.jsonl"
    lines = [json.dumps(d) for d, _ in calls(12, periods=("2031Q2",), length=0.4)]
    corpus.write_text("\n".join(lines) + "\n")
    output = tmp_path / "out"
    settings = {**SMALL, "tracking.enabled": "false"}
    command = run_command(config_path(), corpus, output, settings)
    for stage in (None, "documents", "chunks"):
        job = Job(command, environment(source), tmp_path / "log")
        if stage is None:
            while not (output / "all" / ".work").exists():
                time.sleep(0.1)
            time.sleep(1)
        else:
            assert job.wait_for_stage(stage), job.text()
            time.sleep(0.5)
        os.killpg(job.process.pid, signal.SIGINT)  # as a terminal does: all of the job gets it
        assert job.wait() == 130, job.text()
        rest = [line for line in job.text().splitlines() if not line.startswith("{")]
        assert rest == ["stopped; run the same command again to resume"], job.text()
        assert not (output / "all" / ".work").exists()
        end = time.monotonic() + 60
        while left := processes_of(job.process.pid):
            assert time.monotonic() < end, left
            time.sleep(0.5)
