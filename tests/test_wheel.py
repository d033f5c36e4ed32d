"""The wheel has everything that a user needs offline."""

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
NEEDED = (
    "nes_spark/py.typed",
    "nes_spark/licences/CC-BY-SA-4.0.txt",
    "nes_spark/licences/WordNet.txt",
    "nes_spark/conf/earnings21.yaml",
    "nes_spark/conf/airflow/nes_spark_quarterly.py",
    "nes_spark/jobs/run_pipeline.py",
    "nes_spark/demo/calls.jsonl",
    "nes_spark/demo/demo.yaml",
    "nes_spark/demo/material/",
    "nes_spark/report/templates/report.html.j2",
    "nes_spark/embedding/models/static-en/vectors.npy",
    "nes_spark/embedding/models/static-en/tokenizer.json",
    "nes_spark/embedding/models/static-en/MODEL_CARD.md",
    "nes_spark/embedding/models/contextual-en/MODEL_CARD.md",
    "nes_spark/embedding/models/contextual-en/graph.onnx",
    "nes_spark/embedding/models/contextual-en/model.json",
    "nes_spark/embedding/models/contextual-en/tokenizer.json",
    "nes_spark/embedding/models/contextual-en/weights.safetensors",
    "nes_spark/entities/data/generalised.txt",
    "nes_spark/entities/models/README.md",
    "nes_spark/entities/models/bundled/config.cfg",
    "nes_spark/entities/models/bundled/meta.json",
    "nes_spark/entities/models/bundled/tokenizer",
    "nes_spark/entities/models/bundled/nes_rules/lexicon.json",
    "nes_spark/entities/models/bundled/nes_rules/names.npz",
    "nes_spark/entities/models/bundled/nes_rules/pieces.npz",
    "nes_spark/entities/models/bundled/nes_rules/pieces.txt",
)


@pytest.mark.slow
def test_the_wheel_has_all_package_data(tmp_path):
    tracked = subprocess.run(
        ["git", "ls-files", "nes_spark", "conf", "jobs"],
        cwd=ROOT, check=True, capture_output=True, text=True,
    ).stdout.split()  # fmt: skip
    # a clean tree: the working tree's build folder may hold files of yesterday
    source = tmp_path / "source"
    for name in [*tracked, "setup.py", "pyproject.toml", "README.md", "LICENSE"]:
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, source / name)
    command = [sys.executable, "-m", "pip", "wheel", str(source), "--no-deps"]
    built = subprocess.run(
        [*command, "-w", str(tmp_path)], capture_output=True, text=True, check=False
    )
    if "setuptools" in built.stderr and "No matching distribution" in built.stderr:
        pytest.skip("no package index to take setuptools from")
    assert built.returncode == 0, built.stderr[-2000:]
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        (described,) = [n for n in names if n.endswith(".dist-info/METADATA")]
        metadata = archive.read(described).decode()
        size = sum(i.file_size for i in archive.infolist() if "entities/models" in i.filename)
    for needed in NEEDED:
        assert any(name.startswith(needed) for name in names), needed
    inside = {n if n.startswith("nes_spark/") else f"nes_spark/{n}" for n in tracked}
    assert inside <= set(names)
    assert not [name for name in names if name.startswith("tests/")]
    for licence in ("LICENSE", "CC-BY-SA-4.0.txt", "WordNet.txt", "NOTICE.md"):
        assert [n for n in names if ".dist-info/" in n and n.endswith(licence)], licence
    assert "Apache-2.0 AND CC-BY-SA-4.0 AND WordNet" in metadata
    assert size < 10_000_000
