"""Units of a source in the order of their turns, and which of them belong together."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from memgene.engine.linking.nearest import NONE


class Place(NamedTuple):
    """Where a unit stands: the run and source it is of, and its turn there."""

    run: str | None
    source: str
    turn: int


class Chains:
    """Each row's next row in the same source and run, as `UnitIndex.next` has it.

    `refused` holds those consecutive pairs that do not belong together.
    """

    def __init__(self) -> None:
        self._members: dict[tuple[str | None, str], list[tuple[int, int, int]]] = {}
        self._place: dict[int, tuple[str | None, str]] = {}
        self._next: dict[int, int] = {}
        self._previous: dict[int, int] = {}
        self._unsettled: dict[tuple[str | None, str], None] = {}
        self.refused: set[tuple[int, int]] = set()

    def add(self, row: int, place: Place, seq: int) -> None:
        """Put a row in its place. Call `settle` after all changes."""
        key = place.run, place.source
        self._members.setdefault(key, []).append((place.turn, seq, row))
        self._place[row] = key
        self._unsettled[key] = None

    def remove(self, row: int) -> None:
        """Take a row out. Call `settle` after all changes."""
        key = self._place.pop(row, None)
        if key is not None:
            self._members[key] = [m for m in self._members[key] if m[2] != row]
            self._unsettled[key] = None
            self._forget(row)

    def settle(self) -> list[tuple[int, int]]:
        """Follow the changes; returns the pairs that are consecutive only now, in order."""
        new = []
        for key in self._unsettled:
            members = self._members[key]
            members.sort()
            if not members:
                del self._members[key]
            rows = [row for _, _, row in members]
            for row, after in zip(rows, [*rows[1:], NONE], strict=bool(rows)):
                if self._next.get(row, NONE) == after:
                    continue
                self.refused.discard((row, self._next.pop(row, NONE)))
                if after != NONE:
                    self._next[row] = after
                    new.append((row, after))
            self._previous.update(zip(rows, [NONE, *rows[:-1]], strict=bool(rows)))
        self._unsettled.clear()
        return new

    def edges(self, rows: Iterable[int]) -> dict[tuple[int, int], float]:
        """Pairs that belong together and touch any of some rows, each as (earlier, later)."""
        found = {}
        for row in rows:
            for pair in ((self._previous.get(row, NONE), row), (row, self._next.get(row, NONE))):
                if NONE not in pair and pair not in self.refused:
                    found[pair] = 1.0
        return found

    def _forget(self, row: int) -> None:
        after, before = self._next.pop(row, NONE), self._previous.pop(row, NONE)
        self.refused.discard((row, after))
        self.refused.discard((before, row))
        if self._next.get(before) == row:
            del self._next[before]
        if self._previous.get(after) == row:
            del self._previous[after]
