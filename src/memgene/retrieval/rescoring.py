"""After fusion: importance, recency, reinforcement, utility, neighbours (EvolveMem §3).

`base · (1 + a·importance + b·2^(−age/half-life) + c·log(1 + reinforcement)) + μ·(Q − ½)`, then
the best neighbour's share. Q is what was learned of a memory's use; while nothing was, it is ½ and
the term changes no score. Ages count from the newest unit, never from the clock, so that a result
can be repeated.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memgene.retrieval.config import RetrievalConfig
from memgene.retrieval.index import NONE, UnitIndex
from memgene.retrieval.values import NEUTRAL

Floats = NDArray[np.float32]
Scores = NDArray[np.floating[Any]]
Rows = NDArray[np.int64]


def rescore(
    base: Scores,
    pool: Rows,
    index: UnitIndex,
    config: RetrievalConfig,
    now: float | None = None,
    values: Floats | None = None,
) -> tuple[Scores, Mapping[str, Floats]]:
    """New scores and, for explanation, each factor by name (only those that are switched on, and
    `utility` only where some candidate's value is not neutral).

    `base` lies in [0, 1]; `now` is a day number (default: the newest event in memory). `values`
    are the candidates' learned values for this question (default: their utility).
    """
    factors: dict[str, Floats] = {}
    if config.importance_weight:
        factors["importance"] = (
            np.float32(config.importance_weight) * (index.boost("importance")[pool])
        )
    if config.recency_weight:
        factors["recency"] = np.float32(config.recency_weight) * _recency(
            pool, index, config.half_life_days, now
        )
    if config.reinforcement_weight:
        counted = np.log1p(index.boost("reinforcement")[pool])
        factors["reinforcement"] = np.float32(config.reinforcement_weight) * counted
    scores = base * (1 + sum(factors.values(), np.zeros_like(base)))
    if config.utility_weight:
        learned = (index.boost("utility")[pool] if values is None else values) - np.float32(NEUTRAL)
        if learned.any():
            factors["utility"] = np.float32(config.utility_weight) * learned
            scores = scores + factors["utility"]
    if config.neighbour_bonus:
        factors["neighbours"] = np.float32(config.neighbour_bonus) * _best_neighbour(
            scores, pool, index
        )
        scores = scores + factors["neighbours"]
    return scores.astype(base.dtype), factors


def _recency(pool: Rows, index: UnitIndex, half_life: float, now: float | None) -> Floats:
    days = index.day[pool]
    known = index.day[index.alive & ~np.isnan(index.day)]
    if now is None:
        if not len(known):
            return np.zeros(len(pool), np.float32)
        now = float(known.max())
    age = np.maximum(now - days, 0)
    return np.nan_to_num(np.exp2(-age / half_life)).astype(np.float32)


def _best_neighbour(scores: Scores, pool: Rows, index: UnitIndex) -> Floats:
    """Highest score among the direct neighbours that are candidates too, else 0."""
    lookup = np.zeros(len(index), np.float32)
    lookup[pool] = scores
    best = np.zeros(len(pool), np.float32)
    for offset in (-1, 1):
        rows = index.shifted(pool, offset)
        best = np.maximum(best, np.where(rows == NONE, np.float32(0), lookup[rows]))
    return best
