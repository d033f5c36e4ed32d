"""Documents from memory: the same tables as from files, and nothing stays behind."""

import json

import numpy as np
import pandas as pd
import pytest

import nes_spark as nes
from nes_spark.demo import config_path
from nes_spark.errors import InputError
from nes_spark.run.given import FOLDER, given_documents
from nes_spark.text.reading_stages import read_documents
from tests.run.test_pipeline import records

COUNT = 4


@pytest.fixture
def config(tmp_path):
    return nes.load_config(config_path(), {"output.directory": str(tmp_path / "out")})


def read(spark, config):
    documents, refused = read_documents(
        spark, config.input, config.presentation, config.identifiers
    )
    assert refused.count() == 0
    rows = documents.toPandas().sort_values("document_id").reset_index(drop=True)
    return json.loads(rows.to_json(orient="records"))


def test_a_table_is_read_like_a_file(spark, config, tmp_path):
    corpus = tmp_path / "calls.jsonl"
    corpus.write_text("".join(json.dumps(r) + "\n" for r in records(COUNT)))
    update = {"input": config.input.model_copy(update={"path": str(corpus)})}
    from_file = read(spark, config.model_copy(update=update))
    frame = pd.DataFrame(records(COUNT))
    with given_documents(config, frame) as ready:
        assert read(spark, ready) == from_file
        folder = tmp_path / "out" / "all" / FOLDER[0] / FOLDER[1]
        assert folder.stat().st_mode & 0o077 == 0
        assert ready.input.format == "parquet"
    assert not folder.exists()
    table = spark.read.json(str(corpus))
    with given_documents(config, table) as ready:
        assert read(spark, ready) == from_file
    assert len(from_file) == COUNT


def test_equal_tables_are_known_again(config, tmp_path):
    kept = []
    for _ in range(2):
        with given_documents(config, pd.DataFrame(records(COUNT), index=range(5, 9))) as ready:
            kept.append((tmp_path / ready.input.path / "documents.parquet").read_bytes())
    assert kept[0] == kept[1]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ([{"document_id": 1}], "must be a pandas or Spark DataFrame, got list"),
        (pd.DataFrame({"document_id": []}), "at least one row"),
        (pd.DataFrame({"a": ["x", 3, np.nan], "b": 1}), r"column\(s\) a hold values of several"),
    ],
)
def test_what_is_no_table_is_refused_and_not_quoted(config, tmp_path, given, words):
    with pytest.raises(InputError, match=words) as caught, given_documents(config, given):
        pass
    assert "'x'" not in str(caught.value)
    assert not (tmp_path / "out" / "all" / FOLDER[0] / FOLDER[1]).exists()


def test_it_is_gone_when_the_run_fails(config, tmp_path):
    frame = pd.DataFrame(records(COUNT))
    with pytest.raises(RuntimeError), given_documents(config, frame):
        raise RuntimeError
    assert not (tmp_path / "out" / "all" / FOLDER[0] / FOLDER[1]).exists()


def test_remote_outputs_are_refused(config):
    update = {"output": config.output.model_copy(update={"directory": "s3://bucket/out"})}
    remote = config.model_copy(update=update)
    frame = pd.DataFrame(records(1))
    with (
        pytest.raises(InputError, match="output is a local folder"),
        given_documents(remote, frame),
    ):
        pass
