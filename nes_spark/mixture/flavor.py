"""The mixture as an MLflow model: vectors in, component and log density out.

The model is logged with a loader, not as a pickle: its files are the npz that
:meth:`MixtureModel.save` writes, and MLflow calls :func:`_load_pyfunc` of this module to read it.
"""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from nes_spark.errors import InputError
from nes_spark.mixture.model import MixtureModel

if TYPE_CHECKING:
    from mlflow.models import ModelSignature

#: Column with the vectors, and what :func:`mlflow.pyfunc.spark_udf` returns for each.
INPUT_COLUMN = "vector"
RESULT_TYPE = "component int, log_density double"


class MixturePyfunc:
    """What MLflow calls: ``predict`` on a table of vectors."""

    def __init__(self, model: MixtureModel) -> None:
        self.model = model

    def predict(self, model_input: Any, params: dict[str, Any] | None = None) -> pd.DataFrame:
        """Return component and log density of each vector.

        Parameters
        ----------
        model_input : pandas.DataFrame or array_like
            A column ``vector`` of unit vectors, or an array of shape (n, d).
        params : dict, optional
            Not used.

        Returns
        -------
        pandas.DataFrame
            ``component`` (int32, from 0) and ``log_density`` (relative to uniform, under it).
        """
        if isinstance(model_input, pd.DataFrame):
            if INPUT_COLUMN in model_input.columns:
                values = [np.asarray(v, dtype=np.float32) for v in model_input[INPUT_COLUMN]]
            elif model_input.shape[1] == 1:
                values = [np.asarray(v, dtype=np.float32) for v in model_input.iloc[:, 0]]
            else:
                raise InputError(
                    f"mixture model: no column {INPUT_COLUMN!r} in {list(model_input.columns)}"
                )
            lengths = {len(v) for v in values}
            if lengths - {self.model.dimension}:
                raise InputError(
                    f"mixture model: vectors must have {self.model.dimension} numbers, got "
                    f"{sorted(lengths)}"
                )
            matrix = np.stack(values) if values else np.empty((0, self.model.dimension))
        else:
            matrix = np.asarray(model_input)
        components, log_densities = self.model.assign(matrix)
        return pd.DataFrame(
            {"component": components.astype(np.int32), "log_density": log_densities}
        )


def _load_pyfunc(path: str) -> MixturePyfunc:
    """Read what :func:`log_model` wrote; called by MLflow."""
    return MixturePyfunc(MixtureModel.load(path))


def signature() -> ModelSignature:
    """Return the signature: a column of vectors in, component and log density out.

    Numbers are doubles, as a list of Python's is; single precision fits into them.
    """
    from mlflow.models import ModelSignature
    from mlflow.types import ColSpec, DataType, Schema
    from mlflow.types.schema import Array

    return ModelSignature(
        inputs=Schema([ColSpec(Array(DataType.double), INPUT_COLUMN)]),
        outputs=Schema(
            [ColSpec(DataType.integer, "component"), ColSpec(DataType.double, "log_density")]
        ),
    )


def log_model(model: MixtureModel, name: str = "mixture", **options: Any) -> Any:
    """Log a mixture to the active MLflow run.

    Parameters
    ----------
    model : MixtureModel
    name : str, optional
        Name of the logged model.
    **options : object
        Handed to :func:`mlflow.pyfunc.log_model`, e.g. ``registered_model_name``.

    Returns
    -------
    mlflow.models.model.ModelInfo
        Its ``model_uri`` loads the model, also in a process of its own, and in
        ``mlflow.pyfunc.spark_udf(spark, uri, result_type=RESULT_TYPE, env_manager="local")``.
    """
    import mlflow.pyfunc

    requirements = [f"{package}=={version(package)}" for package in ("numpy", "scipy", "pandas")]
    with TemporaryDirectory() as folder:
        file = model.save(Path(folder) / "mixture.npz")
        settings = {
            "loader_module": __name__,
            "data_path": str(file),
            "signature": signature(),
            # The centre of a component, which the model holds: no vector of the corpus.
            "input_example": pd.DataFrame({INPUT_COLUMN: [model.means[0].tolist()]}),
            "pip_requirements": [f"nes_spark=={version('nes_spark')}", *requirements],
        }
        return mlflow.pyfunc.log_model(name=name, **(settings | options))
