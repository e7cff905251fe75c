"""What every event of a run has in common: a name, and its JSON form."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar


@dataclass(frozen=True, slots=True)
class Event:
    """Base of all events. `replayed` events recur when a run is repeated; others are marks of a
    session (a resume, an interruption)."""

    kind: ClassVar[str] = ""
    replayed: ClassVar[bool] = True

    def to_dict(self) -> dict[str, Any]:
        """Plain values, `event` first."""
        return {"event": self.kind, **{f.name: plain(getattr(self, f.name)) for f in fields(self)}}

    def same(self, other: Event) -> bool:
        """Whether both say the same, volatile fields apart."""
        return type(self) is type(other) and all(
            plain(getattr(self, f.name)) == plain(getattr(other, f.name))
            for f in fields(self)
            if not f.metadata.get("volatile")
        )


def volatile() -> Any:
    """A number of seconds, which a repetition need not share."""
    return field(default=0.0, metadata={"volatile": True})


def plain(value: Any) -> Any:
    """Plain JSON values."""
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return [plain(item) for item in value]
    return value


def frozen(value: Any) -> Any:
    """Lists as tuples, all the way down."""
    if isinstance(value, list):
        return tuple(frozen(item) for item in value)
    if isinstance(value, dict):
        return {key: frozen(item) for key, item in value.items()}
    return value
