"""Who holds earlier releases too: the kernels, on small corpora whose answer is known."""

from __future__ import annotations

import random

import pandas as pd
import pytest

from nes_spark.audit.history import (
    ORIGINALS,
    PARTNERS,
    RELEASES,
    KnownOriginals,
    Learned,
    attack_with_history,
    names_undone,
    quarter_table,
    traced,
)
from nes_spark.compare.quarters import gains_of

COMPANIES = [f"Company {n:02d}" for n in range(12)]
#: Names of each company that come in every quarter.
NAMES = {m: [f"{w}{n:02d}" for w in ("Alba", "Brio", "Cora")] for n, m in enumerate(COMPANIES)}
FILLER = ["the", "a", "of", "and", "in", "we", "our", "it", "was", "to", "with", "more", "less"]


def chunk(document: str, metadata: str, new: dict[str, str], number: int = 0) -> dict:
    """One chunk of a company that says its three names; `new` is what comes in their place."""
    dice = random.Random(f"{document} {number}")
    words = [dice.choice(FILLER) for _ in range(20)]
    text, edits = "", []
    for name in NAMES[metadata]:
        text += " ".join(words[:6]) + " "
        dice.shuffle(words)
        if name in new:
            edits.append((len(text), name))
        text += name + ". "
    after, done, rows = "", 0, []
    for start, name in edits:
        after += text[done:start] + new[name]
        done = start + len(name)
        rows.append(
            {
                "start": start, "end": done, "old": name, "new": new[name],
                "category": "Organization", "old_entity": name, "new_entity": new[name],
            }
        )  # fmt: skip
    return {
        "chunk_id": f"{document}#{number:05d}",
        "document_id": document,
        "metadata": metadata,
        "text_before": text,
        "text_after": after + text[done:],
        "entities": {"Organization": NAMES[metadata]},
        "edits": rows,
    }


def quarter(number: int, names_of) -> pd.DataFrame:
    """One call of each company; `names_of` says what its names become."""
    return pd.DataFrame([chunk(f"q{number}-{m}", m, names_of(number, m)) for m in COMPANIES])


def named(found: pd.DataFrame, knows: str, attacker: str) -> float:
    mine = found[(found["knows"] == knows) & (found["attacker"] == attacker)]
    assert len(mine) == len(COMPANIES)
    return float((mine["rank"] == 1).fillna(False).mean())


def best(found: pd.DataFrame, knows: str) -> float:
    mine = found[found["knows"] == knows]
    return float((mine["rank"] == 1).fillna(False).groupby(mine["attacker"]).mean().max())


def pseudonyms(number: int, metadata: str) -> dict[str, str]:
    """The same made-up names in every quarter."""
    return {name: f"Zeta{name[-2:]}{name[:2]}" for name in NAMES[metadata]}


def afresh(number: int, metadata: str) -> dict[str, str]:
    """The names of another company, drawn anew in every quarter."""
    order = random.Random(f"quarter {number}").sample(COMPANIES, len(COMPANIES))
    other = order[(order.index(metadata) + 1) % len(order)]
    return dict(zip(NAMES[metadata], NAMES[other], strict=True))


def again(number: int, metadata: str) -> dict[str, str]:
    """The names of another company, the same one in every quarter, in an order of the quarter's."""
    other = NAMES[COMPANIES[(COMPANIES.index(metadata) + 5) % len(COMPANIES)]]
    mixed = random.Random(f"{number} {metadata}").sample(other, len(other))
    return dict(zip(NAMES[metadata], mixed, strict=True))


@pytest.mark.parametrize("names_of, gain", [(pseudonyms, 0.7), (again, 0.7)])
def test_what_comes_again_is_found(names_of, gain):
    quarters = [quarter(n, names_of) for n in range(3)]
    found = attack_with_history(quarters[:-1], quarters[-1], attackers=["names", "words"])
    assert named(found, RELEASES, "released linkage") == 1.0
    assert best(found, RELEASES) >= best(found, ORIGINALS) + gain


def test_what_is_drawn_afresh_gives_nothing():
    quarters = [quarter(n, afresh) for n in range(3)]
    found = attack_with_history(quarters[:-1], quarters[-1], attackers=["names", "words"])
    for attacker in ("released linkage", "both linkage", PARTNERS, "released names"):
        assert named(found, RELEASES, attacker) <= 0.25, attacker


def test_a_fixed_pseudonym_goes_back():
    quarters = [quarter(n, pseudonyms) for n in range(3)]
    table = names_undone(quarters[:2])
    assert table["Organization", "Zeta04Al"] == "Alba04"
    assert len(table) == 3 * len(COMPANIES)
    assert not names_undone(quarters[:1]), "one place is no habit"
    found = attack_with_history(quarters[:-1], quarters[-1], attackers=["names"])
    assert named(found, RELEASES, "undone linkage") == 1.0
    assert named(found, ORIGINALS, "linkage") < 0.4


def test_a_recurring_partner_tells_although_each_name_goes_elsewhere():
    quarters = [quarter(n, again) for n in range(3)]
    found = attack_with_history(quarters[:-1], quarters[-1], attackers=["names"])
    assert named(found, RELEASES, PARTNERS) == 1.0


def test_originals_alone_are_shown_no_release():
    """What the first attacker guesses does not depend on what was published earlier."""
    late = quarter(2, afresh)
    both = [
        attack_with_history([quarter(n, f) for n in range(2)], late, attackers=["names", "words"])
        for f in (pseudonyms, again)
    ]
    mine = [f[f["knows"] == ORIGINALS].reset_index(drop=True) for f in both]
    pd.testing.assert_frame_equal(*mine)


def test_a_known_chunk_shows_its_partner():
    """A chunk of an earlier quarter comes again and exchanges with a new one."""
    old, new = COMPANIES[0], COMPANIES[1]
    there = dict(zip(NAMES[old], NAMES[new], strict=True))
    back = {b: a for a, b in there.items()}
    kept = chunk("q0-again", old, there)
    met = chunk("q1-new", new, back)
    others = [chunk(f"q1-{m}", m, {}) for m in COMPANIES[2:]]
    table = quarter_table("test", pd.DataFrame([kept, met, *others]))
    undone = traced(table, {kept["chunk_id"]: kept["text_before"]})
    text = dict(zip(undone["chunk_id"], undone["text_after"], strict=True))
    assert text["q1-new#00000"] == met["text_before"]
    rest = undone[undone["chunk_id"] != "q1-new#00000"]
    same = table[table["chunk_id"] != "q1-new#00000"]
    pd.testing.assert_frame_equal(rest, same)
    # Not known, or another text under its id: nothing can be traced.
    for known in ({}, {kept["chunk_id"]: "another text"}):
        pd.testing.assert_frame_equal(traced(table, known), table)


def test_order_of_rows_does_not_matter():
    quarters = [quarter(n, again) for n in range(2)]
    mixed = [q.sample(frac=1, random_state=n) for n, q in enumerate(quarters)]
    first, second = (
        attack_with_history(q[:1], q[1], attackers=["names", "matched"])
        .sort_values(["knows", "attacker", "id"], ignore_index=True)
        for q in (quarters, mixed)
    )  # fmt: skip
    pd.testing.assert_frame_equal(first, second)


def test_an_unknown_candidate_has_no_rank():
    early = quarter(0, again)
    found = attack_with_history(
        [early[early["metadata"] != COMPANIES[3]]], quarter(1, again), attackers=["words"]
    )
    lost = found[found["id"] == f"q1-{COMPANIES[3]}"]
    assert len(lost) and lost["rank"].isna().all()


@pytest.mark.parametrize(
    "earlier, new, said",
    [
        ([], quarter(0, again), "one or more quarters"),
        ([quarter(0, again).drop(columns="edits")], quarter(1, again), "edits"),
        ([quarter(0, again)], quarter(1, again).drop(columns="text_after"), "text_after"),
        ([quarter(0, again)], quarter(1, again)[:0], "empty"),
    ],
)
def test_refused(earlier, new, said):
    with pytest.raises(ValueError, match=said):
        attack_with_history(earlier, new)


def test_each_further_quarter_has_its_row():
    quarters = [quarter(n, again) for n in range(3)]
    found = gains_of(quarters[:-1], quarters[-1])
    assert [g.held for g in found.gains] == [1, 2]
    assert [g.documents for g in found.gains] == [12, 12]
    assert found.known == found.strangers == 0
    assert found.gains[1].more == pytest.approx(found.gains[1].releases - found.gains[1].originals)
    assert found.gains[1].more > 0.5 and 0 < found.gains[1].reach < 0.5
    assert str(found).count("\n") == 2


def test_documents_that_are_known_are_not_asked_about():
    early, late = quarter(0, again), quarter(1, again)
    both = pd.concat([late, early[:4]], ignore_index=True)
    found = gains_of([early], both)
    assert found.known == 4 and found.gains[0].documents == 12
    assert "4 documents that earlier quarters hold" in str(found)
    # Nothing is new: then all are asked about.
    assert gains_of([early], early).gains[0].documents == 12


def test_weights_learned_from_releases_trust_what_comes_again():
    quarters = [quarter(n, again) for n in range(3)]
    found = attack_with_history(quarters[:-1], quarters[-1], attackers=["names"])
    assert named(found, RELEASES, "learned released") == 1.0
    assert not any("learned" in a for a in found.loc[found["knows"] == ORIGINALS, "attacker"])


def test_the_first_attacker_learns_from_releases_of_its_own():
    quarters = [quarter(n, afresh) for n in range(3)]
    own = [quarter(n, lambda q, m: afresh(q + 10, m)).assign(chunk_id=quarters[n]["chunk_id"],
           document_id=quarters[n]["document_id"]) for n in range(2)]  # fmt: skip
    known = KnownOriginals(quarters[:-1])
    learned = Learned(known, own)
    found = attack_with_history(quarters[:-1], quarters[-1], rehearsed=learned, attackers=["names"])
    assert {"learned", "learned matched"} <= set(found.loc[found["knows"] == ORIGINALS, "attacker"])
    # It is told nothing of what was published before.
    other = [q.assign(text_after="other words", edits=[[]] * len(q)) for q in quarters[:-1]]
    same = attack_with_history(other, quarters[-1], rehearsed=learned, attackers=["names"])
    mine = [f[f["knows"] == ORIGINALS].reset_index(drop=True) for f in (found, same)]
    pd.testing.assert_frame_equal(*mine)
    for wrong in (own[:1], own[::-1]):
        with pytest.raises(ValueError, match="releases of the quarters of the originals"):
            Learned(known, wrong)
