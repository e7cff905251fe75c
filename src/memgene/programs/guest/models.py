"""The run's embedder and word vectors as `toolkit.bank` sees them: calls of the host.

`described` goes into the first message, `models_of` reads it in the worker, so that the engine
there treats the embedder as the engine of a bank harness treats the real one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from memgene.embed.protocol import Embedder, Vectors, WordVectors
from memgene.embed.row_cache import RowCache

Ask = Callable[[Sequence[str]], Vectors]
"""Texts or words to rows, in one host call."""

_WORDS_KEPT = 50_000


class HostEmbedder:
    """An embedder that lives in the parent. Nothing is kept: the parent may cache."""

    def __init__(self, name: str, dimension: int, ask: Ask) -> None:
        self.name = name
        self.dimension = dimension
        self._ask = ask

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Vectors of the texts, shape (n, dimension)."""
        return self._ask(texts)


class HostWords:
    """Word vectors that live in the parent; rows asked for once are kept."""

    def __init__(self, dimension: int, ask: Ask) -> None:
        self.dimension = dimension
        self._ask = ask
        self._rows: RowCache[str] = RowCache(dimension, _WORDS_KEPT)

    def words(self, words: Sequence[str]) -> Vectors:
        """One row per word, shape (n, dimension)."""
        return self._rows.lookup(words, lambda places: self._ask([words[p] for p in places]))


class HostStaticEmbedder(HostEmbedder):
    """One whose vectors are means of word vectors (`WordVectors`): retrieval centres those."""

    def __init__(self, name: str, dimension: int, ask: Ask, words: WordVectors) -> None:
        super().__init__(name, dimension, ask)
        self._words = words

    def words(self, words: Sequence[str]) -> Vectors:
        """One row per word, shape (n, dimension)."""
        return self._words.words(words)


def described(embedder: Embedder | None, words: WordVectors | None) -> dict[str, Any]:
    """`embedder` and `words` of the first message: what a worker must know of them, as JSON."""
    return {
        "embedder": embedder
        and {
            "name": embedder.name,
            "dimension": embedder.dimension,
            "static": isinstance(embedder, WordVectors),
        },
        "words": words and {"dimension": words.dimension},
    }


def models_of(
    first: Mapping[str, Any], embed: Ask, words: Ask
) -> tuple[HostEmbedder | None, HostWords | None]:
    """The models that `described` told of."""
    told = first["words"]
    known = None if told is None else HostWords(told["dimension"], words)
    told = first["embedder"]
    if told is None:
        return None, known
    name, dimension = told["name"], told["dimension"]
    if not told["static"]:
        return HostEmbedder(name, dimension, embed), known
    own = known or HostWords(dimension, words)
    return HostStaticEmbedder(name, dimension, embed, own), known
