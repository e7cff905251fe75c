"""The Q-weighted hybrid retriever: two routes and a rank by learned value (CoEvo-Mem §3).

`S(m; P) = Σ_a (w_a / N_a) Σ_i 1 / (η + rank_{a,i}(m; P)) + λ_Q / (η + rank_Q(m; P))` over the
routes a (dense, sparse) and the searches i of each: the question as it is and its rewrite.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memgene.retrieval.dense import dense_query
from memgene.retrieval.fusion import RRF_ETA
from memgene.retrieval.query import Query, analyse
from memgene.retrieval.router.observation import DENSE, SPARSE, TWO_ROUTES, SelfRouting
from memgene.retrieval.signals import Signals
from memgene.retrieval.views import Mask, TextSearch, frequent_dropped

Floats = NDArray[np.float32]
Wide = NDArray[np.float64]
Rows = NDArray[np.int64]
SPARSE_DEPTH = 1_000
"""Matches that the sparse route can score; what the full text would name after them it cannot."""


@dataclass(frozen=True, slots=True)
class RouteSearch:
    """One ranking of a route: its best rows, best first, and `score_at` for any rows, NaN where
    the route cannot score."""

    route: str
    name: str
    rows: Rows
    scores: Floats
    score_at: Callable[[Rows], Floats]


def route_searches(
    signals: Signals, routing: SelfRouting, search_text: TextSearch, allowed: Mask | None
) -> list[RouteSearch]:
    """Searches of both routes, at most two each: the question, then its rewrite.

    Texts that a route would search alike count once, which changes no score: the mean of two
    equal terms is the term. A route that has nothing to look with has no search.
    """
    return [
        *_dense(signals, _texts(signals, routing.dense), allowed),
        *_sparse(signals, _texts(signals, routing.sparse), search_text, allowed),
    ]


def ranks_in(scores: Floats, seq: NDArray[np.int64]) -> Rows:
    """Ranks 1 … m of m candidates by score, ties by insertion order; NaN gets the last rank, m."""
    order = np.lexsort((seq, -scores))
    ranks = np.empty(len(scores), np.int64)
    ranks[order] = np.arange(1, len(scores) + 1)
    ranks[np.isnan(scores)] = len(scores)
    return ranks


def value_ranks(values: Floats) -> Rows:
    """Dense ranks by value: 1 for the highest, the next lower value 2, equal values alike."""
    return np.unique(-values, return_inverse=True)[1] + 1


@dataclass(frozen=True, slots=True)
class PoolRanks:
    """One search over a pool: score (NaN where there is none) and rank of each of its rows."""

    search: RouteSearch
    scores: Floats
    ranks: Rows

    @classmethod
    def of(cls, search: RouteSearch, pool: Rows, seq: NDArray[np.int64]) -> PoolRanks:
        """`seq` is the insertion order of the pool's rows."""
        scores = search.score_at(pool)
        return cls(search, scores, ranks_in(scores, seq))


def route_terms(ranked: Sequence[PoolRanks], size: int) -> Wide:
    """`Σ_i 1 / (η + rank_{a,i}) / N_a` of a pool of `size` rows, shape (size, 2), in the order of
    `TWO_ROUTES`. In a route without a search all share the last rank."""
    terms = np.zeros((size, len(TWO_ROUTES)))
    for column, route in enumerate(TWO_ROUTES):
        own = [one.ranks for one in ranked if one.search.route == route]
        for ranks in own:
            terms[:, column] += 1 / (RRF_ETA + ranks) / len(own)
        if not own:
            terms[:, column] = 1 / (RRF_ETA + size)
    return terms


def _texts(signals: Signals, rewrite: str) -> Iterator[tuple[str, Query]]:
    """The question and, where it differs, its rewrite; each with a suffix for the search's name."""
    yield "", signals.query
    if rewrite != signals.query.text:
        yield "_rewrite", analyse(rewrite, signals.index)


def _dense(
    signals: Signals, texts: Iterator[tuple[str, Query]], allowed: Mask | None
) -> Iterator[RouteSearch]:
    dense, config = signals.dense, signals.config
    seen: set[str] = set()
    for suffix, query in texts if dense is not None else ():
        assert dense is not None
        text, centred = dense_query(query, config, dense)
        if text in seen:
            continue
        seen.add(text)

        def score_at(rows: Rows, text: str = text, centred: bool = centred) -> Floats:
            return dense.scored(text, centred, rows)

        rows, scores = dense.search(text, centred, config.route_pool, allowed)
        able = ~np.isnan(score_at(rows))
        yield RouteSearch(DENSE, DENSE + suffix, rows[able], scores[able], score_at)


def _sparse(
    signals: Signals,
    texts: Iterator[tuple[str, Query]],
    search_text: TextSearch,
    allowed: Mask | None,
) -> Iterator[RouteSearch]:
    config, index = signals.config, signals.index
    seen: set[frozenset[str]] = set()
    for suffix, query in texts:
        terms = query.content(names=not config.lexical_drop_names)
        words = [t.word for t in frequent_dropped(terms, index, config.max_df)]
        if not words or frozenset(words) in seen:
            continue
        seen.add(frozenset(words))
        known = dict(search_text(words, SPARSE_DEPTH))
        if allowed is not None:
            known = {row: score for row, score in known.items() if allowed[row]}

        def score_at(rows: Rows, known: dict[int, float] = known) -> Floats:
            nothing = float("nan")
            return np.asarray([known.get(r, nothing) for r in rows.tolist()], np.float32)

        rows = np.asarray(list(known)[: config.route_pool], np.int64)
        yield RouteSearch(SPARSE, SPARSE + suffix, rows, score_at(rows), score_at)
