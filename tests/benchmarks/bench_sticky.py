"""How many swaps two quarters share: ``python -m tests.benchmarks.bench_sticky``.

100 documents of 13 chunks in each quarter, 50, 75 or 90 of them in both, in ten components that do
not change; entities at random. Once with a clock for every pair (``swapping.sticky``), once with
one stream of rings for a component.
"""

from __future__ import annotations

import random
from typing import Any

from nes_spark.swapping import sample_swaps

DOCUMENTS, CHUNKS = 100, 13


def world(ids: list[str]) -> dict[str, Any]:
    """What :func:`sample_swaps` takes, for chunks whose content follows from their ids."""

    def name(chunk: str, kind: str) -> list[str]:
        return [f"{kind}{random.Random(f'{chunk} {kind}').randrange(400)}"]

    return {
        "chunk_ids": ids,
        "metadata": [i.split("#")[0] for i in ids],
        "component": [random.Random(f"{i} component").randrange(10) for i in ids],
        "entities": {
            "Organization": [name(i, "o") for i in ids],
            "Location": [name(i, "l") for i in ids],
            "Product": [name(i, "p") for i in ids],
        },
        "swap": ["Organization", "Product"],
    }


def main() -> None:
    """Print the shares."""
    print("documents in both | swaps | sticky | repeated of possible | chunks alike of swapped")
    for common in (90, 75, 50):
        first = [f"d{d:03d}#{k:05d}" for d in range(DOCUMENTS) for k in range(CHUNKS)]
        begin = DOCUMENTS - common
        later = [
            f"d{d:03d}#{k:05d}" for d in range(begin, begin + DOCUMENTS) for k in range(CHUNKS)
        ]
        both = set(first) & set(later)
        for most in (30, 300, None):
            for sticky in (True, False):
                drawn = [
                    {
                        (s.chunk_a, s.chunk_b)
                        for s in sample_swaps(
                            **world(ids), max_swaps=most, seed="a secret!", sticky=sticky
                        )
                    }
                    for ids in (first, later)
                ]
                possible = {pair for pair in drawn[0] if set(pair) <= both}
                same = drawn[0] & drawn[1]
                touched = {c for pair in drawn[0] | drawn[1] for c in pair} & both
                alike = {c for pair in same for c in pair}
                print(
                    f"{common} | {len(drawn[0])} | {'yes' if sticky else 'no'} | "
                    f"{len(same)} of {len(possible)} ({len(same) / len(possible):.0%}) | "
                    f"{len(alike)} of {len(touched)} ({len(alike) / len(touched):.0%})"
                )


if __name__ == "__main__":
    main()
