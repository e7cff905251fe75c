"""chromadb itself in the place of the toolkit's own collections (the extra `memgene[chroma]`).

Its search is approximate and its ties have no fixed order, so runs need not repeat; it is for
comparing with what was published.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memgene.core import MissingDependencyError

Embed = Callable[[Sequence[str]], NDArray[np.float32]]


def import_chromadb() -> ModuleType:
    """The package. Raises MissingDependencyError where it is not installed."""
    try:
        return importlib.import_module("chromadb")
    except ImportError as error:
        raise MissingDependencyError(
            "this vector store needs chromadb: pip install 'memgene[chroma]'"
        ) from error


class RealChroma:
    """A chromadb client in memory whose collections embed with `embed` unless a program gives a
    function of its own. All clients of a process share their collections."""

    def __init__(self, embed: Embed) -> None:
        chromadb = import_chromadb()
        self._client = chromadb.EphemeralClient(chromadb.Settings(anonymized_telemetry=False))
        self._function = _embedding_function(chromadb, embed)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._client, name)

    def create_collection(self, name: str, *args: Any, **options: Any) -> Any:
        """As chromadb's."""
        return self._client.create_collection(name, *args, **self._embedding(options))

    def get_or_create_collection(self, name: str, *args: Any, **options: Any) -> Any:
        """As chromadb's."""
        return self._client.get_or_create_collection(name, *args, **self._embedding(options))

    def _embedding(self, options: dict[str, Any]) -> dict[str, Any]:
        own = options.pop("embedding_function", None) or self._function
        return {**options, "embedding_function": own}


def _embedding_function(chromadb: ModuleType, embed: Embed) -> Any:
    """`embed` as chromadb wants it; it finds the class by name when it opens a collection."""

    class Host(chromadb.EmbeddingFunction):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            pass

        def __call__(self, input: list[str]) -> list[NDArray[np.float32]]:
            return list(embed(input))

        @staticmethod
        def name() -> str:
            return "memgene-host"

        def get_config(self) -> dict[str, Any]:
            return {}

        @staticmethod
        def build_from_config(config: dict[str, Any]) -> Any:
            return Host()

    return Host()
