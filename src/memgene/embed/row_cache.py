"""A bounded, thread-safe map from keys to rows: what `CachedEmbedder` and `words` share."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from typing import Generic, TypeVar

import numpy as np

from memgene.embed.protocol import Vectors

K = TypeVar("K", bound=Hashable)


class RowCache(Generic[K]):
    """Least-recently-used cache of float32 rows in one matrix that grows up to `max_items`
    rows (≥ 1).

    Memory: 4 · dimension bytes a row plus the key. Two threads that miss the same key at once
    both compute it; the rows are equal, so either may be kept.
    """

    def __init__(self, dimension: int, max_items: int) -> None:
        self._max_items = max_items
        self._slots: OrderedDict[K, int] = OrderedDict()
        self._rows: Vectors = np.zeros((min(256, max_items), dimension), dtype=np.float32)
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._slots)

    def lookup(self, keys: Sequence[K], compute: Callable[[list[int]], Vectors]) -> Vectors:
        """Rows of the keys, shape (len(keys), dimension), a fresh array.

        Args:
            keys: in any order, repeats allowed.
            compute: gets the positions of the first occurrence of each unknown key, in order, and
                gives their rows. It runs outside the lock and is not called when all is known.
        """
        result = np.empty((len(keys), self._rows.shape[1]), dtype=np.float32)
        missing: dict[K, list[int]] = {}
        with self._lock:
            found, slots = [], []
            for position, key in enumerate(keys):
                slot = self._slots.get(key)
                if slot is None:
                    missing.setdefault(key, []).append(position)
                else:
                    self._slots.move_to_end(key)
                    found.append(position)
                    slots.append(slot)
            result[found] = self._rows[slots]
        if missing:
            rows = compute([positions[0] for positions in missing.values()])
            for row, positions in zip(rows, missing.values(), strict=True):
                result[positions] = row
            with self._lock:
                for key, row in zip(missing, rows, strict=True):
                    self._store(key, row)
        return result

    def _store(self, key: K, row: Vectors) -> None:
        slot = self._slots.get(key)
        if slot is None:
            slot = self._free_slot()
            self._slots[key] = slot
        self._rows[slot] = row

    def _free_slot(self) -> int:
        if len(self._slots) >= self._max_items:
            return self._slots.popitem(last=False)[1]
        slot = len(self._slots)
        if slot == len(self._rows):
            grown = np.zeros((min(2 * slot, self._max_items), self._rows.shape[1]), np.float32)
            grown[:slot] = self._rows
            self._rows = grown
        return slot
