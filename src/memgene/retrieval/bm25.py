"""BM25 over rows, windows of rows and whole sources, from the postings in memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from memgene.retrieval.index import NONE, UnitIndex
from memgene.retrieval.query import QueryTerm

K1 = 1.2
B = 0.75
Floats = NDArray[np.float32]
Rows = NDArray[np.int64]
Spread = Callable[[int, tuple[int, ...]], tuple[Rows, Floats]]


def bm25(
    index: UnitIndex,
    terms: Sequence[QueryTerm],
    *,
    offsets: tuple[int, ...] = (0,),
    spread: Spread | None = None,
) -> Floats:
    """BM25 of every row, its text taken as that of the rows at `offsets` in the same source.

    `(0,)` is the plain view, `(-1, 0, 1)` a ±1 window, `(-1, 0)` previous and this turn.
    Removed rows score 0. `spread` may serve counts per window from a cache.
    """
    spread = spread or partial(window_counts, index)
    scores = np.zeros(len(index), np.float32)
    lengths, mean = index.window_lengths(offsets)
    for term in terms:
        if term.term is None:
            continue
        rows, counts = spread(term.term, offsets)
        norm = K1 * (1 - B + B * lengths[rows] / mean)
        scores[rows] += np.float32(term.idf * (K1 + 1)) * counts / (counts + norm)
    return np.where(index.alive, scores, np.float32(0))


def source_bm25(index: UnitIndex, terms: Sequence[QueryTerm]) -> Floats:
    """BM25 of each row's whole source (episode), 0 for rows without one."""
    many = len(index.sources)
    lengths, living = index.source_lengths()
    if not living:
        return np.zeros(len(index), np.float32)
    source, alive = index.source, index.alive
    owned = (source != NONE) & alive
    mean = max(float(lengths.sum()) / living, 1.0)
    norm = K1 * (1 - B + B * lengths / mean)
    scores = np.zeros(many)
    for term in terms:
        if term.term is None:
            continue
        rows, counts = index.postings.rows(term.term)
        keep = owned[rows]
        tf = np.bincount(source[rows[keep]], counts[keep], many)
        df = int((tf > 0).sum())
        idf = np.log1p((living - df + 0.5) / (df + 0.5))
        scores += idf * tf * (K1 + 1) / (tf + norm)
    return np.where(owned, scores[source], 0).astype(np.float32)


def window_counts(index: UnitIndex, term: int, offsets: tuple[int, ...]) -> tuple[Rows, Floats]:
    """Rows in whose window the term occurs, with the summed counts."""
    holders, counts = index.postings.rows(term)
    if offsets == (0,):
        return holders.astype(np.int64), counts
    living = index.alive[holders]
    rows, counts = holders[living].astype(np.int64), counts[living]
    summed = np.zeros(len(index) + 1, np.float32)  # the last place collects the missing (−1)
    for offset in offsets:
        # the rows that have this one at `offset` are those at −offset from it, all distinct
        summed[index.shifted(rows, -offset)] += counts
    found = np.flatnonzero(summed[:-1])
    return found, summed[found]
