"""One bank row as one JSON object, and back. The format of `export` and `import_`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from datetime import datetime
from typing import Any

from memgene.api.results import plain
from memgene.bank.protocol import Relation, RelationKind, Value
from memgene.bank.unit import MemoryUnit, UnitStatus, UnitType
from memgene.core import Scope

_FIELDS = frozenset(f.name for f in fields(MemoryUnit)) - {"scope", "seq"}
_TUPLES = ("refs", "entities", "persons", "locations", "topics", "keywords", "tags")
_TIMES = ("event_time", "created", "updated", "last_accessed", "expires")
_SCOPE = ("user_id", "agent_id", "run_id")

Row = MemoryUnit | Relation | Value


def to_record(row: Row) -> dict[str, Any]:
    """Plain values of a unit, relation or value, `kind` first."""
    if isinstance(row, MemoryUnit):
        own = {name: plain(getattr(row, name)) for name in sorted(_FIELDS)}
        return {"kind": "unit", **own, **{name: getattr(row.scope, name) for name in _SCOPE}}
    if isinstance(row, Relation):
        return {
            "kind": "relation",
            "type": str(row.kind),
            "source": row.source_id,
            "target": row.target_id,
            "weight": row.weight,
        }
    return {
        "kind": "value",
        "unit": row.unit_id,
        "cluster": row.cluster,
        "q": row.q,
        "exposures": row.exposures,
    }


def from_record(record: Mapping[str, Any]) -> Row:
    """Inverse of `to_record`. KeyError, TypeError or ValueError where a record is malformed."""
    kind = record["kind"]
    if kind == "unit":
        return _unit(record)
    if kind == "relation":
        return Relation(
            RelationKind(record["type"]),
            record["source"],
            record["target"],
            float(record["weight"]),
        )
    if kind == "value":
        return Value(
            record["unit"], record["cluster"], float(record["q"]), int(record["exposures"])
        )
    raise ValueError(f"kind {kind!r} is unknown")


def _unit(record: Mapping[str, Any]) -> MemoryUnit:
    values = {name: value for name, value in record.items() if name not in ("kind", *_SCOPE)}
    unknown = sorted(values.keys() - _FIELDS)
    if unknown:
        raise ValueError(f"a unit has no {', '.join(unknown)}")
    for name in _TUPLES:
        if name in values:
            values[name] = tuple(values[name])
    for name in _TIMES:
        if values.get(name) is not None:
            values[name] = datetime.fromisoformat(values[name])
    if "type" in values:
        values["type"] = UnitType(values["type"])
    if "status" in values:
        values["status"] = UnitStatus(values["status"])
    return MemoryUnit(**values, scope=Scope(**{name: record.get(name) for name in _SCOPE}))
