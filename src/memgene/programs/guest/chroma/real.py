"""chromadb itself in the place of the toolkit's own collections (the extra `memgene[chroma]`).

Its search is approximate and its ties have no fixed order, so runs need not repeat; it is for
comparing with what was published.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memgene.core import MissingDependencyError
from memgene.programs.guest.chroma.client import DefaultEmbeddingFunction
from memgene.programs.guest.chroma.module import chroma_module
from memgene.programs.guest.fixed import Facade

Embed = Callable[[Sequence[str]], NDArray[np.float32]]
_MISSING = "this vector store needs chromadb: pip install 'memgene[chroma]'"
_OURS = (
    "Client",
    "EphemeralClient",
    "PersistentClient",
    "HttpClient",
    "AsyncHttpClient",
    "CloudClient",
    "utils",
)
"""Names of the toolkit's own module that stand in chromadb's too: clients, embedding functions."""


def require_chromadb() -> None:
    """Raise MissingDependencyError where chromadb is not installed; import nothing."""
    if importlib.util.find_spec("chromadb") is None:
        raise MissingDependencyError(_MISSING)


def import_chromadb() -> ModuleType:
    """The package. Raises MissingDependencyError where it is not installed."""
    try:
        return importlib.import_module("chromadb")
    except ImportError as error:
        raise MissingDependencyError(_MISSING) from error


def load_chromadb() -> None:
    """Import also what chromadb itself would import when the first client is made."""
    settings = _settings(import_chromadb())
    for path in (settings.chroma_api_impl, settings.chroma_product_telemetry_impl):
        importlib.import_module(path.rpartition(".")[0])


def real_chroma_module(client: Callable[[], RealChroma]) -> ModuleType:
    """`chromadb` as a program gets it: every client in memory is `client()`, those of servers
    refuse to be made, embedding functions that would be downloaded stand for the run's embedder."""
    own = chroma_module(client)
    return Facade("chromadb", import_chromadb(), {name: getattr(own, name) for name in _OURS})


class RealChroma:
    """A chromadb client in memory whose collections embed with `embed` unless a program gives a
    function of its own. All clients of a process share their collections."""

    def __init__(self, embed: Embed) -> None:
        chromadb = import_chromadb()
        self._client = chromadb.EphemeralClient(_settings(chromadb))
        self._function = _embedding_function(chromadb, embed)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._client, name)

    def create_collection(self, name: str, *args: Any, **options: Any) -> Any:
        """As chromadb's."""
        return self._client.create_collection(name, *args, **self._embedding(options))

    def get_or_create_collection(self, name: str, *args: Any, **options: Any) -> Any:
        """As chromadb's."""
        return self._client.get_or_create_collection(name, *args, **self._embedding(options))

    def get_collection(self, name: str, *args: Any, **options: Any) -> Any:
        """As chromadb's: a collection keeps the embedding function it was made with."""
        return self._client.get_collection(name, *args, **_without_default(options))

    def _embedding(self, options: dict[str, Any]) -> dict[str, Any]:
        given = _without_default(options)
        return {**given, "embedding_function": given.get("embedding_function") or self._function}


def _without_default(options: dict[str, Any]) -> dict[str, Any]:
    """The options, an embedding function of chromadb's own (or none) left out."""
    function = options.get("embedding_function")
    if function is not None and not isinstance(function, DefaultEmbeddingFunction):
        return options
    return {name: value for name, value in options.items() if name != "embedding_function"}


def _settings(chromadb: ModuleType) -> Any:
    return chromadb.Settings(anonymized_telemetry=False)


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
