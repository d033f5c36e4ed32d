"""The three layers: only stages and the modules around them may import Spark."""

import ast
from pathlib import Path

import nes_spark

ROOT = Path(nes_spark.__file__).parent
OUTER = {
    "session.py",
    "store.py",
    "pipeline.py",
    "runner.py",
    "publication.py",
    "auditing.py",
    "examination.py",
    "reporting.py",
    "cli.py",
    "doctor.py",
}


def imports(path: Path):
    """Yield (module, whether only for type checking) for every import of a file."""
    tree = ast.parse(path.read_text())
    guarded = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING"
        for inner in ast.walk(node)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, id(node) in guarded
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module, id(node) in guarded


def kernels():
    for path in sorted(ROOT.rglob("*.py")):
        if not path.name.endswith("stages.py") and path.relative_to(ROOT).as_posix() not in OUTER:
            yield path


def test_there_are_kernels_and_stages():
    assert len(list(kernels())) > 20
    assert len(list(ROOT.rglob("*stages.py"))) >= 6


def test_kernels_never_import_spark():
    found = [
        f"{path.relative_to(ROOT)}: {module}"
        for path in kernels()
        for module, guarded in imports(path)
        if module.split(".")[0] == "pyspark" and not guarded
    ]
    assert not found


def test_nothing_uses_what_spark_connect_lacks():
    banned = ("sparkContext", "_jvm", ".rdd", "_jsc", "SparkContext", "sc.broadcast")
    found = [
        f"{path.relative_to(ROOT)}: {word}"
        for path in sorted(ROOT.rglob("*.py"))
        for word in banned
        if any(
            word in line and not line.strip().startswith("#")
            for line in path.read_text().splitlines()
        )
    ]
    assert not found


def test_jobs_are_thin():
    for path in (ROOT.parent / "jobs").glob("*.py"):
        assert len(path.read_text().splitlines()) <= 12, path.name
