"""The runs of the rows of a group: who may be seen beside whom."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from memgene.engine.linking.nearest import Mask, Rows
from memgene.retrieval.growable import Column

_BASE = 0


class Runs:
    """One number a row: 0 without a run. A reader of a run sees that run and units without one, so
    units of two runs are never together."""

    def __init__(self) -> None:
        self._numbers: dict[str | None, int] = {None: _BASE}
        self._run = Column(np.int32)

    def append(self, runs: list[str | None]) -> None:
        """Add rows."""
        numbers = self._numbers
        self._run.extend([numbers.setdefault(run, len(numbers)) for run in runs])

    def of(self, row: int, run: str | None) -> bool:
        """Whether a row is of this run."""
        return self._numbers.get(run) == int(self._run.values[row])

    def together(self, rows: Rows, others: Rows) -> Mask:
        """Whether row and other, side by side, have no run or the same."""
        one, two = self._run.values[rows], self._run.values[others]
        allowed: Mask = (one == two) | (one == _BASE) | (two == _BASE)
        return allowed

    def hide(self, scores: NDArray[np.float32], rows: Rows) -> None:
        """Set scores of `rows` (one line each) with all rows to 0 where they are of two runs."""
        if len(self._numbers) > 2:
            one, two = self._run.values[rows][:, None], self._run.values[None, :]
            scores[(one != two) & (one != _BASE) & (two != _BASE)] = 0
