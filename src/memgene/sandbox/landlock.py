"""Landlock: a process that can open nothing but what a ruleset names (Linux 5.13 and later).

Source: https://docs.kernel.org/userspace-api/landlock.html. Landlock restricts opening, not
`stat`: a guest can learn that a path exists, never what is in it.
"""

from __future__ import annotations

import ctypes
import errno
import os
import stat
import struct
import sysconfig
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from memgene.sandbox import kernel

READ_FILE: Final = 1 << 2
READ_DIR: Final = 1 << 3

_VERSION: Final = 1
_PATH_BENEATH: Final = 1
_NOT_STANDARD: Final = frozenset({"site-packages", "dist-packages"})


def abi() -> int:
    """Version of the interface. Raises OSError where there is none."""
    return kernel.call("landlock_create_ruleset", None, 0, _VERSION)


def describe() -> str:
    """`yes: interface N`, or `no: why`."""
    try:
        return f"yes: interface {abi()}"
    except OSError as problem:
        return f"no: {_reason(problem)}"


def _reason(problem: OSError) -> str:
    reasons = {
        errno.ENOSYS: "this kernel has none (Linux 5.13 or later has), or a container forbids it",
        errno.EOPNOTSUPP: "it is switched off at boot (add landlock to the kernel's lsm= list)",
        errno.EPERM: "a container's own filter forbids it",
    }
    return reasons.get(problem.errno or 0, str(problem))


def handled(version: int) -> tuple[int, int, int]:
    """Every right an interface version knows: of files, of the network, of scopes. What is
    handled and not allowed by a rule is denied."""
    files = (1 << 13) - 1
    for bit, since in ((13, 2), (14, 3), (15, 5)):  # REFER, TRUNCATE, IOCTL_DEV
        if version >= since:
            files |= 1 << bit
    network = 0b11 if version >= 4 else 0  # BIND_TCP, CONNECT_TCP
    scopes = 0b11 if version >= 6 else 0  # abstract Unix sockets, signals
    return files, network, scopes


def make_ruleset(readable: Iterable[Path]) -> int:
    """A ruleset that lets nothing be opened but these files and folders, for reading.

    Returns its descriptor. Raises OSError.
    """
    version = abi()
    attributes = struct.pack("3Q", *handled(version))
    size = 8 if version < 4 else 16 if version < 6 else 24
    ruleset = kernel.call("landlock_create_ruleset", _buffer(attributes[:size]), size, 0)
    for path in readable:
        _allow(ruleset, path)
    return ruleset


def restrict(ruleset: int) -> None:
    """Hold this thread and its children to a ruleset, for ever. Raises OSError."""
    kernel.call("landlock_restrict_self", ruleset, 0)


def library_roots() -> list[Path]:
    """Folders of the standard library."""
    names = ("stdlib", "platstdlib")
    return sorted({Path(sysconfig.get_path(name)).resolve() for name in names})


def library_entries() -> Iterator[Path]:
    """Files and folders of the standard library, one by one: the folder that holds them may hold
    `site-packages` too, where installed packages keep data."""
    for root in library_roots():
        for entry in sorted(root.iterdir()):
            if entry.name not in _NOT_STANDARD and entry.resolve().is_relative_to(root):
                yield entry


def _allow(ruleset: int, path: Path) -> None:
    opened = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        folder = stat.S_ISDIR(os.fstat(opened).st_mode)
        rights = READ_FILE | READ_DIR if folder else READ_FILE
        rule = _buffer(struct.pack("=Qi", rights, opened))
        kernel.call("landlock_add_rule", ruleset, _PATH_BENEATH, rule, 0)
    finally:
        os.close(opened)


def _buffer(content: bytes) -> ctypes.Array[ctypes.c_char]:
    return ctypes.create_string_buffer(content, len(content))
