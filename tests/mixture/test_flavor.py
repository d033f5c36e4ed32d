"""The mixture as an MLflow model."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from nes_spark.mixture import fit_mixture
from nes_spark.mixture.flavor import RESULT_TYPE, MixturePyfunc, log_model


@pytest.fixture(scope="module")
def model():
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.normal(m, 0.3, (40, 4)) for m in np.eye(4)[:2]])
    return fit_mixture(x / np.linalg.norm(x, axis=1, keepdims=True), "pkb", 2)


@pytest.fixture(scope="module")
def uri(model, tmp_path_factory):
    os.environ["MLFLOW_DISABLE_TELEMETRY"] = "true"
    import mlflow

    folder = tmp_path_factory.mktemp("mlflow")
    mlflow.set_tracking_uri(f"sqlite:///{folder}/store.db")
    experiment = mlflow.create_experiment("mixtures", artifact_location=(folder / "a").as_uri())
    with mlflow.start_run(experiment_id=experiment):
        info = log_model(model)
    assert info.signature is not None
    # the path of the files: needs no tracking store in another process
    return mlflow.artifacts.download_artifacts(info.model_uri)


@pytest.mark.usefixtures("spark")  # not for itself: its process saves a model for the last test too
def test_takes_lists_of_plain_floats_and_shows_one(model, uri):
    import mlflow.pyfunc

    loaded = mlflow.pyfunc.load_model(uri)
    example = loaded.input_example
    assert example["vector"][0] == pytest.approx(model.means[0])
    found = loaded.predict(pd.DataFrame({"vector": [list(example["vector"][0])]}))
    assert found["component"].tolist() == model.assign(model.means[:1])[0].tolist()
    assert loaded.predict(example).equals(found)


@pytest.mark.slow  # workers of Spark load it in the next test, and agree as exactly
def test_loads_in_a_fresh_process_and_agrees_bit_for_bit(model, uri):
    x = model.sample(20, seed=3).astype(np.float32)
    code = (
        "import sys, json, mlflow, numpy as np, pandas as pd\n"
        f"model = mlflow.pyfunc.load_model({uri!r})\n"
        "x = np.array(json.load(sys.stdin), dtype=np.float32)\n"
        "out = model.predict(pd.DataFrame({'vector': list(x)}))\n"
        "print(json.dumps([out['component'].tolist(), out['log_density'].tolist()]))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        input=json.dumps(x.tolist()),
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "MLFLOW_DISABLE_TELEMETRY": "true"},
    )
    components, log_densities = json.loads(done.stdout.strip().splitlines()[-1])
    expected = model.assign(x)
    assert components == expected[0].tolist()
    assert log_densities == expected[1].tolist()


def test_scores_a_table_through_spark_udf(spark, model, uri):
    import mlflow

    x = model.sample(30, seed=4).astype(np.float32)
    df = spark.createDataFrame([(v.tolist(),) for v in x], "vector array<float>").coalesce(1)
    udf = mlflow.pyfunc.spark_udf(spark, uri, result_type=RESULT_TYPE, env_manager="local")
    rows = df.withColumn("p", udf("vector")).select("vector", "p.*").collect()
    again = model.assign(np.array([r["vector"] for r in rows], dtype=np.float32))
    assert [r["component"] for r in rows] == again[0].tolist()
    assert [r["log_density"] for r in rows] == again[1].tolist()


def test_vectors_of_another_length_are_refused(model):
    import pandas as pd

    with pytest.raises(ValueError, match="4 columns"):
        MixturePyfunc(model).predict(np.ones((1, 3)))
    from nes_spark.errors import InputError

    with pytest.raises(InputError, match="must have 4 numbers, got \\[3\\]"):
        MixturePyfunc(model).predict(pd.DataFrame({"vector": [[1.0, 0.0, 0.0]]}))
    with pytest.raises(InputError, match="no column 'vector'"):
        MixturePyfunc(model).predict(pd.DataFrame({"a": [1.0], "b": [0.0]}))
