"""Plain-text tables for a terminal."""

from __future__ import annotations

from collections.abc import Collection, Sequence


def text_table(
    head: Sequence[str], rows: Sequence[Sequence[str]], right: Collection[int] = ()
) -> str:
    """Return rows under a head, each column as wide as its widest cell.

    Parameters
    ----------
    head : sequence of str
        Names of the columns.
    rows : sequence of sequence of str
        As long as the head.
    right : collection of int, optional
        Columns that are set to the right: numbers.

    Examples
    --------
    >>> print(text_table(("run", "chunks"), [("a", "12"), ("other", "3")], right={1}))
    run    chunks
    a          12
    other       3
    """
    lines = [tuple(head), *(tuple(row) for row in rows)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(head))]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if i in right else cell.ljust(width)
            for i, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )
