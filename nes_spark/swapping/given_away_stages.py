"""Spark: words of names that a chunk gave away and that still stand in it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from nes_spark.entities.mentions import Mention
from nes_spark.schemas import GIVEN_AWAY, arrow_schema
from nes_spark.swapping.rewriting import given_by
from nes_spark.swapping.short_forms import given_away

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

#: Categories of figures: what comes in for one may make a name with the word before it.
_FIGURES = ("Quantity", "Date")


def _new_figures(edits: Iterable[Mapping[str, Any]] | None) -> set[int]:
    """Return where figures that came in for others end in the text after all edits."""
    ends, shift = set(), 0
    for edit in sorted(edits or (), key=lambda e: (e["start"], e["end"])):
        shift += len(edit["new"]) - (edit["end"] - edit["start"])
        if edit["category"] in _FIGURES and edit["new"] != edit["old"]:
            ends.add(edit["end"] + shift)
    return ends


def find_given_away(
    changed: DataFrame, chunks: DataFrame, mentions: DataFrame, must_change: Mapping[str, str]
) -> DataFrame:
    """Search changed chunks for distinctive words of names of their own that were exchanged.

    Parameters
    ----------
    changed : pyspark.sql.DataFrame
        ``chunk_id``, ``text`` as it is to be released, and ``edits``: rows of table REWRITES that
        a release is made of.
    chunks, mentions : pyspark.sql.DataFrame
        Tables CHUNKS and MENTIONS.
    must_change : mapping of str to str
        Category -> placeholder: names of these count as exchanged too.

    Returns
    -------
    pyspark.sql.DataFrame
        Table :data:`~nes_spark.schemas.GIVEN_AWAY`; empty when nothing is left.
    """
    from pyspark.sql import functions as F

    placeholders = dict(must_change)

    columns = ("chunk_id", "text", "edits", "before", "mentions")
    schema = arrow_schema(GIVEN_AWAY.ddl)

    def search(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            rows = []
            lists = (batch.column(name).to_pylist() for name in columns)
            for chunk, text, edits, before, told in zip(*lists, strict=True):
                found = [
                    Mention(m["start"], m["end"], m["category"], m["surface"], m["entity"])
                    for m in told or ()
                ]
                replaced = {
                    (m.category, m.entity): placeholders[m.category]
                    for m in found
                    if m.category in placeholders
                }
                mapping = replaced | given_by(edits)
                left = given_away(before, found, mapping, text, figures=_new_figures(edits))
                rows += [(chunk, word) for word in left]
            named = [dict(zip(GIVEN_AWAY.names, row, strict=True)) for row in rows]
            yield pa.RecordBatch.from_pylist(named, schema=schema)

    told = mentions.groupBy("chunk_id").agg(
        F.collect_list(F.struct("start", "end", "category", "surface", "entity")).alias("mentions")
    )
    return (
        changed.select("chunk_id", "text", "edits")
        .join(chunks.select("chunk_id", F.col("text").alias("before")), "chunk_id")
        .join(told, "chunk_id", "left")
        .select(*columns)
        .mapInArrow(search, GIVEN_AWAY.ddl)
    )
