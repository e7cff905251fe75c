"""Back-off: how long to wait, how often to try, what Retry-After means."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memgene.core import ModelError
from memgene.llm.retries import Backoff, TransientError, retry_after

NOON = datetime(2024, 5, 6, 12, 0, 0, tzinfo=UTC)


class Failing:
    """Fails `times` times, then returns its number of calls."""

    def __init__(self, times: int, wait: float | None = None) -> None:
        self.calls = 0
        self._times = times
        self._wait = wait

    def __call__(self) -> int:
        self.calls += 1
        if self.calls <= self._times:
            raise TransientError(f"failure {self.calls}", self._wait)
        return self.calls


def test_the_first_success_ends_the_trying() -> None:
    slept: list[float] = []
    assert Backoff(retries=3, sleep=slept.append).call(Failing(2), "m") == 3
    assert len(slept) == 2


def test_the_last_failure_is_told_with_the_number_of_tries() -> None:
    failing = Failing(9)
    backoff = Backoff(retries=2, sleep=lambda _: None)
    with pytest.raises(ModelError, match="m: no reply after 3 tries; the last: failure 3"):
        backoff.call(failing, "m")
    assert failing.calls == 3
    with pytest.raises(ModelError, match="after 1 try; the last: failure 1"):
        Backoff(retries=0).call(Failing(9), "m")


def test_other_errors_are_not_tried_again() -> None:
    calls = []

    def broken() -> None:
        calls.append(1)
        raise KeyError("bug")

    with pytest.raises(KeyError):
        Backoff(sleep=lambda _: None).call(broken, "m")
    assert len(calls) == 1


@given(st.integers(0, 40), st.integers(0, 2**32))
def test_a_wait_lies_in_the_upper_half_of_a_doubling_ceiling(retry: int, seed: int) -> None:
    ceiling = min(30.0, 0.5 * 2**retry)
    assert ceiling / 2 <= Backoff(seed=seed).seconds(retry) <= ceiling


def test_equal_seeds_wait_equally_and_others_do_not() -> None:
    def waits(seed: int) -> list[float]:
        backoff = Backoff(seed=seed)
        return [backoff.seconds(n) for n in range(5)]

    assert waits(7) == waits(7)
    assert waits(7) != waits(8)


def test_what_the_server_asks_for_is_waited_up_to_a_limit() -> None:
    slept: list[float] = []
    backoff = Backoff(retries=1, longest_asked=60.0, sleep=slept.append)
    backoff.call(Failing(1, wait=17.0), "m")
    backoff.call(Failing(1, wait=3600.0), "m")
    backoff.call(Failing(1, wait=0.0), "m")
    assert slept == [17.0, 60.0, 0.0]


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("20", 20.0),
        ("0.5", 0.5),
        ("Mon, 06 May 2024 12:00:45 GMT", 45.0),
        ("Mon, 06 May 2024 14:00:45 +0200", 45.0),
        ("Mon, 06 May 2024 11:00:00 GMT", 0.0),
        (None, None),
        ("soon", None),
        ("-3", None),
        ("nan", None),
        ("inf", None),
    ],
)
def test_retry_after_is_seconds_or_a_date(header: str | None, seconds: float | None) -> None:
    assert retry_after(header, lambda: NOON) == seconds
