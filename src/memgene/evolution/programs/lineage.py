"""Who came from whom, with what score, and why some came to nothing (M* §6)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

REGRESSION = 0.005  # a child this far under its parent is one not to be repeated


@dataclass(frozen=True, slots=True)
class Record:
    """One candidate. `score` is None where it was not evaluated in full; `refused` says why."""

    id: str
    parent: str | None
    title: str
    message: str
    score: float | None
    delta: float | None
    refused: str | None = None

    @property
    def regressed(self) -> bool:
        """Whether it scored below its parent."""
        return self.delta is not None and self.delta < -REGRESSION


class Lineage:
    """All candidates of a run, in the order in which they came."""

    def __init__(self) -> None:
        self._records: dict[str, Record] = {}
        self._children: dict[str, list[str]] = {}

    def add(self, record: Record) -> None:
        """Record a candidate; a second record of the same replaces the first."""
        if record.id not in self._records and record.parent is not None:
            self._children.setdefault(record.parent, []).append(record.id)
        self._records[record.id] = record

    def __len__(self) -> int:
        return len(self._records)

    def __getitem__(self, name: str) -> Record:
        return self._records[name]

    def around(self, name: str, most: int = 24) -> list[Record]:
        """The line that leads to a candidate, oldest first, the candidate, then its children; the
        newest of them where there are more than `most`."""
        line = [*reversed(list(self._ancestors(name))), self._records[name]]
        children = [self._records[child] for child in self._children.get(name, ())]
        return [*line, *children][-most:]

    def _ancestors(self, name: str) -> Iterator[Record]:
        parent = self._records[name].parent
        while parent is not None:
            record = self._records[parent]
            yield record
            parent = record.parent
