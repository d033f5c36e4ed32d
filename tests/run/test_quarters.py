"""Quarter after quarter: what runs again, what starts from the last quarter, what two releases say.

Three runs of the whole pipeline, so these are slow tests.
"""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

import nes_spark as nes
from nes_spark import logs
from nes_spark.compare.comparison import compare_runs
from nes_spark.compare.overlap import overlap_of
from nes_spark.demo import calls, config_path
from nes_spark.errors import ConfigError, InputError
from nes_spark.run.pipeline import STAGES
from nes_spark.store import Store
from tests.embedding.conftest import KEY_NAME
from tests.jobs import SEED, folder_bytes
from tests.loopback import Loopback

pytestmark = pytest.mark.slow

BOTH = ("2031Q2", "2031Q3")


def settings(corpus: Path, output: Path, period: str, **more):
    overrides = {
        "input.path": str(corpus),
        "output.directory": str(output),
        "period": period,
        "mixture.n_components": 3,
        "mixture.n_init": 2,
        "mixture.warm_start": "previous",
        "swapping.sticky": True,
        "releases.plan": "pairs",
        "releases.draws": 1,
        "releases.max_swaps": 10,
        "choice.rule": "max_rate",
        "choice.combination": ["Organization", "Product"],
        "audit.linkage": False,
        "utility.judge": "off",
        "report.examples": False,
        "tracking.uri": f"sqlite:///{output}/mlflow.db",
    }
    return nes.load_config(config_path(), overrides | more)


def write(path: Path, documents: list[dict]) -> Path:
    path.write_text("".join(json.dumps(d) + "\n" for d in documents))
    return path


class Quarters:
    """One output folder, one growing input file."""

    def __init__(self, folder: Path, spark) -> None:
        self.folder, self.spark = folder, spark
        self.output = folder / "out"
        self.output.mkdir()
        self.corpus = folder / "calls.jsonl"
        made = [d for d, _ in calls(32, periods=BOTH, length=0.4)]
        self.second = [d for d in made if d["financial_quarter"] == BOTH[0]]
        self.third = [d for d in made if d["financial_quarter"] == BOTH[1]]
        self.log = io.StringIO()

    def run(self, documents, period, **more):
        write(self.corpus, documents)
        self.log.seek(0)
        self.log.truncate()
        logs.configure(structured=True, stream=self.log)
        result = nes.run(settings(self.corpus, self.output, period, **more), self.spark)
        records = [json.loads(line) for line in self.log.getvalue().splitlines()]
        ran = [r["stage"] for r in records if "stage" in r and r.get("note") == ""]
        return result, [name for name in ran if name in {s.name for s in STAGES}]


@pytest.fixture(scope="module")
def quarters(spark, tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NES_SPARK_SEED", SEED)
        patch.setenv("MLFLOW_DISABLE_TELEMETRY", "true")
        made = Quarters(tmp_path_factory.mktemp("quarters"), spark)
        made.first_run, made.ran = made.run(made.second, BOTH[0])
        yield made


def test_the_next_quarter_does_not_touch_the_last_one(quarters):
    assert quarters.ran == [stage.name for stage in STAGES]
    before = folder_bytes(quarters.output / BOTH[0] / "release")
    result, ran = quarters.run(quarters.second + quarters.third, BOTH[0])
    assert ran == ["documents"], "the file grew, the documents of the period did not"
    assert result.status == "unchanged"
    assert folder_bytes(quarters.output / BOTH[0] / "release") == before


def test_the_next_quarter_starts_from_the_last_and_is_its_own_run(quarters):
    from mlflow import MlflowClient

    # Eight calls of the quarter before are in this one again, as they are or corrected.
    again = [d | {"financial_quarter": BOTH[1]} for d in quarters.second[:8]]
    words = again[0]["turns"][1]["text"]
    again[0] = json.loads(
        json.dumps(again[0]).replace(json.dumps(words)[1:-1], "Corrected. We grew.")
    )
    documents = quarters.second + quarters.third[:8]
    listed = [d for d in documents if d["document_id"] not in {a["document_id"] for a in again}]
    result, ran = quarters.run(listed + again, BOTH[1])
    assert ran == [stage.name for stage in STAGES]
    mixture = Store(result.directory).manifest("mixture")
    assert mixture.details["warm_start"] == BOTH[0]
    assert result.mlflow_run_id != quarters.first_run.mlflow_run_id
    uri = f"sqlite:///{quarters.output}/mlflow.db"
    tags = MlflowClient(tracking_uri=uri).get_run(result.mlflow_run_id).data.tags
    assert tags["period"] == BOTH[1]

    found = overlap_of(quarters.output / BOTH[0], result.directory)
    print(found)
    assert found.shared > 0
    assert found.earlier == quarters.first_run.choice.n_swaps
    assert 0 <= found.repeated <= found.possible <= found.earlier
    assert sum(found.reasons.values()) == found.possible - found.repeated
    assert found.swapped_alike >= 2 * found.repeated

    compared = compare_runs(
        [quarters.output / period for period in BOTH], quarters.folder / "compare", track=True
    )
    run_id = compared.split("MLflow run: ")[1].strip()
    client = MlflowClient(tracking_uri=uri)
    run = client.get_run(run_id)
    assert run.data.tags["kind"] == "comparison"
    assert [m.value for m in client.get_metric_history(run_id, "compare/DR")] == [
        quarters.first_run.choice.DR, result.choice.DR,
    ]  # fmt: skip
    assert 0 < run.data.metrics["drift/jaccard/Organization"] < 1
    assert 0 < run.data.metrics["drift/divergence/Organization"] < 1
    assert 0 <= run.data.metrics["drift/weights"] <= 1
    assert "comparison/index.html" in {a.path for a in client.list_artifacts(run_id, "comparison")}
    page = (quarters.folder / "compare" / "index.html").read_text()
    entities = set(result.table("mentions")["entity"])
    shown = [e for e in entities if len(e) > 8 and e in page]
    assert not shown, "the comparison names entities"


def test_a_late_and_a_corrected_document_keep_the_ids_of_the_others(quarters):
    before = Store(quarters.output / BOTH[0]).read_pandas("chunks")
    late = quarters.third[8] | {"financial_quarter": BOTH[0], "document_id": "late"}
    result, ran = quarters.run([late, *quarters.second], BOTH[0])
    assert result.status == "published"
    assert ran == [stage.name for stage in STAGES]
    after = result.table("chunks")
    rest = after[after["document_id"] != "late"].reset_index(drop=True)
    columns = ["chunk_id", "text", "start", "end"]
    assert before[columns].equals(rest[columns])
    assert set(after["document_id"]) - set(before["document_id"]) == {"late"}


def test_a_warm_start_that_is_not_there(quarters, tmp_path):
    with pytest.raises(ConfigError, match="holds no fitted mixtures"):
        quarters.run(quarters.second, BOTH[0], **{"mixture.warm_start": str(tmp_path / "none")})


def test_overlap_needs_published_runs(tmp_path):
    with pytest.raises(InputError, match="no published run here"):
        overlap_of(tmp_path, tmp_path)


def test_no_text_is_paid_for_in_two_quarters(spark, tmp_path, monkeypatch):
    """Calls that both quarters hold, and sentences that everybody says, are embedded once."""
    monkeypatch.setenv("NES_SPARK_SEED", SEED)
    made = [d for d, _ in calls(14, periods=BOTH, length=0.3)]
    second = [d for d in made if d["financial_quarter"] == BOTH[0]]
    third = [d for d in made if d["financial_quarter"] == BOTH[1]]
    again = [d | {"financial_quarter": BOTH[1]} for d in second]
    with Loopback() as server:
        options = {
            "embedding.model": "openai:loop",
            "embedding.base_url": server.base_url,
            "embedding.api_key_env": KEY_NAME,
            "embedding.dimension": 16,
            "mixture.warm_start": None,
            "mixture.on_no_convergence": "accept",
            "gates.min_swaps": 0,
            "tracking.enabled": False,
        }
        corpus = tmp_path / "calls.jsonl"
        write(corpus, second)
        nes.run(settings(corpus, tmp_path / "out", BOTH[0], **options), spark)
        once = dict(server.paid)
        write(corpus, third + again)
        result = nes.run(settings(corpus, tmp_path / "out", BOTH[1], **options), spark)
        paid = dict(server.paid)
    assert once and set(paid.values()) == {1}, "a text was paid for twice"
    texts = set(result.table("chunks")["text"])
    assert len(texts & set(once)) > len(again), "nothing that both quarters hold"
    assert texts <= set(paid) and not texts <= set(once)
