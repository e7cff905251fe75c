"""Scopes and filters as SQL conditions on `units u`."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from memgene.bank.protocol import Filter
from memgene.bank.sqlite.codec import event_key, not_json, storable, to_json
from memgene.bank.unit import UnitStatus
from memgene.core import InputError, Scope

CHUNK = 1000
"""Most values in one `IN (…)`; well below SQLite's limit of 32,766 variables."""

_LENGTHS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, CHUNK)

ANY_STATUS = Filter(statuses=tuple(UnitStatus))

_T = TypeVar("_T")
_PLAIN_KEY = re.compile(r"[\w -]+")
_CONTROL = re.compile(r"[\x00-\x1f]")
_ADMITTED = "user_id = ? AND (? = '' OR agent_id = ?) AND (? = '' OR run_id IN (?, ''))"


@dataclass(frozen=True, slots=True)
class Conditions:
    """Conjunction of SQL conditions with their parameters.

    `owner` is the number of the only user whose units can match, None when the bank holds no
    other user's; `nothing` says that no unit can match at all.
    """

    parts: tuple[str, ...] = ()
    parameters: tuple[Any, ...] = ()
    owner: int | None = None
    nothing: bool = False

    def sql(self, *more: str) -> str:
        """`TRUE` or the conditions joined by AND."""
        return " AND ".join((*self.parts, *more)) or "TRUE"


def conditions(
    connection: sqlite3.Connection,
    scope: Scope | None,
    where: Filter | None,
    *,
    indexed: bool = False,
) -> Conditions:
    """What a unit must fulfil to be admitted by the scope (None: all owners) and the filter.

    `indexed`: the caller reads a text index, which holds active units only, and restricts to
    `owner` itself, so a scope that admits everything of its user needs no further condition.
    """
    where = where or Filter()
    if indexed and UnitStatus.ACTIVE not in where.statuses:
        return Conditions(nothing=True)
    parts: list[str] = []
    parameters: list[Any] = []
    owner = None
    if scope is not None:
        ids = tuple(part or "" for part in (scope.user_id, scope.agent_id, scope.run_id))
        if not all(map(storable, ids)):
            return Conditions(nothing=True)
        user, agent, run = ids
        admitted = (user, agent, agent, run, run)
        owner = _owner(connection, user)
        if owner is None:
            return Conditions(nothing=True)
        alone = _is_alone(connection, user)
        whole = _is_whole(connection, admitted)
        if not (whole and (alone or indexed)):
            parts.append(f"u.scope IN (SELECT num FROM scopes WHERE {_ADMITTED})")
            parameters += admitted
        if alone:
            owner = None
    if not indexed and set(where.statuses) != set(UnitStatus):
        parts.append(f"u.status IN ({marks(where.statuses)})")
        parameters += map(str, where.statuses)
    for sql, values in _filters(where):
        parts.append(sql)
        parameters += values
    return Conditions(tuple(parts), tuple(parameters), owner)


def marks(values: Sequence[Any]) -> str:
    """`?, ?, …`, one per value."""
    return ", ".join("?" * len(values))


def chunks(values: Sequence[_T], size: int = CHUNK) -> Iterator[Sequence[_T]]:
    """The values in slices of at most `size`."""
    for start in range(0, len(values), size):
        yield values[start : start + size]


def sets(values: Sequence[_T], size: int = CHUNK) -> Iterator[Sequence[_T]]:
    """Slices for `IN (…)`, filled up with their last value to one of few lengths, so that SQLite
    does not parse a statement anew for every number of values there may be."""
    for some in chunks(values, size):
        length = next((n for n in _LENGTHS if n >= len(some)), size)
        yield [*some, *[some[-1]] * (length - len(some))]


def _owner(connection: sqlite3.Connection, user: str) -> int | None:
    row = connection.execute("SELECT owner FROM scopes WHERE user_id = ? LIMIT 1", (user,))
    found = row.fetchone()
    return found[0] if found else None


def _is_alone(connection: sqlite3.Connection, user: str) -> bool:
    sql = (
        "SELECT EXISTS (SELECT 1 FROM scopes WHERE user_id < ?)"
        " OR EXISTS (SELECT 1 FROM scopes WHERE user_id > ?)"
    )
    return not connection.execute(sql, (user, user)).fetchone()[0]


def _is_whole(connection: sqlite3.Connection, admitted: tuple[str, ...]) -> bool:
    user, agent, _, run, _ = admitted
    if not agent and not run:
        return True
    sql = f"SELECT EXISTS (SELECT 1 FROM scopes WHERE user_id = ? AND NOT ({_ADMITTED}))"
    return not connection.execute(sql, (user, *admitted)).fetchone()[0]


def _filters(where: Filter) -> Iterator[tuple[str, tuple[Any, ...]]]:
    if where.types:
        yield f"u.type IN ({marks(where.types)})", tuple(map(str, where.types))
    if where.sources:
        sources = tuple(filter(storable, where.sources))
        yield f"u.source IN ({marks(sources)})", sources
    if where.since is not None:
        yield "u.event_key >= ?", (event_key(where.since),)
    if where.until is not None:
        yield "u.event_key <= ?", (event_key(where.until),)
    for key, wanted in where.metadata.items():
        yield _same(key, wanted)


def _same(key: str, wanted: Any) -> tuple[str, tuple[Any, ...]]:
    """Equality of a top-level metadata key, in SQL where SQLite's JSON is exact."""
    if wrong := not_json(wanted, f"the filter's metadata[{key!r}]"):
        raise InputError(wrong)
    if not storable(key) or not storable(to_json(wanted)):
        return "FALSE", ()
    if _PLAIN_KEY.fullmatch(key):
        path = f'$."{key}"'
        if wanted is None:
            return "json_type(u.metadata, ?) = 'null'", (path,)
        small = isinstance(wanted, int) and -(1 << 53) < wanted < 1 << 53
        if small:  # True equals 1, as in Python
            numbers = "('integer', 'real', 'true', 'false')"
            return (
                f"json_type(u.metadata, ?) IN {numbers} AND json_extract(u.metadata, ?) = ?",
                (path, path, int(wanted)),
            )
        if isinstance(wanted, str) and storable(wanted) and not _CONTROL.search(wanted):
            return (
                "json_type(u.metadata, ?) = 'text' AND json_extract(u.metadata, ?) = ?",
                (path, path, wanted),
            )
    return "json_same(u.metadata, ?, ?)", (key, to_json(wanted))
