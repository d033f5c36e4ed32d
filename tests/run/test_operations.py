"""What a scheduler relies on: exit codes, one-line errors, the example DAG and cron line."""

from __future__ import annotations

import ast
import importlib.util
import io
import json
import re
import subprocess
import sys
import threading
import types
from datetime import datetime
from pathlib import Path

import pytest
from click.testing import CliRunner

from nes_spark import errors, logs
from nes_spark.cli import main, stage_command
from nes_spark.config import LedgerConfig, build_config, load_config
from nes_spark.errors import ConfigError
from nes_spark.swapping.ledger import FOLDER, generate_key, parse_key, read_ledger, write_ledger

ROOT = Path(__file__).resolve().parents[2]


# -- exit codes ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (errors.ConfigError("x"), 2),
        (errors.InputError("x"), 3),
        (errors.GateRefused("x"), 4),
        (errors.EstimationError("x"), 4),
        (errors.InfrastructureError("x"), 5),
        (errors.LedgerError("x"), 5),
        (errors.NesError("x"), 1),
    ],
)
def test_every_error_has_its_exit_code_and_one_line(monkeypatch, error, code):
    def fail(*_args, **_more):
        raise error

    monkeypatch.setattr("nes_spark.run", fail)
    monkeypatch.setattr("nes_spark.run_stage", fail)
    monkeypatch.setattr("nes_spark.load_config", lambda *_: build_config({}))
    for command, arguments in (
        (main, ["run", "conf.yaml"]),
        (stage_command("pipeline"), ["--conf", "conf.yaml"]),
        (stage_command("chunks"), ["--conf", "conf.yaml"]),
    ):
        done = CliRunner().invoke(command, arguments)
        assert done.exit_code == code
        assert done.output.strip() == "error: x"


@pytest.mark.parametrize("status", ["published", "unchanged"])
def test_done_and_nothing_to_do_are_zero(monkeypatch, status):
    monkeypatch.setattr("nes_spark.run", lambda *_, **__: status)
    monkeypatch.setattr("nes_spark.load_config", lambda *_: build_config({}))
    done = CliRunner().invoke(main, ["run", "conf.yaml"])
    assert done.exit_code == 0
    assert done.output.strip() == status


def test_a_wrong_configuration_is_two_in_a_process_of_its_own(tmp_path):
    (tmp_path / "c.yaml").write_text("mixtures: {}\n")
    command = [sys.executable, "-m", "nes_spark.cli", "run", str(tmp_path / "c.yaml")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "mixtures" in done.stderr
    assert "Traceback" not in done.stderr


# -- scheduling ----------------------------------------------------------------------------------

DAG = ROOT / "conf" / "airflow" / "nes_spark_quarterly.py"


@pytest.fixture
def dag(monkeypatch):
    """The DAG file, imported with a stand-in for Airflow that only records."""
    made = types.SimpleNamespace(tasks=[], arguments={})

    def dag(**arguments):
        made.arguments = arguments
        return lambda function: function

    def task(function):
        made.tasks.append(function)
        return lambda *_: None

    airflow, sdk = types.ModuleType("airflow"), types.ModuleType("airflow.sdk")
    exceptions = types.ModuleType("airflow.exceptions")
    exceptions.AirflowException = type("AirflowException", (Exception,), {})
    exceptions.AirflowFailException = type("AirflowFailException", (Exception,), {})
    sdk.Variable = types.SimpleNamespace(get=lambda name: f"<{name}>")
    sdk.dag, sdk.task = dag, task
    for module in (airflow, sdk, exceptions):
        monkeypatch.setitem(sys.modules, module.__name__, module)
    specification = importlib.util.spec_from_file_location("nes_spark_dag", DAG)
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    made.module = module
    return made


def test_the_dag_calls_the_job_with_options_that_it_has(dag, monkeypatch):
    assert [t.__name__ for t in dag.tasks] == ["release", "compare"]
    assert len(dag.arguments["schedule"].split()) == 5
    called = []
    monkeypatch.setattr(dag.module, "call", called.append)
    assert dag.tasks[0](datetime(2021, 1, 15)) == "2020Q4"
    dag.tasks[1]("2021Q1")
    run, compare = called
    job = next(word for word in run if word.endswith("run_pipeline.py"))
    known = {o for p in stage_command("pipeline").params for o in p.opts}
    given = [w for w in run[run.index(job) + 1 :] if w.startswith("--")]
    assert set(given) <= known
    assert run[run.index("--period") + 1] == "2020Q4"
    assert compare[:2] == ["nes-spark", "compare"]
    assert compare[2].endswith("/2020Q4")
    assert compare[3].endswith("/2021Q1")


def test_the_dag_retries_infrastructure_only(dag, monkeypatch):
    module = dag.module
    for code, expected in ((2, "AirflowFailException"), (4, "AirflowFailException"),
                           (5, "AirflowException")):  # fmt: skip
        done = subprocess.CompletedProcess([], code)
        monkeypatch.setattr(module.subprocess, "run", lambda *_, _done=done, **__: _done)
        with pytest.raises(Exception) as caught:
            module.call(["x"])
        assert type(caught.value).__name__ == expected
    monkeypatch.setattr(
        module.subprocess, "run", lambda *_, **__: subprocess.CompletedProcess([], 0)
    )
    module.call(["x"])


def test_the_dag_needs_nothing_but_airflow_and_the_standard_library():
    modules = {
        (node.module if isinstance(node, ast.ImportFrom) else node.names[0].name).split(".")[0]
        for node in ast.walk(ast.parse(DAG.read_text()))
        if isinstance(node, (ast.Import, ast.ImportFrom))
    }
    assert modules <= {"airflow", "subprocess", "datetime", "__future__"}


def test_the_cron_line_names_the_last_quarter_and_known_options():
    (line,) = [
        line
        for line in (ROOT / "conf" / "nes_spark.cron").read_text().splitlines()
        if re.match(r"\d", line)
    ]
    known = {o for p in main.commands["run"].params for o in p.opts}
    command = line.split("nes-spark run", 1)[1].split(">>")[0]
    assert set(re.findall(r"--[a-z-]+", command)) <= known
    script = line.split("month=", 1)[1].split("; /opt")[0].replace("\\%", "%").replace("\\#", "#")
    for today, quarter in (("2021-01-15", "2020Q4"), ("2021-10-15", "2021Q3")):
        dated = ("month=" + script).replace("-d '-1 month'", f"-d '{today} -1 month'")
        done = subprocess.run(
            ["bash", "-c", f"{dated}; echo $period"], capture_output=True, text=True, check=True
        )
        assert done.stdout.strip() == quarter


# -- keys ----------------------------------------------------------------------------------------


def test_the_key_of_a_ledger_is_rotated(tmp_path, monkeypatch):
    old, new = generate_key(), generate_key()
    monkeypatch.setenv("NES_SPARK_LEDGER_KEY", old)
    monkeypatch.setenv("NES_SPARK_LEDGER_NEW_KEY", new)
    run = tmp_path / "2031Q2"
    rows = [{"chunk_id": f"d#{i:05d}", "edits": []} for i in range(3)]
    write_ledger(run.joinpath(*FOLDER), rows, LedgerConfig(encrypt=True))
    done = CliRunner().invoke(main, ["rotate-key", str(run)])
    assert done.exit_code == 0, done.output
    assert old not in done.output
    assert new not in done.output
    place = run.joinpath(*FOLDER)
    assert [r["chunk_id"] for r in read_ledger(place, LedgerConfig(), key=parse_key(new))] == [
        r["chunk_id"] for r in rows
    ]
    with pytest.raises(errors.LedgerError, match="was encrypted with key"):
        read_ledger(place, LedgerConfig())
    again = CliRunner().invoke(main, ["rotate-key", str(run)])
    assert again.exit_code == 5
    assert "was encrypted with key" in again.output


def test_a_plain_ledger_is_encrypted_and_a_missing_one_is_named(tmp_path, monkeypatch):
    monkeypatch.delenv("NES_SPARK_LEDGER_KEY", raising=False)
    done = CliRunner().invoke(main, ["rotate-key", str(tmp_path / "none")])
    assert done.exit_code == 5
    assert "holds no ledger" in done.output
    run = tmp_path / "run"
    write_ledger(run.joinpath(*FOLDER), [{"chunk_id": "a", "edits": []}], LedgerConfig())
    monkeypatch.setenv("K2", generate_key())
    done = CliRunner().invoke(main, ["rotate-key", str(run), "--new-env", "K2"])
    assert done.exit_code == 0, done.output
    assert not list(run.joinpath(*FOLDER).glob("*.jsonl"))


# -- sessions and logs ---------------------------------------------------------------------------


def test_master_and_remote_exclude_each_other():
    with pytest.raises(ConfigError, match="not both"):
        load_config(None, {"spark.master": "local[2]", "spark.remote": "sc://host:15002"})
    with pytest.raises(ConfigError, match="sc://"):
        load_config(None, {"spark.remote": "host:15002"})


def test_a_connect_server_that_is_not_there_is_one_line(tmp_path):
    (tmp_path / "t.jsonl").write_text(json.dumps({"document_id": "a", "text": "b"}) + "\n")
    pytest.importorskip("grpc")
    code = (
        "from nes_spark.cli import main; main(['run', 'conf/demo.yaml', '--input', "
        f"'{tmp_path}/t.jsonl', '--output', '{tmp_path}/out', "
        "'--set', 'spark.remote=sc://127.0.0.1:9'])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=ROOT
    )
    assert done.returncode == 5, done.stderr[-2000:]
    assert "Traceback" not in done.stderr


def test_a_stage_is_one_line_and_one_json_object():
    stream = io.StringIO()
    logs.configure(structured=True, stream=stream)
    progress = logs.Progress(2, stream)
    progress.start("chunks", "cut")
    progress.done("chunks", "5 chunks", 1.25, rows={"chunks": 5}, note="")
    (line,) = stream.getvalue().splitlines()
    record = json.loads(line)
    assert record["stage"] == "chunks"
    assert record["rows"] == {"chunks": 5}
    assert record["seconds"] == 1.25


def test_no_bar_is_left_behind_by_a_failure():
    stream = Terminal()
    logs.configure(stream=stream)
    with pytest.raises(RuntimeError), logs.Progress(2, stream) as progress:
        progress.start("release", "publish")
        with progress.part("release", "gates", "search"):
            raise RuntimeError
    assert stream.getvalue().endswith("\r\033[K")


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_the_clock_runs_from_the_first_second_and_parts_are_told():
    stream, time = Terminal(), [0.0]
    logs.configure(stream=stream)
    expected = {"documents": 10.0, "chunks": 20.0, "release": 30.0}
    progress = logs.Progress(3, stream, expected, now=lambda: time[0])
    progress.prepare("starting Spark")
    assert "0:00  starting Spark" in progress.line()
    time[0] = 9.0
    progress.start("documents", "read")
    assert "1/3 0:09, about 1:00 left  documents: read" in progress.line()
    time[0] = 75.0  # longer than the last time: nothing of it is left
    assert "1:15, about 0:50 left" in progress.line()
    progress.start("chunks", "cut")
    progress.inside("table chunks")
    assert progress.line().endswith("chunks: cut, table chunks")
    progress.start("release", "publish")
    assert "table chunks" not in progress.line()
    time[0] = 80.0
    assert "about 0:25 left" in progress.line()
    assert stream.getvalue().count("\r\033[K") >= 4


def test_what_is_not_known_is_not_estimated():
    progress = logs.Progress(3, Terminal())
    progress.start("documents", "read")
    assert progress.left() is None
    assert "left" not in progress.line()


def test_the_line_ticks_by_itself_and_warnings_do_not_land_in_it(monkeypatch):
    stream = Terminal()
    logs.configure(stream=stream)
    monkeypatch.setattr(logs, "TICK", 0.005)
    with logs.Progress(2, stream) as progress:
        progress.start("attacks", "let them try")
        written = len(stream.getvalue())
        for _ in range(400):
            if len(stream.getvalue()) > written:
                break
            threading.Event().wait(0.01)
        assert len(stream.getvalue()) > written
        logs.inside("table predictions")
        logs.LOGGER.warning("a warning")
    text = stream.getvalue()
    assert "table predictions" in text
    assert "\r\033[Ka warning\n" in text
    assert not logs._CURRENT
    ended = len(text)
    threading.Event().wait(0.05)
    assert len(stream.getvalue()) == ended


def test_without_a_terminal_there_is_one_line_a_stage():
    stream = io.StringIO()
    logs.configure(stream=stream)
    with logs.Progress(1, stream) as progress:
        progress.prepare("starting")
        progress.start("chunks", "cut")
        logs.inside("table chunks")
        progress.done("chunks", "5 chunks", 1.25)
    assert len(stream.getvalue().splitlines()) == 1


def test_cluster_configuration_is_valid():
    config = load_config(ROOT / "conf" / "cluster.yaml")
    assert config.mixture.warm_start == "previous"
    assert config.ledger.encrypt
