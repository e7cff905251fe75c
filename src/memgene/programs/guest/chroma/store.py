"""The records of one collection in rows, in insertion order; their vectors made when needed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memgene.programs.guest.chroma.errors import InvalidArgumentError, InvalidDimensionException
from memgene.programs.guest.chroma.records import Records, merged
from memgene.programs.guest.chroma.vectors import Rows, VectorRows, Vectors
from memgene.programs.guest.chroma.where import MetadataTest, TextTest

Embed = Callable[[Sequence[str]], Any]
_SPARE_ROWS = 64  # dead rows that are never worth compacting
_NO_METADATA: Mapping[str, Any] = {}


class Store:
    """Ids, documents, metadatas, uris and vectors by row.

    Documents wait for their vectors until one is needed; then all that wait are embedded in one
    call, together with the texts of the query. Where a program also gives vectors of its own,
    documents are embedded at once, so that a wrong dimension shows in the call that is to blame.
    """

    def __init__(self, space: str, embed: Embed) -> None:
        self.ids: list[str] = []
        self.documents: list[str | None] = []
        self.metadatas: list[dict[str, Any] | None] = []
        self.uris: list[str | None] = []
        self.row_of: dict[str, int] = {}
        self._space = space
        self._embed = embed
        self._vectors: VectorRows | None = None
        self._waiting: dict[int, str] = {}
        self._given = False  # whether some vectors came from the program

    def __len__(self) -> int:
        return len(self.row_of)

    @property
    def sparse(self) -> bool:
        """Whether some rows are dead."""
        return len(self.row_of) < len(self.ids)

    def rows(self) -> list[int]:
        """All living rows, in order."""
        return list(self.row_of.values())

    def append(self, records: Records, places: Sequence[int]) -> None:
        """Add those of the records, which must be new."""
        vectors = self._given_vectors(records, places)
        first = len(self.ids)
        for row, place in enumerate(places, first):
            self.row_of[records.ids[place]] = row
            self.ids.append(records.ids[place])
            self.documents.append(_at(records.documents, place))
            metadata = _at(records.metadatas, place)
            self.metadatas.append(merged(None, metadata) if metadata else None)
            self.uris.append(_at(records.uris, place))
            if vectors is None:
                document = self.documents[row]
                assert document is not None  # without vectors every record has a text
                self._waiting[row] = document
        if vectors is not None:
            self._put(np.arange(first, first + len(places)), vectors)

    def change(self, records: Records, places: Sequence[int]) -> None:
        """Change those of the records, which must be there; what is None stays as it was."""
        vectors = self._given_vectors(records, places)
        rows = [self.row_of[records.ids[place]] for place in places]
        for row, place in zip(rows, places, strict=True):
            document = _at(records.documents, place)
            if document is not None:
                self.documents[row] = document
                if vectors is None:
                    self._waiting[row] = document
            metadata = _at(records.metadatas, place)
            if metadata:
                self.metadatas[row] = merged(self.metadatas[row], metadata)
            uri = _at(records.uris, place)
            self.uris[row] = self.uris[row] if uri is None else uri
        if vectors is not None:
            for row in rows:
                self._waiting.pop(row, None)
            self._put(np.asarray(rows, np.int64), vectors)

    def remove(self, rows: Iterable[int]) -> None:
        """Forget living rows."""
        for row in rows:
            del self.row_of[self.ids[row]]
            self.documents[row] = self.metadatas[row] = self.uris[row] = None
            self._waiting.pop(row, None)
        dead = len(self.ids) - len(self.row_of)
        if dead > max(_SPARE_ROWS, len(self.row_of)):
            self._compact()

    def matching(
        self, ids: Sequence[str] | None, metadata: MetadataTest | None, document: TextTest | None
    ) -> list[int]:
        """Living rows that have one of the ids and pass the tests, in order."""
        if ids is None:
            rows = self.rows()
        else:
            rows = sorted(self.row_of[one] for one in ids if one in self.row_of)
        if metadata is not None:
            rows = [row for row in rows if metadata(self.metadatas[row] or _NO_METADATA)]
        if document is not None:
            rows = [row for row in rows if document(self.documents[row])]
        return rows

    def settle(self, texts: Sequence[str] = ()) -> Vectors:
        """Embed all documents that wait and these texts in one call; the vectors of the texts."""
        waiting = list(self._waiting)
        if not waiting and not texts:
            return np.zeros((0, 0), np.float32)
        vectors = self._embedded([*self._waiting.values(), *texts])
        if waiting:
            self._put(np.asarray(waiting, np.int64), vectors[: len(waiting)])
            self._waiting.clear()
        return vectors[len(waiting) :]

    def vectors_at(self, rows: Sequence[int]) -> NDArray[np.float64]:
        """Vectors as they were given or embedded, shape (rows, dimension)."""
        self.settle()
        if self._vectors is None or not rows:
            return np.zeros(0)
        return self._vectors.at(np.asarray(rows, np.int64)).astype(np.float64)

    def nearest(
        self, vectors: Vectors, count: int, allowed: Rows | None
    ) -> list[tuple[list[int], list[float]]]:
        """For each vector the nearest rows and their distances. All documents must be settled."""
        if self._vectors is None:
            return [([], []) for _ in vectors]
        self._check_dimension(vectors)
        found = []
        for vector in vectors:
            rows, distances = self._vectors.nearest(vector, count, len(self.ids), allowed)
            found.append((rows.tolist(), distances.tolist()))
        return found

    def _given_vectors(self, records: Records, places: Sequence[int]) -> Vectors | None:
        """Vectors for these places, if they are to be had now, of the right dimension."""
        if records.embeddings is not None:
            self._given = True
            self.settle()
            vectors = records.embeddings[list(places)]
        elif self._given and records.documents is not None and places:
            vectors = self._embedded([_at(records.documents, place) or "" for place in places])
        else:
            return None
        self._check_dimension(vectors)
        return vectors

    def _embedded(self, texts: Sequence[str]) -> Vectors:
        vectors = np.asarray(self._embed(texts), np.float32)
        if vectors.ndim != 2 or len(vectors) != len(texts):
            raise InvalidArgumentError(
                f"the embedding function gave an array of shape {vectors.shape} for {len(texts)} "
                "texts; it must give one row for each text"
            )
        return vectors

    def _put(self, rows: Rows, vectors: Vectors) -> None:
        self._check_dimension(vectors)
        if self._vectors is None:
            self._vectors = VectorRows(vectors.shape[1], self._space)
        self._vectors.put(rows, vectors)

    def _check_dimension(self, vectors: Vectors) -> None:
        if self._vectors is not None and vectors.shape[1] != self._vectors.dimension:
            raise InvalidDimensionException(
                f"this collection holds embeddings of dimension {self._vectors.dimension}, got "
                f"{vectors.shape[1]}; give all of them with one dimension, or none"
            )

    def _compact(self) -> None:
        rows = self.rows()
        place = {row: new for new, row in enumerate(rows)}
        self.ids = [self.ids[row] for row in rows]
        self.documents = [self.documents[row] for row in rows]
        self.metadatas = [self.metadatas[row] for row in rows]
        self.uris = [self.uris[row] for row in rows]
        self.row_of = {one: new for new, one in enumerate(self.ids)}
        self._waiting = {place[row]: text for row, text in self._waiting.items()}
        if self._vectors is not None:
            self._vectors = self._vectors.picked(np.asarray(rows, np.int64))


def _at(values: Sequence[Any] | None, place: int) -> Any:
    return None if values is None else values[place]
