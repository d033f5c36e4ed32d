"""Undo a published release with its sealed ledger."""

from __future__ import annotations

import json
from pathlib import Path

from nes_spark.config import LedgerConfig
from nes_spark.run.published import PublishedRun


def invert_release(
    run_dir: str | Path, output: str | Path, config: LedgerConfig | None = None
) -> int:
    """Restore every chunk of a release to its text before swapping.

    Parameters
    ----------
    run_dir : str or pathlib.Path
        A run folder ``OUT/PERIOD`` with ``release/`` and ``sealed/``; it may be remote.
    output : str or pathlib.Path
        JSON Lines file to write (owner only): ``chunk_id`` of the input and ``text``, as in table
        ``chunks``: direct identifiers stay suppressed.
    config : LedgerConfig, optional
        Where the key of an encrypted ledger is; by default what the run was configured with.

    Returns
    -------
    int
        Chunks restored.

    Raises
    ------
    InputError
        When the folder holds no release.
    LedgerError
        When the ledger is missing, damaged, of another release, or the key is missing or wrong.
    """
    from nes_spark.swapping.ledger import invert, read_ledger
    from nes_spark.swapping.seeds import write_private

    run = PublishedRun(run_dir)
    ledger = read_ledger(run.store, config or run.config.ledger)
    restored = invert(run.released_texts(), ledger)
    lines = "".join(
        json.dumps({"chunk_id": chunk_id, "text": restored[chunk_id]}, ensure_ascii=False) + "\n"
        for chunk_id in sorted(restored)
    )
    write_private(Path(output), lines.encode())
    return len(restored)
