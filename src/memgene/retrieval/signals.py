"""Raw evidence about candidate rows, one array a signal, computed once per query and shared.

A *signal* is one number per row that says how well the row, its window, or its source fits the
question. Features (`features/`) are made from signals; views rank by some of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from memgene.retrieval.bm25 import bm25, source_bm25
from memgene.retrieval.config import RetrievalConfig
from memgene.retrieval.dense import DenseSpace, dense_query
from memgene.retrieval.index import NONE, UnitIndex
from memgene.retrieval.query import Query
from memgene.retrieval.soft import SoftMatcher

Floats = NDArray[np.float32]
Rows = NDArray[np.int64]
REACH = 2


class Signals:
    """Signals of one query over an index; `dense`, `soft` may be absent (signals then are)."""

    def __init__(
        self,
        query: Query,
        index: UnitIndex,
        dense: DenseSpace | None,
        soft: SoftMatcher | None,
        config: RetrievalConfig,
    ) -> None:
        self.query = query
        self.index = index
        self.dense = dense if dense is not None and len(dense) else None
        self.soft = soft
        self.config = config
        self._sparse: dict[str, Floats] = {}

    def full(self, name: str) -> Floats:
        """A word signal over all rows, computed at first use."""
        if name not in self._sparse:
            self._sparse[name] = _WORD_SIGNALS[name](self)
        return self._sparse[name]

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Signals that this index and query can give, in a fixed order."""
        kept = list(_WORD_SIGNALS)
        if self.soft is None:
            kept.remove("soft")
        if self.dense is not None:
            kept += DENSE_SIGNALS
        return tuple(kept)

    def at(self, name: str, rows: Rows) -> Floats:
        """A signal at some rows; 0 where a row is −1 or removed."""
        safe = np.where(rows == NONE, 0, rows)
        if name in DENSE_SIGNALS:
            assert self.dense is not None
            found = self.dense.cosine(*self._dense_query(name), rows=safe)
        else:
            found = self.full(name)[safe]
        return np.where((rows == NONE) | ~self.index.alive[safe], np.float32(0), found)

    def _dense_query(self, name: str) -> tuple[str, bool]:
        """Text to embed and whether the space is centred: the view's, or the whole question."""
        assert self.dense is not None
        text, centred = dense_query(self.query, self.config, self.dense)
        return (text if name == "dense" else self.query.text), centred


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
        for other in index.prefixed(t.stem[:4]):
            hit[index.postings.rows(other)[0]] = True
        covered[hit] += np.float32(t.idf / total)
    return covered


def _soft(signals: Signals) -> Floats:
    assert signals.soft is not None
    return signals.soft.scores(signals.index, signals.query.content(names=False))


_WORD_SIGNALS: Mapping[str, Callable[[Signals], Floats]] = MappingProxyType(
    {
        "bm25": lambda s: bm25(s.index, s.query.content(names=False)),
        "bm25_names": lambda s: bm25(s.index, s.query.content(names=True)),
        "window1": lambda s: bm25(s.index, s.query.content(names=False), offsets=(-1, 0, 1)),
        "window1_names": lambda s: bm25(s.index, s.query.content(names=True), offsets=(-1, 0, 1)),
        "window2": lambda s: bm25(s.index, s.query.content(names=False), offsets=(-2, -1, 0, 1, 2)),
        "with_previous": lambda s: bm25(s.index, s.query.content(names=False), offsets=(-1, 0)),
        "with_next": lambda s: bm25(s.index, s.query.content(names=False), offsets=(0, 1)),
        "episode": lambda s: source_bm25(s.index, s.query.content(names=False)),
        "coverage": _coverage,
        "prefix": _prefix,
        "soft": _soft,
    }
)
WORD_SIGNALS = tuple(_WORD_SIGNALS)
