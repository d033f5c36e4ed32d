"""``nes-spark names``: what a run took for names, and which of it to doubt."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from pathlib import Path

from nes_spark.entities.listing import NO_NAMES, ListedName, list_mentions
from nes_spark.errors import InputError
from nes_spark.run.published import configuration_of
from nes_spark.store import Store

COLUMNS = ("category", "form", "mentions", "sources", "doubts")


def names_of(run_dir: str | Path, category: str | None = None) -> list[ListedName]:
    """List the forms that a run took for names, without Spark.

    Parameters
    ----------
    run_dir : str or pathlib.Path
        A run folder ``OUT/PERIOD`` whose mentions are there; it need not have published.
    category : str, optional
        These alone.

    Returns
    -------
    list of ListedName
        The most doubtful first, then the most frequent.

    Raises
    ------
    InputError
        When the folder holds no run, it has no such category of names, or another run was begun
        there since and did not come to the mentions.
    InfrastructureError
        When its mentions are not there yet.
    """
    from nes_spark.entities.general_english import general_english

    store = Store(run_dir)
    config = configuration_of(store)
    categories = [c for c in config.entities.categories if c not in NO_NAMES]
    if category is not None and category not in categories:
        raise InputError(f"--category {category}: the run has {', '.join(categories)}")
    secret = dict(store.rows("chunks", ["chunk_id", "metadata"]))
    mentions = store.rows("mentions", ["chunk_id", "category", "entity"])
    wanted = [m for m in mentions if category is None or m[1] == category]
    if any(chunk not in secret for chunk, _, _ in wanted):
        raise InputError(
            f"{store.root}: another run was begun since and did not find its names; run it again"
        )
    return list_mentions(wanted, secret, general_english(), config.releases.must_change)


def table_of(rows: Sequence[ListedName]) -> str:
    """Return names as lines in columns."""
    from nes_spark.report.terminal import text_table

    shown = [
        (r.category, r.form, f"{r.mentions:,}", f"{r.sources:,}", ", ".join(r.doubts)) for r in rows
    ]
    return text_table(COLUMNS, shown, right={2, 3})


def csv_of(rows: Sequence[ListedName]) -> str:
    """Return names as a CSV table."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows((r.category, r.form, r.mentions, r.sources, "; ".join(r.doubts)) for r in rows)
    return out.getvalue()


def as_denied(rows: Sequence[ListedName]) -> str:
    """Return what most likely is no name as lines of a configuration, to be read and pasted.

    People are left out: many are called by words ("Marsh", "Field"), and a name that is denied by
    mistake is published.

    Parameters
    ----------
    rows : sequence of ListedName
        Of these, those with every doubt.

    Returns
    -------
    str
        Empty where there are none.
    """
    by_category: dict[str, list[str]] = {}
    for row in rows:
        if row.is_doubtful and row.category != "Person":
            by_category.setdefault(row.category, []).append(
                json.dumps(row.form, ensure_ascii=False)
            )
    if not by_category:
        return ""
    lines = [f"    {category}: [{', '.join(by_category[category])}]" for category in by_category]
    return "\n".join(["entities:", "  deny:", *lines])
