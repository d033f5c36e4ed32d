"""z-tilde from the swaps against recognition on the rewritten text."""

from __future__ import annotations

import random

import pytest

from nes_spark.entities.cells import cell_of
from nes_spark.entities.mentions import Mention
from nes_spark.swapping import Secret, plan_exchange, rewrite_pair
from nes_spark.swapping.agreement import SwappedChunk, cells_agreement
from nes_spark.swapping.rewriting import replacements_for
from nes_spark.swapping.rows import cell_after

from .corpus import NAMES, make_chunk

CATEGORIES = list(NAMES)
MUST_CHANGE = {"Event": "[Event]"}
LONGEST_FIRST = sorted(((c, n) for c, v in NAMES.items() for n in v), key=lambda x: -len(x[1]))


def recogniser(texts, missed=()):
    """Find the names of the corpus by search; blind to some."""
    out = []
    for text in texts:
        found, taken = [], set()
        for category, name in LONGEST_FIRST:
            at = text.find(name)
            while at >= 0:
                span = set(range(at, at + len(name)))
                if not span & taken and name not in missed:
                    taken |= span
                    found.append(Mention(at, at + len(name), category, name))
                at = text.find(name, at + 1)
        out.append(found)
    return out


def swapped(n=30):
    rng = random.Random(4)
    while n > 0:
        (ta, ma), (tb, mb) = make_chunk(rng), make_chunk(rng)
        sets = [{c: {m.entity for m in x if m.category == c} for c in CATEGORIES} for x in (ma, mb)]
        j = [c for c in CATEGORIES[:4] if sets[0][c] - sets[1][c] and sets[1][c] - sets[0][c]]
        if not j:
            continue
        plan = plan_exchange(*sets, j, Secret(n).digest)
        done = rewrite_pair(ta, ma, tb, mb, plan, must_change=MUST_CHANGE)
        for side, text, mine, theirs, new in (
            ("a", ta, ma, mb, done[0]),
            ("b", tb, mb, ma, done[1]),
        ):
            known = {c: sorted(s) for c, s in sets["ab".index(side)].items()}
            yield SwappedChunk(
                text,
                new.text,
                cell_of(known, CATEGORIES),
                cell_after(mine, replacements_for(plan, side, theirs), MUST_CHANGE, CATEGORIES),
                [*mine, *theirs],
            )
            n -= 1


def test_they_agree_everywhere_when_the_recogniser_is_perfect():
    found = cells_agreement(swapped(), recogniser, CATEGORIES, MUST_CHANGE, batch_size=7)
    assert found.total.n == 30 * len(CATEGORIES)
    assert found.total.before == found.total.after == found.total.both == found.total.n
    assert found.total.share_given_before == found.total.share_after == 1.0


def test_a_recogniser_that_misses_a_name_disagrees_with_itself_and_after():
    found = cells_agreement(
        swapped(120), lambda t: recogniser(t, missed={"Umbra"}), CATEGORIES, MUST_CHANGE
    )
    organisations = found.categories["Organization"]
    assert 0 < organisations.before < organisations.n
    assert 0 < organisations.after < organisations.n
    assert organisations.both < organisations.before, "a name moved to where it is not seen"
    assert found.categories["Person"].share_after == 1.0


def test_nothing_to_compare_has_no_share():
    total = cells_agreement([], recogniser, CATEGORIES).total
    assert (total.share_before, total.share_after, total.share_given_before) == (None, None, None)


def test_linked_names_count_as_their_entity():
    mentions = [Mention(0, 3, "Organization", "GBS", "Global Business Services")]
    cell = {"Organization": "Global Business Services"}
    chunk = SwappedChunk("GBS won", "gbs won", cell, cell, mentions)
    seen = lambda texts: [[Mention(0, 3, "Organization", t[:3])] for t in texts]  # noqa: E731
    assert cells_agreement([chunk], seen, ["Organization"]).total.both == 1


@pytest.mark.parametrize(("after", "agrees"), [("x & Bank", False), ("Bank & x", True)])
def test_recoded_cells_are_compared_as_recoded(after, agrees):
    chunk = SwappedChunk("Q x", "Q x", {"O": "Bank & x"}, {"O": after}, [])
    seen = lambda texts: [  # noqa: E731
        [Mention(0, 1, "O", "Q"), Mention(2, 3, "O", "x")] for _ in texts
    ]
    found = cells_agreement([chunk], seen, ["O"], recoding={"O": {"Bank": ["Q"]}})
    assert found.total.before == 1 and bool(found.total.after) is agrees
