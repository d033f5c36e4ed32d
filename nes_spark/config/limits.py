"""Largest values of numbers in a configuration: what is beyond them is a slip of the finger.

Fields that bound themselves (``le``, ``lt``, a validator of their own) are left to that.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

#: Field name -> largest value, wherever the field stands. Units as in the field's description.
LARGEST: Mapping[str, float] = {
    "n_components": 10_000,
    "n_init": 1_000,
    "max_iter": 1_000_000,
    "draws": 100_000,
    "swap_aware_draws": 100_000,
    "option_draws": 100_000,
    "bootstrap": 1_000_000,
    "rounds": 1_000,
    "sizes": 100,
    "max_swaps": 1_000_000_000,
    "option_swaps": 1_000_000_000,
    "batch_size": 100_000,
    "dimension": 100_000,
    "max_characters": 1_000_000_000,
    "min_characters": 1_000_000_000,
    "max_tokens": 10_000_000,
    "timeout": 86_400,
    "backoff": 86_400,
    "max_backoff": 86_400,
    "max_retry_after": 604_800,
    "batch_poll": 86_400,
    "max_retries": 1_000,
    "max_in_flight": 10_000,
    "partitions": 10_000,
    "shuffle_partitions": 100_000,
    "seed": 2**63 - 1,
}
#: Every other number.
LARGEST_OF_ALL = 1e12
#: Numbers of the world's population, which have a range of their own.
UNBOUNDED = ("population", "N")


def oversized(fields: Mapping[str, Any], bounded: frozenset[str]) -> Iterator[str]:
    """Yield a line for every number without sense, with the range.

    Parameters
    ----------
    fields : mapping
        Field -> value: numbers and lists of numbers are looked at.
    bounded : frozenset of str
        Fields that bound themselves.
    """
    for name, value in fields.items():
        numbers = [
            n
            for n in (value if isinstance(value, (list, tuple)) else [value])
            if isinstance(n, (int, float)) and not isinstance(n, bool)
        ]
        if name in UNBOUNDED or name in bounded:
            continue
        most = LARGEST.get(name, LARGEST_OF_ALL)
        for number in numbers:
            endless = isinstance(number, float) and not math.isfinite(number)
            if endless or abs(number) > most:
                yield f"{name} must be a number of at most {most:,.0f}, got {_short(number)}"


def _short(number: float) -> str:
    if isinstance(number, int) and number.bit_length() > 80:
        return f"one of {round(number.bit_length() * math.log10(2)):,} digits"
    return repr(number)
