"""Lessons: which rows of the history belong together and can be taken back as a whole."""

from __future__ import annotations

import sqlite3
from datetime import datetime

from memgene.bank.protocol import Lesson
from memgene.bank.sqlite.codec import event_key, storable
from memgene.bank.sqlite.history import in_lesson, moment_at, version
from memgene.core import InputError

_COLUMNS = "number, kind, time, first, last, undo_first IS NOT NULL"
_EMBEDDER = "(SELECT value FROM meta WHERE key = 'embedder')"


def begin(connection: sqlite3.Connection, kind: str, now: datetime) -> None:
    """Open a lesson in the caller's transaction; what is recorded until `end` belongs to it."""
    if not kind or not storable(kind):
        raise InputError(f"a lesson needs a kind, such as 'feedback', got {kind!r}")
    if in_lesson(connection):
        raise InputError("a lesson is being given already; lessons do not nest")
    connection.execute(
        f"INSERT INTO lessons (kind, time, first, embedder_before) VALUES (?, ?, ?, {_EMBEDDER})",
        (kind, event_key(now), version(connection) + 1),
    )


def end(connection: sqlite3.Connection) -> None:
    """Close the lesson; one that recorded nothing leaves nothing behind."""
    last = version(connection)
    connection.execute("DELETE FROM lessons WHERE last IS NULL AND first > ?", (last,))
    connection.execute(
        f"UPDATE lessons SET last = ?, embedder_after = {_EMBEDDER} WHERE last IS NULL", (last,)
    )


def lessons(connection: sqlite3.Connection, limit: int, undone: bool) -> list[Lesson]:
    """The newest lessons, newest first."""
    standing = "" if undone else "AND undo_first IS NULL"
    rows = connection.execute(
        f"SELECT {_COLUMNS} FROM lessons WHERE last IS NOT NULL {standing}"
        " ORDER BY number DESC LIMIT ?",
        (max(limit, 0),),
    )
    return [
        Lesson(number, kind, moment_at(time), first, last, bool(gone))
        for number, kind, time, first, last, gone in rows
    ]
