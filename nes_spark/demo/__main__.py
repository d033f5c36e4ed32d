"""Write a demo corpus: ``python -m nes_spark.demo --documents 1000 --output calls.jsonl``."""

from __future__ import annotations

import json
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import click

from nes_spark.demo.calls import (
    DEFAULT_DOCUMENTS,
    DEFAULT_PERIODS,
    DEFAULT_SEED,
    SKEWS,
    calls,
)


def write_line(stream: Any, record: dict[str, Any]) -> None:
    """Write one record as a line of JSON, the same bytes on every platform."""
    stream.write(json.dumps(record, ensure_ascii=False, separators=(",", ":")) + "\n")


@click.command(context_settings={"show_default": True})
@click.option("--documents", type=click.IntRange(1), default=DEFAULT_DOCUMENTS, help="How many.")
@click.option("--seed", type=int, default=DEFAULT_SEED, help="Seed of the invented world.")
@click.option("--periods", default=",".join(DEFAULT_PERIODS), help="Quarters, comma-separated.")
@click.option("--length", type=float, default=1.0, help="Length of a call; 1 is 1,400 words.")
@click.option("--skew", type=click.Choice(SKEWS), default="none", help="What is out of balance.")
@click.option("--start", type=click.IntRange(0), default=0, help="Number of the first document.")
@click.option("--output", type=click.Path(path_type=Path), required=True, help="JSON Lines file.")
@click.option("--gold", type=click.Path(path_type=Path), help="Where to put what was put in.")
def main(
    documents: int,
    seed: int,
    periods: str,
    length: float,
    skew: str,
    start: int,
    output: Path,
    gold: Path | None,
) -> None:
    """Write earnings calls of invented companies, as many as asked for, one at a time."""
    quarters = tuple(part.strip() for part in periods.split(","))
    with ExitStack() as stack:

        def opened(path: Path) -> Any:
            path.parent.mkdir(parents=True, exist_ok=True)
            return stack.enter_context(path.open("w", encoding="utf-8", newline="\n"))

        try:
            made = calls(documents, seed, quarters, length, skew, start)
            target = opened(output)
            notes = opened(gold) if gold else None
            for document, annotation in made:
                write_line(target, document)
                if notes is not None:
                    write_line(notes, annotation)
        except ValueError as error:
            raise click.UsageError(str(error)) from None


if __name__ == "__main__":
    main()
