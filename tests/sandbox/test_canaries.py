"""What a guest must not be able to do, tried for real: each attempt fails cleanly, and the next
worker works."""

from __future__ import annotations

import os
import secrets
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import memgene
from memgene.sandbox import FailureKind, GuestError, Limits, Sandbox, Worker

PROJECT = Path(memgene.__file__).parent
DENIED = "PermissionError"


@pytest.fixture
def worker(locked: Sandbox) -> Iterator[Worker]:
    with locked.start({}, {}) as started:
        yield started


def test_no_file_outside_the_standard_library_can_be_read(worker: Worker) -> None:
    parent = os.getpid()
    paths = [
        "/etc/passwd",
        "/proc/self/environ",
        f"/proc/{parent}/environ",
        f"/proc/{parent}/mem",
        f"/proc/{parent}/cmdline",
        "/dev/null",
        str(PROJECT / "core" / "errors.py"),
        str(Path(__file__)),
        str(Path(np.__file__)),
        sys.executable,
    ]
    found = worker.call("open", {"paths": paths})
    readable = {path for path, said in found.items() if said not in (DENIED, "FileNotFoundError")}
    assert readable == set()
    assert found["/etc/passwd"] == DENIED


def test_no_folder_outside_the_standard_library_can_be_listed(worker: Worker) -> None:
    library = sysconfig.get_path("stdlib")
    packages = sysconfig.get_path("purelib")
    paths = ["/", "/proc", str(Path.home()), str(PROJECT), packages, library]
    found = worker.call("list", {"paths": paths})
    assert set(found.values()) == {DENIED}
    assert "decoder.py" in worker.call("list", {"paths": [f"{library}/json"]})[f"{library}/json"]


def test_packages_inside_the_standard_library_folder_stay_closed(worker: Worker) -> None:
    folder = f"{sysconfig.get_path('stdlib')}/site-packages"
    assert worker.call("list", {"paths": [folder]})[folder] in (DENIED, "FileNotFoundError")


def test_nothing_can_be_written(worker: Worker, tmp_path: Path) -> None:
    paths = [str(tmp_path / "new"), "/dev/shm/memgene-canary", "/tmp/memgene-canary", "/dev/null"]
    assert set(worker.call("write", {"paths": paths}).values()) == {DENIED}
    assert list(tmp_path.iterdir()) == []


def test_the_environment_is_empty(worker: Worker) -> None:
    assert worker.call("environment", {}) == [{}, DENIED]


def test_no_socket_can_be_made(worker: Worker) -> None:
    found = worker.call("sockets", {})
    assert found == dict.fromkeys(("inet", "inet6", "unix", "pair"), DENIED)


def test_no_process_can_be_made(worker: Worker) -> None:
    found = worker.call("processes", {})
    assert found == dict.fromkeys(("fork", "spawn", "subprocess", "exec"), DENIED)


def test_no_other_process_can_be_signalled(worker: Worker) -> None:
    zygote = worker.call("pids", {})[1]
    pids = [os.getpid(), zygote, 1, -1, 0]
    found = worker.call("signals", {"pids": pids})
    assert set(found.values()) == {DENIED}
    assert worker.alive


def test_no_other_process_can_be_read(worker: Worker) -> None:
    found = worker.call("read_memory", {"pid": os.getpid()})
    assert set(found.values()) == {"Operation not permitted"}


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="numbers of x86_64")
def test_system_calls_outside_the_list_are_denied(worker: Worker) -> None:
    found = worker.call("system_calls", {})
    assert {name for name, said in found.items() if said != "Operation not permitted"} == set()


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="numbers of x86_64")
def test_system_calls_in_another_numbering_end_the_process(worker: Worker) -> None:
    with pytest.raises(GuestError, match="SIGSYS") as caught:
        worker.call("x32", {})
    assert caught.value.kind is FailureKind.ENDED


def test_limits_cannot_be_raised(worker: Worker) -> None:
    assert set(worker.call("more_limits", {}).values()) <= {DENIED, "ValueError"}


def test_code_cannot_be_made_in_memory(worker: Worker) -> None:
    assert worker.call("new_code", {}) == DENIED


def test_the_parents_objects_are_not_there(locked: Sandbox) -> None:
    told, untold = secrets.token_hex(20), secrets.token_hex(20)
    with locked.start({"told": [told]}, {}) as worker:
        assert worker.call("find_text", {"backwards": told[::-1]}) > 0
        assert worker.call("find_text", {"backwards": untold[::-1]}) == 0


def test_the_parents_memory_was_never_copied(worker: Worker) -> None:
    secret = secrets.token_hex(20)
    memory = _memory(worker.pid)
    assert b"memgene.sandbox.zygote" in memory
    assert secret.encode() not in memory


def test_a_worker_knows_nothing_of_another(locked: Sandbox) -> None:
    secret = secrets.token_hex(20)
    with locked.start({"secret": secret}, {}) as first, locked.start({}, {}) as second:
        assert secret.encode() in _memory(first.pid)
        assert secret.encode() not in _memory(second.pid)


def test_allowed_work_is_possible(worker: Worker) -> None:
    assert worker.call("work", {}) == ["the red bicycle", 200.0, [4.0, 3.0], [0, 1, 2, 3], 8]


def test_the_standard_library_can_be_imported_late(worker: Worker) -> None:
    assert worker.call("late_import", {}) == ["1.1", "wave"]


def test_installed_packages_cannot_be_imported_late(worker: Worker) -> None:
    assert worker.call("package_import", {"name": "pydantic"}) == "ModuleNotFoundError"


def test_threads_are_limited(worker: Worker) -> None:
    assert 4 <= worker.call("many_threads", {}) < 20_000


def test_privileges_are_gone(worker: Worker) -> None:
    status = Path(f"/proc/{worker.pid}/status").read_text()
    fields = dict(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line)
    for capabilities in ("CapInh", "CapPrm", "CapEff", "CapAmb"):
        assert int(fields[capabilities], 16) == 0
    assert fields["NoNewPrivs"] == "1"
    assert fields["Seccomp"] == "2"


def test_a_terminals_interrupt_does_not_reach_it(worker: Worker) -> None:
    assert os.getsid(worker.pid) == worker.pid


FATAL_ATTEMPTS = [
    ("exit", {}, FailureKind.ENDED, "SystemExit: 3"),
    ("interrupt", {}, FailureKind.ENDED, "KeyboardInterrupt"),
    ("hard_exit", {}, FailureKind.ENDED, "exited with code 7"),
    ("crash", {}, FailureKind.ENDED, "SIGSEGV"),
    ("suicide", {}, FailureKind.ENDED, "SIGKILL"),
    ("close_socket", {}, FailureKind.PROTOCOL, "closed its connection"),
    ("close_socket_and_return", {}, FailureKind.ENDED, "exited with code 1"),
    *(
        ("garbage", {"kind": kind}, FailureKind.PROTOCOL, "what it sent is no")
        for kind in (
            "noise", "not json", "not utf-8", "nan", "huge number", "many digits", "surrogate",
            "deep", "not a reply", "unknown kind", "no message", "strange error", "two things",
        )
    ),
]  # fmt: skip


@pytest.mark.parametrize(("attempt", "params", "kind", "said"), FATAL_ATTEMPTS)
def test_an_attempt_that_ends_the_process(
    canary: Sandbox, attempt: str, params: dict[str, Any], kind: FailureKind, said: str
) -> None:
    worker = canary.start({}, {})
    with pytest.raises(GuestError, match=said) as caught:
        worker.call(attempt, params)
    assert (caught.value.kind, caught.value.where) == (kind, attempt)
    assert caught.value.fatal
    _gone_and_replaced(canary, worker)


@pytest.mark.parametrize("attempt", ["loop", "loop_in_c", "sleep"])
def test_an_attempt_to_stay_for_ever(canary: Sandbox, attempt: str) -> None:
    worker = canary.start({}, {})
    with pytest.raises(GuestError, match=r"more than 0\.2 s") as caught:
        worker.call(attempt, {}, seconds=0.2)
    assert caught.value.kind is FailureKind.TIME
    _gone_and_replaced(canary, worker)


def test_recursion_without_limit_crashes_or_is_stopped_by_python(canary: Sandbox) -> None:
    """Up to Python 3.11 it exhausts the stack; later versions count calls in C apart."""
    with canary.start({}, {}) as worker:
        with pytest.raises(GuestError, match=r"SIGSEGV|RecursionError") as caught:
            worker.call("recurse_without_limit", {})
        assert caught.value.kind in (FailureKind.ENDED, FailureKind.RAISED)
        assert worker.alive is not caught.value.fatal
    with canary.start({}, {}) as following:
        assert following.loaded == {"loaded": True}


def test_processor_time_is_limited(canary: Sandbox) -> None:
    worker = canary.start({}, {}, limits=Limits(cpu_seconds=1))
    with pytest.raises(GuestError, match="1 s of processor time") as caught:
        worker.call("processor_time", {})
    assert caught.value.kind is FailureKind.TIME
    _gone_and_replaced(canary, worker)


GENTLE_ATTEMPTS = [
    ("allocate", {}, FailureKind.MEMORY, "out of memory"),
    ("allocate_array", {}, FailureKind.MEMORY, "out of memory"),
    ("grow", {}, FailureKind.MEMORY, "out of memory"),
    ("long_output", {}, FailureKind.OUTPUT, "too large: 20,971,532 bytes, 4,194,304 allowed"),
    ("output", {"kind": "nan"}, FailureKind.OUTPUT, "not JSON: ValueError"),
    ("output", {"kind": "object"}, FailureKind.OUTPUT, "not JSON: TypeError"),
    ("output", {"kind": "deep"}, FailureKind.OUTPUT, "not JSON: RecursionError"),
    ("output", {"kind": "surrogate"}, FailureKind.OUTPUT, "not JSON: UnicodeEncodeError"),
    ("recurse", {}, FailureKind.RAISED, "RecursionError: maximum recursion depth"),
    ("unprintable", {}, FailureKind.RAISED, "OddError: .its message cannot be printed"),
    ("base_exception", {}, FailureKind.RAISED, "BaseException: unusual"),
    ("nonsense", {}, FailureKind.RAISED, "LookupError: the guest has no method 'nonsense'"),
]


@pytest.mark.skipif(sys.platform != "linux", reason="memory is not limited elsewhere")
@pytest.mark.parametrize(("attempt", "params", "kind", "said"), GENTLE_ATTEMPTS)
def test_an_attempt_after_which_the_process_goes_on(
    canary: Sandbox, attempt: str, params: dict[str, Any], kind: FailureKind, said: str
) -> None:
    with canary.start({}, {}) as worker:
        with pytest.raises(GuestError, match=said) as caught:
            worker.call(attempt, params)
        assert (caught.value.kind, caught.value.where) == (kind, attempt)
        assert not caught.value.fatal
        assert worker.call("late_import", {}) == ["1.1", "wave"]


@pytest.mark.parametrize(
    "request_",
    [
        {"host": "unknown", "params": {}},
        {"host": ["list"], "params": {}},
        {"host": "known", "params": 5},
        {"host": "known"},
    ],
)
def test_a_strange_request_is_refused(canary: Sandbox, request_: dict[str, Any]) -> None:
    served: list[Any] = []
    with canary.start({}, {"known": served.append}) as worker:
        answer = worker.call("strange_request", {"request": request_})
    assert '"failed":"no host call' in answer
    assert served == []


def _gone_and_replaced(sandbox: Sandbox, worker: Worker) -> None:
    assert not worker.alive
    with pytest.raises(GuestError, match="not called, for its process ended") as caught:
        worker.call("late_import", {})
    assert caught.value.kind is FailureKind.GONE
    with sandbox.start({}, {}) as following:
        assert following.loaded == {"loaded": True}


def _memory(pid: int) -> bytes:
    """All of a process's own writable memory, as a debugger sees it."""
    found = []
    try:
        with open(f"/proc/{pid}/maps") as maps, open(f"/proc/{pid}/mem", "rb") as memory:
            for line in maps:
                span, rights = line.split()[:2]
                start, end = (int(x, 16) for x in span.split("-"))
                if rights.startswith("rw"):
                    memory.seek(start)
                    found.append(memory.read(end - start))
    except PermissionError:
        pytest.skip("only root may look into another process here")
    return b"".join(found)


def test_this_process_can_do_what_the_canaries_cannot() -> None:
    assert Path("/etc/passwd").read_bytes()
    assert subprocess.run([sys.executable, "-c", ""], check=False).returncode == 0
