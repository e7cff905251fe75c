"""The best neighbours of every row, kept exact while rows come and go.

The same for dense and sparse edges: a symmetric score, at most `k` neighbours a row, best first,
ties to the older unit; an edge joins two rows each of which is among the other's best.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.int64]
Scores = NDArray[np.float64]
Mask = NDArray[np.bool_]
Told = Callable[[int], None]
"""Called with how many rows more are done."""

NONE = -1


@dataclass(frozen=True, slots=True)
class Pairs:
    """Scored pairs that qualify as neighbours: row, other, score, side by side."""

    rows: Rows
    others: Rows
    scores: Scores


class Scorer(Protocol):
    """A symmetric similarity of the living rows of a group."""

    def pairs(self, rows: Rows, most: int | None) -> Iterator[tuple[Rows, Pairs]]:
        """Qualifying pairs of some rows with all living others, block by block of the rows.

        With `most`, pairs that are surely not among the `most` best of their row may be left out.
        """
        ...


class Nearest:
    """Lists of the `k` best neighbours. `seq` gives each row's insertion order."""

    def __init__(self, k: int) -> None:
        self.k = k
        self._others: Rows = np.full((0, k), NONE, np.int64)
        self._scores: Scores = np.full((0, k), -np.inf)
        self._size = 0
        self._listed = 0  # rows from here on are in no list yet

    @property
    def others(self) -> Rows:
        """Neighbours by row, best first, filled up with −1; shape (rows, k)."""
        return self._others[: self._size]

    def grow(self, size: int) -> None:
        """Make room for rows up to `size`, with empty lists."""
        if size > len(self._others):
            more = max(size, 2 * len(self._others)) - len(self._others)
            empty = np.full((more, self.k), NONE, np.int64)
            self._others = np.concatenate([self._others, empty])
            self._scores = np.concatenate([self._scores, np.full((more, self.k), -np.inf)])
        self._size = max(size, self._size)

    def build(self, rows: Rows, seq: Rows, scorer: Scorer, told: Told) -> None:
        """Work out the lists of these rows from nothing."""
        self.clear(rows)
        for done, found in scorer.pairs(rows, self.k):
            self._put(found, seq)
            told(len(done))
        self._listed = self._size

    def update(
        self, gone: Rows, touched: Rows, alive: Mask, seq: Rows, scorer: Scorer, told: Told
    ) -> Rows:
        """Bring the lists level after some rows went and others came or changed.

        Lists that held one of them are worked out anew, and those of `touched`; into all other
        lists a touched row goes where it is good enough, and the last one falls out. Returns the
        rows whose lists may differ now, `gone` among them, ascending.
        """
        moved = np.union1d(gone, touched)
        holders = self._holders(moved[moved < self._listed])
        self.clear(moved)
        anew = np.union1d(holders, touched)
        anew = anew[alive[anew]]
        stale = np.zeros(self._size, np.bool_)
        stale[anew] = True
        pushed: list[Rows] = []
        self.clear(anew)
        for done, found in scorer.pairs(anew[np.isin(anew, touched)], None):
            self._put(found, seq)
            pushed.append(self._push(found, stale, seq))
            told(len(done))
        for done, found in scorer.pairs(anew[~np.isin(anew, touched)], self.k):
            self._put(found, seq)
            told(len(done))
        self._listed = self._size
        return np.unique(np.concatenate([moved, anew, *pushed]))

    def edges(self, rows: Rows) -> dict[tuple[int, int], float]:
        """Edges that touch any of some rows, as (row, row) with the smaller row first."""
        others, scores = self._others[rows], self._scores[rows]
        back = self._others[np.maximum(others, 0)]
        mutual = (others != NONE) & (back == rows[:, None, None]).any(axis=2)
        place, column = np.nonzero(mutual)
        ends = rows[place], others[place, column]
        low, high = np.minimum(*ends), np.maximum(*ends)
        weights = scores[place, column]
        return dict(
            zip(zip(low.tolist(), high.tolist(), strict=True), weights.tolist(), strict=True)
        )

    def clear(self, rows: Rows) -> None:
        """Empty the lists of some rows."""
        self._others[rows] = NONE
        self._scores[rows] = -np.inf

    def _holders(self, rows: Rows) -> Rows:
        """Rows whose lists hold any of some rows."""
        if not len(rows):
            return np.empty(0, np.int64)
        return np.unique(np.flatnonzero(np.isin(self.others, rows)) // self.k)

    def _put(self, found: Pairs, seq: Rows) -> None:
        """Write the lists of the rows of `found`, which are empty."""
        order = np.lexsort((seq[found.others], -found.scores, found.rows))
        rows = found.rows[order]
        place = _place_in_run(rows)
        kept = place < self.k
        order, rows, place = order[kept], rows[kept], place[kept]
        self._others[rows, place] = found.others[order]
        self._scores[rows, place] = found.scores[order]

    def _push(self, found: Pairs, stale: Mask, seq: Rows) -> Rows:
        """Let rows into the lists of their neighbours, except those of `stale` rows, which are
        worked out by themselves. Returns the rows whose lists took one."""
        into, last = found.others, self._others[found.others, -1]
        worst = self._scores[into, -1]
        older = (last != NONE) & (seq[found.rows] < seq[np.maximum(last, 0)])
        better = (found.scores > worst) | ((found.scores == worst) & older)
        better &= ~stale[into]
        if not better.any():
            return np.empty(0, np.int64)
        changed = np.unique(into[better])
        held = self._others[changed]
        place, column = np.nonzero(held != NONE)
        joined = Pairs(
            np.concatenate([into[better], changed[place]]),
            np.concatenate([found.rows[better], held[place, column]]),
            np.concatenate([found.scores[better], self._scores[changed][place, column]]),
        )
        self.clear(changed)
        self._put(joined, seq)
        return changed


def _place_in_run(values: Rows) -> Rows:
    """0, 1, 2 … within each run of equal values."""
    if not len(values):
        return np.empty(0, np.int64)
    starts = np.flatnonzero(np.concatenate([[True], values[1:] != values[:-1]]))
    lengths = np.diff(np.concatenate([starts, [len(values)]]))
    return np.arange(len(values)) - np.repeat(starts, lengths)
