"""Text to vectors: what every embedder promises."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]


class Embedder(Protocol):
    """Maps texts to unit-length float32 rows. Equal texts give equal rows. Thread-safe."""

    @property
    def name(self) -> str:
        """Stable name that a bank remembers, e.g. `wordllama-256`."""
        ...

    @property
    def dimension(self) -> int:
        """Length of a row."""
        ...

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Vectors of the texts, shape (len(texts), dimension), L2-normalised, zero if no token."""
        ...


@runtime_checkable
class WordVectors(Protocol):
    """A static embedder can also give a vector for a single word out of context."""

    @property
    def dimension(self) -> int:
        """Length of a row."""
        ...

    def words(self, words: Sequence[str]) -> Vectors:
        """One centred, L2-normalised row per word; zero for words without a token."""
        ...
