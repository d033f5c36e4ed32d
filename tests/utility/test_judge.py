"""The judge: candidates share texts, anchors stand in their order, figures say what they are."""

import math
import random
from dataclasses import replace

import numpy as np
import pytest

from nes_spark.embedding.contextual import load_contextual
from nes_spark.utility import judge
from nes_spark.utility.anchors import (
    AnyPartner,
    Original,
    half_deleted,
    names_blanked,
    random_other,
)
from nes_spark.utility.judge import (
    BELOW_BLANKING,
    History,
    Placing,
    Reach,
    Released,
    judge_candidates,
    judge_release,
    told,
)
from nes_spark.utility.sampling import sampling_key
from nes_spark.utility.sentiment import Sentiment

KEY = sampling_key(b"a secret of the tests")
SUBJECTS = ("unchanged", "release", "names_blanked", "any_partner", "half_deleted", "random_other")


def bag(texts):
    """Unit vectors of words: an encoder whose cosines can be told by hand."""
    rows = np.zeros((len(texts), 512), dtype=np.float32)
    for i, text in enumerate(texts):
        for word in text.split():
            rows[i, sum(ord(c) * 7**n for n, c in enumerate(word)) % 512] += 1
        rows[i] /= np.linalg.norm(rows[i])
    return rows


# -- candidates ------------------------------------------------------------------------------------


def sequence(n=40, seed=0):
    """One sequence that swaps two chunks a time, every third chunk twice; its exact fidelity."""
    rng = random.Random(seed)
    before = {f"c{i:03d}": " ".join(f"w{rng.randrange(400)}" for _ in range(12)) for i in range(n)}
    steps = {c: [] for c in before}
    order = 0
    for _ in range(2):
        ids = list(before) if not order else [c for i, c in enumerate(before) if i % 3 == 0]
        rng.shuffle(ids)
        for first, second in zip(ids[::2], ids[1::2], strict=False):
            order += 1
            for chunk in (first, second):
                text = steps[chunk][-1][1] if steps[chunk] else before[chunk]
                words = text.split()
                words[rng.randrange(12)] = f"x{order}"
                steps[chunk].append((order, " ".join(words)))
    changed = [c for c in before if steps[c]]
    rank = dict.fromkeys((0, 1, 2), 0)
    sizes = {k: sum(int(c[1:]) % 3 == k for c in changed) for k in rank}
    histories = []
    for chunk in sorted(changed, key=lambda c: rng.random()):
        component = int(chunk[1:]) % 3
        rank[component] += 1
        histories.append(
            History(
                "A+B", 0, component, chunk, f"d{int(chunk[1:]) % 7}",
                rank[component], sizes[component], tuple(steps[chunk]),
            )
        )  # fmt: skip
    counts = {}
    for h in histories:
        counts[h.steps[0][0]] = counts.get(h.steps[0][0], 0) + 1
    reach = Reach(n_chunks=100, longest={("A+B", 0): order}, changed={("A+B", 0): counts})
    return histories, before, reach, order


def exact(histories, before, k):
    values = []
    for h in histories:
        last = [text for order, text in h.steps if order <= k]
        if last:
            a, b = bag([before[h.chunk_id], last[-1]])
            values.append(float(a @ b))
    return np.mean(values), len(values)


def test_a_budget_for_all_gives_the_exact_figures_of_every_prefix():
    histories, before, reach, longest = sequence()
    ks = [1, 5, 11, longest]
    found = judge_candidates(histories, before, reach, {"A+B": ks}, bag, 10_000, KEY)
    rows = {row["n_swaps"]: row for row in found.fidelity}
    for k in ks:
        mean, changed = exact(histories, before, k)
        assert rows[k]["fidelity"] == pytest.approx(mean, abs=1e-5)
        assert rows[k]["changed"] == rows[k]["chunks"] == changed
        assert rows[k]["corpus"] == pytest.approx(1 - changed / 100 * (1 - mean), abs=1e-6)
    assert rows[0]["fidelity"] == rows[0]["corpus"] == 1.0
    assert rows[0]["fidelity_se"] == 0.0
    # fewer swaps keep more of the corpus
    assert rows[0]["corpus"] > rows[1]["corpus"] > rows[5]["corpus"] > rows[longest]["corpus"]
    # one row a text: as suppressed, and after each swap
    assert len(found.texts) == len(before) + sum(len(h.steps) for h in histories)


def test_a_budget_bounds_the_texts_and_the_estimate_stays_near():
    histories, before, reach, longest = sequence(400, seed=3)
    read = []

    def counted(texts):
        read.extend(texts)
        return bag(texts)

    found = judge_candidates(histories, before, reach, {"A+B": [longest]}, counted, 200, KEY)
    assert 190 <= len(read) == len(set(read)) <= 200
    row = found.fidelity[-1]
    mean, changed = exact(histories, before, longest)
    assert 60 < row["chunks"] < 100
    assert row["changed"] == changed
    assert abs(row["fidelity"] - mean) < 4 * row["fidelity_se"]
    # what documents add makes up the error, and is nothing in sum
    parts = np.array([*row["by_document"].values()])
    assert np.sqrt(parts @ parts) == pytest.approx(row["corpus_se"])
    assert parts.sum() == pytest.approx(0, abs=1e-12)
    assert set(row["by_document"]) <= {h.document_id for h in histories}
    total = sum(r["weight"] for r in found.texts if r["order"] == 1 or r["order"] > 1)
    weight = {r["chunk_id"]: r["weight"] for r in found.texts if r["order"] > 0}
    assert sum(weight.values()) == pytest.approx(changed)
    assert total >= changed


def test_the_sample_does_not_depend_on_the_order_of_rows():
    histories, before, reach, longest = sequence(200, seed=5)
    wanted = {"A+B": [3, longest]}
    first = judge_candidates(histories, before, reach, wanted, bag, 120, KEY)
    shuffled = [*histories]
    random.Random(1).shuffle(shuffled)
    again = judge_candidates(shuffled, before, reach, wanted, bag, 120, KEY)
    assert first.fidelity == again.fidelity
    assert first.texts == again.texts


def test_draws_are_averaged_over_those_that_reached_the_number_of_swaps():
    first, before, reach, longest = sequence(seed=1)
    second, other, also, _ = sequence(seed=2)
    before = {**before, **{f"{c}'": text for c, text in other.items()}}
    second = [
        replace(h, draw=1, chunk_id=f"{h.chunk_id}'", steps=h.steps[:1])
        for h in second
        if h.steps[0][0] <= 10
    ]
    sizes = {k: sum(h.component == k for h in second) for k in range(3)}
    rank = dict.fromkeys(sizes, 0)
    for i, h in enumerate(second):
        rank[h.component] += 1
        second[i] = replace(h, rank=rank[h.component], size=sizes[h.component])
    counts = {order: n for order, n in also.changed["A+B", 0].items() if order <= 10}
    both = Reach(
        n_chunks=100,
        longest={("A+B", 0): longest, ("A+B", 1): 10},
        changed={**reach.changed, ("A+B", 1): counts},
    )
    wanted = {"A+B": [10, longest]}
    found = judge_candidates([*first, *second], before, both, wanted, bag, 10_000, KEY)
    _, ten, last = found.fidelity
    # at ten swaps both draws count, at the end the one that went on
    pooled = [exact(first, before, 10), exact(second, before, 10)]
    assert ten["changed"] == np.mean([n for _, n in pooled])
    assert abs(ten["fidelity"] - np.mean([mean for mean, _ in pooled])) < 0.01
    mean, changed = exact(first, before, longest)
    assert last["changed"] == changed
    assert last["fidelity"] == pytest.approx(mean, abs=1e-5)


def test_what_is_replaced_everywhere_counts_in_the_release_without_swaps_too():
    histories, before, reach, longest = sequence()
    held = [f"c{i:03d}" for i in range(0, 40, 4)]
    everywhere = [
        History("", 0, 0, c, "d1", rank, len(held), ((0, before[c] + " [Event]"),))
        for rank, c in enumerate(held, 1)
    ]
    first = {h.chunk_id: h.steps[0][0] for h in histories}
    both = {}
    for c in held:
        if c in first:
            both[first[c]] = both.get(first[c], 0) + 1
    reach = replace(reach, n_replaced=len(held), both={("A+B", 0): both}, first={("A+B", 0): first})
    found = judge_candidates(
        [*everywhere, *histories], before, reach, {"A+B": [1, longest]}, bag, 10_000, KEY
    )
    zero, one, all_ = found.fidelity
    mean = np.mean([float(np.prod(bag([before[c], before[c] + " [Event]"]), axis=0).sum())
                    for c in held])  # fmt: skip
    assert zero["fidelity"] == pytest.approx(mean, abs=1e-5)
    assert zero["changed"] == 10
    assert zero["corpus"] < 1
    # at one swap: those two, and what is replaced in the others
    swapped = [c for c in first if first[c] == 1]
    assert one["changed"] == len({*held, *swapped})
    assert all_["changed"] == len({*held, *first})


def test_where_no_sampled_chunk_is_only_replaced_all_sampled_tell_what_that_costs():
    """Else the last candidate of a small corpus, which exchanges nearly all, has no figure."""
    histories, before, reach, longest = sequence()
    changed = sorted(h.chunk_id for h in histories)
    spared = "only replaced"
    before = {**before, spared: before[changed[0]].replace(" ", " again ", 1)}
    first = {h.chunk_id: h.steps[0][0] for h in histories}
    held = [*changed[:9], spared]
    everywhere = [
        History("", 0, 0, c, "d1", rank, len(held), ((0, before[c] + " [Event]"),))
        for rank, c in enumerate(held, 1)
    ]
    both = {}
    for c in held[:-1]:
        both[first[c]] = both.get(first[c], 0) + 1
    reach = replace(reach, n_replaced=len(held), both={("A+B", 0): both}, first={("A+B", 0): first})
    candidates = {"A+B": [longest]}
    whole = judge_candidates(
        [*everywhere, *histories], before, reach, candidates, bag, 10_000, KEY
    ).fidelity[-1]
    # the one chunk that is only replaced is none of those that were read
    rest = judge_candidates(
        [*everywhere[:-1], *histories], before, reach, candidates, bag, 10_000, KEY
    ).fidelity[-1]
    assert rest["changed"] == whole["changed"] == len(changed) + 1
    # one of some forty with another chunk's figure
    assert rest["fidelity"] == pytest.approx(whole["fidelity"], abs=0.01)
    assert rest["fidelity"] != whole["fidelity"]


def test_a_candidate_of_which_nothing_was_read_has_no_figure():
    histories, before, reach, _ = sequence()
    late = [h for h in histories if h.steps[0][0] > 5]
    found = judge_candidates(late, before, reach, {"A+B": [2]}, bag, 500, KEY)
    assert math.isnan(found.fidelity[-1]["fidelity"])
    assert math.isnan(found.fidelity[-1]["corpus"])
    assert found.fidelity[-1]["changed"] == 4


# -- anchors ---------------------------------------------------------------------------------------

TEXT = "We bought Hinge's plant near Lindal and sold Hinge lamps to the Corwen group in spring."


def edit(text, old, new, category, entity, new_entity="New", after=0):
    start = text.index(old, after)
    return {
        "start": start, "end": start + len(old), "old": old, "new": new, "category": category,
        "old_entity": entity, "new_entity": new_entity,
    }  # fmt: skip


def original(i=0, text=TEXT):
    edits = [
        edit(text, "Hinge's", "Tarn's", "Product", "Hinge"),
        edit(text, "Lindal", "Askrigg", "Location", "Lindal"),
        edit(text, "Hinge", "Tarn", "Product", "Hinge", after=30),
        edit(text, "the ", "", "article", "", ""),
        edit(text, "Corwen group", "Dent", "Organization", "Corwen group"),
    ]
    return Original(f"c{i}", f"d{i}", 0, text, edits)


def test_blanking_takes_the_very_stretches_and_keeps_endings_and_articles():
    assert names_blanked(original()) == (
        "We bought [Product]'s plant near [Location] and sold [Product] lamps to the "
        "[Organization] in spring."
    )


def test_names_of_any_partner_come_from_another_document():
    other = "They like Fennel and Sorrel in Ulpha."
    second = Original(
        "c9", "d9", 4, other,
        [
            edit(other, "Fennel", "x", "Product", "Fennel"),
            edit(other, "Sorrel", "x", "Product", "Sorrel"),
            edit(other, "Ulpha", "x", "Location", "Ulpha"),
        ],
    )  # fmt: skip
    made = AnyPartner([original(), second], KEY)
    # nobody else has an Organization: the release's own name stays
    assert made(original()) == (
        "We bought Fennel's plant near Ulpha and sold Fennel lamps to Dent in spring."
    )
    assert made(second) == "They like Hinge and Hinge in Lindal."


def test_half_of_the_words_go_and_the_others_keep_their_order():
    kept = half_deleted(original(), KEY).split()
    words = TEXT.split()
    assert len(kept) == len(words) - len(words) // 2
    rest = iter(words)
    assert all(word in rest for word in kept)
    assert half_deleted(original(1), KEY) != half_deleted(original(2), KEY)


def test_a_random_other_chunk_is_of_the_component_and_of_another_document_where_it_can_be():
    chunks = [
        Original("a", "d1", 0, "", []), Original("b", "d1", 0, "", []),
        Original("c", "d2", 0, "", []), Original("e", "d3", 7, "", []),
        Original("f", "d3", 7, "", []), Original("g", "d9", 8, "", []),
    ]  # fmt: skip
    found = random_other(chunks, KEY)
    assert found[0] == found[1] == 2
    assert found[2] in (0, 1)
    assert found[3:] == [4, 3, -1]  # of one document only; alone


# -- the chosen release ----------------------------------------------------------------------------

PLACES = ("Askrigg", "Lindal", "Ulpha", "Sedbergh", "Dent", "Kirkby", "Tebay", "Orton")
SUBJECT_WORDS = (
    "We opened a new plant near {} and orders for heating systems rose",
    "Our loans in {} were repaid early, and deposits grew again this quarter",
    "Passenger numbers between {} and the coast fell because of the strike",
    "The trial in {} enrolled more patients than we had planned",
)
MORE = (
    "Margins improved because freight was cheaper than a year ago.",
    "We expect to finish the work before the end of the year.",
    "Prices of copper and energy were higher, which we passed on.",
    "Our team has done a great job and I want to thank them for it.",
)


def released(n=48):
    found = []
    for i in range(n):
        place, new = PLACES[i % 8], PLACES[(i * 3 + 1 + i % 8) % 8]
        text = f"{SUBJECT_WORDS[i % 4].format(place)}. {MORE[i // 4 % 4]} {MORE[i // 16 % 4]}"
        made = edit(text, place, new, "Location", place, new)
        chunk = Original(f"c{i:02d}", f"d{i % 9}", i % 4, text, [made])
        found.append(Released(chunk, text.replace(place, new), 1.0, i // 4 + 1, n // 4))
    return found


def placing(anchors=True):
    def place(texts, before):
        return before, np.ones(len(texts))

    return Placing(place, 500.0, anchors)


def figures(rows, measure="fidelity"):
    return {row["subject"]: row for row in rows if row["measure"] == measure}


def test_anchors_stand_in_their_order():
    rows = judge_release(
        released(), 200, load_contextual(threads=2).embed, 230, KEY, placing(), tasks=[Sentiment()]
    )
    found = figures(rows)
    assert tuple(found) == ("unchanged", *SUBJECTS[1:])
    value = {name: row["value"] for name, row in found.items()}
    assert value["unchanged"] == 1.0
    assert 1.0 > value["names_blanked"] > value["half_deleted"] > value["random_other"]
    assert 1.0 > value["release"] > value["half_deleted"]
    for row in rows:
        assert row["subject"] == "unchanged" or row["chunks"] >= 10
        assert row["subject"] == "unchanged" or row["changed"] == 48
    own = found["release"]
    assert own["corpus"] == pytest.approx(1 - 48 / 200 * (1 - own["value"]))
    below = figures(rows, BELOW_BLANKING)["release"]
    assert -0.2 < below["value"] < 0.2
    assert below["standard_error"] > 0
    # a word list does not see places; half of the words are another matter
    tasks = figures(rows, "task_agreement/sentiment")
    assert tasks["release"]["value"] == tasks["names_blanked"]["value"] == 1.0
    assert tasks["half_deleted"]["value"] < 1.0
    pmse = figures(rows, "pMSE")
    assert pmse["unchanged"]["value"] == 0.0
    assert told(rows).startswith(f"fidelity .{round(own['value'] * 1000)} (±")


def test_what_was_read_before_costs_nothing_and_changes_nothing():
    chunks = released()
    read = []

    def counted(texts):
        read.extend(texts)
        return bag(texts)

    first = judge_release(chunks, 200, counted, 90, KEY, placing())
    assert len(read) <= 90
    known = {judge.digest_of(t): v for t, v in zip(read, bag(read), strict=True)}
    before = len(read)
    random.Random(2).shuffle(chunks)
    again = judge_release(chunks, 200, counted, 90, KEY, placing(), known)
    assert len(read) - before <= 90
    # a larger sample holds the smaller one, so the figures rest on more chunks now
    assert figures(again)["release"]["chunks"] > figures(first)["release"]["chunks"]
    random.Random(3).shuffle(chunks)
    assert judge_release(chunks, 200, bag, 90, KEY, placing()) == first


def test_anchors_are_not_placed_where_each_text_is_paid_for():
    rows = judge_release(released(), 200, bag, 400, KEY, placing(anchors=False))
    topics = figures(rows, "topic_agreement")
    assert topics["release"]["value"] == 1.0
    assert math.isnan(topics["names_blanked"]["value"])
    assert "component_after" in topics["names_blanked"]["reason"]


def test_a_text_that_is_not_published_keeps_nothing_and_has_no_names_to_blank():
    def dropped(r):
        text = r.original.text
        gone = edit(text, text, "", "drop", "", "")
        return replace(r, text="", original=replace(r.original, edits=[gone]))

    rows = judge_release([dropped(r) for r in released()], 200, bag, 400, KEY, placing())
    assert figures(rows)["release"]["value"] == 0.0
    assert "names_blanked" not in figures(rows)
    assert not figures(rows, BELOW_BLANKING)
    some = [dropped(r) if i % 3 == 0 else r for i, r in enumerate(released())]
    found = figures(judge_release(some, 200, bag, 400, KEY, placing()))
    assert found["names_blanked"]["chunks"] == 32
    assert 0 < found["release"]["value"] < 2 / 3


def test_nothing_changed_says_so():
    rows = judge_release([], 200, bag, 100, KEY, placing())
    assert {row["subject"] for row in rows} == {"unchanged"}
    assert told(rows) == "nothing was changed"
