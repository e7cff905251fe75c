"""What a program hands to a collection, checked and brought into one form."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from memgene.programs.guest.chroma.errors import DuplicateIDError, InvalidArgumentError
from memgene.programs.guest.chroma.vectors import Vectors

INCLUDABLE = ("documents", "embeddings", "metadatas", "distances", "uris", "data")
_IDS_SHOWN = 10


@dataclass(frozen=True, slots=True)
class Records:
    """Records of one call, field by field; a field that was not given is None.

    Embeddings have shape (records, dimension). A metadata value of None stands for removal.
    """

    ids: list[str]
    embeddings: Vectors | None
    metadatas: list[Mapping[str, Any] | None] | None
    documents: list[str | None] | None
    uris: list[str | None] | None

    @classmethod
    def of(
        cls, ids: Any, embeddings: Any, metadatas: Any, documents: Any, images: Any, uris: Any
    ) -> Records:
        """Check the arguments of add, update and upsert.

        Raises ValueError (wrong types, lengths that differ, empty lists), TypeError (a metadata
        key that is no str), DuplicateIDError.
        """
        if images is not None:
            raise InvalidArgumentError(
                "images are not supported here; give documents or embeddings"
            )
        matrix = as_matrix(embeddings, "embeddings")
        fields = {
            "ids": as_list(ids),
            "embeddings": matrix,
            "metadatas": as_list(metadatas),
            "documents": as_list(documents),
            "uris": as_list(uris),
        }
        _check_lengths({name: len(value) for name, value in fields.items() if value is not None})
        texts = fields["documents"]
        if texts is not None:
            check_documents(texts, nullable=matrix is not None)
        names = checked_ids(fields["ids"])
        given = fields["metadatas"]
        return cls(
            ids=names,
            embeddings=matrix,
            metadatas=None if given is None else [_checked_metadata(m) for m in given],
            documents=texts,
            uris=fields["uris"],
        )


def as_list(value: Any) -> Any:
    """A single value as a list of one; None and lists as they are."""
    return value if value is None or isinstance(value, list) else [value]


def checked_ids(ids: Any) -> list[str]:
    """Unique, non-empty strings, at least one."""
    if not isinstance(ids, list) or not ids:
        raise InvalidArgumentError(f"ids must be a list of str that is not empty, got {ids!r}")
    for one in ids:
        if not isinstance(one, str):
            raise InvalidArgumentError(f"an id must be a str, got {one!r}; write str({one!r})")
        if not one:
            raise InvalidArgumentError("an id must have at least one character, got ''")
    if len(ids) > 1 and len(set(ids)) < len(ids):
        twice = [one for one, times in Counter(ids).items() if times > 1]
        shown = ", ".join(repr(one) for one in twice[:_IDS_SHOWN])
        raise DuplicateIDError(f"ids must be unique within one call, given twice: {shown}")
    return list(ids)


def check_documents(documents: Sequence[Any], *, nullable: bool = False) -> None:
    """Each a str; None is one too where it is `nullable` (an embedding stands for it)."""
    for document in documents:
        if isinstance(document, str):
            document.encode()  # as chromadb: a lone surrogate is a UnicodeEncodeError here
        elif document is not None or not nullable:
            raise InvalidArgumentError(f"a document must be a str, got {document!r}")


def check_include(include: Any, *, distances: bool) -> None:
    """A list of names of fields."""
    if not isinstance(include, list):
        raise InvalidArgumentError(f"include must be a list such as ['documents'], got {include!r}")
    for name in include:
        if name not in INCLUDABLE:
            raise InvalidArgumentError(f"include takes {', '.join(INCLUDABLE)}, got {name!r}")
        if name == "data":
            raise InvalidArgumentError(
                "include 'data' needs a data loader, which is not supported here"
            )
        if name == "distances" and not distances:
            raise InvalidArgumentError("get has no distances; query has")


def as_matrix(embeddings: Any, argument: str) -> Vectors | None:
    """Embeddings as float32 rows; one flat embedding is one row.

    Raises ValueError for what holds no numbers, InvalidArgumentError for rows of differing
    lengths and for NaN or infinity.
    """
    if embeddings is None:
        return None
    if not isinstance(embeddings, list | np.ndarray) or not len(embeddings):
        raise InvalidArgumentError(
            f"{argument} must be a list of lists of numbers, or an array, that is not empty, "
            f"got {embeddings!r}"
        )
    try:
        matrix = np.asarray(embeddings)
    except ValueError:
        raise InvalidArgumentError(f"{argument} must all have the same length") from None
    if matrix.dtype.kind not in "iuf" or not matrix.size or matrix.ndim not in (1, 2):
        raise InvalidArgumentError(
            f"{argument} must be a list of lists of numbers, or an array of shape "
            f"(records, dimension), got {embeddings!r:.200}"
        )
    rows: Vectors = np.atleast_2d(matrix).astype(np.float32)
    if not np.isfinite(rows).all():
        raise InvalidArgumentError(f"{argument} must not contain NaN or infinity")
    return rows


def merged(old: Mapping[str, Any] | None, new: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Metadata after an update: new values win, None removes, no key left is None."""
    values = {**(old or {}), **(new or {})}
    kept = {key: value for key, value in values.items() if value is not None}
    return kept or None


def checked_collection_metadata(metadata: Any) -> dict[str, Any] | None:
    """Metadata of a collection: as of a record, no None inside."""
    checked = _checked_metadata(metadata)
    if checked is not None:
        refuse_none(checked)
    return None if checked is None else dict(checked)


def refuse_none(metadata: Mapping[str, Any]) -> None:
    """Only an update may hold None values."""
    for key, value in metadata.items():
        if value is None:
            raise TypeError(f"metadata value of {key!r} must not be None; leave the key out")


def _check_lengths(lengths: Mapping[str, int]) -> None:
    empty = [name for name, length in lengths.items() if not length]
    if empty:
        raise InvalidArgumentError(f"lists must not be empty: {', '.join(empty)}")
    if len(set(lengths.values())) > 1:
        counts = ", ".join(f"{name}: {length}" for name, length in lengths.items())
        raise InvalidArgumentError(f"all fields must have the same length, got {counts}")


def _checked_metadata(metadata: Any) -> Mapping[str, Any] | None:
    """A copy with plain values. NaN is dropped, an int beyond 64 bits becomes a float: what
    chromadb stores."""
    if metadata is None:
        return None
    if not isinstance(metadata, dict):
        raise InvalidArgumentError(f"metadata must be a dict or None, got {metadata!r}")
    if not metadata:
        raise InvalidArgumentError(
            "metadata must not be an empty dict; give None or leave metadatas out"
        )
    checked: dict[str, Any] = {}
    for key, value in metadata.items():
        if not isinstance(key, str):
            raise TypeError(f"a metadata key must be a str, got {key!r}")
        if isinstance(value, list):
            _check_metadata_list(key, value)
            checked[key] = list(value)
        elif value is None or isinstance(value, str | bool):
            checked[key] = value
        elif isinstance(value, int):
            checked[key] = value if -(1 << 63) <= value < 1 << 63 else float(value)
        elif isinstance(value, float):
            if not math.isnan(value):
                checked[key] = float(value)
        else:
            raise InvalidArgumentError(
                f"metadata value of {key!r} must be a str, int, float, bool or a list of one of "
                f"them, got {value!r} ({type(value).__name__}); convert it, or store json.dumps "
                "of it"
            )
    return checked


def _check_metadata_list(key: str, values: list[Any]) -> None:
    kinds = {type(value) for value in values}
    if len(kinds) != 1 or not kinds <= {str, int, float, bool}:
        raise InvalidArgumentError(
            f"metadata list of {key!r} must not be empty and hold values of one type (str, int, "
            f"float or bool), got {values!r}"
        )
