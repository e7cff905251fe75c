"""Units that follow one another by the bank's time edges, as rows of an index."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from memgene.bank.protocol import Relation
from memgene.retrieval.index import UnitIndex

Rows = NDArray[np.int64]
ReadEdges = Callable[[Sequence[str]], Sequence[Relation]]
"""Unit ids → the time edges that touch them."""


class TimeLinks:
    """Neighbours of rows along time edges, in either direction; read at first need and kept.

    `forget` when the bank changes. Ends that the index does not hold are left out.
    """

    def __init__(self, index: UnitIndex, read: ReadEdges) -> None:
        self._index = index
        self._read = read
        self._kept: dict[int, tuple[int, ...]] = {}

    def around(self, rows: Rows) -> Rows:
        """All neighbours of some rows, ascending, each once."""
        unknown = [row for row in rows.tolist() if row not in self._kept]
        if unknown:
            self._keep(unknown)
        found = {near for row in rows.tolist() for near in self._kept[row]}
        return np.asarray(sorted(found), np.int64)

    def forget(self, index: UnitIndex) -> None:
        """Start anew, over this index."""
        self._index = index
        self._kept.clear()

    def _keep(self, rows: Sequence[int]) -> None:
        row_of, units = self._index.row_of, self._index.units
        near: dict[int, dict[int, None]] = {row: {} for row in rows}
        for edge in self._read([units[row].id for row in rows]):
            source, target = row_of.get(edge.source_id), row_of.get(edge.target_id)
            if source is None or target is None:
                continue
            if source in near:
                near[source][target] = None
            if target in near:
                near[target][source] = None
        self._kept.update({row: tuple(found) for row, found in near.items()})
