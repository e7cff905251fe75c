"""Soft word match: how near the words of a unit come to each word of the question.

For each query word the best cosine with any word of the unit (centred static word vectors),
weighted by idf. Cosines under a threshold count as no match, which keeps the view sparse.
"""

from __future__ import annotations

import threading

import numpy as np
from numpy.typing import NDArray

from memgene.embed.protocol import WordVectors
from memgene.retrieval.index import UnitIndex
from memgene.retrieval.query import QueryTerm

THRESHOLD = 0.35
_CACHED_WORDS = 4096


class SoftMatcher:
    """Word vectors of an index's vocabulary, grown as it grows."""

    def __init__(self, vectors: WordVectors) -> None:
        self._source = vectors
        self._matrix = np.zeros((1024, vectors.dimension), np.float32)
        self._size = 0
        self._near: dict[str, tuple[int, NDArray[np.int64], NDArray[np.float32]]] = {}
        self._lock = threading.Lock()

    def scores(self, index: UnitIndex, terms: tuple[QueryTerm, ...]) -> NDArray[np.float32]:
        """Per row: Σ idf · best cosine / Σ idf, in [0, 1]."""
        total = np.zeros(len(index), np.float32)
        weight = sum(t.idf for t in terms)
        if not weight:
            return total
        for term in terms:
            near, cosines = self._neighbours(index, term.word)
            best = np.zeros(len(index), np.float32)
            for other, cosine in zip(near.tolist(), cosines.tolist(), strict=True):
                best[index.postings.rows(other)[0]] = cosine
            if term.term is not None:
                best[index.postings.rows(term.term)[0]] = 1.0
            total += np.float32(term.idf / weight) * best
        return total

    def _neighbours(
        self, index: UnitIndex, word: str
    ) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Terms of the vocabulary near a word, the nearest last."""
        with self._lock:
            matrix = self._grown(index)
            cached = self._near.get(word)
            if cached is not None and cached[0] == len(matrix):
                return cached[1], cached[2]
        cosines = matrix @ self._source.words([word])[0]
        near = np.flatnonzero(cosines >= THRESHOLD)
        near = near[np.argsort(cosines[near], kind="stable")]
        found = (near, cosines[near])
        with self._lock:
            if len(self._near) >= _CACHED_WORDS:
                self._near.clear()
            self._near[word] = (len(matrix), *found)
        return found

    def _grown(self, index: UnitIndex) -> NDArray[np.float32]:
        words = index.surface
        if len(words) > self._size:
            if len(words) > len(self._matrix):
                grown = np.zeros(
                    (max(len(words), 2 * len(self._matrix)), self._matrix.shape[1]), np.float32
                )
                grown[: self._size] = self._matrix[: self._size]
                self._matrix = grown
            self._matrix[self._size : len(words)] = self._source.words(words[self._size :])
            self._size = len(words)
        return self._matrix[: self._size]
