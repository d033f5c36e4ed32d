"""Every command of README and docs is one that there is, with options and files that there are."""

import importlib.util
import os
import re
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import click
import pytest

from nes_spark.cli import main, stage_command
from nes_spark.tracking import Tracker
from tests.documents import ROOT, Command, commands, split

ALL = commands()
#: Programs of others that the pages show; their own documentation has them.
OTHERS = {
    ".", "cat", "cd", "conda", "cut", "databricks", "docker-image-tool.sh", "export", "git", "pip",
    "printf", "pytest", "sha256sum", "venv-pack",
}  # fmt: skip
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")


def check(command: Command) -> None:
    """Raise AssertionError or click.ClickException for a command that cannot work."""
    program, *words = command.words
    if program == "nes-spark":
        check_ours(words, command.inline)
    elif program == "make":
        targets = [w for w in words if "=" not in w]
        for target in targets:
            assert re.search(rf"^{re.escape(target)}:", MAKEFILE, re.MULTILINE), f"make {target}"
    elif program == "spark-submit":
        check_submitted(words)
    elif program == "mlflow":
        check_mlflow(words)
    elif re.fullmatch(r"python[\d.]*", program):
        check_python(words)
    else:
        assert program in OTHERS, f"{program}: not a program that pages may show unexplained"
    for word in words:
        path = word.rpartition("=")[2]
        if re.match(r"(conf|jobs|notebooks|docs|tests)/[\w./-]+\.\w+$", path):
            assert (ROOT / path).exists(), f"{path} is not there"


def check_ours(words, inline):
    parts = [w for w in words if w not in ("...", "…", "[KEY]", "[FILE...]")]
    if inline and parts and parts[0].startswith("-"):
        return
    name, *rest = parts
    assert name in main.commands, f"nes-spark {name}: no such command"
    shell = main.commands[name]
    if inline:  # part of a command: its options must be there
        known = {o for p in shell.params for o in p.opts} | {"--help"}
        assert not {w for w in rest if w.startswith("--")} - known
        return
    shell.make_context(name, rest)


def check_submitted(words):
    (at,) = [i for i, w in enumerate(words) if re.search(r"jobs/\w+\.py$", w)]
    name = Path(words[at]).stem
    assert (ROOT / "jobs" / f"{name}.py").exists()
    stage = "pipeline" if name == "run_pipeline" else name
    options = [w for w in words[at + 1 :] if w != "..."]
    stage_command(stage).make_context(name, options)


def check_python(words):
    if words[0] == "-c":
        compile(words[1], "<the page>", "exec")
        return
    if words[0] != "-m":
        return
    module = words[1]
    if module in ("venv", "spacy", "pip"):
        return
    found = importlib.util.find_spec(module)
    assert found is not None, f"no module {module}"
    file = Path(found.origin)
    if file.name == "__init__.py":
        file = file.with_name("__main__.py")
    source = file.read_text(encoding="utf-8")
    for word in words[2:]:
        if word.startswith("--"):
            assert f'"{word.partition("=")[0]}"' in source, f"{module} has no option {word}"


def check_mlflow(words):
    from mlflow.cli import cli

    name, *rest = words
    found = cli.get_command(click.Context(cli), name)
    assert found is not None, f"mlflow {name}: no such command"
    found.make_context(name, list(rest))


def test_there_are_commands():
    assert len([c for c in ALL if not c.inline]) > 30
    assert {c.page for c in ALL} >= {"README.md", "docs/operations.md"}


@pytest.mark.parametrize("command", ALL, ids=str)
def test_a_command_of_the_pages_is_one(command):
    check(command)


@pytest.mark.parametrize(
    "line",
    [
        "nes-spark rum conf/demo.yaml",
        "nes-spark run conf/demo.yaml --ouput out",
        "nes-spark run conf/nothing.yaml",
        "make nothing",
        "python -m nes_spark.nothing",
        "python -m nes_spark.demo --knd calls",
        'python -c "import ("',
        "spark-submit jobs/run_pipeline.py --cnf conf/demo.yaml",
        "mlflow ui --backend-store x",
        "frobnicate",
    ],
)
def test_what_cannot_work_is_refused(line):
    (words,) = split(line)
    with pytest.raises((AssertionError, click.ClickException, SyntaxError, ModuleNotFoundError)):
        check(Command("a page", words))


def test_shell_texts_are_split_as_a_shell_does():
    text = "A=1 nes-spark run x \\\n  --set a=1   # words\ncd y && make demo\n"
    assert split(text) == [("nes-spark", "run", "x", "--set", "a=1"), ("cd", "y"), ("make", "demo")]


def _store_shown() -> str:
    shown = [c for c in ALL if c.words[:2] == ("mlflow", "ui")]
    assert shown
    (uri,) = {w for c in shown for w in c.words if w.startswith("sqlite:")}
    return uri


def test_mlflow_opens_the_store_that_runs_write(tmp_path, monkeypatch):
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    monkeypatch.chdir(tmp_path)
    from nes_spark.tracking import store_folder

    folder = store_folder("out/demo", Path("out/demo").resolve())
    tracker = Tracker(None, "nes_spark", folder)
    with tracker.run("a run", {}):
        pass
    assert tracker.uri == f"sqlite:///{tmp_path}/mlflow.db"
    assert Path(_store_shown().removeprefix("sqlite:///")).resolve() == tmp_path / "mlflow.db"


@pytest.mark.slow
def test_mlflows_page_shows_the_run(tmp_path, monkeypatch):
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    monkeypatch.chdir(tmp_path)
    tracker = Tracker(None, "nes_spark", tmp_path)
    with tracker.run("a run with a name", {}):
        pass
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])
    server = subprocess.Popen(
        [sys.executable, "-m", "mlflow", "ui", "--backend-store-uri", _store_shown(), "--port",
         port, "--workers", "1"],
        cwd=tmp_path, env={**os.environ, "MLFLOW_DISABLE_TELEMETRY": "true"},
        start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        for _ in range(120):
            try:
                page = urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=5).read()
                break
            except OSError:
                time.sleep(1)
        assert b"<title>MLflow" in page
        request = urllib.request.Request(
            f"http://127.0.0.1:{port}/api/2.0/mlflow/runs/search",
            data=b'{"experiment_ids": ["%s"]}' % tracker.experiment_id.encode(),
            headers={"Content-Type": "application/json"},
        )
        found = urllib.request.urlopen(request, timeout=30).read()
        assert b"a run with a name" in found
    finally:
        os.killpg(server.pid, 15)
        server.wait(30)
