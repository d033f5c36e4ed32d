"""An Airflow DAG: anonymize last quarter's calls, then compare the last two releases.

Copy it to the DAG folder and set the Airflow variables named below. The seed and the key of the
ledger are secrets of the worker's environment (NES_SPARK_SEED, NES_SPARK_LEDGER_KEY), never
variables of Airflow, which shows and logs them.

Exit codes of nes-spark: 0 done or nothing to do, 2 configuration, 3 input, 4 a gate refused,
5 infrastructure. No retry mends 2, 3 and 4: they fail the task at once.
"""

from __future__ import annotations

import subprocess
from datetime import datetime, timedelta

from airflow.exceptions import AirflowException, AirflowFailException
from airflow.sdk import Variable, dag, task

REASONS = {
    2: "the configuration is wrong",
    3: "the input cannot be used",
    4: "a gate refused the release; see its report",
}


def call(command: list[str]) -> None:
    """Run a command; retry (by raising) only what a retry can mend."""
    done = subprocess.run(command, check=False)
    if done.returncode in REASONS:
        raise AirflowFailException(REASONS[done.returncode])
    if done.returncode:
        raise AirflowException(f"exit code {done.returncode}; the next attempt resumes")


def quarter_before(day: datetime, back: int = 1) -> str:
    """Return the quarter that lies ``back`` quarters before the day's, e.g. 2020Q3."""
    number = 4 * day.year + (day.month - 1) // 3 - back
    return f"{number // 4}Q{number % 4 + 1}"


@dag(
    schedule="0 2 15 1,4,7,10 *",  # two weeks after a quarter ends, at night
    start_date=datetime(2020, 1, 1),
    catchup=False,
    max_active_runs=1,
    default_args={"retries": 3, "retry_delay": timedelta(minutes=20)},
)
def nes_spark_quarterly() -> None:
    """Release last quarter, and compare it with the one before."""

    @task
    def release(logical_date: datetime | None = None) -> str:
        assert logical_date is not None
        period = quarter_before(logical_date)
        call(
            [
                "spark-submit",
                "--master", Variable.get("nes_spark_master"),
                "--archives", Variable.get("nes_spark_environment") + "#environment",
                "--conf", "spark.pyspark.python=./environment/bin/python",
                Variable.get("nes_spark_jobs") + "/run_pipeline.py",
                "--conf", Variable.get("nes_spark_conf"),
                "--input", Variable.get("nes_spark_input"),
                "--output", Variable.get("nes_spark_output"),
                "--period", period,
                "--log-json",
            ]
        )  # fmt: skip
        return period

    @task
    def compare(period: str) -> None:
        year, quarter = int(period[:4]), int(period[5])
        before = quarter_before(datetime(year, 3 * quarter, 1))
        output = Variable.get("nes_spark_output")
        call(
            ["nes-spark", "compare", f"{output}/{before}", f"{output}/{period}",
             "--output", f"/tmp/nes_spark_compare_{period}"]
        )  # fmt: skip

    compare(release())


nes_spark_quarterly()
