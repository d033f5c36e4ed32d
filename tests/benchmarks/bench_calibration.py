"""Do intervals hold what they promise?

``python -m tests.benchmarks.bench_calibration [FOLDER] [--runs 100] [--drops]``

Subsamples of 1 to 20 % are taken of tables whose truth is known, the Ewens-Pitman model is fitted
to each, and the number of sample uniques that stay unique in the whole table is predicted. Shown
are the share of the 95 % prediction intervals that hold the truth, the shares in which more and in
which fewer stay unique than the interval says (the risk is then understated, or overstated), how
wide it is, and how often the fit says that the model does not describe the sample. FOLDER is a
finished run's ``stages/cells`` (Parquet): its tables of all pairs of categories are taken too, all
in one row a share, with the number of tables. ``--drops`` adds a table on the intervals of the
accuracy drop in made audits. Nothing here is asserted.
"""

from __future__ import annotations

import argparse
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

from nes_spark.audit.statistics import bootstrap_document_sums, coupled_drop
from nes_spark.errors import EstimationError
from nes_spark.risk import fit_ewens_pitman, simulate_partition

SHARES = (0.01, 0.05, 0.10, 0.20)
UNITS = 40_000
#: Smaller subsamples of a real table are not taken.
SMALLEST = 20
COLUMNS = ("covered", "more stay", "fewer stay", "width / s1", "fit objects", "p-hat refused")


def ewens_pitman(theta: float, alpha: float, rng: np.random.Generator) -> NDArray[np.int64]:
    """Counts of the cells of a table drawn from the model."""
    sizes = simulate_partition(UNITS, theta, alpha, rng)
    return np.repeat([*sizes], [*sizes.values()]).astype(np.int64)


def zipf(exponent: float, cutoff: float, rng: np.random.Generator) -> NDArray[np.int64]:
    """Counts of a table whose cells have probabilities r^-exponent exp(-r / cutoff)."""
    rank = np.arange(1.0, 20 * cutoff)
    p = rank**-exponent * np.exp(-rank / cutoff)
    counts = rng.multinomial(UNITS, p / p.sum())
    return counts[counts > 0]


def of_run(folder: Path) -> Iterator[tuple[str, NDArray[np.int64]]]:
    """Counts of the tables of all pairs of categories of a run, without the empty cell."""
    cells = pd.read_parquet(folder)["cell"].map(dict)
    for a, b in combinations(sorted(cells.iloc[0]), 2):
        held = Counter((c.get(a) or "", c.get(b) or "") for c in cells)
        held.pop(("", ""), None)
        yield f"{a}+{b}", np.array([*held.values()])


class Result(NamedTuple):
    """What came of one subsample."""

    covered: bool
    understated: bool
    overstated: bool
    width: float
    objects: bool
    p_hat_refused: bool


def one(counts: NDArray[np.int64], share: float, rng: np.random.Generator) -> Result | None:
    """Take a subsample, fit and predict; None where there is no fit."""
    n = round(counts.sum() * share)
    drawn = rng.multivariate_hypergeometric(counts, n, method="marginals")
    truth = int(((drawn == 1) & (counts == 1)).sum())
    sizes = Counter(drawn[drawn > 0].tolist())
    try:
        fit = fit_ewens_pitman(sizes)
    except EstimationError:
        return None
    found = fit.predict_staying(int(counts.sum()))
    quality = fit.goodness_of_fit()
    return Result(
        found.low <= truth <= found.high,
        truth > found.high,
        truth < found.low,
        (found.high - found.low) / fit.s1,
        not quality.fits,
        not quality.p_hat_holds,
    )


def calibration(runs: int, folder: Path | None) -> Iterator[tuple[Any, ...]]:
    """Rows of all truths and shares: truth, sample, fits, and :data:`COLUMNS`."""
    made = {
        f"Ewens-Pitman, theta {theta:g}, alpha {alpha:g}": (ewens_pitman, theta, alpha)
        for theta, alpha in ((20, 0.0), (20, 0.6), (100, 0.8), (2, 0.7))
    } | {
        f"Zipf, exponent {exponent:g}, cut off at {cutoff:g}": (zipf, exponent, cutoff)
        for exponent, cutoff in ((1.0, 2_000), (1.2, 20_000), (0.7, 5_000))
    }
    tables = dict(of_run(folder)) if folder else {}
    for share in SHARES:
        results, used = [], 0
        for number, counts in enumerate(tables.values()):
            rng = np.random.default_rng([SHARES.index(share), number, 1])
            if counts.sum() * share >= SMALLEST:
                used += 1
                results += [one(counts, share, rng) for _ in range(max(1, runs // 5))]
        if used:
            yield f"{used} tables of the run", f"{share:.0%}", *_summary(results)
    for name, (law, *parameters) in made.items():
        for share in SHARES:
            rng = np.random.default_rng([SHARES.index(share), [*made].index(name)])
            # a new table for each run: the model is what is calibrated
            results = [one(law(*parameters, rng), share, rng) for _ in range(runs)]
            yield name, f"{share:.0%}", *_summary(results)


def _summary(results: list[Result | None]) -> tuple[float, ...]:
    fitted = [result for result in results if result is not None]
    if not fitted:
        return (0, *[math.nan] * len(COLUMNS))
    return (len(fitted), *(float(np.mean(values)) for values in zip(*fitted, strict=True)))


def drops(runs: int) -> pd.DataFrame:
    """Coverage of the intervals of the accuracy drop in made audits with known truth."""
    rng = np.random.default_rng(1)
    rows = []
    for documents, swaps in ((28, 25), (48, 23), (40, 300)):
        for of_document, of_couple in ((0.0, 0.0), (0.0, 1.5), (0.7, 0.0), (0.7, 1.0)):
            truth = stats.norm.cdf(0.3 / math.sqrt(1 + 2 * of_document**2 + of_couple**2))
            held = np.zeros(2)
            for _ in range(runs):
                a = rng.integers(documents, size=swaps)
                b = (a + 1 + rng.integers(documents - 1, size=swaps)) % documents
                effect = rng.normal(0, of_document, documents)
                common = 0.3 + effect[a] + effect[b] + rng.normal(0, of_couple, swaps)
                lost = np.concatenate([common + rng.normal(size=swaps) > 0 for _ in "ab"])
                own, other = np.concatenate([a, b]), np.concatenate([b, a])
                names = [f"d{i:03d}" for i in range(documents)]
                coupled = coupled_drop(
                    [names[i] for i in own],
                    [names[i] for i in other],
                    np.ones(2 * swaps, dtype=int),
                    lost.astype(int),
                )
                size = np.bincount(own, minlength=documents)
                sums = np.bincount(own, lost, minlength=documents).astype(int)
                apart = bootstrap_document_sums(size[size > 0], sums[size > 0], 400)
                held += [found.low <= truth <= found.high for found in (apart, coupled)]
            rows.append((documents, swaps, of_document, of_couple, *held / runs))
    return pd.DataFrame(
        rows,
        columns=["documents", "swaps", "sd document", "sd couple", "independent", "coupled"],
    )


def head(columns: Sequence[str]) -> str:
    """Return the head of a table in Markdown."""
    return "| " + " | ".join(columns) + " |\n|" + "---|" * len(columns)


def line(row: Sequence[Any]) -> str:
    """Return a row of a table in Markdown."""
    return "| " + " | ".join(f"{v:.3f}" if isinstance(v, float) else str(v) for v in row) + " |"


def markdown(table: pd.DataFrame) -> str:
    """Return a table in Markdown."""
    rows = (line(row) for row in table.itertuples(index=False))
    return "\n".join([head([*table.columns]), *rows])


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--drops", action="store_true")
    arguments = parser.parse_args()
    print(head(["truth", "sample", "fits", *COLUMNS]))
    for row in calibration(arguments.runs, arguments.folder):
        print(line(row), flush=True)
    if arguments.drops:
        print()
        print(markdown(drops(5 * arguments.runs)))


if __name__ == "__main__":
    main()
