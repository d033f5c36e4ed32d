"""Swap on real earnings calls, seal the ledger, and restore every chunk byte for byte."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from nes_spark.config import EntitiesConfig, LedgerConfig
from nes_spark.entities.mentions import Mention
from nes_spark.swapping import entities_after, rewrite_pair, rewrite_text, sample_swaps
from nes_spark.swapping.ledger import generate_key, invert, parse_key, read_ledger, write_ledger
from nes_spark.swapping.rewriting import Replacement, resolve_overlaps, with_short_forms
from nes_spark.swapping.rows import text_digest
from nes_spark.swapping.short_forms import given_away

CORPORA = Path(
    os.environ.get("NES_SPARK_CORPORA", Path(__file__).parents[2].parent / "shared" / "corpora")
)
FILE = CORPORA / "earnings21" / "entities.jsonl"
pytestmark = pytest.mark.skipif(
    not FILE.exists(), reason="the real corpus is not here; set NES_SPARK_CORPORA to its folder"
)
MUST_CHANGE = {"Event": "[Event]"}


@pytest.fixture(scope="module")
def turns():
    """Every speaker turn as a chunk, with machine-made mentions: noisy, overlapping, nested."""
    labels = EntitiesConfig().labels
    out = []
    with FILE.open(encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            text = row["text"]
            mentions = [
                Mention(start, end, labels[label], text[start:end], text[start:end])
                for start, end, label in row["entities"]
                if label in labels and start < end
            ]
            chunk = f"{row['document_id']}#{row['turn']:05d}"
            out.append((chunk, row["document_id"], text, resolve_overlaps(mentions)))
    return out


@pytest.mark.parametrize("policy", ["one_to_one", "cover"])
def test_all_chunks_of_the_real_corpus_are_restored(turns, tmp_path, policy):
    categories = EntitiesConfig().categories
    swap = ["Organization", "Location"]
    entities = {
        c: [sorted({m.entity for m in ms if m.category == c}) for *_, ms in turns]
        for c in categories
    }
    swaps = sample_swaps(
        [t[0] for t in turns],
        [t[1] for t in turns],
        None,
        entities,
        swap,
        seed="real corpus",
        policy=policy,
        matching="similar",
    )
    assert len(swaps) > 100
    index = {t[0]: i for i, t in enumerate(turns)}
    done = {
        chunk: rewrite_text(text, mentions, {}, must_change=MUST_CHANGE)
        for chunk, _, text, mentions in turns
    }
    for s in swaps:
        a, b = turns[index[s.chunk_a]], turns[index[s.chunk_b]]
        done[a[0]], done[b[0]] = rewrite_pair(
            a[2], a[3], b[2], b[3], s.exchanged, must_change=MUST_CHANGE
        )
        for side, chunk in (("a", a), ("b", b)):
            before = {c: entities[c][index[chunk[0]]] for c in categories}
            after = entities_after(before, s.exchanged, side)
            found = done[chunk[0]].mentions
            moves = {(e.category, e.old): e.new for e in s.exchanged if e.side == side}
            names = {key: Replacement(new, (new,)) for key, new in moves.items()}
            for (c, old), new in with_short_forms(chunk[3], names).items():
                if (c, old) not in moves:
                    # entities that are only short forms of a name go where it goes
                    after[c] = tuple(sorted({*after[c], new.entity} - {old}))
            events = [e for e in done[chunk[0]].edits if e.category == "Event"]
            for c in swap:
                # "Chinese" goes with the Event "Chinese new year" that its chunk names elsewhere
                seen = {
                    m.entity
                    for m in chunk[3]
                    if m.category == c and not any(e.start <= m.start < e.end for e in events)
                }
                hidden = set(before[c]) - seen - {old for k, old in moves if k == c}
                assert {m.entity for m in found if m.category == c} == set(after[c]) - hidden
            moves |= {("Event", m.entity): "[Event]" for m in chunk[3] if m.category == "Event"}
            assert not given_away(chunk[2], chunk[3], moves, done[chunk[0]].text)
    rows = (
        {
            "chunk_id": chunk,
            "edits": [e.__dict__ for e in done[chunk].edits],
            "digest": text_digest(text),
        }
        for chunk, _, text, _ in turns
    )
    key = parse_key(generate_key())
    write_ledger(tmp_path / "ledger", rows, LedgerConfig(encrypt=True), key=key)
    ledger = read_ledger(tmp_path / "ledger", LedgerConfig(encrypt=True), key=key)
    release = {chunk: rewritten.text for chunk, rewritten in done.items()}
    assert sum(release[t[0]] != t[2] for t in turns) >= 2 * len(swaps)
    restored = invert(release, ledger)
    assert {k: v.encode() for k, v in restored.items()} == {t[0]: t[2].encode() for t in turns}
