"""What works in a thread while Spark does."""

import sys
import threading

import pytest

from nes_spark.errors import EstimationError
from nes_spark.run import ahead
from nes_spark.run.context import Context
from nes_spark.run.pipeline import STAGES, Stage


class Kept:
    """Stands for a table of Spark that a stage persisted."""

    def __init__(self, let_go):
        self.let_go = let_go

    def persist(self):
        return self

    def unpersist(self):
        self.let_go.append(threading.current_thread().name)


class Tables:
    """A store without tables: the stages of these tests need none."""

    def __init__(self, current=()):
        self.current = current

    def is_current(self, name, key):
        return name in self.current


class Asked(Stage):
    """A stage whose key is its name and a number."""

    def key(self, context):
        return f"{self.name} {context.input_fingerprint}"


def context(small=True, current=(), number="1"):
    return Context(None, None, Tables(current), b"secret", number, small=small)


def stage(run, needs=("swaps",), name="judge", **more):
    return Asked(name, "", needs, (name,), (), run=run, **{"ahead": True, **more})


def test_work_that_has_begun_gives_its_result_and_what_it_raised():
    assert ahead.begin(lambda: threading.current_thread().name, "reader").result(60) == "reader"
    promised = ahead.begin(lambda: 1 / 0, "reader")
    with pytest.raises(ZeroDivisionError):
        promised.result(60)


def test_linear_algebra_uses_one_thread_and_as_many_as_before_afterwards():
    import scipy.linalg  # noqa: F401
    from threadpoolctl import threadpool_info, threadpool_limits

    def threads():
        return {lib["num_threads"] for lib in threadpool_info() if lib["user_api"] == "blas"}

    with threadpool_limits(2, user_api="blas"):
        with ahead.one_thread_each():
            assert threads() == {1}
        assert threads() == {2}


def test_a_thread_does_not_keep_python_from_ending():
    waiting = threading.Event()
    ahead.begin(waiting.wait, "waits")
    (thread,) = (t for t in threading.enumerate() if t.name == "waits")
    assert thread.daemon
    waiting.set()


def test_a_stage_begins_when_what_it_needs_is_there():
    run, calls = context(), []
    judge = stage(lambda c: calls.append(c) or {"judge": [(1,)]}, needs=("swaps", "rewrites"))
    ahead.begin_stages(run, [judge], {"input", "swaps"})
    assert not run.begun
    ahead.begin_stages(run, [judge], {"input", "swaps", "rewrites"})
    ahead.begin_stages(run, [judge], {"input", "swaps", "rewrites", "scores"})  # not once more
    assert judge._outputs(run, "judge 1") == {"judge": [(1,)]}
    assert len(calls) == 1 and not run.begun
    assert calls[0] is not run and calls[0].store is run.store


@pytest.mark.parametrize(
    "run, more",
    [
        (context(small=False), {}),
        (context(), {"ahead": False}),
        (context(current=("judge",)), {}),
    ],
    ids=["large input", "a stage of Spark", "up to date"],
)
def test_nothing_begins(run, more):
    ahead.begin_stages(run, [stage(lambda _: pytest.fail("it ran"), **more)], {"swaps"})
    assert not run.begun


def test_by_force_what_is_up_to_date_begins_too():
    run = context(current=("judge",))
    judge = stage(lambda _: {"judge": []})
    ahead.begin_stages(run, [judge], {"swaps"}, force=True)
    assert set(run.begun) == {"judge"}


def test_what_began_with_another_key_is_not_taken():
    run = context()
    answers = iter([[("old",)], [("new",)]])
    judge = stage(lambda _: {"judge": next(answers)})
    ahead.begin_stages(run, [judge], {"swaps"})
    run.begun["judge"][1].result(60)
    assert judge._outputs(run, "judge 2") == {"judge": [("new",)]}


def test_a_stage_that_failed_ahead_fails_where_it_is_taken():
    def refuse(_):
        raise EstimationError("no pair", "no_candidates")

    run = context()
    judge = stage(refuse)
    ahead.begin_stages(run, [judge], {"swaps"})
    with pytest.raises(EstimationError, match="no pair"):
        judge._outputs(run, "judge 1")


def test_what_a_stage_persists_is_its_own():
    let_go, run = [], context()
    mine = run.keep(Kept([]))
    judge = stage(lambda c: {"judge": [c.keep(Kept(let_go)) and (1,)]})
    ahead.begin_stages(run, [judge], {"swaps"})
    judge._outputs(run, "judge 1")
    assert let_go == ["judge"]
    assert run.kept == [mine]


def test_what_works_ahead_comes_after_all_that_it_could_wait_beside():
    names = [s.name for s in STAGES]
    given = [name for s in STAGES if s.ahead for name in s.gives]
    assert [s.name for s in STAGES if s.ahead] == names[-2:] == ["measured_risk", "utility"]
    assert not any(set(s.needs) & set(given) for s in STAGES)


def test_threads_take_turns_as_before_afterwards():
    before = sys.getswitchinterval()
    with pytest.raises(KeyError), ahead.turns():
        assert sys.getswitchinterval() <= ahead.SWITCH
        raise KeyError
    assert sys.getswitchinterval() == before


class Gone:
    """Stands for a table of a session whose Java has ended."""

    def unpersist(self):
        raise ConnectionRefusedError("gone")


def test_what_failed_is_told_where_nothing_can_be_let_go_any_more():
    with pytest.raises(EstimationError, match="no fit"), context() as broken:
        broken.kept.append(Gone())
        raise EstimationError("no fit")
    with pytest.raises(ConnectionRefusedError), context() as ended:
        ended.kept.append(Gone())
