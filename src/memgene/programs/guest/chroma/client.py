"""The client a program gets as `toolkit.chroma`: named collections that live in memory."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memgene.programs.guest.chroma.collection import Collection
from memgene.programs.guest.chroma.errors import (
    InternalError,
    InvalidArgumentError,
    NotFoundError,
)
from memgene.programs.guest.chroma.records import checked_collection_metadata
from memgene.programs.guest.chroma.store import Embed, Store
from memgene.programs.guest.chroma.vectors import SPACES

_NAME = re.compile(r"[a-zA-Z0-9]([a-zA-Z0-9._-]{0,510}[a-zA-Z0-9])?")


class DefaultEmbeddingFunction:
    """Stands for the embedder of the evaluation wherever a program names an embedding function of
    chromadb's own."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        pass


class ChromaClient:
    """Collections by name. `embed` maps texts to float32 rows of one dimension.

    A collection uses `embed` unless the program gives an embedding function of its own (a
    callable from a list of texts to vectors) when it makes the collection. Differences from a
    local chromadb: search is exact, each client starts empty, names may be one or two characters
    long, and a number beyond what the batch or file limits allow is no error.
    """

    def __init__(self, embed: Callable[[Sequence[str]], NDArray[np.float32]]) -> None:
        self._embed = embed
        self._collections: dict[str, Collection] = {}

    def create_collection(
        self,
        name: str,
        schema: Any = None,
        configuration: Any = None,
        metadata: Any = None,
        embedding_function: Any = None,
        data_loader: Any = None,
        get_or_create: bool = False,
    ) -> Collection:
        """A new collection; `hnsw:space` in `metadata`, or `hnsw.space` in `configuration`, is l2
        (squared, the default), cosine or ip."""
        _check_name(name)
        if name in self._collections:
            if get_or_create:
                return self._collections[name]
            raise InternalError(f"collection {name!r} exists already; use get_or_create_collection")
        checked = checked_collection_metadata(metadata)
        space = _space(checked or {}, configuration or {})
        store = Store(space, self._embedding(embedding_function))
        made = Collection(name, checked, space, store, self._rename)
        self._collections[name] = made
        return made

    def get_or_create_collection(
        self,
        name: str,
        schema: Any = None,
        configuration: Any = None,
        metadata: Any = None,
        embedding_function: Any = None,
        data_loader: Any = None,
    ) -> Collection:
        """The collection of that name as it is, or a new one."""
        return self.create_collection(
            name, schema, configuration, metadata, embedding_function, data_loader, True
        )

    def get_collection(
        self, name: str, embedding_function: Any = None, data_loader: Any = None
    ) -> Collection:
        """The collection of that name. It keeps the embedding function it was made with."""
        if name not in self._collections:
            raise NotFoundError(f"collection {name!r} does not exist; use get_or_create_collection")
        return self._collections[name]

    def delete_collection(self, name: str) -> None:
        """Forget a collection and its records."""
        self.get_collection(name).drop()
        del self._collections[name]

    def list_collections(
        self, limit: int | None = None, offset: int | None = None
    ) -> list[Collection]:
        """Collections in the order in which they were made."""
        first = offset or 0
        return list(self._collections.values())[first : None if limit is None else first + limit]

    def count_collections(self) -> int:
        """How many there are."""
        return len(self._collections)

    def reset(self) -> bool:
        """Forget all collections."""
        for name in list(self._collections):
            self.delete_collection(name)
        return True

    def heartbeat(self) -> int:
        """A number, always the same: there is no clock here."""
        return 1

    def close(self) -> None:
        """Nothing is open."""

    def _embedding(self, function: Any) -> Embed:
        if function is None or isinstance(function, DefaultEmbeddingFunction):
            return self._embed
        if not callable(function):
            raise InvalidArgumentError(
                f"an embedding_function is a callable from texts to vectors, got {function!r}; "
                "leave it out"
            )
        return lambda texts: function(list(texts))

    def _rename(self, old: str, new: str) -> None:
        _check_name(new)
        if new in self._collections:
            raise InternalError(f"collection {new!r} exists already")
        self._collections = {
            new if name == old else name: kept for name, kept in self._collections.items()
        }


def _check_name(name: Any) -> None:
    if not isinstance(name, str):
        raise TypeError(f"the name of a collection must be a str, got {name!r}")
    if not _NAME.fullmatch(name) or ".." in name:
        raise InvalidArgumentError(
            f"collection name {name!r} must have 1 to 512 characters from [a-zA-Z0-9._-], begin "
            "and end with a letter or digit, and have no '..'"
        )


def _space(metadata: dict[str, Any], configuration: Any) -> str:
    configured = (configuration.get("hnsw") or configuration.get("spann") or {}).get("space")
    space = configured or metadata.get("hnsw:space", "l2")
    if space not in SPACES:
        raise InvalidArgumentError(f"the space is one of {', '.join(SPACES)}, got {space!r}")
    return str(space)
