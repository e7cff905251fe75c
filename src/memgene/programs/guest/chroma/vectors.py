"""Vectors in rows, and the nearest of them: one matrix product, then exact distances of the best.

Distances are chromadb's: `l2` is the squared Euclidean distance, `cosine` 1 − cos, `ip` 1 − a·b.
Ties go to the earlier row.
"""

from __future__ import annotations

from typing import cast

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]
Rows = NDArray[np.int64]
Distances = NDArray[np.float64]
SPACES = ("l2", "cosine", "ip")
_FIRST_ROWS = 64
_SLACK = 1e-5  # how far float32 products can be off, relative to the squared lengths


class VectorRows:
    """A growing float32 matrix with what each space needs beside it."""

    def __init__(self, dimension: int, space: str) -> None:
        self.dimension = dimension
        self._space = space
        self._raw = np.zeros((_FIRST_ROWS, dimension), np.float32)
        # Lengths are 1 for `cosine` and not looked at for `ip`.
        self._unit = self._raw if space != "cosine" else np.zeros_like(self._raw)
        self._squares = np.zeros(_FIRST_ROWS, np.float32)
        self._largest = 0.0

    def put(self, rows: Rows, vectors: Vectors) -> None:
        """Set some rows, each given once; rows never set are zero."""
        if not len(rows):
            return
        self._grow(int(rows.max()) + 1)
        squares = np.einsum("ij,ij->i", vectors, vectors)
        self._raw[rows] = vectors
        self._squares[rows] = squares
        self._largest = max(self._largest, float(squares.max()))
        if self._space == "cosine":
            self._unit[rows] = _unit_rows(vectors, squares)

    def at(self, rows: Rows) -> Vectors:
        """The vectors of some rows as they were put."""
        self._grow(int(rows.max(initial=-1)) + 1)
        return self._raw[rows]

    def picked(self, rows: Rows) -> VectorRows:
        """New rows 0, 1, 2, … with the vectors of the given ones."""
        new = VectorRows(self.dimension, self._space)
        new.put(np.arange(len(rows)), self.at(rows))
        return new

    def nearest(
        self, vector: Vectors, count: int, size: int, allowed: Rows | None
    ) -> tuple[Rows, Distances]:
        """The `count` nearest of rows 0 … `size`−1 (or of the `allowed` ones, ascending), with
        their distances, nearest first."""
        self._grow(size)
        if self._space == "cosine":
            vector = _unit_rows(vector[None], np.asarray([vector @ vector]))[0]
        matrix = self._unit[:size] if allowed is None else self._unit[allowed]
        rough = matrix @ vector
        square = float(vector @ vector)
        if self._space == "l2":
            squares = self._squares[:size] if allowed is None else self._squares[allowed]
            rough = squares - 2 * rough
            slack = _SLACK * (self._largest + square)
        else:
            rough = -rough
            largest = 1.0 if self._space == "cosine" else self._largest
            slack = _SLACK * (largest + square)
        if count < len(rough):
            bound = np.partition(rough, count - 1)[count - 1] + np.float32(slack)
            near = np.flatnonzero(rough <= bound)
        else:
            near = np.arange(len(rough))
        distances = self._distances(matrix[near], vector)
        order = np.argsort(distances, kind="stable")[:count]
        chosen = near[order]
        return (chosen if allowed is None else allowed[chosen]), distances[order]

    def _distances(self, vectors: Vectors, vector: Vectors) -> Distances:
        """Distances row by row in one order of additions: equal vectors have equal distances."""
        if self._space == "l2":
            apart = vectors - vector
            return cast(Distances, np.multiply(apart, apart, dtype=np.float64).sum(axis=1))
        products = np.multiply(vectors, vector, dtype=np.float64)
        return cast(Distances, 1.0 - products.sum(axis=1))

    def _grow(self, size: int) -> None:
        if size <= len(self._raw):
            return
        size = max(size, 2 * len(self._raw))
        self._raw = _grown(self._raw, size)
        self._squares = _grown(self._squares, size)
        self._unit = self._raw if self._space != "cosine" else _grown(self._unit, size)


def _grown(array: NDArray[np.float32], size: int) -> NDArray[np.float32]:
    grown = np.zeros((size, *array.shape[1:]), np.float32)
    grown[: len(array)] = array
    return grown


def _unit_rows(vectors: Vectors, squares: NDArray[np.float32]) -> Vectors:
    """Rows of length 1; a zero row stays zero."""
    lengths = np.sqrt(squares)
    lengths[lengths == 0] = 1
    unit: Vectors = (vectors / lengths[:, None]).astype(np.float32, copy=False)
    return unit
