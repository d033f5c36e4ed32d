"""How many swaps two quarters share: ``python -m tests.benchmarks.bench_sticky``.

100 documents of 13 chunks in each quarter, 50, 75 or 90 of them in both, in ten components that do
not change; entities at random. Once with a clock for every pair (``swapping.sticky``), once with
one stream of rings for a component. Then the same for plan ``whole``, name by name: of the names
that both quarters hold in the same chunk (or document), how many became the same other name.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from nes_spark.config import EntitiesConfig, ReleasesConfig, SwappingConfig
from nes_spark.entities.wordforms import dictionary, kinds_of
from nes_spark.swapping import Fate, sample_swaps
from nes_spark.swapping.whole import options_of_whole, sample_whole

DOCUMENTS, CHUNKS = 100, 13
#: Categories of names in plan ``whole``, and what is exchanged beside them.
NAMES, FURTHER = ("Organization", "Person", "Product"), ("Term", "Quantity")


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


@lru_cache(maxsize=1)
def words() -> list[str]:
    """Words that are nouns and nothing else, and may be terms."""
    path = dictionary().with_suffix(".dic")
    listed = {line.split("/")[0] for line in path.read_text(encoding="utf-8").splitlines()}
    found = sorted(w for w in listed if w.isalpha() and w.islower() and kinds_of(w) == {"noun"})
    return random.Random(0).sample(found, 1500)


def held(chunk: str) -> dict[str, list[str]]:
    """The names of a chunk by category: a third of them its document's, the others anyone's."""
    rng = random.Random(f"{chunk} held")
    document = chunk.split("#")[0]
    out: dict[str, list[str]] = {}
    for category in NAMES:
        found = set()
        for _ in range(rng.choice((0, 0, 1, 1, 2, 4))):
            own = rng.random() < 1 / 3
            of, most = (document, 6) if own else ("anyone", 300)
            named = random.Random(f"{of} {category} {rng.randrange(most)}")
            spelled = ("".join(named.choices("aeioulnrst", k=named.randint(3, 8))) for _ in "ab")
            found.add(" ".join(part.capitalize() for part in spelled))
        out[category] = sorted(found)
    trade = random.Random(f"{document} trade").sample(words(), 30)
    out["Term"] = sorted(set(rng.sample(trade, rng.randint(0, 4))))
    kinds = ("%/e+1/+", "%/e+0/-", "money/e+6/0", "money/e+8/+", "count/e+1/0")
    out["Quantity"] = sorted(
        {f"{rng.randrange(10, 99)} ({rng.choice(kinds)})" for _ in range(rng.randint(0, 3))}
    )
    return out


def became(documents: Sequence[str], unit: str, sticky: bool) -> dict[tuple[str, str, str], Fate]:
    """Return what became of each name: (chunk, category, name) -> its fate."""
    ids = [f"{d}#{k:05d}" for d in documents for k in range(CHUNKS)]
    releases = ReleasesConfig(swap=list(NAMES), further=list(FURTHER), unit=unit, donors=96)
    entities = EntitiesConfig(categories=[*NAMES, *FURTHER], labels={})
    names = [held(i) for i in ids]
    place = [random.Random(f"{i} component").randrange(10) for i in ids]
    axes = [[random.Random(f"{k} {j}").gauss(0, 1) for j in range(5)] for k in range(10)]
    owners = [i.split("#")[0] for i in ids]
    options = options_of_whole(releases, entities)
    plans = sample_whole(
        ids, owners, owners, place, {c: [mine[c] for mine in names] for c in (*NAMES, *FURTHER)},
        options, seed="a secret!", releases=releases,
        means={k: np.array(axis) for k, axis in enumerate(axes)},
        swapping=SwappingConfig(sticky=sticky, matching="similar"),
    )  # fmt: skip
    return {
        (f.chunk_id, f.category, f.entity): f
        for one, plan in zip(options, plans, strict=True)
        for f in plan.fates()
        if f.category in one.swap
    }


def whole(common: int, unit: str, sticky: bool) -> Iterator[str]:
    """Compare two quarters; a line for each kind of thing and treatment."""
    begin = DOCUMENTS - common
    quarters = ([0, DOCUMENTS], [begin, begin + DOCUMENTS])
    first, later = (became([f"d{d:03d}" for d in range(*q)], unit, sticky) for q in quarters)
    both = {f"d{d:03d}" for d in range(begin, DOCUMENTS)}
    counts: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0])
    for key in first.keys() & later.keys():
        before = first[key]
        kind = {"Term": "terms", "Quantity": "quantities"}.get(key[1], "names")
        found = counts[f"{kind} by {before.treatment}"]
        same = before.replacement == later[key].replacement
        there = before.partner is not None and before.partner.split("#")[0] in both
        found[0] += 1
        found[1] += same
        found[2] += there
    for kind, (n, same, there) in sorted(counts.items()):
        if n >= 100:
            yield f"{kind} | {n} | {there / n:.0%} | {same / n:.0%}"


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
    print("\nplan whole, in both: documents | unit | sticky | kind | names | giver there | same")
    for common in (90, 50):
        for unit in ("chunk", "document"):
            for sticky in (True, False):
                for line in whole(common, unit, sticky):
                    print(f"{common} | {unit} | {'yes' if sticky else 'no'} | {line}", flush=True)


if __name__ == "__main__":
    main()
