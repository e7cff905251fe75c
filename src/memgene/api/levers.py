"""The action space of retrieval, as a list."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from memgene.retrieval.config import levers
from memgene.retrieval.levers import Lever


@dataclass(frozen=True, slots=True)
class LeverEntry:
    """One lever: what it may be, what it is by default and in the minimal start."""

    name: str
    range: str
    default: str
    minimal: str
    needs: tuple[str, ...]
    treats: tuple[str, ...]
    about: str

    def model_dump(self) -> dict[str, Any]:
        """Plain values."""
        return {**asdict(self), "needs": list(self.needs), "treats": list(self.treats)}


def list_levers() -> list[LeverEntry]:
    """Every lever, in the order of declaration."""
    return [
        LeverEntry(
            lever.name,
            _range(lever),
            _value(lever.default),
            _value(lever.minimal),
            tuple(map(str, lever.needs)),
            tuple(map(str, lever.treats)),
            lever.about,
        )
        for lever in levers().values()
    ]


def _range(lever: Lever) -> str:
    if lever.kind is bool:
        return "on, off"
    if lever.kind is str:
        return ", ".join(lever.choices) or "words"
    return f"{lever.low:g} … {lever.high:g}"


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    return f"{value:g}" if isinstance(value, float) else str(value)
