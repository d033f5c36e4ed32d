"""Documents that attackers name, before and after: planted names that a swap takes away."""

import numpy as np
import pandas as pd

from nes_spark.audit.measured import AFTER, BEFORE, measure_documents, strongest

WORDS = [f"word{i}" for i in range(60)]


def corpus(n=12, chunks=8, seed=3):
    """Documents whose only own words are names, the same in every chunk of a document."""
    rng = np.random.default_rng(seed)
    rows = []
    for d in range(n):
        for c in range(chunks):
            said = " ".join(rng.choice(WORDS, 12))
            rows.append(
                (f"d{d}#{c}", f"d{d}", f"m{d}", f"We at Zor{d}bix and Quell{d} saw {said}.")
            )
    return pd.DataFrame(rows, columns=["chunk_id", "document_id", "metadata", "text_before"])


def swapped(frame, n=12):
    out = frame["text_before"].copy()
    for d in range(n):
        mine = frame["document_id"] == f"d{d}"
        other = (d + 1) % n
        out[mine] = (
            frame.loc[mine, "text_before"]
            .str.replace(f"Zor{d}bix", f"Zor{other}bix")
            .str.replace(f"Quell{d}", f"Quell{other}")
        )
    return frame.assign(text_after=out)


def test_names_that_are_exchanged_name_nobody():
    found = strongest(measure_documents(swapped(corpus()), [("d0", "d1")], b"key"))
    assert found[BEFORE]["named"] > 0.9
    assert found[AFTER]["named"] < 0.5
    assert found[AFTER]["low"] <= found[AFTER]["named"] <= found[AFTER]["high"]
    assert found[BEFORE]["n"] == 12


def test_an_untouched_release_is_named_as_before():
    frame = corpus()
    table = measure_documents(frame.assign(text_after=frame["text_before"]), [], b"key")
    sides = [
        table[table["side"] == s].drop(columns="side").reset_index(drop=True)
        for s in (BEFORE, AFTER)
    ]
    pd.testing.assert_frame_equal(*sides)


def test_neither_the_order_of_rows_nor_the_pairs_order_matters():
    frame = swapped(corpus())
    pairs = [("d0", "d1"), ("d2", "d3")]
    first = measure_documents(frame, pairs, b"key")
    again = measure_documents(frame.sample(frac=1, random_state=1), pairs[::-1], b"key")
    pd.testing.assert_frame_equal(first, again)
