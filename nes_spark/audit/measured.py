"""Measured risk: which share of the documents the attackers name, before and after.

The attacker holds half of every original document's chunks and is asked about the other half as
released, all chunks of a document together (:func:`nes_spark.audit.documents.half_known`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from nes_spark.audit.documents import DocumentAttack, half_known
from nes_spark.audit.shares import share_named_dependent

BEFORE, AFTER = "before", "after"
COLUMNS = ("attacker", "side", "n", "named", "low", "high", "confident")


def measure_documents(
    chunks: pd.DataFrame, pairs: Sequence[tuple[str, str]], key: bytes
) -> pd.DataFrame:
    """Attack the documents of a release, before and after.

    Parameters
    ----------
    chunks : pandas.DataFrame
        ``chunk_id, document_id, metadata, text_before, text_after`` of every chunk; a chunk that
        was not published has an empty `text_after`.
    pairs : sequence of (str, str)
        Documents that a swap connects: their figures are no independent evidence.
    key : bytes
        Of the hash that chooses which half is known.

    Returns
    -------
    pandas.DataFrame
        One row an attacker and side (:data:`COLUMNS`): documents asked about, the share named
        first with its 95 % interval (:func:`nes_spark.audit.shares.share_named_dependent`), and
        the share named first with confidence.

    Raises
    ------
    ValueError
        As :func:`~nes_spark.audit.documents.half_known` and
        :func:`~nes_spark.audit.documents.attack_documents`.
    """
    asked, background, truth = half_known(chunks, key)
    untouched, _, _ = half_known(chunks.assign(text_after=chunks["text_before"]), key)
    attack = DocumentAttack(background)
    rows = []
    for side, texts in ((BEFORE, untouched), (AFTER, asked)):
        found = attack.attack(texts, truth)
        for attacker, part in found.groupby("attacker", sort=True):
            share = share_named_dependent(part, pairs)
            sure = part["confident"].to_numpy(dtype=bool) & (part["rank"] == 1).fillna(False)
            rows.append(
                (attacker, side, len(part), share.value, share.low, share.high, float(sure.mean()))
            )
    return pd.DataFrame(rows, columns=list(COLUMNS))


def strongest(measured: pd.DataFrame) -> dict[str, Any]:
    """Return the attacker that names most documents before, and the one that does after.

    Parameters
    ----------
    measured : pandas.DataFrame
        From :func:`measure_documents`.

    Returns
    -------
    dict
        ``before`` and ``after``, each ``attacker, n, named, low, high, confident``. Of equally
        strong ones the first by name.
    """
    found = {}
    for side in (BEFORE, AFTER):
        mine = measured[measured["side"] == side]
        best = mine.sort_values(["named", "attacker"], ascending=[False, True]).iloc[0]
        found[side] = {name: best[name] for name in COLUMNS if name != "side"}
    return found
