"""Exchanged names that leave the rest of their documents too."""

from __future__ import annotations

import pytest

from nes_spark.audit import linkage
from nes_spark.audit.unswap import score_suspects
from nes_spark.audit.unswap_memory import Chunk, Released
from nes_spark.audit.unswap_stages import swap_aware_attack
from nes_spark.config import AuditConfig, SwappingConfig, build_config
from nes_spark.errors import ConfigError
from nes_spark.releases.publish_stages import chosen_rewrites
from nes_spark.swapping.rewriting import invert_edits
from nes_spark.swapping.rows import told_replacements
from nes_spark.swapping.stages import apply_must_change
from nes_spark.swapping.throughout_stages import names_throughout, written_throughout
from tests.audit.corpus import frames, make

J = ("Organization", "Product")
RELEASE = ("pkb", "Organization+Product")


@pytest.fixture(scope="module")
def corpus():
    return make(documents=5, chunks=7, swaps=6, draws=2)


def oracle(corpus, draw):
    """What the names of unswapped chunks become, from the definition."""
    last = {}
    for row in corpus.rewrites:
        if row["draw"] == draw and row["order"] >= last.get(row["chunk_id"], row)["order"]:
            last[row["chunk_id"]] = row
    told = {}
    for row in sorted(last.values(), key=lambda r: (r["order"], r["chunk_id"])):
        for edit in row["edits"]:
            key = row["chunk_id"].split("#")[0], edit["category"], edit["old_entity"]
            told.setdefault(key, (edit["new_entity"], row["partner_id"]))
    found = {}
    for cell in corpus.cells:
        if cell["chunk_id"] in last:
            continue
        for category in J:
            for name in cell["entities"][category]:
                key = cell["document_id"], category, name
                if key in told:
                    found[cell["chunk_id"], category, name] = told[key]
    return last, found


@pytest.mark.parametrize("partitions", [1, 5])
def test_each_name_becomes_what_the_first_swap_says(spark, corpus, partitions):
    tables = frames(spark, corpus, partitions)
    final = chosen_rewrites(tables["rewrites"], *RELEASE)
    rows = names_throughout(final, tables["cells"], J).collect()
    assert len({(r["draw"], r["chunk_id"], r["category"], r["old"]) for r in rows}) == len(rows)
    for draw in (0, 1):
        found = {
            (r["chunk_id"], r["category"], r["old"]): (r["new"], r["partner_id"])
            for r in rows
            if r["draw"] == draw
        }
        expected = oracle(corpus, draw)[1]
        assert found == expected and len(expected) > 5


def test_texts_hold_no_such_name_and_are_undone_exactly(spark, corpus):
    tables = frames(spark, corpus, 3)
    final = chosen_rewrites(tables["rewrites"], *RELEASE, draw=0)
    told = written_throughout(final, tables["cells"], tables["mentions"], J)
    done = {
        r["chunk_id"]: r
        for r in apply_must_change(tables["chunks"], tables["mentions"], {}, told=told).collect()
    }
    swapped, expected = oracle(corpus, 0)
    changed = {chunk for chunk, _, _ in expected}
    assert len(done) == len(corpus.chunks)
    for chunk in corpus.chunks:
        row = done[chunk["chunk_id"]]
        assert invert_edits(row["text"], [e.asDict() for e in row["edits"]]) == chunk["text"]
        assert (row["text"] != chunk["text"]) == (chunk["chunk_id"] in changed)
    for (chunk, _, old), (new, _) in expected.items():
        edits = {(e["old_entity"], e["new_entity"]) for e in done[chunk]["edits"]}
        assert (old, new) in edits and new in done[chunk]["text"]
        others = {n for (c, _, _), (n, _) in expected.items() if c == chunk}
        assert old in others or f"{old} " not in done[chunk]["text"]
    assert not changed & set(swapped)


def test_the_adversary_sees_it(spark, corpus):
    config = AuditConfig()
    tables = frames(spark, corpus, 2)
    final = chosen_rewrites(tables["rewrites"], *RELEASE)
    rows = swap_aware_attack(
        tables["cells"], final, J, config, tables["components"], throughout=True
    ).collect()
    found = {(r["draw"], r["chunk_id"], r["answer"], r["candidates"], r["rank"]) for r in rows}
    component = {r["chunk_id"]: r["component"] for r in corpus.components}
    expected = set()
    for draw in (0, 1):
        last, told = oracle(corpus, draw)
        chunks = []
        for c in corpus.cells:
            edits = last[c["chunk_id"]]["edits"] if c["chunk_id"] in last else [
                {"category": category, "old_entity": old, "new_entity": new}
                for (chunk, category, old), (new, _) in told.items()
                if chunk == c["chunk_id"]
            ]  # fmt: skip
            shown = linkage.swap_entities(c["entities"], edits)
            place = component[c["chunk_id"]]
            chunks.append(
                Chunk(c["chunk_id"], c["document_id"], c["metadata"], place, c["entities"], shown)
            )
        released = Released(chunks, J, (), config.smoothing)
        for group in released.suspects({c: r["partner_id"] for c, r in last.items()}).values():
            for s in score_suspects(group, J, config.context_weight):
                best = s.best[0][0] if s.best else None
                expected.add((draw, s.chunk_id, best, s.candidates, s.rank))
    assert found == expected


def test_a_name_is_written_as_where_it_comes_from():
    told = [
        {"category": "Person", "old": "Ada Byron", "new": "Maria Lindqvist",
         "written": ["Lindqvist", "Maria Lindqvist", "Lindqvist"]},
        {"category": "Organization", "old": "Acme", "new": "Bolt Corp", "written": []},
    ]  # fmt: skip
    found = told_replacements(told)
    assert found["Person", "Ada Byron"].forms == ("Maria Lindqvist", "Lindqvist")
    assert found["Organization", "Acme"].entity == "Bolt Corp"
    assert found["Organization", "Acme"].forms == ("Bolt Corp",)


def test_it_is_for_pairs():
    content = {"input": {"columns": {"metadata": "company", "text": "text"}}}
    content["swapping"] = {"throughout": True}
    assert SwappingConfig(throughout=True).throughout
    with pytest.raises(ConfigError, match=r"throughout is for releases\.plan pairs"):
        build_config(content)
    assert build_config(content | {"releases": {"plan": "pairs"}}).swapping.throughout
