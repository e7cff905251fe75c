"""Taking a lesson back: what its mutations replaced is put back exactly as it was stored.

That needs its units and states to be as it left them: nothing but lessons that were taken back
themselves may have changed them since. Deletion is the exception. What was deleted stays deleted,
and the lesson's rows about it, edges of other units to it among them, are passed over.
"""

from __future__ import annotations

import json
import sqlite3
from base64 import b64decode
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from memgene.bank.protocol import Event, Lesson
from memgene.bank.sqlite.conditions import chunks, marks
from memgene.bank.sqlite.history import Entry, digest, in_lesson, record, version
from memgene.bank.sqlite.images import Image
from memgene.bank.sqlite.restoring import Former, restore
from memgene.core import InputError, NotFoundError

_POINTERS = ("supersedes", "superseded_by")


@dataclass(frozen=True, slots=True)
class _Row:
    """A history row of the lesson; `state` is the name of the state it is about."""

    seq: int
    event: str
    unit_id: str
    image: Image
    state: str | None = None
    content: bytes | None = None

    def named(self) -> set[str]:
        """The units whose deletion would leave nothing to put back, or less."""
        ids = {self.unit_id, *(self.image.columns.get(name) for name in _POINTERS)}
        return {i for i in ids | ({self.image.edge[0]} if self.image.edge else set()) if i}


def undo(connection: sqlite3.Connection, lesson: Lesson, now: datetime) -> tuple[int, bool]:
    """Take the lesson back: how many rows, and whether units were erased with it (then the caller
    must scrub the text indices). Raises InputError with the reason why it cannot be."""
    _check_newest(connection, lesson)
    rows = _rows(connection, lesson)
    gone = _deleted_since(connection, lesson, rows)
    kept = [
        row
        for row in rows
        if row.unit_id not in gone and not (row.image.edge and row.image.edge[0] in gone)
    ]
    _check_unchanged(connection, lesson, kept)
    first = version(connection) + 1
    record(connection, Event.UNDO, (_entry(lesson, row) for row in kept), now)
    former = _collected(kept, gone)
    restore(connection, former, lesson, now)
    connection.execute(
        "UPDATE lessons SET undo_first = ?, undo_last = ? WHERE number = ?",
        (first, version(connection), lesson.number),
    )
    return len(kept), bool(former.added)


def _check_newest(connection: sqlite3.Connection, lesson: Lesson) -> None:
    if in_lesson(connection):
        raise InputError("a lesson is being given; finish it before one is taken back")
    number = lesson.number
    stored = connection.execute(
        "SELECT kind, first, last, undo_first IS NOT NULL FROM lessons WHERE number = ?", (number,)
    ).fetchone()
    if stored is None or stored[:3] != (lesson.kind, lesson.first, lesson.last):
        raise NotFoundError(f"this bank has no lesson {number} like {lesson}; see lessons()")
    if stored[3]:
        raise InputError(f"lesson {number} ({lesson.kind}) was taken back before")
    later = connection.execute(
        "SELECT number, kind FROM lessons WHERE number > ? AND undo_first IS NULL"
        " ORDER BY number DESC LIMIT 1",
        (number,),
    ).fetchone()
    if later:
        raise InputError(
            f"lesson {number} ({lesson.kind}) is not the newest that stands; take back lesson "
            f"{later[0]} ({later[1]}) first"
        )


def _rows(connection: sqlite3.Connection, lesson: Lesson) -> list[_Row]:
    """The rows of the lesson, newest first."""
    found = connection.execute(
        "SELECT seq, event, unit_id, image, CASE event WHEN 'state' THEN payload END FROM history"
        " WHERE seq BETWEEN ? AND ? ORDER BY seq DESC",
        (lesson.first, lesson.last),
    )
    rows = []
    for seq, event, unit_id, image, payload in found:
        row = _Row(seq, event, unit_id, Image.from_json(image) if image else Image())
        if payload:
            said = json.loads(payload)
            content = None if said["before"] is None else b64decode(said["before"])
            row = _Row(seq, event, unit_id, Image(), said["name"], content)
        rows.append(row)
    return rows


def _deleted_since(
    connection: sqlite3.Connection, lesson: Lesson, rows: Sequence[_Row]
) -> frozenset[str]:
    """Units that the lesson knew and that are gone, whatever has their ids today."""
    gone: set[str] = set()
    for some in chunks(sorted(set().union(*(row.named() for row in rows)))):
        sql = (
            f"SELECT unit_id FROM history WHERE unit_id IN ({marks(some)}) AND seq > ?"
            " AND event = 'delete'"
        )
        gone.update(unit_id for (unit_id,) in connection.execute(sql, (*some, lesson.last)))
    return frozenset(gone)


def _check_unchanged(connection: sqlite3.Connection, lesson: Lesson, rows: Sequence[_Row]) -> None:
    """Nothing but what was taken back has changed the units and states of these rows since."""
    ranges = sorted(
        pair
        for first, last, undo_first, undo_last in connection.execute(
            "SELECT first, last, undo_first, undo_last FROM lessons WHERE number > ?",
            (lesson.number,),
        )
        for pair in ((first, last), (undo_first, undo_last))
    )
    starts = [first for first, _ in ranges]

    def taken_back(seq: int) -> bool:
        place = bisect_right(starts, seq)
        return place > 0 and seq <= ranges[place - 1][1]

    states = {row.state for row in rows if row.state}
    for some in chunks(sorted({row.unit_id for row in rows})):
        sql = (
            "SELECT seq, unit_id, event,"
            " CASE unit_id WHEN '' THEN json_extract(payload, '$.name') END"
            f" FROM history WHERE unit_id IN ({marks(some)}) AND seq > ? ORDER BY seq"
        )
        for seq, unit_id, event, state in connection.execute(sql, (*some, lesson.last)):
            if taken_back(seq) or (not unit_id and state not in states):
                continue
            what = f"unit {unit_id}" if unit_id else f"the state {state!r}"
            raise InputError(
                f"lesson {lesson.number} ({lesson.kind}) cannot be taken back: {what} was changed "
                f"since by something other than a lesson ({event})"
            )


def _entry(lesson: Lesson, row: _Row) -> Entry:
    content = row.image.columns.get("content")
    payload = {"lesson": lesson.number, "row": row.seq}
    return Entry(row.unit_id, payload, None if content is None else digest(content))


def _collected(rows: Sequence[_Row], gone: frozenset[str]) -> Former:
    """What stood before all rows (newest first): of several images of one place the oldest."""
    former = Former()
    for row in rows:
        image, unit_id = row.image, row.unit_id
        if row.event == Event.ADD:
            former.added[unit_id] = None
        if row.state:
            former.states[row.state] = row.content
        if image.columns:
            former.columns.setdefault(unit_id, {}).update(
                (name, None if name in _POINTERS and value in gone else value)
                for name, value in image.columns.items()
            )
        if image.scope:
            former.scopes[image.scope[0]] = image.scope
        if image.vector:
            former.vectors[unit_id] = image.vector[0]
        if image.value:
            cluster, q, exposures = image.value
            former.values[unit_id, cluster] = (
                None if q is None or exposures is None else (q, exposures)
            )
        if image.edge:
            target, kind, weight = image.edge
            former.edges[unit_id, target, kind] = weight
    return former
