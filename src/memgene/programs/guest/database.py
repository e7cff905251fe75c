"""SQLite for programs: in memory, without ways out to files."""

from __future__ import annotations

import sqlite3
from types import ModuleType
from typing import Any, NoReturn

from memgene.programs.guest.fixed import Facade

_FILE_PRAGMAS = frozenset({"temp_store_directory", "data_store_directory"})


class Database(sqlite3.Connection):
    """A connection that neither attaches files nor loads extensions."""

    def enable_load_extension(self, enable: bool, /) -> NoReturn:
        """Refused."""
        raise sqlite3.NotSupportedError("memory programs load no SQLite extensions")

    def set_authorizer(self, authorizer_callback: Any) -> NoReturn:
        """Refused: the database has its own."""
        raise sqlite3.NotSupportedError("memory programs set no SQLite authorizer")


def open_database() -> Database:
    """A fresh in-memory database, which sorts in memory too: a worker has no files."""
    made = sqlite3.connect(":memory:", check_same_thread=False, factory=Database)
    made.execute("PRAGMA temp_store = MEMORY")
    sqlite3.Connection.set_authorizer(made, _authorise)
    return made


def guarded_sqlite3() -> ModuleType:
    """`sqlite3` whose `connect` knows in-memory databases only."""

    def connect(database: Any = ":memory:", *args: Any, **options: Any) -> Database:
        if database not in (":memory:", ""):
            raise sqlite3.OperationalError(
                f"memory programs open no files ({database!r}); use toolkit.db"
            )
        return open_database()

    return Facade("sqlite3", sqlite3, {"connect": connect})


def _authorise(action: int, first: str | None, second: str | None, *_: str | None) -> int:
    if action in (sqlite3.SQLITE_ATTACH, sqlite3.SQLITE_DETACH):
        return sqlite3.SQLITE_DENY
    if action == sqlite3.SQLITE_FUNCTION and second == "load_extension":
        return sqlite3.SQLITE_DENY
    if action == sqlite3.SQLITE_PRAGMA and (first or "").lower() in _FILE_PRAGMAS:
        return sqlite3.SQLITE_DENY
    return sqlite3.SQLITE_OK
