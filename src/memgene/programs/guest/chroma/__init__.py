"""`toolkit.chroma`: exact vector collections in numpy, with chromadb's names and return shapes."""

from memgene.programs.guest.chroma.client import ChromaClient
from memgene.programs.guest.chroma.collection import Collection
from memgene.programs.guest.chroma.module import chroma_module

__all__ = ["ChromaClient", "Collection", "chroma_module"]
