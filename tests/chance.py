"""Texts put together by chance of pieces that patterns look for."""

import random
from collections.abc import Sequence


def texts_of(
    pieces: Sequence[str],
    between: Sequence[str] = (" ",),
    count: int = 3000,
    most: int = 7,
    seed: int = 5,
) -> list[str]:
    """Return `count` texts of one to `most` pieces, with something of `between` behind each."""
    chance = random.Random(seed)
    return [
        "".join(
            chance.choice(pieces) + chance.choice(between) for _ in range(chance.randint(1, most))
        )
        for _ in range(count)
    ]
