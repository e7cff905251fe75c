"""A worker: calls, host calls and their failures."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memgene.core import BudgetExhaustedError, ConfigError, InputError
from memgene.sandbox import (
    FailureKind,
    GuestError,
    HostRefusal,
    Limits,
    Sandbox,
    Worker,
)

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@pytest.fixture(scope="module")
def asked() -> list[Mapping[str, Any]]:
    return []


@pytest.fixture(scope="module")
def worker(calculator: Sandbox, asked: list[Mapping[str, Any]]) -> Iterator[Worker]:
    def ask(params: Mapping[str, Any]) -> Any:
        asked.append(params)
        return params

    with calculator.start({"seed": 7}, {"ask": ask}) as started:
        yield started


def test_the_first_message_reaches_the_guest_and_its_answer_comes_back(worker: Worker) -> None:
    assert worker.loaded == {"got": {"seed": 7}}


def test_methods_are_called_by_name(worker: Worker) -> None:
    assert worker.call("add", {"numbers": [1, 2, 39]}) == 42


@settings(max_examples=60, deadline=None)
@given(value=JSON)
def test_any_json_survives_the_way_there_and_back_and_through_the_host(
    worker: Worker, value: Any
) -> None:
    assert worker.call("echo", {"value": value}) == {"value": value}
    assert worker.call("ask", {"value": value}) == {"value": value}


@pytest.mark.parametrize("size", [1, 32_763, 32_764, 65_536, 3_000_001])
def test_messages_of_any_size_arrive_whole(worker: Worker, size: int) -> None:
    text = ("0123456789ü" * (size // 11 + 1))[:size]
    assert worker.call("echo", {"text": text}) == {"text": text}
    assert worker.call("ask", {"text": text}) == {"text": text}


def test_host_calls_are_made_one_by_one_in_order(
    worker: Worker, asked: list[Mapping[str, Any]]
) -> None:
    asked.clear()
    assert worker.call("ask_often", {"times": 3}) == [{"n": 0}, {"n": 1}, {"n": 2}]
    assert asked == [{"n": 0}, {"n": 1}, {"n": 2}]


def test_host_calls_run_in_the_callers_thread(calculator: Sandbox) -> None:
    def ask(params: Mapping[str, Any]) -> str:
        return threading.current_thread().name

    with calculator.start({}, {"ask": ask}) as worker:
        assert worker.call("ask", {}) == threading.current_thread().name


def test_an_exception_of_the_guest_names_its_place(worker: Worker) -> None:
    with pytest.raises(GuestError) as caught:
        worker.call("fail", {"text": "no good: ü"})
    failure = caught.value
    assert (failure.kind, failure.where) == (FailureKind.RAISED, "fail")
    assert failure.message == "ValueError: no good: ü"
    assert "in helper" in failure.detail
    assert "sandbox/guest.py" not in failure.detail
    assert worker.alive


def test_long_messages_of_exceptions_are_cut(worker: Worker) -> None:
    with pytest.raises(GuestError) as caught:
        worker.call("fail", {"text": "x" * 10_000})
    assert len(caught.value.message) == 2000
    assert len(caught.value.detail) == 1500


def test_text_hashes_are_the_same_in_every_worker(calculator: Sandbox) -> None:
    def text_hash() -> int:
        with calculator.start({}, {}) as worker:
            return int(worker.call("hash", {}))

    assert text_hash() == text_hash()


def test_parameters_must_be_json(worker: Worker) -> None:
    with pytest.raises(InputError, match="parameters of 'echo' are not JSON: TypeError"):
        worker.call("echo", {"value": object()})
    assert worker.call("add", {"numbers": []}) == 0


def test_a_host_calls_error_reaches_the_guest_which_may_handle_it(calculator: Sandbox) -> None:
    def ask(params: Mapping[str, Any]) -> None:
        raise LookupError("no such thing")

    with calculator.start({}, {"ask": ask}) as worker:
        said = {"refused": "LookupError: no such thing"}
        assert worker.call("ask_and_forgive", {}) == said
        with pytest.raises(GuestError, match="HostError: LookupError: no such thing") as caught:
            worker.call("ask", {})
        assert caught.value.kind is FailureKind.RAISED


def test_a_refusal_fails_the_call_even_if_the_guest_forgives_it(calculator: Sandbox) -> None:
    def ask(params: Mapping[str, Any]) -> str:
        if params:
            raise HostRefusal("1 call per read, this is the second")
        return "yes"

    with calculator.start({}, {"ask": ask}) as worker:
        for method in ("ask", "ask_and_forgive"):
            with pytest.raises(GuestError, match="this is the second") as caught:
                worker.call(method, {"again": True})
            assert (caught.value.kind, caught.value.where) == (FailureKind.BUDGET, method)
            assert worker.call(method, {}) == "yes"


@pytest.mark.parametrize(
    "trouble", [BudgetExhaustedError("spent"), ConfigError("no key"), KeyboardInterrupt()]
)
def test_the_runs_own_trouble_ends_the_worker_and_is_raised(
    calculator: Sandbox, trouble: BaseException
) -> None:
    def ask(params: Mapping[str, Any]) -> None:
        raise trouble

    worker = calculator.start({}, {"ask": ask})
    with pytest.raises(type(trouble)) as caught:
        worker.call("ask_and_forgive", {})
    assert caught.value is trouble
    assert not worker.alive


def test_a_host_answer_that_is_not_json_is_the_parents_mistake(calculator: Sandbox) -> None:
    with (
        calculator.start({}, {"ask": lambda params: object()}) as worker,
        pytest.raises(InputError, match="the answer to host call 'ask' is not JSON"),
    ):
        worker.call("ask", {})


def test_time_in_host_calls_does_not_count(calculator: Sandbox) -> None:
    with calculator.start({}, {"ask": lambda params: time.sleep(0.25)}) as worker:
        assert worker.call("ask_often", {"times": 5}, seconds=1.0) == [None] * 5


def test_messages_above_the_limit_are_refused_both_ways(calculator: Sandbox) -> None:
    limits = Limits(message_bytes=1000)
    with calculator.start({}, {"ask": lambda params: "y" * 2000}, limits=limits) as worker:
        with pytest.raises(GuestError, match="message to it is too large") as caught:
            worker.call("echo", {"text": "x" * 2000})
        assert caught.value.kind is FailureKind.OUTPUT
        said = worker.call("ask_and_forgive", {})["refused"]
        assert said == "the answer to ask is too large: 2,012 bytes, 1,000 allowed"
        with pytest.raises(GuestError, match="host call 'ask' cannot be sent: 2,0"):
            worker.call("send", {"size": 2000})
        assert worker.call("add", {"numbers": [1]}) == 1


def test_a_host_call_may_not_call_its_own_worker(calculator: Sandbox) -> None:
    def ask(params: Mapping[str, Any]) -> Any:
        return worker.call("add", {"numbers": []})

    with calculator.start({}, {"ask": ask}) as worker:
        said = worker.call("ask_and_forgive", {})["refused"]
        assert said.startswith("InputError: a host call must not call the worker")


def test_a_guests_thread_can_ask_only_while_the_parent_waits(calculator: Sandbox) -> None:
    with calculator.start({}, {"ask": lambda params: None}) as worker:
        worker.call("ask_later", {})
        while not (said := worker.call("what_came", {})):
            time.sleep(0.01)
        assert said == ["host call 'ask' outside of a call of the parent"]


def test_closing_from_a_host_call_ends_the_call(calculator: Sandbox) -> None:
    worker = calculator.start({}, {"ask": lambda params: worker.close()})
    with pytest.raises(GuestError, match="SIGKILL") as caught:
        worker.call("ask", {})
    assert caught.value.kind is FailureKind.ENDED


def test_calls_of_many_threads_take_turns(worker: Worker) -> None:
    found: dict[int, int] = {}

    def work(n: int) -> None:
        found[n] = sum(worker.call("add", {"numbers": [n, n]}) for _ in range(20))

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {n: 40 * n for n in range(4)}


def test_a_closed_worker_is_gone(calculator: Sandbox) -> None:
    worker = calculator.start({}, {})
    worker.close()
    worker.close()
    assert not worker.alive
    with pytest.raises(GuestError, match="it was closed") as caught:
        worker.call("add", {"numbers": []})
    assert caught.value.kind is FailureKind.GONE
