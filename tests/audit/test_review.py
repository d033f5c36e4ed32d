"""Which released chunks a person should read first."""

import pandas as pd
import pytest

from nes_spark.audit.measured import LINKAGE_ALL
from nes_spark.audit.review import BOTH, NAMES, OTHER, kind_of, to_review


def guesses(*rows):
    return pd.DataFrame(rows, columns=["attacker", "id", "rank", "confident"])


LEFT_OUT = guesses(
    ("words", "a", 1, False),
    ("style", "a", 1, False),
    ("words", "b", 1, True),
    ("words", "c", 2, True),  # sure, and wrong
    ("names", "d", 1, None),
    ("style", "d", 2, None),
    ("words", "e", 1, False),
)
NEVER = guesses(("words", "a", 3, False))


def test_those_named_with_confidence_come_first_and_only_those_named_at_all():
    found = to_review(LEFT_OUT, guesses(("words", "e", 1, False), ("words", "c", 1, True)))
    assert found.values.tolist() == [
        ["b", ("words",), ("words",), ()],
        ["a", ("style", "words"), (), ()],
        ["e", ("words",), (), ("words",)],
        ["d", ("names",), (), ()],
    ]
    assert to_review(LEFT_OUT, NEVER, most=1)["chunk_id"].tolist() == ["b"]


def test_the_list_is_empty_where_nobody_is_right():
    assert to_review(NEVER, NEVER).empty
    assert to_review(NEVER.drop(columns="confident").iloc[:0], NEVER.iloc[:0]).empty


@pytest.mark.parametrize(
    ("attacker", "kind"),
    [
        ("linkage", NAMES), (LINKAGE_ALL, NAMES), ("names", NAMES), ("matched", BOTH),
        ("characters", BOTH), ("characters-nameless", OTHER), ("style", OTHER),
    ],
)  # fmt: skip
def test_attackers_are_told_by_what_they_go_by(attacker, kind):
    assert kind_of(attacker) == kind
