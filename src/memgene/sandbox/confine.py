"""What a zygote and its workers give up. Each step either holds or raises OSError."""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import resource
import signal
import struct
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from memgene.sandbox import bubble, kernel, landlock
from memgene.sandbox.limits import Limits
from memgene.sandbox.seccomp import Filter

WORKER_SOCKET: Final = 3
_ALL_FILES: Final = 1 << 16

_WORKER_FILES: Final = 32
_THREADS: Final = 512
_NEWIPC, _NEWUSER, _NEWNET = 0x08000000, 0x10000000, 0x40000000
_CAPABILITY_VERSION: Final = 0x20080522
_MOST_CAPABILITIES: Final = 64
_LINUX: Final = sys.platform == "linux"


@dataclass(frozen=True, slots=True)
class Confinement:
    """What the zygote prepared for its workers: a Landlock ruleset's descriptor, a filter, bytes
    mapped before a guest starts, whether threads can be counted."""

    ruleset: int | None
    filter: Filter | None
    mapped: int
    counts_threads: bool


def prepare(
    *,
    use_landlock: bool,
    use_seccomp: bool,
    in_bubble: bool,
    event_loop: bool,
    imported_from: Sequence[str],
) -> Confinement:
    """In the zygote, when all is imported: leave the network, drop privileges, make the rules."""
    if in_bubble:
        bubble.cover(imported_from, landlock.library_roots())
    ruleset = landlock.make_ruleset(landlock.library_entries()) if use_landlock else None
    filtered = Filter(kernel.machine(), event_loop=event_loop) if use_seccomp else None
    own_users = in_bubble or (_LINUX and _leave_network())
    if _LINUX:
        _drop_capabilities()
        kernel.prctl(kernel.PR_SET_NO_NEW_PRIVS, 1)
        kernel.prctl(kernel.PR_SET_DUMPABLE, 0)
    return Confinement(ruleset, filtered, _mapped(), own_users)


def enter(confinement: Confinement, limits: Limits, connection: int, zygote: int) -> None:
    """In a new worker: keep one socket (as WORKER_SOCKET) and nothing else."""
    os.setsid()
    if _LINUX:
        kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != zygote:
        os._exit(1)
    if confinement.ruleset is not None:
        landlock.restrict(confinement.ruleset)
    if connection != WORKER_SOCKET:
        os.dup2(connection, WORKER_SOCKET, inheritable=False)
    os.closerange(WORKER_SOCKET + 1, _ALL_FILES)
    _limit(confinement, limits)
    if confinement.filter is not None:
        confinement.filter.install()


def _limit(confinement: Confinement, limits: Limits) -> None:
    if _LINUX:
        _lower(resource.RLIMIT_AS, confinement.mapped + limits.memory_bytes)
    _lower(resource.RLIMIT_CPU, limits.cpu_seconds, limits.cpu_seconds + 1)
    _lower(resource.RLIMIT_NOFILE, _WORKER_FILES)
    _lower(resource.RLIMIT_FSIZE, 0)
    _lower(resource.RLIMIT_CORE, 0)
    if confinement.counts_threads:
        _lower(resource.RLIMIT_NPROC, _THREADS)


def _lower(what: int, soft: int, hard: int | None = None) -> None:
    top = resource.getrlimit(what)[1]
    hard = soft if hard is None else hard
    if top != resource.RLIM_INFINITY:
        soft, hard = min(soft, top), min(hard, top)
    resource.setrlimit(what, (soft, hard))


def _leave_network() -> bool:
    """Move to an empty network where that is permitted (the filter denies sockets anyway). True if
    that made a user namespace, in which the processes of this zygote are counted apart."""
    for flags in (_NEWNET | _NEWIPC, _NEWUSER | _NEWNET | _NEWIPC):
        with contextlib.suppress(OSError):  # not permitted here: a second line of defence less
            kernel.unshare(flags)
            return bool(flags & _NEWUSER)
    return False


def _drop_capabilities() -> None:
    kernel.prctl(kernel.PR_CAP_AMBIENT, kernel.PR_CAP_AMBIENT_CLEAR_ALL)
    for capability in range(_MOST_CAPABILITIES):
        try:
            kernel.prctl(kernel.PR_CAPBSET_DROP, capability)
        except OSError as problem:
            if problem.errno == errno.EINVAL:  # the kernel knows no more
                break
            if problem.errno != errno.EPERM:  # without privileges there is nothing to drop
                raise
    header = ctypes.create_string_buffer(struct.pack("=Ii", _CAPABILITY_VERSION, 0), 8)
    kernel.call("capset", header, ctypes.create_string_buffer(24))


def _mapped() -> int:
    """Bytes of address space in use; 0 where that cannot be known."""
    if not _LINUX:
        return 0
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[0]) * resource.getpagesize()
