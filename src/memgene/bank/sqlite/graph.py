"""What hangs on units and is learned: typed relations, and values per kind of query."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from datetime import datetime
from math import isfinite
from typing import Any

from memgene.bank.protocol import Event, Filter, Relation, RelationKind, Value
from memgene.bank.sqlite.codec import storable
from memgene.bank.sqlite.conditions import ANY_STATUS, conditions, marks, sets
from memgene.bank.sqlite.history import Entry, in_lesson, record
from memgene.bank.sqlite.images import Image
from memgene.bank.sqlite.reading import seqs_by_id
from memgene.core import InputError, NotFoundError, Scope

_Edge = tuple[int, int, str]
"""Source, target and kind, as the table keeps them."""


def relate(connection: sqlite3.Connection, relations: Sequence[Relation], now: datetime) -> int:
    """Add edges, or give those that are there a new weight; equal ones are left alone."""
    for edge in relations:
        if edge.source_id == edge.target_id or not isfinite(edge.weight):
            raise InputError(f"a relation needs two units and a finite weight, got {edge}")
    seqs = _stored(connection, [i for e in relations for i in (e.source_id, e.target_id)])
    weights: dict[_Edge, float | None] = {}
    entries = []
    for edge in relations:
        key = seqs[edge.source_id], seqs[edge.target_id], edge.kind.value
        before = weights[key] if key in weights else _weight(connection, key)
        if edge.weight != before:
            weights[key] = edge.weight
            payload = {"kind": edge.kind, "target": edge.target_id, "weight": edge.weight}
            image = Image(edge=(edge.target_id, edge.kind, before))
            entries.append(Entry(edge.source_id, payload, image=image))
    connection.executemany(
        "INSERT OR REPLACE INTO relations (source, target, kind, weight) VALUES (?, ?, ?, ?)",
        [(*key, weight) for key, weight in weights.items()],
    )
    record(connection, Event.RELATE, entries, now)
    return len(entries)


def unrelate(connection: sqlite3.Connection, relations: Sequence[Relation], now: datetime) -> int:
    """Remove edges; those that are not there are passed over."""
    seqs = seqs_by_id(connection, [i for e in relations for i in (e.source_id, e.target_id)])
    keys: dict[_Edge, None] = {}
    entries = []
    for edge in relations:
        if edge.source_id not in seqs or edge.target_id not in seqs:
            continue
        key = seqs[edge.source_id], seqs[edge.target_id], edge.kind.value
        weight = None if key in keys else _weight(connection, key)
        if weight is not None:
            keys[key] = None
            payload = {"kind": edge.kind, "target": edge.target_id, "weight": weight}
            image = Image(edge=(edge.target_id, edge.kind, weight))
            entries.append(Entry(edge.source_id, payload, image=image))
    connection.executemany(
        "DELETE FROM relations WHERE source = ? AND target = ? AND kind = ?", list(keys)
    )
    record(connection, Event.UNRELATE, entries, now)
    return len(entries)


def relations(
    connection: sqlite3.Connection, ids: Sequence[str], kinds: Sequence[RelationKind]
) -> list[Relation]:
    """Edges that touch any of these units, each once, by insertion order of their ends."""
    seqs = seqs_by_id(connection, ids)
    wanted = {kind.value: kind for kind in kinds or RelationKind}
    found = _edges(connection, list(seqs.values()), tuple(wanted))
    names = {seq: unit_id for unit_id, seq in seqs.items()}
    others = {edge[0] for edge in found}.union([edge[1] for edge in found]) - names.keys()
    for some in sets(sorted(others)):
        sql = f"SELECT seq, id FROM units WHERE seq IN ({marks(some)})"
        names.update(connection.execute(sql, some))
    return [  # without units that another process deleted in this moment
        Relation(wanted[kind], names[source], names[target], weight)
        for source, target, kind, weight in found
        if source in names and target in names
    ]


def _edges(
    connection: sqlite3.Connection, seqs: Sequence[int], kinds: Sequence[str]
) -> list[tuple[int, int, str, float]]:
    """Source, target, kind and weight of edges that touch any of these units, in this order."""
    slices = list(sets(seqs))
    found: list[tuple[int, int, str, float]] = []
    for some in slices:
        touching = (
            f"SELECT source, target, kind, weight FROM relations WHERE %s IN ({marks(some)})"
            f" AND kind IN ({marks(kinds)})"
        )
        sql = f"{touching % 'source'} UNION {touching % 'target'} ORDER BY 1, 2, 3"
        found += connection.execute(sql, (*some, *kinds) * 2)
    return found if len(slices) < 2 else sorted(set(found))


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
    rows = _learned(connection, list(seqs.values()))
    entries: list[Entry] = []
    kept = in_lesson(connection)  # images serve nobody else
    overall = [seqs[value.unit_id] for value in values if not value.cluster]
    utilities = _utilities(connection, overall) if kept else {}
    written: dict[tuple[int, str], tuple[float, int]] = {}
    for value in values:
        seq, new = seqs[value.unit_id], (value.q, value.exposures)
        key = seq, value.cluster
        before = rows.get(key)
        if before == new:
            continue
        rows[key] = written[key] = new
        columns: dict[str, float] = {}
        if kept and not value.cluster:
            columns["utility"], utilities[seq] = utilities[seq], value.q
        entries.append(_value_entry(value, before, columns if kept else None))
    connection.executemany(
        "INSERT INTO learned (seq, cluster, q, exposures) VALUES (?, ?, ?, ?)"
        " ON CONFLICT (seq, cluster) DO UPDATE SET q = excluded.q, exposures = excluded.exposures",
        [(*key, *new) for key, new in sorted(written.items())],
    )
    connection.executemany(
        "UPDATE units SET utility = ? WHERE seq = ?",
        [(q, seq) for (seq, cluster), (q, _) in sorted(written.items()) if not cluster],
    )
    record(connection, event, entries, now)


def utilities(
    connection: sqlite3.Connection, ids: Sequence[str], scope: Scope | None, where: Filter | None
) -> dict[str, float]:
    """Utility of each of these units that the scope and the filter admit."""
    admitted = conditions(connection, scope, where)
    found: dict[str, float] = {}
    if admitted.nothing:
        return found
    for some in sets(list(dict.fromkeys(filter(storable, ids)))):
        condition = admitted.sql(f"u.id IN ({marks(some)})")
        sql = f"SELECT u.id, u.utility FROM units u WHERE {condition}"
        found.update(connection.execute(sql, (*admitted.parameters, *some)))
    return found


def values(connection: sqlite3.Connection, ids: Sequence[str], *, by_kind: bool) -> list[Value]:
    """Values of these units, in the order of the units asked, then by cluster; `by_kind`: without
    those over all queries."""
    clusters = "AND l.cluster > ''" if by_kind else ""
    found: dict[str, list[Value]] = {}
    for some in sets(list(dict.fromkeys(filter(storable, ids)))):
        sql = (
            "SELECT u.id, l.cluster, l.q, l.exposures FROM units u"
            f" JOIN learned l ON l.seq = u.seq {clusters} WHERE u.id IN ({marks(some)})"
            " ORDER BY l.cluster"
        )
        for row in connection.execute(sql, some):
            found.setdefault(row[0], []).append(Value(*row))
    return [value for unit_id in dict.fromkeys(ids) for value in found.get(unit_id, ())]


def all_values(connection: sqlite3.Connection, scope: Scope | None) -> list[Value]:
    """All values of the admitted units, by insertion order of the units, then by cluster."""
    admitted = conditions(connection, scope, ANY_STATUS)
    if admitted.nothing:
        return []
    sql = (
        "SELECT u.id, l.cluster, l.q, l.exposures FROM learned l CROSS JOIN units u"
        f" ON u.seq = l.seq WHERE {admitted.sql()} ORDER BY l.seq, l.cluster"
    )
    return [Value(*row) for row in connection.execute(sql, admitted.parameters)]


def _weight(connection: sqlite3.Connection, key: _Edge) -> float | None:
    sql = "SELECT weight FROM relations WHERE source = ? AND target = ? AND kind = ?"
    row = connection.execute(sql, key).fetchone()
    return row[0] if row else None


def _learned(
    connection: sqlite3.Connection, seqs: Sequence[int]
) -> dict[tuple[int, str], tuple[float, int]]:
    """All values of these units, as they are stored."""
    found: dict[tuple[int, str], tuple[float, int]] = {}
    for some in sets(seqs):
        sql = f"SELECT seq, cluster, q, exposures FROM learned WHERE seq IN ({marks(some)})"
        for seq, cluster, q, exposures in connection.execute(sql, some):
            found[seq, cluster] = q, exposures
    return found


def _utilities(connection: sqlite3.Connection, seqs: Sequence[int]) -> dict[int, float]:
    found: dict[int, float] = {}
    for some in sets(seqs):
        sql = f"SELECT seq, utility FROM units WHERE seq IN ({marks(some)})"
        found.update(connection.execute(sql, some))
    return found


def _value_entry(
    value: Value, before: tuple[float, int] | None, columns: dict[str, float] | None
) -> Entry:
    """`columns` are those of the unit's row before the change; None: nobody will undo it."""
    payload: dict[str, Any] = {
        "cluster": value.cluster,
        "q": value.q,
        "exposures": value.exposures,
    }
    if before:
        payload["before"] = {"q": before[0], "exposures": before[1]}
    if columns is None:
        return Entry(value.unit_id, payload)
    image = Image(columns, value=(value.cluster, *(before or (None, None))))
    return Entry(value.unit_id, payload, image=image)


def _stored(connection: sqlite3.Connection, ids: Sequence[str]) -> dict[str, int]:
    seqs = seqs_by_id(connection, ids)
    missing = sorted(set(ids) - seqs.keys())
    if missing:
        raise NotFoundError(f"no unit {missing[0]!r} is stored; add it first")
    return seqs
