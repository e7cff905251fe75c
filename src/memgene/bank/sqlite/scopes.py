"""Scopes as numbers: given on first use, dropped with the last unit."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence

from memgene.bank.sqlite.conditions import chunks, marks
from memgene.core import Scope

_IDS = "user_id = ? AND agent_id = ? AND run_id = ?"


def numbers(connection: sqlite3.Connection, scopes: Iterable[Scope]) -> dict[Scope, int]:
    """The number of each scope; new ones join the owner number of their user."""
    found: dict[Scope, int] = {}
    for scope in dict.fromkeys(scopes):
        ids = (scope.user_id or "", scope.agent_id or "", scope.run_id or "")
        row = connection.execute(f"SELECT num FROM scopes WHERE {_IDS}", ids).fetchone()
        found[scope] = row[0] if row else _create(connection, ids)
    return found


def numbers_of(connection: sqlite3.Connection, seqs: Sequence[int]) -> set[int]:
    """The scopes that these units have."""
    found: set[int] = set()
    for some in chunks(seqs):
        sql = f"SELECT DISTINCT scope FROM units WHERE seq IN ({marks(some)})"
        found.update(number for (number,) in connection.execute(sql, some))
    return found


def row(connection: sqlite3.Connection, number: int) -> tuple[int, str, str, str, int]:
    """Number, user, agent, run and owner of a scope, as they are stored."""
    sql = "SELECT num, user_id, agent_id, run_id, owner FROM scopes WHERE num = ?"
    found: tuple[int, str, str, str, int] = connection.execute(sql, (number,)).fetchone()
    return found


def bring_back(connection: sqlite3.Connection, former: tuple[int, str, str, str, int]) -> int:
    """The number of a scope that once was stored like this: its own again if it was dropped."""
    number, user, agent, run, owner = former
    ids = (user, agent, run)
    stored = connection.execute(f"SELECT num FROM scopes WHERE {_IDS}", ids).fetchone()
    if stored:
        return int(stored[0])
    connection.execute(
        "INSERT INTO scopes (num, user_id, agent_id, run_id, owner) VALUES (?, ?, ?, ?,"
        " coalesce((SELECT o.owner FROM scopes o WHERE o.user_id = ? LIMIT 1), ?))",
        (number, *ids, user, owner),
    )
    return number


def drop_unused(connection: sqlite3.Connection, numbers: Iterable[int]) -> None:
    """Forget those of the scopes that have no units left: their ids may name a person."""
    connection.executemany(
        "DELETE FROM scopes WHERE num = ?"
        " AND NOT EXISTS (SELECT 1 FROM units u WHERE u.scope = scopes.num)",
        [(number,) for number in sorted(numbers)],
    )


def _create(connection: sqlite3.Connection, ids: tuple[str, str, str]) -> int:
    number = connection.execute(
        "INSERT INTO scopes (user_id, agent_id, run_id, owner) VALUES (?, ?, ?, 0) RETURNING num",
        ids,
    ).fetchone()[0]
    connection.execute(
        "UPDATE scopes SET owner ="
        " coalesce((SELECT o.owner FROM scopes o WHERE o.user_id = ? AND o.num < ? LIMIT 1), ?)"
        " WHERE num = ?",
        (ids[0], number, number, number),
    )
    return int(number)
