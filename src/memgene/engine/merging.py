"""Several rankings of one index as one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from memgene.core import Why
from memgene.retrieval.fusion import RRF_ETA, min_max
from memgene.retrieval.query import Query
from memgene.retrieval.ranking import Ranking

Floats = NDArray[np.float32]
Rows = NDArray[np.int64]
SUB_QUERY = "sub_query"


@dataclass(frozen=True, slots=True)
class MergedRanking:
    """Rows of all rankings, best first. `fused` is Σ 1/(60 + rank), `scores` that in [0, 1].

    `best` tells for each row which ranking placed it best and where (both from 0).
    """

    rankings: tuple[Ranking, ...]
    rows: Rows
    scores: Floats
    fused: Floats
    best: tuple[tuple[int, int], ...]

    @property
    def query(self) -> Query:
        """The question itself."""
        return self.rankings[0].query

    @property
    def weights(self) -> Mapping[str, float]:
        """Those of the routes in the ranking of the question itself."""
        return self.rankings[0].weights

    def explain(self, places: int) -> list[Why]:
        """For the first places: the reasons in the ranking that placed them best, the merged
        score, and as factor `sub_query` which ranking that was (0 = the first)."""
        best = self.best[:places]
        reasons: dict[int, list[Why]] = {}
        for query in {query for query, _ in best}:
            deepest = max(place for other, place in best if other == query)
            reasons[query] = self.rankings[query].explain(deepest + 1)
        return [
            replace(
                reasons[query][place],
                fused=round(float(self.fused[at]), 6),
                factors={**reasons[query][place].factors, SUB_QUERY: float(query)},
            )
            for at, (query, place) in enumerate(best)
        ]


def merge(rankings: Sequence[Ranking], seq: NDArray[np.int64]) -> MergedRanking:
    """Reciprocal rank fusion over rankings (EvolveMem §3): Σ 1/(60 + rank), ranks from 1.

    Ties break by insertion order (`seq` of the index's rows); a row placed equally well by two
    rankings is explained by the earlier one.
    """
    total: dict[int, float] = {}
    best: dict[int, tuple[int, int]] = {}
    for query, ranking in enumerate(rankings):
        for place, row in enumerate(ranking.rows.tolist()):
            total[row] = total.get(row, 0.0) + 1 / (RRF_ETA + place + 1)
            if row not in best or place < best[row][1]:
                best[row] = (query, place)
    order = sorted(total, key=lambda row: (-total[row], int(seq[row])))
    fused = np.array([total[row] for row in order], np.float32)
    alike = len(np.unique(fused)) <= 1
    return MergedRanking(
        rankings=tuple(rankings),
        rows=np.array(order, np.int64),
        scores=np.ones_like(fused) if alike else min_max(fused),
        fused=fused,
        best=tuple(best[row] for row in order),
    )
