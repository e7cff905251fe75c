"""Stages in a ranking: candidates of views join the pool and its scores, rescorers add theirs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memgene.retrieval.fusion import RRF_ETA, min_max
from memgene.retrieval.index import UnitIndex
from memgene.retrieval.stages.calls import StageCalls
from memgene.retrieval.stages.contract import MOST_HITS, MOST_UNITS
from memgene.retrieval.stages.stage import PREFIX, StageKind
from memgene.retrieval.views import Mask, View

Rows = NDArray[np.int64]
Floats = NDArray[np.float32]
Wide = NDArray[np.float64]
RANKED = ("rrf", "q_rrf")
"""Fusions of ranks; the others add scores."""


def stage_views(
    calls: StageCalls, query: str, index: UnitIndex, allowed: Mask | None
) -> tuple[View, ...]:
    """Views of stages over the latest units that the search may see."""
    if not calls.has(StageKind.VIEW):
        return ()
    seen = index.alive if allowed is None else index.alive & allowed
    rows = np.flatnonzero(seen)
    rows = rows[np.argsort(index.seq[rows], kind="stable")][-MOST_UNITS:]
    units = [index.units[row] for row in rows.tolist()]
    return tuple(
        _view(PREFIX + placed.name, scores, placed.strength, index)
        for placed, scores in calls.candidates(query, units)
    )


def view_terms(views: Sequence[View], pool: Rows, fusion: str) -> dict[str, Wide]:
    """What each view of a stage adds to the fused scores of a pool, shape (len(pool),):
    `strength · min-max of its score`, and `strength / (60 + rank)` in a fusion of ranks."""
    if fusion not in RANKED:
        return {
            view.name: view.weight * min_max(view.score_at(pool).astype(np.float64))
            for view in views
        }
    terms = {}
    for view in views:
        rank = {row: place for place, row in enumerate(view.rows.tolist(), 1)}
        shares = [view.weight / (RRF_ETA + rank[r]) if r in rank else 0.0 for r in pool.tolist()]
        terms[view.name] = np.array(shares, np.float64)
    return terms


def rescorer_terms(
    calls: StageCalls, query: str, index: UnitIndex, pool: Rows, scores: NDArray[np.floating]
) -> dict[str, Floats]:
    """What each rescorer adds to the scores of a pool, shape (len(pool),): strength times what it
    says of the best so far, 0 for all others."""
    if not calls.has(StageKind.RESCORER):
        return {}
    best = np.lexsort((index.seq[pool], -scores))[:MOST_HITS]
    units = [index.units[row] for row in pool[best].tolist()]
    terms = {}
    for placed, said in calls.scores(query, units, min_max(scores)[best].tolist()):
        term = np.zeros(len(pool), np.float32)
        term[best] = np.float32(placed.strength) * np.array(said, np.float32)
        terms[PREFIX + placed.name] = term
    return terms


def _view(name: str, scores: dict[str, float], strength: float, index: UnitIndex) -> View:
    known = {index.row_of[unit_id]: score for unit_id, score in scores.items()}
    return View(
        name,
        np.array(list(known), np.int64),
        np.array(list(known.values()), np.float32),
        strength,
        _Known(known),
    )


@dataclass(frozen=True, slots=True)
class _Known:
    """Scores of the rows that a stage named, 0 for others."""

    scores: dict[int, float]

    def __call__(self, rows: Rows) -> Floats:
        return np.array([self.scores.get(row, 0.0) for row in rows.tolist()], np.float32)
