from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest

from nes_spark.audit.ranking import hashes_of, tie_keys
from nes_spark.audit.unswap import (
    Suspect,
    code_of,
    match_suspects,
    score_suspects,
    suspect_pairs,
)
from nes_spark.config import ConstraintsConfig
from nes_spark.swapping.constraints import Constraint, constraints_of


def number(name):
    """Of a document 'd3' or an entity 'Date\x1f3'."""
    return int(name.strip("d").rsplit("\x1f", 1)[-1])


def arrays(scores):
    ordered = sorted(scores or {}, key=number)
    return np.array([number(n) for n in ordered], dtype=int), np.array(
        [scores[n] for n in ordered], dtype=float
    )


def suspect(name, document, entities, fit=None, context=None, partner=None):
    dates = entities["Date"]
    return Suspect(
        name,
        number(document),
        document,
        {"Org": entities["Org"]},
        np.array([number(d) for d in dates], dtype=int),
        len(dates),
        code_of(dates),
        arrays(fit),
        arrays(context),
        partner,
    )


def made(seed=0, n=40, documents=4):
    rng = random.Random(seed)
    found = []
    for i in range(n):
        entities = {
            "Org": sorted({f"Org\x1f{rng.randrange(8)}" for _ in range(2)}),
            "Date": [f"Date\x1f{rng.randrange(5)}"],
        }
        found.append(
            suspect(
                f"c{i:03d}",
                f"d{i % documents}",
                entities,
                {f"d{rng.randrange(documents)}": rng.random() for _ in range(2)},
                {f"Date\x1f{rng.randrange(5)}": rng.random() for _ in range(2)},
            )
        )
    by_name = {s.chunk_id: s for s in found}
    swapped = {}
    for a in found:
        for b in found:
            if (
                a.chunk_id < b.chunk_id
                and valid(a, b)
                and not {a.chunk_id, b.chunk_id} & {*swapped}
            ):
                swapped[a.chunk_id], swapped[b.chunk_id] = b.chunk_id, a.chunk_id
                break
        if len(swapped) >= 8:
            break
    return [replace(s, partner=swapped.get(s.chunk_id)) for s in by_name.values()]


def valid(a, b):
    x, y = set(a.entities["Org"]), set(b.entities["Org"])
    return bool(
        a.metadata != b.metadata and x - y and y - x and a.outside.tolist() != b.outside.tolist()
    )


def score(a, b, beta):
    """The definition of the module, pair by pair."""

    def h(x, y):
        fit, context = (dict(zip(*scores, strict=True)) for scores in (x.fit, x.context))
        beside = sum(context.get(f, 0.0) for f in y.outside) / len(y.outside)
        return fit.get(y.document, 0.0) + beta * beside

    return h(a, b) + h(b, a) - h(a, a) - h(b, b)


@pytest.mark.parametrize("block", [1, 7, 512])
@pytest.mark.parametrize("beta", [0.0, 1.5])
def test_agrees_with_the_definition(block, beta):
    suspects = made()
    by_name = {s.chunk_id: s for s in suspects}
    shuffled = random.Random(3).sample(suspects, len(suspects))
    found = suspect_pairs(shuffled, ["Org"], beta, block)
    assert [s.chunk_id for s in found] == sorted(by_name)
    ranked = 0
    for one in found:
        me = by_name[one.chunk_id]
        candidates = [s for s in suspects if valid(me, s)]
        assert one.candidates == len(candidates)
        best = max(score(me, s, beta) for s in candidates)
        assert one.score == pytest.approx(best, abs=1e-8)
        assert score(me, by_name[one.answer], beta) == pytest.approx(best, abs=1e-8)
        if me.partner:
            ranked += 1
            true = score(me, by_name[me.partner], beta)
            better = sum(score(me, s, beta) > true + 1e-8 for s in candidates)
            assert better < one.rank <= len(candidates)
        else:
            assert one.rank is None
    assert ranked == 8


def test_matching_pairs_each_chunk_once():
    found = {s.chunk_id: s for s in suspect_pairs(made(1), ["Org"])}
    matched = {c: s.match for c, s in found.items() if s.match}
    assert len(matched) > 20
    assert all(
        matched[m] == c and found[m].match_score == found[c].match_score for c, m in matched.items()
    )


@pytest.mark.parametrize("parts", [2, 7, 60])
def test_parts_together_are_the_whole(parts):
    suspects = made(2)
    scored = [s for k in range(parts) for s in score_suspects(suspects, ["Org"], 0.5, k, parts)]
    assert len({s.chunk_id for s in scored}) == len(scored) == len(suspects)
    random.Random(parts).shuffle(scored)
    assert match_suspects(scored) == suspect_pairs(suspects, ["Org"], 0.5)


def test_undoes_an_obvious_swap():
    entities = {"Org": ["Org\x1fx"], "Date": ["Date\x1f1"]}
    a = suspect("a", "d1", entities, {"d2": 3.0}, partner="b")
    b = suspect("b", "d2", {"Org": ["Org\x1fy"], "Date": ["Date\x1f2"]}, {"d1": 3.0}, partner="a")
    c = suspect("c", "d3", {"Org": ["Org\x1fz"], "Date": ["Date\x1f3"]}, {"d3": 3.0})
    first, second, third = suspect_pairs([c, b, a], ["Org"])
    assert (first.answer, first.rank, first.match) == ("b", 1, "b")
    assert (second.answer, second.rank, second.match) == ("a", 1, "a")
    assert third.match is None
    assert first.score == pytest.approx(6.0)


def cosine(a, b):
    return float(np.einsum("i,i->", a.vector.astype(float), b.vector.astype(float)))


def test_only_pairs_that_the_optional_constraints_allow_are_candidates():
    generator = np.random.default_rng(5)
    vectors = generator.standard_normal((40, 3)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    suspects = [replace(s, vector=v, partner=None) for s, v in zip(made(4), vectors, strict=True)]
    rules = constraints_of(ConstraintsConfig(min_cosine=0.2, max_count_difference=0))
    shuffled = random.Random(3).sample(suspects, len(suspects))
    found = score_suspects(shuffled, ["Org"], constraints=rules)
    free = score_suspects(shuffled, ["Org"])
    allowed = [
        {
            b.chunk_id
            for b in suspects
            if valid(a, b)
            and cosine(a, b) >= 0.2
            and len(a.entities["Org"]) == len(b.entities["Org"])
        }
        for a in suspects
    ]
    assert [s.candidates for s in found] == [len(names) for names in allowed]
    assert sum(s.candidates for s in found) < sum(s.candidates for s in free) / 2
    for one, names in zip(found, allowed, strict=True):
        assert {name for name, _ in one.best} <= names


def test_columns_that_a_constraint_compares_reach_it():
    class Near(Constraint):
        name = "near"
        numbers = ("position",)

        def pairs(self, chunks, a, b):
            return np.abs(chunks.numbers["position"][a] - chunks.numbers["position"][b]) <= 3

    suspects = [replace(s, numbers=[i], partner=None) for i, s in enumerate(made(4))]
    found = score_suspects(suspects, ["Org"], constraints=[*constraints_of(), Near()])
    assert [s.candidates for s in found] == [
        sum(valid(a, b) and abs(i - j) <= 3 for j, b in enumerate(suspects))
        for i, a in enumerate(suspects)
    ]


def test_ties_by_lot():
    chunks = [
        suspect(f"c{i}", f"d{i}", {"Org": [f"Org\x1f{i}"], "Date": [f"Date\x1f{i}"]})
        for i in range(6)
    ]
    found = suspect_pairs(chunks, ["Org"])
    others = [f"c{i}" for i in range(1, 6)]
    keys = tie_keys("c0", hashes_of(others))
    assert found[0].answer == others[int(np.argmin(keys))]


def test_nothing_to_pair():
    assert suspect_pairs([], ["Org"]) == []
    lonely = suspect("a", "d1", {"Org": ["Org\x1fx"], "Date": []})
    (one,) = suspect_pairs([lonely], ["Org"])
    assert (one.answer, one.score, one.candidates, one.match) == (None, None, 0, None)
