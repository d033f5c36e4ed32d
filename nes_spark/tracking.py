"""MLflow: one run a pipeline run, with figures, curves, tables, the report and the mixture.

Nothing that holds text, mentions, swaps, the seed, keys or passwords is ever logged: parameters are
an allow-list of settings (:data:`LOGGED`), and artifacts are the aggregated report and tables.
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

#: What is logged of a configuration: settings of the method, which hold no name, text, path, key or
#: address. Everything else stays out, also what a later version may add.
LOGGED = (
    "period",
    "input.format", "input.max_characters", "input.min_characters",
    "presentation",
    "identifiers.speakers", "identifiers.mined_aliases", "identifiers.mined_people",
    "chunking",
    "entities.categories", "entities.linking", "entities.corpus_consistency",
    "entities.consistent_categories", "entities.batch_size",
    "entities.sweep", "entities.sweep_share", "entities.terms", "entities.telling",
    "entities.currency",
    "embedding.dimension", "embedding.batch_size", "embedding.cache", "embedding.lsa_sample",
    "mixture",
    "releases", "swapping", "risk",
    "utility",
    "choice",
    "gates",
    "ledger.encrypt", "ledger.keep_originals",
    "output.publish", "output.instead",
    "audit",
    "report.linking", "report.examples", "report.option_swaps", "report.option_draws",
    "spark.shuffle_partitions", "spark.driver_memory",
)  # fmt: skip
#: Exceptions below what is logged: free text, paths, names of the corpus, and endpoints.
NOT_LOGGED = (
    "mixture.warm_start",
    "utility.tasks",
    "audit.models", "audit.prompt", "audit.labels", "audit.reference", "audit.answers",
    "audit.background", "audit.public_words",
)  # fmt: skip
#: What is logged of each language model of the audit.
LOGGED_OF_MODELS = (
    "name", "model", "temperature", "seed", "max_tokens", "price_in", "price_out", "batch",
)  # fmt: skip
#: A parameter is logged when its value has the form of a number, a switch or a short name.
_HARMLESS = re.compile(r"[\w .,:+&%()#-]{0,200}")

_BATCH = 900  # MLflow takes at most 1,000 metrics a call


def metric_name(text: str) -> str:
    """Return ``text`` as a name that MLflow accepts (letters, digits, ``_ - . : /`` and space)."""
    return re.sub(r"[^A-Za-z0-9_\-.:/ ]", "_", text)


def parameters(config: Config) -> dict[str, str]:
    """Flatten what may be logged of a configuration to dotted parameters.

    Only keys of :data:`LOGGED` are looked at. Names of the recogniser and the embedder are logged
    where they are names and no paths. No value that holds a path, an address or free text goes out,
    wherever it stands.

    Returns
    -------
    dict
        Dotted key -> value as text.
    """
    flat: dict[str, str] = {}

    def walk(prefix: str, value: Any) -> None:
        if prefix in NOT_LOGGED or value is None or isinstance(value, Mapping):
            return  # the keys of a mapping are the user's words
        if fields := getattr(type(value), "model_fields", None):
            for name in fields:
                walk(f"{prefix}.{name}", getattr(value, name))
            return
        if prefix == "input.format":
            value = str(value).partition(":")[0]  # behind it stands the name of a table
        items = value if isinstance(value, (list, tuple)) else [value]
        if all(_HARMLESS.fullmatch(str(item)) for item in items):
            flat[metric_name(prefix)] = str(value)[:500]

    for key in (*LOGGED, "entities.recognizer", "embedding.model"):
        value: Any = config
        for part in key.split("."):
            value = getattr(value, part, None)
        walk(key, value)
    for number, model in enumerate(config.audit.models):
        for name in LOGGED_OF_MODELS:
            walk(f"audit.models.{number}.{name}", getattr(model, name))
    return flat


def without_secrets(uri: str) -> str:
    """Return a URI without user, password, query and fragment, for people and logs.

    Examples
    --------
    >>> without_secrets("https://me:word@host:5000/a?token=x#y")
    'https://host:5000/a'
    """
    scheme, separator, rest = uri.partition("://")
    if not separator:
        return uri
    rest = re.split(r"[?#]", rest, maxsplit=1)[0]
    authority, slash, path = rest.partition("/")
    return f"{scheme}://{authority.rsplit('@', 1)[-1]}{slash}{path}"


def store_folder(directory: str, beside: Path) -> Path:
    """Return where the default store of a project lies: one for all its outputs.

    Parameters
    ----------
    directory : str
        ``output.directory`` as it was given.
    beside : pathlib.Path
        The same, absolute: the folder in which the run folders are.

    Returns
    -------
    pathlib.Path
        The folder that a relative directory starts from, where MLflow itself looks for a store;
        of any other directory, the directory.

    Examples
    --------
    >>> store_folder("out/demo", Path("/home/me/project/out/demo")).as_posix()
    '/home/me/project'
    >>> store_folder("/data/releases", Path("/data/releases")).as_posix()
    '/data/releases'
    """
    given = Path(directory)
    parts = given.parts
    if given.is_absolute() or "://" in directory or ".." in parts:
        return beside
    if parts and beside.parts[-len(parts) :] != parts:
        return beside
    return Path(*beside.parts[: len(beside.parts) - len(parts)])


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
            folder = folder.absolute()
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
        self,
        name: str,
        tags: Mapping[str, str],
        parent: str | None = None,
        started: float | None = None,
    ) -> Iterator[TrackedRun]:
        """Open a run; it is marked failed when the body raises.

        Parameters
        ----------
        name : str
            Name of the run.
        tags : mapping
            Tags.
        parent : str, optional
            Id of the run that it belongs to.
        started : float, optional
            When the work began, in seconds since 1970; now by default.
        """
        import mlflow
        from mlflow import MlflowClient
        from mlflow.tracking.context.registry import resolve_tags

        with _reachable(self.uri):
            all_tags = dict(tags)
            if parent:
                all_tags["mlflow.parentRunId"] = parent
            client = MlflowClient(tracking_uri=self.uri)
            all_tags = resolve_tags(all_tags)  # user and source, as mlflow.start_run sets them
            made = client.create_run(
                self.experiment_id,
                start_time=None if started is None else int(started * 1000),
                tags=all_tags,
                run_name=name,
            )
            with mlflow.start_run(run_id=made.info.run_id, nested=bool(parent)) as active:
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

    def register(self, name: str, model: str) -> int:
        """Make a logged model the next version of a registered one.

        Parameters
        ----------
        name : str
            Registered model; made when it is not there.
        model : str
            URI of the logged model.

        Returns
        -------
        int
            The version.
        """
        from mlflow import MlflowClient
        from mlflow.exceptions import MlflowException

        client = MlflowClient(tracking_uri=self.uri)
        try:
            client.create_registered_model(name)
        except MlflowException as error:
            if error.error_code != "RESOURCE_ALREADY_EXISTS":
                raise
        return int(client.create_model_version(name, model, self.run_id).version)

    def curves(
        self,
        candidates: pd.DataFrame,
        single: Mapping[str, float] | None = None,
        parameters: Mapping[str, str] | None = None,
    ) -> None:
        """Log DR and DU of every combination as metrics whose step is the number of swaps.

        Parameters
        ----------
        candidates : pandas.DataFrame
            Rows of one setting and population of the table ``candidates``.
        single : mapping of str to float, optional
            Single figures, in the same call: each takes a transaction of its own.
        parameters : mapping of str to str, optional
            Likewise, at most 100.
        """
        import time

        from mlflow import MlflowClient
        from mlflow.entities import Metric, Param

        now = int(time.time() * 1000)
        metrics = [
            Metric(metric_name(f"{measure}/{row['combination']}"), value, now, int(row["n_swaps"]))
            for row in candidates.to_dict("records")
            if row["combination"]
            for measure in ("DR", "DU")
            if (value := float(row[measure])) == value
        ]
        metrics += [Metric(metric_name(k), float(v), now, 0) for k, v in (single or {}).items()]
        params = [Param(k, str(v)) for k, v in (parameters or {}).items()]
        client = MlflowClient(tracking_uri=self.uri)
        for start in range(0, max(1, len(metrics)), _BATCH):
            client.log_batch(self.run_id, metrics[start : start + _BATCH], params)
            params = []

    def table(self, frame: pd.DataFrame, file: str) -> None:
        """Log a table as an artifact that the MLflow UI can show and compare between runs."""
        import mlflow

        mlflow.log_table(frame.astype(object).where(frame.notna(), None), artifact_file=file)

    def dataset(
        self, name: str, digest: str, columns: Mapping[str, str], counts: Mapping[str, int]
    ) -> None:
        """Log what the run worked on: name, digest, columns and counts; nothing of its content.

        Parameters
        ----------
        name : str
            Shown in the column "Dataset".
        digest : str
            36 characters at most, of which equal ones mean equal files.
        columns : mapping of str to str
            Column -> type, one of MLflow's.
        counts : mapping of str to int
            Become tags of the input.
        """
        import mlflow
        from mlflow.data.code_dataset_source import CodeDatasetSource
        from mlflow.data.meta_dataset import MetaDataset
        from mlflow.types import ColSpec, Schema

        class Described(MetaDataset):
            """Counts take the place of the profile that MLflow would make of the content."""

            @property
            def profile(self) -> dict[str, int]:
                return dict(counts)

        schema = Schema([ColSpec(kind, column) for column, kind in columns.items()])
        source = CodeDatasetSource(tags={"package": "nes_spark"})
        found = Described(source, name=name, digest=digest[:36], schema=schema)
        mlflow.log_input(found, context="input", tags={k: str(v) for k, v in counts.items()})

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
    shown = without_secrets(uri)
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
        first = re.sub(r"\S+://\S+", lambda found: without_secrets(found.group()), first)
        raise InfrastructureError(
            f"MLflow at {shown} failed: {first}; check MLFLOW_TRACKING_URI or set "
            "tracking.enabled: false"
        ) from error
