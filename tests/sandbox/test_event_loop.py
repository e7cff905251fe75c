"""Guests with an event loop: what it needs, where it is asked for, and nothing more."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from memgene.sandbox import GuestError, Level, Sandbox


@pytest.fixture(scope="module")
def eventful(make: Callable[..., Sandbox]) -> Iterator[Sandbox]:
    with make("eventful", event_loop=True) as sandbox:
        yield sandbox


def test_a_guest_waits_for_events_and_pairs_sockets(eventful: Sandbox) -> None:
    with eventful.start({}, {}) as worker:
        assert worker.call("loop", {}) == [[True], 7]
        assert worker.call("sockets", {}) == "through"


def test_a_pair_of_sockets_is_no_way_out(eventful: Sandbox) -> None:
    if eventful.level is not Level.FULL:
        pytest.skip("this machine has no full isolation")
    with eventful.start({}, {}) as worker:
        found = worker.call("escapes", {})
    assert set(found.values()) == {"PermissionError"}, found


def test_without_being_asked_for_there_is_none(make: Callable[..., Sandbox]) -> None:
    with make("eventful") as sandbox:
        if sandbox.level is not Level.FULL:
            pytest.skip("this machine has no full isolation")
        with sandbox.start({}, {}) as worker:
            for method in ("loop", "sockets"):
                with pytest.raises(GuestError, match="PermissionError"):
                    worker.call(method, {})
