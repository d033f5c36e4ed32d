"""What the command line loads before it answers: seconds follow from modules."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
#: Packages that cost a tenth of a second and more, each of them.
HEAVY = {
    "IPython", "mlflow", "matplotlib", "openai", "pandas", "pyspark", "sklearn", "spacy", "spylls",
}  # fmt: skip
ARRAYS = {"numpy", "pyarrow", "scipy"}
PROBE = """
import json, sys
from nes_spark.cli import main
try:
    main(sys.argv[1:], prog_name="nes-spark")
except SystemExit as ended:
    code = ended.code
names = sorted({name.split(".")[0] for name in sys.modules})
print("\\n" + json.dumps({"code": code, "modules": names}))
"""


def loaded(*arguments):
    """Exit code of a command and the packages that it loaded."""
    done = subprocess.run(
        [sys.executable, "-c", PROBE, *arguments],
        capture_output=True, text=True, cwd=ROOT, check=True,
    )  # fmt: skip
    found = json.loads(done.stdout.splitlines()[-1])
    return found["code"], set(found["modules"]), done


@pytest.mark.parametrize("arguments", [("--help",), ("run", "--help"), ("--version",)])
def test_help_loads_nothing_heavy(arguments):
    code, modules, _ = loaded(*arguments)
    assert code == 0
    assert not modules & (HEAVY | ARRAYS | {"pydantic"})


def test_a_fault_of_the_configuration_is_told_without_arrays():
    code, modules, done = loaded("run", "conf/demo.yaml", "--set", "mixture.n_componets=3")
    assert code == 2
    assert "did you mean 'n_components'" in done.stderr
    assert not modules & (HEAVY | ARRAYS)
    assert "pydantic" in modules


def test_a_plan_is_told_without_spark_and_pandas():
    code, modules, done = loaded("run", "conf/demo.yaml", "--plan")
    assert code == 0
    assert "17. release" in done.stdout or "release: choose" in done.stdout
    assert not modules & (HEAVY | {"scipy"})


def test_the_probe_sees_what_is_loaded():
    done = subprocess.run(
        [sys.executable, "-c", "import pandas\n" + PROBE, "--help"],
        capture_output=True, text=True, cwd=ROOT, check=True,
    )  # fmt: skip
    assert "pandas" in json.loads(done.stdout.splitlines()[-1])["modules"]


@pytest.mark.parametrize("name", ["mixture", "releases", "swapping", "text", "entities"])
def test_faces_give_all_that_they_promise(name):
    module = __import__(f"nes_spark.{name}", fromlist=["x"])
    for public in module.__all__:
        assert getattr(module, public).__name__ == public
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        module.nothing  # noqa: B018
