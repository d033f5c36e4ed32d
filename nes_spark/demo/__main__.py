"""Write a demo corpus: ``python -m nes_spark.demo --documents 1000 --output calls.jsonl``."""

from __future__ import annotations

import json
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import click

from nes_spark.demo.calls import DEFAULT_DOCUMENTS, DEFAULT_PERIODS, DEFAULT_SEED, SKEWS, calls
from nes_spark.demo.clinical import DEFAULT_NOTES, notes
from nes_spark.demo.patents import DEFAULT_FILINGS, filings


def line_of(record: dict[str, Any]) -> str:
    """Return one record as a line of JSON, the same characters on every platform."""
    return json.dumps(record, ensure_ascii=False, separators=(",", ":")) + "\n"


@click.command(context_settings={"show_default": True})
@click.option(
    "--kind",
    type=click.Choice(["calls", "clinical", "patents"]),
    default="calls",
    help="Earnings calls, hospital notes or patent filings.",
)
@click.option(
    "--documents",
    type=click.IntRange(1),
    help=f"How many.  [default: {DEFAULT_DOCUMENTS} calls, {DEFAULT_NOTES} notes or filings]",
)
@click.option("--seed", type=int, default=DEFAULT_SEED, help="Seed of the invented world.")
@click.option(
    "--periods", default=",".join(DEFAULT_PERIODS), help="Calls: quarters, comma-separated."
)
@click.option("--length", type=float, default=1.0, help="Calls: 1 is about 1,100 words.")
@click.option("--questions", type=float, default=1.0, help="Calls: times as many questions.")
@click.option("--skew", type=click.Choice(SKEWS), default="none", help="Calls: out of balance.")
@click.option("--start", type=click.IntRange(0), default=0, help="Calls: number of the first.")
@click.option("--output", type=click.Path(path_type=Path), required=True, help="JSON Lines file.")
@click.option("--gold", type=click.Path(path_type=Path), help="Where to put what was put in.")
def main(
    kind: str,
    documents: int | None,
    seed: int,
    periods: str,
    length: float,
    questions: float,
    skew: str,
    start: int,
    output: Path,
    gold: Path | None,
) -> None:
    """Write texts of invented companies and people, as many as asked for, one at a time."""
    try:
        if kind == "calls":
            quarters = tuple(part.strip() for part in periods.split(","))
            wanted = documents or DEFAULT_DOCUMENTS
            made = calls(wanted, seed, quarters, length, skew, start, questions)
        elif kind == "clinical":
            made = notes(documents or DEFAULT_NOTES, seed)
        else:
            made = filings(documents or DEFAULT_FILINGS, seed)
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    with ExitStack() as stack:

        def opened(path: Path) -> Any:
            path.parent.mkdir(parents=True, exist_ok=True)
            return stack.enter_context(path.open("w", encoding="utf-8", newline="\n"))

        target = opened(output)
        notebook = opened(gold) if gold else None
        for document, annotation in made:
            target.write(line_of(document))
            if notebook is not None:
                notebook.write(line_of(annotation))


if __name__ == "__main__":
    main()
