"""Rulings and tickets after swaps: nothing of a name that was given away, and whole sentences."""

from __future__ import annotations

import random
import re

import pytest

from nes_spark.swapping import Secret, invert_edits, plan_exchange, rewrite_pair
from nes_spark.swapping.rewriting import entity_of, given_by, replacements_for
from nes_spark.swapping.short_forms import given_away
from nes_spark.text.sentences import split_sentences
from tests.swapping.texts import COMPANIES, PEOPLE, PLACES, PRODUCTS, WITH_THE, make_texts

CATEGORIES = ("Organization", "Person", "Location", "Product")
TITLE = re.compile(r"\b(?:Mr|Ms|Dr|Judge)\b\.? (?:Mr|Ms|Dr|Judge)\b")
#: words that are in one name of the cast only
OWN = {
    word: full
    for names in (PEOPLE, COMPANIES, PRODUCTS)
    for full, _ in names
    for word in re.findall(r"\w{4,}", full)
    if word not in ("Stone", "Baker", "Cold", "Storage", "Marine", "Freight", "Company", "Software")
    and word not in ("Foundry", "Corp", "GmbH", "Router", "Scanner", "Sons", "Biotech", "Optics")
    and word not in ("Dairies",)
}


def swaps(kind, miss, policy):
    """Pairs of texts after a swap of all they can exchange."""
    rng = random.Random(f"{kind}{miss}")
    texts = make_texts(kind, 50)
    seen = [t.seen(rng, miss) for t in texts]
    for i in range(0, len(texts), 2):
        names = [
            {c: {entity_of(m) for m in seen[j] if m.category == c} for c in CATEGORIES}
            for j in (i, i + 1)
        ]
        common = [c for c in CATEGORIES if names[0][c] - names[1][c] and names[1][c] - names[0][c]]
        plan = plan_exchange(*names, common, Secret(9).digest, policy=policy)
        done = rewrite_pair(texts[i].text, seen[i], texts[i + 1].text, seen[i + 1], plan)
        for side, j, other in (("a", i, i + 1), ("b", i + 1, i)):
            new = replacements_for(plan, side, seen[other])
            yield texts[j], seen[j], new, done["ab".index(side)]


@pytest.mark.parametrize("kind", ["ruling", "ticket"])
@pytest.mark.parametrize("miss", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("policy", ["one_to_one", "cover"])
def test_swapped_texts(kind, miss, policy):
    changed = 0
    for text, mentions, new, done in swaps(kind, miss, policy):
        assert invert_edits(done.text, done.edits) == text.text
        changed += done.text != text.text
        assert given_away(text.text, mentions, new, done.text) == []
        # the same from the ledger alone
        given = given_by(done.edits)
        assert {k: r.entity for k, r in given.items() if k in new} == {
            k: new[k].entity for k in given if k in new
        }
        assert given_away(text.text, mentions, given, done.text) == []
        if given:
            assert given_away(text.text, mentions, given, text.text) != []
        # looked for by plain words, knowing the cast
        incoming = " ".join(r.entity + " " + " ".join(r.forms) for r in new.values())
        kept = {entity_of(m) for m in mentions} - {entity for _, entity in new}
        for word, full in OWN.items():
            gone = any(word in entity for _, entity in new)
            if gone and word not in incoming and not any(word in name for name in kept):
                assert word not in done.text, f"a word of {full} is still there"
        assert not TITLE.search(done.text)
        # as many sentences as before, each with its full stop once
        assert ".." not in done.text and " ." not in done.text and "  " not in done.text
        ends = [len(re.findall(r"[.?](?=\s+[A-Z]|$)", t)) for t in (text.text, done.text)]
        assert (
            abs(len(split_sentences(text.text)) - len(split_sentences(done.text))) <= ends[0] // 3
        )
        # articles
        for name, _ in PLACES:
            bare = (
                rf"(?:in|of|from|to) {name}(?=[ ,.])" if name in WITH_THE else rf"[Tt]he {name}\b"
            )
            assert not re.search(bare, done.text), f"wrong article before {name}"
    assert changed > 35
