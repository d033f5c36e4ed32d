"""``nes-spark prepare``: a session that does a little of everything; Java keeps its classes."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from nes_spark import sharing
from nes_spark.config import SparkConfig
from nes_spark.errors import InfrastructureError
from nes_spark.session import JAVA_OPTIONS, run_session, spark_log

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def prepare() -> Path:
    """Keep the classes that sessions on this machine load (:mod:`nes_spark.sharing`).

    Starts a session of its own, uses it, and waits for its Java to write them: half a minute.

    Returns
    -------
    pathlib.Path
        The archive.

    Raises
    ------
    InfrastructureError
        When Java is missing or too old, Spark does not start, a session is active in this process,
        or the archive cannot be written.
    """
    from pyspark.sql import SparkSession

    if spark_log() is not None or SparkSession.getActiveSession() is not None:
        raise InfrastructureError("a Spark session is active here; prepare in a process of its own")
    with sharing.writing() as (file, option), tempfile.TemporaryDirectory() as folder:
        file.unlink(missing_ok=True)  # Java cannot use one and write one
        config = SparkConfig(master="local[2]", settings={JAVA_OPTIONS: option})
        with run_session(config, None, None, short=True) as session:
            _exercise(session, Path(folder))
    return file


def _exercise(session: SparkSession, folder: Path) -> None:
    """Do what runs do: read and write, join, group, sort, number, and ask Python workers."""
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    lines = folder / "lines.jsonl"
    lines.write_text('{"id": 1, "words": ["a", "b"], "of": {"k": [1]}}\n' * 5)
    read = session.read.text(str(lines)).select(
        F.from_json("value", "id long, words array<string>, of map<string, array<int>>").alias("r")
    )
    rows = session.range(50).withColumn("of", F.col("id") % 7)
    for name, frame in (("rows", rows), ("read", read.select("r.*"))):
        frame.write.mode("overwrite").parquet(str(folder / name))
    rows, read = (session.read.parquet(str(folder / name)) for name in ("rows", "read"))
    place = F.row_number().over(Window.partitionBy("of").orderBy("id"))
    ranked = rows.withColumn("place", place).where("place <= 3").cache()
    small = session.createDataFrame([(1, "x"), (2, "y")], "of long, name string")
    joined = ranked.join(F.broadcast(small), "of").join(rows.select("id"), "id", "left_semi")
    joined.groupBy("of").agg(
        F.count("*"), F.collect_list("name"), F.collect_set(F.struct("id", "name"))
    ).orderBy("of").collect()
    words = read.select(
        F.explode("words").alias("w"), F.sha2(F.col("id").cast("string"), 256), F.xxhash64("id")
    )
    words.unionByName(words).distinct().toPandas()
    rows.mapInPandas(lambda frames: frames, rows.schema).mapInArrow(
        lambda batches: batches, rows.schema
    ).repartition(3, "of").groupBy("of").applyInPandas(lambda frame: frame, rows.schema).collect()
    ranked.unpersist()
