"""A question made ready for the fusions that join views, with a router as a residual on them.

`score + ρ·K·Σ_v (π_v − p̄_v)·min-max(view_v)` over K views: what an untrained router leaves as it
was, to the last bit (memgene's own; CoEvo-Mem has two routes and no fusion below them).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from memgene.retrieval.config import ROUTED
from memgene.retrieval.features.candidates import Candidates
from memgene.retrieval.features.registry import matrix
from memgene.retrieval.fusion import fuse, min_max
from memgene.retrieval.observing import Returned
from memgene.retrieval.prepared import Asked, Fused, Prepared, RouteTable
from memgene.retrieval.ranker import Ranker
from memgene.retrieval.views import View

Floats = NDArray[np.float32]
Wide = NDArray[np.float64]
Rows = NDArray[np.int64]


class _Base(NamedTuple):
    """A pool without the router: fused scores and the terms that explain them."""

    scores: Floats
    contributions: Mapping[str, Floats]


class PreparedViews(Prepared):
    """Views and their pool; what does not depend on the router is computed once per pool."""

    def __init__(self, asked: Asked, views: Sequence[View], pool: Rows) -> None:
        super().__init__(asked, pool, _routes(asked, views))
        self._views = views
        self._bases: dict[bytes, _Base] = {}
        self._tables: dict[bytes, Wide] = {}

    @property
    def candidates(self) -> Candidates:
        """The pool as the learned fusion sees it."""
        first = fuse(self._views, self._pool, self.query, self.index, self.config)
        return Candidates(self._asked.signals, self._pool, first)

    def route_table(self) -> RouteTable:
        table = self._strength * len(self.routes) * self._table(self._pool)
        base = self._base(self._pool).scores.astype(np.float64)
        base += self._stage_base(self._pool)
        return RouteTable(self._pool, table, base - table @ self.prior)

    @property
    def _strength(self) -> float:
        router = self.config.router
        return self.config.router_strength * (1.0 if router is None else router.strength)

    def _fused(self, pool: Rows, weights: Wide | None) -> Fused:
        base = self._base(pool)
        if weights is None:
            return Fused(pool, base.scores, self._views, base.contributions, {})
        told = dict(zip(self.routes, weights.tolist(), strict=True))
        moved = self._strength * len(self.routes) * (weights - self.prior)
        if not moved.any():
            return Fused(pool, base.scores, self._views, base.contributions, told)
        terms = (self._table(pool) * moved).astype(np.float32)
        said = {f"router.{name}": terms[:, at] for at, name in enumerate(self.routes)}
        scores: Floats = base.scores + terms.sum(axis=1)
        return Fused(pool, scores, self._views, {**base.contributions, **said}, told)

    def _base(self, pool: Rows) -> _Base:
        key = pool.tobytes()
        if key not in self._bases:
            scores = fuse(self._views, pool, self.query, self.index, self.config)
            contributions: Mapping[str, Floats] = {}
            if self.config.fusion == "learned" and len(pool):
                assert self.config.ranker is not None
                candidates = Candidates(self._asked.signals, pool, scores)
                scores, contributions = _learned(candidates, self.config.ranker)
            self._bases[key] = _Base(scores, contributions)
        return self._bases[key]

    def _table(self, pool: Rows) -> Wide:
        """Min-max scores of the pool by route, shape (len(pool), K); 0 for a view that is off."""
        key = pool.tobytes()
        if key not in self._tables:
            table = np.zeros((len(pool), len(self.routes)))
            for view in self._views:
                if view.name in self.routes:
                    table[:, self.routes.index(view.name)] = min_max(view.score_at(pool))
            self._tables[key] = table
        return self._tables[key]

    def _returned(self) -> Mapping[str, Returned]:
        return {view.name: Returned(view.rows, view.scores) for view in self._views}


def _routes(asked: Asked, views: Sequence[View]) -> tuple[str, ...]:
    """The views that are weighed: those of the router where there is one (an override for a type
    of question may have switched some off), else those that were built."""
    config = asked.config
    if config.router is not None:
        return config.router.routes
    return tuple(view.name for view in views) if config.fusion in ROUTED else ()


def _learned(candidates: Candidates, ranker: Ranker) -> tuple[Floats, Mapping[str, Floats]]:
    """Scores of the linear ranker and what each feature contributed."""
    standardised = ranker.standardised(matrix(candidates, ranker.features))
    weighted = standardised * np.fromiter(ranker.weight.values(), np.float32)
    columns = {name: weighted[:, i] for i, name in enumerate(ranker.features)}
    return weighted.sum(axis=1), columns
