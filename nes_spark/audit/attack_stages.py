"""Spark: the attacks that the registry names, all with one signature."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, Any

from nes_spark.audit.adversaries import View, attacks_of
from nes_spark.audit.predictions import linkage_predictions, text_predictions
from nes_spark.audit.stages import linkage_attack
from nes_spark.audit.text_stages import KnownWords, text_attack
from nes_spark.audit.unswap_memory import partner_guesses
from nes_spark.audit.unswap_stages import swap_aware_attack
from nes_spark.config import AuditConfig
from nes_spark.errors import parameter_error
from nes_spark.schemas import TABLES
from nes_spark.session import collected

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

Rows = list[tuple[Any, ...]]


def attack(view: View, config: AuditConfig, table: str) -> DataFrame | Rows:
    """Let every registered adversary that is switched on try.

    Parameters
    ----------
    view : View
        What they are shown.
    config : AuditConfig
        Which of them take part, and how.
    table : str
        ``predictions`` or ``partner_guesses``: whose attacks.

    Returns
    -------
    pyspark.sql.DataFrame or list of tuple
        Rows of that table, of all of them; a list where all worked in memory.

    Raises
    ------
    ValueError
        When no adversary fills that table.
    InputError
        When there is nothing to learn from.
    """
    found: list[DataFrame | Rows] = [
        function(view, config) for function in attacks_of(config, table)
    ]
    if not found:
        raise parameter_error("attack", "table", "one that an adversary fills", table)
    rows = [part for part in found if isinstance(part, list)]
    if len(rows) == len(found):
        return [row for part in rows for row in part]
    session, ddl = view.cells.sparkSession, TABLES[table].ddl
    frames = [session.createDataFrame(p, ddl) if isinstance(p, list) else p for p in found]
    return reduce(lambda a, b: a.unionByName(b), frames)


def _targets(view: View) -> list[dict[str, Any]]:
    if "rewrites" not in view.read:
        view.read["rewrites"] = collected(view.rewrites.select("draw", "chunk_id", "text", "edits"))
    return view.read["rewrites"]


def linkage(view: View, config: AuditConfig) -> DataFrame | Rows:
    """Run :func:`nes_spark.audit.stages.linkage_attack`, in memory where the tables are small."""
    if view.small and not view.knowledge:
        return [*linkage_predictions(collected(view.cells), _targets(view), config, view.hidden)]
    return linkage_attack(
        view.cells, view.rewrites, config, view.hidden, view.knowledge.get("cells"), view.until
    )


def text(view: View, config: AuditConfig) -> DataFrame | Rows:
    """Run :func:`nes_spark.audit.text_stages.text_attack`, in memory where the tables are small."""
    if view.small and not view.knowledge:
        spans: dict[str, list[tuple[int, int]]] = {}
        for row in collected(view.mentions.select("chunk_id", "start", "end")):
            spans.setdefault(row["chunk_id"], []).append((row["start"], row["end"]))
        chunks = collected(view.chunks.select("chunk_id", "document_id", "metadata", "text"))
        return [*text_predictions(chunks, spans, _targets(view), config)]
    other, words = view.knowledge, view.words
    if other:
        words = KnownWords(other["chunks"], other["mentions"], config, view.until, here=False)
    elif words is None:
        words = KnownWords(view.chunks, view.mentions, config, view.until)
    return text_attack(view.chunks, view.mentions, view.rewrites, words.learned, view.until)


def swap_aware(view: View, config: AuditConfig) -> DataFrame | Rows:
    """Run :func:`nes_spark.audit.unswap_stages.swap_aware_attack`, in memory if tables are small.

    What optional constraints compare is brought together in Spark only.
    """
    if view.small and not view.constraints and not view.throughout:
        components = None
        if view.components is not None:
            rows = collected(view.components.select("chunk_id", "component"))
            components = {row["chunk_id"]: row["component"] for row in rows}
        columns = ("draw", "chunk_id", "partner_id", "edits")
        return [
            *partner_guesses(
                collected(view.cells),
                collected(view.rewrites.select(*columns)),
                view.combination,
                config,
                components,
                view.hidden,
            )
        ]
    return swap_aware_attack(
        view.cells,
        view.rewrites,
        view.combination,
        config,
        view.components,
        view.hidden,
        view.until,
        view.constraints,
        view.throughout,
    )
