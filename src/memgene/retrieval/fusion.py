"""Joining views into one score per candidate (EvolveMem §3; learned: retrieval.md)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from memgene.retrieval.config import RetrievalConfig
from memgene.retrieval.index import UnitIndex
from memgene.retrieval.query import Query
from memgene.retrieval.views import View

Floats = NDArray[np.float32]
Rows = NDArray[np.int64]
Number = TypeVar("Number", np.float32, np.float64)
RRF_ETA = 60


def min_max(values: NDArray[Number]) -> NDArray[Number]:
    """Values moved and scaled to [0, 1]; all equal → 0."""
    low, high = values.min(initial=np.inf), values.max(initial=-np.inf)
    if not high > low:
        return np.zeros_like(values)
    scaled: NDArray[Number] = (values - low) / (high - low)
    return scaled


def fuse(
    views: Sequence[View], pool: Rows, query: Query, index: UnitIndex, config: RetrievalConfig
) -> Floats:
    """Scores of the pool by the configured untrained fusion.

    `sum`, `weighted_sum`: Σ w_v · min-max of the view's scores over the pool, plus the speaker
    and length terms. `rrf`: Σ w_v / (60 + rank_v), rank from 1, over the rows a view returned.
    Single views: that view's own score.
    """
    if config.fusion == "rrf":
        return rrf(views, pool)
    if config.fusion in ("lexical_only", "dense_only"):
        total = np.zeros(len(pool), np.float32)
        for view in views:
            total += view.score_at(pool)
        return total
    total = np.zeros(len(pool), np.float32)
    for view in views:
        if view.weight:
            total += np.float32(view.weight) * min_max(view.score_at(pool))
    plain = config.fusion == "sum"
    if (speaker := 1.0 if plain else config.weight_speaker) and query.speakers:
        named = np.isin(index.speaker[pool], sorted(query.speakers))
        total += np.float32(speaker) * named
    if not plain and config.weight_length:
        total += np.float32(config.weight_length) * min_max(np.log1p(index.length[pool]))
    return total


def rrf(views: Sequence[View], pool: Rows) -> Floats:
    """Reciprocal rank fusion."""
    place = {int(row): i for i, row in enumerate(pool)}
    total = np.zeros(len(pool), np.float64)
    for view in views:
        for rank, row in enumerate(view.rows.tolist(), 1):
            if row in place:
                total[place[row]] += view.weight / (RRF_ETA + rank)
    return total.astype(np.float32)
