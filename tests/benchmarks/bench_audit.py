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
    return [
        Suspect(
            f"c{i:05d}",
            f"d{i % 40}",
            f"m{i % 40}",
            {"Org": [f"Org\x1f{rng.randrange(n)}"], "Date": [f"Date\x1f{rng.randrange(50)}"]},
            {f"d{rng.randrange(40)}": rng.random() for _ in range(4)},
            {f"Date\x1f{rng.randrange(50)}": rng.random() for _ in range(4)},
            None,
        )
        for i in range(n)
    ]


def pairwise(chunks: list[Suspect]) -> float:
    """The definition of the score, pair by pair in Python."""

    def h(x: Suspect, y: Suspect) -> float:
        around = y.entities["Date"]
        beside = sum(x.context.get(f, 0.0) for f in around) / len(around)
        return x.fit.get(y.document_id, 0.0) + beside

    return max(
        h(a, b) + h(b, a) - h(a, a) - h(b, b)
        for a in chunks
        for b in chunks
        if a.metadata != b.metadata
    )


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
    from nes_spark.audit.stages import final_rewrites, linkage_attack
    from nes_spark.config import SparkConfig
    from nes_spark.session import get_session

    spark = get_session(SparkConfig(master="local[2]", shuffle_partitions=4))
    config = AuditConfig()
    seconds = []
    for documents in (10, 20):
        tables = frames(spark, make(documents=documents, chunks=40, swaps=30, draws=3))
        final = final_rewrites(tables["rewrites"], "pkb", "Organization+Product").cache()
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
