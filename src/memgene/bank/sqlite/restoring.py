"""Writing back what stood before a lesson."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from memgene.bank.protocol import Lesson
from memgene.bank.sqlite import changing, fulltext, scopes, states
from memgene.bank.sqlite.conditions import chunks, marks
from memgene.bank.sqlite.reading import seqs_by_id
from memgene.core import InputError

_Columns = dict[str, Any]

_LINEAGE = ("supersedes", "superseded_by")
_INDEXED = frozenset(
    ("scope", "status", "dated", "unspaced", "speaker", "summary", "entities", "topics", "content")
)
"""Columns that the text indices read (schema.py)."""


@dataclass(slots=True)
class Former:
    """What stood where, exactly as it was stored; None: nothing. Units go by their ids."""

    columns: dict[str, _Columns] = field(default_factory=dict)
    scopes: dict[int, tuple[int, str, str, str, int]] = field(default_factory=dict)
    vectors: dict[str, bytes | None] = field(default_factory=dict)
    values: dict[tuple[str, str], tuple[float, int] | None] = field(default_factory=dict)
    edges: dict[tuple[str, str, str], float | None] = field(default_factory=dict)
    states: dict[str, bytes | None] = field(default_factory=dict)
    added: dict[str, None] = field(default_factory=dict)
    """Units that were not there."""

    def without_added(self) -> Former:
        """What is left to write once the added units are erased with all that hangs on them."""
        new = self.added
        return Former(
            {unit_id: row for unit_id, row in self.columns.items() if unit_id not in new},
            self.scopes,
            {unit_id: vector for unit_id, vector in self.vectors.items() if unit_id not in new},
            {key: value for key, value in self.values.items() if key[0] not in new},
            {e: w for e, w in self.edges.items() if e[0] not in new and e[1] not in new},
            self.states,
        )

    def units(self) -> set[str]:
        """Every unit that something is written to."""
        hanging = {key[0] for key in self.values} | {end for e in self.edges for end in e[:2]}
        return self.columns.keys() | self.vectors.keys() | hanging


def restore(connection: sqlite3.Connection, former: Former, lesson: Lesson, now: datetime) -> None:
    """Put everything back. Lineage comes first, so that erasing the units it led to finds no gap
    to close; the added units make room for the identities that come back."""
    left = former.without_added()
    seqs = seqs_by_id(connection, sorted(left.units()))
    rows = {seqs[unit_id]: row for unit_id, row in left.columns.items()}
    _write(connection, {seq: _only(row, _LINEAGE) for seq, row in rows.items()})
    if former.added:
        changing.delete(connection, list(former.added), None, now)
    _restore_units(connection, rows, left.scopes, lesson)
    _restore_vectors(connection, {seqs[i]: vector for i, vector in left.vectors.items()}, lesson)
    _put(
        connection,
        "learned (seq, cluster, q, exposures)",
        {(seqs[unit_id], cluster): row for (unit_id, cluster), row in left.values.items()},
    )
    _put(
        connection,
        "relations (source, target, kind, weight)",
        {
            (seqs[source], seqs[target], kind): None if weight is None else (weight,)
            for (source, target, kind), weight in left.edges.items()
        },
    )
    for name, content in left.states.items():
        states.put(connection, name, content)
    _restore_embedder(connection, lesson)


def _restore_units(
    connection: sqlite3.Connection,
    rows: Mapping[int, _Columns],
    stored: Mapping[int, tuple[int, str, str, str, int]],
    lesson: Lesson,
) -> None:
    identities = {row["identity"]: seq for seq, row in rows.items() if "identity" in row}
    _check_identities(connection, identities, lesson)
    indexed = [seq for seq, row in rows.items() if not _INDEXED.isdisjoint(row)]
    left = scopes.numbers_of(connection, [seq for seq, row in rows.items() if "scope" in row])
    fulltext.unindex_units(connection, indexed)
    wanted = sorted({row["scope"] for row in rows.values() if "scope" in row})
    numbers = {number: scopes.bring_back(connection, stored[number]) for number in wanted}
    # Two units may have changed places: no identity may be taken twice on the way back.
    _write(connection, {seq: {"identity": b"%d" % seq} for seq in identities.values()})
    _write(
        connection,
        {
            seq: {**row, "scope": numbers[row["scope"]]} if "scope" in row else row
            for seq, row in rows.items()
        },
    )
    fulltext.index_units(connection, indexed)
    scopes.drop_unused(connection, left)


def _check_identities(
    connection: sqlite3.Connection, identities: Mapping[bytes, int], lesson: Lesson
) -> None:
    changing_too = set(identities.values())
    for some in chunks(list(identities)):
        sql = f"SELECT seq, id FROM units WHERE identity IN ({marks(some)})"
        for seq, unit_id in connection.execute(sql, some):
            if seq not in changing_too:
                raise InputError(
                    f"lesson {lesson.number} ({lesson.kind}) cannot be taken back: unit {unit_id}, "
                    "added since, says what one of its units said before; delete one of the two"
                )


def _restore_vectors(
    connection: sqlite3.Connection, former: Mapping[int, bytes | None], lesson: Lesson
) -> None:
    before, _, now = _embedders(connection, lesson)
    if before != now and any(vector is not None for vector in former.values()):
        raise InputError(
            f"lesson {lesson.number} ({lesson.kind}) cannot be taken back: the bank has been "
            "embedded anew since"
        )
    _put(
        connection,
        "vectors (seq, vector)",
        {(seq,): None if vector is None else (vector,) for seq, vector in former.items()},
    )


def _restore_embedder(connection: sqlite3.Connection, lesson: Lesson) -> None:
    """Forget the embedder that the lesson brought in, unless its vectors have come to stay."""
    before, after, now = _embedders(connection, lesson)
    if before == after or now != after or connection.execute("SELECT 1 FROM vectors").fetchone():
        return
    if before is None:
        connection.execute("DELETE FROM meta WHERE key = 'embedder'")
    else:
        connection.execute("UPDATE meta SET value = ? WHERE key = 'embedder'", (before,))


def _embedders(
    connection: sqlite3.Connection, lesson: Lesson
) -> tuple[str | None, str | None, str | None]:
    """The embedder before the lesson, after it, and now."""
    found: tuple[str | None, str | None, str | None] = connection.execute(
        "SELECT embedder_before, embedder_after, (SELECT value FROM meta WHERE key = 'embedder')"
        " FROM lessons WHERE number = ?",
        (lesson.number,),
    ).fetchone()
    return found


def _only(row: _Columns, names: Iterable[str]) -> _Columns:
    return {name: row[name] for name in names if name in row}


def _write(connection: sqlite3.Connection, rows: Mapping[int, _Columns]) -> None:
    """Set columns of units, by their sequence number."""
    alike: dict[tuple[str, ...], list[tuple[Any, ...]]] = {}
    for seq, row in rows.items():
        if row:
            alike.setdefault(tuple(row), []).append((*row.values(), seq))
    for names, values in alike.items():
        columns = ", ".join(f"{name} = ?" for name in names)
        connection.executemany(f"UPDATE units SET {columns} WHERE seq = ?", values)


def _put(
    connection: sqlite3.Connection,
    table: str,
    rows: Mapping[tuple[Any, ...], tuple[Any, ...] | None],
) -> None:
    """Write rows of a table `name (keys…, rest…)` by their keys; None removes."""
    if not rows:
        return
    name, listed = table.rstrip(")").split(" (")
    columns = listed.split(", ")
    keys = " AND ".join(f"{column} = ?" for column in columns[: len(next(iter(rows)))])
    connection.executemany(
        f"DELETE FROM {name} WHERE {keys}", [key for key, rest in rows.items() if rest is None]
    )
    connection.executemany(
        f"INSERT OR REPLACE INTO {table} VALUES ({marks(columns)})",
        [(*key, *rest) for key, rest in rows.items() if rest is not None],
    )
