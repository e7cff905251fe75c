"""Leaving no trace of deleted text in the file.

SQLite's `secure_delete` zeroes freed pages and cells, but two places keep copies: segments of the
text indices, where a deleted word stays until segments merge, and the unused gap of a page whose
cells were moved to a neighbour. The first is purged with every deletion, the second by VACUUM:
at once in a small file, when the bank is closed in a large one.
"""

from __future__ import annotations

import sqlite3

from memgene.bank.sqlite.fulltext import purge
from memgene.bank.sqlite.history import version

AT_ONCE = 16 << 20
"""Largest file, in bytes, that is rewritten with every deletion (0.1 s at this size)."""

_DUE = "rewrite"


def prepare(connection: sqlite3.Connection) -> None:
    """Purge the text indices and remember that the file must be rewritten; before the commit."""
    purge(connection)
    connection.execute(
        "INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)", (_DUE, str(version(connection)))
    )


def finish(connection: sqlite3.Connection, *, closing: bool = False) -> bool:
    """Rewrite the file if it is due, and empty the write-ahead log; after the commit.

    False while another process is at work in the file: then this must be tried again. The caller
    must not wait for locks here.
    """
    try:
        mark = _mark(connection)
        if mark is not None and (closing or _size(connection) <= AT_ONCE):
            _rewrite(connection, mark)
        return not connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
    except sqlite3.OperationalError as error:
        if is_busy(error):
            return False
        raise


def is_due(connection: sqlite3.Connection) -> bool:
    """Whether a deletion, in this or an earlier life of the bank, has left traces."""
    return _mark(connection) is not None


def is_busy(error: sqlite3.Error) -> bool:
    """Whether the error says that someone else holds a lock."""
    name = getattr(error, "sqlite_errorname", "")
    return name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED"))


def _rewrite(connection: sqlite3.Connection, mark: str) -> None:
    small = _size(connection) <= AT_ONCE
    connection.execute(f"PRAGMA temp_store = {'MEMORY' if small else 'FILE'}")
    try:
        connection.execute("VACUUM")
    finally:
        connection.execute("PRAGMA temp_store = MEMORY")
    # A deletion by another process since then has another mark, which stays.
    connection.execute("DELETE FROM meta WHERE key = ? AND value = ?", (_DUE, mark))


def _mark(connection: sqlite3.Connection) -> str | None:
    row = connection.execute("SELECT value FROM meta WHERE key = ?", (_DUE,)).fetchone()
    return row[0] if row else None


def _size(connection: sqlite3.Connection) -> int:
    pages = connection.execute("PRAGMA page_count").fetchone()[0]
    return int(pages * connection.execute("PRAGMA page_size").fetchone()[0])
