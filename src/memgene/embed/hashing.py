"""The embedder without a model: every token hashes to a slot (EvolveMem, the hashing embedder)."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Sequence

import numpy as np

from memgene.core.errors import InputError
from memgene.embed.normalise import unit_rows
from memgene.embed.protocol import Vectors
from memgene.embed.texts import checked

_TOKEN = re.compile(r"\w+")


class HashingEmbedder:
    """Lower-cased words, each adding 1 to the slot its SHA-256 picks; L2-normalised.

    Needs no weights, knows no meaning. For tests, and as the floor of a comparison.
    """

    def __init__(self, dimension: int = 64) -> None:
        if dimension < 1:
            raise InputError(f"dimension must be at least 1, not {dimension}")
        self._dimension = dimension

    @property
    def name(self) -> str:
        """`hashing-` and the dimension."""
        return f"hashing-{self._dimension}"

    @property
    def dimension(self) -> int:
        """Number of slots."""
        return self._dimension

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Vectors of the texts, shape (n, dimension), unit length, zero for a text without words.

        A word's slot is the first 8 bytes of its SHA-256, big-endian, modulo the dimension.
        """
        items = checked(texts)
        result = np.zeros((len(items), self._dimension), dtype=np.float32)
        for row, text in zip(result, items, strict=True):
            for token, count in Counter(_TOKEN.findall(text.casefold())).items():
                row[self._slot(token)] += count
        return unit_rows(result)

    def _slot(self, token: str) -> int:
        digest = hashlib.sha256(token.encode("utf-8")).digest()
        return int.from_bytes(digest[:8], "big") % self._dimension
