"""The house: rooms import from rooms below them only, there is no circle, kernels know no Spark."""

from pathlib import Path

import pytest

import nes_spark
from tests.layering import by_room, circles, floors, graph, imports, module_name

ROOT = Path(nes_spark.__file__).parent
#: Rooms from the ground up; a room imports from rooms of earlier lines, or of its own line's left.
ORDER = (
    "errors", "lazy", "plain", "showing", "versions", "logs", "scratch", "schemas", "rowhash",
    "tracking", "workers", "sharing", "sieve", "spreading", "calling", "session", "failures",
    "store", "config",
    "embedding", "text", "entities", "mixture", "swapping", "risk", "utility", "releases", "audit",
    "demo", "report", "building", "run", "compare",
    "starting",
    "doctor", "face", "cli",
)  # fmt: skip
#: Doors and ground: what may lie at the top of the package.
TOP = {
    "__init__", "calling", "cli", "doctor", "errors", "failures", "lazy", "logs", "plain",
    "rowhash", "schemas", "scratch", "session", "sharing", "showing", "sieve", "spreading", "store",
    "tracking", "versions", "workers",
}  # fmt: skip
#: Modules that may import Spark although they are no stages: how a session and a run are opened,
#: how rows are laid to tasks, and how workers are called.
SPARK = {
    "calling.py",
    "session.py",
    "spreading.py",
    "workers.py",
    "store.py",
    "doctor.py",
    "starting/preparing.py",
}


@pytest.fixture(scope="module")
def edges():
    return graph(ROOT)


def test_every_room_has_its_place(edges):
    rooms = {name.split(".")[1] for name in edges if "." in name} | {"face"}
    assert rooms == set(ORDER)


def test_doors_and_ground_alone_lie_at_the_top():
    assert {path.stem for path in ROOT.glob("*.py")} == TOP


def test_no_circle(edges):
    assert circles(edges) == []


def test_no_circle_and_few_floors_with_the_imports_for_types_too():
    drawn = graph(ROOT, checking=True)
    assert circles(drawn) == []
    found = by_room({name: others for name, others in drawn.items() if name != nes_spark.__name__})
    height = floors({pair: why for pair, why in found.items() if "face" not in pair})
    assert max(height.values()) <= 12, sorted(height.items(), key=lambda one: one[1])


def test_floors_are_counted():
    chain = {("c", "b"): [], ("b", "a"): [], ("c", "a"): [], ("d", "a"): []}
    assert floors(chain) == {"a": 1, "b": 2, "c": 3, "d": 2}


def test_nothing_looks_upwards(edges):
    rank = {name: i for i, name in enumerate(ORDER)}
    wrong = {
        f"{lower} -> {upper}": found
        for (lower, upper), found in by_room(edges).items()
        if rank[lower] <= rank[upper]
    }
    assert not wrong


def test_circles_are_found():
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}) == [["a", "b", "c"]]


def test_imports_inside_functions_and_of_modules_are_seen(tmp_path):
    package = tmp_path / "nes_spark"
    (package / "text").mkdir(parents=True)
    for name in ("__init__", "text/__init__", "text/a", "text/b"):
        (package / f"{name}.py").write_text("")
    (package / "text" / "a.py").write_text("def f():\n    from nes_spark.text import b\n")
    (package / "text" / "b.py").write_text(
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import nes_spark.text.a\n"
    )
    found = graph(package)
    assert found["nes_spark.text.a"] == {"nes_spark.text.b"}
    assert found["nes_spark.text.b"] == set()


def kernels():
    """Every module of the method: all but stages, and what stands above and below it."""
    for path in sorted(ROOT.rglob("*.py")):
        place = path.relative_to(ROOT)
        if place.parts[0] in ("run", "compare") or place.as_posix() in SPARK:
            continue
        if not path.name.endswith("stages.py"):
            yield path


def test_there_are_kernels_and_stages():
    assert len(list(kernels())) > 20
    assert len(list(ROOT.rglob("*stages.py"))) >= 6


def test_kernels_never_import_spark():
    found = [
        f"{module_name(ROOT, path)}: {found.module}"
        for path in kernels()
        for found in imports(path.read_text())
        if found.module.split(".")[0] == "pyspark" and not found.checking
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
