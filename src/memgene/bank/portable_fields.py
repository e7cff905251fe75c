"""JSON values of an export back to the fields of a unit; each error says what was expected."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from datetime import datetime
from typing import Any

from memgene.bank.unit import MemoryUnit, UnitStatus, UnitType

FIELDS = {f.name: f for f in fields(MemoryUnit) if f.name not in ("scope", "seq")}
_NONE_ALLOWED = frozenset(name for name, f in FIELDS.items() if f.default is None)
_TIMES = frozenset(("event_time", "created", "updated", "last_accessed", "expires"))
_TUPLES = frozenset(("refs", "entities", "persons", "locations", "topics", "keywords", "tags"))
_WHOLE = frozenset(("turn_start", "turn_end", "reinforcement", "access_count"))
_SHARES = frozenset(("importance", "confidence", "utility"))


def read_field(name: str, value: Any) -> Any:
    """The value of a field of a unit; ValueError names the field."""
    if name not in FIELDS:
        raise ValueError(f"a unit has no field {name!r}")
    if value is None and name in _NONE_ALLOWED:
        return None
    try:
        read: Callable[[Any], Any] = _READERS.get(name, as_text)
        return read(value)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name}: {error}") from error


def as_text(value: Any) -> str:
    """A text; TypeError for anything else."""
    if not isinstance(value, str):
        raise TypeError(f"text expected, got {value!r}")
    return value


def as_whole(value: Any) -> int:
    """A whole number; TypeError for anything else, True and False too."""
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError(f"a whole number expected, got {value!r}")
    return value


def as_number(value: Any) -> float:
    """A number; TypeError for anything else, True and False too."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise TypeError(f"a number expected, got {value!r}")
    return float(value)


def _texts(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise TypeError(f"a list of texts expected, got {value!r}")
    return tuple(map(as_text, value))


def _object(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise TypeError(f"an object expected, got {value!r}")
    return value


def _time(value: Any) -> datetime:
    return datetime.fromisoformat(as_text(value))


_READERS: dict[str, Callable[[Any], Any]] = {
    **dict.fromkeys(_TIMES, _time),
    **dict.fromkeys(_TUPLES, _texts),
    **dict.fromkeys(_WHOLE, as_whole),
    **dict.fromkeys(_SHARES, as_number),
    "type": UnitType,
    "status": UnitStatus,
    "metadata": _object,
}
