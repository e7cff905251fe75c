"""Calls to the Linux kernel that Python has no function for, by ctypes."""

from __future__ import annotations

import ctypes
import functools
import os
import platform
from collections.abc import Mapping
from typing import Any, Final

PR_SET_PDEATHSIG: Final = 1
PR_SET_DUMPABLE: Final = 4
PR_SET_NAME: Final = 15
PR_GET_SECCOMP: Final = 21
PR_CAPBSET_DROP: Final = 24
PR_SET_NO_NEW_PRIVS: Final = 38
PR_CAP_AMBIENT: Final = 47
PR_CAP_AMBIENT_CLEAR_ALL: Final = 4

CALLS: Final[Mapping[str, Mapping[str, int]]] = {
    "x86_64": {
        "capget": 125,
        "capset": 126,
        "seccomp": 317,
        "landlock_create_ruleset": 444,
        "landlock_add_rule": 445,
        "landlock_restrict_self": 446,
    },
    "aarch64": {
        "capget": 90,
        "capset": 91,
        "seccomp": 277,
        "landlock_create_ruleset": 444,
        "landlock_add_rule": 445,
        "landlock_restrict_self": 446,
    },
}


def machine() -> str:
    """The processor as the tables name it; other spellings are mapped."""
    name = platform.machine().lower()
    return {"amd64": "x86_64", "arm64": "aarch64"}.get(name, name)


@functools.cache
def library() -> ctypes.CDLL:
    """The C library of this process."""
    return ctypes.CDLL(None, use_errno=True)


def call(name: str, *arguments: Any) -> int:
    """A system call by name; integers are passed as longs. Raises OSError."""
    number = CALLS.get(machine(), {}).get(name)
    if number is None:
        raise OSError(0, f"no number of {name} for {machine()}")
    given = [ctypes.c_long(x) if isinstance(x, int) else x for x in arguments]
    return _checked(name, library().syscall(ctypes.c_long(number), *given))


def prctl(option: int, *arguments: int) -> int:
    """prctl(2). Raises OSError."""
    given = [ctypes.c_ulong(x) for x in (*arguments, 0, 0, 0, 0)[:4]]
    return _checked(f"prctl({option})", library().prctl(ctypes.c_int(option), *given))


def unshare(flags: int) -> None:
    """unshare(2). Raises OSError."""
    _checked("unshare", library().unshare(ctypes.c_int(flags)))


def mount_empty(folder: str, flags: int) -> None:
    """Cover a folder with an empty file system. Raises OSError."""
    mount = library().mount
    flag = ctypes.c_ulong(flags)
    _checked(f"mount {folder}", mount(b"tmpfs", os.fsencode(folder), b"tmpfs", flag, None))


def _checked(name: str, result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")
    return result
