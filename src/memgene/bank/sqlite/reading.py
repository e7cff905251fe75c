"""Reading units: by id, in pages, in insertion order."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable, Sequence

from memgene.bank.protocol import Filter
from memgene.bank.sqlite.codec import FROM_UNITS, SELECTED, Decoder, storable
from memgene.bank.sqlite.conditions import ANY_STATUS, Conditions, chunks, conditions, marks, sets
from memgene.bank.unit import MemoryUnit
from memgene.core import Scope

_IDENTITY = re.compile(r"[0-9a-f]{20}")


def by_id(
    connection: sqlite3.Connection, ids: Sequence[str], scope: Scope | None = None
) -> list[MemoryUnit]:
    """Units in the order asked, of any status."""
    admitted = conditions(connection, scope, ANY_STATUS)
    found: dict[str, MemoryUnit] = {}
    if admitted.nothing:
        return []
    decoder = Decoder()
    for some in sets(list(dict.fromkeys(filter(storable, ids)))):
        sql = (
            f"SELECT {SELECTED} FROM {FROM_UNITS} WHERE {admitted.sql(f'u.id IN ({marks(some)})')}"
        )
        rows = connection.execute(sql, (*admitted.parameters, *some)).fetchall()
        found.update((unit.id, unit) for unit in map(decoder.unit, rows))
    return [found[unit_id] for unit_id in ids if unit_id in found]


def seqs_by_id(connection: sqlite3.Connection, ids: Iterable[str]) -> dict[str, int]:
    """Sequence numbers of the units that are stored."""
    found: dict[str, int] = {}
    for some in sets(list(dict.fromkeys(filter(storable, ids)))):
        sql = f"SELECT id, seq FROM units WHERE id IN ({marks(some)})"
        found.update(connection.execute(sql, some))
    return found


def by_identity(connection: sqlite3.Connection, identities: Iterable[str]) -> dict[str, str]:
    """Ids of the units with these identities."""
    found: dict[str, str] = {}
    for some in chunks([i for i in dict.fromkeys(identities) if _IDENTITY.fullmatch(i)]):
        sql = f"SELECT identity, id FROM units WHERE identity IN ({marks(some)})"
        keys = [bytes.fromhex(identity) for identity in some]
        found.update((key.hex(), unit_id) for key, unit_id in connection.execute(sql, keys))
    return found


def by_seq(
    connection: sqlite3.Connection, seqs: Sequence[int], decoder: Decoder
) -> list[MemoryUnit]:
    """Units in insertion order; those deleted in the meantime are left out."""
    found: list[MemoryUnit] = []
    for some in sets(seqs):
        sql = f"SELECT {SELECTED} FROM {FROM_UNITS} WHERE u.seq IN ({marks(some)}) ORDER BY u.seq"
        found += map(decoder.unit, connection.execute(sql, some).fetchall())
    return found


def matching(
    connection: sqlite3.Connection,
    admitted: Conditions,
    after: int,
    limit: int = -1,
    ids: Sequence[str] | None = None,
) -> list[int]:
    """Sequence numbers above `after` that fulfil the conditions, in order."""
    if admitted.nothing:
        return []
    if ids is None:
        sql = f"SELECT u.seq FROM units u WHERE {admitted.sql('u.seq > ?')} ORDER BY u.seq LIMIT ?"
        return [seq for (seq,) in connection.execute(sql, (*admitted.parameters, after, limit))]
    found: list[int] = []
    for some in sets(list(dict.fromkeys(filter(storable, ids)))):
        condition = admitted.sql("u.seq > ?", f"u.id IN ({marks(some)})")
        sql = f"SELECT u.seq FROM units u WHERE {condition}"
        found += (seq for (seq,) in connection.execute(sql, (*admitted.parameters, after, *some)))
    return sorted(found)


def page(
    connection: sqlite3.Connection,
    scope: Scope | None,
    where: Filter | None,
    limit: int,
    after: int,
) -> list[MemoryUnit]:
    """At most `limit` units in insertion order."""
    found = matching(connection, conditions(connection, scope, where), after, max(limit, 0))
    decoder = Decoder()
    return [unit for some in chunks(found) for unit in by_seq(connection, some, decoder)]
