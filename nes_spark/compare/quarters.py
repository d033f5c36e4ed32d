"""Does it help to hold earlier releases too? The attackers of ``audit.history`` on run folders."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from nes_spark.audit.history import ORIGINALS, RELEASES, attack_with_history, documents_again
from nes_spark.errors import InputError
from nes_spark.run.published import PublishedRun
from nes_spark.swapping.ledger import read_ledger, release_id
from nes_spark.utility.panel import clustered_mean


@dataclass(frozen=True)
class Gain:
    """What who holds so many earlier quarters names in a new release.

    Attributes
    ----------
    held : int
        Quarters before the new one.
    documents : int
        Documents asked about.
    originals, releases : float
        Share named by the strongest attacker who holds the originals alone, and by the strongest
        who holds the earlier releases too.
    by_originals, by_releases : str
        Which they are.
    more, reach : float
        The paired difference, and half the width of its 95 % interval.
    """

    held: int
    documents: int
    originals: float
    by_originals: str
    releases: float
    by_releases: str
    more: float
    reach: float


@dataclass(frozen=True)
class Gains:
    """What each further quarter gives.

    Attributes
    ----------
    gains : tuple of Gain
        By number of quarters held, the newest first.
    known : int
        Documents of the new release that an earlier quarter holds too, in full or in part: nobody
        is asked about them, unless there are no others.
    strangers : int
        Documents asked about whose metadata no earlier quarter has; nobody can name them.
    """

    gains: tuple[Gain, ...]
    known: int
    strangers: int

    def __str__(self) -> str:
        head = (
            "quarters held | documents | named with their originals | and with their releases | "
            "more (95 %)"
        )
        lines = [
            f"{g.held} | {g.documents:,} | {g.originals:.1%} ({g.by_originals}) | "
            f"{g.releases:.1%} ({g.by_releases}) | {g.more:+.1%} ± {g.reach:.1%}"
            for g in self.gains
        ]
        notes = []
        if self.known:
            notes.append(f"{self.known:,} documents that earlier quarters hold are not asked about")
        if self.strangers:
            notes.append(f"{self.strangers:,} are of metadata that no earlier quarter has")
        return "\n".join([head, *lines, *notes])


def quarter_of(run: PublishedRun) -> pd.DataFrame:
    """Return the table of a published run that :func:`nes_spark.audit.history.quarter_table` takes.

    Raises
    ------
    LedgerError
        When the ledger is missing, damaged, or its key is.
    """
    columns = ["chunk_id", "document_id", "metadata", "text"]
    chunks = run.store.read_pandas("chunks", columns).rename(columns={"text": "text_before"})
    cells = dict(run.store.rows("cells", ["chunk_id", "entities"]))
    released = dict(run.released_texts())
    after, edits = {}, {}
    for row in read_ledger(run.store, run.config.ledger):
        after[row["chunk_id"]] = released.get(release_id(row), "")
        whole = row.get("whole")  # a text that was dropped or summarised, edits kept or not
        gone = [{"category": whole, "old_entity": "", "new_entity": ""}] if whole else ()
        edits[row["chunk_id"]] = row.get("edits") or gone
    return chunks.assign(
        text_after=[after.get(c, "") for c in chunks["chunk_id"]],
        entities=pd.Series([dict(cells.get(c) or {}) for c in chunks["chunk_id"]], dtype=object),
        edits=pd.Series([edits.get(c, ()) for c in chunks["chunk_id"]], dtype=object),
    )


def attack_quarters(
    earlier: Sequence[str | Path], later: str | Path, max_documents: int | None = None
) -> Gains:
    """Attack a release by who holds 1, 2, .. earlier quarters, with and without their releases.

    Parameters
    ----------
    earlier : sequence of str or pathlib.Path
        Run folders ``OUT/PERIOD``, the oldest first.
    later : str or pathlib.Path
        The run whose release is attacked.
    max_documents : int, optional
        Most documents of a run, whose texts are read by this process; by default
        ``audit.max_documents`` of the later run.

    Returns
    -------
    Gains

    Raises
    ------
    InputError
        When a folder holds no published release, or a run more documents than allowed.
    LedgerError
        When a ledger cannot be read.
    """
    runs = [PublishedRun(where) for where in (*earlier, later)]
    most = max_documents or runs[-1].config.audit.max_documents
    tables = []
    for run in runs:
        table = quarter_of(run)
        if (n := table["document_id"].nunique()) > most:
            raise InputError(
                f"{run.store.root}: holds {n:,} documents, and at most {most:,} are read; raise "
                "--max-documents where memory allows"
            )
        tables.append(table)
    return gains_of(tables[:-1], tables[-1])


def gains_of(earlier: Sequence[pd.DataFrame], new: pd.DataFrame) -> Gains:
    """As :func:`attack_quarters`, of tables; see :func:`nes_spark.audit.history.quarter_table`."""
    known = documents_again(new, earlier)
    asked = set(new["document_id"]) - known or set(new["document_id"])
    held_by = {m for q in earlier for m in q["metadata"]}
    owner = dict(zip(new["document_id"], new["metadata"], strict=True))
    gains = []
    for held in range(1, len(earlier) + 1):
        mine = list(earlier[-held:])
        found = attack_with_history(mine, new)
        found = found[found["id"].isin(asked)].sort_values("id")
        named: dict[str, tuple[str, np.ndarray]] = {}
        for knows in (ORIGINALS, RELEASES):
            hits = {
                str(attacker): (part["rank"] == 1).fillna(False).to_numpy(dtype=np.float64)
                for attacker, part in found[found["knows"] == knows].groupby("attacker", sort=True)
            }
            best = max(hits, key=lambda attacker: float(hits[attacker].mean()))
            named[knows] = best, hits[best]
        more = named[RELEASES][1] - named[ORIGINALS][1]
        mean, error = clustered_mean(more)
        # Where no two differ, what would still be unlikely (5 %): 3 / n, the rule of three.
        reach = 1.96 * error if np.any(more) else min(1.0, 3 / len(more))
        gains.append(
            Gain(
                held,
                len(more),
                float(named[ORIGINALS][1].mean()),
                named[ORIGINALS][0],
                float(named[RELEASES][1].mean()),
                named[RELEASES][0],
                mean,
                reach if not math.isnan(reach) else 1.0,
            )
        )
    return Gains(
        tuple(gains), len(known) if known != set(owner) else 0,
        sum(owner[d] not in held_by for d in asked),
    )  # fmt: skip
