"""Cosines of the vectors of a group, exact on the grid of its frame."""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil

import numpy as np
from numpy.typing import NDArray

from memgene.engine.linking.frame import SQUARE, Grid
from memgene.engine.linking.nearest import Pairs, Rows
from memgene.engine.linking.runs import Runs

_CHUNKS = 64
_CELLS = 1 << 24  # of one block of cosines: 64 MB
_KEPT = 1 << 22  # of the grid as floats, kept between calls: at most 32 MB


class DenseScores:
    """A scorer for `Nearest`: pairs of rows whose cosine is at least `threshold`.

    All cosines of a block of rows are one matrix product; a row is erased by making it zero.
    """

    def __init__(self, dimension: int, threshold: float, runs: Runs) -> None:
        self._grid: Grid = np.zeros((0, dimension), np.int16)
        self._size = 0
        self._floats: NDArray[np.float32] = np.zeros((0, dimension), np.float32)
        self._level = 0  # rows of the grid that `_floats` holds
        self._least = max(1, ceil(round(threshold * SQUARE, 3)))
        self._runs = runs

    @property
    def grid(self) -> Grid:
        """The vectors by row, shape (rows, dimension)."""
        return self._grid[: self._size]

    def append(self, grid: Grid) -> None:
        """Add rows."""
        needed = self._size + len(grid)
        if needed > len(self._grid):
            grown = np.zeros((max(needed, 2 * len(self._grid)), self._grid.shape[1]), np.int16)
            grown[: self._size] = self.grid
            self._grid = grown
        self._grid[self._size : needed] = grid
        self._size = needed

    def remove(self, rows: Rows) -> None:
        """Erase rows."""
        self._grid[rows] = 0
        self._floats[rows[rows < self._level]] = 0

    def pairs(self, rows: Rows, most: int | None) -> Iterator[tuple[Rows, Pairs]]:
        """Pairs by block; see `Scorer`."""
        if not len(rows):
            return
        whole = self._as_floats()
        at_once = max(1, _CELLS // len(whole))
        for start in range(0, len(rows), at_once):
            block = rows[start : start + at_once]
            yield block, self._block(block, whole, most)

    def _as_floats(self) -> NDArray[np.float32]:
        """The grid as numbers a matrix product is fast with, filled up to whole chunks, so that the
        largest of each chunk is one maximum over an axis. Kept for the next call while it is small:
        units come one at a time when a memory learns."""
        padded = -(-self._size // _CHUNKS) * _CHUNKS
        if padded > len(self._floats):
            spare = padded if padded * self._grid.shape[1] > _KEPT else 2 * padded
            floats = np.zeros((spare, self._grid.shape[1]), np.float32)
            floats[: self._size] = self.grid
        else:
            floats = self._floats
            floats[self._level : self._size] = self.grid[self._level :]
        if floats.size <= 2 * _KEPT:
            self._floats, self._level = floats, self._size
        return floats[:padded]

    def _block(self, rows: Rows, whole: NDArray[np.float32], most: int | None) -> Pairs:
        found = whole[rows] @ whole.T
        found[np.arange(len(rows)), rows] = 0
        self._runs.hide(found[:, : self._size], rows)
        least = np.full(len(rows), self._least, np.float32)
        if most is not None and most < found.shape[1] // _CHUNKS:
            # each of the `most` largest chunks holds a row at least as good as their smallest
            # maximum, so what is below it is not among the `most` best
            highest = found.reshape(len(rows), _CHUNKS, -1).max(axis=1)
            floor = np.partition(highest, highest.shape[1] - most, axis=1)[:, -most]
            least = np.maximum(least, floor)
        # flat, which is several times faster than two axes
        place, others = np.divmod(np.flatnonzero(found >= least[:, None]), found.shape[1])
        return Pairs(rows[place], others, found[place, others] / np.float64(SQUARE))
