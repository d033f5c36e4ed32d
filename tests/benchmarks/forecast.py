"""How near a forecast comes: ``python -m tests.benchmarks.forecast CONF --input PATH``.

Forecasts a run from a sample, then runs all of it, each in a process of its own, and prints both:
wall time, processor time of all processes, peak memory and the size of the release space. Processor
time can be compared on a machine that does other work too; wall time on an idle one only.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.jobs import seed_named


class _Steps(logging.Handler):
    """Notes what each step took, as the log tells it, with processor time since the last line."""

    def __init__(self, meter) -> None:
        super().__init__()
        self.meter, self.last, self.found = meter, meter.processor(), {}

    def emit(self, record: logging.LogRecord) -> None:
        facts = getattr(record, "facts", {})
        name = f"release: {facts['part']}" if "part" in facts else facts.get("stage")
        if name is None:
            return
        now = self.meter.processor()
        seconds = facts["seconds"]
        if name == "release":  # its parts were told before
            seconds -= sum(s for n, (s, _) in self.found.items() if n.startswith("release: "))
            name = "release: other"
        self.found[name] = (seconds, now - self.last)
        self.last = now


def _run(config) -> dict:
    import nes_spark as nes
    from nes_spark import logs
    from nes_spark.run.forecast import Meter, release_space
    from nes_spark.store import Store

    logs.configure(stream=sys.stderr)
    began = time.perf_counter()
    with Meter() as meter:
        steps = _Steps(meter)
        logs.LOGGER.addHandler(steps)
        result = nes.run(config)
        seconds, processor = time.perf_counter() - began, meter.processor()

    space = release_space(Store(result.directory), config.releases)
    steps.found["start"] = (seconds - sum(s for s, _ in steps.found.values()), 0.0)
    return {
        "seconds": seconds, "processor": processor, "steps": steps.found, "space": space,
        "memory": meter.peaks,
    }  # fmt: skip


def _forecast(config, sample: str) -> dict:
    from nes_spark import logs
    from nes_spark.run.forecast import forecast

    logs.configure(stream=sys.stderr)
    found = forecast(config, sample)
    sys.stderr.write(f"{found}\n")
    return {
        "seconds": found.seconds, "processor": found.processor, "space": found.space,
        "memory": found.memory,
        "steps": {s.name: (s.seconds, s.processor) for s in found.steps},
    }  # fmt: skip


def main() -> None:
    """Forecast, run, compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("conf")
    parser.add_argument("--input", required=True)
    parser.add_argument("--sample", default="1%")
    parser.add_argument("--only", choices=("forecast", "run"), help="in this process, as JSON")
    options = parser.parse_args()
    if options.only:
        import nes_spark as nes

        os.environ.setdefault("NES_SPARK_SEED", seed_named("forecast"))
        with tempfile.TemporaryDirectory() as folder:
            changes = {"input.path": options.input, "output.directory": f"{folder}/out"}
            changes["tracking.uri"] = f"sqlite:///{folder}/mlflow.db"
            config = nes.load_config(options.conf, changes)
            made = _run(config) if options.only == "run" else _forecast(config, options.sample)
        print(json.dumps(made))
        return
    found = {}
    for what in ("forecast", "run"):
        words = [sys.executable, "-m", "tests.benchmarks.forecast", options.conf]
        words += ["--input", options.input, "--sample", options.sample, "--only", what]
        done = subprocess.run(words, stdout=subprocess.PIPE, text=True, check=True)
        found[what] = json.loads(done.stdout.splitlines()[-1])
        load = os.getloadavg()[0]
        print(f"{what}: {found[what]['seconds']:.0f} s, load {load:.1f}", flush=True)
    told, was = found["forecast"], found["run"]
    print(f"{Path(options.conf).name}, sample {options.sample}")
    print("step | forecast, s | run, s | forecast, processor s | run, processor s")
    for name, (seconds, processor) in told["steps"].items():
        real = was["steps"].get(name, (0.0, 0.0))
        print(f"{name} | {seconds:.1f} | {real[0]:.1f} | {processor:.1f} | {real[1]:.1f}")
    print("what | forecast | run | forecast / run")
    for key in ("seconds", "processor"):
        print(f"{key} | {told[key]:.0f} | {was[key]:.0f} | {told[key] / was[key]:.2f}")
    for kind, size in was["memory"].items():
        mine = told["memory"].get(kind, 0.0)
        print(f"{kind}, GiB | {mine / 2**30:.2f} | {size / 2**30:.2f} | {mine / size:.2f}")
    for name, count in was["space"].items():
        mine = told["space"][name]
        print(f"{name} | {mine:,} | {count:,} | {mine / count if count else 0:.2f}")


if __name__ == "__main__":
    main()
