"""Kernels called in workers give what they give on the driver, and say what went wrong."""

import os

import pytest

from nes_spark.calling import InWorker, called


def test_results_come_in_the_order_of_the_pieces_from_other_processes(spark):
    found = called(
        spark, lambda piece: (piece["n"] ** 2, os.getpid()), [{"n": n} for n in (3, 1, 2)]
    )
    assert [square for square, _ in found] == [9, 1, 4]
    assert os.getpid() not in {process for _, process in found}


def test_nothing_is_called_with_no_pieces(spark):
    assert called(spark, lambda piece: piece, []) == []


class _Local(Exception):
    def __init__(self, first, second):
        super().__init__(f"{first} and {second}")


@pytest.mark.parametrize("raised", [ValueError("not so"), KeyError("name")])
def test_an_error_is_that_of_the_first_piece_with_what_the_worker_says(spark, raised):
    def fail(piece):
        if piece:
            raise raised if piece == 1 else RuntimeError("later")
        return piece

    with pytest.raises(type(raised)) as found:
        called(spark, fail, [0, 1, 2])
    assert found.value.args == raised.args
    assert isinstance(found.value.__cause__, InWorker) and "in fail" in str(found.value.__cause__)


def test_a_result_that_cannot_travel_is_an_error(spark):
    with pytest.raises(Exception, match="pickle"):
        called(spark, lambda piece: (part for part in piece), [[1]])


def test_an_error_that_cannot_travel_is_told(spark):
    def fail(piece):
        raise _Local("this", "that")

    with pytest.raises(RuntimeError, match="_Local: this and that"):
        called(spark, fail, [0])
