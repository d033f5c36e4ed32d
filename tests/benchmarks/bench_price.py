"""What it costs to make whole documents unnamable: treated, attacked and measured in memory.

``python -m tests.benchmarks.bench_price RUN_DIR`` takes the chunks, mentions and mixture of a
finished run and tries settings that go further and further: names, dates, quantities, and so many
terms of each document. For each it prints which share of the documents and chunks attackers name
who hold the other chunks, how many secrets are named who knows a few public words of each
(``public_words.tsv``), and what is left of the texts. One process; a minute or two a setting.
"""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import click
import numpy as np
import pandas as pd

from nes_spark.audit import attack_public_words
from nes_spark.audit.chunk_attack import attack_chunks
from nes_spark.audit.measured import AFTER, measure_documents
from nes_spark.embedding import load_embedder
from nes_spark.embedding.contextual import load_contextual
from nes_spark.entities.further import further_mentions
from nes_spark.entities.mentions import NAME, Mention
from nes_spark.entities.quantities import QUANTITY
from nes_spark.entities.terms import TERM, is_people, kin_of
from nes_spark.run.context import read_models
from nes_spark.run.published import PublishedRun
from nes_spark.swapping import Plan, invert_edits, sample_plan
from nes_spark.swapping.dates import date_replacements, draw_shift, reference_of
from nes_spark.swapping.forms import forms_of
from nes_spark.swapping.layers import layers_of
from nes_spark.swapping.parts import as_written
from nes_spark.swapping.rewriting import Replacement, rewrite_text
from nes_spark.swapping.seeds import Secret
from tests.benchmarks.bench_public_words import LISTS, read_words

#: Chunks whose fidelity is measured, those of the smallest digests.
SAMPLED = 120


@dataclass(frozen=True)
class Setting:
    """One release to try."""

    name: str
    names: bool = True
    shift: bool = True
    quantity: bool = False
    terms: int = 0
    unit: str = "chunk"
    matching: str = "random"
    donors: int = 1


SETTINGS = {
    s.name: s
    for s in (
        Setting("nothing", names=False, shift=False),
        Setting("names", shift=False),
        Setting("names, dates"),
        Setting("names, dates; names of like shape", matching="similar"),
        Setting("names, dates; documents", unit="document"),
        Setting("names, dates, quantities", quantity=True),
        *(
            Setting(f"names, dates; {n} terms", terms=n, matching="similar", donors=32)
            for n in (10, 20, 30, 40, 60, 100, 200, 400, 1000)
        ),
        *(
            Setting(f"names, dates; 40 terms; {n} donors", terms=40, matching="similar", donors=n)
            for n in (1, 8, 96)
        ),
    )
}


class Calls:
    """The tables of a finished run."""

    def __init__(self, run_dir: str) -> None:
        run = PublishedRun(run_dir)
        store = run.store
        self.config, self.models = run.config, read_models(store)
        self.setting = run.choice.setting
        self.model = self.models[self.setting]
        columns = ["chunk_id", "document_id", "metadata", "text"]
        self.chunks = store.read_pandas("chunks", columns).sort_values(
            "chunk_id", ignore_index=True
        )
        self.ids = self.chunks["chunk_id"].tolist()
        self.text = dict(zip(self.ids, self.chunks["text"], strict=True))
        self.document = dict(zip(self.ids, self.chunks["document_id"], strict=True))
        self.metadata = dict(zip(self.ids, self.chunks["metadata"], strict=True))
        self.period = dict(store.rows("documents", ["document_id", "period"]))
        self.mentions: dict[str, list[Mention]] = {i: [] for i in self.ids}
        fields = ["chunk_id", "start", "end", "category", "surface", "entity"]
        for chunk, *mention in store.rows("mentions", fields):
            if mention[2] not in (QUANTITY, TERM):
                self.mentions[chunk].append(Mention(*mention))
        placed = store.rows("assignments", ["setting", "chunk_id", "component"])
        self.component = {i: k for s, i, k in placed if s == self.setting}
        self.own: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
        for document, category, entity in store.rows(
            "own_names", ["document_id", "category", "entity"]
        ):
            self.own[document][category].append(entity)
        self.vectors = dict(store.rows("embeddings", ["chunk_id", "vector"]))
        self.swap = list(self.config.releases.swap)
        self.named = [i for i in self.ids if any(m.category in self.swap for m in self.mentions[i])]

    def found(self, setting: Setting) -> dict[str, list[Mention]]:
        """Return the mentions of each chunk, quantities and terms as the setting asks for."""
        found = {i: list(m) for i, m in self.mentions.items()}
        if setting.terms:
            # names of peoples are terms then, and none of the sweep
            for i, mine in found.items():
                found[i] = [
                    m
                    for m in mine
                    if m.category != NAME or not all(map(is_people, m.surface.split()))
                ]
        wanted = [QUANTITY] * setting.quantity + [TERM] * bool(setting.terms)
        more = further_mentions(
            self.text, self.document, self.metadata, found, wanted, setting.terms
        )
        for i, mine in more.items():
            found[i] += mine
        return found

    def plans(self, setting: Setting, found: dict[str, list[Mention]], seed: bytes) -> list[Plan]:
        """Draw the exchanges."""
        categories = [*self.config.entities.categories, QUANTITY, TERM]
        entities = {
            c: [sorted({m.entity for m in found[i] if m.category == c}) for i in self.ids]
            for c in dict.fromkeys(categories)
        }
        own = {c: [self.own[self.document[i]][c] for i in self.ids] for c in self.swap}
        base: dict[str, Any] = {
            "seed": seed,
            "fitting": False,
            "must_change": self.config.releases.must_change,
            "document_ids": [self.document[i] for i in self.ids],
        }
        units = (self.ids, [self.metadata[i] for i in self.ids])
        placed = [self.component[i] for i in self.ids]
        near = {
            "neighbours": self.config.releases.neighbours,
            "means": dict(enumerate(self.model.means)),
        }
        swap, layers = list(self.swap), layers_of(self.swap)
        if setting.terms:
            # terms come in no layer: all of them from donors
            swap.append(TERM)
            of: dict[str, set[str]] = defaultdict(set)
            for i, words in zip(self.ids, entities[TERM], strict=True):
                of[self.document[i]].update(chain.from_iterable(map(kin_of, words)))
            own[TERM] = [sorted(of[self.document[i]]) for i in self.ids]
        plans = []
        if setting.names:
            chunk = setting.unit == "chunk"
            plans.append(
                sample_plan(
                    *units, placed, entities, swap, unit=setting.unit, own_names=own,
                    layers=layers, matching=setting.matching, donors=setting.donors,
                    **(near if chunk else {}), **base,
                )
            )  # fmt: skip
        if setting.quantity:
            plans.append(sample_plan(*units, None, entities, [QUANTITY], unit="likeness", **base))
        return plans

    def released(self, setting: Setting, seed: bytes) -> tuple[dict[str, str], float]:
        """Return the texts of a release, and the share of words that were replaced in them."""
        found = self.found(setting)
        new: dict[str, dict[tuple[str, str], Replacement]] = {i: {} for i in self.ids}
        forms = {i: forms_of(m) for i, m in found.items()}
        for plan in self.plans(setting, found, seed):
            swapped = {c for layer in plan.layers for c in layer.split("+")} | {TERM}
            for fate in plan.fates():
                if fate.category in swapped and fate.replacement is not None:
                    key = (fate.category, fate.replacement)
                    told = forms.get(fate.partner or "", {}).get(key)
                    written = (as_written(fate.replacement, fate.category),)
                    new[fate.chunk_id][fate.category, fate.entity] = Replacement(
                        fate.replacement, told or written
                    )
        out, replaced, words = {}, 0, 0
        digest = Secret(seed).digest
        for i in self.ids:
            if setting.shift:
                shift = draw_shift(digest, self.document[i])
                reference = reference_of(self.period[self.document[i]])
                new[i] |= date_replacements(found[i], shift, reference)
            must = self.config.releases.must_change if setting.names else {}
            done = rewrite_text(self.text[i], found[i], new[i], must_change=must)
            assert invert_edits(done.text, done.edits) == self.text[i]
            out[i] = done.text
            replaced += sum(len(e.old.split()) for e in done.edits)
            words += len(self.text[i].split())
        return out, replaced / words

    def utility(self, texts: dict[str, str]) -> float:
        """Return DU."""
        changed = [i for i in self.ids if texts[i] != self.text[i]]
        labels = np.array([self.component[i] for i in self.ids])
        before = np.array([self.vectors[i] for i in self.ids])
        after = before.copy()
        if changed:
            place = {i: k for k, i in enumerate(self.ids)}
            after[[place[i] for i in changed]] = load_embedder("bundled").embed(
                [texts[i] for i in changed]
            )
        rows = np.arange(len(labels))
        density = [self.model.log_density(x)[rows, labels].sum() for x in (after, before)]
        return float(density[0] / density[1])

    def fidelity(self, texts: dict[str, str]) -> float:
        """Return the mean cosine under the contextual encoder of sampled chunks that changed."""
        digest = Secret(b"sample of the price").digest
        sampled = sorted(self.ids, key=digest)[:SAMPLED]
        changed = [i for i in sampled if texts[i] != self.text[i]]
        if not changed:
            return 1.0
        encoder = load_contextual(1)
        both = [encoder.embed([t[i] for i in changed]) for t in (self.text, texts)]
        return float(np.einsum("ij,ij->i", *both).mean())

    def public(self, texts: dict[str, str], words: dict[str, list[str]]) -> dict[str, float]:
        """Return how many secrets are named by public words, and how many with confidence."""
        documents: dict[str, list[str]] = defaultdict(list)
        truth = dict(zip(self.document.values(), self.metadata.values(), strict=True))
        first: dict[str, str] = {}
        for document in sorted(truth):
            first.setdefault(truth[document], document)
        for i in self.ids:
            if first[self.metadata[i]] == self.document[i]:
                documents[self.document[i]].append(texts[i])
        found = attack_public_words(
            {d: "\n\n".join(parts) for d, parts in documents.items()}, words, truth
        )
        return {
            "secrets": len(found),
            "named": float(found["named"].sum()),
            "surely and rightly": int(found["right"].sum()),
        }

    def named_share(self, texts: dict[str, str], seed: bytes) -> dict[str, float]:
        """Return the share of documents, and of chunks with names, that the strongest name."""
        table = self.chunks.rename(columns={"text": "text_before"})
        table["text_after"] = [texts[i] for i in self.ids]
        measured = measure_documents(table, [], Secret(seed).digest("half known"))
        after = measured[measured["side"] == AFTER].set_index("attacker")["named"]
        guesses = attack_chunks(table, asked=self.named, attackers=("words", "style", "combined"))
        right = guesses.assign(right=(guesses["rank"] == 1).fillna(False))
        chunks = right.groupby("attacker")["right"].mean()
        return {
            "documents, strongest": float(after.max()),
            "documents, words": float(after["words"]),
            "documents, style": float(after["style"]),
            "documents, phrases": float(after["phrases"]),
            "chunks, strongest": float(chunks.max()),
        }


@click.command()
@click.argument("run_dir", type=click.Path(file_okay=False, exists=True))
@click.option("--only", multiple=True, help="Settings by name; default: all.")
@click.option("--seed", default="price", show_default=True)
@click.option("--corpus", multiple=True, default=["earnings21"], help="Lists of public words.")
@click.option("--quick", is_flag=True, help="Public words alone, and the share of words.")
@click.option("--texts", type=click.Path(dir_okay=False), help="Write texts, as JSON Lines.")
def main(
    run_dir: str,
    only: tuple[str, ...],
    seed: str,
    corpus: tuple[str, ...],
    quick: bool,
    texts: str | None,
) -> None:
    """Print one line of JSON a setting, and a table at the end."""
    calls = Calls(run_dir)
    rows = []
    for name in only or SETTINGS:
        key = Secret(seed.encode().ljust(32, b".")).digest("bench price", size=32)
        after, share = calls.released(SETTINGS[name], key)
        row: dict[str, Any] = {"setting": name, "words replaced": share}
        for one in corpus:
            found = calls.public(after, read_words(LISTS, one))
            row |= {f"{one}, {part}": value for part, value in found.items()}
        if not quick:
            row |= calls.named_share(after, key)
            row |= {"DU": calls.utility(after), "fidelity": calls.fidelity(after)}
        if texts is not None:
            lines = [
                json.dumps(
                    {"setting": name, "chunk_id": i, "text": calls.text[i], "after": after[i]}
                )
                for i in calls.ids
            ]
            with Path(texts).open("a", encoding="utf-8") as file:
                file.write("\n".join(lines) + "\n")
        rows.append(row)
        click.echo(json.dumps(row))
    click.echo(pd.DataFrame(rows).round(3).to_string(index=False))


if __name__ == "__main__":
    main()
