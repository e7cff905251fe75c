"""Vector search over the rows of one matrix: exact by default, HNSW as an extra for size."""

from __future__ import annotations

import math
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from memgene.core.errors import InputError, MissingDependencyError
from memgene.retrieval.score_bound import ScoreBound

Rows = NDArray[np.int64]
Scores = NDArray[np.float32]
Mask = NDArray[np.bool_]

HNSW_ROWS = 300_000
_BOUND_ROWS = 20_000
_SEEDS = 4  # rows scored to find out what the last place takes, as a multiple of the limit
_GATHER_SHARE = 8  # under one row in eight, gathering the rows beats scanning them all
_MOST_FETCHED = 2_000


class VectorIndex(Protocol):
    """Inner products of a query with rows numbered 0 … n−1 in the order they were appended.

    A removed row keeps its number, is erased, and is never found again. Searches may run beside
    each other; the owner keeps `append` and `remove` apart from them.
    """

    @property
    def dimension(self) -> int:
        """Length of a row."""
        ...

    def __len__(self) -> int:
        """Rows ever appended, removed ones included: the length of `scores` and of a mask."""
        ...

    def append(self, matrix: NDArray[np.float32]) -> None:
        """Add rows of shape (m, dimension)."""
        ...

    def remove(self, rows: Rows) -> None:
        """Erase rows; removing a row twice does nothing."""
        ...

    def search(
        self, query: NDArray[np.float32], limit: int, allowed: Mask | None = None
    ) -> tuple[Rows, Scores]:
        """The at most `limit` best rows and their scores, best first, equal scores by row number.

        Args:
            query: shape (dimension,), any length; the score is the inner product.
            limit: 0 or more.
            allowed: shape (len(self),); only rows that are true may be found. None allows all.
        """
        ...

    def scores(self, query: NDArray[np.float32]) -> Scores:
        """The inner product with every row, shape (len(self),); 0 for removed rows."""
        ...

    def scores_at(self, query: NDArray[np.float32], rows: Rows) -> Scores:
        """The inner product with the given rows, shape (len(rows),); 0 for removed rows."""
        ...


class ExactIndex:
    """The exact answer from one contiguous float32 matrix that grows by doubling.

    Scores are per-row dot products on the calling thread: equal rows get equal scores wherever
    they stand, and a busy machine does not make a search wait for a BLAS thread (a threaded
    matrix product over 10,000 rows took 16 ms in place of 0.4 when other work ran). From 20,000
    rows on a bound on half of the coordinates first rules out the rows that cannot be found.
    """

    def __init__(self, dimension: int) -> None:
        if dimension < 1:
            raise InputError(f"dimension must be at least 1, not {dimension}")
        self._matrix: NDArray[np.float32] = np.zeros((0, dimension), dtype=np.float32)
        self._alive: Mask = np.zeros(0, dtype=np.bool_)
        self._size = 0
        self._removed = 0
        self._bound: ScoreBound | None = None

    @property
    def dimension(self) -> int:
        """Length of a row."""
        return int(self._matrix.shape[1])

    @property
    def matrix(self) -> NDArray[np.float32]:
        """All rows, shape (len(self), dimension), as a view; removed rows are zero."""
        size = self._size
        return self._matrix[:size]

    def __len__(self) -> int:
        return self._size

    def append(self, matrix: NDArray[np.float32]) -> None:
        """Add rows of shape (m, dimension); see `VectorIndex`.

        Raises:
            InputError: another shape, or a value that is not finite.
        """
        new = np.asarray(matrix, dtype=np.float32)
        if new.ndim != 2 or new.shape[1] != self.dimension:
            raise InputError(f"expected rows of shape (m, {self.dimension}), got {new.shape}")
        finite = np.isfinite(new).all(axis=1)
        if not finite.all():
            raise InputError(f"row {int(np.argmin(finite))} of the batch is not finite")
        needed = self._size + len(new)
        grows = needed > len(self._matrix)
        if grows:
            self._grow(max(needed, 2 * len(self._matrix), 256))
        self._matrix[self._size : needed] = new
        self._alive[self._size : needed] = True
        if needed >= _BOUND_ROWS:
            if grows or self._bound is None:
                self._bound = ScoreBound(self._matrix, needed)
            else:
                self._bound.put(self._size, new)
        self._size = needed

    def remove(self, rows: Rows) -> None:
        """Erase rows; see `VectorIndex`.

        Raises:
            InputError: a row was never appended.
        """
        gone = np.unique(np.asarray(rows, dtype=np.int64))
        if len(gone) and (gone[0] < 0 or gone[-1] >= self._size):
            raise InputError(f"rows to remove must lie in 0 … {self._size - 1}")
        self._removed += int(self._alive[gone].sum())
        self._alive[gone] = False
        self._matrix[gone] = 0.0
        if self._bound is not None:
            self._bound.erase(gone)

    def living(self, allowed: Mask | None = None) -> Mask | None:
        """Which rows may be found, shape (len(self),); None when all may.

        Raises:
            InputError: `allowed` has another shape.
        """
        size = self._size
        if allowed is not None and allowed.shape != (size,):
            raise InputError(f"the mask has shape {allowed.shape}, the index {size} rows")
        if not self._removed:
            return allowed
        alive = self._alive[:size]
        return alive if allowed is None else alive & allowed

    def search(
        self, query: NDArray[np.float32], limit: int, allowed: Mask | None = None
    ) -> tuple[Rows, Scores]:
        """The exact answer; see `VectorIndex`."""
        vector = _checked(query, self.dimension)
        mask = self.living(allowed)
        rows = np.arange(self._size) if mask is None else np.flatnonzero(mask)
        if self._bound is not None and 0 < limit * _SEEDS < len(rows):
            rows = self._within_bound(self._bound, vector, limit, rows)
        if len(rows) * _GATHER_SHARE < self._size:
            return ranked(rows, self.scores_at(vector, rows), limit)
        return ranked(rows, self.scores(vector)[rows], limit)

    def scores(self, query: NDArray[np.float32]) -> Scores:
        """The inner product with every row; see `VectorIndex`."""
        result: Scores = np.vecdot(self.matrix, _checked(query, self.dimension))
        return result

    def scores_at(self, query: NDArray[np.float32], rows: Rows) -> Scores:
        """The inner product with the given rows; the same value for a row in any company."""
        vector = _checked(query, self.dimension)
        result: Scores = np.vecdot(self._matrix[rows], vector)
        return result

    def _within_bound(
        self, bound: ScoreBound, vector: NDArray[np.float32], limit: int, rows: Rows
    ) -> Rows:
        """Those of `rows` that could be among the `limit` best."""
        if len(rows) * _GATHER_SHARE < self._size:
            return rows
        bounds = bound.query(vector)
        highest = bounds.coarse(self._size)
        if len(rows) < self._size:
            highest = highest[rows]
        promising = rows[_largest(highest, limit * _SEEDS)]
        seeds = self.scores_at(vector, promising)
        floor = seeds[_largest(seeds, limit)].min()
        kept = np.flatnonzero(highest >= floor)
        survivors = rows[kept]
        kept = np.flatnonzero(bounds.refined(survivors, highest[kept]) >= floor)
        return survivors[kept]

    def _grow(self, capacity: int) -> None:
        matrix = np.zeros((capacity, self.dimension), dtype=np.float32)
        matrix[: self._size] = self._matrix[: self._size]
        alive = np.zeros(capacity, dtype=np.bool_)
        alive[: self._size] = self._alive[: self._size]
        self._matrix, self._alive = matrix, alive


class HnswIndex:
    """Approximate search in an HNSW graph (usearch), scored exactly from a float32 matrix.

    Masks: the graph is asked for more rows and the answer filtered; when so few rows are allowed
    that it would have to give more than 2,000, or when too few come back, the answer is the exact
    one. The graph is built on one thread, so that equal appends give equal graphs.

    Args:
        dimension: length of a row.
        dtype: numbers in the graph; `i8` is for rows of unit length.
        expansion: candidates kept while building and searching; more is slower and finds more.

    Raises:
        MissingDependencyError: usearch is not installed.
    """

    def __init__(
        self, dimension: int, *, dtype: Literal["f16", "i8"] = "f16", expansion: int = 128
    ) -> None:
        self._exact = ExactIndex(dimension)
        self._graph = _usearch_index(dimension, dtype, expansion)

    @property
    def dimension(self) -> int:
        """Length of a row."""
        return self._exact.dimension

    def __len__(self) -> int:
        return len(self._exact)

    def append(self, matrix: NDArray[np.float32]) -> None:
        """Add rows; see `VectorIndex`."""
        first = len(self._exact)
        self._exact.append(matrix)
        if len(matrix):
            keys = np.arange(first, len(self._exact), dtype=np.uint64)
            self._graph.add(keys, np.asarray(matrix, dtype=np.float32), threads=1)

    def remove(self, rows: Rows) -> None:
        """Erase rows; see `VectorIndex`. The graph keeps its links until it is rebuilt."""
        self._exact.remove(rows)

    def search(
        self, query: NDArray[np.float32], limit: int, allowed: Mask | None = None
    ) -> tuple[Rows, Scores]:
        """The approximate answer with exact scores; see `VectorIndex`."""
        vector = _checked(query, self.dimension)
        mask = self._exact.living(allowed)
        findable = len(self) if mask is None else int(np.count_nonzero(mask))
        wanted = min(limit, findable)
        if wanted <= 0:
            return self._exact.search(vector, limit, allowed)
        # Half as many again as would hold `wanted` rows if the allowed ones lay evenly.
        fetch = math.ceil(1.5 * wanted * len(self) / findable)
        if fetch > _MOST_FETCHED:
            return self._exact.search(vector, limit, allowed)
        keys = self._graph.search(vector, min(fetch, len(self)), threads=1).keys
        rows = np.sort(keys.astype(np.int64))
        if mask is not None:
            rows = rows[mask[rows]]
        if len(rows) < wanted:
            return self._exact.search(vector, limit, allowed)
        return ranked(rows, self.scores_at(vector, rows), limit)

    def scores(self, query: NDArray[np.float32]) -> Scores:
        """The exact inner product with every row; see `VectorIndex`."""
        return self._exact.scores(query)

    def scores_at(self, query: NDArray[np.float32], rows: Rows) -> Scores:
        """The exact inner product with the given rows; see `VectorIndex`."""
        return self._exact.scores_at(query, rows)


def make_index(
    rows: int, dimension: int, prefer: Literal["auto", "exact", "hnsw"] = "auto"
) -> VectorIndex:
    """An empty index meant for about `rows` rows.

    `auto` is exact below 300,000 rows, and above them if usearch is not installed.

    Raises:
        MissingDependencyError: `hnsw` is asked for and usearch is not installed.
        InputError: `prefer` is another word.
    """
    if prefer not in ("auto", "exact", "hnsw"):
        raise InputError(f"prefer must be auto, exact or hnsw, not {prefer!r}")
    if prefer == "hnsw" or (prefer == "auto" and rows >= HNSW_ROWS and _has_usearch()):
        return HnswIndex(dimension)
    return ExactIndex(dimension)


def ranked(rows: Rows, scores: Scores, limit: int) -> tuple[Rows, Scores]:
    """The `limit` best of `rows` (ascending), best first, equal scores by row number."""
    if limit < 0:
        raise InputError(f"limit must be 0 or more, not {limit}")
    if 0 < limit < len(rows):
        last = np.partition(scores, len(scores) - limit)[len(scores) - limit]
        kept = np.flatnonzero(scores >= last)
        rows, scores = rows[kept], scores[kept]
    order = np.argsort(-scores, kind="stable")[:limit]
    return rows[order], scores[order]


def _largest(values: Scores, count: int) -> Rows:
    """Positions of the `count` largest values, in no order."""
    return np.argpartition(values, len(values) - count)[len(values) - count :]


def _checked(query: NDArray[np.float32], dimension: int) -> NDArray[np.float32]:
    vector = np.ascontiguousarray(query, dtype=np.float32)
    if vector.shape != (dimension,):
        raise InputError(f"expected a query of shape ({dimension},), got {vector.shape}")
    if not np.isfinite(vector).all():
        raise InputError("the query vector holds a value that is not finite")
    return vector


def _has_usearch() -> bool:
    from importlib.util import find_spec

    return find_spec("usearch") is not None


def _usearch_index(dimension: int, dtype: str, expansion: int) -> Any:
    try:
        from usearch.index import Index
    except ImportError as error:
        raise MissingDependencyError(
            "the HNSW index needs usearch: pip install 'memgene[hnsw]'"
        ) from error
    return Index(
        ndim=dimension,
        metric="ip",
        dtype=dtype,
        expansion_add=expansion,
        expansion_search=expansion,
    )
