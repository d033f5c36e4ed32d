"""``nes-spark audit`` about all released chunks and whole documents of a finished run."""

import json
import shutil

import pytest

from nes_spark.run.language_models import audit_run
from nes_spark.run.published import PublishedRun, configuration_of
from nes_spark.swapping.ledger import read_ledger, release_id
from tests.audit.server import ModelServer

pytestmark = pytest.mark.usefixtures("seeded")


@pytest.fixture(scope="module")
def run(whole, tmp_path_factory):
    """A copy of a finished run, which an audit writes to."""
    folder = tmp_path_factory.mktemp("asked") / "all"
    shutil.copytree(whole.directory, folder)
    return folder


def asked(run, spark, monkeypatch, name, **more):
    """Audit with a model on the loopback; return texts asked about and the result."""
    monkeypatch.setenv("TEST_MODEL_KEY", "key-of-the-tests")
    with ModelServer() as server:
        model = {"name": name, "model": "m", "base_url": server.base_url}
        audit = {"models": [model | {"api_key_env": "TEST_MODEL_KEY"}], **more}
        config = configuration_of(run, None, {f"audit.{k}": v for k, v in audit.items()})
        (found,) = audit_run(run, config, spark, tell=lambda line: None)
        texts = {r.body["messages"][-1]["content"].partition("\n\n")[2] for r in server.requests}
    return texts, found


@pytest.mark.usefixtures("plain_report")
def test_documents_as_released_and_then_chunks(run, spark, monkeypatch):
    published = PublishedRun(run)
    chunks = published.store.read_pandas("chunks", ["chunk_id", "document_id", "text"])
    released = dict(published.released_texts())
    of = {
        r["chunk_id"]: release_id(r) for r in read_ledger(published.store, published.config.ledger)
    }
    chunks["after"] = [released.get(of.get(c, ""), "") for c in chunks["chunk_id"]]
    shown = chunks[chunks["after"] != ""].sort_values("chunk_id")
    expected = {
        "\n\n".join(part[column])
        for _, part in shown.groupby("document_id")
        for column in ("text", "after")
    }
    texts, found = asked(run, spark, monkeypatch, "readers", about="documents", answer="name")
    assert texts == expected
    assert found.chunks == found.documents == shown["document_id"].nunique()

    texts, found = asked(
        run, spark, monkeypatch, "others", about="chunks", answer="name", sample=20
    )
    assert found.chunks == 20
    assert texts <= {*shown["text"], *shown["after"]}
    # What a model of another name has said of the same release stays.
    record = json.loads((run / "release" / "release.json").read_text())
    told = {r["model"]: r["about"] for r in record["audit"]["language_models"]}
    assert told == {"readers": "documents", "others": "chunks"}
