"""What earlier releases add to earlier originals: ``python -m tests.benchmarks.bench_history``.

A generated corpus of ``--companies`` (100) invented companies that report in each of six quarters
about the same customers, partners, products and people; ``--again`` (20) calls of each quarter come
again, word for word, in the next one. Names are those that the generator put there; chunks are up
to five sentences of a presentation, their components those of a mixture of the bundled vectors.
Everything is then drawn, written and attacked in memory, once for each of ``--seeds`` (20) secrets:
the last quarter, by who holds the originals of 1 to 5 quarters before it, with and without their
releases (:mod:`nes_spark.audit.history`).

Printed is the share of the *new* documents of the last quarter that are named, as a mean over the
seeds. The strongest attacker of each kind is the one that names most on average over all seeds;
its advantage is the paired difference, with the standard error over seeds. ``--ids company`` gives
the document of a company the same id in every quarter, ``--unit document`` exchanges documents,
``--every`` attacks with 1 to 5 quarters. With ``--control`` the second attacker holds releases that
it has made itself, with a secret of its own, in the place of those that were published: what is
then named, earlier releases give nobody.
"""

from __future__ import annotations

import argparse
import itertools
import json
import re
import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pandas as pd

from nes_spark.audit.history import (
    ORIGINALS,
    RELEASES,
    KnownOriginals,
    Learned,
    attack_with_history,
)
from nes_spark.config import EntitiesConfig, MixtureConfig, ReleasesConfig, SwappingConfig
from nes_spark.demo.calls import Call
from nes_spark.demo.world import company
from nes_spark.embedding import load_embedder
from nes_spark.entities.linking import Located, link_document
from nes_spark.entities.mentions import Mention
from nes_spark.mixture import fit_mixture
from nes_spark.swapping.whole import options_of_whole, rewrite_whole, sample_whole
from tests.jobs import seed_named

PERIODS = ("2031Q1", "2031Q2", "2031Q3", "2031Q4", "2032Q1", "2032Q2")
WORLD = 2031
#: Sentences of a chunk.
SENTENCES = 5
PLACEHOLDERS = {"company": "[Company Name]", "person": "[Executive 1]", "url": "[URL]"}
CATEGORIES = ("Organization", "Person", "Product", "Location", "Event", "Date")


@dataclass(frozen=True)
class Document:
    """A call as suppressed: its chunks and the names in each."""

    document_id: str
    metadata: str
    texts: tuple[str, ...]
    mentions: tuple[tuple[Mention, ...], ...]


def suppressed(text: str, spans: Sequence[Sequence[Any]]) -> tuple[str, list[Mention]]:
    """Put placeholders in the place of direct identifiers, and return the mentions that stay."""
    out, kept, done = [], [], 0
    length = 0
    for start, end, kind, surface in spans:
        if kind not in PLACEHOLDERS and kind not in CATEGORIES:
            continue
        out.append(text[done:start])
        length += start - done
        new = PLACEHOLDERS.get(kind, surface)
        if kind in CATEGORIES:
            kept.append(Mention(length, length + len(new), kind, new))
        out.append(new)
        length += len(new)
        done = end
    return "".join([*out, text[done:]]), kept


def parts(text: str, mentions: Sequence[Mention]) -> Iterator[tuple[str, list[Mention]]]:
    """Cut a turn into chunks of some sentences; no mention is cut."""
    ends = [m.end() for m in re.finditer(r"[.?!] (?=[A-Z\\[])", text)]
    ends = [e for e in ends if not any(m.start < e < m.end for m in mentions)]
    cuts = [0, *ends[SENTENCES - 1 :: SENTENCES], len(text)]
    for start, stop in itertools.pairwise(cuts):
        if text[start:stop].strip():
            yield (
                text[start:stop],
                [
                    Mention(m.start - start, m.end - start, m.category, m.surface)
                    for m in mentions
                    if start <= m.start and m.end <= stop
                ],
            )


def document(number: int, period: str, length: float, ids: str) -> Document:
    """Make the call of one company in one period."""
    firm = company(WORLD, number)
    made = Call(firm, period, WORLD, f"{number} {period}", length)
    made.compose()
    name = f"doc-{number:04d}" if ids == "company" else f"doc-{period}-{number:04d}"
    spans: dict[int, list[Any]] = defaultdict(list)
    for turn, *span in made.gold:
        spans[turn].append(span)
    texts, found = [], []
    for at, turn in enumerate(made.turns[: made.questions]):
        for text, mentions in parts(*suppressed(turn["text"], sorted(spans[at]))):
            texts.append(text)
            found.append(mentions)
    located = [Located(str(k), m) for k, mine in enumerate(found) for m in mine]
    named = iter(link_document(located))
    linked = tuple(
        tuple(Mention(m.start, m.end, m.category, m.surface, next(named)) for m in mine)
        for mine in found
    )
    return Document(name, firm.name, tuple(texts), linked)


@dataclass(frozen=True)
class Quarter:
    """One quarter in chunks."""

    ids: list[str]
    texts: dict[str, str]
    owner: dict[str, str]
    metadata: dict[str, str]
    mentions: dict[str, list[Mention]]
    component: dict[str, int]
    new: frozenset[str]

    def entities(self, chunk: str) -> dict[str, list[str]]:
        """Return category -> names of a chunk."""
        found: dict[str, set[str]] = {c: set() for c in CATEGORIES}
        for m in self.mentions[chunk]:
            found[m.category].add(m.entity)
        return {c: sorted(names) for c, names in found.items()}


def quarters(companies: int, again: int, length: float, ids: str) -> tuple[list[Quarter], Any]:
    """Make all quarters, with components of one mixture, and that mixture."""
    made: list[list[Document]] = []
    fresh: list[frozenset[str]] = []
    for period in PERIODS:
        mine = [document(n, period, length, ids) for n in range(companies)]
        fresh.append(frozenset(d.document_id for d in mine))
        if made:
            # what comes again has the id that it had, which nothing else may have
            old = [d for d in made[-1] if d.document_id not in fresh[-1]][:again]
            mine += old
        made.append(mine)
    embed = load_embedder("bundled").embed
    default = MixtureConfig()
    first = [t for d in made[0] for t in d.texts]
    model = fit_mixture(
        embed(first), default.family[0], default.n_components[0], default.min_weight[0],
        default.n_init, default.max_iter, default.tol, b"mixture",
        max_radius=default.max_concentration,
    )  # fmt: skip
    found = []
    for mine, new in zip(made, fresh, strict=True):
        rows = [
            (f"{d.document_id}#{k:05d}", d, text, list(mentions))
            for d in mine
            for k, (text, mentions) in enumerate(zip(d.texts, d.mentions, strict=True))
        ]
        names = [r[0] for r in rows]
        place = model.predict(embed([r[2] for r in rows])).tolist()
        found.append(
            Quarter(
                names,
                {r[0]: r[2] for r in rows},
                {r[0]: r[1].document_id for r in rows},
                {r[0]: r[1].metadata for r in rows},
                {r[0]: r[3] for r in rows},
                dict(zip(names, place, strict=True)),
                new,
            )
        )
    return found, model


def release(quarter: Quarter, means: Mapping[int, Any], seed: str, unit: str, sticky: bool) -> Any:
    """Release a quarter by plan ``whole``; a table for :func:`attack_with_history`."""
    releases = ReleasesConfig(unit=unit)
    entities = {c: [quarter.entities(i)[c] for i in quarter.ids] for c in CATEGORIES}
    plans = sample_whole(
        quarter.ids,
        [quarter.metadata[i] for i in quarter.ids],
        [quarter.owner[i] for i in quarter.ids],
        [quarter.component[i] for i in quarter.ids],
        entities,
        options_of_whole(releases, EntitiesConfig(categories=list(CATEGORIES), labels={})),
        seed=seed, releases=releases, swapping=SwappingConfig(sticky=sticky), means=means,
    )  # fmt: skip
    done = rewrite_whole(quarter.texts, quarter.owner, quarter.mentions, plans)
    return pd.DataFrame(
        {
            "chunk_id": quarter.ids,
            "document_id": [quarter.owner[i] for i in quarter.ids],
            "metadata": [quarter.metadata[i] for i in quarter.ids],
            "text_before": [quarter.texts[i] for i in quarter.ids],
            "text_after": [done[i].text for i in quarter.ids],
            "entities": [quarter.entities(i) for i in quarter.ids],
            "edits": [[asdict(e) for e in done[i].edits] for i in quarter.ids],
        }
    )


def shares(found: pd.DataFrame, new: frozenset[str]) -> dict[tuple[str, str], float]:
    """Return (knows, attacker) -> the share of the new documents that are named."""
    mine = found[found["id"].isin(new)]
    right = (mine["rank"] == 1).fillna(False).astype(float)
    return right.groupby([mine["knows"], mine["attacker"]]).mean().to_dict()


def strongest(table: pd.DataFrame, knows: str) -> str:
    """Return the attacker that names most on average over seeds, the first by name of equals."""
    mine = table[table["knows"] == knows].groupby("attacker")["named"].mean()
    return str(mine.sort_index().idxmax())


def summary(table: pd.DataFrame) -> dict[str, Any]:
    """Compare the strongest attackers of both kinds over seeds, as a paired difference."""
    named = {}
    for knows in (ORIGINALS, RELEASES):
        attacker = strongest(table, knows)
        mine = table[(table["knows"] == knows) & (table["attacker"] == attacker)]
        named[knows] = attacker, mine.sort_values("seed")["named"].to_numpy()
    difference = named[RELEASES][1] - named[ORIGINALS][1]
    n = len(difference)
    return {
        "originals": float(named[ORIGINALS][1].mean()),
        "by": named[ORIGINALS][0],
        "releases": float(named[RELEASES][1].mean()),
        "by releases": named[RELEASES][0],
        "more": float(difference.mean()),
        "error": float(difference.std(ddof=1) / np.sqrt(n)) if n > 1 else float("nan"),
    }


def measure(options: argparse.Namespace) -> pd.DataFrame:
    """Draw, write and attack for all seeds: ``seed, held, knows, attacker, named``."""
    made, model = quarters(options.companies, options.again, options.length, options.ids)
    means = dict(enumerate(model.means))
    held = range(1, len(PERIODS)) if options.every else (len(PERIODS) - 1,)
    known: dict[int, tuple[KnownOriginals, Learned | None]] = {}
    rows = []
    # What the attacker makes of the earlier originals itself, with the same software.
    own = seed_named("the attacker's own")
    played = [release(q, means, own, options.unit, options.sticky) for q in made[:-1]]
    for number in range(options.seeds):
        seed = seed_named(f"history {number}")
        tables = [release(q, means, seed, options.unit, options.sticky) for q in made]
        for h in held:
            earlier = played[-h:] if options.control else tables[-1 - h : -1]
            if h not in known:
                mine = KnownOriginals(earlier)
                known[h] = mine, Learned(mine, played[-h:]) if h > 1 else None
            found = attack_with_history(
                earlier, tables[-1], originals=known[h][0], rehearsed=known[h][1],
                attackers=options.attackers.split(","),
            )  # fmt: skip
            rows += [(number, h, *key, share) for key, share in shares(found, made[-1].new).items()]
        print(".", end="", flush=True, file=sys.stderr)
        found = pd.DataFrame(rows, columns=["seed", "held", "knows", "attacker", "named"])
        if options.save:
            found.to_json(options.save, orient="records", lines=True)
    return found


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--companies", type=int, default=100)
    parser.add_argument("--again", type=int, default=20)
    parser.add_argument("--length", type=float, default=1.0)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--ids", choices=("document", "company"), default="document")
    parser.add_argument("--unit", choices=("chunk", "document"), default="chunk")
    parser.add_argument("--no-sticky", dest="sticky", action="store_false")
    parser.add_argument("--every", action="store_true", help="1 to 5 quarters, not 5 alone")
    parser.add_argument(
        "--control", action="store_true", help="the releases held are the attacker's own"
    )
    parser.add_argument("--attackers", default="names,words,combined,matched")
    parser.add_argument(
        "--save", help="write all shares to this file (JSON Lines), after each seed"
    )
    options = parser.parse_args()
    begun = time.time()
    found = measure(options)
    print(json.dumps(vars(options)))
    print("quarters held | originals and the new release | and earlier releases | more")
    for h, part in found.groupby("held"):
        s = summary(part)
        print(
            f"{h} | {s['originals']:.3f} ({s['by']}) | {s['releases']:.3f} ({s['by releases']}) | "
            f"{s['more']:+.4f} ± {s['error']:.4f}"
        )
    last = found[found["held"] == found["held"].max()]
    for (knows, attacker), named in last.groupby(["knows", "attacker"])["named"]:
        print(f"    {knows:<24}{attacker:<28}{named.mean():.3f}")
    print(f"{time.time() - begun:.0f} s")


if __name__ == "__main__":
    main()
