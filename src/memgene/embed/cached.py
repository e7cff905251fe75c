"""An embedder that remembers what it has embedded."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import cached_property

from memgene.core.errors import InputError
from memgene.embed.protocol import Embedder, Vectors
from memgene.embed.row_cache import RowCache
from memgene.embed.texts import checked


class CachedEmbedder:
    """Wraps an embedder with a bounded in-memory cache keyed by a hash of the text.

    Each distinct text that is not cached is embedded once per call, however often it occurs.
    """

    def __init__(self, inner: Embedder, max_items: int = 20_000) -> None:
        self._inner = inner
        if max_items < 1:
            raise InputError(f"max_items must be at least 1, not {max_items}")
        self._max_items = max_items

    @property
    def name(self) -> str:
        """The wrapped embedder's name: the vectors are the same."""
        return self._inner.name

    @property
    def dimension(self) -> int:
        """The wrapped embedder's dimension."""
        return self._inner.dimension

    @cached_property
    def _cache(self) -> RowCache[bytes]:
        """Made at first need, because a server has to be asked for the dimension."""
        return RowCache(self.dimension, self._max_items)

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Vectors of the texts, shape (n, dimension); the caller may change them."""
        items = checked(texts)
        keys = [hashlib.blake2b(text.encode("utf-8"), digest_size=16).digest() for text in items]
        return self._cache.lookup(
            keys, lambda positions: self._inner.embed([items[p] for p in positions])
        )
