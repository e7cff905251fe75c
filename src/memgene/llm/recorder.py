"""A model whose replies are kept in a file, for `replay:`."""

from __future__ import annotations

import os
import sys
import threading
from pathlib import Path

from memgene.core.errors import StoredConfigError
from memgene.llm.protocol import LLM, Reply, Request
from memgene.llm.records import Recorded, to_line


class Recorder:
    """`inner`, with every reply appended to a file. Failed calls leave no record.

    Threads and processes may record into one file. Settings and keys are not recorded, only
    requests and replies.

    Raises:
        StoredConfigError: the file cannot be made or opened, or later not be written.
    """

    def __init__(self, inner: LLM, path: Path) -> None:
        self._inner = inner
        self._path = path
        self._lock = threading.Lock()
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("ab"):
                pass
        except OSError as error:
            raise self._unwritable(error) from error

    @property
    def name(self) -> str:
        """The inner model's."""
        return self._inner.name

    @property
    def identity(self) -> str:
        """The inner model's."""
        return self._inner.identity

    @property
    def constrains(self) -> bool:
        """The inner model's."""
        return self._inner.constrains

    @property
    def concurrency(self) -> int:
        """The inner model's."""
        return self._inner.concurrency

    def complete(self, request: Request) -> Reply:
        """Ask the inner model and record its reply; see `LLM.complete`."""
        reply = self._inner.complete(request)
        line = to_line(Recorded(self.name, request, reply)).encode()
        try:
            with self._lock:
                _append(self._path, line)
        except OSError as error:
            raise self._unwritable(error) from error
        return reply

    def close(self) -> None:
        """Close the inner model."""
        self._inner.close()

    def _unwritable(self, error: OSError) -> StoredConfigError:
        return StoredConfigError(f"cannot record into {self._path}: {error.strerror}")


def _append(path: Path, line: bytes) -> None:
    """Add a whole line; half a line that a killed process left is removed first."""
    with path.open("r+b") as file:
        _lock(file.fileno())
        end = file.seek(0, os.SEEK_END)
        if end:
            file.seek(end - 1)
            if file.read(1) != b"\n":
                file.seek(0)
                end = file.read().rfind(b"\n") + 1
                file.truncate(end)
        file.seek(end)
        file.write(line)
        file.flush()


if sys.platform == "win32":
    import msvcrt

    def _lock(handle: int) -> None:
        # A byte far beyond the text stands for the file; closing gives it back.
        os.lseek(handle, 1 << 40, os.SEEK_SET)
        msvcrt.locking(handle, msvcrt.LK_LOCK, 1)

else:
    import fcntl

    def _lock(handle: int) -> None:
        fcntl.flock(handle, fcntl.LOCK_EX)
