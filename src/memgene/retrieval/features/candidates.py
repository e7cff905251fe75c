"""The pool of one query, with everything a feature may look at, computed in bulk."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memgene.retrieval.index import NONE, UnitIndex
from memgene.retrieval.query import Query
from memgene.retrieval.signals import Signals
from memgene.retrieval.traits import TRAITS

Floats = NDArray[np.float32]
Rows = NDArray[np.int64]
REACH = 2


class Candidates:
    """Rows of the pool and signals on and around them.

    `first_stage` are the scores of the untrained fusion, used for feedback features. Arrays over
    all signals have them on their first axis, in the order of `signals.names`.
    """

    def __init__(self, signals: Signals, rows: Rows, first_stage: Floats) -> None:
        self.signals = signals
        self.index: UnitIndex = signals.index
        self.query: Query = signals.query
        self.rows = rows
        self.first_stage = first_stage
        self._place = {name: i for i, name in enumerate(signals.names)}
        self._shifted: dict[int, Rows] = {0: rows}
        self._traits: dict[int, Floats] = {}

    def __len__(self) -> int:
        return len(self.rows)

    def at(self, offset: int) -> Rows:
        """Rows `offset` places further in the source (−1 = none)."""
        if offset not in self._shifted:
            step = 1 if offset > 0 else -1
            self._shifted[offset] = self.index.shifted(self.at(offset - step), step)
        return self._shifted[offset]

    # -- signals
    @cached_property
    def _around(self) -> Floats:
        """Every signal at the candidates and up to two places around, (signals, 5, pool)."""
        places = np.stack([self.at(o) for o in range(-REACH, REACH + 1)])
        return self.signals.table(places)

    @cached_property
    def _shares(self) -> Floats:
        """`_around` divided by each signal's highest value among the candidates."""
        top = self._around[:, REACH].max(axis=1, initial=0.0)
        return floats(self._around / floats(np.where(top > 0, top, 1))[:, None, None])

    def raw(self, signal: str) -> Floats:
        """Values of a signal at the candidates."""
        return floats(self._around[self._place[signal], REACH])

    def value(self, signal: str, offset: int = 0) -> Floats:
        """A signal, here or at a neighbour, divided by its highest value among candidates."""
        return floats(self._shares[self._place[signal], REACH + offset])

    @cached_property
    def _best_around(self) -> Floats:
        return floats(np.delete(self._shares, REACH, axis=1).max(axis=1))

    def around(self, signal: str) -> Floats:
        """The highest value among the neighbours within two places."""
        return floats(self._best_around[self._place[signal]])

    @cached_property
    def _log_ranks(self) -> Floats:
        return floats(-np.log(np.stack([ranks(v) for v in self._around[:, REACH]])))

    def log_rank(self, signal: str) -> Floats:
        """−log of the rank (from 1, ties share their best rank) among the candidates."""
        return floats(self._log_ranks[self._place[signal]])

    @cached_property
    def _spans(self) -> Floats:
        here = self._around[:, REACH]
        low = here.min(axis=1, initial=0.0)[:, None]
        width = here.max(axis=1, initial=0.0)[:, None] - low
        return floats((here - low) / np.where(width > 0, width, 1))

    def span(self, signal: str) -> Floats:
        """The signal, min-max over the candidates and zero."""
        return floats(self._spans[self._place[signal]])

    # -- sources
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
    def _group_order(self) -> tuple[Rows, Rows]:
        order = np.argsort(self.source_groups, kind="stable")
        starts = np.flatnonzero(np.diff(self.source_groups[order], prepend=-1))
        return order, starts

    def group_max(self, values: Floats) -> Floats:
        """Highest value in each candidate's source; the last axis is the pool."""
        order, starts = self._group_order
        best = np.maximum.reduceat(values[..., order], starts, axis=-1)
        return floats(best[..., self.source_groups])

    @cached_property
    def _source_bests(self) -> Floats:
        return self.group_max(self._shares[:, REACH])

    def source_best(self, signal: str) -> Floats:
        """Best share of the signal in each candidate's source."""
        return floats(self._source_bests[self._place[signal]])

    @cached_property
    def _source_ranks(self) -> Floats:
        return np.stack([_dense_ranks(v) for v in self._source_bests])

    def source_rank(self, signal: str) -> Floats:
        """−log(1 + place) of the source among the sources by their best."""
        return floats(-np.log1p(self._source_ranks[self._place[signal]]))

    # -- words
    @cached_property
    def reading(self) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """Term ids of all candidates in reading order, and which candidate each belongs to."""
        read = [self.index.postings.reading(r) for r in self.rows.tolist()]
        owner = np.repeat(np.arange(len(read)), [len(r) for r in read])
        return (np.concatenate(read) if read else np.empty(0, np.int32)), owner

    def holds(self, terms: frozenset[int] | tuple[int, ...]) -> Floats:
        """How many of these terms occur in the row."""
        found = np.zeros(len(self.rows), np.float32)
        for term in sorted(terms):
            holders, _ = self.index.postings.rows(term)
            if len(holders):
                place = np.searchsorted(holders, self.rows)
                place[place == len(holders)] = 0
                found += holders[place] == self.rows
        return found

    @cached_property
    def content_ids(self) -> tuple[int, ...]:
        """Terms of the question without names that memory knows."""
        return tuple(t.term for t in self.query.content(names=False) if t.term is not None)

    @cached_property
    def matched(self) -> Floats:
        """How many of the question's content words occur in each candidate."""
        return self.holds(self.content_ids)

    # -- speakers
    @cached_property
    def said_by(self) -> dict[int, Floats]:
        """For offsets −1 and 0: 1 where a person the question names speaks."""
        wanted = sorted(self.query.speakers)
        found = {}
        for offset in (-1, 0):
            rows = self.at(offset)
            who = self.index.speaker[np.where(rows == NONE, 0, rows)]
            said = np.zeros(len(rows), np.bool_)
            for speaker in wanted:
                said |= who == speaker
            found[offset] = floats(said & (rows != NONE))
        return found

    def trait(self, name: str, offset: int = 0) -> Floats:
        """A trait of the row or of a neighbour, 0 where there is none."""
        if offset not in self._traits:
            rows = self.at(offset)
            table = self.index.traits_at(np.where(rows == NONE, self.rows, rows))
            table[rows == NONE] = 0
            self._traits[offset] = table
        return self._traits[offset][:, TRAITS.index(name)]

    # -- first stage
    @cached_property
    def top(self) -> Rows:
        """Positions (in the pool) of the three best of the first stage."""
        return np.argsort(-self.first_stage, kind="stable")[:3]

    @cached_property
    def places(self) -> Rows:
        """Place from 0 of each candidate in the first stage."""
        order = np.argsort(-self.first_stage, kind="stable")
        places = np.empty_like(order)
        places[order] = np.arange(len(order))
        return places


def floats(values: Any) -> Floats:
    """Anything numpy understands as a float32 array."""
    return np.asarray(values, np.float32)


def ranks(values: Floats) -> Floats:
    """Ranks from 1, best first; equal values share the best of their ranks."""
    ascending = np.sort(-values)
    return floats(np.searchsorted(ascending, -values, side="left") + 1)


def _dense_ranks(values: Floats) -> Floats:
    """Places from 0 without gaps, best first, equal values alike."""
    return floats(np.searchsorted(np.unique(-values), -values))
