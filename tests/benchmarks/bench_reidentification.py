"""How often can a court case be told from its anonymised text, and what is left of the text?

Run as ``python -m tests.benchmarks.bench_reidentification --data FOLDER [--seed N] [--method M]
[--judged N]``. FOLDER holds ``cases.jsonl`` (``document_id``, ``text``, ``spans``: method to a list
of ``[start, end, type]``, half-open code points) and ``background.jsonl`` (``metadata``, ``text``):
the test part of the Text Anonymization Benchmark (Pilán, Lison, Øvrelid, Papadopoulou, Sánchez &
Batet 2022) with other parts of the same judgments as what an attacker knows.

The spans of each method are carried into paragraphs and linked within a document as a run does with
spans that come with its input; types that are the package's categories by another name become these
(:data:`LABELS`). The texts are then attacked as they are and treated (:data:`TREATMENTS`): the
spans blanked, replaced by their category, exchanged plainly (every name takes the place of one of
its category of another document, drawn at random), and released as this package does it
(:func:`released`): plan ``whole`` in memory, with the components of a mixture of the bundled
vectors, donors and placeholders for what is left over, by the functions that a run uses. With
``+ N terms`` categories Term, N words of each case, and Quantity are treated too; what is blanked
are then the same places.

Printed is the share of cases named by each attacker of ``nes_spark.audit.documents``, with an
interval for the strongest that allows for cases that exchanged names, and what is left of
``--judged`` paragraphs with spans (0: none), the same for all treatments of a method: fidelity of
the contextual encoder, pMSE, topic agreement with the mixture, sentiment agreement. Then each
release is compared with the texts in which the same spans are blanked. ``trial`` is what the
nearest background by TF-IDF of words and word pairs named in a first trial on the same texts; the
command fails where the strongest attacker names fewer.

No attacker sees a truth. Which views there are, the ridge and the anchor of
``nes_spark.audit.calibration`` were chosen on pseudo-queries of the backgrounds and on the cases
with an even hash (:func:`looked_at`); the second table has the other cases alone.
"""

from __future__ import annotations

import argparse
import hashlib
import itertools
import json
import math
import os
import re
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from nes_spark.audit.attackers import ATTACKERS, NAMELESS
from nes_spark.audit.documents import DocumentAttack
from nes_spark.audit.shares import Share, share_named_dependent
from nes_spark.config import EntitiesConfig, MixtureConfig, ReleasesConfig
from nes_spark.embedding import load_embedder
from nes_spark.embedding.contextual import load_contextual
from nes_spark.entities.further import FURTHER, further_mentions
from nes_spark.entities.linking import Located, link_document
from nes_spark.entities.mentions import Mention
from nes_spark.mixture import MixtureModel, fit_mixture
from nes_spark.swapping import apply_edits
from nes_spark.swapping.plan import Unit
from nes_spark.swapping.rewriting import resolve_overlaps
from nes_spark.swapping.whole import options_of_whole, rewrite_whole, sample_whole
from nes_spark.text.given import place_spans, read_spans, spans_in_chunks
from nes_spark.utility.judge import Reader, task_agreement
from nes_spark.utility.panel import Changed, clustered_mean, panel
from nes_spark.utility.sentiment import Sentiment

#: The trial: original, blanked, swapped with the document and with the paragraph as unit.
TRIAL = {
    "manual": (0.93, 0.69, 0.68, 0.68),
    "presidio": (0.93, 0.86, 0.85, 0.87),
    "spacy": (0.93, 0.78, 0.74, 0.73),
    "ner4": (0.93, 0.91, 0.87, 0.87),
    "ner7": (0.93, 0.87, 0.85, 0.84),
}
#: Types of the methods that are a category of the package; other types are categories as they are.
LABELS = {
    **dict.fromkeys(("PERSON",), "Person"),
    **dict.fromkeys(("ORG", "ORGANIZATION"), "Organization"),
    **dict.fromkeys(("LOC", "LOCATION", "GPE", "FAC"), "Location"),
    **dict.fromkeys(("DATE", "DATETIME", "DATE_TIME"), "Date"),
}

Case = Mapping[str, Any]


def read(folder: Path) -> tuple[list[dict[str, Any]], dict[str, str]]:
    """Return the cases, and the background by candidate."""
    lines = (folder / "cases.jsonl").read_text(encoding="utf-8").splitlines()
    known = (folder / "background.jsonl").read_text(encoding="utf-8").splitlines()
    return (
        [json.loads(line) for line in lines],
        {row["metadata"]: row["text"] for row in map(json.loads, known)},
    )


def looked_at(case: str) -> bool:
    """Whether a case was looked at when settings were chosen."""
    return hashlib.blake2b(case.encode()).digest()[0] % 2 == 0


def lot(seed: bytes, *ids: str) -> int:
    """Return 64 keyed bits."""
    said = "\x1f".join(ids).encode()
    return int.from_bytes(hashlib.blake2b(said, digest_size=8, key=seed).digest(), "big")


@dataclass(frozen=True)
class Topics:
    """The mixture of a corpus, and the component of each paragraph."""

    model: MixtureModel
    component: dict[str, int]

    @classmethod
    def of(cls, texts: Mapping[str, str], seed: bytes) -> Topics:
        """Fit the default mixture of a run to the bundled vectors of all paragraphs."""
        default = MixtureConfig()
        vectors = load_embedder("bundled").embed(list(texts.values()))
        model = fit_mixture(
            vectors, default.family[0], min(default.n_components[0], len(texts)),
            default.min_weight[0], default.n_init, default.max_iter, default.tol, seed,
            max_radius=default.max_concentration,
        )  # fmt: skip
        return cls(model, dict(zip(texts, model.predict(vectors).tolist(), strict=True)))

    def place(self, texts: Sequence[str]) -> np.ndarray:
        """Return the components of other texts."""
        return np.asarray(self.model.predict(load_embedder("bundled").embed(list(texts))))


@dataclass(frozen=True)
class Corpus:
    """The cases in paragraphs, with the spans of one method.

    Attributes
    ----------
    texts, owner : dict
        Paragraph -> its text, and its case.
    mentions : dict
        Paragraph -> the spans in it, disjoint, with what they are called throughout the case.
    topics : Topics, optional
        None: partners are not bound to components.
    """

    texts: dict[str, str]
    owner: dict[str, str]
    mentions: dict[str, list[Mention]]
    topics: Topics | None = field(default=None, repr=False)

    @classmethod
    def of(cls, cases: Sequence[Case], method: str) -> Corpus:
        """Carry the spans of a method into paragraphs, and link them within each case."""
        found = cls({}, {}, {})
        for case in cases:
            document, text = case["document_id"], case["text"]
            breaks = [0, *(m.end() for m in re.finditer("\n\n", text)), len(text)]
            spans = [(a, b) for a, b in itertools.pairwise(breaks) if a < b]
            given = read_spans(case["spans"][method], None)
            if isinstance(given, str):
                raise ValueError(given)
            placed = place_spans(given, [text], [(0, text)], 2)
            if isinstance(placed, str):
                raise ValueError(placed)
            labels = {kind: LABELS.get(kind, kind) for _, _, kind in case["spans"][method]}
            parts, mentions, _ = spans_in_chunks(placed, text, spans, [], labels)
            ids = [f"{document}#{i:05d}" for i in range(len(parts))]
            for i, part in zip(ids, parts, strict=True):
                found.texts[i], found.owner[i], found.mentions[i] = part, document, []
            located = []
            for m in mentions:
                surface = parts[m.chunk][m.start : m.end]
                located.append(Located(ids[m.chunk], Mention(m.start, m.end, m.category, surface)))
            for at, entity in zip(located, link_document(located), strict=True):
                found.mentions[at.chunk].append(replace(at.mention, entity=entity))
        return found

    def further(self, terms: int) -> dict[str, list[Mention]]:
        """Return the spans, with so many terms of each case and all quantities if there are any."""
        if not terms:
            return self.mentions
        more = further_mentions(self.texts, self.owner, self.owner, self.mentions, FURTHER, terms)
        return {i: resolve_overlaps([*self.mentions[i], *more[i]]) for i in self.texts}


class Treated(NamedTuple):
    """Paragraph -> its text, and the cases that exchanged names."""

    texts: dict[str, str]
    pairs: list[tuple[str, str]]


#: From the paragraphs and a seed; another one is one entry of :data:`TREATMENTS`.
Treatment = Callable[[Corpus, bytes], Treated]


def original(corpus: Corpus, seed: bytes) -> Treated:
    """Leave everything as it is."""
    return Treated(dict(corpus.texts), [])


def written(
    corpus: Corpus, mentions: Mapping[str, Sequence[Mention]], new: Callable[[str, Mention], str]
) -> dict[str, str]:
    """Put something in the place of each mention of each paragraph."""
    return {
        i: apply_edits(
            text,
            [
                {"start": m.start, "end": m.end, "old": m.surface, "new": new(i, m)}
                for m in mentions[i]
            ],
        )
        for i, text in corpus.texts.items()
    }


def blanked(corpus: Corpus, seed: bytes, terms: int = 0) -> Treated:
    """Delete the spans, and where `terms` is not 0 terms and quantities."""
    return Treated(written(corpus, corpus.further(terms), lambda i, m: ""), [])


def placeholders(corpus: Corpus, seed: bytes) -> Treated:
    """Replace the spans by their categories."""
    return Treated(written(corpus, corpus.mentions, lambda i, m: f"[{m.category}]"), [])


def swapped(corpus: Corpus, seed: bytes, unit: Unit) -> Treated:
    """Exchange names with those of the same category in another case.

    A unit draws its partner among the other cases. Its names of a category take the partner's in an
    order drawn by lot, again from the first when there are too few; a category that the partner
    does not hold is drawn from all other cases.
    """
    held: dict[str, dict[str, set[str]]] = {case: {} for case in corpus.owner.values()}
    for i, mine in corpus.mentions.items():
        for m in mine:
            held[corpus.owner[i]].setdefault(m.category, set()).add(m.surface)
    cases = list(held)
    chosen: dict[tuple[str, str, str], str] = {}
    taken: dict[tuple[str, str], int] = {}
    pairs = set()

    def new(i: str, m: Mention) -> str:
        case = corpus.owner[i]
        place, key = (i if unit == "chunk" else case), m.category
        if (place, key, m.surface) not in chosen:
            others = [c for c in cases if c != case]
            partner = others[lot(seed, "partner", place) % len(others)]
            pairs.add((case, partner))
            names = held[partner].get(key) or {n for c in others for n in held[c].get(key, ())}
            order = sorted(names or {""}, key=lambda name: lot(seed, place, key, name))
            turn = taken.setdefault((place, key), 0)
            taken[place, key] += 1
            chosen[place, key, m.surface] = order[turn % len(order)]
        return chosen[place, key, m.surface]

    return Treated(written(corpus, corpus.mentions, new), sorted(pairs))


def released(corpus: Corpus, seed: bytes, unit: Unit, terms: int = 0) -> Treated:
    """Exchange spans, terms and quantities as a run of plan ``whole`` does, paragraphs as chunks.

    All categories in one layer and then each alone: methods have up to 16, and all their subsets
    would be 65,535 layers.
    """
    mentions = corpus.further(terms)
    ids = list(corpus.texts)
    owner = [corpus.owner[i] for i in ids]
    found = sorted({m.category for mine in mentions.values() for m in mine})
    names = [c for c in found if c not in FURTHER]
    more = [c for c in FURTHER if c in found]
    # words of others in the place of terms, as in the published figures
    releases = ReleasesConfig(
        swap=names, further=more, unit=unit, must_change={}, fixed=[], fitting=False
    )
    entities = EntitiesConfig(categories=[*names, *more], labels={})
    first, *rest = options_of_whole(releases, entities)
    layers = dict.fromkeys((tuple(names), *((c,) for c in first.swap)))
    topics = corpus.topics
    options = [replace(first, layers=tuple(layers)), *rest]
    if topics is None:
        options = [replace(one, neighbours=0) for one in options]
    plans = sample_whole(
        ids, owner, owner, None if topics is None else [topics.component[i] for i in ids],
        {c: [sorted({m.entity for m in mentions[i] if m.category == c}) for i in ids]
         for c in found},
        options, seed=seed, releases=releases,
        means=None if topics is None else dict(enumerate(topics.model.means)),
    )  # fmt: skip
    done = rewrite_whole(corpus.texts, corpus.owner, mentions, plans)
    pairs = set()
    for fate in (fate for plan in plans for fate in plan.fates()):
        if fate.partner is not None:
            other = corpus.owner.get(fate.partner, fate.partner)
            pairs.add((corpus.owner[fate.chunk_id], other))
    return Treated({i: one.text for i, one in done.items()}, sorted(pairs))


class Entry(NamedTuple):
    """A treatment, its place in :data:`TRIAL`, and what it is compared with."""

    treatment: Treatment
    trial: int | None = None
    against: str = ""


BLANKED = "blanked"
#: Terms of a case: few, and what a run takes by default, which is meant for longer texts.
FEW, MANY = 25, EntitiesConfig().terms


def _of(terms: int) -> dict[str, Entry]:
    """Return the treatments with so many terms."""
    name = f" + {terms} terms" if terms else ""
    return {
        BLANKED + name: Entry(
            lambda c, s: blanked(c, s, terms), None if terms else 1, BLANKED if terms else ""
        ),
        f"released{name}, document": Entry(
            lambda c, s: released(c, s, "document", terms), None, BLANKED
        ),
        f"released{name}, paragraph": Entry(
            lambda c, s: released(c, s, "chunk", terms), None, BLANKED
        ),
    }


#: Name to treatment.
TREATMENTS: dict[str, Entry] = {
    "original": Entry(original, 0),
    "placeholder by type": Entry(placeholders, None, BLANKED),
    "swapped plainly, document": Entry(lambda c, s: swapped(c, s, "document"), 2, BLANKED),
    "swapped plainly, paragraph": Entry(lambda c, s: swapped(c, s, "chunk"), 3, BLANKED),
    **_of(0),
    **_of(FEW),
    **_of(MANY),
}


def joined(corpus: Corpus, texts: Mapping[str, str]) -> dict[str, str]:
    """Return the text of each case."""
    found: dict[str, list[str]] = {}
    for i, text in texts.items():
        found.setdefault(corpus.owner[i], []).append(text)
    return {case: "\n\n".join(parts) for case, parts in found.items()}


class Judge:
    """What is left of some paragraphs with spans, the same ones for every treatment of a method."""

    def __init__(self, most: int, reader: Reader) -> None:
        self._most, self._reader = most, reader

    def sample(self, corpus: Corpus) -> list[str]:
        """Return the paragraphs with the smallest hashes among those with spans."""
        named = (i for i, mine in corpus.mentions.items() if mine)
        return sorted(sorted(named, key=lambda i: lot(b"judged", i))[: self._most])

    def cosines(self, corpus: Corpus, texts: Mapping[str, str]) -> np.ndarray:
        """Return the cosine of each sampled paragraph with what became of it."""
        ids = self.sample(corpus)
        both = [corpus.texts[i] for i in ids], [texts[i] for i in ids]
        self._reader.read(itertools.chain(*both))
        return self._reader.cosines(*both)

    def figures(self, corpus: Corpus, texts: Mapping[str, str]) -> dict[str, tuple[float, float]]:
        """Return value and standard error of each measure that there is."""
        ids = self.sample(corpus)
        before, after = [corpus.texts[i] for i in ids], [texts[i] for i in ids]
        self._reader.read([*before, *after])
        topics = corpus.topics
        changed = Changed(
            n_chunks=len(ids),
            chunk_ids=ids,
            documents=[corpus.owner[i] for i in ids],
            before=self._reader.vectors(before),
            after=self._reader.vectors(after),
            texts_before=before,
            texts_after=after,
            component_before=None if topics is None else [topics.component[i] for i in ids],
            component_after=None if topics is None else topics.place(after),
        )
        found = {
            row["measure"]: (row["value"], row["standard_error"])
            for row in panel(changed)
            if not row["reason"]
        }
        task = task_agreement(changed, Sentiment())
        return found | {"sentiment agreement": (task.value, task.standard_error)}


MEASURED = ("fidelity", "pMSE", "topic_agreement", "sentiment agreement")


@dataclass
class Result:
    """What became of the cases under one treatment of one method."""

    method: str
    name: str
    guesses: pd.DataFrame
    pairs: list[tuple[str, str]]
    utility: dict[str, tuple[float, float]] = field(default_factory=dict)
    cosines: np.ndarray = field(default_factory=lambda: np.zeros(0))
    owners: list[str] = field(default_factory=list)

    def share(self, attacker: str) -> Share:
        """Return the share of cases that an attacker named, with its interval."""
        mine = self.guesses[self.guesses["attacker"] == attacker]
        return share_named_dependent(mine, self.pairs)

    def named(self, attacker: str) -> np.ndarray:
        """Return for each case, in order of id, whether an attacker named it."""
        mine = self.guesses[self.guesses["attacker"] == attacker].sort_values("id")
        return (mine["rank"] == 1).fillna(False).to_numpy(dtype=np.float64)


def strongest(guesses: pd.DataFrame, order: Iterable[str]) -> str:
    """Return the attacker that names most, the first in `order` of equal ones."""
    right = (guesses["rank"] == 1).fillna(False).groupby(guesses["attacker"]).mean()
    return max(order, key=lambda attacker: right[attacker])


def difference(first: np.ndarray, second: np.ndarray, clusters: Any = None) -> tuple[float, float]:
    """Return the mean of paired differences and half the width of its 95 % interval.

    Where no two differ, what would still be unlikely (5 %) counts: 3 / n, the rule of three.
    """
    mean, error = clustered_mean(first - second, clusters)
    if not np.any(first != second):
        return 0.0, 3 / len(first)
    return mean, 1.96 * error


def figure(value: float) -> str:
    """Return a share as a table shows it."""
    return f"{value:.3f}".replace("0.", ".", 1) if value < 1 else "1.000"


def row(cells: Sequence[str]) -> str:
    """Return a line of a Markdown table."""
    return "| " + " | ".join(cells) + " |"


def signed(pair: tuple[float, float]) -> str:
    """Return a difference with its interval as a table shows it."""
    return f"{pair[0]:+.3f} ± {pair[1]:.3f}".replace("0.", ".")


def measured(pair: tuple[float, float] | None) -> str:
    """Return a measure with its standard error, if it has one, as a table shows it."""
    if pair is None:
        return ""
    value = figure(pair[0]) if pair[0] >= 0 else f"{pair[0]:.3f}"
    return value if math.isnan(pair[1]) else f"{value} ({figure(pair[1])})"


def compare(result: Result, other: Result, order: Sequence[str]) -> list[str]:
    """Compare a release with the text in which the same spans are blanked, case by case.

    The strongest attackers of each, chosen apart; the strongest of those that read names; names
    alone; words with names; then fidelity by paragraph and the ratio of the pMSE.
    """
    seeing = [a for a in order if not a.endswith(NAMELESS) and a not in ("style", "matched")]
    seeing = [a for a in seeing if a in ATTACKERS]
    cells = []
    for group in (order, seeing, ["names"], ["words"]):
        mine = result.named(strongest(result.guesses, group))
        cells.append(signed(difference(mine, other.named(strongest(other.guesses, group)))))
    if len(result.cosines):
        cells.append(signed(difference(result.cosines, other.cosines, result.owners)))
        below = other.utility["pMSE"][0]
        cells.append(f"{result.utility['pMSE'][0] / below:.2f}" if below else "")
    return cells


def attack_all(
    cases: Sequence[Case],
    background: Mapping[str, str],
    methods: Sequence[str],
    seed: bytes,
    judge: Judge | None,
    with_topics: bool = True,
) -> list[Result]:
    """Treat, attack and measure the cases by every method and treatment.

    Parameters
    ----------
    cases, background
        As :func:`read` returns them.
    methods : sequence of str
        Whose spans.
    seed : bytes
        Of exchanges and mixture.
    judge : Judge or None
        None: utility is not measured.
    with_topics : bool
        Whether partners of paragraphs are bound to components.
    """
    attack = DocumentAttack(background)
    truth = {case["document_id"]: case["document_id"] for case in cases}
    found: list[Result] = []
    topics = None
    for method in methods:
        corpus = Corpus.of(cases, method)
        if with_topics and topics is None:
            topics = Topics.of(corpus.texts, seed)
        corpus = replace(corpus, topics=topics)
        for name, entry in TREATMENTS.items():
            if name == "original" and found:
                continue  # the same for all methods
            texts, pairs = entry.treatment(corpus, seed)
            guesses = attack.attack(joined(corpus, texts), truth)
            result = Result(method, name, guesses, pairs)
            if judge is not None:
                result.utility = judge.figures(corpus, texts)
                result.cosines = judge.cosines(corpus, texts)
                result.owners = [corpus.owner[i] for i in judge.sample(corpus)]
            found.append(result)
            print(".", end="", flush=True, file=sys.stderr)
    print(file=sys.stderr)
    return found


def tables(results: Sequence[Result]) -> tuple[list[str], list[str]]:
    """Return the lines of all tables, and where fewer cases were named than in the trial."""
    attackers = list(dict.fromkeys(results[0].guesses["attacker"]))
    order = [a for name in reversed(ATTACKERS) for a in attackers if a.split("-")[0] == name]
    measures = [m for m in MEASURED if m in results[0].utility]
    n = results[0].guesses["id"].nunique()
    head = ["spans of", "text", "trial", "strongest", *order]
    lines = [f"Share of {n} cases named, by attacker; the strongest with its 95 % interval.\n"]
    lines += [row(head), row(["---"] * len(head))]
    apart = [row(["spans of", "text", "cases", "strongest", "share", "matched", "combined"])]
    apart.append(row(["---"] * 7))
    left = [row(["spans of", "text", *measures]), row(["---"] * (2 + len(measures)))]
    beside = ["strongest", "reads names", "names", "words"]
    beside += ["fidelity", "pMSE, ratio"] if measures else []
    against = [row(["spans of", "text", *beside]), row(["---"] * (2 + len(beside)))]
    by_name = {(r.method, r.name): r for r in results}
    weak = []
    for result in results:
        method, name = result.method, result.name
        shares = {a: result.share(a) for a in order}
        best = strongest(result.guesses, order)
        entry = TREATMENTS[name]
        trial = None if entry.trial is None else TRIAL[method][entry.trial]
        if trial is not None and round(shares[best].value, 2) < trial:
            weak.append(f"{method}, {name}")
        told = f"{figure(shares[best].value)} ({figure(shares[best].low)} to "
        told += f"{figure(shares[best].high)})"
        spans = "any" if name == "original" else method
        cells = [spans, name, "" if trial is None else figure(trial), told]
        lines.append(row([*cells, *(figure(shares[a].value) for a in order)]))
        # The strongest is named by the other half, so that it is not chosen by these truths.
        seen = result.guesses["id"].map(looked_at)
        unseen = result.guesses[~seen]
        if seen.any() and not seen.all():
            right = (unseen["rank"] == 1).fillna(False).groupby(unseen["attacker"]).mean()
            first = strongest(result.guesses[seen], order)
            told = [figure(right[a]) for a in (first, "matched", "combined")]
            apart.append(row([spans, name, str(unseen["id"].nunique()), first, *told]))
        if measures:
            left.append(row([spans, name, *(measured(result.utility.get(m)) for m in measures)]))
        if entry.against:
            compared = compare(result, by_name[method, entry.against], order)
            against.append(row([method, f"{name}, less {entry.against}", *compared]))
    lines += ["\nCases that no setting was chosen on, the strongest as the others name it.\n"]
    lines += apart
    if measures:
        lines += ["\nWhat is left of paragraphs with spans (standard error).\n", *left]
    lines += ["\nDifferences from the same spans blanked, with 95 % intervals.\n", *against]
    return lines, weak


def main() -> int:
    """Print the tables; return 1 where the strongest attacker names less than the trial."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.bench_reidentification")
    parser.add_argument("--data", type=Path, required=True, help="Folder of the benchmark.")
    parser.add_argument("--seed", type=int, default=1, help="Of the exchange.")
    parser.add_argument("--method", action="append", choices=list(TRIAL), help="Default: all.")
    parser.add_argument("--judged", type=int, default=150, help="Paragraphs of each method.")
    options = parser.parse_args()
    cases, background = read(options.data)
    started, busy = time.perf_counter(), time.process_time()
    judge = None
    if options.judged:
        encoder = load_contextual(threads=max(1, len(os.sched_getaffinity(0))))
        judge = Judge(options.judged, Reader(encoder.embed))
    results = attack_all(
        cases, background, options.method or list(TRIAL), str(options.seed).encode(), judge
    )
    lines, weak = tables(results)
    print("\n".join(lines))
    print(f"\n{time.perf_counter() - started:.0f} s, ", end="")
    print(f"{time.process_time() - busy:.0f} CPU s. Fewer named than in the trial: ", end="")
    print("; ".join(weak) or "nowhere.")
    return 1 if weak else 0


if __name__ == "__main__":
    raise SystemExit(main())
