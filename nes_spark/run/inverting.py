"""Undo a published release with its sealed ledger."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from nes_spark.config import LedgerConfig, build_config
from nes_spark.errors import InputError


def _released(folder: Path) -> Iterator[tuple[str, str]]:
    for file in sorted(folder.glob("chunks*.jsonl")):
        with file.open(encoding="utf-8") as lines:
            for line in lines:
                row = json.loads(line)
                yield row["chunk_id"], row["text"]


def invert_release(
    run_dir: str | Path, output: str | Path, config: LedgerConfig | None = None
) -> int:
    """Restore every chunk of a release to its text before swapping.

    Parameters
    ----------
    run_dir : str or pathlib.Path
        A run folder ``OUT/PERIOD`` with ``release/`` and ``sealed/``.
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

    run = Path(run_dir)
    release = run / "release"
    if not (release / "release.json").is_file():
        raise InputError(f"{run}: holds no release; give a run folder such as out/2020Q3")
    if config is None:
        saved = run / "stages" / "config.json"
        content = json.loads(saved.read_text()) if saved.is_file() else {}
        config = build_config(content, str(saved)).ledger
    restored = invert(_released(release), read_ledger(run / "sealed" / "ledger", config))
    lines = "".join(
        json.dumps({"chunk_id": chunk_id, "text": restored[chunk_id]}, ensure_ascii=False) + "\n"
        for chunk_id in sorted(restored)
    )
    write_private(Path(output), lines.encode())
    return len(restored)
