"""The exceptions of chromadb that programs may catch, by their names there.

Versions of chromadb before 1.0 raised ValueError in the same places; programs are written for
either, so these are ValueErrors too.
"""

from __future__ import annotations


class ChromaError(Exception):
    """Base of them all."""


class InvalidArgumentError(ChromaError, ValueError):
    """An argument cannot be used; the message says what it should be. chromadb raises a plain
    ValueError in most of these places."""


class InvalidDimensionException(InvalidArgumentError):  # noqa: N818
    """Embeddings of another length than those of the collection."""


class NotFoundError(ChromaError, ValueError):
    """There is no such collection."""


class DuplicateIDError(ChromaError, ValueError):
    """One call names an id twice."""


class InternalError(ChromaError, ValueError):
    """What chromadb reports so: a collection that exists already, an unknown id in a query."""
