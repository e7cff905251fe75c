"""The append-only log of every mutation. Its last number is the version of the bank."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, fields
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any

from memgene.bank.protocol import Event, HistoryRow
from memgene.bank.sqlite.codec import event_key, storable, to_json
from memgene.bank.sqlite.images import Image
from memgene.bank.unit import MemoryUnit
from memgene.core import Clock, InputError, Scope

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Entry:
    """One row to write; `digest` (SHA-256 of the content) where the content was set, `image` (what
    the change replaced) for undo."""

    unit_id: str
    payload: Mapping[str, Any] | None = None
    digest: bytes | None = None
    image: Image | None = None


def record(
    connection: sqlite3.Connection, event: Event, entries: Iterable[Entry], now: datetime
) -> None:
    """Write one row per entry, in the transaction of the change itself. Images are kept of
    lessons only: nothing else is ever undone."""
    moment, name = event_key(now), event.value
    keep = in_lesson(connection)
    connection.executemany(
        "INSERT INTO history (event, unit_id, time, content_hash, payload, image)"
        " VALUES (?, ?, ?, ?, ?, ?)",
        (
            (
                name,
                e.unit_id,
                moment,
                e.digest,
                None if e.payload is None else to_json(e.payload),
                e.image.to_json() if keep and e.image else None,
            )
            for e in entries
        ),
    )


def in_lesson(connection: sqlite3.Connection) -> bool:
    """Whether the open transaction is giving a lesson (no other connection sees it begun)."""
    row = connection.execute(
        "SELECT last IS NULL FROM lessons ORDER BY number DESC LIMIT 1"
    ).fetchone()
    return bool(row and row[0])


def digest(content: str) -> bytes:
    """SHA-256 of a unit's content."""
    return sha256(content.encode()).digest()


def moment_of(clock: Clock) -> datetime:
    """The present, which must carry a time zone."""
    now = clock.now()
    if now.tzinfo is None:
        raise InputError(f"the bank's clock must give times with a zone, got {now.isoformat()}")
    return now


def moment_at(key: int) -> datetime:
    """The time of a row, in UTC."""
    return _EPOCH + timedelta(microseconds=key)


def differences(old: MemoryUnit, new: MemoryUnit) -> dict[str, Any]:
    """The former values of all fields that differ, as JSON can hold them."""
    names = (f.name for f in fields(MemoryUnit) if f.name not in ("seq", "updated"))
    changed = ((name, getattr(old, name)) for name in names if _differs(old, new, name))
    return {name: _plain(value) for name, value in changed}


def version(connection: sqlite3.Connection) -> int:
    """Number of the last row, 0 in an empty bank."""
    found: int | None = connection.execute("SELECT max(seq) FROM history").fetchone()[0]
    return found or 0


def changed_since(
    connection: sqlite3.Connection, since: int, apart: Collection[Event] = ()
) -> frozenset[str]:
    """Ids of units in all rows after `since` but those of the kinds `apart`; rows about the whole
    bank have none."""
    kinds = sorted(kind.value for kind in apart)
    # not DISTINCT: SQLite would walk the index by unit for it, which is the whole log, not its end
    rows = connection.execute(
        "SELECT unit_id FROM history NOT INDEXED WHERE seq > ?"
        f" AND event NOT IN ({', '.join('?' * len(kinds))})",
        (since, *kinds),
    )
    return frozenset(unit_id for (unit_id,) in rows if unit_id)


def read(connection: sqlite3.Connection, unit_id: str) -> list[HistoryRow]:
    """All rows of one unit, oldest first."""
    if not storable(unit_id):
        return []
    rows = connection.execute(
        "SELECT seq, event, unit_id, time, content_hash, payload FROM history"
        " WHERE unit_id = ? ORDER BY seq",
        (unit_id,),
    )
    return _rows(rows)


def of_kind(connection: sqlite3.Connection, event: Event, after: int) -> list[HistoryRow]:
    """All rows of one kind after a number, oldest first."""
    rows = connection.execute(
        "SELECT seq, event, unit_id, time, content_hash, payload FROM history"
        " WHERE seq > ? AND event = ? ORDER BY seq",
        (after, event.value),
    )
    return _rows(rows)


def _rows(found: Iterable[tuple[Any, ...]]) -> list[HistoryRow]:
    return [
        HistoryRow(
            seq,
            Event(event),
            unit,
            moment_at(time),
            content_hash.hex() if content_hash else None,
            json.loads(payload) if payload else None,
        )
        for seq, event, unit, time, content_hash, payload in found
    ]


def _differs(old: MemoryUnit, new: MemoryUnit, name: str) -> bool:
    """Equal times in different zones, or 1 and True in metadata, differ: both are kept as given."""
    before, after = getattr(old, name), getattr(new, name)
    if name == "metadata":
        return to_json(before) != to_json(after)
    if isinstance(before, datetime) and isinstance(after, datetime):
        return before.isoformat() != after.isoformat()
    return bool(before != after)


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Scope):
        return {"user_id": value.user_id, "agent_id": value.agent_id, "run_id": value.run_id}
    return value
