"""The notebook runs on the tables of a run, and is stored without output."""

import importlib
import json
from collections import Counter
from pathlib import Path

import nbformat
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from nbclient import NotebookClient

from nes_spark.releases import choose
from nes_spark.releases.scoring import RiskFigures, average, candidates_of, score_sequence
from nes_spark.risk import fit_ewens_pitman
from nes_spark.risk.tables import fit_row
from nes_spark.schemas import RISK_FITS

NOTEBOOK = Path(__file__).parents[2] / "notebooks" / "risk_and_utility.ipynb"
SETTING, POPULATION = "pkb-K10-eps0.001", 1e10
N, SWAPS = 200, 6
WORDS = ("alpha", "beta", "gamma")


def write(frame, run, name, schema=None):
    folder = run / "stages" / name
    folder.mkdir(parents=True)
    pq.write_table(pa.Table.from_pandas(frame, schema, preserve_index=False), folder / "p.parquet")


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A small run directory, made with the kernels and no Spark."""
    run = tmp_path_factory.mktemp("run")
    rng = np.random.default_rng(5)
    ids = [f"doc#{i:05d}" for i in range(N)]
    chunks = pd.DataFrame(
        {"chunk_id": ids, "text": [f"<b>{WORDS[i % 3]}</b> met firm{i} in May" for i in range(N)]}
    )
    write(chunks, run, "chunks")
    fits, averages, rewrites = [], [], []
    for combination in ("Organization+Person", "Organization+Product"):
        values = [int(rng.pareto(0.7) * 4) for _ in ids]
        counts = Counter(values)
        sizes = {int(j): int(s) for j, s in sorted(Counter(counts.values()).items())}
        fits.append(fit_row(combination, sizes) | {"sizes": list(sizes.items())})
        fit = fit_ewens_pitman(sizes)
        figures = RiskFigures(
            N, fit.s1, fit.theta, fit.alpha, ((POPULATION, float(fit.p_hat(POPULATION)), fit.stays_unique(POPULATION).value),)
        )
        scores = []
        for draw in range(2):
            order = rng.permutation(N)[: 2 * SWAPS]
            swapped = pd.DataFrame(
                {
                    "order": np.repeat(np.arange(1, SWAPS + 1), 2),
                    "chunk_id": [ids[i] for i in order],
                    "pre": rng.normal(6, 1, 2 * SWAPS),
                    "post": rng.normal(5, 1, 2 * SWAPS),
                    "unique": [counts[values[i]] == 1 for i in order],
                }
            )
            scores.append(
                score_sequence(swapped, figures, 6.0 * N).assign(combination=combination, draw=draw)
            )
            for number, i in enumerate(order):
                partner = order[number ^ 1]
                start = chunks["text"][i].index("firm")
                old, new = f"firm{i}", f"firm{partner}"
                edit = {"start": start, "end": start + len(old), "old": old, "new": new}
                text = chunks["text"][i].replace(old, new)
                rewrites.append((SETTING, combination, draw, number // 2 + 1, ids[i], text, [edit]))
        averages.append(average(pd.concat(scores)))
    fits.append(fit_row("Person+Product", {1: N}) | {"sizes": [(1, N)]})
    schema = {"string": pa.string(), "bigint": pa.int64(), "double": pa.float64()}
    schema |= {"boolean": pa.bool_(), "array<double>": pa.list_(pa.float64())}
    schema |= {"map<bigint,bigint>": pa.map_(pa.int64(), pa.int64())}
    fields = pa.schema([(c.name, schema[c.type]) for c in RISK_FITS.columns])
    write(pd.DataFrame(fits)[RISK_FITS.names], run, "risk_fits", fields)
    candidates = candidates_of(SETTING, POPULATION, pd.concat(averages))
    write(candidates, run, "candidates")
    names = ["setting", "combination", "draw", "order", "chunk_id", "text", "edits"]
    write(pd.DataFrame(rewrites, columns=names), run, "rewrites")
    position = choose(candidates, "max_rate", combination="Organization+Person")
    row = candidates.iloc[position]
    choice = {
        "setting": SETTING,
        "population": POPULATION,
        "combination": row["combination"],
        "n_swaps": int(row["n_swaps"]),
    }
    (run / "release").mkdir()
    (run / "release" / "release.json").write_text(json.dumps({"choice": choice}))
    return run


def execute(run, monkeypatch):
    monkeypatch.setenv("NES_SPARK_RUN", str(run))
    monkeypatch.setenv("MPLBACKEND", "module://matplotlib_inline.backend_inline")
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
    return notebook


def outputs(notebook):
    return [o for cell in notebook.cells if cell.cell_type == "code" for o in cell.outputs]


def test_the_notebook_runs_from_a_run_to_the_swapped_chunks(run, monkeypatch):
    found = outputs(execute(run, monkeypatch))
    assert not [o for o in found if o.output_type == "error"]
    assert sum("image/png" in o.get("data", {}) for o in found) == 3
    printed = "".join(o.get("text", "") for o in found)
    assert "chosen: Organization+Person, 6 swaps" in printed
    assert "Person+Product: all 200 units are unique" in printed
    side_by_side = found[-1]["data"]["text/html"]
    assert side_by_side.count("<tr>") == 1 + 2 * 3
    # both sides are marked, and the text of a chunk is never taken for HTML
    assert side_by_side.count("<mark>firm") == 2 * 2 * 3
    assert "&lt;b&gt;" in side_by_side
    assert "<b>" not in side_by_side


def test_a_folder_that_is_no_run_is_told(tmp_path, monkeypatch):
    (tmp_path / "release").mkdir()
    (tmp_path / "release" / "release.json").write_text('{"choice": {}}')
    monkeypatch.setenv("NES_SPARK_RUN", str(tmp_path))
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    first = next(cell.source for cell in notebook.cells if cell.cell_type == "code")
    # that a cell's error ends a notebook needs no kernel, whose start takes seconds
    with pytest.raises(SystemExit, match="set NES_SPARK_RUN to a finished run"):
        exec(first, {})


def test_the_notebook_is_stored_without_output():
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    nbformat.validate(notebook)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert code
    assert all(cell.outputs == [] and cell.execution_count is None for cell in code)


def test_the_notebook_uses_public_names_only():
    source = "\n".join(cell.source for cell in nbformat.read(NOTEBOOK, as_version=4).cells)
    imported = [line for line in source.splitlines() if line.startswith(("from nes", "import nes"))]
    assert imported == [
        "from nes_spark.releases import choose, pareto_frontier",
        "from nes_spark.report import plot_candidates",
        "from nes_spark.risk import fit_ewens_pitman, goodness_table, p_hat_table",
    ]
    for line in imported:
        module = importlib.import_module(line.split()[1])
        for name in line.split(" import ")[1].split(", "):
            assert name in module.__all__
