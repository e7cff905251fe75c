"""Shared keywords of the rows of a group, from posting lists of bounded length."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from memgene.engine.linking.frame import Frame
from memgene.engine.linking.nearest import Mask, Pairs, Rows, Scores
from memgene.engine.linking.runs import Runs
from memgene.engine.linking.settings import LinkSettings
from memgene.retrieval.growable import Column
from memgene.retrieval.postings import Postings

_ROWS = 256  # between two words of progress
_ONE = float(1 << 40)  # a shared word, counted above the weights in one number that stays exact
_NO_ROWS: Rows = np.empty(0, np.int64)


class SparseScores:
    """A scorer for `Nearest`: Jaccard coefficients weighted by IDF,
    `Σ shared weights / (Σ own + Σ other − Σ shared)`.

    A word that more than `sparse_most` living rows hold is no keyword while they do; `settle` tells
    whose coefficients change with it. Weights are whole numbers of a frame that stays, so that
    nothing else changes them.
    """

    def __init__(
        self, frame: Frame, settings: LinkSettings, alive: Column[np.bool_], runs: Runs
    ) -> None:
        self._frame = frame
        self._settings = settings
        self._alive = alive
        self._runs = runs
        self._postings = Postings()
        self._weights = Column(np.int64)  # by term
        self._totals = Column(np.int64)  # by row: what its keywords weigh
        self._common: set[int] = set()

    def same(self, row: int, stems: Sequence[str]) -> bool:
        """Whether a row has just these words."""
        vocabulary = self._postings.vocabulary
        held: list[int] = self._postings.terms_of(row).tolist()
        return [vocabulary.get(s) for s in stems] == held

    def append(self, documents: Sequence[Sequence[str]]) -> None:
        """Add rows; each document has distinct stems. Call `settle` after all changes."""
        known = self._postings.vocabulary
        fresh = dict.fromkeys(s for some in documents for s in some if s not in known)
        self._postings.append(documents)
        self._weights.extend(self._frame.weights(list(fresh)))
        self._totals.extend(np.zeros(len(documents), np.int64))

    def remove(self, rows: Rows) -> None:
        """Take rows out of the counts. Call `settle` after all changes."""
        for row in rows.tolist():
            self._postings.remove(row)

    def settle(self, moved: Rows) -> Rows:
        """Take note of words that became keywords or ceased to be, by rows that came or went;
        returns the living rows whose coefficients are new or change for it, ascending."""
        crossed: dict[int, None] = {}
        for row in moved.tolist():
            for term in self._postings.terms_of(row).tolist():
                common = self._postings.df(term) > self._settings.sparse_most
                if common != (term in self._common):
                    crossed[term] = None
        self._common.symmetric_difference_update(crossed)
        changed = np.unique(_joined([moved, *(self._holders(term) for term in crossed)]))
        living: Rows = changed[self._alive.values[changed]]
        for row in living.tolist():
            self._totals.values[row] = self._weights.values[self._terms(row)].sum()
        return living

    def pairs(self, rows: Rows, most: int | None) -> Iterator[tuple[Rows, Pairs]]:
        """Pairs by block; see `Scorer`."""
        lists: dict[int, Rows] = {}
        for start in range(0, len(rows), _ROWS):
            block = rows[start : start + _ROWS]
            found = [self._scored(row, lists) for row in block.tolist()]
            own = np.repeat(block, [len(others) for others, _ in found])
            scores = np.concatenate([scores for _, scores in found])
            yield block, Pairs(own, _joined([others for others, _ in found]), scores)

    def _scored(self, row: int, lists: dict[int, Rows]) -> tuple[Rows, Scores]:
        """The qualifying others of a row, ascending, and their coefficients."""
        terms = self._terms(row)
        for term in terms.tolist():
            if term not in lists:
                lists[term] = self._holders(term)
        holders = [lists[term] for term in terms.tolist()]
        own = self._weights.values[terms] + _ONE
        held = np.repeat(own, [len(some) for some in holders])
        sums = np.bincount(_joined(holders), held, len(self._totals.values))
        others = np.flatnonzero(sums >= self._settings.sparse_shared * _ONE)
        others = others[others != row]
        shared = sums[others] % _ONE
        totals = self._totals.values
        scores = shared / (totals[row] + totals[others] - shared)
        kept = scores >= self._settings.sparse_jaccard
        kept &= self._runs.together(np.full(len(others), row), others)
        return others[kept], scores[kept]

    def _terms(self, row: int) -> NDArray[np.int32]:
        """The row's keywords."""
        terms = self._postings.terms_of(row)
        if not self._common:
            return terms
        kept: Mask = np.asarray([t not in self._common for t in terms.tolist()], np.bool_)
        return terms[kept]

    def _holders(self, term: int) -> Rows:
        """Living rows that hold a word."""
        rows = self._postings.rows(term)[0].astype(np.int64)
        return rows[self._alive.values[rows]]


def _joined(parts: Sequence[Rows]) -> Rows:
    joined: Rows = np.concatenate(parts) if parts else _NO_ROWS
    return joined
