"""MLflow: one run a pipeline run, with figures, curves, tables, the report and the mixture.

Nothing that holds text, mentions, swaps or the seed is ever logged: parameters leave out the
configuration keys that may quote names, and artifacts are the aggregated report and tables.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nes_spark.errors import InfrastructureError, NesError

if TYPE_CHECKING:
    import pandas as pd

    from nes_spark.config import Config

#: Configuration keys that may quote names of the corpus; their values stay out of MLflow.
PRIVATE_KEYS = (
    "identifiers.allow",
    "entities.allow",
    "entities.deny",
    "entities.recoding",
    "audit.labels",
    "input.path",
    "input.metadata_table",
    "seed.file",
    "spark.settings",
)

_BATCH = 900  # MLflow takes at most 1,000 metrics a call


def metric_name(text: str) -> str:
    """Return ``text`` as a name that MLflow accepts (letters, digits, ``_ - . : /`` and space)."""
    return re.sub(r"[^A-Za-z0-9_\-.:/ ]", "_", text)


def parameters(config: Config) -> dict[str, str]:
    """Flatten a configuration to dotted parameters without the private keys."""
    flat: dict[str, str] = {}

    def walk(prefix: str, value: Any) -> None:
        if any(prefix == key or prefix.startswith(f"{key}.") for key in PRIVATE_KEYS):
            return
        if isinstance(value, Mapping):
            for name, child in value.items():
                walk(f"{prefix}.{name}" if prefix else str(name), child)
        elif value is not None:
            flat[metric_name(prefix)] = str(value)[:500]

    walk("", config.model_dump(mode="json"))
    return flat


class Tracker:
    """A thin door to MLflow for one experiment.

    Parameters
    ----------
    uri : str or None
        Tracking URI; None for ``MLFLOW_TRACKING_URI`` and, where that is unset, a SQLite store
        ``mlflow.db`` in ``folder`` with artifacts beside it.
    experiment : str
        Name of the experiment, created when missing.
    folder : pathlib.Path
        Where the default store lies.

    Raises
    ------
    InfrastructureError
        When the tracking server cannot be reached.
    """

    def __init__(self, uri: str | None, experiment: str, folder: Path) -> None:
        os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")
        os.environ.setdefault("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "3")
        os.environ.setdefault("GIT_PYTHON_REFRESH", "quiet")
        import logging

        for noisy in ("mlflow", "alembic", "mlflow.store.db.utils"):
            logging.getLogger(noisy).setLevel(logging.ERROR)
        import mlflow

        self.uri = uri or os.environ.get("MLFLOW_TRACKING_URI") or ""
        artifacts = None
        if not self.uri:
            folder.mkdir(parents=True, exist_ok=True)
            self.uri = f"sqlite:///{folder / 'mlflow.db'}"
            artifacts = (folder / "mlartifacts").as_uri()
        with _reachable(self.uri):
            mlflow.set_tracking_uri(self.uri)
            found = mlflow.get_experiment_by_name(experiment)
            self.experiment_id = (
                found.experiment_id
                if found is not None
                else mlflow.create_experiment(experiment, artifact_location=artifacts)
            )

    @contextlib.contextmanager
    def run(
        self, name: str, tags: Mapping[str, str], parent: str | None = None
    ) -> Iterator[TrackedRun]:
        """Open a run; it is marked failed when the body raises."""
        import mlflow

        with _reachable(self.uri):
            all_tags = dict(tags)
            if parent:
                all_tags["mlflow.parentRunId"] = parent
            with mlflow.start_run(
                experiment_id=self.experiment_id, run_name=name, tags=all_tags, nested=bool(parent)
            ) as active:
                yield TrackedRun(active.info.run_id, self.uri)

    def close_abandoned(self, tag: str, value: str) -> int:
        """Mark runs with a tag that are still open as killed; return how many there were.

        A process that dies cannot close its run. The caller must know that no other process has a
        run with this tag open.
        """
        from mlflow import MlflowClient

        with _reachable(self.uri):
            client = MlflowClient(tracking_uri=self.uri)
            found = client.search_runs(
                [self.experiment_id], f"tags.{tag} = '{value}' and attributes.status = 'RUNNING'"
            )
            for run in found:
                client.set_terminated(run.info.run_id, status="KILLED")
        return len(found)


class TrackedRun:
    """The open run."""

    def __init__(self, run_id: str, uri: str) -> None:
        self.run_id = run_id
        self.uri = uri

    def parameters(self, values: Mapping[str, str]) -> None:
        """Log parameters."""
        import mlflow

        items = list(values.items())
        for start in range(0, len(items), 90):
            mlflow.log_params(dict(items[start : start + 90]))

    def metrics(self, values: Mapping[str, float | int | None]) -> None:
        """Log single figures; None is left out."""
        import mlflow

        mlflow.log_metrics(
            {metric_name(k): float(v) for k, v in values.items() if v is not None and v == v}
        )

    def curves(self, candidates: pd.DataFrame) -> None:
        """Log DR and DU of every combination as metrics whose step is the number of swaps.

        Parameters
        ----------
        candidates : pandas.DataFrame
            Rows of one setting and population of the table ``candidates``.
        """
        import time

        from mlflow import MlflowClient
        from mlflow.entities import Metric

        now = int(time.time() * 1000)
        metrics = [
            Metric(metric_name(f"{measure}/{row['combination']}"), value, now, int(row["n_swaps"]))
            for row in candidates.to_dict("records")
            if row["combination"]
            for measure in ("DR", "DU")
            if (value := float(row[measure])) == value
        ]
        client = MlflowClient(tracking_uri=self.uri)
        for start in range(0, len(metrics), _BATCH):
            client.log_batch(self.run_id, metrics=metrics[start : start + _BATCH])

    def table(self, frame: pd.DataFrame, file: str) -> None:
        """Log a table as an artifact that the MLflow UI can show and compare between runs."""
        import mlflow

        mlflow.log_table(frame.astype(object).where(frame.notna(), None), artifact_file=file)

    def folder(self, path: Path, name: str) -> None:
        """Log all files of a folder."""
        import mlflow

        mlflow.log_artifacts(str(path), artifact_path=name)

    def tags(self, values: Mapping[str, str]) -> None:
        """Set tags."""
        import mlflow

        mlflow.set_tags(dict(values))


def tracked_series(tracked: TrackedRun, series: Mapping[str, Sequence[float | None]]) -> None:
    """Log metrics whose step is the position in a sequence; None is left out."""
    import time

    from mlflow import MlflowClient
    from mlflow.entities import Metric

    now = int(time.time() * 1000)
    metrics = [
        Metric(metric_name(name), float(value), now, step)
        for name, values in series.items()
        for step, value in enumerate(values)
        if value is not None and value == value
    ]
    client = MlflowClient(tracking_uri=tracked.uri)
    for start in range(0, len(metrics), _BATCH):
        client.log_batch(tracked.run_id, metrics=metrics[start : start + _BATCH])


@contextlib.contextmanager
def _reachable(uri: str) -> Iterator[None]:
    """Turn MLflow's and the network's errors into one line."""
    shown = re.sub(r"//[^/@]*@", "//", uri)
    try:
        yield
    except NesError:
        raise
    except Exception as error:
        # MLflow passes on errors of its clients: HTTP, object stores, databases
        outside = ("mlflow", "requests", "urllib3", "sqlalchemy", "botocore", "azure", "google")
        if type(error).__module__.split(".")[0] not in outside:
            raise
        first = (str(error).splitlines() or [""])[0][:200]
        first = re.sub(r"//[^/@\s]*@", "//", first)
        raise InfrastructureError(
            f"MLflow at {shown} failed: {first}; check MLFLOW_TRACKING_URI or set "
            "tracking.enabled: false"
        ) from error
