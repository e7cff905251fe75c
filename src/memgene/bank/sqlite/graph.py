"""What hangs on units and is learned: typed relations, and values per kind of query."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from datetime import datetime
from math import isfinite
from typing import Any

from memgene.bank.protocol import Event, Relation, RelationKind, Value
from memgene.bank.sqlite.codec import storable
from memgene.bank.sqlite.conditions import chunks, marks
from memgene.bank.sqlite.history import Entry, record
from memgene.bank.sqlite.reading import seqs_by_id
from memgene.core import InputError, NotFoundError


def relate(connection: sqlite3.Connection, relations: Sequence[Relation], now: datetime) -> int:
    """Add edges, or give those that are there a new weight; equal ones are left alone."""
    for edge in relations:
        if edge.source_id == edge.target_id or not isfinite(edge.weight):
            raise InputError(f"a relation needs two units and a finite weight, got {edge}")
    seqs = _stored(connection, [i for e in relations for i in (e.source_id, e.target_id)])
    written = []
    for edge in relations:
        changed = connection.execute(
            "INSERT INTO relations (source, target, kind, weight) VALUES (?, ?, ?, ?)"
            " ON CONFLICT (source, target, kind) DO UPDATE SET weight = excluded.weight"
            " WHERE weight <> excluded.weight",
            (seqs[edge.source_id], seqs[edge.target_id], edge.kind.value, edge.weight),
        ).rowcount
        if changed:
            written.append(edge)
    entries = (
        Entry(e.source_id, {"kind": e.kind, "target": e.target_id, "weight": e.weight})
        for e in written
    )
    record(connection, Event.RELATE, entries, now)
    return len(written)


def relations(
    connection: sqlite3.Connection, ids: Sequence[str], kinds: Sequence[RelationKind]
) -> list[Relation]:
    """Edges that touch any of these units, each once, by insertion order of their ends."""
    seqs = list(seqs_by_id(connection, ids).values())
    wanted = [kind.value for kind in kinds or RelationKind]
    found: set[tuple[int, int, str, float, str, str]] = set()
    for end in ("source", "target"):
        for some in chunks(seqs):
            found.update(
                connection.execute(
                    "SELECT r.source, r.target, r.kind, r.weight, a.id, b.id FROM relations r"
                    " JOIN units a ON a.seq = r.source JOIN units b ON b.seq = r.target"
                    f" WHERE r.{end} IN ({marks(some)}) AND r.kind IN ({marks(wanted)})",
                    (*some, *wanted),
                )
            )
    return [
        Relation(RelationKind(kind), source_id, target_id, weight)
        for _, _, kind, weight, source_id, target_id in sorted(found)
    ]


def set_values(
    connection: sqlite3.Connection, values: Sequence[Value], event: Event, now: datetime
) -> None:
    """Write values that differ from the stored ones; the history keeps what they replace."""
    for value in values:
        if not (0.0 <= value.q <= 1.0 or (value.cluster and isfinite(value.q))):
            raise InputError(f"a value over all queries must lie in [0, 1], got {value}")
        if value.exposures < 0 or not storable(value.cluster):
            raise InputError(f"a value needs exposures from 0 and a storable cluster, got {value}")
    seqs = _stored(connection, [value.unit_id for value in values])
    entries = []
    for value in values:
        seq = seqs[value.unit_id]
        row = connection.execute(
            "SELECT q, exposures FROM learned WHERE seq = ? AND cluster = ?", (seq, value.cluster)
        ).fetchone()
        if row == (value.q, value.exposures):
            continue
        payload: dict[str, Any] = {
            "cluster": value.cluster,
            "q": value.q,
            "exposures": value.exposures,
        }
        if row:
            payload["before"] = {"q": row[0], "exposures": row[1]}
        connection.execute(
            "INSERT OR REPLACE INTO learned (seq, cluster, q, exposures) VALUES (?, ?, ?, ?)",
            (seq, value.cluster, value.q, value.exposures),
        )
        if value.cluster == "":
            connection.execute("UPDATE units SET utility = ? WHERE seq = ?", (value.q, seq))
        entries.append(Entry(value.unit_id, payload))
    record(connection, event, entries, now)


def values(connection: sqlite3.Connection, ids: Sequence[str]) -> list[Value]:
    """All values of these units, in the order of the units asked, then by cluster."""
    found: dict[str, list[Value]] = {}
    for some in chunks(list(dict.fromkeys(filter(storable, ids)))):
        sql = (
            "SELECT u.id, l.cluster, l.q, l.exposures FROM units u"
            f" JOIN learned l ON l.seq = u.seq WHERE u.id IN ({marks(some)}) ORDER BY l.cluster"
        )
        for row in connection.execute(sql, some):
            found.setdefault(row[0], []).append(Value(*row))
    return [value for unit_id in dict.fromkeys(ids) for value in found.get(unit_id, ())]


def _stored(connection: sqlite3.Connection, ids: Sequence[str]) -> dict[str, int]:
    seqs = seqs_by_id(connection, ids)
    missing = sorted(set(ids) - seqs.keys())
    if missing:
        raise NotFoundError(f"no unit {missing[0]!r} is stored; add it first")
    return seqs
