"""The judge: a contextual encoder reads a sample of the changed chunks, whatever embeds the corpus.

Averages of token vectors move *towards* the centre of a component when names stop fitting their
sentences, so what is measured with them calls damage a gain. Fidelity, the mean cosine between a
chunk before and after, is therefore measured with an encoder that reads words in their context, on
as many texts as a budget allows, however large the corpus is.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nes_spark.errors import parameter_error
from nes_spark.utility.anchors import (
    AnyPartner,
    Original,
    half_deleted,
    names_blanked,
    random_other,
)
from nes_spark.utility.panel import MEASURES, Changed, Measured, clustered_mean, panel, share
from nes_spark.utility.sampling import position, uniform, weights, within_budget
from nes_spark.utility.tasks import UtilityTask

Vectors = NDArray[np.float32]
Embed = Callable[[Sequence[str]], Vectors]

#: Share of the budget that candidates may use; the rest is for the chosen release and its anchors.
CANDIDATES_SHARE = 0.6
#: Share of the candidates' texts that chunks may use in which nothing but placeholders changes.
REPLACED_SHARE = 0.2
#: Share of what is left that texts of the chosen release may use, and then the blanked names.
RELEASE_SHARE, BLANKED_SHARE = 1 / 3, 0.6
#: Cosines are rounded to this many decimals, so that kinds of processors agree on what is chosen.
DECIMALS = 5
#: Order of a chunk as it was, and of a chunk in which only must-change categories are replaced.
BEFORE, REPLACED = -1, 0

RELEASE = "release"
UNCHANGED = "unchanged"
NAMES_BLANKED = "names_blanked"
#: What the rows of table ``utility`` are about, in the order of the report, and what it is.
SUBJECTS = {
    UNCHANGED: "nothing changed",
    RELEASE: "this release",
    NAMES_BLANKED: "the same names replaced by placeholders",
    "any_partner": "the same names replaced by names from chunks of any component",
    "half_deleted": "half of the words deleted",
    "random_other": "another random chunk of the same component",
}
#: Measure of the release: how much lower its fidelity is than that of the blanked names.
BELOW_BLANKING = "below_blanking"


def digest_of(text: str) -> str:
    """Return the SHA-256 of a text, by which the judge knows it again."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


class Reader:
    """Reads texts, each once.

    Parameters
    ----------
    embed : callable
        From texts to unit rows; called at most once for each text.
    known : mapping of str to ndarray
        Digest -> vector of what was read before.
    """

    def __init__(self, embed: Embed, known: Mapping[str, Vectors] | None = None) -> None:
        self._embed = embed
        self.known = dict(known or {})

    def read(self, texts: Iterable[str]) -> None:
        """Embed all texts that are new, in one call."""
        new = {digest_of(t): t for t in texts if t and digest_of(t) not in self.known}
        if new:
            self.known.update(zip(new, self._embed([*new.values()]), strict=True))

    def vectors(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """Return the vectors of texts that were read, shape (n, d); zeros for an empty text.

        Nothing is like an empty text, so its cosine with any text is 0.
        """
        if not texts:
            return np.zeros((0, 1))
        width = len(next(iter(self.known.values()))) if self.known else 1
        nothing = np.zeros(width, dtype=np.float32)
        return np.asarray(
            [self.known[digest_of(t)] if t else nothing for t in texts], dtype=np.float64
        )

    def cosines(self, first: Sequence[str], second: Sequence[str]) -> NDArray[np.float64]:
        """Return the rounded cosine of each pair of texts; exactly 1 for equal ones."""
        found = np.einsum("ij,ij->i", self.vectors(first), self.vectors(second))
        same = np.array([a == b for a, b in zip(first, second, strict=True)], dtype=bool)
        return np.where(same, 1.0, np.round(found, DECIMALS))


@dataclass(frozen=True)
class History:
    """One chunk in one sequence of swaps.

    Attributes
    ----------
    combination : str
        The sequence; '' for chunks in which must-change categories are replaced.
    draw, component : int
    chunk_id, document_id : str
    rank, size : int
        Place of its hash (from 1) among the chunks of its component that the sequence changes, and
        how many they are.
    steps : tuple of (int, str)
        Order of each swap of it, and its text from then on, ascending.
    """

    combination: str
    draw: int
    component: int
    chunk_id: str
    document_id: str
    rank: int
    size: int
    steps: tuple[tuple[int, str], ...] = ()

    def at(self, key: str) -> tuple[float, str]:
        """Where it stands in the order in which the sample is taken."""
        start = uniform(key, self.combination, self.draw, self.component)
        return (position(self.rank, self.size, start), uniform(key, self.chunk_id).hex())


@dataclass(frozen=True)
class Reach:
    """How many chunks sequences of swaps change.

    Attributes
    ----------
    n_chunks : int
        Of the corpus.
    n_replaced : int
        Chunks with a category that is replaced everywhere.
    longest : mapping
        (combination, draw) -> swaps.
    changed, both : mapping
        (combination, draw) -> {order: chunks that are first swapped by it}; the second counts those
        that hold a category which is replaced everywhere.
    first : mapping
        (combination, draw) -> {chunk_id: order of its first swap}, for the sampled ones of those.
    """

    n_chunks: int
    longest: Mapping[tuple[str, int], int]
    changed: Mapping[tuple[str, int], Mapping[int, int]]
    n_replaced: int = 0
    both: Mapping[tuple[str, int], Mapping[int, int]] = field(default_factory=dict)
    first: Mapping[tuple[str, int], Mapping[str, int]] = field(default_factory=dict)


@dataclass(frozen=True)
class Judged:
    """What the judge makes of the candidates.

    Attributes
    ----------
    texts : list of dict
        Rows of table ``judged`` without setting.
    fidelity : list of dict
        Rows of table ``fidelity`` without setting.
    """

    texts: list[dict[str, Any]]
    fidelity: list[dict[str, Any]]


def judge_candidates(
    histories: Sequence[History],
    before: Mapping[str, str],
    reach: Reach,
    candidates: Mapping[str, Sequence[int]],
    embed: Embed,
    budget: int,
    key: str,
) -> Judged:
    """Measure the fidelity of candidates that share their texts.

    A chunk's text in the candidate with k swaps is its last one at or before k, so all candidates
    of a sequence are judged by the same texts. What is not changed yet has a cosine of exactly 1.

    Parameters
    ----------
    histories : sequence of History
        At least those that the budget can reach, of all sequences; with combination '' and one step
        of order 0 those of chunks in which only must-change categories are replaced.
    before : mapping of str to str
        chunk_id -> text as suppressed.
    reach : Reach
    candidates : mapping
        Combination -> numbers of swaps.
    embed : callable
        The encoder.
    budget : int
        Most distinct texts.
    key : str
        From :func:`nes_spark.utility.sampling.sampling_key`.

    Returns
    -------
    Judged
        The same whatever the order of the histories.
    """
    if budget < 1:
        raise parameter_error("judge_candidates", "budget", "at least 1", budget)

    def taken(of: list[History], texts: int, known: set[str]) -> list[History]:
        ordered = sorted(of, key=lambda h: (h.draw, *h.at(key), h.combination))
        own = [
            [digest_of(before[h.chunk_id]), *(digest_of(t) for _, t in h.steps)] for h in ordered
        ]
        found = ordered[: within_budget(own, texts, known)]
        known.update(d for row in own[: len(found)] for d in row)
        return found

    known: set[str] = set()
    quota = math.ceil(REPLACED_SHARE * budget)
    replaced = taken([h for h in histories if not h.combination], quota, known)
    exchanged = taken([h for h in histories if h.combination], budget - len(known), known)
    reader = Reader(embed)
    sample = [*replaced, *exchanged]
    reader.read(t for h in sample for t in (before[h.chunk_id], *(t for _, t in h.steps)))

    stands_for = _stands_for(replaced, histories) | _stands_for(exchanged, histories)
    texts: list[dict[str, Any]] = []
    cosine: dict[tuple[str, int, str, int], float] = {}

    def row(h: History, order: int, text: str, value: float, weight: float) -> dict[str, Any]:
        vector = reader.vectors([text])[0].astype(np.float32) if text else None
        return {
            "combination": h.combination,
            "draw": h.draw,
            "order": order,
            "chunk_id": h.chunk_id,
            "document_id": h.document_id,
            "component": h.component,
            "weight": weight,
            "cosine": value,
            "digest": digest_of(text),
            "vector": None if vector is None else vector.tolist(),
        }

    for h in {h.chunk_id: h for h in sample}.values():
        plain = History("", 0, h.component, h.chunk_id, h.document_id, h.rank, h.size)
        texts.append(row(plain, BEFORE, before[h.chunk_id], 1.0, 0.0))
    for h in sample:
        for order, text in h.steps:
            value = float(reader.cosines([before[h.chunk_id]], [text])[0])
            cosine[h.combination, h.draw, h.chunk_id, order] = value
            texts.append(row(h, order, text, value, stands_for[h]))

    found = [_at("", 0, replaced, [], cosine, stands_for, reach)]
    for combination, numbers in candidates.items():
        own = [h for h in exchanged if h.combination == combination]
        found += [_at(combination, k, replaced, own, cosine, stands_for, reach) for k in numbers]
    return Judged(texts, found)


def _stands_for(sample: Sequence[History], all_: Sequence[History]) -> dict[History, float]:
    """How many chunks, on average over the draws, each sampled history stands for."""
    sizes: dict[tuple[str, int], dict[int, int]] = {}
    for h in all_:
        sizes.setdefault((h.combination, h.component), {})[h.draw] = h.size
    draws: dict[str, set[int]] = {}
    for h in all_:
        draws.setdefault(h.combination, set()).add(h.draw)
    found: dict[History, float] = {}
    for combination in sorted({h.combination for h in sample}):
        own = [h for h in sample if h.combination == combination]
        total = {
            component: float(sum(of.values()))
            for (name, component), of in sizes.items()
            if name == combination
        }
        each = weights([h.component for h in own], total) / len(draws[combination])
        found |= dict(zip(own, each.tolist(), strict=True))
    return found


def _until(counts: Mapping[int, int], k: int) -> int:
    return sum(n for order, n in counts.items() if order <= k)


def _at(
    combination: str,
    k: int,
    replaced: Sequence[History],
    exchanged: Sequence[History],
    cosine: Mapping[tuple[str, int, str, int], float],
    stands_for: Mapping[History, float],
    reach: Reach,
) -> dict[str, Any]:
    """Estimate one candidate over the draws that reached its number of swaps."""
    draws = {d for (name, d), n in reach.longest.items() if name == combination and n >= k}
    values: list[float] = []
    each: list[float] = []
    clusters: list[str] = []
    ids: set[str] = set()

    def add(part: list[tuple[History, float, float]], size: float) -> bool:
        """Add (history, cosine, weight) of a part of the changed chunks; False for none of some."""
        total = math.fsum(w for _, _, w in part)
        if not total:
            return size < 1e-9
        for h, value, weight in part:
            values.append(value)
            each.append(weight * size / total)
            clusters.append(h.document_id)
            ids.add(h.chunk_id)
        return True

    n_swapped = n_both = 0.0
    part = []
    if combination:
        for d in draws:
            n_swapped += _until(reach.changed[combination, d], k) / len(draws)
            n_both += _until(reach.both.get((combination, d), {}), k) / len(draws)
        for h in exchanged:
            last = [order for order, _ in takewhile(lambda step: step[0] <= k, h.steps)]
            if h.draw in draws and last:
                value = cosine[combination, h.draw, h.chunk_id, last[-1]]
                part.append((h, value, stands_for[h]))
    known = add(part, n_swapped)
    rest, all_ = [], []
    for h in replaced:
        still = 1.0
        for d in draws if combination else ():
            swapped = reach.first.get((combination, d), {}).get(h.chunk_id, k + 1) <= k
            still -= swapped / len(draws)
        value = cosine["", h.draw, h.chunk_id, REPLACED]
        all_.append((h, value, stands_for[h]))
        if still > 1e-9:
            rest.append((h, value, stands_for[h] * still))
    # Where nearly all are exchanged none of those that are not may have been sampled: all that were
    # tell what replacing costs.
    known = add(rest or all_, reach.n_replaced - n_both) and known
    n = n_swapped + reach.n_replaced - n_both
    mean, error = clustered_mean(values, clusters, each)
    if n < 1e-9:
        mean, error = 1.0, 0.0
    elif not known:
        mean, error = math.nan, math.nan
    share_changed = n / reach.n_chunks
    return {
        "combination": combination,
        "n_swaps": k,
        "fidelity": mean,
        "fidelity_se": error,
        "corpus": 1 - share_changed * (1 - mean),
        "corpus_se": share_changed * error,
        "by_document": _by_document(values, clusters, each, mean, n / reach.n_chunks),
        "chunks": len(ids),
        "changed": n,
    }


def _by_document(
    values: Sequence[float],
    documents: Sequence[str],
    each: Sequence[float],
    mean: float,
    share_changed: float,
) -> dict[str, float]:
    """What each document adds to the error of a mean over the corpus (``clustered_mean``)."""
    total, m = math.fsum(each), len(set(documents))
    if m < 2 or math.isnan(mean):
        return {}
    parts: dict[str, list[float]] = {}
    for value, document, weight in zip(values, documents, each, strict=True):
        parts.setdefault(document, []).append(weight * (value - mean))
    scale = share_changed * math.sqrt(m / (m - 1)) / total
    return {document: scale * math.fsum(part) for document, part in sorted(parts.items())}


# -- the chosen release ----------------------------------------------------------------------------


@dataclass(frozen=True)
class Released:
    """A chunk that the release changed.

    Attributes
    ----------
    original : Original
        The chunk before, and what was replaced in it.
    text : str
        As released; empty for a chunk that is not published.
    log_density : float
        Of the chunk before under its component.
    rank, size : int
        Place of its hash among the changed chunks of its component, and how many they are.
    """

    original: Original
    text: str
    log_density: float
    rank: int
    size: int


@dataclass(frozen=True)
class Placing:
    """How texts are placed in the mixture of the run.

    Attributes
    ----------
    place : callable
        Texts, and the components before -> components after, log densities after under those
        before.
    log_f_before : float
        Sum over all chunks of the log density before.
    anchors : bool
        Whether anchors are placed too (not where each text is paid for).
    """

    place: Callable[[Sequence[str], NDArray[np.int64]], tuple[Any, Any]]
    log_f_before: float
    anchors: bool = True


def judge_release(
    released: Sequence[Released],
    n_chunks: int,
    embed: Embed,
    budget: int,
    key: str,
    placing: Placing,
    known: Mapping[str, Vectors] | None = None,
    tasks: Sequence[UtilityTask] = (),
) -> list[dict[str, Any]]:
    """Measure what a release costs, beside anchors on the same chunks.

    Parameters
    ----------
    released : sequence of Released
        At least as many changed chunks as the budget can reach.
    n_chunks : int
        Chunks of the corpus.
    embed : callable
        The encoder.
    budget : int
        Distinct texts that may be read beside those in ``known``: a third at most for the release,
        then .6 of the rest for the blanked names.
    key : str
        From :func:`nes_spark.utility.sampling.sampling_key`.
    placing : Placing
    known : mapping, optional
        Digest -> vector of texts that were read for the candidates.
    tasks : sequence of UtilityTask

    Returns
    -------
    list of dict
        Rows of table ``utility``. Every subject has its figure for each measure, with the number of
        chunks that it rests on; nothing but the first subject where no chunk was changed.
    """
    reader = Reader(embed, known)
    start = {c: uniform(key, RELEASE, c) for c in {r.original.component for r in released}}
    ordered = sorted(
        released,
        key=lambda r: (
            position(r.rank, r.size, start[r.original.component]),
            uniform(key, r.original.chunk_id),
        ),
    )
    sizes = {r.original.component: float(r.size) for r in released}
    left = budget

    def affordable(texts: Sequence[Sequence[str]], portion: int) -> int:
        """Read as many texts, from the first, as a portion of what is left pays for."""
        nonlocal left
        own = [[digest_of(t) for t in of if t] for of in texts]
        n = within_budget(own, portion, reader.known)
        had = len(reader.known)
        reader.read(t for of in texts[:n] for t in of)
        left -= len(reader.known) - had
        return n

    share_ = math.ceil(RELEASE_SHARE * left)
    sample = ordered[: affordable([[r.original.text, r.text] for r in ordered], share_)]
    chunks = [r.original for r in sample]
    named = [i for i, c in enumerate(chunks) if not c.gone]
    blanked = [names_blanked(chunks[i]) for i in named]
    blanked = blanked[: affordable([[t] for t in blanked], math.ceil(BLANKED_SHARE * left))]
    other = AnyPartner(chunks, key)
    partner = [other(chunks[i]) for i in named]
    partner = partner[: affordable([[t] for t in partner], math.ceil(left / 2))]
    halves = [half_deleted(c, key) for c in chunks]
    halves = halves[: affordable([[t] for t in halves], left)]
    numbers = random_other(chunks, key)
    paired = [i for i, j in enumerate(numbers) if j >= 0]

    texts_of: dict[str, tuple[list[int], list[str]]] = {
        RELEASE: ([*range(len(sample))], [r.text for r in sample]),
        NAMES_BLANKED: (named[: len(blanked)], blanked),
        "any_partner": (named[: len(partner)], partner),
        "half_deleted": ([*range(len(halves))], halves),
        "random_other": (paired, [chunks[numbers[i]].text for i in paired]),
    }
    changed = int(sum(sizes.values()))
    names = [*MEASURES, *(f"task_agreement/{task.name}" for task in tasks)]
    rows = [
        {
            "subject": UNCHANGED,
            "measure": name,
            "value": MEASURES[name].best if name in MEASURES else 1.0,
            "standard_error": 0.0,
            "corpus": MEASURES[name].best if name in MEASURES else 1.0,
            "chunks": 0,
            "changed": 0,
            "reason": "",
        }
        for name in names
    ]
    for subject, (numbers_, texts) in texts_of.items():
        if not texts:
            continue
        rows += _panel(
            subject,
            [sample[i] for i in numbers_],
            texts,
            n_chunks,
            sizes,
            reader,
            placing if subject == RELEASE or placing.anchors else None,
            tasks,
            changed,
        )
    if blanked:
        at = named[: len(blanked)]
        own = [chunks[i] for i in at]
        lost = reader.cosines([c.text for c in own], blanked) - reader.cosines(
            [c.text for c in own], [sample[i].text for i in at]
        )
        mean, error = clustered_mean(
            lost, [c.document_id for c in own], weights([c.component for c in own], sizes)
        )
        rows.append(
            {
                "subject": RELEASE,
                "measure": BELOW_BLANKING,
                "value": mean,
                "standard_error": error,
                "corpus": mean * changed / n_chunks,
                "chunks": len(own),
                "changed": changed,
                "reason": "",
            }
        )
    return rows


def _panel(
    subject: str,
    sample: Sequence[Released],
    after: Sequence[str],
    n_chunks: int,
    sizes: Mapping[int, float],
    reader: Reader,
    placing: Placing | None,
    tasks: Sequence[UtilityTask],
    n_changed: int,
) -> list[dict[str, Any]]:
    """All measures of one subject on a sample."""
    chunks = [r.original for r in sample]
    texts = [c.text for c in chunks]
    components = np.array([c.component for c in chunks], dtype=np.int64)
    placed: dict[str, Any] = {}
    if placing is not None:
        component, density = placing.place(after, components)
        placed = {
            "component_before": components,
            "component_after": component,
            "log_density_before": np.array([r.log_density for r in sample]),
            "log_density_after": density,
            "log_f_before": placing.log_f_before,
        }
    of = Changed(
        n_chunks=n_chunks,
        chunk_ids=[c.chunk_id for c in chunks],
        documents=[c.document_id for c in chunks],
        before=reader.vectors(texts),
        after=reader.vectors(after),
        texts_before=texts,
        texts_after=after,
        weights=weights(components.tolist(), sizes),
        **placed,
    )
    rows = panel(of)
    for task in tasks:
        found = task_agreement(of, task)
        rows.append(
            {
                "measure": f"task_agreement/{task.name}",
                "value": found.value,
                "standard_error": found.standard_error,
                "corpus": found.corpus,
                "reason": "",
            }
        )
    return [
        {
            "subject": subject,
            **{name: row[name] for name in ("measure", "value", "standard_error", "corpus")},
            "chunks": len(chunks),
            "changed": n_changed,
            "reason": row["reason"],
        }
        for row in rows
    ]


def task_agreement(changed: Changed, task: UtilityTask) -> Measured:
    """Share of the changed chunks that keep the label which a task gives them."""
    before = task.predict(list(changed.texts_before))
    after = task.predict(list(changed.texts_after))
    same = [a.label == b.label for a, b in zip(before, after, strict=True)]
    return share(np.array(same, dtype=np.float64), changed, 1.0)


def told(rows: Sequence[Mapping[str, Any]]) -> str:
    """Say in one sentence what the release cost, with anchors as a scale.

    Parameters
    ----------
    rows : sequence of mapping
        Of table ``utility``.

    Examples
    --------
    >>> row = {"measure": "fidelity", "standard_error": 0.004, "chunks": 300, "changed": 700}
    >>> told([row | {"subject": "release", "value": 0.853},
    ...       row | {"subject": "names_blanked", "value": 0.887}])
    'fidelity .853 (± .008) on 700 changed chunks; the same names replaced by placeholders .887'
    """
    found = {row["subject"]: row for row in rows if row["measure"] == "fidelity"}
    own = found.get(RELEASE)
    if own is None:
        return "nothing was changed"
    error = own["standard_error"]
    within = "" if error is None or math.isnan(error) else f" (± {_short(2 * error)})"
    line = f"fidelity {_short(own['value'])}{within} on {own['changed']:,} changed chunks"
    parts = [
        f"{SUBJECTS[name]} {_short(found[name]['value'])}"
        for name in SUBJECTS
        if name in found and name not in (RELEASE, UNCHANGED)
    ]
    return "; ".join([line, ", ".join(parts)]) if parts else line


def _short(value: float) -> str:
    return f"{value:.3f}".replace("0.", ".", 1)
