"""Text to vectors. Each embedder loads its own dependencies when it is built, none at import."""

from memgene.embed.protocol import Embedder, Vectors, WordVectors
from memgene.embed.registry import load_embedder, word_vectors

__all__ = ["Embedder", "Vectors", "WordVectors", "load_embedder", "word_vectors"]
