"""Checking every derived row against the facts. Each check names what disagrees."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator

from memgene.bank.protocol import Event, Problem
from memgene.bank.sqlite.codec import (
    FROM_UNITS,
    SELECTED,
    Decoder,
    dated,
    event_key,
    needs_grams,
)
from memgene.bank.sqlite.history import digest, version
from memgene.bank.sqlite.vectors import embedder

_BATCH = 2000
_COPY = {
    "words": "fts5 (content, summary, entities, topics, owner,"
    " tokenize = 'porter unicode61 remove_diacritics 2')",
    "grams": "fts5 (content, owner, tokenize = 'trigram')",
}

_TAUGHT = (
    "(SELECT h.seq FROM lessons l JOIN history h"
    " ON h.seq BETWEEN l.first AND coalesce(l.last, 9223372036854775807))"
)
_UNDOING = (
    "(SELECT h.seq FROM lessons l JOIN history h ON h.seq BETWEEN l.undo_first AND l.undo_last)"
)
_STRAY_IMAGE = f"image IS NOT NULL AND seq NOT IN {_TAUGHT}"
_STRAY_UNDO = f"event = 'undo' AND seq NOT IN {_UNDOING}"
_NO_IMAGE = (
    f"image IS NULL AND event NOT IN ('add', 'state') AND seq IN {_TAUGHT} AND NOT EXISTS"
    " (SELECT 1 FROM history d WHERE d.unit_id = history.unit_id AND d.seq > history.seq"
    " AND d.event = 'delete')"
)


def verify(connection: sqlite3.Connection) -> list[Problem]:
    """All disagreements; must run inside a write transaction (FTS5 checks itself by writing)."""
    problems = list(_file(connection))
    checks: tuple[Callable[[sqlite3.Connection], Iterator[Problem]], ...]
    checks = (_units, _scopes, _lineage, _texts, _vectors, _hanging, _history, _states, _lessons)
    for check in checks:
        problems += check(connection)
    return problems


def _file(connection: sqlite3.Connection) -> Iterator[Problem]:
    for (text,) in connection.execute("PRAGMA integrity_check(20)").fetchall():
        if text != "ok":
            yield Problem("file", "", text)
    for table, row, parent, _ in connection.execute("PRAGMA foreign_key_check").fetchall():
        yield Problem(table, "", f"row {row} refers to a row of {parent} that does not exist")


def _units(connection: sqlite3.Connection) -> Iterator[Problem]:
    """Columns that are computed from the unit, and the last content hash of its history."""
    decoder, after = Decoder(), 0
    sql = (
        "SELECT u.identity, u.event_key, u.dated, u.unspaced, (SELECT h.content_hash FROM history h"
        " WHERE h.unit_id = u.id AND h.content_hash IS NOT NULL ORDER BY h.seq DESC LIMIT 1),"
        f" {SELECTED} FROM {FROM_UNITS} WHERE u.seq > ? ORDER BY u.seq LIMIT {_BATCH}"
    )
    while rows := connection.execute(sql, (after,)).fetchall():
        for identity, key, date, unspaced, hashed, *row in rows:
            unit = decoder.unit(tuple(row))
            after = unit.seq
            if unit.identity() != identity.hex():
                yield Problem("units", unit.id, "the stored identity is not that of the unit")
            if event_key(unit.event_time) != key:
                yield Problem("units", unit.id, "the key of the event time differs from the time")
            if dated(unit) != date:
                yield Problem("units", unit.id, f"its date is indexed as {date}")
            if needs_grams(unit) != bool(unspaced):
                yield Problem("units", unit.id, "the mark for scripts without spaces is wrong")
            if hashed is None:
                yield Problem("history", unit.id, "no row tells the content of the unit")
            elif hashed != digest(unit.content):
                yield Problem("history", unit.id, "the last content hash is not the unit's")


def _scopes(connection: sqlite3.Connection) -> Iterator[Problem]:
    rows = connection.execute(
        "SELECT num FROM scopes WHERE NOT EXISTS (SELECT 1 FROM units WHERE scope = num)"
    )
    for (number,) in rows.fetchall():
        yield Problem("scopes", "", f"scope {number} has no units left")
    for column, other in (("user_id", "owner"), ("owner", "user_id")):
        rows = connection.execute(
            f"SELECT group_concat(num) FROM scopes GROUP BY {column}"
            f" HAVING count(DISTINCT {other}) > 1"
        )
        for (numbers,) in rows.fetchall():
            yield Problem("scopes", "", f"scopes {numbers} mix up users")


def _lineage(connection: sqlite3.Connection) -> Iterator[Problem]:
    for column in ("supersedes", "superseded_by"):
        rows = connection.execute(
            f"SELECT a.id, a.{column} FROM units a WHERE a.{column} IS NOT NULL"
            f" AND NOT EXISTS (SELECT 1 FROM units b WHERE b.id = a.{column})"
        )
        for unit_id, pointer in rows.fetchall():
            yield Problem("units", unit_id, f"{column} names {pointer}, which is not stored")


def _texts(connection: sqlite3.Connection) -> Iterator[Problem]:
    for index, copy in _COPY.items():
        try:
            connection.execute(f"INSERT INTO {index} ({index}, rank) VALUES ('integrity-check', 1)")
        except sqlite3.DatabaseError as error:
            found = list(_text_rows(connection, index, copy))
            yield from found or [Problem(index, "", f"the index is damaged: {error}")]


def _text_rows(connection: sqlite3.Connection, index: str, copy: str) -> Iterator[Problem]:
    """Compare the index with a fresh one, row by row. Slow, and only for a damaged index."""
    columns = "content, owner" if index == "grams" else "content, summary, entities, topics, owner"
    script = (
        f"CREATE VIRTUAL TABLE temp.fresh USING {copy}",
        f"INSERT INTO temp.fresh (rowid, {columns}) SELECT seq, {columns} FROM {index}_source",
        "CREATE VIRTUAL TABLE temp.fresh_places USING fts5vocab (temp, fresh, instance)",
        f"CREATE VIRTUAL TABLE temp.old_places USING fts5vocab (main, {index}, instance)",
    )
    place = "doc, term, col, offset"
    try:
        for statement in script:
            connection.execute(statement)
        for here, there, what in (
            ("fresh", "old", "lacks words of the unit"),
            ("old", "fresh", "holds words that are not the unit's"),
        ):
            rows = connection.execute(
                f"SELECT DISTINCT d.doc, u.id FROM (SELECT {place} FROM temp.{here}_places"
                f" EXCEPT SELECT {place} FROM temp.{there}_places) d"
                " LEFT JOIN units u ON u.seq = d.doc ORDER BY d.doc"
            )
            for seq, unit_id in rows.fetchall():
                yield Problem(index, unit_id or "", f"row {seq} of the index {what}")
    finally:
        for table in ("fresh_places", "old_places", "fresh"):
            connection.execute(f"DROP TABLE IF EXISTS temp.{table}")


def _vectors(connection: sqlite3.Connection) -> Iterator[Problem]:
    info = embedder(connection)
    size = 4 * info.dimension if info else -1
    rows = connection.execute(
        "SELECT coalesce(u.id, ''), length(v.vector) FROM vectors v"
        " LEFT JOIN units u ON u.seq = v.seq WHERE u.seq IS NULL OR length(v.vector) <> ?",
        (size,),
    )
    for unit_id, length in rows.fetchall():
        what = f"a vector of {length} bytes, where the embedder's have {size}"
        yield Problem("vectors", unit_id, what if unit_id else "a vector without a unit")


def _hanging(connection: sqlite3.Connection) -> Iterator[Problem]:
    rows = connection.execute(
        "SELECT r.kind, coalesce(a.id, b.id, '') FROM relations r LEFT JOIN units a"
        " ON a.seq = r.source LEFT JOIN units b ON b.seq = r.target"
        " WHERE a.id IS NULL OR b.id IS NULL"
    )
    for kind, unit_id in rows.fetchall():
        yield Problem("relations", unit_id, f"a {kind} relation lacks one of its units")
    rows = connection.execute(
        "SELECT coalesce(u.id, ''), l.q, u.utility FROM learned l LEFT JOIN units u"
        " ON u.seq = l.seq WHERE u.seq IS NULL OR (l.cluster = '' AND l.q <> u.utility)"
    )
    for unit_id, q, utility in rows.fetchall():
        what = f"the value over all queries is {q}, the utility {utility}"
        yield Problem("learned", unit_id, what if unit_id else "a value without a unit")


def _history(connection: sqlite3.Connection) -> Iterator[Problem]:
    """Each stored unit was last added, each other id last deleted, and its payloads are gone."""
    lives = (
        "SELECT unit_id, max(CASE WHEN event = ? THEN seq ELSE 0 END) AS added,"
        " max(CASE WHEN event = ? THEN seq ELSE 0 END) AS deleted,"
        " count(coalesce(payload, image)) AS payloads FROM history WHERE unit_id <> ''"
        " GROUP BY unit_id"
    )
    rows = connection.execute(
        f"SELECT u.id, l.added, l.deleted FROM units u LEFT JOIN ({lives}) l ON l.unit_id = u.id"
        " WHERE l.added IS NULL OR l.added <= l.deleted",
        (Event.ADD.value, Event.DELETE.value),
    )
    for unit_id, _, _ in rows.fetchall():
        yield Problem("history", unit_id, "the unit is stored, but its history does not say so")
    rows = connection.execute(
        f"SELECT l.unit_id, l.added > l.deleted, l.payloads FROM ({lives}) l"
        " LEFT JOIN units u ON u.id = l.unit_id"
        " WHERE u.id IS NULL AND (l.added > l.deleted OR l.payloads > 0)",
        (Event.ADD.value, Event.DELETE.value),
    )
    for unit_id, alive, payloads in rows.fetchall():
        if alive:
            yield Problem("history", unit_id, "the history does not tell that the unit was deleted")
        if payloads:
            yield Problem("history", unit_id, f"{payloads} payloads of the deleted unit are left")


def _states(connection: sqlite3.Connection) -> Iterator[Problem]:
    rows = connection.execute(
        "SELECT name FROM state WHERE name NOT IN (SELECT json_extract(payload, '$.name')"
        " FROM history WHERE unit_id = '' AND event = ?)",
        (Event.STATE.value,),
    )
    for (name,) in rows.fetchall():
        yield Problem("state", "", f"the history does not tell where the state {name!r} is from")


def _lessons(connection: sqlite3.Connection) -> Iterator[Problem]:
    """Lessons and their undoings follow each other in the history, their rows hold what undoing
    needs, and no other rows do."""
    rows = connection.execute(
        "SELECT first, last, number FROM lessons WHERE last IS NOT NULL UNION ALL"
        " SELECT undo_first, undo_last, number FROM lessons WHERE undo_first <= undo_last"
        " ORDER BY 1"
    ).fetchall()
    end = 0
    for first, last, number in rows:
        if first <= end or last < first:
            yield Problem("lessons", "", f"lesson {number} is rows {first} to {last}, after {end}")
        end = max(end, last)
    if end > version(connection):
        yield Problem("lessons", "", f"the last lesson ends at row {end}, which is not there")
    for what, condition in (
        ("keeps what it replaced, but belongs to no lesson", _STRAY_IMAGE),
        ("takes a row back, but belongs to no lesson", _STRAY_UNDO),
        ("belongs to a lesson, but does not keep what it replaced", _NO_IMAGE),
    ):
        found = connection.execute(f"SELECT seq, unit_id FROM history WHERE {condition}")
        for seq, unit_id in found.fetchall():
            yield Problem("history", unit_id, f"row {seq} {what}")
