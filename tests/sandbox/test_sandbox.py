"""A sandbox's life: starting, failing to start, ending, and what must never be left behind."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import memgene
from memgene.core import InputError
from memgene.sandbox import (
    FailureKind,
    GuestError,
    Limits,
    Sandbox,
    SandboxUnavailableError,
)
from memgene.sandbox import sandbox as sandbox_module
from memgene.sandbox.launch import ZygoteGoneError

Ends = Callable[[int], bool]


@pytest.mark.parametrize(
    ("what", "kind", "said"),
    [
        ("raise", FailureKind.RAISED, "load: ValueError: cannot begin"),
        ("exit", FailureKind.ENDED, "load: raised SystemExit: enough"),
        ("hard exit", FailureKind.ENDED, "load: its process exited with code 9"),
        ("loop", FailureKind.TIME, "load: killed, for it took more than 0.3 s"),
    ],
)
def test_a_guest_that_fails_to_begin(
    loading: Sandbox, what: str, kind: FailureKind, said: str
) -> None:
    with pytest.raises(GuestError) as caught:
        loading.start({"do": what}, {}, limits=Limits(start_seconds=0.3))
    assert (caught.value.kind, caught.value.where) == (kind, "load")
    assert str(caught.value) == said
    with loading.start({"do": "ask"}, {"name": lambda params: "Ada"}) as worker:
        assert worker.loaded == "Ada"


def test_each_worker_is_a_fresh_process(calculator: Sandbox) -> None:
    with calculator.start({}, {}) as one, calculator.start({}, {}) as two:
        (first, zygote), (second, same) = one.call("pids", {}), two.call("pids", {})
        assert first != second
        assert zygote == same
        assert (one.pid, two.pid) == (first, second)


def test_workers_start_from_many_threads(calculator: Sandbox) -> None:
    def work(n: int) -> int:
        with calculator.start({}, {"ask": lambda params: n}) as worker:
            return int(worker.call("ask", {}))

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(work, range(24))) == list(range(24))


def test_the_first_message_must_be_json(calculator: Sandbox) -> None:
    with pytest.raises(InputError, match="the first message cannot be sent"):
        calculator.start({"value": float("nan")}, {})


def test_a_guest_that_cannot_be_prepared_says_why(make: Callable[..., Sandbox]) -> None:
    with pytest.raises(SandboxUnavailableError, match="the well is dry"):
        make("unready")


def test_a_guest_that_is_not_there_says_so(make: Callable[..., Sandbox]) -> None:
    with pytest.raises(SandboxUnavailableError, match="No module named 'no_such_guest'"):
        make("no_such_guest")


@pytest.mark.skipif(sys.platform != "linux", reason="threads are counted in /proc")
def test_a_guest_that_starts_threads_before_the_fork_is_refused(
    make: Callable[..., Sandbox],
) -> None:
    with pytest.raises(SandboxUnavailableError, match="threads; then a process cannot fork"):
        make("threaded")


def test_a_dead_zygote_takes_its_workers_along_and_is_replaced(
    make: Callable[..., Sandbox], ends: Ends
) -> None:
    with make("calculator") as sandbox:
        worker = sandbox.start({}, {})
        zygote = worker.call("pids", {})[1]
        os.kill(zygote, signal.SIGKILL)
        assert ends(worker.pid)
        with pytest.raises(GuestError) as caught:
            worker.call("add", {"numbers": []})
        assert caught.value.kind is FailureKind.ENDED
        with sandbox.start({}, {}) as following:
            assert following.call("pids", {})[1] != zygote


def test_a_zygote_that_dies_twice_is_a_clear_error(
    calculator: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*arguments: Any) -> None:
        raise ZygoteGoneError("end of stream")

    monkeypatch.setattr(sandbox_module, "start", refuse)
    with pytest.raises(SandboxUnavailableError, match="ended twice"):
        calculator.start({}, {})


def test_closing_ends_zygote_and_workers(make: Callable[..., Sandbox], ends: Ends) -> None:
    sandbox = make("calculator")
    worker = sandbox.start({}, {})
    own, zygote = worker.call("pids", {})
    sandbox.close()
    assert ends(own)
    assert ends(zygote)
    with pytest.raises(SandboxUnavailableError, match="closed"):
        sandbox.start({}, {})
    worker.close()


def test_a_forgotten_worker_ends(calculator: Sandbox, ends: Ends) -> None:
    pid = calculator.start({}, {}).pid
    assert ends(pid)


def test_a_forgotten_worker_leaves_no_zombie(calculator: Sandbox) -> None:
    pid = calculator.start({}, {}).pid
    with calculator.start({}, {}), pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_a_worker_keeps_its_sandbox(make: Callable[..., Sandbox]) -> None:
    with make("calculator").start({}, {}) as worker:
        gc.collect()
        assert worker.call("add", {"numbers": [20, 22]}) == 42


def test_closing_a_worker_that_is_busy_ends_its_call(loading: Sandbox) -> None:
    worker = loading.start({"do": "ask"}, {"name": lambda params: ""})
    threading.Timer(0.2, worker.close).start()
    with pytest.raises(GuestError, match="SIGKILL") as caught:
        worker.call("wait", {})
    assert caught.value.kind is FailureKind.ENDED


def test_an_interrupt_leaves_no_orphan(
    loading: Sandbox, ends: Ends, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        worker = loading.start({"do": "ask"}, {"name": lambda params: ""})
        threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
        with pytest.raises(KeyboardInterrupt):
            worker.call("wait", {})
        assert ends(worker.pid)
    finally:
        signal.signal(signal.SIGINT, before)


PARENT = """
import sys, threading
from memgene.sandbox import Level, Sandbox
sandbox = Sandbox("loading", paths=[sys.argv[1]], require=Level.RLIMITS)
worker = sandbox.start({"do": "ask"}, {"name": lambda params: ""})
threading.Thread(target=sandbox.start, args=({"do": "loop"}, {}), daemon=True).start()
print(worker.pid, sandbox.zygote_pid, flush=True)
worker.call("wait", {})
"""


@pytest.mark.skipif(sys.platform != "linux", reason="a worker outlives a killed parent elsewhere")
def test_killing_the_parent_ends_everything(ends: Ends) -> None:
    source = str(Path(memgene.__file__).parents[1])
    command = [sys.executable, "-c", PARENT, str(Path(__file__).parent / "guests")]
    environment = {**os.environ, "PYTHONPATH": source}
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment, text=True) as parent:
        assert parent.stdout is not None
        worker, zygote = map(int, parent.stdout.readline().split())
        looping = _another_child(zygote, worker)
        parent.kill()
    assert ends(worker)
    assert ends(looping)
    assert ends(zygote)


def _another_child(parent: int, known: int) -> int:
    path = Path(f"/proc/{parent}/task/{parent}/children")
    for _ in range(1000):
        others = {int(x) for x in path.read_text().split()} - {known}
        if others:
            return others.pop()
        time.sleep(0.01)
    raise AssertionError("the second worker never came")


def test_a_fork_of_the_owner_makes_a_zygote_of_its_own(
    make: Callable[..., Sandbox], tmp_path: Path
) -> None:
    """An evaluation in worker processes may fork one that holds a sandbox."""
    with make("calculator") as sandbox:
        worker = sandbox.start({}, {})
        answer = tmp_path / "answer"
        pid = os.fork()
        if not pid:
            try:
                with sandbox.start({}, {}) as own:
                    answer.write_text(str(own.call("add", {"numbers": [20, 22]})))
                sandbox.close()
            finally:
                os._exit(0)
        os.waitpid(pid, 0)
        assert answer.read_text() == "42"
        assert worker.call("add", {"numbers": [1, 2]}) == 3
