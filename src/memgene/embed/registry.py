"""Embedders by name, as settings and the command line give them."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from memgene.core.errors import ConfigError
from memgene.embed.cached import CachedEmbedder
from memgene.embed.protocol import Embedder, WordVectors

CHOICES = (
    "static",
    "hashing",
    "minilm",
    "minilm-int8",
    "sentence-transformers/NAME",
    "openai/NAME",
)


def load_embedder(name: str = "static", **options: Any) -> Embedder:
    """The embedder called `name`; `options` go to its constructor.

    Names: `static` (default), `hashing`, `minilm` (float32), `minilm-int8`,
    `sentence-transformers/NAME` and `openai/NAME`, where NAME is the model's name there. Models
    remember the texts they have embedded; `static` and `hashing` are as fast as a look-up.

    Raises:
        ConfigError: the name is unknown or an option is not one of the embedder's.
        MissingDependencyError: the embedder's extra is not installed.
    """
    factory, arguments = _factory(name)
    try:
        inspect.signature(factory).bind(*arguments, **options)
    except TypeError as error:
        raise ConfigError(f"embedder {name!r}: {error}") from error
    made = factory(*arguments, **options)
    return made if name in ("static", "hashing") else CachedEmbedder(made)


def word_vectors() -> WordVectors:
    """Vectors of single words: the static embedder, whatever the bank's embedder is."""
    from memgene.embed.static import StaticEmbedder

    return StaticEmbedder()


def _factory(name: str) -> tuple[Callable[..., Embedder], tuple[str, ...]]:
    """The embedder's class, imported only now, and its positional arguments."""
    provider, _, model = name.partition("/")
    if provider == "sentence-transformers" and model:
        from memgene.embed.sentence_transformers import SentenceTransformersEmbedder

        return SentenceTransformersEmbedder, (model,)
    if provider == "openai" and model:
        from memgene.embed.openai import OpenAIEmbedder

        return OpenAIEmbedder, (model,)
    if name == "static":
        from memgene.embed.static import StaticEmbedder

        return StaticEmbedder, ()
    if name == "hashing":
        from memgene.embed.hashing import HashingEmbedder

        return HashingEmbedder, ()
    if name in ("minilm", "minilm-int8"):
        from memgene.embed.onnx import OnnxEmbedder

        return OnnxEmbedder, ("int8" if name == "minilm-int8" else "f32",)
    raise ConfigError(f"unknown embedder {name!r}; choose one of: {', '.join(CHOICES)}")
