"""Replies that were paid for once, in one SQLite file shared by threads and processes."""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from memgene.core import Clock, StoredConfigError, SystemClock
from memgene.llm.flights import Flights
from memgene.llm.protocol import Finish, Reply

OFF = "off"

_APPLICATION = 0x6D676C6D  # "mglm": marks the file as a cache of replies
_VERSION = 1
_MAGIC = b"SQLite format 3\x00"
_TABLE = """CREATE TABLE IF NOT EXISTS replies (
    key TEXT PRIMARY KEY,
    text TEXT NOT NULL,
    finish TEXT NOT NULL,
    tokens_in INTEGER NOT NULL,
    tokens_out INTEGER NOT NULL,
    seconds REAL NOT NULL,
    created TEXT NOT NULL
) STRICT, WITHOUT ROWID"""
# One statement sees one state of the file.
_STATE = """SELECT application_id, user_version, (SELECT count(*) FROM sqlite_schema)
    FROM pragma_application_id, pragma_user_version"""
_RETRY_SECONDS = 0.005

_T = TypeVar("_T")


@dataclass(slots=True)
class _Process:
    """What must not outlive a fork: the connection, its lock, the calls in flight."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    flights: Flights = field(default_factory=Flights)
    connection: sqlite3.Connection | None = None


class ReplyCache:
    """Whole and cut-off replies by key; errors and interrupted replies are never kept.

    Holds the replies' texts, so the file can be read by its owner only; no request and no secret
    is stored. Nothing is opened before the first use.

    Args:
        path: the file, made when absent, with its folder; None keeps nothing.
        busy_timeout: seconds to wait while another process writes.
        clock: for the time a reply was stored.
    """

    def __init__(
        self, path: Path | None, *, busy_timeout: float = 60.0, clock: Clock | None = None
    ) -> None:
        self.path = path
        self._busy_timeout = busy_timeout
        self._clock = clock or SystemClock()
        # By process: a forked child neither uses nor closes what it inherits, for closing would
        # touch the parent's files.
        self._processes: dict[int, _Process] = {}
        self._closed = False

    @classmethod
    def named(cls, name: str | Path) -> ReplyCache:
        """The cache in a file, or none for `off`, as settings spell it."""
        return cls(None if name == OFF else Path(name).expanduser())

    @property
    def on(self) -> bool:
        """Whether replies are kept."""
        return self.path is not None

    @property
    def flights(self) -> Flights:
        """Calls of this process that are under way."""
        return self._process().flights

    def get(self, key: str) -> Reply | None:
        """The stored reply, marked as cached.

        Raises StoredConfigError when the file cannot be used; names it and the remedy.
        """
        if self.path is None:
            return None
        query = "SELECT text, finish, tokens_in, tokens_out, seconds FROM replies WHERE key = ?"
        row = self._with(lambda c: c.execute(query, (key,)).fetchone())
        if row is None:
            return None
        text, finish, tokens_in, tokens_out, seconds = row
        if finish not in {f.value for f in Finish}:
            raise self._unusable(f"is damaged (finish {finish!r})", delete=True)
        return Reply(text, Finish(finish), tokens_in, tokens_out, seconds, cached=True)

    def put(self, key: str, reply: Reply) -> None:
        """Keep a reply; the first one stored under a key stays.

        Raises StoredConfigError when the file cannot be used; names it and the remedy.
        """
        if self.path is None or reply.finish is Finish.OTHER:
            return
        values = (
            key,
            reply.text,
            reply.finish.value,
            reply.tokens_in,
            reply.tokens_out,
            reply.seconds,
            self._clock.now().isoformat(timespec="seconds"),
        )
        statement = "INSERT INTO replies VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING"
        self._with(lambda c: c.execute(statement, values))

    def __len__(self) -> int:
        if self.path is None:
            return 0
        return int(self._with(lambda c: c.execute("SELECT count(*) FROM replies").fetchone()[0]))

    def close(self) -> None:
        """Close the file. A closed cache cannot be used again."""
        self._closed = True
        state = self._process()
        with state.lock:
            if state.connection is not None:
                state.connection.close()
                state.connection = None

    def _with(self, use: Callable[[sqlite3.Connection], _T]) -> _T:
        state = self._process()
        with state.lock:
            try:
                if state.connection is None:
                    if self._closed:
                        raise self._unusable("is closed", delete=False)
                    state.connection = self._open()
                return use(state.connection)
            except sqlite3.Error as error:
                raise self._explained(error) from error

    def _process(self) -> _Process:
        pid = os.getpid()
        return self._processes.get(pid) or self._processes.setdefault(pid, _Process())

    def _open(self) -> sqlite3.Connection:
        assert self.path is not None
        self._prepare(self.path)
        connection = sqlite3.connect(
            self.path, timeout=self._busy_timeout, isolation_level=None, check_same_thread=False
        )
        try:
            connection.execute("PRAGMA synchronous = NORMAL")
            self._patiently(lambda: self._set_up(connection))
        except BaseException:
            connection.close()
            raise
        return connection

    def _prepare(self, path: Path) -> None:
        """Make the folder and an empty file that only its owner can read."""
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
            with path.open("rb") as file:
                magic = file.read(len(_MAGIC))
        except OSError as error:
            raise self._unusable(f"cannot be opened ({error.strerror})", delete=False) from error
        if magic and magic != _MAGIC:
            raise self._unusable("is not a cache of replies; it was left untouched", delete=False)

    def _patiently(self, action: Callable[[], None]) -> None:
        """Switching a new file to a write-ahead log does not wait for its turn by itself."""
        deadline = time.monotonic() + self._busy_timeout
        while True:
            try:
                return action()
            except sqlite3.OperationalError as error:
                if not _is_busy(error) or time.monotonic() > deadline:
                    raise
                time.sleep(_RETRY_SECONDS)

    def _set_up(self, connection: sqlite3.Connection) -> None:
        """Check whose file it is before anything is written; make the table in a new one."""
        if self._is_made(connection):
            return
        mode = connection.execute("PRAGMA journal_mode = WAL").fetchone()[0]
        if mode != "wal":
            raise self._unusable(
                f"cannot keep a write-ahead log here (mode {mode}); it needs a local disk",
                delete=False,
            )
        connection.execute("BEGIN IMMEDIATE")
        try:
            if not self._is_made(connection):  # by another process, meanwhile
                connection.execute(_TABLE)
                connection.execute(f"PRAGMA application_id = {_APPLICATION}")
                connection.execute(f"PRAGMA user_version = {_VERSION}")
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise

    def _is_made(self, connection: sqlite3.Connection) -> bool:
        """Whether the file is a cache of this format; False for an empty one."""
        application, version, objects = connection.execute(_STATE).fetchone()
        if application != _APPLICATION:
            if objects:
                raise self._unusable(
                    "is not a cache of replies; it was left untouched", delete=False
                )
            return False
        if version > _VERSION:
            raise self._unusable(
                f"has format {version}, newer than this memgene reads ({_VERSION}); "
                "upgrade memgene",
                delete=False,
            )
        return True

    def _explained(self, error: sqlite3.Error) -> StoredConfigError:
        name = getattr(error, "sqlite_errorname", "")
        if name.startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB", "SQLITE_ERROR")):
            return self._unusable(f"is damaged ({error})", delete=True)
        if _is_busy(error):
            return self._unusable("is kept locked by another process", delete=False)
        if name.startswith("SQLITE_FULL"):
            return self._unusable("cannot grow: the disk is full", delete=False)
        return self._unusable(f"cannot be used ({error})", delete=False)

    def _unusable(self, what: str, *, delete: bool) -> StoredConfigError:
        remedy = "delete it (its replies are asked for again), or " if delete else ""
        return StoredConfigError(
            f"the cache of language model replies {self.path} {what}; "
            f'{remedy}set [llm] cache to another file or to "{OFF}"'
        )


def _is_busy(error: sqlite3.Error) -> bool:
    return getattr(error, "sqlite_errorname", "").startswith(("SQLITE_BUSY", "SQLITE_LOCKED"))
