"""Changing the set: neighbours of the best join the pool; diversity reorders the top (MMR)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from memgene.retrieval.index import NONE, UnitIndex

Floats = NDArray[np.float32]
Rows = NDArray[np.int64]
MMR_DEPTH = 50


def with_neighbours(
    pool: Rows, best: Rows, reach: int, index: UnitIndex, allowed: NDArray[np.bool_] | None
) -> Rows:
    """The pool plus the units up to `reach` places around the best rows."""
    around = [index.shifted(best, o) for o in range(-reach, reach + 1)]
    joined = np.unique(np.concatenate([pool, *around]))
    joined = joined[joined != NONE]
    kept: Rows = joined if allowed is None else joined[allowed[joined]]
    return kept


def mmr_order(scores: Floats, vectors: NDArray[np.float32], balance: float) -> Rows:
    """Positions in the order of maximal marginal relevance.

    Greedy: `(1 − λ)·score − λ·max cosine with those already chosen`; scores in [0, 1], best
    first on input. Only the first 50 are reordered. (Carbonell & Goldstein 1998)
    """
    depth = min(len(scores), MMR_DEPTH)
    cosines = vectors[:depth] @ vectors[:depth].T
    nearest = np.full(depth, -np.inf, np.float32)
    left = np.ones(depth, np.bool_)
    chosen: list[int] = []
    for _ in range(depth):
        penalty = np.where(np.isneginf(nearest), 0, nearest)
        gain = np.where(left, (1 - balance) * scores[:depth] - balance * penalty, -np.inf)
        pick = int(np.argmax(gain))
        chosen.append(pick)
        left[pick] = False
        nearest = np.maximum(nearest, cosines[pick])
    return np.concatenate([chosen, np.arange(depth, len(scores))]).astype(np.int64)
