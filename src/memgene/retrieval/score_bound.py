"""Upper bounds of inner products from a part of the coordinates, to skip most of a scan."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.int64]
Floats = NDArray[np.float32]

_SAMPLE_ROWS = 20_000
_CHUNK = 1024  # rows in one product: few enough for BLAS to stay on the calling thread
_EPSILON = float(np.finfo(np.float32).eps)


class ScoreBound:
    """Bounds `q·x` for numbered rows x, first from a half of the coordinates, then from three
    quarters.

    In the basis of the rows' principal axes the leading part x₁ holds most of a row, and
    `q·x ≤ q₁·x₁ + |q₂||x₂|` (Cauchy–Schwarz on the rest x₂). Any orthogonal basis gives a valid
    bound, so that the axes may come from a sample and need not follow later rows.
    """

    def __init__(self, matrix: Floats, size: int) -> None:
        """Take the first `size` rows of `matrix`, shape (capacity, d); more may be put later."""
        capacity, dimension = matrix.shape
        sample = matrix[: size : max(1, size // _SAMPLE_ROWS)]
        axes = np.linalg.eigh(sample.T @ sample)[1][:, ::-1]
        self._basis: Floats = np.ascontiguousarray(axes, dtype=np.float32)
        half = (dimension + 1) // 2
        self._parts = (slice(0, half), slice(half, (half + dimension + 1) // 2))
        self._blocks = tuple(
            np.zeros((capacity, part.stop - part.start), dtype=np.float32) for part in self._parts
        )
        self._rests = tuple(np.zeros(capacity, dtype=np.float32) for _ in self._parts)
        self._longest = 0.0
        self.put(0, matrix[:size])

    def put(self, first: int, rows: Floats) -> None:
        """Take the rows numbered `first`, `first` + 1, …, shape (m, d)."""
        rotated = rows @ self._basis
        place = slice(first, first + len(rows))
        for part, block, rest in zip(self._parts, self._blocks, self._rests, strict=True):
            block[place] = rotated[:, part]
            beyond = rotated[:, part.stop :]
            rest[place] = np.sqrt(np.vecdot(beyond, beyond))
        self._longest = max(self._longest, float(np.sqrt(np.vecdot(rows, rows).max(initial=0.0))))

    def erase(self, rows: Rows) -> None:
        """Forget the rows' coordinates."""
        for array in (*self._blocks, *self._rests):
            array[rows] = 0.0

    def query(self, vector: Floats) -> QueryBound:
        """The bounds for one query, shape (d,)."""
        return QueryBound(self, vector)

    def _terms(self, vector: Floats) -> tuple[list[Floats], list[np.float32], np.float32]:
        """The query's parts, the lengths of what lies beyond each, and the rounding allowance."""
        rotated = vector @ self._basis
        parts = [rotated[part] for part in self._parts]
        beyond = [np.float32(np.linalg.norm(rotated[part.stop :])) for part in self._parts]
        slack = 4 * len(vector) * _EPSILON * self._longest * float(np.linalg.norm(vector))
        return parts, beyond, np.float32(slack)


class QueryBound:
    """The bounds of one query's scores."""

    def __init__(self, bound: ScoreBound, vector: Floats) -> None:
        self._bound = bound
        self._parts, self._beyond, self._slack = bound._terms(vector)

    def coarse(self, size: int) -> Floats:
        """Upper bounds for the first `size` rows, shape (size,)."""
        bounds: Floats = np.empty(size, dtype=np.float32)
        block = self._bound._blocks[0][:size]
        for start in range(0, size, _CHUNK):
            part = slice(start, start + _CHUNK)
            np.matmul(block[part], self._parts[0], out=bounds[part])
        bounds += self._bound._rests[0][:size] * self._beyond[0]
        bounds += self._slack
        return bounds

    def refined(self, rows: Rows, coarse: Floats) -> Floats:
        """Tighter upper bounds for some rows, given their coarse ones; shape (len(rows),)."""
        bounds: Floats = coarse - self._bound._rests[0][rows] * self._beyond[0]
        bounds += np.vecdot(self._bound._blocks[1][rows], self._parts[1])
        bounds += self._bound._rests[1][rows] * self._beyond[1]
        return bounds
