"""Spark: chunks summarised by a language model, where no exchange hides whose they are.

The questions go through the client of the audit: the same budget, answers that are kept, retries
and rates. A summary that holds a name of its chunk is refused
(:func:`nes_spark.swapping.summaries.accepted`).
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

import pandas as pd

from nes_spark.audit.billing import Estimate
from nes_spark.audit.llm_stages import put_questions
from nes_spark.config import AuditConfig
from nes_spark.entities.clues import CLUE
from nes_spark.entities.mentions import Mention
from nes_spark.swapping.summaries import BRIEF, NAMELESS, NOTHING, accepted

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_LOGGER = logging.getLogger("nes_spark")


def summarise(
    wanted: DataFrame,
    chunks: DataFrame,
    mentions: DataFrame,
    config: AuditConfig,
    store_path: str,
    shown: DataFrame | None = None,
    on_estimate: Callable[[Estimate], None] | None = None,
    keep: Callable[[DataFrame], DataFrame] | None = None,
    every_word: bool = False,
) -> DataFrame:
    """Summarise chunks.

    Parameters
    ----------
    wanted : pyspark.sql.DataFrame
        ``chunk_id`` of the chunks.
    chunks, mentions : pyspark.sql.DataFrame
        Tables CHUNKS and MENTIONS: what no summary may hold.
    config : AuditConfig
        One model, whose ``max_tokens`` is the longest summary; the prompt, with ``{text}``; the
        budget. Equal texts are asked about once.
    store_path : str
        Folder of the answer store.
    shown : pyspark.sql.DataFrame, optional
        ``chunk_id, text``: what the model reads in the place of the chunk, as it is released. A
        chunk without text there has no summary.
    on_estimate : callable, optional
        Told the estimate before anything is asked.
    keep : callable, optional
        Persists the result, for the caller to let go of; Spark's own ``persist`` by default.
    every_word : bool, default False
        As for :func:`nes_spark.swapping.summaries.without_terms`: there are telling words.

    Returns
    -------
    pyspark.sql.DataFrame
        ``chunk_id, summary``: chunks whose summary was accepted; persisted.

    Raises
    ------
    ConfigError, BudgetExceeded, InfrastructureError
        As :func:`nes_spark.audit.llm_stages.put_questions`.
    """
    from pyspark.sql import functions as F

    mine = chunks.join(wanted, "chunk_id", "left_semi")
    read = F.col("text")
    if shown is not None:
        told = shown.where("text <> ''").select("chunk_id", F.col("text").alias("shown"))
        mine, read = mine.join(told, "chunk_id"), F.col("shown")
    mine = mine.select(
        *("chunk_id", "document_id", "metadata", "text"),
        read.alias("shown"),
        F.sha2(read, 256).alias("digest"),
    ).persist()
    schema = "chunk_id string, summary string"
    if mine.isEmpty():
        mine.unpersist()
        return wanted.sparkSession.createDataFrame([], schema)
    questions = mine.select("digest", F.col("shown").alias("text")).dropDuplicates(["digest"])
    asked = put_questions(questions, config, store_path, on_estimate=on_estimate)
    (model,) = config.models
    # An answer that was cut off, or a refusal, is no summary.
    replies = [
        (digest, record["content"])
        for digest, record in asked.answers(model.name).items()
        if record["finish_reason"] == "stop" and not record["refusal"]
    ]
    answers = wanted.sparkSession.createDataFrame(replies, "digest string, content string")

    def judge(batches: Iterable[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        for batch in batches:
            rows = []
            columns = ("chunk_id", "text", "shown", "found", "others", "elsewhere", "content")
            for chunk_id, text, shown, found, others, elsewhere, content in zip(
                *(batch[c] for c in columns), strict=True
            ):
                names = [
                    Mention(m["start"], m["end"], m["category"], m["surface"], m["entity"])
                    for m in (found if found is not None else ())
                ]
                summary = accepted(
                    text,
                    names,
                    content,
                    shown,
                    others if others is not None else (),
                    elsewhere if elsewhere is not None else (),
                    every_word,
                )
                if summary is not None:
                    rows.append((chunk_id, summary))
            yield pd.DataFrame(rows, columns=["chunk_id", "summary"])

    known = mentions.join(mine.select("chunk_id"), "chunk_id", "left_semi")
    known = known.groupBy("chunk_id").agg(
        F.collect_list(F.struct("start", "end", "category", "surface", "entity")).alias("found")
    )
    # A model that recognises a text may bring in what it remembers of the rest: names of the
    # document, and what told whose texts of its secret are.
    same = chunks.select("chunk_id", "document_id").join(mine, "document_id", "left_semi")
    named = mentions.where(~F.col("category").isin([*NAMELESS])).join(same, "chunk_id")
    rest = named.groupBy("document_id").agg(F.collect_set("surface").alias("others"))
    secret = chunks.select("chunk_id", "metadata").join(mine, "metadata", "left_semi")
    told_by = mentions.where(F.col("category") == CLUE).join(secret, "chunk_id")
    clues = told_by.groupBy("metadata").agg(F.collect_set("surface").alias("elsewhere"))
    judged = (
        mine.join(answers, "digest")
        .join(known, "chunk_id", "left")
        .join(rest, "document_id", "left")
        .join(clues, "metadata", "left")
        .mapInPandas(judge, schema)
    )
    done = judged.persist() if keep is None else keep(judged)
    asked_about, kept = mine.count(), done.count()
    mine.unpersist()
    _LOGGER.info(
        "summaries: %d chunks, %d without one (refused, or it held a name)",
        asked_about,
        asked_about - kept,
    )
    return done


def retell(
    listed: DataFrame,
    released: DataFrame,
    chunks: DataFrame,
    mentions: DataFrame,
    config_of: Callable[[bool], AuditConfig],
    store_path: str,
    keep: Callable[[DataFrame], DataFrame] | None = None,
    every_word: bool = False,
) -> DataFrame:
    """Summarise listed chunks as they would be released, brief ones once more.

    Parameters
    ----------
    listed : pyspark.sql.DataFrame
        ``chunk_id, instead``: ``nothing``, ``brief`` or ``summary``
        (:mod:`nes_spark.swapping.summaries`).
    released : pyspark.sql.DataFrame
        ``chunk_id, text``: what the model reads, so that nothing comes back that was replaced.
    chunks, mentions, store_path, keep, every_word
        As for :func:`summarise`.
    config_of : callable
        Whether summaries are to be brief -> the configuration of their model and prompt.

    Returns
    -------
    pyspark.sql.DataFrame
        `listed` with ``summary``, null for a chunk that has none: one in whose place nothing is to
        come, or whose summary, or brief summary, was refused.

    Raises
    ------
    ConfigError, BudgetExceeded, InfrastructureError
        As :func:`summarise`.
    """
    from pyspark.sql import functions as F

    def ask(wanted: DataFrame, shown: DataFrame, brief: bool) -> DataFrame:
        return summarise(
            wanted.select("chunk_id"),
            chunks,
            mentions,
            config_of(brief),
            store_path,
            shown,
            keep=keep,
            every_word=every_word,
        )

    wanted = listed.where(F.col("instead") != NOTHING)
    told = ask(wanted, released, brief=False)
    again = wanted.where(F.col("instead") == BRIEF)
    if again.isEmpty():  # as a rule: what is written then is planned without them
        return listed.join(told, "chunk_id", "left")
    brief = ask(again, told.select("chunk_id", F.col("summary").alias("text")), brief=True)
    rest = told.join(again, "chunk_id", "left_anti")
    return listed.join(rest.unionByName(brief), "chunk_id", "left")


__all__ = ["retell", "summarise"]
