"""Raw evidence about rows, one array a signal, computed once per query and shared.

A *signal* is one number per row that says how well the row, its window, or its source fits the
question. Features (`features/`) are made from signals; views rank by some of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from memgene.retrieval.bm25 import bm25, source_bm25, window_counts
from memgene.retrieval.config import RetrievalConfig
from memgene.retrieval.dense import DenseSpace, dense_query
from memgene.retrieval.index import NONE, UnitIndex
from memgene.retrieval.query import Query
from memgene.retrieval.soft import SoftMatcher

Floats = NDArray[np.float32]
Rows = NDArray[np.int64]


class Signals:
    """Signals of one query over an index; `dense`, `soft` may be absent (signals then are).

    `kept` holds the word signals of this question, which no lever changes, from an earlier look.
    """

    def __init__(
        self,
        query: Query,
        index: UnitIndex,
        dense: DenseSpace | None,
        soft: SoftMatcher | None,
        config: RetrievalConfig,
        kept: dict[str, Floats] | None = None,
    ) -> None:
        self.query = query
        self.index = index
        self.dense = dense if dense is not None and len(dense) else None
        self.soft = soft
        self.config = config
        self._full: dict[str, Floats] = {} if kept is None else kept
        self._windows: dict[tuple[int, tuple[int, ...]], tuple[Rows, Floats]] = {}

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Signals that this index and query can give, in a fixed order."""
        words = (n for n in WORD_SIGNALS if n != "soft" or self.soft is not None)
        return (*words, *(DENSE_SIGNALS if self.dense is not None else ()))

    def full(self, name: str) -> Floats:
        """A word signal over all rows, computed at first use; removed rows may hold anything."""
        if name not in self._full:
            self._full[name] = _WORD_SIGNALS[name](self)
        return self._full[name]

    def at(self, name: str, rows: Rows) -> Floats:
        """A signal at some rows; 0 where a row is −1 or removed."""
        safe = np.where(rows == NONE, 0, rows)
        found = self._dense(name, safe) if name in DENSE_SIGNALS else self.full(name)[safe]
        return np.where((rows == NONE) | ~self.index.alive[safe], np.float32(0), found)

    def table(self, rows: Rows) -> Floats:
        """All signals (`names`) at some rows, shape (signals, *rows.shape); 0 for −1, removed."""
        safe = np.where(rows == NONE, 0, rows)
        table = np.empty((len(self.names), *rows.shape), np.float32)
        for i, name in enumerate(self.names):
            if name in DENSE_SIGNALS:
                table[i] = self._dense(name, safe.ravel()).reshape(rows.shape)
            else:
                table[i] = self.full(name)[safe]
        table[:, (rows == NONE) | ~self.index.alive[safe]] = 0
        return table

    def bm25(self, *, names: bool, offsets: tuple[int, ...] = (0,)) -> Floats:
        """BM25 of the content words, counts per window kept for the next variant."""
        terms = self.query.content(names=names)
        return bm25(self.index, terms, offsets=offsets, spread=self._spread)

    def _spread(self, term: int, offsets: tuple[int, ...]) -> tuple[Rows, Floats]:
        key = (term, offsets)
        if key not in self._windows:
            self._windows[key] = window_counts(self.index, term, offsets)
        return self._windows[key]

    def _dense(self, name: str, rows: Rows) -> Floats:
        """Cosine with what the dense view embeds, or with the whole question."""
        assert self.dense is not None
        text, centred = dense_query(self.query, self.config, self.dense)
        return self.dense.cosine(text if name == "dense" else self.query.text, centred, rows)


DENSE_SIGNALS = ("dense", "dense_question")


def _coverage(signals: Signals) -> Floats:
    """Share of the query's idf that occurs in the row."""
    query, index = signals.query, signals.index
    terms = query.content(names=False)
    total = sum(t.idf for t in terms) or 1.0
    covered = np.zeros(len(index), np.float32)
    for t in terms:
        if t.term is not None:
            covered[index.postings.rows(t.term)[0]] += np.float32(t.idf / total)
    return covered


def _prefix(signals: Signals) -> Floats:
    """Coverage by words that share their first four characters (inflection, compounds)."""
    query, index = signals.query, signals.index
    terms = [t for t in query.content(names=False) if len(t.stem) >= 4]
    total = sum(t.idf for t in terms) or 1.0
    covered = np.zeros(len(index), np.float32)
    for t in terms:
        hit = np.zeros(len(index), np.bool_)
        for other in index.prefixed(t.stem):
            hit[index.postings.rows(other)[0]] = True
        covered[hit] += np.float32(t.idf / total)
    return covered


def _soft(signals: Signals) -> Floats:
    assert signals.soft is not None
    return signals.soft.scores(signals.index, signals.query.content(names=False))


_WORD_SIGNALS: Mapping[str, Callable[[Signals], Floats]] = MappingProxyType(
    {
        "bm25": lambda s: s.bm25(names=False),
        "bm25_names": lambda s: s.bm25(names=True),
        "window1": lambda s: s.bm25(names=False, offsets=(-1, 0, 1)),
        "window1_names": lambda s: s.bm25(names=True, offsets=(-1, 0, 1)),
        "window2": lambda s: s.bm25(names=False, offsets=(-2, -1, 0, 1, 2)),
        "with_previous": lambda s: s.bm25(names=False, offsets=(-1, 0)),
        "with_next": lambda s: s.bm25(names=False, offsets=(0, 1)),
        "episode": lambda s: source_bm25(s.index, s.query.content(names=False)),
        "coverage": _coverage,
        "prefix": _prefix,
        "soft": _soft,
    }
)
WORD_SIGNALS = tuple(_WORD_SIGNALS)
SIGNALS = (*WORD_SIGNALS, *DENSE_SIGNALS)
