"""The list of system calls and the program the kernel runs on it, for both processors."""

from __future__ import annotations

import errno
import functools
import re
import struct
from pathlib import Path

import pytest

from memgene.sandbox.kernel import CALLS
from memgene.sandbox.seccomp import MACHINES, Filter
from memgene.sandbox.syscalls import ABSENT, CONDITIONS, EVENT_LOOP, NUMBERS, OWN_PID

COLUMNS = {machine: column for machine, (column, _) in MACHINES.items()}
HEADERS = {
    "x86_64": Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h"),
    "aarch64": Path("/usr/include/asm-generic/unistd.h"),
}
ALLOWED, KILLED = "allowed", "killed"
OLD = {"open", "stat", "lstat", "dup2", "poll", "select", "time", "epoll_wait"}
EVERY = {**NUMBERS, **EVENT_LOOP}


@functools.cache
def compiled(machine: str, event_loop: bool) -> list[tuple[int, int, int, int]]:
    return list(struct.iter_unpack("=HBBI", Filter(machine, event_loop=event_loop).program))


def judge(
    machine: str,
    name_or_number: str | int,
    *arguments: int,
    audit: int | None = None,
    event_loop: bool = False,
) -> str:
    """What the program says of a call: an interpreter of the few instructions it uses."""
    number = name_or_number
    if isinstance(number, str):
        found = EVERY[number][COLUMNS[machine]]
        assert found is not None
        number = found
    given = (*arguments, 0, 0, 0, 0, 0, 0)[:6]
    arch = MACHINES[machine][1] if audit is None else audit
    data = struct.pack("<iIQ6Q", number, arch, 0, *given)
    program = compiled(machine, event_loop)
    register, at = 0, 0
    while True:
        code, if_true, if_false, k = program[at]
        at += 1
        if code == 0x20:
            (register,) = struct.unpack_from("<I", data, k)
        elif code == 0x54:
            register &= k
        elif code == 0x15:
            at += if_true if register == k else if_false
        elif code == 0x35:
            at += if_true if register >= k else if_false
        else:
            assert code == 0x06
            return _said(k)


def _said(value: int) -> str:
    if value == 0x7FFF0000:
        return ALLOWED
    if value == 0x80000000:
        return KILLED
    assert value & 0xFFFF0000 == 0x00050000
    return errno.errorcode[value & 0xFFFF]


machines = pytest.mark.parametrize("machine", list(MACHINES))


@machines
def test_other_numberings_end_the_process(machine: str) -> None:
    i386, other = 0x40000003, MACHINES["aarch64" if machine == "x86_64" else "x86_64"][1]
    assert judge(machine, "read", audit=i386) == KILLED
    assert judge(machine, "read", audit=other) == KILLED


def test_x32_numbers_end_the_process() -> None:
    assert judge("x86_64", 0x40000000) == KILLED
    assert judge("x86_64", -1) == KILLED


@machines
def test_every_number_not_listed_is_denied(machine: str) -> None:
    listed = {numbers[COLUMNS[machine]] for numbers in NUMBERS.values()}
    for number in set(range(600)) - listed:
        assert judge(machine, number) == "EPERM"


@machines
def test_unconditional_calls_are_allowed(machine: str) -> None:
    for name, numbers in NUMBERS.items():
        if numbers[COLUMNS[machine]] is not None and name not in {*CONDITIONS, *ABSENT}:
            assert judge(machine, name) == ALLOWED


@machines
def test_threads_and_no_processes(machine: str) -> None:
    glibc_thread, glibc_fork, vfork = 0x3D0F00, 0x01200011, 0x4111
    assert judge(machine, "clone", glibc_thread) == ALLOWED
    assert judge(machine, "clone", glibc_fork) == "EPERM"
    assert judge(machine, "clone", vfork) == "EPERM"
    for namespace in (0x80, 0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x40000000):
        assert judge(machine, "clone", glibc_thread | namespace) == "EPERM"
    assert judge(machine, "clone3") == "ENOSYS"


@machines
def test_signals_reach_the_guest_itself_only(machine: str) -> None:
    for call in ("kill", "tgkill"):
        assert judge(machine, call, OWN_PID, 9) == ALLOWED
        for other in (1, 0, 0xFFFFFFFF, OWN_PID - 1):
            assert judge(machine, call, other, 9) == "EPERM"


@machines
def test_code_comes_from_files_only(machine: str) -> None:
    read, write, execute, private, anonymous = 1, 2, 4, 0x02, 0x20
    assert judge(machine, "mmap", 0, 9, read | write, private | anonymous) == ALLOWED
    assert judge(machine, "mmap", 0, 9, read | execute, private) == ALLOWED
    assert judge(machine, "mmap", 0, 9, read | execute, private | anonymous) == "EPERM"
    # a private copy of a file that is written and run at once would be code of the guest's own
    assert judge(machine, "mmap", 0, 9, read | write | execute, private) == "EPERM"
    assert judge(machine, "mprotect", 0, 9, read | write) == ALLOWED
    assert judge(machine, "mprotect", 0, 9, read | execute) == "EPERM"


@machines
def test_files_are_opened_for_reading_only(machine: str) -> None:
    close_on_exec = 0o2000000
    assert judge(machine, "openat", 0, 0, close_on_exec) == ALLOWED
    for flags in (0o1, 0o2, 0o100, 0o1000, 0o2000):
        assert judge(machine, "openat", 0, 0, close_on_exec | flags) == "EPERM"


@machines
def test_limits_names_and_descriptor_flags(machine: str) -> None:
    assert judge(machine, "prlimit64", 0, 7) == ALLOWED
    assert judge(machine, "prlimit64", 1, 7) == "EPERM"
    assert judge(machine, "prctl", 15) == ALLOWED
    assert {judge(machine, "prctl", option) for option in range(80) if option != 15} == {"EPERM"}
    set_owner, set_signal = 8, 10
    assert judge(machine, "fcntl", 3, set_owner, 1) == "EPERM"
    assert judge(machine, "fcntl", 3, set_signal, 9) == "EPERM"


@machines
def test_an_event_loop_is_denied_unless_it_is_asked_for(machine: str) -> None:
    unix, stream, cloexec = 1, 1, 0o2000000
    for name, numbers in EVENT_LOOP.items():
        if numbers[COLUMNS[machine]] is not None:
            assert judge(machine, name, unix, stream) == "EPERM"
            assert judge(machine, name, unix, stream | cloexec, event_loop=True) == ALLOWED


@machines
def test_it_adds_nothing_but_its_own_calls(machine: str) -> None:
    for number in range(600):
        if number not in {numbers[COLUMNS[machine]] for numbers in EVENT_LOOP.values()}:
            assert judge(machine, number, event_loop=True) == judge(machine, number)


@machines
def test_pairs_of_sockets_are_local_streams_only(machine: str) -> None:
    unix, inet, netlink, vsock = 1, 2, 16, 40
    stream, datagram, raw, packet = 1, 2, 3, 5
    for family in (0, inet, netlink, vsock):
        assert judge(machine, "socketpair", family, stream, event_loop=True) == "EPERM"
    for kind in (datagram, raw, packet):
        assert judge(machine, "socketpair", unix, kind, event_loop=True) == "EPERM"


def test_tables_are_complete_and_unambiguous() -> None:
    assert {*CONDITIONS, *ABSENT} <= EVERY.keys()
    assert not NUMBERS.keys() & EVENT_LOOP.keys()
    assert {name for name, (_, arm) in EVERY.items() if arm is None} == OLD
    assert all(numbers[0] is not None for numbers in EVERY.values())
    for column in COLUMNS.values():
        numbers = [pair[column] for pair in EVERY.values() if pair[column] is not None]
        assert len(numbers) == len(set(numbers))
    assert CALLS["x86_64"].keys() == CALLS["aarch64"].keys()
    assert CALLS.keys() == MACHINES.keys()


@machines
def test_numbers_are_those_of_the_kernels_headers(machine: str) -> None:
    header = HEADERS[machine]
    if not header.exists():
        pytest.skip(f"{header} is not installed")
    pattern = re.compile(r"#define __NR(?:3264)?_(\w+)\s+(\d+)")
    official = {name: int(number) for name, number in pattern.findall(header.read_text())}
    official.setdefault("newfstatat", official.get("fstatat", -1))
    ours = {name: pair[COLUMNS[machine]] for name, pair in EVERY.items()}
    for name, number in {**ours, **CALLS[machine]}.items():
        if number is not None:
            assert official[name] == number, name
    if machine == "aarch64":
        assert not OLD & {name for name, n in official.items() if n < 1024}
