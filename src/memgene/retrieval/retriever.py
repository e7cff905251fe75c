"""From a question to a ranking: views or routes → pool → fusion → rescoring → expansion → order."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from memgene.retrieval.config import RetrievalConfig
from memgene.retrieval.dense import DenseSpace
from memgene.retrieval.features.candidates import Candidates
from memgene.retrieval.index import UnitIndex
from memgene.retrieval.links import TimeLinks
from memgene.retrieval.prepared import Asked, Prepared
from memgene.retrieval.prepared_routes import PreparedRoutes
from memgene.retrieval.prepared_views import PreparedViews
from memgene.retrieval.query import Query, analyse
from memgene.retrieval.ranking import Ranking
from memgene.retrieval.router.observation import SelfRouting
from memgene.retrieval.routes import route_searches
from memgene.retrieval.signals import WORD_SIGNALS, Signals
from memgene.retrieval.soft import SoftMatcher
from memgene.retrieval.stages.calls import StageCalls
from memgene.retrieval.values import UnitValues
from memgene.retrieval.views import Mask, TextSearch, build_views, pool_of

Floats = NDArray[np.float32]


class KeptSignals:
    """Word signals of recent questions over one state of an index; clear it when that changes.

    An evolution asks the same questions of many configurations. Bounded by numbers held.
    """

    def __init__(self, numbers: int = 8_000_000) -> None:
        self._numbers = numbers
        self._kept: dict[str, dict[str, Floats]] = {}

    def of(self, question: str, rows: int) -> dict[str, Floats]:
        """The signals kept for a question, to read and to add to."""
        if question not in self._kept:
            room = max(1, self._numbers // max(1, rows * len(WORD_SIGNALS)))
            while len(self._kept) >= room:
                self._kept.pop(next(iter(self._kept)))
            self._kept[question] = {}
        return self._kept[question]

    def clear(self) -> None:
        """Forget everything."""
        self._kept.clear()


class Retriever:
    """Retrieval over one index. Stateless beyond its parts; the caller guards against writers.

    `values` and `links` are what was learned of the units and the bank's edges in time; without
    them values are the index's column `utility`, and nothing is linked.
    """

    def __init__(
        self,
        index: UnitIndex,
        dense: DenseSpace | None,
        soft: SoftMatcher | None,
        search_text: TextSearch,
        kept: KeptSignals | None = None,
        *,
        values: UnitValues | None = None,
        links: TimeLinks | None = None,
    ) -> None:
        self.index = index
        self.dense = dense
        self.soft = soft
        self.search_text = search_text
        self._kept = kept or KeptSignals()
        self._values = values or UnitValues()
        self._links = links

    def rank(
        self,
        text: str,
        config: RetrievalConfig,
        *,
        routing: SelfRouting | None = None,
        allowed: Mask | None = None,
        now: float | None = None,
        stages: StageCalls | None = None,
    ) -> Ranking:
        """Rank the candidates for a question. `allowed` masks rows (filters)."""
        asked = self.prepare(text, config, routing=routing, allowed=allowed, now=now, stages=stages)
        return asked.rank()

    def prepare(
        self,
        text: str,
        config: RetrievalConfig,
        *,
        routing: SelfRouting | None = None,
        allowed: Mask | None = None,
        now: float | None = None,
        stages: StageCalls | None = None,
    ) -> Prepared:
        """Everything but the weights of the routes. `routing` holds the question's rewrites and
        prior (default: the raw question, and the configuration's `route_prior`). `stages` run the
        configuration's stages; without them their views and rescorers are left out."""
        query = analyse(text, self.index)
        config = config.for_type(query.type)
        signals = self._signals(query, config)
        routing = routing or SelfRouting(text, text, config.route_prior, 1.0)
        asked = self._asked(signals, config, routing, allowed, now, stages)
        if config.fusion == "q_rrf":
            return PreparedRoutes(
                asked, route_searches(signals, routing, self.search_text, allowed)
            )
        return self._over_views(asked)

    def candidates(
        self, text: str, config: RetrievalConfig, *, allowed: Mask | None = None
    ) -> Candidates:
        """The pool of a question as the learned fusion sees it, for fitting."""
        query = analyse(text, self.index)
        config = config.for_type(query.type)
        signals = self._signals(query, config)
        raw = SelfRouting.raw(text)
        asked = self._asked(signals, config, raw, allowed, None)
        return self._over_views(asked).candidates

    def _asked(
        self,
        signals: Signals,
        config: RetrievalConfig,
        routing: SelfRouting,
        allowed: Mask | None,
        now: float | None,
        stages: StageCalls | None = None,
    ) -> Asked:
        embedder = None if self.dense is None else self.dense.embedder
        return Asked(
            signals, config, routing, self._values, self._links, allowed, now, embedder, stages
        )

    def _over_views(self, asked: Asked) -> PreparedViews:
        views = build_views(asked.signals, asked.config, self.search_text, asked.allowed)
        pool = pool_of([view.rows for view in views], self.index, asked.allowed)
        return PreparedViews(asked, views, pool)

    def _signals(self, query: Query, config: RetrievalConfig) -> Signals:
        kept = self._kept.of(query.text, len(self.index))
        return Signals(query, self.index, self.dense, self.soft, config, kept)
