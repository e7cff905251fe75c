"""The pool of one query, with everything a feature may look at."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memgene.retrieval.index import NONE, UnitIndex
from memgene.retrieval.query import Query
from memgene.retrieval.signals import Signals

Floats = NDArray[np.float32]
Rows = NDArray[np.int64]


class Candidates:
    """Rows of the pool, in ascending order, and cached values of signals on and around them.

    `first_stage` are the scores of the untrained fusion, used for feedback features.
    """

    def __init__(self, signals: Signals, rows: Rows, first_stage: Floats) -> None:
        self.signals = signals
        self.index: UnitIndex = signals.index
        self.query: Query = signals.query
        self.rows = rows
        self.first_stage = first_stage
        self._values: dict[tuple[str, int], Floats] = {}
        self._shifted: dict[int, Rows] = {}
        self._ranks: dict[str, Floats] = {}

    def __len__(self) -> int:
        return len(self.rows)

    def at(self, offset: int) -> Rows:
        """Rows `offset` places further in the source (−1 = none)."""
        if offset not in self._shifted:
            self._shifted[offset] = self.index.shifted(self.rows, offset)
        return self._shifted[offset]

    def raw(self, signal: str, offset: int = 0) -> Floats:
        """Values of a signal at the candidates or their neighbours."""
        key = (signal, offset)
        if key not in self._values:
            self._values[key] = self.signals.at(signal, self.at(offset))
        return self._values[key]

    def value(self, signal: str, offset: int = 0) -> Floats:
        """A signal divided by its highest value among the candidates."""
        top = float(self.raw(signal).max(initial=0.0))
        return self.raw(signal, offset) / np.float32(top) if top > 0 else self.raw(signal, offset)

    def rank(self, signal: str) -> Floats:
        """Ranks from 1 among the candidates, ties sharing their best rank."""
        if signal not in self._ranks:
            self._ranks[signal] = ranks(self.raw(signal))
        return self._ranks[signal]

    @cached_property
    def source(self) -> NDArray[np.int32]:
        """Source number of each candidate (−1 = none)."""
        return self.index.source[self.rows]

    @cached_property
    def source_groups(self) -> NDArray[np.int64]:
        """Candidates of one source share a group number 0 … ; one without a source is alone."""
        keys = np.where(self.source == NONE, -2 - np.arange(len(self.rows)), self.source)
        return np.unique(keys, return_inverse=True)[1]

    @cached_property
    def top(self) -> Rows:
        """Positions (in the pool) of the three best of the first stage."""
        return np.argsort(-self.first_stage, kind="stable")[:3]

    @cached_property
    def reading(self) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """Term ids of all candidates in reading order, and which candidate each belongs to."""
        read = [self.index.postings.reading(int(r)) for r in self.rows]
        sizes = [len(r) for r in read]
        owner = np.repeat(np.arange(len(read)), sizes)
        return (np.concatenate(read) if read else np.empty(0, np.int32)), owner

    def holds(self, terms: frozenset[int] | tuple[int, ...], offset: int = 0) -> Floats:
        """How many of these terms occur in the row."""
        found = np.zeros(len(self.rows), np.float32)
        where = self.at(offset)
        for term in sorted(terms):
            holders, _ = self.index.postings.rows(term)
            if len(holders):
                place = np.searchsorted(holders, where)
                place[place == len(holders)] = 0
                found += holders[place] == where
        return found


def floats(values: Any) -> Floats:
    """Anything numpy understands as a float32 array."""
    return np.asarray(values, np.float32)


def ranks(values: Floats) -> Floats:
    """Ranks from 1, best first; equal values share the best of their ranks."""
    order = np.argsort(-values, kind="stable")
    ranked = np.empty(len(values), np.float32)
    ranked[order] = np.arange(1, len(values) + 1)
    ordered = values[order]
    new = np.ones(len(values), np.bool_)
    new[1:] = ordered[1:] != ordered[:-1]
    starts = np.flatnonzero(new)
    lengths = np.diff(np.concatenate([starts, [len(values)]]))
    ranked[order] = np.repeat(starts + 1, lengths)
    return ranked


def group_max(values: Floats, groups: NDArray[np.int64]) -> Floats:
    """Highest value in each candidate's group."""
    best = np.full(int(groups.max(initial=-1)) + 1, -np.inf, np.float32)
    np.maximum.at(best, groups, values)
    return best[groups]


def group_sum(values: Floats, groups: NDArray[np.int64]) -> Floats:
    """Sum of the values in each candidate's group."""
    return np.bincount(groups, values)[groups].astype(np.float32)
