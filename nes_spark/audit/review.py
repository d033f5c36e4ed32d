"""Which released chunks a person should read first: those that attackers still name."""

from __future__ import annotations

import pandas as pd

from nes_spark.audit.attackers import NAMELESS

#: What an attacker that names a chunk went by, in words; the first that fits.
NAMES, BOTH, OTHER = "names", "words and names", "words that are no names"
KINDS = (NAMES, BOTH, OTHER)
COLUMNS = ("chunk_id", "left_out", "confident", "known")


def kind_of(attacker: str) -> str:
    """Return what an attacker of :mod:`nes_spark.audit.measured` goes by: one of :data:`KINDS`.

    Examples
    --------
    >>> [kind_of(name) for name in ("linkage-all", "combined", "phrases-nameless", "style")]
    ['names', 'words and names', 'words that are no names', 'words that are no names']
    """
    if attacker.endswith(NAMELESS) or attacker == "style":
        return OTHER
    return NAMES if attacker.partition("-")[0] in ("linkage", "names") else BOTH


def to_review(left_out: pd.DataFrame, known: pd.DataFrame, most: int = 100) -> pd.DataFrame:
    """List the chunks that attackers still name although they do not hold them.

    Parameters
    ----------
    left_out : pandas.DataFrame
        Guesses ``id, rank, attacker, confident`` about released chunks by who holds all other
        chunks; rank 1 is right.
    known : pandas.DataFrame
        The same by who holds the original of the chunk too.
    most : int, optional
        Longest list.

    Returns
    -------
    pandas.DataFrame
        Columns :data:`COLUMNS`: the chunk, and sorted tuples of the attackers that name it left
        out, that do so with confidence, and that name it known. Those named with confidence come
        first, then those named by more attackers; ties go to the smaller id.
    """

    def by_chunk(found: pd.DataFrame) -> dict[str, tuple[str, ...]]:
        return {str(chunk): tuple(sorted(part["attacker"])) for chunk, part in found.groupby("id")}

    right = left_out[left_out["rank"] == 1]
    sure = [value is True or value == 1 for value in right.get("confident", [])]
    named, confident = by_chunk(right), by_chunk(right.loc[sure] if sure else right.iloc[:0])
    also = by_chunk(known[known["rank"] == 1])
    rows = [
        (chunk, attackers, confident.get(chunk, ()), also.get(chunk, ()))
        for chunk, attackers in named.items()
    ]
    rows.sort(key=lambda row: (-len(row[2]), -len(row[1]), -len(row[3]), row[0]))
    return pd.DataFrame(rows[:most], columns=list(COLUMNS))
