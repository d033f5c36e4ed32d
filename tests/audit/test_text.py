from __future__ import annotations

import math

import numpy as np
import pytest

from nes_spark.audit import text


def test_words_leave_out_spans_and_placeholders():
    source = "[Company Name] grew; Acme's margin fell. Don’t ask Acme 2020, [Executive 1]!"
    start = source.index("Acme's")
    found = text.words(source, [(start, start + 6)])
    assert found == {"grew": 1, "margin": 1, "fell": 1, "don't": 1, "ask": 1, "acme": 1}
    assert text.words("abc def ghi", [(0, 5), (4, 7)]) == {"ghi": 1}


def test_words_next_to_a_span_do_not_melt_together():
    assert text.words("preAcmepost", [(3, 7)]) == {"pre": 1, "post": 1}


def test_tfidf_has_norm_one_and_ignores_order():
    frequency = np.zeros(text.BUCKETS, dtype=np.int64)
    frequency[[1, 2, 3, 4]] = [1, 5, 10, 20]
    counts = {1: 2, 2: 1, 3: 4, 4: 9, 5: 7}
    vector = text.tfidf(counts, frequency, 20)
    # 4 is in every chunk and 5 in none: neither says anything.
    assert set(vector) == {1, 2, 3}
    norm = math.sqrt(sum(w * w for w in vector.values()))
    assert norm == pytest.approx(text.SCALE, rel=1e-4)
    expected = (1 + math.log(2)) * math.log(20)
    assert vector[1] / vector[2] == pytest.approx(expected / math.log(4), rel=1e-3)
    assert text.tfidf(dict(reversed(counts.items())), frequency, 20) == vector
    assert set(text.tfidf(counts, frequency, 20, max_words=1)) == {1}
    assert text.tfidf({}, frequency, 20) == {}


def test_buckets_add_up():
    counts = {f"word{i}": i + 1 for i in range(50)}
    assert sum(text.bucket_counts(counts).values()) == sum(counts.values())


def test_cosines():
    assert text.cosines([3, 0, 5], [9, 4, 0]).tolist() == [1.0, 0.0, 0.0]
