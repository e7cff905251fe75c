"""Kinds of query: what values of memories are conditioned on (kept in bank state `clusters`).

A value per memory and kind of query tells "good for cleaning tasks" from "good". Kinds are
directions in the space of `query_vector`; they grow online and never move, so that what was
learned under a name stays true of it.
"""

from __future__ import annotations

import hashlib
import io
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memgene.core import BankError, InputError
from memgene.embed.normalise import unit_rows
from memgene.embed.protocol import Embedder, Vectors, WordVectors
from memgene.retrieval.text import content_words

STATE = "clusters"
"""Name of the bank state that holds them."""

FORMAT = 1
_ROUNDS = 50
_SAME = 1e-4  # cosines nearer to 1 than this are one direction


@dataclass(frozen=True, eq=False)
class QueryClusters:
    """Named directions. `centroids` has unit rows, shape (len(names), dimension), float32.

    A name is a hash of its centroid: two sets of clusters share a name exactly where they share
    the direction, so sets of several banks can be put together. `embedder` names whose space it
    is.
    """

    names: tuple[str, ...] = ()
    centroids: Vectors = field(default_factory=lambda: np.zeros((0, 0), np.float32))
    embedder: str = ""

    def __post_init__(self) -> None:
        if self.centroids.ndim != 2 or len(self.centroids) != len(self.names):
            raise InputError(
                f"{len(self.names)} clusters need as many centroids, got {self.centroids.shape}"
            )

    def __len__(self) -> int:
        return len(self.names)

    def assign(self, vector: Vectors) -> str:
        """Name of the nearest centroid; "" when there is none or the vector is zero.

        Ties go to the older cluster. Raises InputError for a vector of another size.
        """
        found = self._nearest(vector)
        return "" if found is None else self.names[found[0]]

    def grown(self, vector: Vectors, least_cosine: float, most: int) -> QueryClusters:
        """These clusters, with the vector as a new one where none is at least `least_cosine` near
        and there are fewer than `most`. Those that are there never move."""
        if not np.any(vector) or len(self) >= most:
            return self
        found = self._nearest(vector)
        if found is not None and found[1] >= least_cosine:
            return self
        row = unit_rows(np.asarray(vector, np.float32)[None])
        rows = row if not len(self) else np.concatenate([self.centroids, row])
        return QueryClusters((*self.names, name_of(row[0])), rows, self.embedder)

    def joined(self, other: QueryClusters) -> QueryClusters:
        """These clusters and those of another set in the same space, each once."""
        if not len(self) or not len(other):
            return other if len(other) else self
        if self.embedder != other.embedder:
            raise InputError(
                f"clusters of {self.embedder!r} and {other.embedder!r} are not of one space; "
                "re-embed one of the memories"
            )
        rows = dict(zip(self.names, self.centroids, strict=True))
        for name, row in zip(other.names, other.centroids, strict=True):
            rows.setdefault(name, row)
        return QueryClusters(tuple(rows), np.stack(list(rows.values())), self.embedder)

    @classmethod
    def fit(cls, vectors: Vectors, k: int, seed: int, embedder: str) -> QueryClusters:
        """At most `k` clusters of the rows, by spherical k-means; zero rows are left out.

        Deterministic given the seed: seeding as k-means++ (Arthur & Vassilvitskii 2007) with
        distance 1 − cosine, then Lloyd's rounds (Dhillon & Modha 2001) until nothing changes
        hands. Fewer come back where there are fewer directions. Largest cluster first.

        Args:
            vectors: `query_vectors`, shape (n, dimension), of the embedder named `embedder`.
        """
        if k < 1:
            raise InputError(f"clusters need k of 1 or more, got {k}")
        rows = unit_rows(np.asarray(vectors, np.float32))
        rows = rows[rows.any(axis=1)]
        if not len(rows):
            return cls((), rows, embedder)
        centroids = _seeded(rows, k, np.random.default_rng(seed))
        owner = np.full(len(rows), -1)
        for _ in range(_ROUNDS):
            moved = np.argmax(rows @ centroids.T, axis=1)
            if np.array_equal(moved, owner):
                break
            owner = moved
            centroids = _centres(rows, owner, centroids)
        sizes = np.bincount(owner, minlength=len(centroids))
        order = [int(i) for i in np.argsort(-sizes, kind="stable") if sizes[i]]
        named = {name_of(centroids[i]): i for i in order}
        return cls(tuple(named), centroids[list(named.values())], embedder)

    @classmethod
    def read(cls, state: bytes | None, embedder: Embedder | None) -> QueryClusters:
        """The clusters of a bank state that fit the embedder; none where there are none, or where
        they were made in the space of another embedder (the bank was re-embedded since)."""
        name = "" if embedder is None else embedder.name
        if state is not None:
            kept = cls.from_bytes(state)
            if kept.embedder == name:
                return kept
        return cls(embedder=name)

    def to_bytes(self) -> bytes:
        """As an npz archive without times or pickles: equal content gives equal bytes."""
        arrays: dict[str, NDArray[Any]] = {
            "format": np.asarray(FORMAT, np.int64),
            "embedder": np.frombuffer(self.embedder.encode(), np.uint8),
            "names": np.frombuffer("\n".join(self.names).encode(), np.uint8),
            "centroids": np.ascontiguousarray(self.centroids, "<f4"),
        }
        stream = io.BytesIO()
        with zipfile.ZipFile(stream, "w") as archive:
            for name, array in arrays.items():
                part = io.BytesIO()
                np.lib.format.write_array(part, array, version=(1, 0), allow_pickle=False)
                archive.writestr(zipfile.ZipInfo(f"{name}.npy"), part.getvalue())
        return stream.getvalue()

    @classmethod
    def from_bytes(cls, content: bytes) -> QueryClusters:
        """Inverse of `to_bytes`. Raises BankError for anything else, or a newer format."""
        try:
            with zipfile.ZipFile(io.BytesIO(content)) as archive:
                arrays = {
                    name: np.lib.format.read_array(
                        io.BytesIO(archive.read(f"{name}.npy")), allow_pickle=False
                    )
                    for name in ("format", "embedder", "names", "centroids")
                }
            found = int(arrays["format"])
            joined, embedder = (arrays[k].tobytes().decode() for k in ("names", "embedder"))
        except (OSError, EOFError, KeyError, ValueError, zipfile.BadZipFile) as error:
            raise BankError(f"the bank's state {STATE!r} holds no clusters: {error}") from error
        if found != FORMAT:
            raise BankError(
                f"the bank's clusters have format {found}, this memgene reads {FORMAT}; "
                "upgrade memgene"
            )
        names = tuple(joined.split("\n")) if joined else ()
        return cls(names, arrays["centroids"].astype(np.float32), embedder)

    def _nearest(self, vector: Vectors) -> tuple[int, float] | None:
        """Place and cosine of the nearest centroid."""
        if not len(self) or not np.any(vector):
            return None
        if np.shape(vector) != (self.centroids.shape[1],):
            raise InputError(
                f"these clusters are of {self.centroids.shape[1]} dimensions, the query's vector "
                f"has shape {np.shape(vector)}"
            )
        cosines = self.centroids @ unit_rows(np.asarray(vector, np.float32)[None])[0]
        best = int(np.argmax(cosines))
        return best, float(cosines[best])


def name_of(centroid: Vectors) -> str:
    """Eight hex digits of the SHA-256 of a centroid's float32 bytes."""
    return hashlib.sha256(np.ascontiguousarray(centroid, "<f4").tobytes()).hexdigest()[:8]


def query_vector(text: str, embedder: Embedder) -> Vectors:
    """What is clustered: a unit vector of the text, shape (dimension,); zero without words.

    Sentence encoders see the text as it is. Static word vectors share a strong common direction
    in which all texts are alike, so with them it is the mean over the content words, each centred
    on the vocabulary: a centre that is no bank's and never moves.
    """
    if not isinstance(embedder, WordVectors):
        whole: Vectors = embedder.embed([text])[0]
        return whole
    asked = content_words(text)
    if not asked:
        return np.zeros(embedder.dimension, np.float32)
    found: Vectors = unit_rows(embedder.words(asked).mean(axis=0, keepdims=True))[0]
    return found


def query_vectors(texts: Sequence[str], embedder: Embedder) -> Vectors:
    """`query_vector` of each text, shape (len(texts), dimension)."""
    rows = np.zeros((len(texts), embedder.dimension), np.float32)
    for row, text in zip(rows, texts, strict=True):
        row[:] = query_vector(text, embedder)
    return rows


def _seeded(rows: Vectors, k: int, rng: np.random.Generator) -> Vectors:
    """At most `k` rows, drawn one after another with chances by squared distance."""
    chosen = [int(rng.integers(len(rows)))]
    far = _distance(rows, rows[chosen[0]])
    while len(chosen) < k and far.any():
        chances = far**2
        chosen.append(int(rng.choice(len(rows), p=chances / chances.sum())))
        far = np.minimum(far, _distance(rows, rows[chosen[-1]]))
    seeds: Vectors = rows[chosen]
    return seeds


def _distance(rows: Vectors, row: Vectors) -> NDArray[np.float64]:
    distance: NDArray[np.float64] = 1 - (rows @ row).astype(np.float64)
    distance[distance < _SAME] = 0
    return distance


def _centres(rows: Vectors, owner: NDArray[np.int64], before: Vectors) -> Vectors:
    """Mean directions of the members; a cluster that lost all of them stays where it was."""
    sums = np.zeros(before.shape, np.float64)
    np.add.at(sums, owner, rows.astype(np.float64))
    centres = unit_rows(sums.astype(np.float32))
    kept: Vectors = np.where(centres.any(axis=1, keepdims=True), centres, before)
    return kept
