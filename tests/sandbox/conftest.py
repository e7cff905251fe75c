"""Sandboxes of the guests in `guests/`, and what many tests here ask."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from memgene.sandbox import Level, Limits, Sandbox

GUESTS = Path(__file__).parent / "guests"


@pytest.fixture(scope="session")
def make() -> Callable[..., Sandbox]:
    """A sandbox of one of the guests, at the level this machine has."""

    def sandbox(guest: str, **more: object) -> Sandbox:
        return Sandbox(guest, paths=[GUESTS], require=Level.RLIMITS, **more)  # type: ignore[arg-type]

    return sandbox


@pytest.fixture(scope="session")
def canary(make: Callable[..., Sandbox]) -> Iterator[Sandbox]:
    limits = Limits(call_seconds=20, memory_bytes=256 << 20, message_bytes=4 << 20)
    with make("canary", limits=limits) as sandbox:
        yield sandbox


@pytest.fixture
def locked(canary: Sandbox) -> Sandbox:
    """The canary in full isolation."""
    if canary.level is not Level.FULL:
        pytest.skip(f"this machine has no full isolation: {dict(canary.parts)}")
    return canary


@pytest.fixture(scope="session")
def calculator(make: Callable[..., Sandbox]) -> Iterator[Sandbox]:
    with make("calculator") as sandbox:
        yield sandbox


@pytest.fixture(scope="session")
def loading(make: Callable[..., Sandbox]) -> Iterator[Sandbox]:
    with make("loading") as sandbox:
        yield sandbox


def running(pid: int) -> bool:
    """Whether a process is there and no zombie."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    if sys.platform != "linux":
        return True
    try:
        return ") Z " not in Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False


@pytest.fixture(scope="session")
def ends() -> Callable[[int], bool]:
    """Whether a process is gone, given a while."""

    def gone(pid: int) -> bool:
        until = time.monotonic() + 10
        while running(pid) and time.monotonic() < until:
            time.sleep(0.01)
        return not running(pid)

    return gone
