"""Named pieces of what a bank has learned as a whole."""

from __future__ import annotations

import sqlite3
from base64 import b64encode
from datetime import datetime

from memgene.bank.protocol import Event
from memgene.bank.sqlite.codec import storable
from memgene.bank.sqlite.history import Entry, record
from memgene.core import InputError


def state(connection: sqlite3.Connection, name: str) -> bytes | None:
    """The content under this name, None when there is none."""
    if not storable(name):
        return None
    row = connection.execute("SELECT content FROM state WHERE name = ?", (name,)).fetchone()
    return row[0] if row else None


def names(connection: sqlite3.Connection) -> list[str]:
    """All names, sorted."""
    return [name for (name,) in connection.execute("SELECT name FROM state ORDER BY name")]


def set_state(
    connection: sqlite3.Connection, name: str, content: bytes | None, now: datetime
) -> None:
    """Keep the content (None: drop it); the history keeps what was there, as base64."""
    if not name or not storable(name):
        raise InputError(f"a state needs a name without lone surrogates and NUL, got {name!r}")
    before = state(connection, name)
    if content == before:
        return
    put(connection, name, content)
    held = None if before is None else b64encode(before).decode("ascii")
    record(connection, Event.STATE, [Entry("", {"name": name, "before": held})], now)


def put(connection: sqlite3.Connection, name: str, content: bytes | None) -> None:
    """Write the row, or remove it, without history."""
    if content is None:
        connection.execute("DELETE FROM state WHERE name = ?", (name,))
    else:
        sql = "INSERT OR REPLACE INTO state (name, content) VALUES (?, ?)"
        connection.execute(sql, (name, bytes(content)))
