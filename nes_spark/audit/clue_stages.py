"""Spark: language models say which words of a released text told them whose it is."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from nes_spark.audit.billing import Estimate
from nes_spark.audit.clues import parse_clues
from nes_spark.audit.llm_stages import put_questions
from nes_spark.config import AuditConfig

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_LOGGER = logging.getLogger("nes_spark")
#: What the question holds, and the columns that are put there.
_FILLED = {"{answer}": "metadata", "{text}": "text"}
_SLOTS = re.compile(r"(\{answer\}|\{text\})")


def ask_for_clues(
    named: DataFrame,
    config: AuditConfig,
    store_path: str,
    paid: float = 0.0,
    on_estimate: Callable[[Estimate], None] | None = None,
) -> DataFrame:
    """Ask each model which words told it whose the texts are that it named.

    Parameters
    ----------
    named : pyspark.sql.DataFrame
        ``model, chunk_id, metadata, text``: whose the chunk is, and as the model saw it.
    config : AuditConfig
        The models, ``clue_prompt``, ``clue_tokens`` and the budget.
    store_path : str
        Folder of the answer store.
    paid : float, optional
        What of the budget is used already.
    on_estimate : callable, optional
        Told the estimate of each model before it is asked.

    Returns
    -------
    pyspark.sql.DataFrame
        ``chunk_id, clue``.

    Raises
    ------
    ConfigError, BudgetExceeded, InfrastructureError
        As :func:`nes_spark.audit.llm_stages.put_questions`.
    """
    from pyspark.sql import functions as F

    # both at once: what looks like a slot in a name or a text is none
    parts = _SLOTS.split(config.clue_prompt)
    filled = [F.col(_FILLED[part]) if part in _FILLED else F.lit(part) for part in parts]
    mine = named.withColumn("question", F.concat(*filled))
    mine = mine.withColumn("digest", F.sha2("question", 256))
    rows: list[tuple[str, str]] = []
    for model in config.models:
        asked_about = mine.where(F.col("model") == model.name).persist()
        tokens = max(config.clue_tokens, model.max_tokens)
        short = model.model_copy(update={"max_tokens": tokens, "batch": False})
        left = None if config.budget is None else max(0.0, config.budget - paid)
        asked = put_questions(
            asked_about.select("digest", F.col("question").alias("text")).distinct(),
            config.model_copy(update={"models": [short], "prompt": "{text}", "budget": left}),
            store_path,
            on_estimate=on_estimate,
        )
        paid += asked.bill.total if asked.bill is not None else 0.0
        answers = asked.answers(model.name)
        told = without = 0
        for row in asked_about.select("chunk_id", "digest", "text").toLocalIterator():
            record = answers[row["digest"]]
            # an answer that was cut off has whole lines, but for its last one
            content = record["content"] or ""
            if record["finish_reason"] == "length":
                content = content.rpartition("\n")[0]
            clues = [] if record["refusal"] else parse_clues(content, row["text"])
            rows += [(row["chunk_id"], clue) for clue in clues]
            told, without = told + bool(clues), without + (not clues)
        asked_about.unpersist()
        _LOGGER.info("clues: %s: told of %d texts, of %d none", model.name, told, without)
    return named.sparkSession.createDataFrame(rows, "chunk_id string, clue string").distinct()
