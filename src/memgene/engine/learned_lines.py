"""What was learned, as lines of JSON (`memory.jsonl`).

Line 1 is the header `{"memgene_learned": 1, "embedder": …}`. Then one object a line with a single
key that says what it is: `cluster` (its name, its centroid as base64 of little-endian float32),
`distilled` (fields of the unit that differ from their default), `value`, `retired`.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable
from dataclasses import dataclass, fields
from functools import lru_cache
from typing import Any

import numpy as np
from pydantic import TypeAdapter, ValidationError

from memgene.bank.protocol import Value
from memgene.bank.unit import MemoryUnit, UnitStatus
from memgene.core import DataError, Scope
from memgene.embed.protocol import Vectors

FORMAT = 1
_MARK = "memgene_learned"
_UNIT_SIZE = 1e-3


@dataclass(frozen=True, slots=True)
class Retired:
    """A unit that is no longer active: archived, or (distilled ones) superseded by another."""

    unit_id: str
    status: UnitStatus
    superseded_by: str | None = None

    def __post_init__(self) -> None:
        if self.status is UnitStatus.ACTIVE:
            raise ValueError("a retired unit is not active")


@dataclass(frozen=True, slots=True)
class Cluster:
    """A kind of query: its name and the base64 of its unit centroid, float32."""

    name: str
    centroid: str

    def __post_init__(self) -> None:
        row = self.vector
        if not (row.ndim == 1 and abs(float(np.linalg.norm(row)) - 1) < _UNIT_SIZE):
            raise ValueError("the centroid is not a vector of length 1")

    @classmethod
    def of(cls, name: str, centroid: Vectors) -> Cluster:
        """From a vector of shape (dimension,)."""
        blob = np.ascontiguousarray(centroid, "<f4").tobytes()
        return cls(name, base64.b64encode(blob).decode("ascii"))

    @property
    def vector(self) -> Vectors:
        """The centroid, shape (dimension,)."""
        blob = base64.b64decode(self.centroid, validate=True)
        return np.frombuffer(blob, "<f4").astype(np.float32)


Thing = Cluster | MemoryUnit | Value | Retired
_KINDS: dict[str, type[Thing]] = {
    "cluster": Cluster,
    "distilled": MemoryUnit,
    "value": Value,
    "retired": Retired,
}
_NAMES = {kind: name for name, kind in _KINDS.items()}


def write_lines(embedder: str, things: Iterable[Thing]) -> str:
    """The text of a header and of things in the order given."""
    rows: list[dict[str, Any]] = [{_MARK: FORMAT, "embedder": embedder}]
    for thing in things:
        kind = _NAMES[type(thing)]
        given = _shaper(kind).dump_python(thing, mode="json", exclude_defaults=True)
        rows.append({kind: given})
    return "".join(
        json.dumps(row, ensure_ascii=False, allow_nan=False, separators=(",", ":")) + "\n"
        for row in rows
    )


def read_lines(text: str) -> tuple[str, list[Thing]]:
    """The embedder of the header, and the things in order.

    Raises DataError that names the line, and the field where there is one.
    """
    lines = text.split("\n")
    embedder = _header(lines[0])
    things = [_thing(number, line) for number, line in enumerate(lines[1:], 2) if line.strip()]
    return embedder, things


def _header(line: str) -> str:
    row = _object(1, line)
    found = row.get(_MARK)
    if not isinstance(found, int) or isinstance(found, bool):
        raise DataError(f'line 1 of what was learned is no header {{"{_MARK}": {FORMAT}, …}}')
    if found != FORMAT:
        raise DataError(
            f"line 1 of what was learned: format {found}, but this memgene reads {FORMAT}; "
            "upgrade memgene, or learn anew"
        )
    embedder = row.get("embedder")
    if not isinstance(embedder, str):
        raise DataError(f"line 1 of what was learned: embedder: text expected, got {embedder!r}")
    return embedder


def _thing(number: int, line: str) -> Thing:
    row = _object(number, line)
    kind = next(iter(row), "")
    if len(row) != 1 or kind not in _KINDS:
        raise DataError(
            f"line {number} of what was learned must hold one of {', '.join(_KINDS)}; it holds "
            f"{', '.join(row) or 'nothing'}"
        )
    given = row[kind]
    if not isinstance(given, dict):
        raise DataError(f"line {number} of what was learned: {kind} must be an object")
    try:
        _check_names(given, _KINDS[kind])
        thing: Thing = _shaper(kind).validate_json(json.dumps(given), strict=True)
    except ValidationError as error:
        first = error.errors()[0]
        where = "".join(f"{place}: " for place in first["loc"])
        raise _malformed(number, kind, where + first["msg"]) from error
    except ValueError as error:
        raise _malformed(number, kind, str(error)) from error
    if isinstance(thing, Value) and not (0 <= thing.q <= 1 and thing.exposures >= 0):
        raise _malformed(number, kind, "q must lie in [0, 1] and exposures be 0 or more")
    return thing


def _check_names(given: dict[str, Any], kind: type[Thing]) -> None:
    """A field nobody knows must not get lost, least of all a part of the owner's name."""
    owner = given.get("scope")
    parts = [(given, kind), (owner, Scope)] if isinstance(owner, dict) else [(given, kind)]
    for values, form in parts:
        unknown = values.keys() - {f.name for f in fields(form)}
        if unknown:
            raise ValueError(f"{min(unknown)}: there is no such field")


def _malformed(number: int, kind: str, what: str) -> DataError:
    return DataError(f"line {number} of what was learned: the {kind} is malformed: {what}")


def _object(number: int, line: str) -> dict[str, Any]:
    try:
        row = json.loads(line, parse_constant=_refuse)
    except ValueError as error:
        raise DataError(f"line {number} of what was learned is not JSON: {error}") from error
    if not isinstance(row, dict):
        raise DataError(f"line {number} of what was learned is not a JSON object")
    return row


def _refuse(name: str) -> float:
    raise ValueError(f"{name} is no number")


@lru_cache(maxsize=len(_KINDS))
def _shaper(kind: str) -> TypeAdapter[Any]:
    return TypeAdapter(_KINDS[kind])
