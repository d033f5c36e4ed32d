"""What the audit costs: ratios, not seconds, so that machines can be compared.

``python -m tests.benchmarks.bench_audit`` prints one line a question. ``--spark`` adds the attack
on Spark, corpus against twice the corpus.
"""

from __future__ import annotations

import random
import sys
import tempfile
import time
from collections.abc import Callable

import numpy as np

from nes_spark.audit import ranking, text
from nes_spark.audit.answer_store import AnswerStore, question_key, text_digest
from nes_spark.audit.client import Asker, Purse, Question, RateLimiter, Secret, ask_all
from nes_spark.audit.unswap import Suspect, suspect_pairs
from nes_spark.config import AuditConfig, LanguageModelConfig
from tests.audit.corpus import frames, make
from tests.audit.server import ModelServer


def best(function: Callable[[], object], times: int = 3) -> float:
    """Return the shortest of a few runs, in seconds."""
    found = []
    for _ in range(times):
        started = time.perf_counter()
        function()
        found.append(time.perf_counter() - started)
    return min(found)


def suspects(n: int) -> list[Suspect]:
    """Chunks of one component, of forty documents."""
    rng = random.Random(n)

    def scores(of: int) -> tuple[np.ndarray, np.ndarray]:
        held = sorted({rng.randrange(of) for _ in range(4)})
        return np.array(held), np.array([rng.random() for _ in held])

    found = []
    for i in range(n):
        date = rng.randrange(50)
        entities = {"Org": [f"Org\x1f{rng.randrange(n)}"]}
        found.append(
            Suspect(
                f"c{i:05d}", i % 40, f"m{i % 40}", entities, np.array([date]), 1, date,
                scores(40), scores(50), None,
            )
        )  # fmt: skip
    return found


def pairwise(chunks: list[Suspect]) -> float:
    """The definition of the score, pair by pair in Python."""

    fit, context = (
        {c.chunk_id: dict(zip(*scores, strict=True)) for c, scores in pairs}
        for pairs in ([(c, c.fit) for c in chunks], [(c, c.context) for c in chunks])
    )

    def h(x: Suspect, y: Suspect) -> float:
        beside = sum(context[x.chunk_id].get(f, 0.0) for f in y.outside) / y.n_outside
        return fit[x.chunk_id].get(y.document, 0.0) + beside

    return max(
        h(a, b) + h(b, a) - h(a, a) - h(b, b)
        for a in chunks
        for b in chunks
        if a.metadata != b.metadata
    )


def nearest_texts(t: int, m: int) -> tuple[Callable[[], object], Callable[[], object]]:
    """Rank m documents for each of t chunks: as matrices, and by dictionaries of each pair."""
    rng = np.random.default_rng(t)

    def rows(count: int, words: int) -> list[dict[int, int]]:
        return [
            dict(zip((rng.zipf(1.3, words) % text.BUCKETS).tolist(), [text.SCALE] * words,
                     strict=True))
            for _ in range(count)
        ]  # fmt: skip

    chunks, documents = rows(t, 45), rows(m, 600)
    norms = [sum(w * w for w in row.values()) for row in documents]
    hashes = ranking.hashes_of([f"document {i}" for i in range(max(t, m))])

    def vectors(held: list[dict[int, int]]) -> object:
        return text.vectors(
            [np.array(list(r)) for r in held], [np.array(list(r.values())) for r in held]
        )

    def matrices() -> object:
        truth = np.arange(t) % m
        return text.nearest(
            vectors(chunks), hashes[:t], vectors(documents), np.sqrt(norms), hashes[:m],
            truth, hashes[truth], np.zeros((t, 2), dtype=np.int64),
        )  # fmt: skip

    def pairs() -> object:
        return [
            max(
                text.score(sum(w * row.get(b, 0) for b, w in chunk.items()), norm)
                for row, norm in zip(documents, norms, strict=True)
            )
            for chunk in chunks
        ]

    return matrices, pairs


def ask(n: int, in_flight: int, folder: str) -> tuple[float, int]:
    """Ask n questions of a server that takes 20 ms; return seconds and requests made."""
    config = AuditConfig(prompt="{text}")
    faults = {"fault_rate": 1.0, "faults": ["slow"], "slow_seconds": 0.02}
    with ModelServer(**faults) as server:
        model = LanguageModelConfig(name="m", model="m", base_url=server.base_url)
        model = model.model_copy(update={"base_url": server.base_url, "extra": {}})
        identity = model.model_copy(update={"base_url": "bench"})
        questions = [
            Question(question_key(identity, "{text}", text_digest(str(i))), str(i))
            for i in range(n)
        ]
        purse = Purse(None)
        asker = Asker(model, config, Secret("k"), AnswerStore(folder), RateLimiter(), purse)
        started = time.perf_counter()
        list(ask_all(asker, questions, in_flight, purse))
        seconds = time.perf_counter() - started
        asker.close()
        return seconds, len(server.requests)


def attack_on_spark() -> None:
    """Compare the linkage attack on a corpus and on one of twice the size."""
    from nes_spark.audit.stages import linkage_attack
    from nes_spark.config import SparkConfig
    from nes_spark.releases.publish_stages import chosen_rewrites
    from nes_spark.session import get_session

    spark = get_session(SparkConfig(master="local[2]", shuffle_partitions=4))
    config = AuditConfig()
    seconds = []
    for documents in (10, 20):
        tables = frames(spark, make(documents=documents, chunks=40, swaps=30, draws=3))
        final = chosen_rewrites(tables["rewrites"], "pkb", "Organization+Product").cache()
        final.count()
        attack = linkage_attack(tables["cells"], final, config)
        seconds.append(best(lambda attack=attack: attack.count(), 2))
    print(f"linkage attack, twice the corpus: {seconds[1] / seconds[0]:.2f} times as long")
    spark.stop()


def main() -> None:
    """Print the table."""
    small = suspects(1000)
    slow, fast = best(lambda: pairwise(small), 1), best(lambda: suspect_pairs(small, ["Org"]))
    print(f"swap-aware pairs, 1,000 chunks: {slow / fast:.1f} times faster than pair by pair")
    one, two = (best(lambda n=n: suspect_pairs(suspects(n), ["Org"]), 2) for n in (1000, 2000))
    print(f"swap-aware pairs, 2,000 against 1,000 chunks: {two / one:.2f} times as long")
    fast, slow = (best(run, 2) for run in nearest_texts(200, 500))
    print(f"text attack, 200 chunks, 500 documents: {slow / fast:.0f} times faster than by pairs")
    with tempfile.TemporaryDirectory() as folder:
        alone, _ = ask(40, 1, f"{folder}/one")
        eight, first = ask(40, 8, f"{folder}/eight")
        stored, again = ask(40, 8, f"{folder}/eight")
    print(f"40 questions, 8 in flight against 1: {alone / eight:.1f} times faster")
    print(f"40 questions, stored against asked: {eight / stored:.1f} times faster")
    print(f"requests for 40 questions: {first}, and {again} the second time")
    if "--spark" in sys.argv[1:]:
        attack_on_spark()


if __name__ == "__main__":
    main()
