"""Connections to one SQLite file: one per thread, one writer at a time, safe after a fork."""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from memgene.bank.sqlite import erasing
from memgene.bank.sqlite.erasing import is_busy
from memgene.bank.sqlite.functions import register_functions
from memgene.bank.sqlite.migrations import PAGE_SIZE, applied, migrate
from memgene.core import BankError, MissingDependencyError

MEMORY = ":memory:"
_CACHE_KIB = 32_000
_LOG_PAGES = 4000
"""Length of the write-ahead log (32 MB) at which a commit moves it into the file, which takes far
longer than the commit. Pages that many small commits change are moved once."""
_RETRY_SECONDS = 0.002

_OLDEST = (3, 35, 0)  # trigram tokenizer 3.34, RETURNING 3.35
_MAGIC = b"SQLite format 3\x00"
_NOT_A_BANK = "{} is not a memgene bank (not an SQLite file); it was left untouched"

_T = TypeVar("_T")


@dataclass(slots=True)
class Session:
    """A connection with the state of its open transaction.

    `depth` counts nested `atomic` blocks; `scrub` says that units were deleted, so that the
    outermost block erases their traces.
    """

    connection: sqlite3.Connection
    thread: threading.Thread
    depth: int = 0
    scrub: bool = False


@dataclass(slots=True)
class _Process:
    """What must not outlive a fork: locks, thread-local sessions, the list of open sessions."""

    pid: int = field(default_factory=os.getpid)
    writer: threading.RLock = field(default_factory=threading.RLock)
    registry: threading.Lock = field(default_factory=threading.Lock)
    local: threading.local = field(default_factory=threading.local)
    sessions: list[Session] = field(default_factory=list)
    shared: Session | None = None


class Connections:
    """Hands each thread its own connection; `:memory:` shares one connection under a lock.

    A forked child never touches inherited connections to a file: SQLite forbids it.
    """

    def __init__(self, location: str, busy_timeout: float) -> None:
        self.location = location
        self._busy_timeout = busy_timeout
        self._memory = location == MEMORY
        self._closed = False
        self._traces_left = False
        self._state = _Process()
        self._inherited: list[_Process] = []
        if self._memory:
            self._state.shared = self._open()
        else:
            self._session()

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """This thread's connection, for queries. SQLite errors come out as BankError."""
        state = self._process()
        if self._memory:
            self._acquire(state)
        try:
            yield self._session().connection
        except sqlite3.DatabaseError as error:
            raise explain(error, self.location) from error
        finally:
            if self._memory:
                state.writer.release()

    @contextmanager
    def writing(self) -> Iterator[Session]:
        """One transaction that holds the write lock; an inner block is a savepoint."""
        session = self._session()
        try:
            if session.depth and session.thread is threading.current_thread():
                with self._savepoint(session):
                    yield session
            else:
                with self._transaction() as session:
                    yield session
        except sqlite3.DatabaseError as error:
            raise explain(error, self.location) from error

    def close(self) -> None:
        """Erase what traces of deletions are left, then close the connections of all threads."""
        if self._closed:
            return
        state = self._process()
        connection = self._session().connection
        if not self._memory and not connection.in_transaction and erasing.is_due(connection):
            self._erase(connection, closing=True)
        self._closed = True
        with state.registry:
            for session in state.sessions:
                session.connection.close()
            state.sessions.clear()

    # -- transactions
    @contextmanager
    def _transaction(self) -> Iterator[Session]:
        state = self._process()
        self._acquire(state)
        try:
            session = self._session()
            connection = session.connection
            self._begin(connection)
            session.depth, session.scrub, session.thread = 1, False, threading.current_thread()
            try:
                yield session
                if session.scrub:
                    erasing.prepare(connection)
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:  # some errors make SQLite roll back by itself
                    connection.execute("ROLLBACK")
                raise
            finally:
                session.depth = 0
            if (session.scrub or self._traces_left) and not self._memory:
                self._erase(connection)
        finally:
            state.writer.release()

    def _begin(self, connection: sqlite3.Connection) -> None:
        """Take the file's write lock; other processes are asked again every other millisecond.

        SQLite's own waiting sleeps up to 100 ms at a time, and starves the unlucky.
        """
        deadline = time.monotonic() + self._busy_timeout
        connection.execute("PRAGMA busy_timeout = 0")
        try:
            _patiently(lambda: connection.execute("BEGIN IMMEDIATE"), deadline)
        finally:
            self._wait_by_default(connection)

    def _wait_by_default(self, connection: sqlite3.Connection) -> None:
        connection.execute(f"PRAGMA busy_timeout = {int(self._busy_timeout * 1000)}")

    @contextmanager
    def _savepoint(self, session: Session) -> Iterator[None]:
        connection, name = session.connection, f"level_{session.depth}"
        connection.execute(f"SAVEPOINT {name}")
        session.depth += 1
        try:
            yield
            connection.execute(f"RELEASE {name}")
        except BaseException:
            if connection.in_transaction:
                connection.execute(f"ROLLBACK TO {name}")
                connection.execute(f"RELEASE {name}")
            raise
        finally:
            session.depth -= 1

    def _erase(self, connection: sqlite3.Connection, *, closing: bool = False) -> None:
        """Erase traces of deletions; what must wait for other processes is tried again later."""
        connection.execute("PRAGMA busy_timeout = 0")
        try:
            self._traces_left = not erasing.finish(connection, closing=closing)
        finally:
            self._wait_by_default(connection)

    def _acquire(self, state: _Process) -> None:
        if not state.writer.acquire(timeout=self._busy_timeout):
            raise BankError(
                f"{self.location} is locked: another thread has been writing for "
                f"{self._busy_timeout:g} s; try again or raise busy_timeout"
            )

    # -- sessions
    def _process(self) -> _Process:
        state = self._state
        if state.pid == os.getpid():
            return state
        # Inherited handles are kept, not closed: closing them would drop the parent's locks.
        self._inherited.append(state)
        fresh = _Process(shared=state.shared)
        if fresh.shared is not None:
            fresh.shared.depth = 0
            fresh.sessions.append(fresh.shared)
            if fresh.shared.connection.in_transaction:
                fresh.shared.connection.rollback()
        self._state = fresh
        return fresh

    def _session(self) -> Session:
        if self._closed:
            raise BankError(f"the bank {self.location} is closed; open it again")
        state = self._process()
        if state.shared is not None:
            return state.shared
        session: Session | None = getattr(state.local, "session", None)
        if session is None:
            session = self._open()
            state.local.session = session
        return session

    def _open(self) -> Session:
        connection = connect(self.location, self._busy_timeout)
        session = Session(connection, threading.current_thread())
        state = self._state
        with state.registry:
            for ended in [s for s in state.sessions if not s.thread.is_alive()]:
                if ended is not state.shared:
                    ended.connection.close()
                    state.sessions.remove(ended)
            state.sessions.append(session)
        return session


def connect(location: str, busy_timeout: float) -> sqlite3.Connection:
    """Open (or create) a bank file, set it up and bring its format up to date.

    Raises BankError for a file that is not a bank, is damaged, locked or newer than this code,
    MissingDependencyError if this Python's SQLite is too old.
    """
    if sqlite3.sqlite_version_info < _OLDEST:
        raise MissingDependencyError(
            f"banks need SQLite {'.'.join(map(str, _OLDEST))} or newer, this Python has "
            f"{sqlite3.sqlite_version}; use a newer Python build"
        )
    if location != MEMORY:
        _check_path(location)
    try:
        connection = sqlite3.connect(
            location,
            timeout=busy_timeout,
            isolation_level=None,
            check_same_thread=False,
            cached_statements=256,
        )
    except sqlite3.DatabaseError as error:
        raise explain(error, location) from error
    try:
        _set_up(connection, location, busy_timeout)
    except sqlite3.DatabaseError as error:
        connection.close()
        raise explain(error, location) from error
    except BaseException:
        connection.close()
        raise
    return connection


def _set_up(connection: sqlite3.Connection, location: str, busy_timeout: float) -> None:
    deadline = time.monotonic() + busy_timeout
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute("PRAGMA secure_delete = ON").fetchall()
    connection.execute("PRAGMA temp_store = MEMORY")
    connection.execute(f"PRAGMA cache_size = -{_CACHE_KIB}")
    connection.execute(f"PRAGMA page_size = {PAGE_SIZE}")
    connection.execute(f"PRAGMA wal_autocheckpoint = {_LOG_PAGES}").fetchall()
    register_functions(connection)
    _patiently(lambda: applied(connection, location), deadline)  # nothing is written before this
    if location != MEMORY:
        # Switching a new file to WAL does not wait for its turn by itself.
        mode = _patiently(
            lambda: str(connection.execute("PRAGMA journal_mode = WAL").fetchone()[0]), deadline
        )
        if mode != "wal":
            raise BankError(
                f"{location}: SQLite cannot keep a write-ahead log here (mode {mode}); "
                "put the bank on a local, writable disk"
            )
    _patiently(lambda: migrate(connection, location), deadline)


def _patiently(action: Callable[[], _T], deadline: float) -> _T:
    while True:
        try:
            return action()
        except sqlite3.OperationalError as error:
            if not is_busy(error) or time.monotonic() > deadline:
                raise
            time.sleep(_RETRY_SECONDS)


def _check_path(location: str) -> None:
    path = Path(location)
    if path.is_dir():
        raise BankError(f"{location} is a folder; a bank is one file")
    if path.is_file() and path.stat().st_size:
        with path.open("rb") as file:  # SQLite would take a very short file for an empty one
            if file.read(len(_MAGIC)) != _MAGIC:
                raise BankError(_NOT_A_BANK.format(location))
    if not path.parent.is_dir():
        raise BankError(f"{location}: the folder {path.parent} does not exist; create it first")


def explain(error: sqlite3.Error, location: str) -> BankError:
    """A BankError that tells locked from corrupt from not-a-bank, and what to do."""
    name = getattr(error, "sqlite_errorname", "")
    if is_busy(error):
        what = "is locked by another process; try again or raise busy_timeout"
    elif name == "SQLITE_NOTADB":
        return BankError(_NOT_A_BANK.format(location))
    elif name.startswith("SQLITE_CORRUPT"):
        what = f"is damaged ({error}); restore a copy or an export"
    elif name.startswith("SQLITE_READONLY"):
        what = "cannot be written; check the permissions of the file and its folder"
    elif name.startswith("SQLITE_CANTOPEN"):
        what = "cannot be opened; check that the path exists and is readable"
    elif name.startswith("SQLITE_FULL"):
        what = "cannot grow: the disk is full; nothing of this change was kept"
    else:
        what = f"failed: {error}"
    return BankError(f"{location} {what}")
