"""A collection as chromadb shows it: the names, arguments and return shapes of its methods."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from memgene.programs.guest.chroma.errors import (
    InternalError,
    InvalidArgumentError,
    NotFoundError,
)
from memgene.programs.guest.chroma.records import (
    Records,
    as_list,
    as_matrix,
    check_documents,
    check_include,
    checked_collection_metadata,
    checked_ids,
    refuse_none,
)
from memgene.programs.guest.chroma.store import Store
from memgene.programs.guest.chroma.vectors import Rows
from memgene.programs.guest.chroma.where import document_test, metadata_test

_GET = ("metadatas", "documents")
_QUERY = ("metadatas", "documents", "distances")


class Collection:
    """Records with ids, documents, metadatas and embeddings.

    Reads give plain dicts of new lists. What chromadb leaves open is fixed: records come in
    insertion order, and so do those at equal distances. `rename` is told of a new name.
    """

    def __init__(
        self,
        name: str,
        metadata: dict[str, Any] | None,
        space: str,
        store: Store,
        rename: Callable[[str, str], None],
    ) -> None:
        self.name = name
        self.metadata = metadata
        self.id = uuid.uuid5(uuid.NAMESPACE_OID, name)
        self._space = space
        self._store: Store | None = store
        self._rename = rename

    @property
    def configuration(self) -> dict[str, Any]:
        """The distance, where chromadb says it."""
        return {"hnsw": {"space": self._space}, "spann": None, "embedding_function": None}

    @property
    def configuration_json(self) -> dict[str, Any]:
        """The same."""
        return self.configuration

    def __repr__(self) -> str:
        return f"Collection(name={self.name})"

    def count(self) -> int:
        """Number of records."""
        return len(self._records())

    def add(
        self,
        ids: Any,
        embeddings: Any = None,
        metadatas: Any = None,
        documents: Any = None,
        images: Any = None,
        uris: Any = None,
    ) -> None:
        """Add records. An id that is there already keeps its record; the new one is ignored."""
        store = self._records()
        records = Records.of(ids, embeddings, metadatas, documents, images, uris)
        _check_embeddable("add", records)
        for metadata in records.metadatas or ():
            refuse_none(metadata or {})
        store.append(records, _places(store, records, known=False))

    def update(
        self,
        ids: Any,
        embeddings: Any = None,
        metadatas: Any = None,
        documents: Any = None,
        images: Any = None,
        uris: Any = None,
    ) -> None:
        """Change records. Metadata are merged (None removes a key); unknown ids are ignored."""
        store = self._records()
        records = Records.of(ids, embeddings, metadatas, documents, images, uris)
        store.change(records, _places(store, records, known=True))

    def upsert(
        self,
        ids: Any,
        embeddings: Any = None,
        metadatas: Any = None,
        documents: Any = None,
        images: Any = None,
        uris: Any = None,
    ) -> None:
        """Update the records that are there and add the others."""
        store = self._records()
        records = Records.of(ids, embeddings, metadatas, documents, images, uris)
        _check_embeddable("upsert", records)
        known = _places(store, records, known=True)
        fresh = _places(store, records, known=False)
        store.change(records, known)
        store.append(records, fresh)

    def delete(
        self,
        ids: Any = None,
        where: Any = None,
        where_document: Any = None,
        limit: int | None = None,
    ) -> dict[str, int]:
        """Delete the records that have one of the ids and pass the filters; unknown ids are
        ignored (and counted, as chromadb does)."""
        store = self._records()
        filtered = where is not None or where_document is not None
        if ids is None and not filtered:
            raise InvalidArgumentError("delete needs ids, where or where_document")
        if limit is not None and not filtered:
            raise InvalidArgumentError("limit of delete goes with where or where_document only")
        wanted = None if ids is None else checked_ids(as_list(ids))
        rows = _matching(store, wanted, where, where_document)[: _bound("limit", limit)]
        store.remove(rows)
        return {"deleted": len(rows) if wanted is None or filtered else len(wanted)}

    def get(
        self,
        ids: Any = None,
        where: Any = None,
        limit: int | None = None,
        offset: int | None = None,
        where_document: Any = None,
        include: Any = None,
    ) -> dict[str, Any]:
        """Records by id, by filter, or all, in insertion order whatever the order of `ids`.

        `include` defaults to metadatas and documents.
        """
        store = self._records()
        include = list(_GET) if include is None else include
        check_include(include, distances=False)
        wanted = None if ids is None else checked_ids(as_list(ids))
        rows = _matching(store, wanted, where, where_document)
        first, count = _bound("offset", offset) or 0, _bound("limit", limit)
        rows = rows[first:] if count is None else rows[first : first + count]
        found: dict[str, Any] = {"ids": [store.ids[row] for row in rows], "embeddings": None}
        found["documents"] = _documents(store, rows) if "documents" in include else None
        found["uris"] = [store.uris[row] for row in rows] if "uris" in include else None
        found["included"] = include
        found["data"] = None
        found["metadatas"] = _metadatas(store, rows) if "metadatas" in include else None
        if "embeddings" in include:
            found["embeddings"] = store.vectors_at(rows)
        return found

    def peek(self, limit: int = 10) -> dict[str, Any]:
        """The first records, with their embeddings."""
        return self.get(limit=limit, include=["metadatas", "documents", "embeddings"])

    def query(
        self,
        query_embeddings: Any = None,
        query_texts: Any = None,
        query_images: Any = None,
        query_uris: Any = None,
        ids: Any = None,
        n_results: int = 10,
        where: Any = None,
        where_document: Any = None,
        include: Any = None,
    ) -> dict[str, Any]:
        """The `n_results` nearest records of each query that pass the filters; fewer where fewer
        do. `include` defaults to metadatas, documents and distances."""
        store = self._records()
        include = list(_QUERY) if include is None else include
        check_include(include, distances=True)
        if query_images is not None or query_uris is not None:
            raise InvalidArgumentError(
                "images and uris are not supported; query by texts or embeddings"
            )
        vectors = as_matrix(query_embeddings, "query_embeddings")
        texts = [] if vectors is not None else _texts(query_texts)
        _check_n_results(n_results)
        allowed = _allowed(store, as_list(ids), where, where_document)
        if not len(store) or (allowed is not None and not len(allowed)):
            nothing: list[tuple[list[int], list[float]]] = [([], [])]
            return _answer(store, nothing * len(texts if vectors is None else vectors), include)
        settled = store.settle(texts)
        found = store.nearest(settled if vectors is None else vectors, n_results, allowed)
        return _answer(store, found, include)

    def modify(
        self, name: str | None = None, metadata: Any = None, configuration: Any = None
    ) -> None:
        """Rename the collection or replace its metadata; `configuration` is accepted and has no
        effect, as there is nothing to tune."""
        self._records()
        checked = checked_collection_metadata(metadata)
        if metadata is not None and "hnsw:space" in metadata:
            raise InvalidArgumentError(
                "the distance of a collection cannot be changed; make a new one"
            )
        if name is not None and name != self.name:
            self._rename(self.name, name)
            self.name = name
        if checked is not None:
            self.metadata = checked

    def search(self, *args: Any, **kwargs: Any) -> Any:
        """Not offered by a local chromadb either."""
        raise NotImplementedError("search works on hosted collections only; use query or get")

    def fork(self, *args: Any, **kwargs: Any) -> Any:
        """Not offered by a local chromadb either."""
        raise NotImplementedError("fork works on hosted collections only")

    def drop(self) -> None:
        """Forget everything: the client has deleted this collection."""
        self._store = None

    def _records(self) -> Store:
        if self._store is None:
            raise NotFoundError(f"collection {self.name!r} does not exist any more: deleted")
        return self._store


def _places(store: Store, records: Records, *, known: bool) -> list[int]:
    """Places of the records whose ids are (not) in the store."""
    row_of = store.row_of
    return [place for place, one in enumerate(records.ids) if (one in row_of) is known]


def _matching(store: Store, ids: Sequence[str] | None, where: Any, document: Any) -> list[int]:
    return store.matching(
        ids,
        None if where is None else metadata_test(where),
        None if document is None else document_test(document),
    )


def _allowed(store: Store, ids: Any, where: Any, where_document: Any) -> Rows | None:
    """The rows a query looks at; None for all."""
    if ids is None and where is None and where_document is None and not store.sparse:
        return None
    if ids:
        unknown = [one for one in checked_ids(ids) if one not in store.row_of]
        if unknown:
            raise InternalError(f"query: no record has the id {unknown[0]!r}")
    return np.asarray(_matching(store, ids, where, where_document), np.int64)


def _answer(
    store: Store, found: Sequence[tuple[list[int], list[float]]], include: list[str]
) -> dict[str, Any]:
    """What a query returns: one inner list a query."""
    every = [rows for rows, _ in found]

    def column(name: str, values: Callable[[list[int]], Any]) -> list[Any] | None:
        return [values(rows) for rows in every] if name in include else None

    return {
        "ids": [[store.ids[row] for row in rows] for rows in every],
        "embeddings": column("embeddings", store.vectors_at),
        "documents": column("documents", lambda rows: _documents(store, rows)),
        "uris": column("uris", lambda rows: [store.uris[row] for row in rows]),
        "included": include,
        "data": None,
        "metadatas": column("metadatas", lambda rows: _metadatas(store, rows)),
        "distances": [distances for _, distances in found] if "distances" in include else None,
    }


def _documents(store: Store, rows: Sequence[int]) -> list[str | None]:
    return [store.documents[row] for row in rows]


def _metadatas(store: Store, rows: Sequence[int]) -> list[dict[str, Any] | None]:
    """Copies: what a program does with them leaves the records alone."""
    found: list[dict[str, Any] | None] = []
    for row in rows:
        metadata = store.metadatas[row]
        found.append(
            metadata and {k: list(v) if v.__class__ is list else v for k, v in metadata.items()}
        )
    return found


def _check_embeddable(method: str, records: Records) -> None:
    if records.embeddings is None and records.documents is None:
        raise InvalidArgumentError(f"{method} needs documents or embeddings")


def _texts(query_texts: Any) -> list[str]:
    texts = as_list(query_texts)
    if texts is None:
        raise InvalidArgumentError("query needs query_texts or query_embeddings")
    if not texts:
        raise InvalidArgumentError("query_texts must not be an empty list")
    check_documents(texts)
    return list(texts)


def _check_n_results(n_results: Any) -> None:
    if not isinstance(n_results, int):
        raise InvalidArgumentError(f"n_results must be an int, got {n_results!r}")
    if n_results <= 0:
        raise TypeError(f"n_results must be at least 1, got {n_results}")


def _bound(name: str, value: int | None) -> int | None:
    if value is not None and not isinstance(value, int):
        raise TypeError(f"{name} must be an int, got {value!r}")
    if value is not None and value < 0:
        raise OverflowError(f"{name} must not be negative, got {value}")
    return value
