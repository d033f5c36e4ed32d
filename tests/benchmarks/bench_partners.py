"""What gives swapped chunks' partners away, and what hides them.

``python -m tests.benchmarks.bench_partners RUN_DIR [--swap Organization+Product] [--draws 10]``
takes chunks, names and components of a finished run folder ``OUT/PERIOD``, draws releases of them
in memory, and lets the adversary who knows about swapping (:mod:`nes_spark.audit.unswap`) look for
the partner of every swapped chunk. It knows the rules of each release: only chunks that could take
part are candidates, and chance is one of these.

Of plan ``pairs`` (at most 30 swaps of two categories) there are these forms:

``pairs``
    as the paper draws them;
``cover``, ``similar``, ``cosine``
    ``swapping.policy: cover``; ``swapping.matching: similar``; ``swapping.cosine_weight: 20``;
``until none is left``
    as many swaps as there are;
``k partners``
    only chunks with at least ten valid partners take part;
``any component``
    partners are not bound to components;
``rings of three``
    three chunks of a component pass their names on in a ring; the adversary asks whose names a
    chunk has;
``in no other chunk``
    only chunks whose names stand in no other chunk of their document take part;
``throughout``
    ``swapping.throughout``: a name that was exchanged becomes the same other name in all other
    chunks of its document.

``whole`` with the two categories alone stands beside them. Of plan ``whole`` (categories,
neighbours and treatments of the run) the prefixes at 10 to 100 % of the exchanges, and 100 % with
what is left over treated; ``document`` is the unit document, whose partners are documents. There
the adversary looks for the partner in each layer, and is told which layer it was.

Printed are swaps and changed chunks, the share found at the first guess and by chance, the share
that the adversary takes for the least likely (who turns its guesses round finds these),
and the mean cosine of changed chunks before and after (one draw, ``--judged`` chunks).
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import click
import numpy as np

from nes_spark.audit.unswap import score_suspects
from nes_spark.audit.unswap_memory import Chunk, Released
from nes_spark.config import ReleasesConfig, SwappingConfig
from nes_spark.embedding.contextual import load_contextual
from nes_spark.entities.mentions import Mention
from nes_spark.run.context import read_models
from nes_spark.run.published import PublishedRun
from nes_spark.swapping import sample_swaps
from nes_spark.swapping.constraints import constraints_of
from nes_spark.swapping.forms import forms_of
from nes_spark.swapping.parts import as_written
from nes_spark.swapping.population import Population, sets_of
from nes_spark.swapping.rewriting import Replacement, rewrite_text
from nes_spark.swapping.seeds import Secret
from nes_spark.swapping.whole import options_of_whole, sample_whole
from nes_spark.utility.judge import Reader
from tests.jobs import seed_named

MOST = 30
#: Valid partners of ``k partners``.
K = 10
SHARES = (0.1, 0.25, 0.5, 0.75, 1.0)

Names = dict[str, list[str]]


class Corpus:
    """Chunks of a run: names, documents, components, texts."""

    def __init__(self, run_dir: str) -> None:
        run = PublishedRun(run_dir)
        self.config = run.config
        store, setting = run.store, run.choice.setting
        rows = store.rows("cells", ["chunk_id", "document_id", "metadata", "entities"])
        self.names: dict[str, Names] = {}
        self.document: dict[str, str] = {}
        self.metadata: dict[str, str] = {}
        for chunk, document, metadata, entities in sorted(rows, key=lambda r: r[0]):
            self.names[chunk] = {c: sorted(v or ()) for c, v in dict(entities).items()}
            self.document[chunk], self.metadata[chunk] = document, metadata
        self.ids = list(self.names)
        self.component: dict[str, Hashable] = run.components()
        self.means = dict(enumerate(read_models(store)[setting].means))
        self.vector = {
            c: np.asarray(v) for c, v in store.rows("embeddings", ["chunk_id", "vector"])
        }
        self.text = dict(store.rows("chunks", ["chunk_id", "text"]))
        self.mentions: dict[str, list[Mention]] = defaultdict(list)
        columns = ["chunk_id", "start", "end", "category", "surface", "entity"]
        for chunk, start, end, category, surface, entity in store.rows("mentions", columns):
            self.mentions[chunk].append(Mention(start, end, category, surface, entity))
        self.hidden = [*self.config.releases.must_change, *self.config.releases.shift]


@dataclass
class Drawn:
    """One release: who got whose names.

    Attributes
    ----------
    swaps : int
    partner : dict
        Group of swaps (a layer) -> chunk -> whose names it got.
    changed : dict
        chunk -> category, name -> what came in its place.
    among : set of str, optional
        The chunks that could take part; by default all.
    one_way, any_component : bool
        What the adversary must know.
    """

    swaps: int
    partner: dict[str, dict[str, str]]
    changed: dict[str, dict[tuple[str, str], str]]
    among: set[str] | None = None
    one_way: bool = False
    any_component: bool = False
    shown: dict[str, Names] = field(default_factory=dict)

    def finish(self, corpus: Corpus) -> Drawn:
        """Work out what every chunk shows."""
        for chunk, names in corpus.names.items():
            new = self.changed.get(chunk, {})
            self.shown[chunk] = {
                c: sorted({e for n in mine if (e := new.get((c, n), n)) and not e.startswith("[")})
                for c, mine in names.items()
            }
        return self


def pairs(
    corpus: Corpus,
    swap: Sequence[str],
    seed: str,
    among: set[str] | None = None,
    any_component: bool = False,
    most: int | None = MOST,
    throughout: bool = False,
    **options: Any,
) -> Drawn:
    """Draw swaps of plan ``pairs``."""
    ids = [i for i in corpus.ids if among is None or i in among]
    found = sample_swaps(
        ids,
        [corpus.metadata[i] for i in ids],
        None if any_component else [corpus.component[i] for i in ids],
        {c: [corpus.names[i].get(c, []) for i in ids] for c in _seen(corpus)},
        swap,
        seed=seed,
        max_swaps=most,
        vectors=np.array([corpus.vector[i] for i in ids]),
        **options,
    )
    partner: dict[str, str] = {}
    changed: dict[str, dict[tuple[str, str], str]] = defaultdict(dict)
    for one in found:
        partner[one.chunk_a], partner[one.chunk_b] = one.chunk_b, one.chunk_a
        for e in one.exchanged:
            chunk = one.chunk_a if e.side == "a" else one.chunk_b
            changed[chunk][e.category, e.old] = e.new
    if throughout:
        told: dict[str, dict[tuple[str, str], str]] = defaultdict(dict)
        for chunk in partner:  # in the order of the swaps
            for key, new in changed[chunk].items():
                told[corpus.document[chunk]].setdefault(key, new)
        for chunk in corpus.ids:
            if chunk not in partner:
                mine = {(c, n) for c, names in corpus.names[chunk].items() for n in names}
                more = told.get(corpus.document[chunk], {})
                if here := {key: more[key] for key in mine & more.keys()}:
                    changed[chunk] = here
    drawn = Drawn(len(found), {"+".join(swap): partner}, dict(changed), among)
    drawn.any_component = any_component
    return drawn.finish(corpus)


def _seen(corpus: Corpus) -> list[str]:
    """Return the categories that are compared."""
    return [c for c in corpus.config.entities.categories if c not in corpus.hidden]


def valid_partners(corpus: Corpus, swap: Sequence[str]) -> dict[str, list[str]]:
    """Return the valid partners of each chunk of its component."""
    groups: dict[Hashable, list[str]] = defaultdict(list)
    for i in corpus.ids:
        if all(corpus.names[i].get(c) for c in swap):
            groups[corpus.component[i]].append(i)
    outside = [c for c in _seen(corpus) if c not in swap]
    found: dict[str, list[str]] = {}
    for ids in groups.values():
        population = Population(
            [corpus.metadata[i] for i in ids],
            [tuple(tuple(corpus.names[i].get(c, ())) for c in outside) for i in ids],
            [sets_of([corpus.names[i][c] for i in ids]) for c in swap],
            constraints=constraints_of(),
        )
        table = population.valid(np.arange(len(ids)))
        for i, row in zip(ids, table, strict=True):
            found[i] = [ids[k] for k in np.flatnonzero(row)]
    return found


def alone(corpus: Corpus, swap: Sequence[str]) -> set[str]:
    """Return the chunks whose names stand in no other chunk of their document."""
    where: dict[tuple[str, str, str], int] = defaultdict(int)
    for i in corpus.ids:
        for c in swap:
            for n in corpus.names[i].get(c, ()):
                where[corpus.document[i], c, n.casefold()] += 1
    return {
        i
        for i in corpus.ids
        if all(
            where[corpus.document[i], c, n.casefold()] == 1
            for c in swap
            for n in corpus.names[i].get(c, ())
        )
    }


def rings(corpus: Corpus, swap: Sequence[str], seed: str) -> Drawn:
    """Let three chunks pass on their names, all with valid partners of each other, by lot."""
    valid = valid_partners(corpus, swap)
    secret = Secret(seed)
    order = sorted(valid, key=lambda i: secret.digest("ring", i))
    free = set(order)
    changed: dict[str, dict[tuple[str, str], str]] = {}
    partner: dict[str, str] = {}
    for a in order:
        if len(partner) >= 2 * MOST:
            break
        if a not in free:
            continue
        mine = sorted(free & set(valid[a]), key=lambda i: secret.digest("ring", a, i))
        ring = next(((a, b, c) for b in mine for c in mine if b in valid[c]), None)
        if ring is None:
            continue
        free -= set(ring)
        for taker, giver in zip(ring, (*ring[1:], ring[0]), strict=True):
            partner[taker] = giver
            changed[taker] = {
                (c, n): corpus.names[giver][c][k % len(corpus.names[giver][c])]
                for c in swap
                for k, n in enumerate(corpus.names[taker][c])
            }
    drawn = Drawn(len(partner) // 2, {"+".join(swap): partner}, changed, one_way=True)
    return drawn.finish(corpus)


def whole(
    corpus: Corpus, seed: str, unit: str, swap: Sequence[str] | None = None
) -> Callable[[float | None], Drawn]:
    """Draw plan ``whole``; the function returns a prefix of it, None for the complete one."""
    changes = {"plan": "whole", "unit": unit, "further": []}
    if swap is not None:
        changes["swap"] = list(swap)
    releases: ReleasesConfig = corpus.config.releases.model_copy(update=changes)
    swapping: SwappingConfig = corpus.config.swapping
    options = options_of_whole(releases, corpus.config.entities)
    ids = corpus.ids
    (plan,) = sample_whole(
        ids,
        [corpus.metadata[i] for i in ids],
        [corpus.document[i] for i in ids],
        [corpus.component[i] for i in ids],
        {c: [corpus.names[i].get(c, []) for i in ids] for c in corpus.config.entities.categories},
        options,
        seed=seed,
        releases=releases,
        swapping=swapping,
        means=corpus.means,
    )

    def prefix(share: float | None) -> Drawn:
        n = None if share is None else plan.prefix(share)
        changed: dict[str, dict[tuple[str, str], str]] = defaultdict(dict)
        for fate in plan.fates(n):
            if fate.replacement is not None and fate.category in releases.swap:
                changed[fate.chunk_id][fate.category, fate.entity] = fate.replacement
        partner: dict[str, dict[str, str]] = defaultdict(dict)
        swaps = plan.swaps[: len(plan.swaps) if n is None else n]
        for s in swaps:
            if s.neighbour == 0:
                partner[s.combination][s.chunk_a] = s.chunk_b
                partner[s.combination][s.chunk_b] = s.chunk_a
        return Drawn(len(swaps), dict(partner), dict(changed)).finish(corpus)

    return prefix


def found_first(corpus: Corpus, drawn: Drawn, unit: str = "chunk") -> np.ndarray:
    """Return the sums over swapped units: of units, found at the first guess, by chance, last."""
    total = np.zeros(4)
    shown, before, document, metadata, component = _units(corpus, drawn, unit)
    for name, partner in drawn.partner.items():
        chunks = [
            Chunk(
                i,
                document[i],
                metadata[i],
                ("out", i)
                if drawn.among is not None and i not in drawn.among
                else None
                if drawn.any_component
                else component[i],
                before[i],
                shown[i],
            )
            for i in shown
        ]
        swap = name.split("+")
        groups = Released(chunks, swap, corpus.hidden).suspects(partner).values()
        for group in groups:
            if any(s.partner for s in group):
                for s in score_suspects(group, swap, one_way=drawn.one_way):
                    if s.chunk_id in partner:
                        chance = 1 / s.candidates if s.candidates else 0.0
                        total += [1, s.rank == 1, chance, s.rank == s.candidates]
    return total


def _units(corpus: Corpus, drawn: Drawn, unit: str) -> tuple[Mapping[str, Any], ...]:
    if unit == "chunk":
        return drawn.shown, corpus.names, corpus.document, corpus.metadata, corpus.component
    shown: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    before: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    metadata = {}
    for i, d in corpus.document.items():
        metadata[d] = corpus.metadata[i]
        for table, names in ((shown, drawn.shown[i]), (before, corpus.names[i])):
            for c, mine in names.items():
                table[d][c].update(mine)

    def listed(table: Mapping[str, Mapping[str, set[str]]]) -> dict[str, Names]:
        return {d: {c: sorted(v) for c, v in names.items()} for d, names in table.items()}

    same = {d: d for d in metadata}
    return listed(shown), listed(before), same, metadata, dict.fromkeys(metadata)


class Judge:
    """Mean cosine of changed chunks before and after."""

    def __init__(self, corpus: Corpus, most: int) -> None:
        self._corpus, self._most = corpus, most
        self._reader = Reader(load_contextual().embed) if most else None
        self._forms: dict[tuple[str, str], tuple[str, ...]] = {}
        for mentions in corpus.mentions.values():
            for key, forms in forms_of(mentions).items():
                self._forms.setdefault(key, tuple(forms))

    def __call__(self, drawn: Drawn) -> float:
        if self._reader is None:
            return float("nan")
        secret = Secret("which chunks are judged")
        changed = sorted(drawn.changed, key=lambda i: secret.digest("judge", i))[: self._most]
        before, after = [], []
        for chunk in changed:
            new = {
                key: Replacement(name, self._forms.get((key[0], name), (as_written(name, key[0]),)))
                for key, name in drawn.changed[chunk].items()
            }
            text = self._corpus.text[chunk]
            before.append(text)
            after.append(rewrite_text(text, self._corpus.mentions[chunk], new).text)
        self._reader.read([*before, *after])
        return float(self._reader.cosines(before, after).mean())


@click.command()
@click.argument("run_dir", type=click.Path(file_okay=False, exists=True))
@click.option("--swap", default="Organization+Product", show_default=True)
@click.option("--draws", default=10, show_default=True)
@click.option("--judged", default=60, show_default=True)
@click.option("--only", default="", help="Forms whose names hold this.")
def main(run_dir: str, swap: str, draws: int, judged: int, only: str) -> None:
    """Print the table."""
    begun = time.time()
    corpus = Corpus(run_dir)
    j = swap.split("+")
    judge = Judge(corpus, judged)
    many = {i for i, v in valid_partners(corpus, j).items() if len(v) >= K}
    single = alone(corpus, j)
    forms: dict[str, Callable[[str], Drawn]] = {
        "pairs": lambda s: pairs(corpus, j, s),
        "cover": lambda s: pairs(corpus, j, s, policy="cover"),
        "similar": lambda s: pairs(corpus, j, s, matching="similar"),
        "cosine": lambda s: pairs(corpus, j, s, cosine_weight=20),
        "until none is left": lambda s: pairs(corpus, j, s, most=None),
        f"{K} partners": lambda s: pairs(corpus, j, s, among=many),
        "any component": lambda s: pairs(corpus, j, s, any_component=True),
        "rings of three": lambda s: rings(corpus, j, s),
        "in no other chunk": lambda s: pairs(corpus, j, s, among=single),
        "in no other chunk, any component": lambda s: pairs(
            corpus, j, s, among=single, any_component=True
        ),
        "throughout": lambda s: pairs(corpus, j, s, throughout=True),
        "throughout, cover": lambda s: pairs(corpus, j, s, throughout=True, policy="cover"),
    }
    click.echo("release | swaps | chunks changed | first guess | by chance | last | cosine")

    def tell(name: str, drawn: Sequence[Drawn], unit: str = "chunk") -> None:
        total = sum(found_first(corpus, d, unit) for d in drawn)
        click.echo(
            f"{name} | {np.mean([d.swaps for d in drawn]):.1f} | "
            f"{np.mean([len(d.changed) for d in drawn]):.0f} | {total[1] / total[0]:.3f} | "
            f"{total[2] / total[0]:.3f} | {total[3] / total[0]:.3f} | {judge(drawn[0]):.3f}"
        )

    seeds = [seed_named(f"partners {n}") for n in range(draws)]
    for name, draw in forms.items():
        if only in name:
            tell(f"{swap}: {name}", [draw(s) for s in seeds])
    if only in "whole, two categories":
        plans = [whole(corpus, s, "chunk", j) for s in seeds]
        tell(f"whole, {swap} alone: complete", [p(None) for p in plans])
    for unit in ("chunk", "document"):
        if only and only not in f"whole {unit}":
            continue
        plans = [whole(corpus, s, unit) for s in seeds]
        for share in (*SHARES, None):
            label = "complete" if share is None else f"{share:.0%}"
            tell(f"whole, {unit}: {label}", [p(share) for p in plans], unit)
    click.echo(f"{time.time() - begun:.0f} s")


if __name__ == "__main__":
    main()
