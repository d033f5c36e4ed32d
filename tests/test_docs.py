"""The pages are read as a reader would: links lead somewhere, snippets run, names are there."""

import importlib
import importlib.util
import re
import shutil
import subprocess
import sys

import pytest
import yaml

from nes_spark.config import build_config
from nes_spark.config.describing import keys
from nes_spark.run.checks import check_config
from tests.documents import PAGES, ROOT, blocks

DOCS = ROOT / "docs"
SITE = yaml.safe_load((ROOT / "mkdocs.yml").read_text())
LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")
#: Made when the site is built.
GENERATED = {"configuration.md"}


def names_of(entry):
    if isinstance(entry, str):
        return [entry]
    values = entry.values() if isinstance(entry, dict) else entry
    return [name for value in values for name in names_of(value)]


def anchors(text):
    heads = re.findall(r"^#+ (.+)$", text, flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", h.lower()).strip().replace(" ", "-") for h in heads}


def broken(page, text):
    for target in LINK.findall(text):
        if "://" in target or target.startswith("mailto:"):
            continue
        path, _, anchor = target.partition("#")
        file = page.parent / path if path else page
        if file.resolve().parent == DOCS and file.name in GENERATED:
            continue
        if not file.exists() or (
            anchor and file.suffix == ".md" and anchor not in anchors(file.read_text())
        ):
            yield target


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_links_lead_somewhere(page):
    assert list(broken(page, page.read_text())) == []


def test_links_that_lead_nowhere_are_found(tmp_path):
    page = tmp_path / "a.md"
    page.write_text("# A head\n[x](b.md) [y](#a-head) [z](#none) [w](a.md#a-head)")
    assert list(broken(page, page.read_text())) == ["b.md", "#none"]


def test_every_page_is_in_the_site():
    there = {p.relative_to(DOCS).as_posix() for p in DOCS.rglob("*.md")} | GENERATED
    assert set(names_of(SITE["nav"])) == there


def test_the_reference_names_what_there_is():
    named = [n for p in DOCS.rglob("*.md") for n in re.findall(r"^::: (\S+)", p.read_text(), re.M)]
    assert len(named) > 15
    for name in named:
        module, _, attribute = name.rpartition(".")
        assert getattr(importlib.import_module(module), attribute).__doc__, name


def test_parts_of_other_files_are_there():
    for page in DOCS.rglob("*.md"):
        for given in re.findall(r'^--8<-- "([^"]+)"', page.read_text(), re.M):
            file, _, section = given.partition(":")
            text = (ROOT / file).read_text()
            assert not section or f"[start:{section}]" in text


def test_the_page_of_keys_has_them_all():
    spec = importlib.util.spec_from_file_location("hooks", DOCS / "hooks.py")
    hooks = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(hooks)
    page = hooks.configuration_page()
    assert page.count("\n| `") == len(keys())


def test_python_snippets_run(monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    for page in PAGES:
        for snippet in blocks(page, "python"):
            code = compile(snippet, page.name, "exec")
            if page.name in ("own_data.md", "index.md"):  # the others need a run or a gate's place
                exec(code, {})
    assert "0.612 741" in capsys.readouterr().out


def test_the_configurations_shown_are_valid():
    shown = [build_config(yaml.safe_load(t)) for page in PAGES for t in blocks(page, "yaml")]
    assert {"company", "court"} <= {config.input.columns.metadata for config in shown}
    for config in shown:
        check_config(config, planned=True)


def test_make_builds_strictly():
    makefile = (ROOT / "Makefile").read_text()
    (command,) = [line for line in makefile.splitlines() if "mkdocs build" in line]
    assert "--strict" in command
    assert "--quiet" not in command  # mkdocs then filters the warnings before it counts them
    assert "-q" not in command.split()


@pytest.mark.slow
def test_the_site_is_built_and_a_broken_link_is_not(tmp_path):
    if importlib.util.find_spec("mkdocs") is None:
        pytest.skip("the extra 'docs' is not installed")
    for name in ("docs", "nes_spark", "conf"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("mkdocs.yml", "CONTRIBUTING.md"):
        shutil.copy(ROOT / name, tmp_path / name)
    command = [sys.executable, "-m", "mkdocs", "build", "--strict"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    assert "mixture" in (tmp_path / "build" / "site" / "configuration.html").read_text()
    with (tmp_path / "docs" / "glossary.md").open("a") as page:
        page.write("\n[nowhere](nowhere.md)\n")
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode != 0
