"""What a stretch of work used, wherever its calls were made."""

from __future__ import annotations

from memgene.core import Meter, RoleUsage, Usage, metering, record, unmetered
from memgene.evaluation.executor import ThreadExecutor

ONE = RoleUsage(calls=1, fresh=1, tokens_in=3)


def test_meters_nest_and_the_outer_counts_too() -> None:
    with metering() as outer:
        record("task", ONE)
        with metering() as inner:
            record("judge", ONE)
    record("task", ONE)
    assert inner.usage == Usage({"judge": ONE})
    assert outer.usage == Usage({"task": ONE, "judge": ONE})


def test_a_meter_that_is_opened_twice_counts_once() -> None:
    meter = Meter()
    with metering(meter), metering(meter):
        record("task", ONE)
    assert meter.usage == Usage({"task": ONE})


def test_work_can_be_kept_out_of_the_meters_around_it() -> None:
    with metering() as outer, unmetered(), metering() as inner:
        record("task", ONE)
    assert (outer.usage, inner.usage) == (Usage(), Usage({"task": ONE}))


def test_worker_threads_see_the_meters_of_the_one_who_sent_them() -> None:
    def work(_: int) -> None:
        with metering() as mine:
            record("task", ONE)
        assert mine.usage == Usage({"task": ONE})

    with metering() as meter:
        ThreadExecutor(4).map(work, range(40))
    assert meter.usage.roles["task"] == RoleUsage(calls=40, fresh=40, tokens_in=120)
