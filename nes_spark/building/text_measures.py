"""Measure presentation boundaries and suppression on hand-read calls.

``python -m nes_spark.building.text_measures CORPORA [--given company] [--gold FILE]`` reads
``earnings21/calls.jsonl`` and ``earnings21/gold.jsonl`` under CORPORA and prints both sets of
figures. With ``--given company`` the suppression knows nothing but the company's name: no aliases
and no speakers. Texts are shown only with ``--examples``.

A gold file has one JSON object a line: document_id, qa_start_turn, company_aliases, url_domains,
executive_speaker_ids, and, where the data do not name the speakers, ``people``, their names.
"""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import click

from nes_spark.config import IdentifiersConfig
from nes_spark.text.forms import name_words
from nes_spark.text.identifiers import known_identifiers
from nes_spark.text.matching import Match, Matcher
from nes_spark.text.numbering import number_matches, replace_matches
from nes_spark.text.presentation import Presentation, Turn, find_presentation


@dataclass(frozen=True)
class Call:
    """A call with what a person read in it."""

    document_id: str
    company: str
    turns: tuple[Turn, ...]
    speakers: dict[str, str]
    gold: dict[str, Any]


@dataclass(frozen=True)
class Boundary:
    """A found boundary beside the true one; None means no presentation."""

    document_id: str
    found: int | None
    gold: int | None
    rule: str

    @property
    def exact(self) -> bool:
        """Whether they are equal."""
        return self.found == self.gold


@dataclass(frozen=True)
class Occurrence:
    """A form of an identifier in a text: where, of which kind, and why it is left (if it is)."""

    document_id: str
    kind: str
    form: str
    start: int
    reason: str = ""


def load_calls(
    corpora: str | Path, gold_file: str | Path | None = None, corpus: str = "earnings21"
) -> list[Call]:
    """Read the calls that have a hand-read annotation.

    Parameters
    ----------
    corpora : path
        Folder with ``earnings21/calls.jsonl`` and ``earnings21/gold.jsonl``.
    gold_file : path, optional
        Another file of what a person read, in place of ``earnings21/gold.jsonl``.
    corpus : str
        Folder of the calls; the gold file gives the company's name where the calls do not.
    """
    folder = Path(corpora) / corpus
    lines = Path(gold_file or folder / "gold.jsonl").read_text(encoding="utf-8").splitlines()
    gold = {g["document_id"]: g for g in map(json.loads, lines)}
    calls = []
    with (folder / "calls.jsonl").open(encoding="utf-8") as file:
        for line in file:
            call = json.loads(line)
            if call["document_id"] in gold:
                turns = tuple(Turn(t["text"], t["speaker"], t["speaker_id"]) for t in call["turns"])
                calls.append(
                    Call(
                        call["document_id"],
                        call.get("company_name") or gold[call["document_id"]]["company_name"],
                        turns,
                        call["speakers"],
                        gold[call["document_id"]],
                    )
                )
    return calls


def measure_boundaries(calls: list[Call]) -> list[Boundary]:
    """Compare the boundaries found with the hand-read ones."""
    rows = []
    for call in calls:
        found = find_presentation(call.turns)
        if "qa_start_turn" not in call.gold:
            continue
        start = found.qa_start_turn if found.turns else None
        rows.append(Boundary(call.document_id, start, call.gold["qa_start_turn"], found.boundary))
    return rows


def _forms(call: Call) -> Iterator[tuple[str, str]]:
    """Forms to be searched: the gold's aliases and domains, the executives' names and parts."""
    for alias in call.gold["company_aliases"]:
        yield "alias", alias
    for domain in call.gold["url_domains"]:
        yield "domain", domain
    named = [call.speakers.get(ident, "") for ident in call.gold["executive_speaker_ids"]]
    for name in [*named, *call.gold.get("people", ())]:
        words = name_words(name)
        if not words or words[0].lower() == "speaker":
            continue
        yield "executive", " ".join(words)
        for word in (words[0], words[-1]):
            if len(word) > 1:
                yield "executive", word


def occurrences(call: Call, text: str) -> list[Occurrence]:
    """Find the gold's forms in a text, longest first and without overlaps.

    Independent of the suppression rules: plain search for whole words, with the case as given
    (domains in any case).
    """
    found: dict[int, tuple[int, str, str]] = {}
    taken = [False] * len(text)
    for kind, form in sorted(set(_forms(call)), key=lambda f: (-len(f[1]), f)):
        pattern = r"(?<!\w)" + r"\s+".join(map(re.escape, form.split())) + r"(?!\w)"
        for match in re.finditer(pattern, text, re.IGNORECASE if kind == "domain" else 0):
            start, end = match.span()
            if not any(taken[start:end]):
                taken[start:end] = [True] * (end - start)
                found[start] = (end, kind, form)
    return [
        Occurrence(call.document_id, kind, form, start, _reason(text, start, end, kind))
        for start, (end, kind, form) in sorted(found.items())
    ]


def _reason(text: str, start: int, end: int, kind: str) -> str:
    """A guess at why a form was not suppressed, for the list of what is left."""
    if kind == "executive":
        if re.match(r" [A-Z][a-z]", text[end : end + 3]):
            return "first name followed by another last name"
        if re.search(r"[A-Z][a-z]+ $", text[max(0, start - 20) : start]):
            return "preceded by another name"
        return "an ordinary word where a name is not certain"
    return "an ordinary word, or a variant that no rule derives"


def suppressed_presentation(
    call: Call, config: IdentifiersConfig, given: Literal["all", "company"] = "all"
) -> tuple[str, str, list[Match], Presentation]:
    """Return the presentation part, the same after suppression, the matches, what was kept.

    With `given` ``company`` the suppression knows neither the speakers nor their labels.
    """
    found = find_presentation(call.turns)
    text = "\n\n".join(t.text for t in found.turns)
    people = list(call.speakers.values()) if given == "all" else []
    names, _ = known_identifiers(
        text,
        {"company": [call.company], "person": people},
        config,
        turns=call.turns if given == "all" else [Turn(t.text) for t in call.turns],
        kept=found.indices,
    )
    matches = number_matches(Matcher.of(names, config).find(text))
    return text, replace_matches(text, matches), matches, found


@click.command()
@click.argument("corpora", type=click.Path(exists=True, file_okay=False))
@click.option("--examples", default=0, help="Show this many suppressed places in their context.")
@click.option("--mined", default="use", type=click.Choice(["off", "propose", "use"]))
@click.option("--given", default="all", type=click.Choice(["all", "company"]))
@click.option("--gold", default=None, type=click.Path(exists=True, dir_okay=False))
@click.option("--corpus", default="earnings21", help="Folder of the calls under CORPORA.")
@click.option("--forms", is_flag=True, help="List every suppressed form with its count.")
def main(
    corpora: str,
    examples: int,
    mined: str,
    given: Literal["all", "company"],
    gold: str | None,
    corpus: str,
    forms: bool,
) -> None:
    """Print how many boundaries are right and how many identifiers are left."""
    calls = load_calls(corpora, gold, corpus)
    rows = measure_boundaries(calls)
    click.echo(f"presentation part: {sum(r.exact for r in rows)} of {len(rows)} exact")
    for row in rows:
        if not row.exact:
            click.echo(f"  {row.document_id}: found {row.found}, read {row.gold} ({row.rule})")
    config = IdentifiersConfig.model_validate({"mined_aliases": mined})
    before: Counter[str] = Counter()
    left: list[Occurrence] = []
    places: list[str] = []
    surfaces: Counter[tuple[str, str, str]] = Counter()
    n_matches = 0
    for call in calls:
        text, released, matches, _ = suppressed_presentation(call, config, given)
        before.update(o.kind for o in occurrences(call, text))
        left.extend(occurrences(call, released))
        n_matches += len(matches)
        for m in matches:
            surfaces[call.company, m.kind, text[m.start : m.end]] += 1
            context = text[max(0, m.start - 50) : m.end + 40].replace("\n", " ")
            places.append(f"{call.document_id} {m.kind}/{m.rule} [{m.value}]: ...{context}...")
    total = sum(before.values())
    share = f"1 in {total / len(left):.0f}" if left else "none"
    click.echo(
        f"direct identifiers: {total} occurrences ({dict(sorted(before.items()))}), "
        f"{len(left)} left ({share}); {n_matches} places suppressed"
    )
    for document, n in Counter(o.document_id for o in left).most_common():
        click.echo(f"  {document}: {n} left")
    for o in left:
        click.echo(f"  {o.document_id} {o.kind} {o.form!r} at {o.start}: {o.reason}")
    if forms:
        for (company, kind, form), count in sorted(surfaces.items()):
            click.echo(f"  {company}: {kind} {form!r} {count}")
    for place in random.Random(0).sample(places, min(examples, len(places))):
        click.echo("  " + place)


if __name__ == "__main__":
    main()


__all__ = [
    "Boundary",
    "Call",
    "Occurrence",
    "load_calls",
    "main",
    "measure_boundaries",
    "occurrences",
    "suppressed_presentation",
]
