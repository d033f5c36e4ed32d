"""Sheets for reading changed chunks: what was exchanged is marked, two releases are shuffled.

Five steps, each prints what it wrote::

    python -m tests.benchmarks.reading_sheets mark CONF INPUT WORK [CONF INPUT WORK ...]
    python -m tests.benchmarks.reading_sheets again CONF WORK/all OUT
    python -m tests.benchmarks.reading_sheets sheet --before WORK/all --after WORK/all OUT
    python -m tests.benchmarks.reading_sheets score OUT
    python -m tests.benchmarks.reading_sheets blind OUT

``mark`` brings the stages of ``nes-spark run CONF --input INPUT`` up to date as far as the
rewritten chunks (nothing is attacked or published), all in one Spark session, below WORK/all;
``sheet`` takes such a folder and that of a finished run. ``again`` recognises the chunks of such a
folder once more with the code that it runs in, exchanges the names in memory within the components
of that folder, each left over by that of a donor or a placeholder, and writes OUT/marked.json,
which ``sheet`` takes as well: without Spark, with the same chunks and components on both sides.
Categories, layers and dates are those of the configuration; terms are not exchanged, and names of
the documents' own are not kept apart. Run it in a checkout of the code that is to be measured
(``mark`` needs ``NES_SPARK_SEED``). ``sheet`` draws chunks that both sides changed, the same ones
(without ``--before`` of one side only), shuffles both sides together and writes ``OUT/sheet.txt``,
and which side each number is of to ``OUT/key.json``, which the reader does not open. The reader
writes after ``=`` of each number ``ok``, or one or more of the letters of :data:`FAULTS`. ``score``
prints per side the share of clean chunks with its 95 % interval (Wilson) and how many chunks have
each fault. ``blind`` cuts a passage around one replaced name out of every number of a sheet, the
same one on both sides, and writes ``OUT/blind.txt``: replacements are marked, what they replaced is
not shown, so that whoever reads it judges the text alone.

Sheets show names: they are as secret as the corpus.
"""

from __future__ import annotations

import argparse
import hashlib
import itertools
import json
import random
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

#: What is wrong with a chunk; one letter each.
FAULTS = {
    "h": "half name: a part of it exchanged, or kept",
    "w": "a word that is no name exchanged, or put where a name was",
    "k": "another kind: a place where a person was, and the like",
    "t": "a title or greeting glued to a name, or lost with it",
    "a": "article doubled, lost or put before a name that has none",
    "p": "possessive, plural or number lost",
    "c": "capitals: a heading's in a sentence, or the other way round",
    "s": "sense: another word of the sentence does not go with it (terms)",
    "l": "left over: a name of the chunk is still there",
}
_ROW = re.compile(r"^\[(\d+)\] = *([a-z ]*)$", re.MULTILINE)
LAST_STAGE = "rewrites"


def mark(text: str, edits: Iterable[Mapping[str, Any]]) -> str:
    """Return a chunk's text before the exchange with every edit in place.

    Parameters
    ----------
    text : str
        The chunk as suppressed.
    edits : iterable of mapping
        ``start``, ``end`` (half-open, code points in ``text``), ``old``, ``new``, ``category``.

    Examples
    --------
    >>> mark("Ann left.", [{"start": 0, "end": 3, "old": "Ann", "new": "Bo", "category": "Person"}])
    '«Ann→Bo|Per» left.'
    """
    out, at = [], 0
    for edit in sorted(edits, key=lambda e: (e["start"], e["end"])):
        out.append(text[at : edit["start"]])
        out.append(f"«{edit['old']}→{edit['new']}|{edit['category'][:3]}»")
        at = edit["end"]
    return "".join(out) + text[at:]


def marked_chunks(folder: Path) -> dict[str, str]:
    """Return chunk id -> marked text of the complete release of the first draw of a run folder.

    Or what ``again`` wrote into a folder.
    """
    written = folder / "marked.json"
    if written.exists():
        return dict(json.loads(written.read_text(encoding="utf-8")))

    def table(name: str) -> pd.DataFrame:
        return pd.read_parquet(folder / "stages" / name)

    rewrites, chunks = table("rewrites"), table("chunks").set_index("chunk_id")["text"]
    first = rewrites[rewrites["draw"] == rewrites["draw"].min()].sort_values("order")
    last = first.groupby("chunk_id").tail(1)
    return {
        str(i): mark(chunks[i], edits)
        for i, edits in zip(last["chunk_id"], last["edits"], strict=True)
        if len(edits)
    }


def recognised(config: Any, chunks: pd.DataFrame) -> dict[str, list[Any]]:
    """Return chunk id -> mentions: recognised, consistent, linked and swept as a run does."""
    from nes_spark.entities import linking, sweep
    from nes_spark.entities.distinctive import is_fragment
    from nes_spark.entities.mentions import Mention
    from nes_spark.entities.recognizers import load_recognizer
    from nes_spark.entities.terms import TERM

    settings = config.entities
    ids = chunks["chunk_id"].tolist()
    texts = dict(zip(ids, chunks["text"], strict=True))
    raw = load_recognizer(settings.recognizer, settings)(list(texts.values()))
    found = {
        i: [m for m in mine if m.category != "Location" or not is_fragment(m.surface)]
        for i, mine in zip(ids, raw, strict=True)
    }
    voting = settings.consistent_categories
    votes: dict[str, Counter[str]] = {}
    for mine in found.values():
        for m in mine:
            if m.category in voting:
                form = linking.form_key(m.surface, m.category)
                votes.setdefault(form, Counter())[m.category] += 1
    top = {form: min(c, key=lambda k: (-c[k], k)) for form, c in votes.items()}
    # people of a document by parts of their names, where the code has it
    settle = getattr(linking, "people_by_parts", lambda located: [m.mention for m in located])
    kinds_of = getattr(sweep, "categories_by_form", lambda mentions: {})
    secrets: dict[str, set[str]] = {}
    reasons: dict[str, list[str]] = {}
    swept: dict[str, list[tuple[str, Any]]] = {}
    for document, rows in chunks.groupby("document_id", sort=True):
        mine = rows["chunk_id"].tolist()
        located = [
            linking.Located(
                i,
                replace(m, category=top[linking.form_key(m.surface, m.category)])
                if m.category in voting
                else m,
                linking.bracketed_acronym(texts[i], m.end),
            )
            for i in mine
            for m in found[i]
        ]
        located = [replace(w, mention=m) for w, m in zip(located, settle(located), strict=True)]
        for i in mine:
            found[i] = []
        for where, name in zip(located, linking.link_document(located), strict=True):
            found[where.chunk].append(replace(where.mention, entity=name))
        candidates = sweep.candidates_of(
            [texts[i] for i in mine],
            [found[i] for i in mine],
            settings.sweep_always,
            TERM not in settings.categories,
        )
        swept[str(document)] = [(i, c) for i, of in zip(mine, candidates, strict=True) for c in of]
        for _, c in swept[str(document)]:
            secrets.setdefault(c.form, set()).add(rows["metadata"].iloc[0])
            reasons.setdefault(c.form, []).append(c.reason)
    forms = sorted(secrets)
    decided = sweep.settle(
        forms,
        [sweep.strongest(reasons[f]) for f in forms],
        [len(secrets[f]) for f in forms],
        int(chunks["metadata"].nunique()),
        settings.sweep_share,
        settings.never_swept,
    )
    treated = {f for f, yes in zip(forms, decided, strict=True) if yes}
    for document, rows in chunks.groupby("document_id", sort=True):
        known = [m for i in rows["chunk_id"] for m in found[i]]
        names, kinds = sweep.entities_by_form(known), kinds_of(known)
        kept = [(i, c) for i, c in swept[str(document)] if c.form in treated]
        here = [
            linking.Located(i, Mention(c.start, c.end, kinds.get(c.form, sweep.NAME), c.surface))
            for i, c in kept
        ]
        called = sweep.name_entities(here, [names.get(c.form, "") for _, c in kept])
        for where, entity in zip(here, called, strict=True):
            found[where.chunk].append(replace(where.mention, entity=entity))
    return {i: sorted(mine, key=lambda m: m.start) for i, mine in found.items()}


def exchanged_again(config: Any, folder: Path, seed: bytes) -> dict[str, str]:
    """Return chunk id -> marked text: recognised and exchanged in memory by this code."""
    from nes_spark.swapping import sample_plan
    from nes_spark.swapping.dates import date_replacements, draw_shift, reference_of
    from nes_spark.swapping.forms import forms_of
    from nes_spark.swapping.layers import layers_of
    from nes_spark.swapping.parts import as_written
    from nes_spark.swapping.rewriting import Replacement, rewrite_text
    from nes_spark.swapping.seeds import Secret

    def table(name: str) -> pd.DataFrame:
        return pd.read_parquet(folder / "stages" / name)

    chunks = table("chunks").sort_values("chunk_id", ignore_index=True)
    placed = table("assignments")
    placed = placed[placed["setting"] == placed["setting"].min()]
    component = dict(zip(placed["chunk_id"], placed["component"], strict=True))
    period = dict(table("documents")[["document_id", "period"]].itertuples(index=False))
    found = recognised(config, chunks)
    ids, releases = chunks["chunk_id"].tolist(), config.releases
    entities = {
        c: [sorted({m.entity for m in found[i] if m.category == c}) for i in ids]
        for c in config.entities.categories
    }
    plan = sample_plan(
        ids, chunks["metadata"].tolist(), [component[i] for i in ids], entities,
        list(releases.swap), unit=releases.unit, layers=layers_of(releases.swap),
        matching=config.swapping.matching, donors=releases.donors,
        fitting=releases.fitting, must_change=releases.must_change,
        document_ids=chunks["document_id"].tolist(), seed=seed,
    )  # fmt: skip
    forms = {i: forms_of(found[i]) for i in ids}
    new: dict[str, dict[tuple[str, str], Replacement]] = {i: {} for i in ids}
    swapped = {c for layer in plan.layers for c in layer.split("+")}
    for fate in plan.fates():
        if fate.category in swapped and fate.replacement is not None:
            told = forms.get(fate.partner or "", {}).get((fate.category, fate.replacement))
            written = (as_written(fate.replacement, fate.category),)
            key = (fate.category, fate.entity)
            new[fate.chunk_id][key] = Replacement(fate.replacement, told or written)
    digest = Secret(seed).digest
    marked = {}
    for i, document, text in zip(ids, chunks["document_id"], chunks["text"], strict=True):
        shift = draw_shift(digest, document)
        new[i] |= date_replacements(found[i], shift, reference_of(period[document]))
        done = rewrite_text(text, found[i], new[i], must_change=releases.must_change)
        if done.edits:
            marked[i] = mark(text, [vars_of(edit) for edit in done.edits])
    return marked


def vars_of(edit: Any) -> dict[str, Any]:
    """Return the fields of an edit that :func:`mark` needs."""
    return {name: getattr(edit, name) for name in ("start", "end", "old", "new", "category")}


def bring_up_to_date(arguments: Sequence[str]) -> None:
    """Make the stages up to the rewritten chunks of configurations, inputs and folders in turn."""
    import nes_spark as nes
    from nes_spark.run.context import open_run
    from nes_spark.run.pipeline import STAGES
    from nes_spark.session import get_session

    if not arguments or len(arguments) % 3:
        raise SystemExit("mark: CONF INPUT WORK, once or several times")
    spark = None
    for conf, source, work in zip(*[iter(arguments)] * 3, strict=True):
        config = nes.load_config(
            conf,
            overrides={
                "input.path": str(Path(source).resolve()),
                "output.directory": work,
                "tracking.enabled": False,
            },
        )
        spark = spark or get_session(config.spark, "reading_sheets")
        with open_run(config, spark) as context:
            for stage in STAGES:
                key = stage.key(context)
                if not stage.is_current(context, key):
                    stage.execute(context, key)
                if stage.name == LAST_STAGE:
                    break
        print(f"{work}/all: {len(marked_chunks(Path(work) / 'all'))} changed chunks", flush=True)
    if spark is not None:
        spark.stop()


def make_sheet(
    sides: Mapping[str, Mapping[str, str]], chunks: int, seed: int
) -> tuple[str, dict[str, list[str]]]:
    """Return the sheet and its key (number -> side and chunk id).

    Parameters
    ----------
    sides : mapping
        Side -> chunk id -> marked text.
    chunks : int
        Chunks drawn, of those that all sides changed.
    seed : int
        Of the draw and the order.
    """
    common = sorted(set.intersection(*(set(s) for s in sides.values())))
    draw = random.Random(seed)
    drawn = draw.sample(common, min(chunks, len(common)))
    rows = [(side, chunk) for side in sorted(sides) for chunk in drawn]
    draw.shuffle(rows)
    head = ["Write ok or letters behind each number:"]
    head += [f"  {letter}  {words}" for letter, words in FAULTS.items()]
    body, key = [], {}
    for number, (side, chunk) in enumerate(rows, 1):
        body.append(f"[{number}] = \n{sides[side][chunk].strip()}\n")
        key[str(number)] = [side, chunk]
    return "\n".join(head) + "\n\n" + "\n".join(body), key


_EDIT = re.compile(r"«([^«»→]*)→([^«»]*)\|([^«»|]*)»")
_SENTENCE = re.compile(r"(?<=[.?!])\s+")


def passage(marked: str, chosen: int, words: int = 90) -> str:
    """Return the sentences around a replacement, what was replaced left out.

    Parameters
    ----------
    marked : str
        From :func:`mark`.
    chosen : int
        Where the name began in the text before; see :func:`starts`.
    words : int
        At most so many, as far as the sentence of the replacement has fewer.

    Examples
    --------
    >>> passage("It rose. «Ann→Bo|Per» left. We met.", 9, words=4)
    'It rose. «Bo» left.'
    """
    sentences, at, where = [], 0, 0
    pieces: list[tuple[str, str]] = []
    for match in _EDIT.finditer(marked):
        old, new, category = match.groups()
        pieces += [
            (marked[at : match.start()],) * 2,
            (old, new if category == "art" else f"«{new}»"),
        ]
        at = match.end()
    pieces.append((marked[at:],) * 2)
    before = "".join(old for old, _ in pieces)
    bounds = [0, *(m.end() for m in _SENTENCE.finditer(before)), len(before)]
    for low, high in itertools.pairwise(bounds):
        if low <= chosen:
            where = len(sentences)
        sentences.append((low, high))
    first = last = where

    def size(i: int, j: int) -> int:
        return len(before[sentences[i][0] : sentences[j][1]].split())

    while first > 0 and size(first - 1, last) <= words:
        first -= 1
    while last + 1 < len(sentences) and size(first, last + 1) <= words:
        last += 1
    low, high = sentences[first][0], sentences[last][1]
    out, at = [], 0
    for old, new in pieces:
        a, b = at, at + len(old)
        if old == new:
            out.append(before[max(a, low) : max(min(b, high), max(a, low))])
        elif low <= a < high:
            out.append(new)
        at = b
    return "".join(out).strip()


def starts(marked: str) -> list[int]:
    """Return where names, not dates, that were replaced began in the text before."""
    found, at, shift = [], 0, 0
    for match in _EDIT.finditer(marked):
        old, _, category = match.groups()
        shift += match.start() - at
        if category not in ("Dat", "art", "Eve"):
            found.append(shift)
        shift += len(old)
        at = match.end()
    return found


def blind(sheet: str, key: Mapping[str, Sequence[str]], seed: int = 1) -> str:
    """Return the passages of a sheet under its numbers; see :func:`passage`.

    Chunks in which the sides have no replaced name in common are left out.
    """
    blocks = re.split(r"^\[(\d+)\] = .*\n", sheet, flags=re.MULTILINE)[1:]
    marked = dict(zip(blocks[::2], blocks[1::2], strict=True))
    common: dict[str, set[int]] = {}
    for number, (_, chunk) in key.items():
        mine = set(starts(marked[number]))
        common[chunk] = common[chunk] & mine if chunk in common else mine
    chosen = {c: random.Random(f"{seed} {c}").choice(sorted(s)) for c, s in common.items() if s}
    return "\n".join(
        f"[{number}]\n{passage(marked[number], chosen[chunk])}\n"
        for number, (_, chunk) in key.items()
        if chunk in chosen
    )


def wilson(hits: int, n: int, z: float = 1.959964) -> tuple[float, float]:
    """Return the 95 % interval of a share (Wilson 1927), for n of at least 1."""
    p = hits / n
    middle = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * (p * (1 - p) / n + z * z / (4 * n * n)) ** 0.5
    return middle - half, middle + half


def score(sheet: str, key: Mapping[str, Sequence[str]]) -> list[dict[str, Any]]:
    """Return one row a side: chunks, clean ones, share with interval, chunks per fault.

    Raises
    ------
    ValueError
        When a number is not judged or has a letter that is none of :data:`FAULTS`.
    """
    judged = {number: said.strip() for number, said in _ROW.findall(sheet)}
    rows = []
    for side in sorted({side for side, _ in key.values()}, reverse=True):
        said = {n: judged.get(n, "") for n, (s, _) in key.items() if s == side}
        for number, letters in said.items():
            if letters != "ok" and (not letters or set(letters) - set(FAULTS) - {" "}):
                raise ValueError(
                    f"number {number}: {letters!r} is neither ok nor letters of FAULTS"
                )
        clean = sum(letters == "ok" for letters in said.values())
        low, high = wilson(clean, len(said))
        faults = Counter(x for s in said.values() if s != "ok" for x in set(s) - {" "})
        rows.append(
            {"side": side, "chunks": len(said), "clean": clean}
            | {"share": f"{clean / len(said):.0%} ({low:.0%} to {high:.0%})"}
            | {letter: faults[letter] for letter in FAULTS}
        )
    return rows


def main(arguments: Sequence[str] | None = None) -> None:
    """Do one of the steps."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.reading_sheets")
    steps = parser.add_subparsers(dest="step", required=True)
    steps.add_parser("mark").add_argument("triples", nargs="+", metavar="CONF INPUT WORK")
    again = steps.add_parser("again")
    for name in ("config", "folder", "output"):
        again.add_argument(name, type=Path)
    sheet = steps.add_parser("sheet")
    sheet.add_argument("--before", type=Path)
    sheet.add_argument("--after", type=Path, required=True)
    sheet.add_argument("--chunks", type=int, default=25)
    sheet.add_argument("--seed", type=int, default=1)
    sheet.add_argument("output", type=Path)
    steps.add_parser("score").add_argument("output", type=Path)
    steps.add_parser("blind").add_argument("output", type=Path)
    options = parser.parse_args(arguments)
    if options.step == "mark":
        bring_up_to_date(options.triples)
    elif options.step == "again":
        import nes_spark as nes

        seed = hashlib.sha256(b"reading sheets").digest()
        marked = exchanged_again(nes.load_config(options.config), options.folder, seed)
        options.output.mkdir(parents=True, exist_ok=True)
        (options.output / "marked.json").write_text(json.dumps(marked), encoding="utf-8")
        print(f"{options.output / 'marked.json'}: {len(marked)} changed chunks")
    elif options.step == "sheet":
        folders = {"before": options.before, "after": options.after}
        sides = {side: marked_chunks(f) for side, f in folders.items() if f is not None}
        text, key = make_sheet(sides, options.chunks, options.seed)
        options.output.mkdir(parents=True, exist_ok=True)
        (options.output / "sheet.txt").write_text(text, encoding="utf-8")
        (options.output / "key.json").write_text(json.dumps(key), encoding="utf-8")
        print(f"{options.output / 'sheet.txt'}: {len(key)} chunks to read")
    else:
        text = (options.output / "sheet.txt").read_text(encoding="utf-8")
        key = json.loads((options.output / "key.json").read_text(encoding="utf-8"))
        if options.step == "blind":
            (options.output / "blind.txt").write_text(blind(text, key), encoding="utf-8")
            print(options.output / "blind.txt")
            return
        found = score(text, key)
        print(pd.DataFrame(found).to_string(index=False))


if __name__ == "__main__":
    main()
