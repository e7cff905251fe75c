"""The in-memory index of one query scope, and keeping it level with the bank."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from memgene.bank.protocol import Bank, Filter
from memgene.bank.unit import MemoryUnit
from memgene.core import Scope
from memgene.embed.protocol import Embedder, WordVectors
from memgene.retrieval.dense import DenseSpace
from memgene.retrieval.index import UnitIndex
from memgene.retrieval.retriever import Retriever
from memgene.retrieval.soft import SoftMatcher

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
        self._masks: OrderedDict[str, NDArray[np.bool_]] = OrderedDict()
        self.index = UnitIndex()
        self.dense = self._new_dense()

    def refresh(self) -> None:
        """Read what changed in the bank since the last read, by any process."""
        version = self._bank.version()
        if version == self._version:
            return
        self._masks.clear()
        changed = self._bank.changed_since(self._version) if self._version >= 0 else frozenset()
        if self._version < 0 or len(changed) * _REBUILD_SHARE > len(self.index):
            self._rebuild()
        else:
            self._apply(changed)
        self._version = version

    def retriever(self) -> Retriever:
        """Retrieval over this index and the bank's full text."""
        return Retriever(self.index, self.dense, self._soft, self._search_text)

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

    def _search_text(self, words: Sequence[str], limit: int) -> list[tuple[str, float]]:
        return [(m.id, m.score) for m in self._bank.search_text(words, self._scope, limit)]

    def _new_dense(self) -> DenseSpace | None:
        return None if self._embedder is None else DenseSpace(self._embedder)

    def _rebuild(self) -> None:
        self.index, self.dense = UnitIndex(), self._new_dense()
        units = list(self._bank.scan(self._scope))
        self.index.append(units)
        if self.dense is not None:
            ids, vectors = self._bank.all_vectors(self._scope)
            self.dense.append(_aligned(units, ids, vectors, self.dense))

    def _apply(self, changed: frozenset[str]) -> None:
        living = {u.id: u for u in self._bank.scan(self._scope, ids=sorted(changed))}
        new: list[MemoryUnit] = []
        for unit_id in sorted(changed):
            unit, row = living.get(unit_id), self.index.row_of.get(unit_id)
            if unit is not None and row is not None and self.index.revalue(row, unit):
                continue
            if row is not None:
                self.index.remove(unit_id)
                if self.dense is not None:
                    self.dense.remove(row)
            if unit is not None:
                new.append(unit)
        new.sort(key=lambda u: u.seq)
        if new:
            self.index.append(new)
            if self.dense is not None:
                ids, vectors = self._bank.vectors([u.id for u in new])
                self.dense.append(_aligned(new, ids, vectors, self.dense))


def _aligned(
    units: Sequence[MemoryUnit], ids: Sequence[str], vectors: NDArray[np.float32], dense: DenseSpace
) -> NDArray[np.float32]:
    """One vector a unit, zero for units that have none."""
    if list(ids) == [u.id for u in units]:
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
