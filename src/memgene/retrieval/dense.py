"""The dense side of an index: raw and centred vectors of the rows, and cosines with a query.

Static vectors share a strong common direction; subtracting the memory's mean vector removes it
(docs/decisions/003). The mean is taken over the first 2^k living units, at most 256, so that it
seldom changes while a memory grows and is the same for an index built at once.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from memgene.embed.protocol import Embedder, WordVectors
from memgene.retrieval.config import RetrievalConfig
from memgene.retrieval.query import Query
from memgene.retrieval.vector_index import VectorIndex, make_index

Vectors = NDArray[np.float32]
Rows = NDArray[np.int64]
MEAN_ROWS = 256


class DenseSpace:
    """Vectors of the rows of an index, in the order of the rows.

    `static` tells whether they are means of word vectors: those gain from centring and from
    content words, sentence encoders lose by both (docs/benchmarks.md).
    """

    def __init__(self, embedder: Embedder) -> None:
        self.embedder = embedder
        self.static = isinstance(embedder, WordVectors)
        self._raw = np.zeros((256, embedder.dimension), np.float32)
        self._size = 0
        self._dead: list[int] = []
        self._seq: list[int] = []
        self._plain: VectorIndex | None = None
        self._centred: VectorIndex | None = None
        self._mean: NDArray[np.float32] | None = None
        self._mean_rows = 0
        self._mean_last = -1
        self._lock = threading.RLock()
        self._query = lru_cache(maxsize=256)(self._embed_query)

    def __len__(self) -> int:
        return self._size

    @property
    def raw(self) -> Vectors:
        """The vectors as stored, shape (rows, dimension)."""
        return self._raw[: self._size]

    def append(self, vectors: Vectors, seq: Sequence[int] | None = None) -> None:
        """Add the vectors of new rows; `seq` is their insertion order (default: as they come)."""
        order = list(range(self._size, self._size + len(vectors))) if seq is None else list(seq)
        with self._lock:
            self._seq += order
            needed = self._size + len(vectors)
            if needed > len(self._raw):
                grown = np.zeros((max(needed, 2 * len(self._raw)), self._raw.shape[1]), np.float32)
                grown[: self._size] = self.raw
                self._raw = grown
            self._raw[self._size : needed] = vectors
            self._size = needed
            if self._plain is not None:
                self._plain.append(vectors)
            unmoved = self._rows_for_mean() == self._mean_rows
            if unmoved and self._centred is not None and min(order, default=0) > self._mean_last:
                self._centred.append(self._centre(vectors))
            else:
                self._forget_centre()

    def remove(self, row: int) -> None:
        """Take a row out of all searches."""
        with self._lock:
            self._dead.append(row)
            if self._plain is not None:
                self._plain.remove(np.asarray([row]))
            if self._centred is not None and self._seq[row] > self._mean_last:
                self._centred.remove(np.asarray([row]))
            else:
                self._forget_centre()

    def search(
        self, text: str, centred: bool, limit: int, allowed: NDArray[np.bool_] | None
    ) -> tuple[Rows, NDArray[np.float32]]:
        """The `limit` rows with the highest cosine, best first, ties by row."""
        space = self._space(centred)
        return space.search(self._query(text, centred), limit, allowed)

    def cosine(self, text: str, centred: bool, rows: Rows) -> NDArray[np.float32]:
        """Cosine of the query text with some rows."""
        space = self._space(centred)
        return space.scores_at(self._query(text, centred), rows)

    def scored(self, text: str, centred: bool, rows: Rows) -> NDArray[np.float32]:
        """Cosines as `cosine` gives them; NaN where there is none, for a row without a vector or a
        text without a known word."""
        cosines = self.cosine(text, centred, rows)
        if not self._query(text, centred).any():
            return np.full_like(cosines, np.nan)
        return np.where(self._raw[rows].any(axis=1), cosines, np.float32(np.nan))

    def rows(self, rows: Rows) -> Vectors:
        """Unit vectors of some rows, centred where the embedder gains from it."""
        if not self.static:
            return self._raw[rows]
        self._space(True)
        return self._centre(self._raw[rows])

    def _space(self, centred: bool) -> VectorIndex:
        with self._lock:
            if not centred:
                if self._plain is None:
                    self._plain = self._built(self.raw)
                return self._plain
            if self._centred is None:
                living = np.ones(self._size, np.bool_)
                living[self._dead] = False
                self._mean_rows = self._rows_for_mean()
                rows, seq = np.flatnonzero(living), np.asarray(self._seq, np.int64)
                first = rows[np.argsort(seq[rows], kind="stable")][: self._mean_rows]
                self._mean_last = int(seq[first[-1]]) if len(first) else -1
                total = self._raw[first].sum(axis=0, dtype=np.float64)
                self._mean = (total / max(len(first), 1)).astype(np.float32)
                self._query.cache_clear()
                self._centred = self._built(self._centre(self.raw))
            return self._centred

    def _built(self, vectors: Vectors) -> VectorIndex:
        index = make_index(len(vectors), vectors.shape[1])
        index.append(vectors)
        if self._dead:
            index.remove(np.asarray(self._dead))
        return index

    def _rows_for_mean(self) -> int:
        living = self._size - len(self._dead)
        return min(1 << (living.bit_length() - 1), MEAN_ROWS) if living else 0

    def _forget_centre(self) -> None:
        self._centred = self._mean = None
        self._query.cache_clear()

    def _centre(self, vectors: Vectors) -> Vectors:
        assert self._mean is not None
        moved = vectors - self._mean
        norm = np.linalg.norm(moved, axis=1, keepdims=True)
        empty = ~vectors.any(axis=1, keepdims=True)
        return np.where(empty | (norm == 0), 0, moved / np.maximum(norm, 1e-12)).astype(np.float32)

    def _embed_query(self, text: str, centred: bool) -> NDArray[np.float32]:
        vector = self.embedder.embed([text])
        found: NDArray[np.float32] = (self._centre(vector) if centred else vector)[0]
        return found


def dense_query(query: Query, config: RetrievalConfig, dense: DenseSpace) -> tuple[str, bool]:
    """What the dense view embeds for a question, and whether it looks in the centred space."""
    if _on(config.dense_content_words, dense):
        text = query.words(names=not config.dense_drop_names)
    elif config.dense_drop_names:
        text = query.without_names()
    else:
        text = query.text
    return text, _on(config.dense_center, dense)


def _on(switch: str, dense: DenseSpace) -> bool:
    return dense.static if switch == "auto" else switch == "on"
