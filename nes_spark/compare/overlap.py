"""How far two releases that share documents agree: what somebody learns who holds both.

Where a chunk stands in both releases with different entities, the two can be intersected: one of
them may show the original. This counts such chunks, and says why swaps were not repeated.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from nes_spark.run.published import PublishedRun


@dataclass(frozen=True)
class Overlap:
    """Counts over the chunks and swaps of two releases.

    Attributes
    ----------
    shared : int
        Chunks that both runs hold with the same text before swapping.
    alike : int
        Of these, chunks with the same text in both releases, swapped or not.
    swapped : int
        Shared chunks that either release swapped.
    swapped_alike : int
        Of these, chunks with the same text in both.
    earlier, possible, repeated : int
        Swaps of the earlier release; those whose two chunks are shared; and those of the latter
        that the later release made too, with the same entities.
    reasons : dict
        Why possible swaps were not repeated -> count.
    reused : int
        Chunk ids that stand for another text in the later run.
    names : dict
        Category -> (places of shared chunks where both releases show the same other name, places
        where either shows another name than the original). Places where the category was replaced
        by its placeholder, or shifted as a date, count too.
    """

    shared: int
    alike: int
    swapped: int
    swapped_alike: int
    earlier: int
    possible: int
    repeated: int
    reasons: dict[str, int]
    reused: int = 0
    names: dict[str, tuple[int, int]] = field(default_factory=dict)

    def __str__(self) -> str:
        def share(part: int, whole: int) -> str:
            return f"{part:,} of {whole:,}" + (f" ({part / whole:.1%})" if whole else "")

        lines = [
            f"chunks that both releases hold      {self.shared:,}",
            f"with the same text in both          {share(self.alike, self.shared)}",
            f"of those that a release swapped     {share(self.swapped_alike, self.swapped)}",
            f"earlier swaps with both chunks here {share(self.possible, self.earlier)}",
            f"repeated                            {share(self.repeated, self.possible)}",
        ]
        lines += [
            f"{category + ', the same in both':<36}{share(*counts)}"
            for category, counts in sorted(self.names.items())
        ]
        lines += [f"not repeated: {why:<22}{n:,}" for why, n in sorted(self.reasons.items())]
        if self.reused:
            lines.append(
                f"ids with another text now           {self.reused:,}: give documents ids of their "
                "own in each period, or their partners come again"
            )
        return "\n".join(lines)


def overlap_of(earlier: str | Path, later: str | Path) -> Overlap:
    """Compare the published releases of two run folders.

    Parameters
    ----------
    earlier, later : str or pathlib.Path
        Run folders ``OUT/PERIOD``.

    Returns
    -------
    Overlap

    Raises
    ------
    InputError
        When a folder holds no published release.

    Notes
    -----
    Needs memory for one digest a chunk and one a replaced name, and no Spark.
    """
    first, second = PublishedRun(earlier), PublishedRun(later)
    texts = [published.digests() for published in (first, second)]
    shared = {c for c, digest in texts[0].items() if texts[1].get(c) == digest}
    released = [published.changed() for published in (first, second)]
    same = [c for c in shared if released[0].get(c) == released[1].get(c)]
    swapped = {c for c in shared if c in released[0] or c in released[1]}
    places = [published.replaced() for published in (first, second)]
    seen: Counter[str] = Counter()
    repeats: Counter[str] = Counter()
    for c in swapped:
        mine, theirs = (found.get(c, {}) for found in places)
        for place in mine.keys() | theirs.keys():
            seen[place[0]] += 1
            repeats[place[0]] += mine.get(place) == theirs.get(place)
    components = second.components()
    pairs = [published.swaps() for published in (first, second)]
    partners = {c: pair for pair in pairs[1] for c in pair}
    reasons: Counter[str] = Counter()
    possible = repeated = 0
    for pair, exchanged in pairs[0].items():
        a, b = pair
        if a not in shared or b not in shared:
            continue
        possible += 1
        if pairs[1].get(pair) == exchanged:
            repeated += 1
        elif pair in pairs[1]:
            reasons["other entities"] += 1
        elif set(first.choice.combination) != set(second.choice.combination):
            reasons["other categories"] += 1
        elif first.unit != second.unit:
            reasons["another unit"] += 1
        elif components.get(a) != components.get(b):
            reasons["other components"] += 1
        elif a in partners or b in partners:
            reasons["another partner"] += 1
        else:
            reasons["not among its swaps"] += 1
    return Overlap(
        len(shared), len(same), len(swapped), len(swapped & set(same)),
        len(pairs[0]), possible, repeated, dict(reasons),
        len(texts[0].keys() & texts[1].keys()) - len(shared),
        {category: (repeats[category], n) for category, n in seen.items()},
    )  # fmt: skip
