"""What an extraction did, in numbers that add up."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any


@dataclass(frozen=True, slots=True)
class ExtractionReport:
    """Counts of one extraction or of many (they add up).

    calls: made to the model, `fresh` of them not from the cache; failed_calls: gave no reply.
    retries: asked once more; repaired: replies of which the complete items were kept.
    chunked: windows that were asked for in pieces; loops: replies that said one thing many times.
    gaps: names, numbers and dates the first pass left out; gaps_closed: found by the second.
    facts: stored; repeated: dropped, because they say what a fact before them says.
    refusals: facts refused, by what their window does not hold (name, number, date, words), or
        because they only tell that somebody talked (talk).
    turns: with words; kept: stored as they were said; lost: they say something, and nothing that
        is stored stands for them.
    resumed: episodes that were extracted before with the same settings.
    """

    episodes: int = 0
    resumed: int = 0
    windows: int = 0
    calls: int = 0
    fresh: int = 0
    failed_calls: int = 0
    retries: int = 0
    repaired: int = 0
    loops: int = 0
    chunked: int = 0
    coverage_passes: int = 0
    gaps: int = 0
    gaps_closed: int = 0
    facts: int = 0
    repeated: int = 0
    turns: int = 0
    kept: int = 0
    lost: int = 0
    refusals: Mapping[str, int] = field(default_factory=dict)

    @property
    def refused(self) -> int:
        """Facts refused for any reason."""
        return sum(self.refusals.values())

    def __add__(self, other: ExtractionReport) -> ExtractionReport:
        counts = {
            f.name: getattr(self, f.name) + getattr(other, f.name)
            for f in fields(self)
            if f.name != "refusals"
        }
        kinds = sorted({*self.refusals, *other.refusals})
        refusals = {k: self.refusals.get(k, 0) + other.refusals.get(k, 0) for k in kinds}
        return ExtractionReport(**counts, refusals=refusals)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, `refused` included."""
        values = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "refusals"}
        return values | {"refused": self.refused, "refusals": dict(self.refusals)}


class Tally:
    """An extraction report while it is written."""

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}
        self._refusals: dict[str, int] = {}

    def add(self, name: str, by: int = 1) -> None:
        """Count something."""
        self._counts[name] = self._counts.get(name, 0) + by

    def refuse(self, kind: str) -> None:
        """Count a refused fact."""
        self._refusals[kind] = self._refusals.get(kind, 0) + 1

    def report(self) -> ExtractionReport:
        """What was counted."""
        return ExtractionReport(**self._counts, refusals=dict(self._refusals))
