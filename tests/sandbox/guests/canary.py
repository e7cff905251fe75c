"""A guest that tries everything it must not be able to do. Each method makes one attempt."""

import contextlib
import ctypes
import gc
import json
import mmap
import os
import resource
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import time

import numpy as np

SOCKET = 3
KEPT = {}
X86_64 = {
    "fork": 57, "vfork": 58, "execve": 59, "ptrace": 101, "setns": 308, "process_vm_readv": 310,
    "process_vm_writev": 311, "memfd_create": 319, "bpf": 321, "execveat": 322,
    "userfaultfd": 323, "perf_event_open": 298, "unshare": 272, "mount": 165, "chroot": 161,
    "setuid": 105, "capset": 126, "keyctl": 250, "io_uring_setup": 425, "pidfd_open": 434,
    "pidfd_getfd": 438, "socket": 41, "socketpair": 53, "connect": 42, "sendmsg": 46,
    "shmget": 29, "mlock": 149, "unlink": 87, "rename": 82, "mkdir": 83, "chmod": 90,
    "truncate": 76, "tkill": 200, "rt_sigqueueinfo": 129, "setsid": 112, "setpgid": 109,
}  # fmt: skip


def prepare():
    """All that is needed is imported above."""


def begin(first, host):
    KEPT["first"] = first
    attempts = {name: value for name, value in globals().items() if name.startswith("try_")}
    methods = {
        name.removeprefix("try_"): (lambda params, run=run: run(**params))
        for name, run in attempts.items()
    }
    return {"loaded": True}, methods


def outcome(action, *arguments):
    """What came of it: the error's name, or the value."""
    try:
        return repr(action(*arguments))[:200]
    except Exception as problem:  # noqa: BLE001 - the outcome
        return type(problem).__name__


def raw(number, *arguments):
    """A system call without the C library's wrappers: "ok", or the name of the error."""
    libc = ctypes.CDLL(None, use_errno=True)
    given = [ctypes.c_long(x) if isinstance(x, int) else x for x in arguments]
    result = libc.syscall(ctypes.c_long(number), *given)
    return "ok" if result >= 0 else os.strerror(ctypes.get_errno())


def try_open(paths):
    return {path: outcome(lambda p=path: open(p, "rb").read(100)) for path in paths}


def try_list(paths):
    return {path: outcome(os.listdir, path) for path in paths}


def try_write(paths):
    return {path: outcome(lambda p=path: open(p, "wb")) for path in paths}


def try_environment():
    return dict(os.environ), outcome(lambda: open("/proc/self/environ", "rb").read())


def try_sockets():
    kinds = {"inet": socket.AF_INET, "inet6": socket.AF_INET6, "unix": socket.AF_UNIX}
    found = {name: outcome(socket.socket, kind) for name, kind in kinds.items()}
    return {**found, "pair": outcome(socket.socketpair)}


def try_processes():
    command = [sys.executable, "-c", ""]
    return {
        "fork": outcome(os.fork),
        "spawn": outcome(os.posix_spawn, command[0], command, {}),
        "subprocess": outcome(subprocess.run, command),
        "exec": outcome(os.execv, command[0], command),
    }


def try_signals(pids):
    found = {str(pid): outcome(os.kill, pid, signal.SIGKILL) for pid in pids}
    return {**found, "group": outcome(os.killpg, pids[0], signal.SIGKILL)}


def try_system_calls():
    return {name: raw(number, 0, 0, 0, 0, 0, 0) for name, number in X86_64.items()}


def try_read_memory(pid):
    target = ctypes.create_string_buffer(64)
    local = (ctypes.c_void_p * 2)(ctypes.addressof(target), 64)
    remote = (ctypes.c_void_p * 2)(0x10000, 64)
    return {
        "process_vm_readv": raw(310, pid, local, 1, remote, 1, 0),
        "ptrace attach": raw(101, 16, pid, 0, 0),
    }


def try_more_limits():
    unlimited = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)
    kinds = {"memory": resource.RLIMIT_AS, "files": resource.RLIMIT_FSIZE}
    return {name: outcome(resource.setrlimit, kind, unlimited) for name, kind in kinds.items()}


def try_new_code():
    return outcome(mmap.mmap, -1, 4096, mmap.MAP_PRIVATE, mmap.PROT_WRITE | mmap.PROT_EXEC)


def try_x32():
    return raw(0x40000000 | 39)


def try_late_import():
    import _bisect  # noqa: F401
    import decimal
    import wave

    return [str(decimal.Decimal("0.1") + 1), wave.__name__]


def try_package_import(name):
    return outcome(__import__, name)


def try_work():
    """Numbers, a database in memory, the clock, threads: what a guest may use."""
    with contextlib.closing(sqlite3.connect(":memory:")) as base:
        base.execute("create virtual table notes using fts5(text)")
        base.execute("insert into notes values ('the red bicycle')")
        found = base.execute("select text from notes where notes match 'bicycle'").fetchall()
    product = np.ones((200, 200)) @ np.ones((200, 200))
    values = np.linalg.svd(np.diag([3.0, 4.0]), compute_uv=False)
    time.sleep(0.001)
    done = []
    workers = [threading.Thread(target=done.append, args=(i,)) for i in range(4)]
    for thread in workers:
        thread.start()
    for thread in workers:
        thread.join()
    return [found[0][0], float(product[0, 0]), values.tolist(), sorted(done), len(os.urandom(8))]


def try_many_threads():
    never = threading.Event()
    started = 0
    with contextlib.suppress(RuntimeError, MemoryError):
        while started < 20_000:
            threading.Thread(target=never.wait, daemon=True).start()
            started += 1
    never.set()
    return started


def try_find_text(backwards):
    """In how many of all containers here a text stands; it is sent backwards, so as not to be one
    of them."""
    gc.unfreeze()
    text = backwards[::-1]
    found = 0
    for thing in gc.get_objects():
        held = thing.values() if type(thing) is dict else thing
        if type(thing) in (dict, list, tuple, set):
            found += any(type(x) is str and text in x for x in list(held))
    return found


def try_exit():
    raise SystemExit(3)


def try_interrupt():
    raise KeyboardInterrupt


def try_hard_exit():
    os._exit(7)


def try_crash():
    ctypes.string_at(0)


def try_recurse():
    def down(n):
        return down(n + 1) + 1

    return down(0)


def try_recurse_without_limit():
    sys.setrecursionlimit(10**9)
    value = []
    for _ in range(300_000):
        value = [value]
    return repr(value)


def try_suicide():
    os.kill(os.getpid(), signal.SIGKILL)


def try_loop():
    while True:
        pass


def try_loop_in_c():
    return sum(range(10**15))


def try_sleep():
    time.sleep(3600)


def try_processor_time():
    signal.signal(signal.SIGXCPU, signal.SIG_DFL)
    while True:
        pass


def try_allocate():
    return len(bytearray(3 << 30))


def try_allocate_array():
    return int(np.ones(3 << 27).sum())


def try_grow():
    held = []
    while True:
        held.append(b"x" * (1 << 20))


def try_long_output():
    return "x" * (20 << 20)


def try_output(kind):
    deep = []
    for _ in range(100_000):
        deep = [deep]
    return {"nan": float("nan"), "object": object(), "deep": deep, "surrogate": "\ud800"}[kind]


def try_garbage(kind):
    frames = {
        "noise": b"\xff\xfe\xfd\xfc" * 100,
        "not json": frame(b"hello"),
        "not utf-8": frame(b'"\xff"'),
        "nan": frame(b'{"value": NaN}'),
        "huge number": frame(b'{"value": 1e999}'),
        "many digits": frame(b'{"value": ' + b"9" * 10_000 + b"}"),
        "surrogate": frame(rb'{"value": "\ud800"}'),
        "deep": frame(b"[" * 1_000_000),
        "not a reply": frame(b"[1]"),
        "unknown kind": frame(b'{"error": {"kind": "gone", "message": "", "detail": ""}}'),
        "no message": frame(b'{"error": {"kind": "raised", "message": 1, "detail": ""}}'),
        "strange error": frame(b'{"error": []}'),
        "two things": frame(b'{"value": 1, "error": {}}'),
    }
    os.write(SOCKET, frames[kind])
    time.sleep(3600)


def frame(body):
    return len(body).to_bytes(4, "big") + body


def try_strange_request(request):
    """Ask the host for nonsense; the answer comes as for any request."""
    os.write(SOCKET, frame(json.dumps(request).encode()))
    return os.read(SOCKET, 1000).decode()


def try_close_socket():
    os.close(SOCKET)
    time.sleep(3600)


def try_close_socket_and_return():
    os.close(SOCKET)


def try_unprintable():
    class OddError(Exception):
        def __str__(self):
            raise RuntimeError("cannot say")

    raise OddError


def try_base_exception():
    raise BaseException("unusual")  # noqa: TRY002 - what no guest should raise


def try_pids():
    return [os.getpid(), os.getppid()]
