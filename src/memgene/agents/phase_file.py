"""Results of an agent's steps in one SQLite file, so that a run that was killed pays for no step
twice."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from threading import Lock
from types import TracebackType

from memgene.core import StoredConfigError

_TABLE = "CREATE TABLE IF NOT EXISTS steps (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT"


class PhaseFile:
    """A `PhaseStore` on disk. Thread-safe; a context manager.

    A kill loses at most the last steps; what the file holds is whole. Raises StoredConfigError
    when the file cannot be used.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = Lock()
        try:
            self._db = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
        except sqlite3.Error as error:
            raise self._unusable(error) from error
        try:
            self._db.execute("PRAGMA journal_mode=WAL")
            self._db.execute("PRAGMA synchronous=NORMAL")
            self._db.execute(_TABLE)
        except sqlite3.Error as error:
            self._db.close()
            raise self._unusable(error) from error

    def get(self, key: str) -> str | None:
        """What was kept under the key, None when nothing was."""
        with self._lock:
            try:
                row = self._db.execute("SELECT value FROM steps WHERE key = ?", (key,)).fetchone()
            except sqlite3.Error as error:
                raise self._unusable(error) from error
        return None if row is None else str(row[0])

    def put(self, key: str, value: str) -> None:
        """Keep a result; the first one stays."""
        with self._lock:
            try:
                self._db.execute(
                    "INSERT INTO steps VALUES (?, ?) ON CONFLICT DO NOTHING", (key, value)
                )
            except sqlite3.Error as error:
                raise self._unusable(error) from error

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._db.close()

    def __enter__(self) -> PhaseFile:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _unusable(self, error: sqlite3.Error) -> StoredConfigError:
        return StoredConfigError(
            f"the results of steps in {self._path} cannot be used ({error}); delete the file, "
            "they are made anew"
        )
