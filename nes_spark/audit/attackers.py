"""Who attacks: the attackers there are, what each one reads, and what a guess is.

Scores are compared on a grid of 2^-30, ties go to the smaller id of a candidate, and nothing
depends on the order of texts or candidates.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from nes_spark.audit import calibration, features
from nes_spark.audit.ranking import on_grid, stable_hash
from nes_spark.errors import parameter_error

SINGLE = features.VIEWS
ATTACKERS = (*SINGLE, "combined", "matched")
NAMES = ("both", "seen", "ignored")
#: Whether the attacker holds the chunk in question itself.
LEFT_OUT, KNOWN = "left out", "known"
EXPOSURES = (LEFT_OUT, KNOWN)

#: Added to the name of an attacker that ignores names.
NAMELESS = "-nameless"

COLUMNS = ("id", "guess", "rank", "score", "attacker", "confident")

#: Scores computed at a time for each view.
CELLS = 4_000_000

#: Weights are fitted to about so many pairs of a text and a candidate, of so many texts at least.
_CALIBRATION_CELLS = 500_000
_LEAST_CALIBRATED = 200

View = tuple[str, bool]


@dataclass(frozen=True)
class Attacker:
    """One attacker: its name in the results, the views it reads, and whether it matches."""

    name: str
    views: tuple[View, ...]
    matches: bool = False


def chosen_attackers(
    owner: str, attackers: Sequence[str], names: str, known: Sequence[str]
) -> list[Attacker]:
    """Return the attackers that a caller chose, in the order of `known`.

    Parameters
    ----------
    owner : str
        Function whose parameters they are, for the error.
    attackers : sequence of str
        Some of `known`.
    names : str
        One of :data:`NAMES`.
    known : sequence of str
        What may be chosen.

    Raises
    ------
    ValueError
        When something else is chosen, or nothing is left without names.
    """
    if isinstance(attackers, str) or not attackers or set(attackers) - set(known):
        raise parameter_error(owner, "attackers", f"some of {', '.join(known)}", attackers)
    if names not in NAMES:
        raise parameter_error(owner, "names", f"one of {', '.join(NAMES)}", names)
    found: dict[str, Attacker] = {}
    for name in (a for a in known if a in attackers):
        matches = name == "matched"
        if names != "ignored":
            views: tuple[str, ...] = (name,) if name in SINGLE else SINGLE
            found[name] = Attacker(name, tuple((v, v != "style") for v in views), matches)
        if names != "seen":
            # What is left of words without names is called style.
            single = "style" if name == "words" else name
            views = (single,) if name in SINGLE else features.NAMELESS_VIEWS
            if set(views) <= set(features.NAMELESS_VIEWS):
                label = single if single == "style" else single + NAMELESS
                found[label] = Attacker(label, tuple((v, False) for v in views), matches)
    if not found:
        raise parameter_error(owner, "attackers", "attackers that read more than names", attackers)
    return list(found.values())


def smallest_hashes(values: Sequence[str], most: int) -> np.ndarray:
    """Return the places of those with the smallest hashes, ascending: always the same sample."""
    order = sorted(range(len(values)), key=lambda i: (stable_hash(values[i]), values[i]))
    return np.array(sorted(order[:most]), dtype=np.int64)


def calibration_size(most: int, m: int) -> int:
    """Return how many labelled texts weights are fitted to: fewer where candidates are many."""
    return min(most, max(_LEAST_CALIBRATED, _CALIBRATION_CELLS // m))


def blocks(rows: np.ndarray, m: int) -> Iterator[np.ndarray]:
    """Yield parts of the rows of a table with `m` columns, bounded in cells."""
    step = max(1, CELLS // m)
    for start in range(0, len(rows), step):
        yield rows[start : start + step]


@dataclass(frozen=True)
class Guesses:
    """First guess, rank of the truth (0 without) and score of some texts."""

    guess: np.ndarray
    rank: np.ndarray
    score: np.ndarray

    @classmethod
    def of(cls, utility: np.ndarray, truth: np.ndarray) -> Guesses:
        """Rank candidates of higher utility first, ties in their order."""
        values = on_grid(utility)
        guess = values.argmax(axis=1)
        rows = np.arange(len(values))
        own = values[rows, truth][:, None]
        before = np.arange(values.shape[1]) < truth[:, None]
        ahead = (values > own).sum(axis=1) + ((values == own) & before).sum(axis=1)
        rank = np.where(truth >= 0, ahead + 1, 0)
        return cls(guess, rank, calibration.probabilities(utility)[rows, guess].round(9))

    @classmethod
    def joined(cls, parts: Sequence[Guesses]) -> Guesses:
        """Put the guesses about some texts after those about others."""
        return cls(
            np.concatenate([part.guess for part in parts]),
            np.concatenate([part.rank for part in parts]),
            np.concatenate([part.score for part in parts]),
        )


def results(
    ids: Sequence[str],
    candidates: Sequence[str],
    found: Mapping[str, tuple[Guesses, np.ndarray]],
) -> pd.DataFrame:
    """Return the table of guesses, one row for each attacker and text.

    Parameters
    ----------
    ids, candidates : sequence of str
        Texts and candidates by their numbers.
    found : mapping of str to (Guesses, numpy.ndarray)
        Attacker to its guesses, and for each text the score from which one is confident.
    """
    names, texts = np.array(candidates, dtype=object), np.array(ids, dtype=object)
    tables = [
        pd.DataFrame(
            {
                "id": texts,
                "guess": names[guesses.guess],
                "rank": pd.arrays.IntegerArray(guesses.rank.astype(np.int64), guesses.rank == 0),
                "score": guesses.score,
                "attacker": attacker,
                "confident": guesses.score >= thresholds,
            },
            columns=list(COLUMNS),
        )
        for attacker, (guesses, thresholds) in found.items()
    ]
    return pd.concat(tables, ignore_index=True)


def threshold_of(
    labelled: Sequence[tuple[np.ndarray, np.ndarray]],
    weights: np.ndarray,
    matches: bool,
    level: float,
) -> float:
    """Return the score from which a share `level` of the guesses about labelled texts is right."""
    parts = []
    for layers, labels in labelled:
        utility = calibration.utilities(weights, layers)
        parts.append(Guesses.of(calibration.matched(utility, 1) if matches else utility, labels))
    guesses = Guesses.joined(parts)
    return calibration.confidence_threshold(guesses.score, guesses.rank == 1, level)


def checked_level(owner: str, confidence: float) -> float:
    """Return the level of confidence when it is one.

    Raises
    ------
    ValueError
        Otherwise.
    """
    if not 0 < confidence < 1:
        raise parameter_error(owner, "confidence", "between 0 and 1", confidence)
    return confidence


def chunk_table(owner: str, chunks: pd.DataFrame, needed: Sequence[str]) -> pd.DataFrame:
    """Return a table of chunks in order of chunk_id.

    Raises
    ------
    ValueError
        When it has no rows, lacks a column, repeats a chunk_id or holds something other than str.
    """
    missing = sorted(set(needed) - set(getattr(chunks, "columns", ())))
    if missing or not len(chunks):
        raise parameter_error(
            owner,
            "chunks",
            f"a table with rows and columns {', '.join(needed)}",
            f"no {', '.join(missing)}" if missing else "an empty table",
        )
    if chunks["chunk_id"].duplicated().any():
        raise parameter_error(owner, "chunks", "a table with each chunk_id once", "repeated ids")
    wrong = {type(v).__name__ for column in needed for v in chunks[column]} - {"str"}
    if wrong:
        raise parameter_error(owner, "chunks", "a table of str", ", ".join(sorted(wrong)))
    return chunks.sort_values("chunk_id", ignore_index=True)
