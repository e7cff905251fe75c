"""From a question to a ranking: views → pool → fusion → rescoring → expansion → order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memgene.core import ViewScore, Why
from memgene.retrieval.config import RetrievalConfig
from memgene.retrieval.dense import DenseSpace
from memgene.retrieval.expansion import mmr_order, with_neighbours
from memgene.retrieval.features.candidates import Candidates
from memgene.retrieval.features.registry import matrix
from memgene.retrieval.fusion import fuse, min_max
from memgene.retrieval.index import UnitIndex
from memgene.retrieval.query import Query, analyse
from memgene.retrieval.ranker import Ranker
from memgene.retrieval.rescoring import rescore
from memgene.retrieval.signals import WORD_SIGNALS, Signals
from memgene.retrieval.soft import SoftMatcher
from memgene.retrieval.views import Mask, TextSearch, View, build_views

Floats = NDArray[np.float32]
Rows = NDArray[np.int64]
EXPLAINED_FEATURES = 8


@dataclass(frozen=True, slots=True)
class Ranking:
    """Rows of the pool, best first, with their scores; `explain(i)` says why row i stands there."""

    query: Query
    config: RetrievalConfig
    rows: Rows
    scores: Floats
    views: Sequence[View]
    fused: Floats
    factors: Mapping[str, Floats]
    contributions: Mapping[str, Floats]

    def explain(self, places: int) -> list[Why]:
        """For the first places: rank and score per view, fused score, factors, features."""
        places = min(places, len(self.rows))
        top = self.rows[:places]
        seen = []
        for view in self.views:
            rank = {row: i for i, row in enumerate(view.rows.tolist(), 1)}
            seen.append((view.name, rank, view.score_at(top).tolist()))
        said = self._spoken(places)
        return [
            Why(
                views={
                    name: ViewScore(rank.get(row), round(scores[place], 6))
                    for name, rank, scores in seen
                },
                fused=round(float(self.fused[place]), 6),
                factors={n: round(float(v[place]), 6) for n, v in self.factors.items()},
                features=said[place],
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
    """Retrieval over one index. Stateless beyond its parts; the caller guards against writers."""

    def __init__(
        self,
        index: UnitIndex,
        dense: DenseSpace | None,
        soft: SoftMatcher | None,
        search_text: TextSearch,
        kept: KeptSignals | None = None,
    ) -> None:
        self.index = index
        self.dense = dense
        self.soft = soft
        self.search_text = search_text
        self._kept = kept or KeptSignals()

    def rank(
        self,
        text: str,
        config: RetrievalConfig,
        *,
        allowed: Mask | None = None,
        now: float | None = None,
    ) -> Ranking:
        """Rank the candidates for a question. `allowed` masks rows (filters)."""
        query = analyse(text, self.index)
        config = config.for_type(query.type)
        signals = self._signals(query, config)
        views = build_views(signals, config, self.search_text, allowed)
        pool = self._pool(views, allowed)
        ranking = self._ordered(signals, views, pool, config, now)
        if config.temporal_neighbours and len(pool):
            wider = with_neighbours(
                pool,
                ranking.rows[: config.context_k],
                config.temporal_neighbours,
                self.index,
                allowed,
            )
            ranking = self._ordered(signals, views, wider, config, now)
        return ranking

    def candidates(
        self, text: str, config: RetrievalConfig, *, allowed: Mask | None = None
    ) -> Candidates:
        """The pool of a question as the learned fusion sees it, for fitting."""
        query = analyse(text, self.index)
        config = config.for_type(query.type)
        signals = self._signals(query, config)
        views = build_views(signals, config, self.search_text, allowed)
        pool = self._pool(views, allowed)
        return Candidates(signals, pool, self._first_stage(signals, views, pool, config))

    def _signals(self, query: Query, config: RetrievalConfig) -> Signals:
        kept = self._kept.of(query.text, len(self.index))
        return Signals(query, self.index, self.dense, self.soft, config, kept)

    def _pool(self, views: Sequence[View], allowed: Mask | None) -> Rows:
        if not views:
            return np.empty(0, np.int64)
        rows: Rows = np.unique(np.concatenate([v.rows for v in views]))
        keep = self.index.alive[rows]
        return rows[keep if allowed is None else keep & allowed[rows]]

    def _first_stage(
        self, signals: Signals, views: Sequence[View], pool: Rows, config: RetrievalConfig
    ) -> Floats:
        return fuse(views, pool, signals.query, self.index, config)

    def _ordered(
        self,
        signals: Signals,
        views: Sequence[View],
        pool: Rows,
        config: RetrievalConfig,
        now: float | None,
    ) -> Ranking:
        fused = self._first_stage(signals, views, pool, config)
        contributions: Mapping[str, Floats] = {}
        if config.fusion == "learned" and len(pool):
            assert config.ranker is not None
            candidates = Candidates(signals, pool, fused)
            fused, contributions = _learned(candidates, config.ranker)
        # a lone candidate, or equals among themselves, are all the best there is
        base = min_max(fused) if len(np.unique(fused)) > 1 else np.ones_like(fused)
        scores, factors = rescore(base, pool, self.index, config, now)
        order = np.lexsort((self.index.seq[pool], -scores))
        if config.mmr_lambda and self.dense is not None and len(order) > 1:
            vectors = self.dense.rows(pool[order])
            order = order[mmr_order(min_max(scores[order]), vectors, config.mmr_lambda)]
        return Ranking(
            query=signals.query,
            config=config,
            rows=pool[order],
            scores=scores[order],
            views=views,
            fused=fused[order],
            factors={n: v[order] for n, v in factors.items()},
            contributions={n: v[order] for n, v in contributions.items()},
        )


def _learned(candidates: Candidates, ranker: Ranker) -> tuple[Floats, Mapping[str, Floats]]:
    """Scores of the linear ranker and what each feature contributed."""
    standardised = ranker.standardised(matrix(candidates, ranker.features))
    weighted = standardised * np.fromiter(ranker.weight.values(), np.float32)
    columns = {name: weighted[:, i] for i, name in enumerate(ranker.features)}
    return weighted.sum(axis=1), columns
