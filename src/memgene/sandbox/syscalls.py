"""System calls a guest may make: all others fail with EPERM, as do these with other arguments.

Numbers: Linux `arch/x86/entry/syscalls/syscall_64.tbl` and `include/uapi/asm-generic/unistd.h`
(aarch64). None in a table: that machine has no such call.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

PROT_WRITE: Final = 0x2
PROT_EXEC: Final = 0x4
MAP_ANONYMOUS: Final = 0x20
CLONE_THREAD: Final = 0x0001_0000
FORBIDDEN_CLONE: Final = 0x7E02_0000 | 0x80 | 0x2000 | 0x4000 | 0x0080_0000
"""Namespaces (NEWNS, NEWCGROUP … NEWNET, NEWTIME), PTRACE, VFORK, UNTRACED."""
WRITING_OPEN: Final = 0o3 | 0o100 | 0o1000 | 0o2000 | 0o20000000
"""O_WRONLY, O_RDWR, O_CREAT, O_TRUNC, O_APPEND, and O_TMPFILE's own bit."""
AF_UNIX, SOCK_STREAM, _SOCKET_TYPE = 1, 1, 0xF
OWN_PID: Final = 0x7FFF_FFF0
"""Stands in the filter for the worker's process id until that is known; no process has it."""


@dataclass(frozen=True, slots=True)
class Where:
    """A condition on the low 32 bits of an argument: `argument & mask == value`."""

    argument: int
    mask: int
    value: int


ANY: Final[tuple[tuple[Where, ...], ...]] = ((),)
"""No condition."""


def one_of(argument: int, *values: int) -> tuple[tuple[Where, ...], ...]:
    """The argument is one of these."""
    return tuple((Where(argument, 0xFFFF_FFFF, value),) for value in values)


CONDITIONS: Final[Mapping[str, tuple[tuple[Where, ...], ...]]] = {
    "clone": ((Where(0, CLONE_THREAD | FORBIDDEN_CLONE, CLONE_THREAD),),),
    "fcntl": one_of(1, 0, 1, 2, 3, 4, 1030),  # duplicate, flags: no locks, leases, owners
    "ioctl": one_of(1, 0x5401, 0x5450, 0x5451),  # is it a terminal, close on exec
    "kill": one_of(0, OWN_PID),
    # code comes from files, and no page is both written and run
    "mmap": ((Where(2, PROT_EXEC, 0),), (Where(2, PROT_WRITE, 0), Where(3, MAP_ANONYMOUS, 0))),
    "mprotect": ((Where(2, PROT_EXEC, 0),),),
    "open": ((Where(1, WRITING_OPEN, 0),),),
    "openat": ((Where(2, WRITING_OPEN, 0),),),
    "prctl": one_of(0, 15),  # name of a thread
    "prlimit64": one_of(0, 0),
    "socketpair": ((Where(0, 0xFFFF_FFFF, AF_UNIX), Where(1, _SOCKET_TYPE, SOCK_STREAM)),),
    "tgkill": one_of(0, OWN_PID),
}
"""Alternatives, each a conjunction. Code can come from files only (never from memory a guest
wrote), threads can be made and no processes, signals reach the guest itself alone."""

ABSENT: Final = ("clone3", "faccessat2", "openat2")
"""These fail with ENOSYS, on which the C library falls back to an older call."""

# name: (x86_64, aarch64); the most frequent come first, the filter is read in this order.
NUMBERS: Final[Mapping[str, tuple[int | None, int | None]]] = {
    "read": (0, 63),
    "write": (1, 64),
    "futex": (202, 98),
    "mmap": (9, 222),
    "munmap": (11, 215),
    "madvise": (28, 233),
    "brk": (12, 214),
    "mremap": (25, 216),
    "mprotect": (10, 226),
    "newfstatat": (262, 79),
    "fstat": (5, 80),
    "stat": (4, None),
    "lstat": (6, None),
    "statx": (332, 291),
    "open": (2, None),
    "openat": (257, 56),
    "close": (3, 57),
    "lseek": (8, 62),
    "pread64": (17, 67),
    "readv": (19, 65),
    "writev": (20, 66),
    "getdents64": (217, 61),
    "getcwd": (79, 17),
    "fcntl": (72, 25),
    "ioctl": (16, 29),
    "dup": (32, 23),
    "dup2": (33, None),
    "dup3": (292, 24),
    "poll": (7, None),
    "ppoll": (271, 73),
    "select": (23, None),
    "pselect6": (270, 72),
    "clock_gettime": (228, 113),
    "clock_getres": (229, 114),
    "clock_nanosleep": (230, 115),
    "nanosleep": (35, 101),
    "gettimeofday": (96, 169),
    "time": (201, None),
    "sched_yield": (24, 124),
    "sched_getaffinity": (204, 123),
    "getrandom": (318, 278),
    "getpid": (39, 172),
    "getppid": (110, 173),
    "gettid": (186, 178),
    "getuid": (102, 174),
    "geteuid": (107, 175),
    "getgid": (104, 176),
    "getegid": (108, 177),
    "getrlimit": (97, 163),
    "prlimit64": (302, 261),
    "getrusage": (98, 165),
    "rt_sigaction": (13, 134),
    "rt_sigprocmask": (14, 135),
    "rt_sigreturn": (15, 139),
    "rt_sigpending": (127, 136),
    "rt_sigtimedwait": (128, 137),
    "rt_sigsuspend": (130, 133),
    "sigaltstack": (131, 132),
    "restart_syscall": (219, 128),
    "kill": (62, 129),
    "tgkill": (234, 131),
    "clone": (56, 220),
    "set_robust_list": (273, 99),
    "get_robust_list": (274, 100),
    "set_tid_address": (218, 96),
    "rseq": (334, 293),
    "prctl": (157, 167),
    "exit": (60, 93),
    "exit_group": (231, 94),
    "clone3": (435, 435),
    "faccessat2": (439, 439),
    "openat2": (437, 437),
}

EVENT_LOOP: Final[Mapping[str, tuple[int | None, int | None]]] = {
    "epoll_create1": (291, 20),
    "epoll_ctl": (233, 21),
    "epoll_wait": (232, None),
    "epoll_pwait": (281, 22),
    "epoll_pwait2": (441, 441),
    "eventfd2": (290, 19),
    "socketpair": (53, 199),
}
"""What a library with an event loop of its own needs besides: waiting for descriptors, and a pair
of sockets that are connected to each other and can be to nothing else."""
