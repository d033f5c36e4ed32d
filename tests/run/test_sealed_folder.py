"""Nothing of the sealed folder is elsewhere: a scan over all that a run leaves behind."""

from __future__ import annotations

import io
import json
import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest
from bokeh.resources import Resources

import nes_spark as nes
from nes_spark import logs
from nes_spark.config import LedgerConfig
from nes_spark.demo import calls, config_path
from nes_spark.entities.clues import CLUE
from nes_spark.entities.terms import TERM
from nes_spark.errors import NesError
from nes_spark.swapping.ledger import generate_key, read_ledger
from tests.audit.server import ModelServer
from tests.jobs import seed_named

ROOT = Path(__file__).resolve().parents[2]
CORPORA = Path(os.environ.get("NES_SPARK_CORPORA", ROOT.parent / "shared" / "corpora"))
SEED = seed_named("scan")
API_KEY = "sk-secret-key-of-the-scan-5521"
#: A shorter name may be an ordinary word of the program or of a page.
LENGTH = 9
LIBRARY = "\n".join(Resources(mode="inline", components=["bokeh"]).js_raw)


class Run:
    """A finished run with all that it said and left behind, and what must not be in there."""

    def __init__(self, config, spark, log: io.StringIO, ledger_key: str) -> None:
        self.result = nes.run(config, spark)
        self.said = [str(self.result)]
        self.run = Path(self.result.directory)
        self.output = Path(config.output.directory)
        self.ledger_key = ledger_key
        self._fail(config, spark)
        self._audit(spark)
        self.said.append(log.getvalue())

    def _fail(self, config, spark) -> None:
        """Collect the words of failures: a gate, a worker, a full disk, a wrong key."""
        content = config.model_dump(mode="json")
        elsewhere = self.output.parent / "failing"
        shutil.copytree(self.run, elsewhere / "all")
        changed = {
            "gates": content["gates"] | {"min_swaps": 10**6},
            "output": {"directory": str(elsewhere)},
            "tracking": content["tracking"] | {"uri": f"sqlite:///{self.output}/mlflow.db"},
        }
        with pytest.raises(NesError) as caught:
            nes.run(nes.config.build_config({**content, **changed}, "test"), spark)
        self.said.append(str(caught.value))
        os.environ["WRONG_LEDGER_KEY"] = generate_key()
        from nes_spark.run.runner import rotate_ledger_key

        with pytest.raises(NesError) as caught:
            rotate_ledger_key(str(self.run), "WRONG_LEDGER_KEY", "WRONG_LEDGER_KEY")
        self.said.append(str(caught.value))
        broken = elsewhere / "all" / "sealed" / "ledger"
        part = next(broken.glob("*.enc"))
        part.write_bytes(part.read_bytes()[:-7])
        from nes_spark.run.inverting import invert_release

        with pytest.raises(NesError) as caught:
            invert_release(elsewhere / "all", elsewhere / "restored.jsonl")
        self.said.append(str(caught.value))
        shutil.rmtree(elsewhere)

    def _audit(self, spark) -> None:
        from nes_spark.run.language_models import audit_run, results_table
        from nes_spark.run.published import configuration_of

        with ModelServer() as server:
            model = {
                "name": "loopback", "model": "test-model", "base_url": server.base_url,
                "api_key_env": "SCAN_MODEL_KEY",
            }  # fmt: skip
            overrides = {
                "audit.models": [model],
                "audit.draws": 1,
                "audit.bootstrap": 100,
                # not every corpus lists tickers
                "audit.answer": "name",
                "audit.prompt": "Whose call is this? Reply ONLY with a name.\n\n{text}",
            }
            config = configuration_of(self.run, None, overrides)
            self.said.append(
                results_table(audit_run(self.run, config, spark, tell=self.said.append))
            )

    def ledger(self) -> list[dict]:
        return list(read_ledger(self.run / "sealed" / "ledger", LedgerConfig()))

    def outside(self) -> Iterator[tuple[str, str]]:
        """(place, content) of everything but ``sealed`` and ``stages``, which are the owner's."""
        for path in sorted(self.output.rglob("*")):
            inside = path.relative_to(self.output).parts
            if not path.is_file() or {"sealed", "stages"} & set(inside):
                continue
            if path.suffix == ".parquet":
                yield str(path), pd.read_parquet(path).to_json(orient="records", force_ascii=False)
            content = path.read_bytes().decode("utf-8", "replace")
            if path.suffix == ".html":
                # The charting library in the page knows months and time zones.
                content = content.replace(LIBRARY, "")
            yield str(path), content
        for number, text in enumerate(self.said):
            yield f"said {number}", text


def sentences_changed(row: dict, original: str) -> list[str]:
    """Sentences of the original chunk in which something was exchanged."""
    olds = [e["old"] for e in row["edits"]]
    parts = re.split(r"(?<=[.!?])\s+", original)
    return [p for p in parts if len(p) > 30 and any(old and old in p for old in olds)]


def scan(run: Run, documents: pd.DataFrame) -> dict[str, int]:
    """Assert that nothing secret is outside; return how many of each were looked for."""
    ledger = run.ledger()
    chunks = run.result.table("chunks").set_index("chunk_id")
    ids = [row["chunk_id"] for row in ledger]
    assert len(ids) == len(chunks)
    original = [
        s for row in ledger for s in sentences_changed(row, chunks.loc[row["chunk_id"], "text"])
    ]
    released = " ".join(
        pd.read_parquet(sorted((run.run / "release").glob("chunks*.parquet")))["text"]
    )
    # A sentence that another document has word for word is in the release with good reason.
    original = [s for s in dict.fromkeys(original) if s not in released]
    suppressed = []
    for row in documents.itertuples():
        names = [i["value"] for i in row.identifiers if len(i["value"]) >= LENGTH]
        for part in re.split(r"(?<=[.!?])\s+", row.text):
            if len(part) > 30 and any(name in part for name in names):
                suppressed.append(part)
    # Terms and telling words are words that a report uses too ("stability"); their sentences are
    # looked for above.
    words = (TERM, CLUE)
    edits = [e for row in ledger for e in row["edits"] if e["category"] not in words]
    entities = {e["old_entity"] for e in edits}
    entities = {e for e in entities if e and len(e) >= LENGTH}
    public_ids = {row["release_document_id"] for row in ledger}
    keys = [SEED, run.ledger_key, API_KEY]
    assert any("mlartifacts" in place for place, _ in run.outside())
    assert any(place.endswith("mlflow.db") for place, _ in run.outside())
    assert ids
    assert original
    assert suppressed
    assert entities
    looked = 0
    for place, content in run.outside():
        looked += 1
        for key in keys:
            assert key not in content, f"a key is in {place}"
        for secret in (*original, *suppressed):
            assert secret not in content, f"an original sentence is in {place}"
        found = [i for i in ids if f"{i}" in content]
        assert not found, f"{len(found)} chunk ids are in {place}"
        if "/release/" not in place:
            named = [e for e in entities if e in content]
            assert not named, f"{len(named)} entities of the ledger are in {place}"
            # The pages name typical chunks of the release; that is no way back to the originals.
            if not place.endswith(".html"):
                assert not [i for i in public_ids if i in content], f"ids of the release in {place}"
    return {
        "places": looked, "chunk ids": len(ids), "original sentences": len(original),
        "suppressed sentences": len(suppressed), "entities": len(entities),
    }  # fmt: skip


@pytest.fixture
def keys(monkeypatch):
    key = generate_key()
    monkeypatch.setenv("NES_SPARK_SEED", SEED)
    monkeypatch.setenv("NES_SPARK_LEDGER_KEY", key)
    monkeypatch.setenv("SCAN_MODEL_KEY", API_KEY)
    monkeypatch.setenv("MLFLOW_DISABLE_TELEMETRY", "true")
    # Without a server the store lies beside the run, where the scan looks.
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    return key


def run_of(conf, spark, tmp_path, key, **overrides) -> Run:
    log = io.StringIO()
    logs.configure(structured=True, stream=log)
    output = tmp_path / "out"
    output.mkdir()
    config = nes.load_config(
        conf,
        {
            "output.directory": str(output),
            "ledger.encrypt": True,
            "report.examples": False,
            "audit.bootstrap": 100,
            "audit.swap_aware_draws": 1,
            "utility.judge_texts": 100,
            **overrides,
        },
    )
    return Run(config, spark, log, key)


@pytest.mark.slow
def test_nothing_of_the_sealed_folder_is_elsewhere(spark, tmp_path, keys):
    corpus = tmp_path / "calls.jsonl"
    # Ids that cannot be parts of other numbers, so that finding one means something.
    documents = [d | {"document_id": f"ident-{d['document_id']}-x"} for d, _ in calls(16)]
    corpus.write_text("".join(json.dumps(d) + "\n" for d in documents))
    overrides = {"input.path": str(corpus), "mixture.n_components": 3}
    overrides |= {"releases.plan": "pairs", "choice.rule": "line", "releases.max_swaps": 15}
    overrides |= {"releases.draws": 1}
    run = run_of(config_path(), spark, tmp_path, keys, **overrides)
    print(scan(run, run.result.table("documents")))


@pytest.mark.slow
@pytest.mark.skipif(not (CORPORA / "earnings21").is_dir(), reason=f"no corpora in {CORPORA}")
def test_nothing_of_the_sealed_folder_is_elsewhere_on_real_calls(spark, tmp_path, keys):
    overrides = {"input.path": str(CORPORA / "earnings21" / "calls.jsonl")}
    run = run_of(ROOT / "conf" / "earnings21.yaml", spark, tmp_path, keys, **overrides)
    print(scan(run, run.result.table("documents")))


def test_the_scan_finds_what_it_looks_for(tmp_path):
    row = {"edits": [{"old": "Orion", "old_entity": "Orion Works"}]}
    text = "We went on. Then Orion delivered the second of the three plants. Good."
    found = sentences_changed(row, text)
    assert found == ["Then Orion delivered the second of the three plants."]
