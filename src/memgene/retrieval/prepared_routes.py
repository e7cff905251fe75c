"""A question made ready for fusion q_rrf: two routes and a rank by learned value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from memgene.retrieval.fusion import RRF_ETA
from memgene.retrieval.observing import Returned
from memgene.retrieval.prepared import Asked, Fused, Prepared, RouteTable
from memgene.retrieval.router.observation import TWO_ROUTES
from memgene.retrieval.routes import PoolRanks, RouteSearch, route_terms, value_ranks
from memgene.retrieval.views import View, pool_of

Floats = NDArray[np.float32]
Wide = NDArray[np.float64]
Rows = NDArray[np.int64]
DIGITS = 12
"""Scores are rounded here: equal sums taken in another order stay equal."""


@dataclass(frozen=True, slots=True)
class _Terms:
    """A pool: `Σ_i 1/(η + rank) / N` by route, shape (m, 2), `λ_Q / (η + rank_Q)`, (m,), and the
    searches as views, for explanations."""

    routes: Wide
    value: Wide
    views: tuple[View, ...]


class PreparedRoutes(Prepared):
    """Searches of both routes and their pool; ranks are taken once per pool."""

    def __init__(self, asked: Asked, searches: Sequence[RouteSearch]) -> None:
        self._searches = searches
        pool = pool_of([search.rows for search in searches], asked.index, asked.allowed)
        super().__init__(asked, pool, TWO_ROUTES)
        self._kept: dict[bytes, _Terms] = {}

    def route_table(self) -> RouteTable:
        terms = self._terms(self._pool)
        return RouteTable(self._pool, terms.routes, terms.value + self._stage_base(self._pool))

    def _fused(self, pool: Rows, weights: Wide | None) -> Fused:
        shares = self.prior if weights is None else weights
        terms = self._terms(pool)
        weighed = terms.routes * shares
        scores = np.round(weighed[:, 0] + weighed[:, 1] + terms.value, DIGITS)
        said = {f"route.{name}": weighed[:, at] for at, name in enumerate(self.routes)}
        said["value_rank"] = terms.value
        told = dict(zip(self.routes, shares.tolist(), strict=True))
        return Fused(pool, scores, terms.views, said, told)

    def _terms(self, pool: Rows) -> _Terms:
        key = pool.tobytes()
        if key not in self._kept:
            seq = self.index.seq[pool]
            ranked = [PoolRanks.of(search, pool, seq) for search in self._searches]
            lead = self.config.q_rank_weight
            self._kept[key] = _Terms(
                routes=route_terms(ranked, len(pool)),
                value=lead / (RRF_ETA + value_ranks(self._values(pool))),
                views=tuple(self._view(one, pool) for one in ranked),
            )
        return self._kept[key]

    def _view(self, ranked: PoolRanks, pool: Rows) -> View:
        """The search over the pool; what it could not score has no rank and score 0."""
        order = np.argsort(ranked.ranks, kind="stable")
        order = order[~np.isnan(ranked.scores[order])]
        search = ranked.search
        share = float(self.prior[self.routes.index(search.route)])
        scored = partial(_told, search)
        return View(search.name, pool[order], ranked.scores[order], share, scored)

    def _returned(self) -> Mapping[str, Returned]:
        """Of each route the search for the question as it is (or the rewrite, without one)."""
        first: dict[str, Returned] = {}
        for search in self._searches:
            first.setdefault(search.route, Returned(search.rows, search.scores))
        return first


def _told(search: RouteSearch, rows: Rows) -> Floats:
    return np.nan_to_num(search.score_at(rows), nan=0.0)
