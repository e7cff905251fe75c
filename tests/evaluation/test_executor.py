"""Executors keep the order, report progress, and stop at the first exception."""

from __future__ import annotations

import threading
import time

import pytest

from memgene.core import InputError
from memgene.evaluation.executor import Executor, SerialExecutor, ThreadExecutor

BOTH = pytest.mark.parametrize("executor", [SerialExecutor(), ThreadExecutor(4)])


@BOTH
def test_results_come_in_the_order_of_the_items(executor: Executor) -> None:
    def slow_first(item: int) -> int:
        time.sleep(0.02 if item == 0 else 0)
        return item * item

    assert executor.map(slow_first, range(6)) == [0, 1, 4, 9, 16, 25]


@BOTH
def test_progress_counts_up_in_the_callers_thread(executor: Executor) -> None:
    seen: list[tuple[int, int, str]] = []
    threads = set()

    def note(done: int, total: int, label: str) -> None:
        seen.append((done, total, label))
        threads.add(threading.get_ident())

    executor.map(str, [7, 8, 9], note, "squares")
    assert seen == [(1, 3, "squares"), (2, 3, "squares"), (3, 3, "squares")]
    assert threads == {threading.get_ident()}


@BOTH
@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_an_exception_cancels_what_has_not_begun(
    executor: Executor, error: type[BaseException]
) -> None:
    begun = []

    def work(item: int) -> None:
        begun.append(item)
        if item == 0:
            raise error
        time.sleep(0.01)

    with pytest.raises(error):
        executor.map(work, range(1000))
    assert len(begun) < 1000


@BOTH
def test_ctrl_c_in_the_waiting_thread_passes(executor: Executor) -> None:
    begun = []

    def work(item: int) -> None:
        begun.append(item)
        time.sleep(0.01)

    def interrupt(done: int, total: int, label: str) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        executor.map(work, range(1000), interrupt)
    assert len(begun) < 1000


def test_threads_work_side_by_side() -> None:
    meet = threading.Barrier(3, timeout=5)
    ThreadExecutor(3).map(lambda _: meet.wait(), range(3))


def test_workers_are_counted_from_one() -> None:
    with pytest.raises(InputError, match="at least 1"):
        ThreadExecutor(0)
    with pytest.raises(InputError, match="one worker"):
        SerialExecutor(2)
