"""Check what a run needs before the night it is needed: versions, models, MLflow, disk, modes."""

from __future__ import annotations

import importlib.metadata
import os
import shutil
import stat
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from nes_spark.config import Config, load_config
from nes_spark.errors import NesError
from nes_spark.session import MIN_JAVA, get_session, java_version
from nes_spark.swapping.seeds import MAKE_SEED, MIN_BITS, Secret, find_seed, strength_of

MIN_FREE_BYTES = 2 << 30
OWNER_ONLY = 0o077


@dataclass(frozen=True)
class Finding:
    """One check: its name, whether it is fine, and a line that says what was found or to do."""

    name: str
    ok: bool
    detail: str

    def __str__(self) -> str:
        return f"{'ok  ' if self.ok else 'FAIL'}  {self.name:<12} {self.detail}"


def examine(output: Path, conf: str | None = None) -> list[Finding]:
    """Run all checks.

    Parameters
    ----------
    output : pathlib.Path
        Output folder whose disk and sealed folders are looked at; need not exist.
    conf : str, optional
        Configuration whose recogniser, embedder and tracking server are tried.

    Returns
    -------
    list of Finding
        A failed check never hides the later ones.
    """
    config = Config()
    findings = []
    if conf is not None:
        try:
            config = load_config(conf)
            findings.append(Finding("configuration", True, conf))
        except NesError as error:
            findings.append(Finding("configuration", False, str(error)))
    checks: list[tuple[str, Callable[[], str]]] = [
        ("Python", _python),
        ("Java", _java),
        ("packages", _packages),
        ("Spark", lambda: _spark(config)),
        ("recogniser", lambda: _recognizer(config)),
        ("embedder", lambda: _embedder(config)),
        ("seed", lambda: _seed(config)),
        ("MLflow", lambda: _mlflow(config, output)),
        ("disk", lambda: _disk(output)),
    ]
    for name, check in checks:
        try:
            findings.append(Finding(name, True, check()))
        except Exception as error:
            first = (str(error).splitlines() or [type(error).__name__])[0]
            findings.append(Finding(name, False, first))
    findings += _modes(output) + _sealed_seeds(output)
    return findings


def _python() -> str:
    return f"{sys.version.split()[0]} at {sys.executable}"


def _java() -> str:
    found = java_version()
    if found is None or found < MIN_JAVA:
        raise NesError(f"found {found or 'none'}; install Java {MIN_JAVA} or set JAVA_HOME")
    return f"{found}"


def _packages() -> str:
    names = ("nes_spark", "pyspark", "pandas", "numpy", "pyarrow", "spacy", "mlflow")
    return ", ".join(f"{name} {importlib.metadata.version(name)}" for name in names)


def _spark(config: Config) -> str:
    spark = get_session(config.spark)

    def interpreter(batches: Iterator) -> Iterator:
        import pandas as pd

        for _ in batches:
            yield pd.DataFrame({"version": [".".join(map(str, sys.version_info[:2]))]})

    found = spark.range(1).mapInPandas(interpreter, "version string").collect()[0]["version"]
    here = ".".join(map(str, sys.version_info[:2]))
    if found != here:
        raise NesError(f"workers run Python {found}, the driver {here}; set PYSPARK_PYTHON")
    return f"{spark.version}, workers run the driver's Python"


def _recognizer(config: Config) -> str:
    from nes_spark.entities import load_recognizer
    from nes_spark.entities.recognizers import GIVEN

    if config.entities.recognizer == GIVEN:
        return f"spans come with the input ({config.input.columns.mentions})"
    recognize = load_recognizer(config.entities.recognizer, config.entities)
    found = recognize(["Good morning from Vienna."])
    return f"{config.entities.recognizer} works ({len(found[0])} entity in a test sentence)"


def _embedder(config: Config) -> str:
    from nes_spark.embedding import load_embedder

    if config.embedding.model == "lsa":
        return "lsa is fitted in the job"
    if config.embedding.model.startswith("openai:"):
        if not os.environ.get(config.embedding.api_key_env):
            raise NesError(f"{config.embedding.api_key_env} is not set")
        return f"{config.embedding.model}: key is set (no request was made)"
    embedder = load_embedder(config.embedding)
    return f"{embedder.model_id}, {embedder.dimension} dimensions"


def _mlflow(config: Config, output: Path) -> str:
    from nes_spark.tracking import Tracker, store_folder

    if not config.tracking.enabled:
        return "off"
    folder = store_folder(str(output), output.resolve())
    tracker = Tracker(config.tracking.uri, config.tracking.experiment, folder)
    return f"experiment {config.tracking.experiment!r} is reachable ({tracker.experiment_id})"


def _seed(config: Config) -> str:
    found = find_seed(config.seed, None)
    if found is None:
        return f"{config.seed.env} is not set: each run folder gets one of its own in sealed/seed"
    return _strength(found[0], found[1])


def _strength(value: str, where: str) -> str:
    """Say how strong a seed is; raise where it is too weak."""
    strength = strength_of(value)
    if not strength.enough:
        raise NesError(
            f"{where}: can be guessed ({strength.form}, {strength.bits} random bits of "
            f"{MIN_BITS}); make one with {MAKE_SEED}"
        )
    mark = Secret(value).fingerprint()
    return f"{where}: {strength.form}, up to {strength.bits} random bits, fingerprint {mark}"


def _sealed_seeds(output: Path) -> list[Finding]:
    """The seeds that runs have made for themselves."""
    findings = []
    for path in sorted(output.glob("**/sealed/seed")):
        try:
            detail = _strength(path.read_text().strip(), str(path))
            findings.append(Finding("seed", True, detail))
        except (NesError, OSError, UnicodeDecodeError) as error:
            detail = str(error) if isinstance(error, NesError) else f"{path}: cannot be read"
            findings.append(Finding("seed", False, detail))
    return findings


def _disk(output: Path) -> str:
    place = output.absolute()
    while not place.exists():
        place = place.parent
    if not os.access(place, os.W_OK):
        raise NesError(f"{place} cannot be written")
    free = shutil.disk_usage(place).free
    if free < MIN_FREE_BYTES:
        raise NesError(f"{free / 2**30:.1f} GiB free at {place}; runs want at least 2 GiB")
    return f"{free / 2**30:.0f} GiB free at {place}"


def _modes(output: Path) -> list[Finding]:
    """Sealed folders and everything in them must be closed to others."""
    findings = []
    for sealed in sorted(output.glob("**/sealed")):
        files = [sealed, *sorted(sealed.rglob("*"))]
        opened = [p.name for p in files if stat.S_IMODE(p.stat().st_mode) & OWNER_ONLY]
        fix = f"run chmod -R go-rwx {sealed}"
        detail = f"{sealed}: {', '.join(opened)} open to others; {fix}" if opened else str(sealed)
        findings.append(Finding("sealed", not opened, detail))
    return findings
