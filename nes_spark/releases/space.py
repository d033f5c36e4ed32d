"""The candidate release space (paper, section 2.3)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

from nes_spark.entities.combination import Combination, combinations_of
from nes_spark.errors import parameter_error
from nes_spark.swapping.constraints import constraints_of

if TYPE_CHECKING:
    from nes_spark.config import MixtureConfig, ReleasesConfig, RiskConfig

Status = Literal["S", "F", "C", "U"]

#: What each status of a category means.
STATUSES: Mapping[str, str] = MappingProxyType(
    {"S": "swapped", "F": "fixed", "C": "must change", "U": "unconstrained"}
)


@dataclass(frozen=True)
class Release:
    """One release R = (r, NEC_1..NEC_p, C, seed).

    Attributes
    ----------
    r : float
        Swap rate 2 x swaps / n, in [0, 1].
    statuses : mapping of str to str
        Category -> S (swapped), F (fixed), C (must change) or U (none of these), in configured
        order.
    constraints : mapping of str to object
        Optional constraints that are on, by name; the two of the paper (different metadata, same
        component) always hold.
    seed_fingerprint : str
        Fingerprint of the secret seed, never the seed; empty where the release is an average over
        draws.

    Raises
    ------
    ValueError
        When r is outside [0, 1], a status is unknown, or r and the statuses disagree: swaps
        need a category to swap.
    """

    r: float
    statuses: Mapping[str, str]
    constraints: Mapping[str, object] = field(default_factory=dict)
    seed_fingerprint: str = ""

    def __post_init__(self) -> None:
        if not 0 <= self.r <= 1:
            raise parameter_error("Release", "r", "a number in [0, 1]", self.r)
        for status in self.statuses.values():
            if status not in STATUSES:
                raise parameter_error("Release", "statuses", "S, F, C or U throughout", status)
        if self.r > 0 and not self.combination:
            raise parameter_error("Release", "statuses", "S for a category when r > 0", "none")

    @property
    def combination(self) -> Combination:
        """J: the swapped categories, in configured order."""
        return Combination(c for c, status in self.statuses.items() if status == "S")

    @property
    def name(self) -> str:
        """J joined with "+", as in the tables."""
        return self.combination.name


def statuses_of(
    categories: list[str], combination: tuple[str, ...], releases: ReleasesConfig
) -> dict[str, str]:
    """Return the status S, F, C or U of every category when ``combination`` is swapped.

    Parameters
    ----------
    categories : list of str
        All categories, in configured order.
    combination : tuple of str
        J.
    releases : ReleasesConfig
        What is fixed and what must change.
    """
    return {
        category: "S"
        if category in combination or (combination and category in releases.further)
        else "C"
        if category in releases.must_change or category in releases.shift
        else "F"
        if category in releases.fixed
        else "U"
        for category in categories
    }


def _switched_on(releases: ReleasesConfig) -> dict[str, object]:
    """Field of the configuration -> value, for the optional constraints that are on."""
    return {c.field: c.value for c in constraints_of(releases.constraints) if c.field is not None}


def releases_of(
    categories: list[str], releases: ReleasesConfig, n: int, seed_fingerprint: str = ""
) -> list[Release]:
    """Enumerate the candidate releases for a corpus of n chunks.

    Parameters
    ----------
    categories : list of str
        All categories, in configured order.
    releases : ReleasesConfig
        The space.
    n : int
        Chunks; more than n // 2 swaps are not possible in one round and not listed.
    seed_fingerprint : str, optional
        Put into each release.

    Returns
    -------
    list of Release
        The release without swaps, then every J with 1, 2, .. swaps.
    """
    constraints = _switched_on(releases)
    found = [Release(0.0, statuses_of(categories, (), releases), constraints, seed_fingerprint)]
    for combination in combinations_of(releases):
        statuses = statuses_of(categories, combination, releases)
        found += [
            Release(2 * swaps / n, statuses, constraints, seed_fingerprint)
            for swaps in range(1, min(releases.max_swaps, n // 2) + 1)
        ]
    return found


def describe_space(
    releases: ReleasesConfig, mixture: MixtureConfig, risk: RiskConfig, per_draw: bool = False
) -> str:
    """Say how large the release space is, before any work starts.

    Parameters
    ----------
    releases, mixture, risk : ReleasesConfig, MixtureConfig, RiskConfig
        Sections of a configuration.
    per_draw : bool, optional
        Whether the seed is decided on too (``choice.per_draw``).

    Returns
    -------
    str
        A few lines for a person. Where every pair that is wanted exists, the numbers are exact; a
        combination that runs out of valid swaps has fewer.
    """
    js = combinations_of(releases)
    settings = len(mixture.family) * len(mixture.n_components) * len(mixture.min_weight)
    populations = len(risk.population)
    seeds = releases.draws if per_draw else 1
    each = len(js) * releases.max_swaps * seeds
    grid = settings * populations
    sequences = settings * len(js) * releases.draws
    if releases.plan == "whole":
        return _describe_whole(releases, settings, len(risk.population), per_draw)
    parts = [
        f"{len(js)} combinations of categories ({_sizes(js)})",
        f"1 to {releases.max_swaps} swaps",
    ]
    if per_draw:
        parts.append(f"{releases.draws} seeds")
    lines = [
        f"release space: {' x '.join(parts)} = {each:,} candidate releases and the one without "
        f"swaps, in each of {grid} setting(s) ({settings} mixture(s) x {populations} population "
        f"size(s)): {grid * (each + 1):,} in all",
        f"work: {sequences:,} sequence(s) of swaps ({releases.draws} draw(s) each), at most "
        f"{2 * releases.max_swaps * sequences:,} swapped texts to embed; all population sizes "
        "share them and the risk fits",
    ]
    lines.append(_statuses_told(releases, dict.fromkeys(c for j in js for c in j)))
    return "\n".join(lines)


def _describe_whole(
    releases: ReleasesConfig, settings: int, populations: int, per_draw: bool
) -> str:
    """Say the same of plan ``whole``: layers, and the tenths of one sequence."""
    layers = 2 ** len(releases.swap) - 1 + len(releases.further)
    units = len(combinations_of(releases))
    each = 10 * units * (releases.draws if per_draw else 1)
    grid = settings * populations
    return "\n".join(
        [
            f"release space: {layers} layers of exchanges until nothing that can be exchanged "
            f"stays; {each} candidate releases (10 % to 100 % of the exchanges"
            f"{', of chunks and of documents' if units > 1 else ''}) and the one "
            f"without swaps, in each of {grid} setting(s) ({settings} mixture(s) x {populations} "
            f"population size(s)): {grid * (each + 1):,} in all",
            f"work: {settings * units * releases.draws:,} sequence(s) of swaps, each to exhaustion;"
            f" what is left over: {', then '.join(releases.leftover)}",
            _statuses_told(releases, [*releases.swap, *releases.further]),
        ]
    )


def _statuses_told(releases: ReleasesConfig, swapped: Iterable[str]) -> str:
    parts = {
        "swappable (S)": swapped,
        "must change (C)": releases.must_change,
        "shifted": releases.shift,
        "fixed (F)": releases.fixed,
        "constraints": _switched_on(releases),
    }
    none = {"constraints": "none beyond the two"}
    told = {name: ", ".join(found) or none.get(name, "none") for name, found in parts.items()}
    return "; ".join(f"{name}: {t}" for name, t in told.items() if name != "shifted" or t != "none")


def _sizes(js: list[Combination]) -> str:
    sizes = sorted({len(j) for j in js})
    return ", ".join(f"{sum(len(j) == s for j in js)} of size {s}" for s in sizes)
