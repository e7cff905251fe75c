"""The in-memory index of one query scope, and keeping it level with the bank."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from memgene.bank.protocol import Bank, Event, Filter, Relation, RelationKind, Value, Vectors
from memgene.bank.unit import MemoryUnit
from memgene.core import EmbedderMismatchError, Scope
from memgene.embed.protocol import Embedder, WordVectors
from memgene.retrieval.clusters import STATE, QueryClusters
from memgene.retrieval.dense import DenseSpace
from memgene.retrieval.index import UnitIndex
from memgene.retrieval.links import TimeLinks
from memgene.retrieval.retriever import KeptSignals, Retriever
from memgene.retrieval.soft import SoftMatcher
from memgene.retrieval.values import UnitValues

_SCOPES_KEPT = 64
_REBUILD_SHARE = 4  # rebuild when more than a quarter of the index changed
_MASKS_KEPT = 8


class ScopedIndex:
    """Units, vectors and words of one scope. Hold `lock` from `refresh` to the last read."""

    def __init__(
        self, bank: Bank, scope: Scope | None, embedder: Embedder | None, soft: SoftMatcher | None
    ) -> None:
        self.lock = threading.RLock()
        self._bank = bank
        self._scope = scope
        self._embedder = embedder
        self._soft = soft
        self._version = -1
        self._kept = KeptSignals()
        self._masks: OrderedDict[str, NDArray[np.bool_]] = OrderedDict()
        self.index = UnitIndex()
        self.dense = self._new_dense()
        self.values = UnitValues()
        self.links = TimeLinks(self.index, self._edges)

    def refresh(self) -> None:
        """Read what changed in the bank since the last read, by any process."""
        version = self._bank.version()
        if version == self._version:
            return
        self._check_embedder()
        self._masks.clear()
        self._kept.clear()
        changed = self._bank.changed_since(self._version) if self._version >= 0 else frozenset()
        if self._version < 0 or len(changed) * _REBUILD_SHARE > len(self.index):
            self._rebuild()
        else:
            told = self._bank.changed_since(self._version, (Event.VALUE,))
            self._apply(told)
            self._learn(changed - told)
        self.values.clusters = QueryClusters.read(self._bank.state(STATE), self._embedder)
        self.links.forget(self.index)
        self._version = version

    def retriever(self, where: Filter | None = None) -> Retriever:
        """Retrieval over this index and the bank's full text (of what passes a filter)."""

        def search_text(words: Sequence[str], limit: int) -> Sequence[tuple[int, float]]:
            row_of = self.index.row_of_seq
            found = self._bank.match_text(words, self._scope, limit, where)
            return [(row_of[seq], score) for seq, score in found if seq in row_of]

        return Retriever(
            self.index,
            self.dense,
            self._soft,
            search_text,
            self._kept,
            values=self.values,
            links=self.links,
        )

    def mask(self, where: Filter) -> NDArray[np.bool_]:
        """Rows that pass a filter."""
        key = repr(where)
        if key not in self._masks:
            mask = np.zeros(len(self.index), np.bool_)
            rows = [
                self.index.row_of[u.id]
                for u in self._bank.scan(self._scope, where)
                if u.id in self.index.row_of
            ]
            mask[rows] = True
            self._masks[key] = mask
            if len(self._masks) > _MASKS_KEPT:
                self._masks.popitem(last=False)
        return self._masks[key]

    def _check_embedder(self) -> None:
        """Cosines with the vectors of another embedder mean nothing."""
        stored = self._bank.embedder()
        if stored is None or self._embedder is None:
            return
        name, dimension = self._embedder.name, self._embedder.dimension
        if (stored.name, stored.dimension) != (name, dimension):
            raise EmbedderMismatchError(
                f"the vectors in {self._bank.location} were made by {stored.name} "
                f"({stored.dimension} numbers each), this memory reads with {name} ({dimension}); "
                f"open it with {stored.name}, or run `memgene reembed`"
            )

    def _new_dense(self) -> DenseSpace | None:
        return None if self._embedder is None else DenseSpace(self._embedder)

    def _rebuild(self) -> None:
        self.index, self.dense = UnitIndex(), self._new_dense()
        self.values = UnitValues()
        units = list(self._bank.scan(self._scope))
        self.index.append(units)
        self._take_over([u.id for u in units], self._bank.all_values(self._scope))
        if self.dense is not None:
            ids, vectors = self._bank.all_vectors(self._scope)
            self.dense.append(_aligned(units, ids, vectors, self.dense), [u.seq for u in units])

    def _apply(self, changed: frozenset[str]) -> None:
        units = list(self._bank.scan(self._scope, ids=sorted(changed)))
        vectors = None
        if self.dense is not None:
            vectors = _aligned(units, *self._bank.vectors([u.id for u in units]), self.dense)
        fresh = [i for i, unit in enumerate(units) if not self._revalued(unit, vectors, i)]
        gone = changed.difference(u.id for u in units).union(units[i].id for i in fresh)
        for unit_id in sorted(unit_id for unit_id in gone if unit_id in self.index.row_of):
            if self.dense is not None:
                self.dense.remove(self.index.row_of[unit_id])
            self.index.remove(unit_id)
        if fresh:
            self.index.append([units[i] for i in fresh])
            if self.dense is not None and vectors is not None:
                self.dense.append(vectors[fresh], [units[i].seq for i in fresh])
        ids = [u.id for u in units]
        self._take_over(ids, self._bank.values(ids, by_kind=True))

    def _learn(self, valued: frozenset[str]) -> None:
        """New values of units of which nothing else changed."""
        row_of = self.index.row_of
        ids = sorted(unit_id for unit_id in valued if unit_id in row_of)
        for unit_id, utility in self._bank.utilities(ids).items():
            self.index.set_utility(row_of[unit_id], utility)
        self._take_over(ids, self._bank.values(ids, by_kind=True))

    def _take_over(self, ids: Sequence[str], values: Sequence[Value]) -> None:
        """The values of units that the index holds; also that some have none any more."""
        if not (values or self.values.conditional):
            return
        by_unit: dict[str, list[Value]] = {}
        for value in values:
            by_unit.setdefault(value.unit_id, []).append(value)
        for unit_id in ids:
            self.values.put(self.index.row_of[unit_id], by_unit.get(unit_id, ()))

    def _edges(self, ids: Sequence[str]) -> Sequence[Relation]:
        return self._bank.relations(ids, (RelationKind.TIME,))

    def _revalued(self, unit: MemoryUnit, vectors: Vectors | None, place: int) -> bool:
        """Whether the unit's row only needed new values; its words and vector are as they were."""
        row = self.index.row_of.get(unit.id)
        if row is None:
            return False
        if self.dense is None or vectors is None:
            return self.index.revalue(row, unit)
        same = np.array_equal(self.dense.raw[row], vectors[place])
        return same and self.index.revalue(row, unit)


def _aligned(
    units: Sequence[MemoryUnit], ids: Sequence[str], vectors: Vectors, dense: DenseSpace
) -> Vectors:
    """One vector a unit, zero for units that have none."""
    if units and list(ids) == [u.id for u in units]:
        return vectors
    place = {unit_id: i for i, unit_id in enumerate(ids)}
    aligned = np.zeros((len(units), dense.embedder.dimension), np.float32)
    for row, unit in enumerate(units):
        if unit.id in place:
            aligned[row] = vectors[place[unit.id]]
    return aligned


class IndexStore:
    """Indices of a bank by scope, the least recently used dropped. Shared by configurations."""

    def __init__(self, bank: Bank, embedder: Embedder | None, words: WordVectors | None) -> None:
        self._bank = bank
        self._embedder = embedder
        self._words = words
        self._kept: OrderedDict[Scope | None, ScopedIndex] = OrderedDict()
        self._lock = threading.Lock()

    def at(self, scope: Scope | None) -> ScopedIndex:
        """The index of a scope (empty until refreshed)."""
        with self._lock:
            if scope not in self._kept:
                soft = None if self._words is None else SoftMatcher(self._words)
                self._kept[scope] = ScopedIndex(self._bank, scope, self._embedder, soft)
                if len(self._kept) > _SCOPES_KEPT:
                    self._kept.popitem(last=False)
            self._kept.move_to_end(scope)
            return self._kept[scope]
