"""Telling words of few secrets with many texts, beside those of many secrets with few.

Run as ``python -m tests.benchmarks.bench_telling``. The words are made up: each secret has as many
of its own, of which it says one after the other, so that both corpora have the same chunks, the
same words and as many of these taken. What a text costs must not grow with the words of its secret.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import click
import numpy as np

from nes_spark.entities.clue_stages import add_clues
from nes_spark.entities.telling_stages import find_telling
from nes_spark.schemas import MENTIONS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

CONSONANTS, VOWELS = "bcdfghklmnprstvz", "aeiou"
#: Words of a chunk, and the share of them that is taken.
WORDS, SHARE = 60, 0.6


def word(number: int) -> str:
    """Return a word that no dictionary has, another for each number."""
    letters = ""
    for _ in range(5):
        number, syllable = divmod(number, len(CONSONANTS) * len(VOWELS))
        consonant, vowel = divmod(syllable, len(VOWELS))
        letters += CONSONANTS[consonant] + VOWELS[vowel]
    return f"{letters}k"


def seconds(spark: SparkSession, chunks: int, secrets: int) -> tuple[float, float, int]:
    """Return seconds for choosing words and for finding them, and how many mentions there are."""
    rng = np.random.default_rng(secrets)
    each = chunks // secrets
    rows = []
    for secret in range(secrets):
        # two places a word, in any order
        own = rng.permutation(np.repeat(np.arange(each * WORDS // 2), 2))
        numbers = own.reshape(each, WORDS) + secret * chunks * WORDS
        rows += [
            (f"{secret}#{i}", f"secret {secret}", " ".join(map(word, mine)) + ".")
            for i, mine in enumerate(numbers.tolist())
        ]
    schema = "chunk_id string, metadata string, text string"
    texts = spark.createDataFrame(rows, schema).repartition(16).persist()
    nothing = spark.createDataFrame([], MENTIONS.ddl)
    texts.count()
    start = time.perf_counter()
    telling = find_telling(texts, nothing, SHARE).persist()
    telling.count()
    chosen = time.perf_counter()
    found = add_clues(texts, nothing, None, telling=telling).count()
    done = time.perf_counter()
    for frame in (texts, telling):
        frame.unpersist()
    return chosen - start, done - chosen, found


@click.command()
@click.option("--chunks", default=6000, show_default=True)
@click.option("--secrets", default=4, show_default=True)
def main(chunks: int, secrets: int) -> None:
    """Measure few secrets and a quarter as many secrets as chunks, in turn and twice."""
    from nes_spark.config import SparkConfig
    from nes_spark.session import get_session

    spark = get_session(SparkConfig(master="local[2]", driver_memory="2g"), "bench_telling")
    seconds(spark, 400, 100)  # starts Python and compiles
    ratios = []
    for _ in range(2):
        choose, find, found = seconds(spark, chunks, secrets)
        choose_many, find_many, found_many = seconds(spark, chunks, chunks // 4)
        ratios.append(find / find_many)
        print(
            f"{chunks:,} chunks of {secrets:,} secrets: words chosen in {choose:.1f} s, "
            f"{found:,} mentions found in {find:.1f} s; of {chunks // 4:,} secrets "
            f"{choose_many:.1f} s, {found_many:,} in {find_many:.1f} s"
        )
    print(f"finding, few secrets against many: {min(ratios):.2f} times")


if __name__ == "__main__":
    main()
