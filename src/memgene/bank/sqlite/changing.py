"""Changes to stored units: update, status, feedback, deletion."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from math import isfinite
from typing import Any

from memgene.bank.protocol import Event, Vectors
from memgene.bank.sqlite import fulltext, scopes, vectors
from memgene.bank.sqlite.codec import COLUMNS, REPLACE, encode, refusal, storable
from memgene.bank.sqlite.conditions import ANY_STATUS, chunks, conditions, marks
from memgene.bank.sqlite.history import Entry, differences, digest, in_lesson, record
from memgene.bank.sqlite.images import Image
from memgene.bank.sqlite.reading import by_id, by_identity, matching, seqs_by_id
from memgene.bank.unit import MemoryUnit, UnitStatus
from memgene.core import InputError, NotFoundError, Scope

_EVENTS = {
    UnitStatus.ACTIVE: Event.RESTORE,
    UnitStatus.ARCHIVED: Event.ARCHIVE,
    UnitStatus.SUPERSEDED: Event.SUPERSEDE,
}


def update(
    connection: sqlite3.Connection, unit: MemoryUnit, vector: Vectors | None, now: datetime
) -> MemoryUnit:
    """Replace a unit. A vector of its former text is dropped when no new one is given."""
    found = by_id(connection, [unit.id])
    if not found:
        raise NotFoundError(f"no unit {unit.id!r} is stored; add it first")
    if wrong := refusal(unit):
        raise InputError(f"the unit cannot be stored: {wrong}")
    stored = found[0]
    twin = by_identity(connection, [unit.identity()]).get(unit.identity())
    if twin not in (None, unit.id):
        raise InputError(f"an equal unit is stored already: {twin}; delete one of the two")
    outdated = vector is None and stored.spoken != unit.spoken
    changed = replace_unit(connection, stored, unit, Event.UPDATE, now, drop_vector=outdated)
    if vector is not None:
        _set_vector(connection, changed, vector, now)
    return changed


def replace_unit(
    connection: sqlite3.Connection,
    stored: MemoryUnit,
    unit: MemoryUnit,
    event: Event,
    now: datetime,
    *,
    drop_vector: bool = False,
) -> MemoryUnit:
    """Write `unit` over `stored` with one history row; nothing at all if they are equal."""
    unit = replace(unit, id=stored.id, seq=stored.seq, created=unit.created or stored.created)
    before = differences(stored, unit)
    if not before:
        return stored
    unit = replace(unit, updated=now)
    number = scopes.numbers(connection, [unit.scope])[unit.scope]
    row = encode(unit, unit.id, unit.identity(), number, now.isoformat())
    image = _image(connection, unit.seq, row, drop_vector)
    former = scopes.numbers_of(connection, [unit.seq])
    fulltext.unindex_units(connection, [unit.seq])
    connection.execute(REPLACE, (*row, unit.seq))
    fulltext.index_units(connection, [unit.seq])
    scopes.drop_unused(connection, former - {number})
    if "utility" in before:
        connection.execute(
            "UPDATE learned SET q = ? WHERE seq = ? AND cluster = ''", (unit.utility, unit.seq)
        )
    if drop_vector:
        connection.execute("DELETE FROM vectors WHERE seq = ?", (unit.seq,))
    entry = Entry(unit.id, {"before": before}, digest(unit.content), image)
    record(connection, event, [entry], now)
    return unit


def _image(
    connection: sqlite3.Connection, seq: int, row: Sequence[Any], drop_vector: bool
) -> Image:
    """What writing this row over the stored one replaces."""
    sql = f"SELECT {', '.join(COLUMNS)} FROM units WHERE seq = ?"
    stored = connection.execute(sql, (seq,)).fetchone()
    columns = {name: old for name, old, new in zip(COLUMNS, stored, row, strict=True) if old != new}
    scope = value = None
    if "scope" in columns:
        scope = scopes.row(connection, columns["scope"])
    if "utility" in columns:
        value = connection.execute(
            "SELECT cluster, q, exposures FROM learned WHERE seq = ? AND cluster = ''", (seq,)
        ).fetchone()
    vector = vectors.of_unit(connection, seq) if drop_vector else None
    return Image(columns, scope, (vector,) if drop_vector else None, value)


def set_status(
    connection: sqlite3.Connection,
    ids: Sequence[str],
    status: UnitStatus,
    superseded_by: str | None,
    now: datetime,
) -> int:
    """Change the status where it differs. Restoring clears `superseded_by`; archiving keeps it."""
    if superseded_by is not None:
        if status is not UnitStatus.SUPERSEDED or superseded_by in ids:
            raise InputError("superseded_by names another unit that supersedes these")
        if not seqs_by_id(connection, [superseded_by]):
            raise NotFoundError(f"no unit {superseded_by!r} is stored; add it first")
    rows: list[tuple[int, str, str, str | None, str]] = []
    for some in chunks(list(dict.fromkeys(filter(storable, ids)))):
        sql = (
            f"SELECT seq, id, status, superseded_by, updated FROM units WHERE id IN ({marks(some)})"
        )
        rows += connection.execute(sql, some)
    changes = []
    for seq, unit_id, old, pointer, updated in rows:
        new = None if status is UnitStatus.ACTIVE else superseded_by or pointer
        if (old, pointer) != (status.value, new):
            before = {"status": old, "superseded_by": pointer}
            image = Image({**before, "updated": updated})
            changes.append((seq, new, Entry(unit_id, {"before": before}, image=image)))
    seqs = [seq for seq, _, _ in changes]
    fulltext.unindex_units(connection, seqs)
    connection.executemany(
        "UPDATE units SET status = ?, superseded_by = ?, updated = ? WHERE seq = ?",
        [(status.value, new, now.isoformat(), seq) for seq, new, _ in changes],
    )
    fulltext.index_units(connection, seqs)
    record(connection, _EVENTS[status], (entry for _, _, entry in changes), now)
    return len(changes)


def touch(
    connection: sqlite3.Connection,
    parts: Mapping[str, float],
    reward: float,
    query: str | None,
    now: datetime,
) -> None:
    """Count one access of each unit; the history row keeps reward, query, and a part (attribution)
    that is not the whole."""
    if not isfinite(reward) or not storable(query or ""):
        raise InputError("feedback needs a finite reward and a query without lone surrogates")
    if not all(0 <= part <= 1 for part in parts.values()):
        raise InputError(f"feedback needs attributions in [0, 1], got {sorted(parts.values())}")
    former = _accesses(connection, list(parts))
    missing = [unit_id for unit_id in parts if unit_id not in former]
    if missing:
        raise NotFoundError(f"no unit {missing[0]!r} is stored")
    connection.executemany(
        "UPDATE units SET access_count = access_count + 1, last_accessed = ? WHERE id = ?",
        [(now.isoformat(), unit_id) for unit_id in parts],
    )
    said: dict[str, Any] = {"reward": reward} | ({"query": query} if query is not None else {})
    entries = (
        Entry(
            unit_id,
            said if part == 1 else {**said, "attribution": part},
            image=Image(former[unit_id]),
        )
        for unit_id, part in parts.items()
    )
    record(connection, Event.FEEDBACK, entries, now)


def _accesses(connection: sqlite3.Connection, ids: Sequence[str]) -> dict[str, dict[str, Any]]:
    """The access columns of the units that are stored."""
    found: dict[str, dict[str, Any]] = {}
    for some in chunks(list(filter(storable, ids))):
        sql = f"SELECT id, access_count, last_accessed FROM units WHERE id IN ({marks(some)})"
        for unit_id, count, moment in connection.execute(sql, some):
            found[unit_id] = {"access_count": count, "last_accessed": moment}
    return found


def delete(
    connection: sqlite3.Connection, ids: Sequence[str], scope: Scope | None, now: datetime
) -> int:
    """Erase units with everything derived from them; their history keeps no payload.

    The caller must scrub the text indices before it commits.
    """
    if in_lesson(connection):
        raise InputError(
            "a deletion leaves nothing to take back, so no lesson can delete; archive the units "
            "(set_status), or delete them outside of the lesson"
        )
    admitted = conditions(connection, scope, ANY_STATUS)
    seqs = matching(connection, admitted, 0, ids=ids)
    if not seqs:
        return 0
    gone: dict[str, tuple[str | None, str | None]] = {}
    for some in chunks(seqs):
        sql = f"SELECT id, supersedes, superseded_by FROM units WHERE seq IN ({marks(some)})"
        gone.update((row[0], (row[1], row[2])) for row in connection.execute(sql, some))
    left = scopes.numbers_of(connection, seqs)
    fulltext.unindex_units(connection, seqs)
    for some in chunks(seqs):  # vectors, relations and values go with their unit
        connection.execute(f"DELETE FROM units WHERE seq IN ({marks(some)})", some)
    for names in chunks(list(gone)):
        connection.execute(
            f"UPDATE history SET payload = NULL, image = NULL WHERE unit_id IN ({marks(names)})"
            " AND (payload IS NOT NULL OR image IS NOT NULL)",
            names,
        )
    _relink(connection, gone, now)
    scopes.drop_unused(connection, left)
    record(connection, Event.DELETE, map(Entry, gone), now)
    return len(seqs)


def _relink(
    connection: sqlite3.Connection,
    gone: dict[str, tuple[str | None, str | None]],
    now: datetime,
) -> None:
    """Close the gaps that deleted units leave in chains of supersession."""
    for place, column in enumerate(("supersedes", "superseded_by")):
        rows: list[tuple[int, str, str]] = []
        for some in chunks(list(gone)):
            sql = f"SELECT seq, id, {column} FROM units WHERE {column} IN ({marks(some)})"
            rows += connection.execute(sql, some)
        entries = []
        for seq, unit_id, old in rows:
            new: str | None = old
            seen = {unit_id}
            while new in gone and new not in seen:
                seen.add(new)
                new = gone[new][place]
            new = None if new in seen else new
            connection.execute(f"UPDATE units SET {column} = ? WHERE seq = ?", (new, seq))
            entries.append(Entry(unit_id, {"before": {column: old}}))
        record(connection, Event.UPDATE, entries, now)


def _set_vector(
    connection: sqlite3.Connection, unit: MemoryUnit, vector: Vectors, now: datetime
) -> None:
    matrix = vectors.checked(vector.reshape(1, -1), 1, vectors.embedder(connection))
    old = vectors.of_unit(connection, unit.seq)
    if old == matrix.tobytes():
        return
    vectors.store(connection, [unit.seq], matrix)
    record(connection, Event.REEMBED, [Entry(unit.id, image=Image(vector=(old,)))], now)
