"""Vectors as float32 (little-endian) blobs, and the one embedder they come from."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Sequence
from datetime import datetime

import numpy as np

from memgene.bank.protocol import EmbedderInfo, Event, Vectors
from memgene.bank.sqlite.codec import storable
from memgene.bank.sqlite.conditions import ANY_STATUS, conditions, marks, sets
from memgene.bank.sqlite.history import Entry, in_lesson, record
from memgene.bank.sqlite.reading import seqs_by_id
from memgene.core import EmbedderMismatchError, InputError, NotFoundError, Scope

_KEY = "embedder"


def embedder(connection: sqlite3.Connection) -> EmbedderInfo | None:
    """The embedder the file remembers."""
    row = connection.execute("SELECT value FROM meta WHERE key = ?", (_KEY,)).fetchone()
    if row is None:
        return None
    stored = json.loads(row[0])
    return EmbedderInfo(stored["name"], stored["dimension"])


def set_embedder(connection: sqlite3.Connection, info: EmbedderInfo, location: str) -> None:
    """Remember the embedder unless another one's vectors are stored."""
    stored = embedder(connection)
    if stored == info:
        return
    if info.dimension < 1 or not info.name or not storable(info.name):
        raise InputError(f"an embedder needs a name and a dimension above 0, got {info}")
    if stored and connection.execute("SELECT EXISTS (SELECT 1 FROM vectors)").fetchone()[0]:
        raise EmbedderMismatchError(
            f"{location} holds vectors of {stored.name} ({stored.dimension} numbers each), not of "
            f"{info.name} ({info.dimension}); open it with {stored.name}, or run "
            f"`memgene reembed --db {location}` to replace them"
        )
    _remember(connection, info)


def checked(vectors: Vectors, rows: int, info: EmbedderInfo | None) -> Vectors:
    """The matrix as little-endian float32, after its shape and values are found right."""
    matrix = np.ascontiguousarray(vectors, dtype="<f4")
    if info is None:
        raise InputError("vectors need an embedder: call set_embedder first")
    if matrix.shape != (rows, info.dimension):
        raise InputError(
            f"vectors have shape {matrix.shape}; {info.name} gives ({rows}, {info.dimension})"
        )
    if not np.isfinite(matrix).all():
        raise InputError("vectors hold NaN or infinity")
    return matrix


def store(connection: sqlite3.Connection, seqs: Iterable[int], matrix: Vectors) -> None:
    """Write one row of the matrix per unit, over a former vector."""
    connection.executemany(
        "INSERT INTO vectors (seq, vector) VALUES (?, ?)"
        " ON CONFLICT (seq) DO UPDATE SET vector = excluded.vector",
        zip(seqs, _blobs(matrix), strict=True),
    )


def of_unit(connection: sqlite3.Connection, seq: int) -> bytes | None:
    """The vector of one unit as it is stored, if it has one."""
    row = connection.execute("SELECT vector FROM vectors WHERE seq = ?", (seq,)).fetchone()
    return row[0] if row else None


def have_vector(connection: sqlite3.Connection, seqs: Sequence[int]) -> set[int]:
    """Which of these units have a vector."""
    found: set[int] = set()
    for some in sets(seqs):
        sql = f"SELECT seq FROM vectors WHERE seq IN ({marks(some)})"
        found.update(seq for (seq,) in connection.execute(sql, some))
    return found


def read(connection: sqlite3.Connection, ids: Sequence[str]) -> tuple[list[str], Vectors]:
    """Vectors of these units, in the order asked."""
    found: dict[str, bytes] = {}
    for some in sets(list(dict.fromkeys(filter(storable, ids)))):
        sql = (
            "SELECT u.id, v.vector FROM units u JOIN vectors v ON v.seq = u.seq"
            f" WHERE u.id IN ({marks(some)})"
        )
        found.update(connection.execute(sql, some))
    names = [unit_id for unit_id in dict.fromkeys(ids) if unit_id in found]
    return names, _matrix(connection, [found[name] for name in names])


def read_all(
    connection: sqlite3.Connection, scope: Scope | None, after: int
) -> tuple[list[str], Vectors]:
    """Vectors of all admitted units with `seq > after`, in insertion order."""
    admitted = conditions(connection, scope, ANY_STATUS)
    if admitted.nothing:
        return [], _matrix(connection, [])
    sql = (
        "SELECT u.id, v.vector FROM vectors v CROSS JOIN units u ON u.seq = v.seq"
        f" WHERE {admitted.sql('v.seq > ?')} ORDER BY v.seq"
    )
    rows = connection.execute(sql, (*admitted.parameters, after)).fetchall()
    return [row[0] for row in rows], _matrix(connection, [row[1] for row in rows])


def replace_all(
    connection: sqlite3.Connection,
    info: EmbedderInfo,
    ids: Sequence[str],
    vectors: Vectors,
    now: datetime,
) -> None:
    """Drop every vector and store these, one history row per unit that had or gets one."""
    if in_lesson(connection):
        raise InputError("re-embedding cannot be taken back; do it outside of a lesson")
    matrix = checked(vectors, len(ids), info)
    if len(set(ids)) != len(ids):
        raise InputError("an id is given twice; each unit has one vector")
    seqs = seqs_by_id(connection, ids)
    missing = [unit_id for unit_id in ids if unit_id not in seqs]
    if missing:
        raise NotFoundError(f"no unit {missing[0]!r} to re-embed ({len(missing)} of {len(ids)})")
    former = connection.execute("SELECT u.id FROM vectors v JOIN units u ON u.seq = v.seq")
    touched = dict.fromkeys([unit_id for (unit_id,) in former] + list(ids))
    connection.execute("DELETE FROM vectors")
    _remember(connection, info)
    store(connection, (seqs[unit_id] for unit_id in ids), matrix)
    record(connection, Event.REEMBED, (Entry(unit_id) for unit_id in touched), now)


def _remember(connection: sqlite3.Connection, info: EmbedderInfo) -> None:
    text = json.dumps({"name": info.name, "dimension": info.dimension}, ensure_ascii=False)
    connection.execute("INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)", (_KEY, text))


def _blobs(matrix: Vectors) -> Iterable[bytes]:
    data, size = matrix.tobytes(), matrix.shape[1] * 4
    return (data[start : start + size] for start in range(0, len(data), size))


def _matrix(connection: sqlite3.Connection, blobs: Sequence[bytes]) -> Vectors:
    if not blobs:
        info = embedder(connection)
        return np.zeros((0, info.dimension if info else 0), dtype=np.float32)
    flat = np.frombuffer(b"".join(blobs), dtype="<f4")
    return flat.astype(np.float32, copy=True).reshape(len(blobs), -1)
