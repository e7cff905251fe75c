"""A question made ready: everything done but what the router says, which then costs little.

A trainer ranks one question by many weights of its routes; a read ranks it once.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from memgene.core import InputError
from memgene.embed.protocol import Embedder
from memgene.retrieval.clusters import query_vector
from memgene.retrieval.config import RetrievalConfig
from memgene.retrieval.dense import DenseSpace
from memgene.retrieval.expansion import mmr_order, with_neighbours
from memgene.retrieval.fusion import min_max
from memgene.retrieval.index import UnitIndex
from memgene.retrieval.links import TimeLinks
from memgene.retrieval.observing import Returned, observe, prior_over
from memgene.retrieval.query import Query
from memgene.retrieval.ranking import Ranking
from memgene.retrieval.rescoring import rescore
from memgene.retrieval.router.observation import Observation, SelfRouting
from memgene.retrieval.signals import Signals
from memgene.retrieval.stages.calls import StageCalls
from memgene.retrieval.stages.joining import rescorer_terms, stage_views, view_terms
from memgene.retrieval.stages.stage import StageKind
from memgene.retrieval.values import UnitValues
from memgene.retrieval.views import Mask, View

Floats = NDArray[np.float32]
Wide = NDArray[np.float64]
Scores = NDArray[np.floating[Any]]
Rows = NDArray[np.int64]


class RouteTable(NamedTuple):
    """A question's candidates as a supervised learner of the router sees them: the fused score is
    `base + scores @ weights`, shapes (m,), (m, K) and (K,); rescoring comes after it."""

    rows: Rows
    scores: Wide
    base: Wide


@dataclass(frozen=True, slots=True)
class Asked:
    """What all steps of one question's retrieval look at. `config` is that of its type; `embedder`
    is there also where no row has a vector yet; `stages` run those of the configuration."""

    signals: Signals
    config: RetrievalConfig
    routing: SelfRouting
    values: UnitValues
    links: TimeLinks | None
    allowed: Mask | None
    now: float | None
    embedder: Embedder | None
    stages: StageCalls | None = None

    @property
    def query(self) -> Query:
        return self.signals.query

    @property
    def index(self) -> UnitIndex:
        return self.signals.index

    @property
    def dense(self) -> DenseSpace | None:
        return self.signals.dense


class Fused(NamedTuple):
    """Fused scores of a pool, with what explains them."""

    pool: Rows
    scores: Scores
    views: Sequence[View]
    contributions: Mapping[str, Scores]
    weights: Mapping[str, float]


class Prepared(ABC):
    """One question over one state of the memory; usable until the memory changes.

    `routes` are what a router weighs here: `dense` and `sparse` in fusion q_rrf, the views in the
    other fusions that join several; none where there is nothing to weigh. `degraded` is for the
    caller to say what the routing had to do without.
    """

    def __init__(self, asked: Asked, pool: Rows, routes: tuple[str, ...]) -> None:
        self._asked = asked
        self._stage_views: tuple[View, ...] = ()
        if asked.stages is not None:
            self._stage_views = stage_views(
                asked.stages, asked.query.text, asked.index, asked.allowed
            )
            pool = np.union1d(pool, np.concatenate([pool, *(v.rows for v in self._stage_views)]))
        self._pool = pool
        self.routes = routes
        self.degraded: tuple[str, ...] = ()

    @property
    def query(self) -> Query:
        """The question, analysed against the memory."""
        return self._asked.query

    @property
    def config(self) -> RetrievalConfig:
        """The configuration that serves the question (overrides for its type applied)."""
        return self._asked.config

    @property
    def routing(self) -> SelfRouting:
        """The question's rewrites and prior."""
        return self._asked.routing

    @property
    def index(self) -> UnitIndex:
        """Whose rows are ranked."""
        return self._asked.index

    @cached_property
    def observation(self) -> Observation:
        """What a router sees of the question."""
        return observe(
            self.query.text,
            self.query.type,
            self._asked.routing,
            self.routes,
            self.prior,
            self._returned(),
            self._vector,
        )

    @cached_property
    def prior(self) -> Wide:
        """p̄ over `routes`: what an untrained router says."""
        return prior_over(self.routes, self._asked.routing)

    def rank(self, weights: Wide | None = None) -> Ranking:
        """The ranking by these weights of the routes, shape (K,); by default those that the
        configuration's router gives, or the prior's where there is none.

        Raises InputError for weights of another shape or that are not finite, and from a router
        that was trained on other routes or features.
        """
        if weights is not None:
            weights = self._checked(weights)
        elif self.config.router is not None and self.routes:
            weights = self._own_weights
        ranking = self._ordered(self._joined(self._pool, weights))
        wider = self._wider(ranking.rows[: self.config.context_k])
        if wider is not None:
            ranking = self._ordered(self._joined(wider, weights))
        if self._asked.stages is not None and self._asked.stages.has(StageKind.RESCORER):
            # once, over the whole pool
            pool = self._pool if wider is None else wider
            ranking = self._ordered(self._joined(pool, weights), self._asked.stages)
        return ranking

    @abstractmethod
    def route_table(self) -> RouteTable:
        """The candidates (before any expansion) with their scores by route."""

    @abstractmethod
    def _fused(self, pool: Rows, weights: Wide | None) -> Fused:
        """Fused scores; `None` stands for the prior."""

    @abstractmethod
    def _returned(self) -> Mapping[str, Returned]:
        """What each route returned."""

    @property
    def stages(self) -> StageCalls | None:
        """The stages at work."""
        return self._asked.stages

    def _joined(self, pool: Rows, weights: Wide | None) -> Fused:
        """Fused scores, with what views of stages add."""
        fused = self._fused(pool, weights)
        if not self._stage_views or not len(pool):
            return fused
        terms = view_terms(self._stage_views, pool, self.config.fusion)
        return fused._replace(
            scores=fused.scores + sum(terms.values()),
            views=(*fused.views, *self._stage_views),
            contributions={**fused.contributions, **terms},
        )

    def _stage_base(self, pool: Rows) -> Wide:
        """What views of stages add to the fused scores, shape (len(pool),)."""
        terms = view_terms(self._stage_views, pool, self.config.fusion) if len(pool) else {}
        return sum(terms.values(), np.zeros(len(pool)))

    def _checked(self, weights: Wide) -> Wide:
        given = np.asarray(weights, np.float64)
        if not self.routes:
            raise InputError(f"fusion {self.config.fusion} has no routes to weigh")
        if given.shape != (len(self.routes),) or not np.isfinite(given).all():
            raise InputError(
                f"weights are {len(self.routes)} finite numbers, one each for "
                f"{', '.join(self.routes)}; got {given.tolist()}"
            )
        return given

    @cached_property
    def _own_weights(self) -> Wide:
        router = self.config.router
        assert router is not None
        return router.weights(self.observation)

    @cached_property
    def _vector(self) -> Floats:
        """The question as kinds of queries and routers see it; empty without an embedder."""
        embedder = self._asked.embedder
        if embedder is None:
            return np.zeros(0, np.float32)
        return query_vector(self.query.text, embedder)

    @cached_property
    def _kind(self) -> str:
        values = self._asked.values
        return values.kind_of(self._vector) if values.conditional else ""

    def _values(self, pool: Rows) -> Floats:
        """Learned values of the pool for this question, in [0, 1]."""
        return self._asked.values.at(pool, self._kind, self.config.value_shrink, self.index)

    def _wider(self, best: Rows) -> Rows | None:
        """The pool with what the first rows bring along; None where nothing does."""
        config, pool = self.config, self._pool
        if not len(pool):
            return None
        if config.temporal_neighbours:
            pool = with_neighbours(
                pool, best, config.temporal_neighbours, self.index, self._asked.allowed
            )
        if config.graph_expansion and self._asked.links is not None:
            near = self._asked.links.around(best)
            allowed = self._asked.allowed
            pool = np.union1d(pool, near if allowed is None else near[allowed[near]])
        return None if pool is self._pool else pool

    def _ordered(self, fused: Fused, stages: StageCalls | None = None) -> Ranking:
        config, index, pool = self.config, self.index, fused.pool
        base = min_max(fused.scores)
        if not base.any():  # a lone candidate, or equals among themselves: all the best there is
            base = np.ones_like(base)
        values = self._values(pool) if config.utility_weight else None
        scores, factors = rescore(base, pool, index, config, self._asked.now, values)
        if stages is not None:
            said = rescorer_terms(stages, self.query.text, index, pool, scores)
            factors = {**factors, **said}
            scores = (scores + sum(said.values(), np.zeros_like(scores))).astype(base.dtype)
        order = np.lexsort((index.seq[pool], -scores))
        if config.mmr_lambda and self._asked.dense is not None and len(order) > 1:
            vectors = self._asked.dense.rows(pool[order])
            order = order[mmr_order(min_max(scores[order]), vectors, config.mmr_lambda)]
        return Ranking(
            query=self.query,
            config=config,
            rows=pool[order],
            scores=scores[order].astype(np.float32, copy=False),
            views=fused.views,
            fused=fused.scores[order].astype(np.float32, copy=False),
            factors={n: v[order] for n, v in factors.items()},
            contributions={n: v[order] for n, v in fused.contributions.items()},
            weights=fused.weights,
        )
