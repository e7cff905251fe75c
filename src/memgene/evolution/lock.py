"""One process per run folder: an advisory lock that the system drops when its holder dies."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import IO

from memgene.core import RunError

LOCK_NAME = "run.lock"


class RunLock:
    """Holds RUN/run.lock until released. Raises RunError when another process holds it."""

    def __init__(self, folder: Path) -> None:
        self._file: IO[str] = (folder / LOCK_NAME).open("a+", encoding="utf-8")
        try:
            _lock(self._file)
        except OSError:
            self._file.seek(0)
            holder = self._file.read().strip() or "another process"
            self._file.close()
            raise RunError(f"{folder} is in use by {holder}; wait for it or stop it") from None
        self._file.truncate(0)
        self._file.write(f"process {os.getpid()}")
        self._file.flush()

    def release(self) -> None:
        """Let others have the folder."""
        self._file.truncate(0)
        self._file.close()


if sys.platform == "win32":
    import msvcrt

    def _lock(file: IO[str]) -> None:
        # far beyond the text, which others must be able to read
        file.seek(1 << 20)
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    def _lock(file: IO[str]) -> None:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
