"""Learned values of units at read time: how much each helped, for all queries and by their kind."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from memgene.bank.protocol import Value
from memgene.embed.protocol import Vectors
from memgene.retrieval.clusters import QueryClusters
from memgene.retrieval.index import UnitIndex

NEUTRAL = 0.5
"""Where a value starts: it moves no score."""
Floats = NDArray[np.float32]
Rows = NDArray[np.int64]


class UnitValues:
    """Values per row and kind of query, beside the index's column `utility` (all queries).

    The owner keeps it level with the bank: `clusters` from its state, `put` for every row that
    has values.
    """

    def __init__(self) -> None:
        self.clusters = QueryClusters()
        self._by_cluster: dict[str, dict[int, tuple[float, int]]] = {}

    @property
    def conditional(self) -> bool:
        """Whether any value depends on the kind of query."""
        return bool(self._by_cluster)

    def put(self, row: int, values: Sequence[Value]) -> None:
        """The values of a row, in place of those it had."""
        for known in self._by_cluster.values():
            known.pop(row, None)
        for value in values:
            if value.cluster:
                kind = self._by_cluster.setdefault(value.cluster, {})
                kind[row] = (value.q, value.exposures)

    def kind_of(self, vector: Vectors) -> str:
        """The kind of a query by its vector; "" when nothing was learned by kind."""
        return self.clusters.assign(vector) if self._by_cluster else ""

    def at(self, rows: Rows, kind: str, shrink: float, index: UnitIndex) -> Floats:
        """Values in [0, 1] of some rows for a kind of query, shape (len(rows),).

        `(n·Q_c + shrink·Q) / (n + shrink)` with n exposures in the kind, Q over all queries; Q
        itself where the kind says nothing of a row.
        """
        values = index.boost("utility")[rows]
        known = self._by_cluster.get(kind)
        if not known:
            return values
        for place, row in enumerate(rows.tolist()):
            q, exposures = known.get(row, (0.0, 0))
            if exposures:
                mean = float(values[place])
                values[place] = (exposures * q + shrink * mean) / (exposures + shrink)
        return values
