from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nes_spark.audit import (
    audit_metrics,
    gate_accuracy,
    linkage,
    text,
    text_stages,
    unswap_stages,
)
from nes_spark.audit import stages as audit_stages
from nes_spark.audit.ranking import hashes_of, tie_keys
from nes_spark.audit.stages import (
    attack_candidates,
    linkage_attack,
    read_reference,
    summarize_audit,
    summarize_partner_guesses,
)
from nes_spark.audit.statistics import coupled_drop
from nes_spark.audit.text_stages import KnownWords, text_attack
from nes_spark.audit.unswap import turn_of
from nes_spark.audit.unswap_memory import partner_guesses
from nes_spark.audit.unswap_stages import swap_aware_attack
from nes_spark.config import AuditConfig, ConstraintsConfig
from nes_spark.errors import InputError
from nes_spark.releases.publish_stages import chosen_rewrites
from nes_spark.schemas import ATTACKS, PARTNER_GUESSES, PREDICTIONS, REWRITES
from nes_spark.swapping.constraints import constraints_of
from tests.audit.corpus import RELEASE, frames, freed, make
from tests.audit.evidence import Known, evidence_of
from tests.conftest import setting_of

CONFIG = AuditConfig()
J = ("Organization", "Product")


@pytest.fixture(scope="module")
def corpus():
    return make()


def rows(frame, key):
    return sorted((tuple(r) for r in frame.collect()), key=lambda r: tuple(map(str, r[:key])))


def oracle(corpus, leave_out, config=CONFIG, hidden=()):
    """The linkage attack in plain Python, from its definition."""
    features = {c["chunk_id"]: linkage.features_of(c["entities"]) for c in corpus.cells}
    owner = {c["chunk_id"]: c["metadata"] for c in corpus.cells}
    labels = sorted(set(owner.values()))
    hashes = hashes_of(labels)
    users = {}
    for c, held in features.items():
        for f in held:
            users.setdefault(f, set()).add(owner[c])

    def guess(chunk, seen):
        known = [c for c in features if not (leave_out and c == chunk)]
        sizes = Counter(owner[c] for c in known)
        found = []
        for f in seen:
            holders = Counter(owner[c] for c in known if f in features[c])
            if holders and len(users[f]) <= config.max_candidates_per_entity:
                counts = {labels.index(n): holders[n] for n in holders}
                found.append(Known(f, sum(holders.values()), False, counts))
        best, rank, _ = linkage.guess(
            chunk, evidence_of(found), np.array([sizes[label] for label in labels]), hashes,
            labels.index(owner[chunk]), False, False, config.smoothing, config.pair_weight,
        )  # fmt: skip
        return labels[best], rank

    expected = {}
    for r in corpus.rewrites:
        chunk = r["chunk_id"]
        before = next(c["entities"] for c in corpus.cells if c["chunk_id"] == chunk)
        after = linkage.swap_entities(before, r["edits"])
        expected[r["draw"], chunk, "pre"] = guess(chunk, features[chunk])
        expected[r["draw"], chunk, "post"] = guess(chunk, linkage.features_of(after, hidden))
    return expected


@pytest.fixture(scope="module")
def linked(attacked):
    """The rewrites of all draws, and what the linkage adversary says of them: rows that stay."""
    final, found = attacked
    return final, [r for r in found if r["model"].startswith("linkage")]


@pytest.fixture(scope="module")
def suspected(spark, corpus):
    """What the adversary who knows about swapping says, once: rows that stay."""
    tables = frames(spark, corpus, 2)
    final = chosen_rewrites(tables["rewrites"], *RELEASE)
    with setting_of(spark, "spark.sql.shuffle.partitions", 2), freed(spark, 3) as until:
        guesses = swap_aware_attack(
            tables["cells"], final, J, CONFIG, tables["components"], until=until
        )
        assert guesses.columns == PARTNER_GUESSES.names
        return rows(guesses, 2)


def assert_linked_as_defined(corpus, collected, config):
    assert len(collected) == 2 * 2 * 2 * 12
    for model, leave_out in (("linkage", True), ("linkage-self", False)):
        mine = {
            (r["draw"], r["chunk_id"], r["side"]): (r["answer"], r["rank"])
            for r in collected
            if r["model"] == model
        }
        assert mine == oracle(corpus, leave_out, config, ["Date"])
    for r in collected:
        truth = f"Company {r['document_id'][3:]}"
        assert r["correct"] == (r["answer"] == truth) == (r["rank"] == 1)
        assert r["outcome"] == "answered"


def test_linkage_agrees_with_its_definition(corpus, linked):
    assert_linked_as_defined(corpus, linked[1], CONFIG)


@pytest.mark.parametrize(
    # On one partition also: an entity of too many candidates is no evidence.
    ("partitions", "most"),
    [(1, 2), (7, 1000)],
    indirect=["partitions"],
)
def test_linkage_agrees_on_other_partitions_too(spark, corpus, partitions, most):
    tables = frames(spark, corpus, partitions)
    final = chosen_rewrites(tables["rewrites"], *RELEASE)
    config = CONFIG.model_copy(update={"max_candidates_per_entity": most})
    found = linkage_attack(tables["cells"], final, config, hidden=["Date"])
    assert_linked_as_defined(corpus, found.collect(), config)


def test_with_fewer_candidates_an_entity_the_definition_differs(corpus):
    few = CONFIG.model_copy(update={"max_candidates_per_entity": 2})
    assert oracle(corpus, True, few) != oracle(corpus, True)


def test_intervals_allow_for_the_documents_that_swaps_couple(spark, corpus, linked, partitions):
    final = spark.createDataFrame(linked[0], REWRITES.ddl).repartition(partitions)
    found = spark.createDataFrame(linked[1], PREDICTIONS.ddl).repartition(partitions)
    alone = {r.model: r for r in summarize_audit(found, CONFIG)}["linkage"]
    coupled = {r.model: r for r in summarize_audit(found, CONFIG, final)}["linkage"]
    assert coupled.drop.drop == alone.drop.drop
    assert coupled.documents == alone.documents
    partner = {(r["draw"], r["chunk_id"]): r["partner_id"].split("#")[0] for r in corpus.rewrites}
    lost = Counter()
    for r in (r for r in linked[1] if r["model"] == "linkage"):
        lost[r["draw"], r["chunk_id"]] += r["correct"] * (1 if r["side"] == "pre" else -1)
    rows = [(c.split("#")[0], partner[d, c], 1, n) for (d, c), n in sorted(lost.items())]
    assert coupled.drop == coupled_drop(*zip(*rows, strict=True))


def test_partners_of_the_chunks_asked_about_alone_are_collected(spark, linked, monkeypatch):
    one = min(r["chunk_id"] for r in linked[1] if r["draw"] == 1)
    about = [r for r in linked[1] if (r["draw"], r["chunk_id"]) == (1, one)]
    collected, summarize = [], audit_stages.summarize_predictions

    def look(predictions, partners, *more):
        collected.extend(partners.itertuples(index=False, name=None))
        return summarize(predictions, partners, *more)

    monkeypatch.setattr(audit_stages, "summarize_predictions", look)
    final = spark.createDataFrame(linked[0], REWRITES.ddl)
    assert summarize_audit(spark.createDataFrame(about, PREDICTIONS.ddl), CONFIG, final)
    (partner,) = (r["partner_id"] for r in linked[0] if (r["draw"], r["chunk_id"]) == (1, one))
    assert collected == [(1, one, partner.split("#")[0])]
    assert len(linked[0]) > 1


def test_swapping_hides_the_document_from_the_linkage_adversary(spark, linked):
    predictions = spark.createDataFrame(linked[1], PREDICTIONS.ddl)
    results = {r.model: r for r in summarize_audit(predictions, CONFIG)}
    one = results["linkage"]
    assert one.pre.mean == 1.0
    assert one.post.mean < 0.5
    assert one.mcnemar.n == one.chunks == 24
    assert one.mcnemar.table[0][1] == round(24 * one.drop.drop)
    assert one.drop.low > 0.5
    assert one.hits5_pre == 1.0
    assert 1 / 6 < one.mrr_post < 1
    assert one.outcomes == {side: {"answered": 24} for side in ("pre", "post")}
    assert any("fewer than 25" in w for w in one.warnings)
    metrics = audit_metrics(results.values())
    assert metrics["audit/linkage/accuracy_post"] == one.post.mean
    assert all(math.isfinite(v) for v in metrics.values())
    assert gate_accuracy(results.values(), ["linkage"]) == one.post.mean
    assert gate_accuracy(results.values(), ["another"]) is None
    assert one.to_dict()["mcnemar"]["odds_ratio"] is None  # no chunk gained by swapping


@pytest.mark.slow
def test_a_reference_corpus_is_what_is_known(spark, corpus):
    tables = frames(spark, corpus)
    other = frames(spark, make(documents=4, seed=9))
    final = chosen_rewrites(tables["rewrites"], *RELEASE, draws=1)
    found = linkage_attack(tables["cells"], final, CONFIG, knowledge=other["cells"]).collect()
    assert len(found) == 2 * 2 * 12
    unknown = [r for r in found if r["document_id"] in ("doc4", "doc5")]
    assert unknown
    assert all(r["rank"] is None and not r["correct"] for r in unknown)
    # Nothing is left out of another corpus: both variants are one.
    by = {(r["chunk_id"], r["side"], r["model"]): r["answer"] for r in found}
    assert all(by[c, s, "linkage"] == by[c, s, "linkage-self"] for c, s, _ in by)
    taught = KnownWords(other["chunks"], other["mentions"], CONFIG, here=False)
    words = text_attack(tables["chunks"], tables["mentions"], final, taught.learned).collect()
    known = [r for r in words if r["model"] == "style" and r["document_id"] not in ("doc4", "doc5")]
    assert sum(r["correct"] for r in known) > 0.7 * len(known)
    empty = other["cells"].limit(0)
    with pytest.raises(InputError, match="no chunks to learn from"):
        linkage_attack(tables["cells"], final, CONFIG, knowledge=empty)
    with pytest.raises(InputError, match="no chunks to learn from"):
        _ = KnownWords(other["chunks"].limit(0), other["mentions"], CONFIG).learned


def test_text_attack_agrees_with_its_definition(corpus, attacked):
    final, found = attacked
    collected = [r for r in found if not r["model"].startswith("linkage")]
    assert len(collected) == 3 * 2 * 2 * 12
    assert guesses_of(collected) == text_oracle(corpus, final, 1000)
    style = {}
    for r in collected:
        if r["model"] == "style":
            style.setdefault((r["draw"], r["chunk_id"]), set()).add((r["answer"], r["rank"]))
    assert len(style) == 24
    # Swapping does not touch the words outside mentions.
    assert all(len(answers) == 1 for answers in style.values())
    # Every document has its own adjective, so style gives all of them away.
    assert all(r["correct"] for r in collected if r["model"] == "style")


@pytest.mark.parametrize("partitions", [1], indirect=True)
def test_text_attack_does_not_depend_on_partitions(spark, corpus, attacked, partitions):
    tables = frames(spark, corpus, partitions)
    final = chosen_rewrites(tables["rewrites"], *RELEASE)
    learned = KnownWords(tables["chunks"], tables["mentions"], CONFIG).learned
    found = text_attack(tables["chunks"], tables["mentions"], final, learned).collect()
    other = [r for r in attacked[1] if not r["model"].startswith("linkage")]
    assert sorted(map(str, found)) == sorted(map(str, other))


def guesses_of(found):
    """Draw, chunk, side and adversary to answer and rank, of rows of the table."""
    got = {
        (r["draw"], r["chunk_id"], r["side"], r["model"]): (r["answer"], r["rank"]) for r in found
    }
    assert len(got) == len(found)
    return got


def text_oracle(corpus, final, most, learned=None):
    """The text attack in plain Python, from its definition; `learned` is another corpus."""
    here, learned = learned is None, learned or corpus
    spans = {}
    for m in [*corpus.mentions, *learned.mentions]:
        spans.setdefault(m["chunk_id"], set()).add((m["start"], m["end"]))
    owner = {c["chunk_id"]: c["metadata"] for c in [*learned.chunks, *corpus.chunks]}
    source = {c["chunk_id"]: c["text"] for c in corpus.chunks}
    taught = {c["chunk_id"]: c["text"] for c in learned.chunks}
    labels = sorted({owner[c] for c in taught})
    hashes = hashes_of(labels)
    found = {}
    for kind in ("style", "words"):

        def counts(words, chunk, kind=kind):
            hidden = sorted(spans.get(chunk, ())) if kind == "style" else ()
            return text.bucket_counts(text.words(words, hidden))

        held = {chunk: counts(words, chunk) for chunk, words in taught.items()}
        frequency = np.zeros(text.BUCKETS, dtype=np.int64)
        for row in held.values():
            frequency[list(row)] += 1
        inverse = text.inverse_frequencies(frequency, len(held))
        vectors = {c: text.tfidf(row, inverse) for c, row in held.items()}
        users = {}
        for chunk, row in vectors.items():
            for bucket in row:
                users.setdefault(bucket, set()).add(owner[chunk])

        def known(row, users=users):
            return Counter({b: w for b, w in row.items() if 0 < len(users.get(b, ())) <= most})

        def centroid(label, without=None, vectors=vectors, known=known):
            total = Counter()
            for chunk, row in vectors.items():
                if owner[chunk] == label and chunk != without:
                    total.update(known(row))
            return total

        whole = {label: centroid(label) for label in labels}
        for row in final:
            chunk, truth = row["chunk_id"], owner[row["chunk_id"]]
            keys = tie_keys(chunk, hashes)
            for side, words in (("pre", source[chunk]), ("post", row["text"])):
                if kind == "style":
                    words = source[chunk]
                vector = known(text.tfidf(counts(words, chunk), inverse))
                for suffix, without in (("", chunk), ("-self", None)):
                    of = {**whole, truth: centroid(truth, without if here else None)}
                    scores = [
                        text.score(
                            sum(w * of[label][b] for b, w in vector.items()),
                            sum(w * w for w in of[label].values()),
                        )
                        for label in labels
                    ]
                    order = sorted(range(len(labels)), key=lambda i: (-scores[i], keys[i]))
                    place = order.index(labels.index(truth)) + 1
                    name = (row["draw"], chunk, side, kind + suffix)
                    found[name] = (labels[order[0]], place)
    return {k: v for k, v in found.items() if k[3] != "style-self"}


@pytest.mark.parametrize("partitions", [7], indirect=True)
def test_text_attack_in_blocks_with_few_candidates_a_word(spark, corpus, partitions, monkeypatch):
    monkeypatch.setattr(text_stages, "_CENTROID_WORDS", 60)
    monkeypatch.setattr(text_stages, "_SIGHTED_WORDS", 150)
    config = CONFIG.model_copy(update={"max_candidates_per_entity": 2})
    tables = frames(spark, corpus, partitions)
    final = chosen_rewrites(tables["rewrites"], *RELEASE)
    learned = KnownWords(tables["chunks"], tables["mentions"], config).learned
    found = text_attack(tables["chunks"], tables["mentions"], final, learned).collect()
    assert guesses_of(found) == text_oracle(corpus, final.collect(), 2)
    owner = {c["chunk_id"]: c["metadata"] for c in corpus.chunks}
    assert all(r["correct"] == (r["answer"] == owner[r["chunk_id"]]) for r in found)


def test_swap_aware_attack(corpus, suspected):
    collected = suspected
    partner = {(r["draw"], r["chunk_id"]): r["partner_id"] for r in corpus.rewrites}
    component = {r["chunk_id"]: r["component"] for r in corpus.components}
    for r in collected:
        draw, chunk, answer, swapped, match = r[0], r[1], r[2], r[5], r[8]
        assert swapped == ((draw, chunk) in partner)
        assert r[7] == (swapped and answer == partner[draw, chunk])
        assert r[9] == (swapped and match == partner[draw, chunk])
        assert component[answer] == component[chunk]
    undone = Counter(r[0] for r in collected if r[8] is not None)
    assert undone == {0: 12, 1: 12}


def test_swap_aware_attack_in_memory_is_the_same(corpus, suspected):
    component = {r["chunk_id"]: r["component"] for r in corpus.components}
    told = [r for r in corpus.rewrites if r["draw"] in (0, 1)]
    found = partner_guesses(corpus.cells[::-1], told, J, CONFIG, component)
    assert sorted(found) == sorted(map(tuple, suspected))


def test_dates_that_moved_count_as_they_are_shown(spark):
    """What stands beside the names is read from the release, on Spark as in memory."""
    small = make(documents=3, chunks=4, swaps=2, draws=1)
    dates = {c["chunk_id"]: c["entities"]["Date"] for c in small.cells}
    for row in small.rewrites:
        row["edits"] = [
            *row["edits"],
            *(
                {
                    "start": 0, "end": 1, "old": "Q", "new": "Q", "category": "Date",
                    "old_entity": date, "new_entity": f"Quarter {(int(date[-1]) + 1) % 3}",
                }
                for date in dates[row["chunk_id"]]
            ),
        ]  # fmt: skip
    component = {r["chunk_id"]: r["component"] for r in small.components}
    tables = frames(spark, small, 2)
    final = chosen_rewrites(tables["rewrites"], *RELEASE)
    found = swap_aware_attack(tables["cells"], final, J, CONFIG, tables["components"])
    told = rows(found, 2)
    last = [r.asDict(recursive=True) for r in final.collect()]
    alone = partner_guesses(small.cells, last, J, CONFIG, component)
    assert told and sorted(alone) == sorted(map(tuple, told))
    for row in last:
        row["edits"] = [e for e in row["edits"] if e["category"] != "Date"]
    assert sorted(partner_guesses(small.cells, last, J, CONFIG, component)) != sorted(alone)


@pytest.mark.parametrize(
    ("partitions", "pairs"),
    # Seven partitions are compared with two; one is a third row of the same promise.
    [(7, 200), pytest.param(1, 50_000_000, marks=pytest.mark.slow)],
    indirect=["partitions"],
)
def test_swap_aware_attack_does_not_depend_on_partitions_and_tasks(
    spark, corpus, suspected, monkeypatch, partitions, pairs
):
    tables = frames(spark, corpus, partitions)
    final = chosen_rewrites(tables["rewrites"], *RELEASE)
    monkeypatch.setattr(unswap_stages, "_PAIRS_A_TASK", pairs)  # 24 x 24 in a component
    found = swap_aware_attack(tables["cells"], final, J, CONFIG, tables["components"])
    assert rows(found, 2) == suspected


@given(
    st.dictionaries(
        st.tuples(st.integers(0, 2), st.integers(0, 3), st.integers(-2, 2)), st.integers(1, 40_000)
    ),
)
def test_shares_are_of_about_the_same_work(counts):
    shares = unswap_stages._shares(counts)
    work = Counter()
    for *group, part, parts, task in shares:
        assert 0 <= part < parts
        work[task] += counts[tuple(group)] ** 2 / parts
    assert sorted(s[:5] for s in shares) == [
        (*key, part, parts)
        for key in sorted(counts)
        for parts in [-(-(counts[key] ** 2) // unswap_stages._PAIRS_A_TASK)]
        for part in range(parts)
    ]
    # Largest first: a task is given more only while it has less than the mean.
    assert all(w <= 2 * unswap_stages._PAIRS_A_TASK for w in work.values())
    assert set(work) == set(range(len(work)))


def test_without_components_any_two_chunks_are_candidates(spark):
    tables = frames(spark, make(documents=3, chunks=4, swaps=2, draws=1))
    final = chosen_rewrites(tables["rewrites"], *RELEASE)
    guesses = swap_aware_attack(tables["cells"], final, J, CONFIG).collect()
    # All of the two other documents, but those that share an entity or all the rest.
    assert max(r["candidates"] for r in guesses) > 4


def test_partners_are_looked_for_where_constraints_allow_them(spark, corpus):
    tables = frames(spark, corpus)
    final = chosen_rewrites(tables["rewrites"], *RELEASE, draws=1)
    ids = sorted(c["chunk_id"] for c in corpus.chunks)
    sector = {c: int(c[3]) % 2 for c in ids}  # of the document
    angle = {c: 0.1 * i for i, c in enumerate(ids)}
    component = {r["chunk_id"]: r["component"] for r in corpus.components}
    known = spark.createDataFrame(
        [(c, component[c], sector[c], None, [math.cos(angle[c]), math.sin(angle[c])]) for c in ids],
        "chunk_id string, component int, stratum bigint, numbers array<double>, "
        "vector array<float>",
    )
    rules = constraints_of(ConstraintsConfig(same_covariates=["sector"], min_cosine=0.5))
    guesses = swap_aware_attack(tables["cells"], final, J, CONFIG, known, constraints=rules)
    found = [r for r in guesses.collect() if r["answer"] is not None]
    assert len(found) > 10
    for r in found:
        a, b = r["chunk_id"], r["answer"]
        assert (sector[a], component[a]) == (sector[b], component[b])
        assert math.cos(angle[a] - angle[b]) >= 0.5 - 1e-6


@pytest.mark.slow
def test_of_a_large_component_the_swapped_and_a_lot_take_part(spark, corpus):
    tables = frames(spark, corpus)
    final = chosen_rewrites(tables["rewrites"], *RELEASE, draws=1)
    swapped = {r["chunk_id"] for r in final.collect()}

    def guesses(limit):
        config = CONFIG.model_copy(update={"swap_aware_max_chunks": limit})
        found = swap_aware_attack(tables["cells"], final, J, config, tables["components"])
        return {r["chunk_id"]: r for r in found.collect()}

    everyone = guesses(10_000)
    place = {r["chunk_id"]: r["component"] for r in tables["components"].collect()}
    drawn = guesses(8)
    assert swapped <= set(drawn) < set(everyone)
    for component in set(place.values()):
        mine = [c for c in everyone if place[c] == component]
        rest = sorted((c for c in mine if c not in swapped), key=turn_of)
        free = max(0, 8 - len([c for c in mine if c in swapped]))
        assert {c for c in drawn if place[c] == component} - swapped == set(rest[:free])


def test_in_memory_too_the_swapped_and_a_lot_take_part(corpus):
    last = [r for r in corpus.rewrites if r["draw"] == 0]
    swapped = {r["chunk_id"] for r in last}
    component = {r["chunk_id"]: r["component"] for r in corpus.components}

    def asked(limit, where=component):
        config = CONFIG.model_copy(update={"swap_aware_max_chunks": limit})
        return {row[1] for row in partner_guesses(corpus.cells, last, J, config, where)}

    everyone, drawn = asked(10_000), asked(8)
    assert swapped <= drawn < everyone
    for number in set(component.values()):
        mine = [c for c in everyone if component[c] == number]
        rest = sorted((c for c in mine if c not in swapped), key=turn_of)
        free = max(0, 8 - len(swapped & set(mine)))
        assert {c for c in drawn if component[c] == number} - swapped == set(rest[:free])
    # a chunk without a component has no partner to be looked for
    missing = min(swapped)
    assert missing not in asked(10_000, {c: k for c, k in component.items() if c != missing})


def test_swap_aware_summary(spark, suspected):
    first = [row for row in suspected if row[0] == 0]
    guesses = spark.createDataFrame(first, PARTNER_GUESSES.ddl)
    result = summarize_partner_guesses(guesses)
    found = guesses.toPandas()
    swapped = found[found["swapped"]]
    assert result.draws == 1
    assert result.swapped == len(swapped) == 12
    assert result.accuracy == pytest.approx(swapped["correct"].mean())
    assert result.mrr == pytest.approx((1 / swapped["rank"]).mean())
    assert result.chance == pytest.approx((1 / swapped["candidates"]).mean())
    harmonic = [sum(1 / k for k in range(1, n + 1)) / n for n in swapped["candidates"]]
    assert result.chance_mrr == pytest.approx(sum(harmonic) / 12, rel=1e-3)
    assert result.undone == 6
    assert result.undo_chance == pytest.approx(6 / (found["candidates"].sum() / 2))
    # Documents with their own names are easy to put together again.
    assert result.accuracy > 5 * result.chance
    assert result.undo_precision > 0.5
    assert result.detection >= result.undo_precision
    assert "audit/swap-aware/accuracy" in audit_metrics([], result)


def test_swap_aware_summary_of_a_large_release(spark, monkeypatch):
    # More candidates than twelve times whose square is an int, and sums that no bigint has room
    # for: on this grid ten chunks add up to what ten million do on the usual one.
    monkeypatch.setattr(audit_stages, "GRID", 10**18)
    values = {
        "draw": "0", "chunk_id": "'x'", "answer": "'y'", "score": "1.0", "candidates": "30000",
        "swapped": "true", "rank": "1", "correct": "true", "match": "'y'",
        "match_correct": "true",
    }  # fmt: skip
    assert set(values) == set(PARTNER_GUESSES.names)
    guesses = spark.range(10).selectExpr(
        *(f"{value} AS `{name}`" for name, value in values.items())
    )
    result = summarize_partner_guesses(guesses)
    assert result.mrr == 1.0
    assert result.chance == pytest.approx(1 / 30_000, rel=1e-6)
    assert result.chance_mrr == pytest.approx(10.8863 / 30_000, rel=1e-4)


@pytest.mark.slow
def test_candidates_carry_their_measured_risk(spark, corpus):
    tables = frames(spark, corpus)
    attacks = attack_candidates(tables["cells"], tables["rewrites"], CONFIG)
    assert attacks.columns == ATTACKS.names
    found = {(r["n_swaps"], r["model"]): r for r in attacks.collect()}
    assert {n for n, _ in found} == set(range(1, 7))
    final = chosen_rewrites(tables["rewrites"], *RELEASE, n_swaps=4)
    predictions = linkage_attack(tables["cells"], final, CONFIG)
    one = next(r for r in summarize_audit(predictions, CONFIG) if r.model == "linkage")
    row = found[4, "linkage"]
    assert row["draws"] == 2
    assert row["accuracy_pre"] == pytest.approx(one.pre.mean)
    assert row["accuracy_post"] == pytest.approx(one.post.mean)
    lost = one.chunks * one.drop.drop / 2
    assert row["corpus_accuracy"] == pytest.approx((48 - lost) / 48)


def test_later_swaps_of_a_chunk_replace_earlier_ones(spark):
    corpus = make(swaps=2, draws=1)
    # The first pair swaps back in a third swap.
    first = [r for r in corpus.rewrites if r["order"] == 1]
    originals = {c["chunk_id"]: c for c in corpus.chunks}
    for r in first:
        # Edits are cumulative: none lead from the original to itself.
        text = originals[r["chunk_id"]]["text"]
        corpus.rewrites.append({**r, "order": 3, "edits": [], "text": text})
    tables = frames(spark, corpus)
    final = {r["chunk_id"]: r for r in chosen_rewrites(tables["rewrites"], *RELEASE).collect()}
    assert len(final) == 4
    assert all(final[r["chunk_id"]]["order"] == 3 for r in first)
    with freed(spark, 1) as until:
        found = attack_candidates(tables["cells"], tables["rewrites"], CONFIG, until=until)
        attacks = {r["n_swaps"]: r for r in found.collect() if r["model"] == "linkage"}
    # Back in their old state, the first two are identified again.
    assert attacks[3]["accuracy_post"] == pytest.approx(
        (2 + 4 * attacks[2]["accuracy_post"] - 2 * attacks[1]["accuracy_post"]) / 4
    )


def test_half_a_pair_is_refused(spark):
    row = (0, "d#0", "d", "pre", "m", "x", "answered", True, 1, [])
    frame = spark.createDataFrame([row], PREDICTIONS.ddl)
    with pytest.raises(InputError, match="1 chunks have a prediction on one side only"):
        summarize_audit(frame, CONFIG)
    assert summarize_audit(frame.limit(0), CONFIG) == []


def test_reference_must_be_there(spark, tmp_path):
    with pytest.raises(InputError, match="no readable table 'cells'"):
        read_reference(spark, str(tmp_path))
