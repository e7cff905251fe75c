"""Scopes and filters as users give them: top-level, inside `filters`, never contradicting."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from memgene.api import checking
from memgene.api.messages import read_time
from memgene.bank.protocol import Filter
from memgene.bank.unit import UnitStatus, UnitType
from memgene.core import InputError, Scope

SCOPES = ("user_id", "agent_id", "run_id")
_FILTERS = ("metadata", "since", "source", "sources", "status", "type", "types", "until")


def read_scope(
    user_id: str | None,
    agent_id: str | None,
    run_id: str | None,
    filters: Mapping[str, Any] | None = None,
) -> Scope:
    """The scope of a call. Raises InputError when top-level and `filters` disagree."""
    ids = dict(zip(SCOPES, (user_id, agent_id, run_id), strict=True))
    given = checking.mapping(filters, "filters")
    for name in SCOPES:
        inner = given.get(name)
        if inner is None:
            continue
        if ids[name] is not None and ids[name] != inner:
            raise InputError(f"{name} is {ids[name]!r}, but filters say {inner!r}; give it once")
        ids[name] = inner
    return Scope(**ids)


def scope_if_given(user_id: str | None, agent_id: str | None, run_id: str | None) -> Scope | None:
    """A scope when any id is given; None (no restriction) otherwise."""
    if user_id is None and agent_id is None and run_id is None:
        return None
    return Scope(user_id, agent_id, run_id)


def read_filter(filters: Mapping[str, Any] | None) -> Filter:
    """The restriction in `filters` beside the scope.

    Keys: `metadata` (a mapping, compared by equality), `type`/`types`, `source`/`sources`,
    `status`, `since` and `until` (datetime or ISO 8601; bounds on the event time, inclusive).
    """
    every = checking.mapping(filters, "filters")
    given = {k: v for k, v in every.items() if k not in SCOPES and v is not None}
    for key in given:
        if key not in _FILTERS:
            raise InputError(
                f"filters has no key {key!r}; it takes {', '.join((*SCOPES, *_FILTERS))}. "
                f"For metadata write filters={{'metadata': {{{key!r}: …}}}}"
            )
    types = _several(given, "type", "types")
    statuses = _several(given, "status", "status")
    return Filter(
        metadata=checking.mapping(given.get("metadata"), "filters['metadata']"),
        types=tuple(_member(UnitType, "type", t) for t in types),
        sources=_several(given, "source", "sources"),
        since=read_time(given.get("since"), "filters['since']"),
        until=read_time(given.get("until"), "filters['until']"),
        statuses=tuple(UnitStatus(_member(UnitStatus, "status", s)) for s in statuses)
        or (UnitStatus.ACTIVE,),
    )


def _several(given: Mapping[str, Any], one: str, many: str) -> tuple[str, ...]:
    if one != many and one in given and many in given:
        raise InputError(f"filters has both {one!r} and {many!r}; give one")
    value = given.get(one, given.get(many, ()))
    if isinstance(value, str):
        return (value,)
    if isinstance(value, Sequence) and all(isinstance(v, str) for v in value):
        return tuple(value)
    raise InputError(f"filters[{many!r}] must be text or a list of texts, got {value!r}")


def _member(kind: type[UnitType] | type[UnitStatus], name: str, value: str) -> str:
    try:
        return kind(value).value
    except ValueError as error:
        known = ", ".join(m.value for m in kind)
        raise InputError(f"filters[{name!r}]: {value!r} is not one of {known}") from error
