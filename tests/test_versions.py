"""A stage is stale when code that it is made of changed, and only then."""

import gc
import shutil
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from nes_spark import versions
from nes_spark.run.pipeline import STAGES
from nes_spark.run.release import PUBLICATION

CACHED = (
    versions.closure,
    versions._source,
    versions._content,
    versions._imports,
    versions._defined_in,
    versions._definitions,
    versions._units,
    versions._imports_at_top,
    versions.code_version,
)
#: Stages that embed texts.
EMBEDDING = {"embedder", "chunks", "embeddings", "post_density", "utility"}
#: Stages behind the swaps: what a sampler or a rewriting gives goes through all of them.
BEHIND = {"rewrites", "post_density", "utility", "measured_risk", "candidates"}


def forget():
    for cached in CACHED:
        cached.cache_clear()


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    """A copy of the package that tests may edit."""
    root = tmp_path_factory.mktemp("copy") / "nes_spark"
    ignored = shutil.ignore_patterns("__pycache__", "*.pyc")
    shutil.copytree(versions.ROOT, root, ignore=ignored)
    patch = pytest.MonkeyPatch()
    patch.setattr(versions, "ROOT", root)
    forget()
    yield root
    patch.undo()
    forget()


def codes():
    forget()
    return {stage.name: stage.code() for stage in STAGES}


@pytest.fixture(scope="module")
def untouched(package):
    """The code of every stage; at the end it is what it was."""
    before = codes()
    yield before
    assert codes() == before


def changed(package, before, *names):
    """Stages whose code differs after a line was added to files of the package."""
    kept = {}
    for name in names:
        file = package / name
        kept[file] = file.read_bytes()
        file.write_bytes(kept[file] + b"\n# touched\n")
    after = codes()
    for file, content in kept.items():
        file.write_bytes(content)
    return {name for name in before if before[name] != after[name]}


def test_what_no_table_is_made_of_leaves_all_valid(package, untouched):
    names = [
        "report/page.py", "report/templates/style.css", "demo/calls.py", "demo/material/names.txt",
        "audit/unswap.py", "run/release.py", "run/gates.py", "compare/drift.py", "cli.py",
        "building/recognizer.py", "logs.py",
    ]  # fmt: skip
    assert changed(package, untouched, *names) == set()


@pytest.mark.parametrize(
    ("name", "stages"),
    [
        (
            "mixture/em.py",
            {"mixture", "assignments", "swaps"} | BEHIND,
        ),
        ("text/presentation.py", {"documents", "chunks", "recognised", "mentions", "cells"}),
        ("entities/linking.py", {"recognised", "mentions", "cells", "swaps"} | BEHIND),
        ("audit/linkage.py", {"measured_risk"}),
        ("risk/ewens_pitman.py", {"risk_fits", "scores", "candidates"}),
        ("swapping/sampler.py", {"swaps"} | BEHIND),
        # names and terms that come near in meaning meet: the sampler looks at static vectors
        ("embedding/static.py", EMBEDDING | {"swaps"} | BEHIND),
        ("embedding/models/static-en/tokenizer.json", EMBEDDING | {"swaps"} | BEHIND),
        ("entities/data/words.txt", {"recognised", "mentions", "cells", "swaps"} | BEHIND),
    ],
)
def test_what_a_stage_is_made_of_makes_it_stale_and_nothing_else(package, untouched, name, stages):
    found = changed(package, untouched, name)
    assert found
    assert found <= stages


def test_the_function_of_a_stage_counts(package, untouched):
    file = package / "run" / "pipeline.py"
    content = file.read_text()
    edited = content.replace(
        "from nes_spark.text.chunking_stages import chunk_documents",
        "from nes_spark.text.chunking_stages import chunk_documents as chunk_documents",
    )
    assert edited != content
    file.write_text(edited)
    after = codes()
    file.write_text(content)
    assert {name for name in after if untouched[name] != after[name]} == {"chunks"}


def test_a_package_is_seen_through_to_the_module_that_defines(package):
    found = versions.closure("nes_spark.risk.stages")
    assert "nes_spark.risk.ewens_pitman" in found
    assert not any(name.startswith("nes_spark.mixture") for name in found)


def test_every_data_file_of_the_method_belongs_to_a_module(package):
    rooms = ("embedding", "text", "entities", "mixture", "swapping", "risk", "utility", "releases")
    named, there = set(), set()
    for room in (*rooms, "audit"):
        for file in (package / room).rglob("*.py"):
            module = ".".join(("nes_spark", *file.relative_to(package).with_suffix("").parts))
            named |= set(versions.data_files(module.removesuffix(".__init__")))
        there |= {p for p in (package / room).rglob("*") if p.is_file()}
    unnamed = {p.name for p in there - named if p.suffix not in (".py", ".pyc", ".md")}
    assert unnamed == set()
    assert named


def test_a_root_that_is_not_there_is_an_error(package):
    with pytest.raises(ValueError, match=r"no module 'nes_spark\.text\.nothing'"):
        versions.code_digest("nes_spark.text.nothing")
    with pytest.raises(ValueError, match="no function 'nothing'"):
        versions.code_digest("nes_spark.run.pipeline:nothing")


def test_the_publication_depends_on_everything_it_imports(package):
    assert PUBLICATION == "publication"
    found = versions.closure("nes_spark.run.release")
    assert {"nes_spark.report.page", "nes_spark.run.gates", "nes_spark.audit.linkage"} <= found


def test_a_face_that_loads_lazily_is_seen_through():
    assert versions._defined_in("nes_spark.swapping", "derive_seed") == "nes_spark.swapping.seeds"
    assert "nes_spark.mixture.fit" in versions.closure("nes_spark.mixture.fit")
    for module, name in (("audit", "mcnemar"), ("mixture", "MixtureModel"), ("text", "chunk_text")):
        assert versions._defined_in(f"nes_spark.{module}", name) != f"nes_spark.{module}"


class _Litter:
    """Refers to itself, and says goodbye in Python: another thread may go on then."""

    def __init__(self):
        self.me = self

    def __del__(self):
        sum(range(50))


def test_threads_may_read_code_at_once():
    sources = [p.read_text(encoding="utf-8") for p in sorted(versions.ROOT.rglob("*.py"))[:8]]

    def read(depth):
        if depth:
            return read(depth - 1)
        for source in sources:
            for _ in range(20):
                _Litter()
            versions._parsed.__wrapped__(source)
        return len(sources)

    limits, interval = gc.get_threshold(), sys.getswitchinterval()
    gc.set_threshold(50)
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(4) as pool:
            assert [*pool.map(read, (0, 50, 100, 150))] == [len(sources)] * 4
    finally:
        gc.set_threshold(*limits)
        sys.setswitchinterval(interval)
