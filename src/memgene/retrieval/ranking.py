"""A ranking, and why each of its rows stands where it stands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memgene.core import ViewScore, Why
from memgene.retrieval.config import RetrievalConfig
from memgene.retrieval.query import Query
from memgene.retrieval.views import View

Floats = NDArray[np.float32]
Rows = NDArray[np.int64]
EXPLAINED_FEATURES = 8


@dataclass(frozen=True, slots=True)
class Ranking:
    """Rows of the pool, best first, with their scores; `explain(i)` says why row i stands there.

    `weights` are those of the routes where a router, or whoever ranked, weighed them.
    """

    query: Query
    config: RetrievalConfig
    rows: Rows
    scores: Floats
    views: Sequence[View]
    fused: Floats
    factors: Mapping[str, Floats]
    contributions: Mapping[str, NDArray[np.floating[Any]]]
    weights: Mapping[str, float] = field(default_factory=dict)

    def explain(self, places: int) -> list[Why]:
        """For the first places: rank and score per view, weights of the routes, fused score,
        factors, features."""
        places = min(places, len(self.rows))
        top = self.rows[:places]
        seen = []
        for view in self.views:
            rank = {row: i for i, row in enumerate(view.rows.tolist(), 1)}
            seen.append((view.name, rank, view.score_at(top).tolist()))
        said = self._spoken(places)
        weights = {name: round(weight, 6) for name, weight in self.weights.items()}
        return [
            Why(
                views={
                    name: ViewScore(rank.get(row), round(scores[place], 6))
                    for name, rank, scores in seen
                },
                fused=round(float(self.fused[place]), 6),
                factors={n: round(float(v[place]), 6) for n, v in self.factors.items()},
                features=said[place],
                weights=weights,
            )
            for place, row in enumerate(top.tolist())
        ]

    def _spoken(self, places: int) -> list[dict[str, float]]:
        """The features that moved each place most, largest first."""
        if not self.contributions:
            return [{} for _ in range(places)]
        names = list(self.contributions)
        table = np.stack([self.contributions[n][:places] for n in names], axis=1)
        order = np.argsort(-np.abs(table), axis=1, kind="stable")[:, :EXPLAINED_FEATURES]
        return [
            {names[i]: round(float(row[i]), 6) for i in chosen if row[i]}
            for row, chosen in zip(table, order.tolist(), strict=True)
        ]
