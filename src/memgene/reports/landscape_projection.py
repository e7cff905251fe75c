"""Vectors on a plane: t-SNE where scikit-learn is there, else principal components."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from importlib.util import find_spec

import numpy as np
from numpy.typing import NDArray

FEWEST = 5  # distinct rows that t-SNE takes
LARGEST_PERPLEXITY = 30.0
_EXACT = 250  # rows up to which t-SNE is computed without approximation
_SEED = 0
_SAME = 1e-9

Plane = NDArray[np.float64]


class Method(StrEnum):
    """How a landscape was projected, as its picture says it."""

    TSNE = "t-SNE"
    PCA_FEW = "principal components: there are too few different programs for t-SNE"
    PCA_ABSENT = (
        "principal components: scikit-learn is not installed, so there is no t-SNE "
        "(pip install 'memgene[landscape]')"
    )


@dataclass(frozen=True, slots=True)
class Projection:
    """`points` of shape (rows, 2), centred, in no unit; equal rows are one point."""

    points: Plane
    method: Method


def project(rows: NDArray[np.float64]) -> Projection:
    """Rows of shape (n, dimension) on a plane; equal rows and order give equal points.

    t-SNE (van der Maaten & Hinton 2008) starts from the principal components with a fixed seed and
    perplexity min(30, (n − 1) / 3), n the number of distinct rows.
    """
    known: dict[bytes, int] = {}
    places = [known.setdefault(row.tobytes(), len(known)) for row in rows]
    distinct = np.array([np.frombuffer(row) for row in known])
    if len(known) < FEWEST:
        return Projection(_components(distinct)[places], Method.PCA_FEW)
    if find_spec("sklearn") is None:
        return Projection(_components(distinct)[places], Method.PCA_ABSENT)
    return Projection(_tsne(distinct)[places], Method.TSNE)


def _components(rows: NDArray[np.float64]) -> Plane:
    """The first two principal components; of a component's two signs, that under which its largest
    loading is positive."""
    if not len(rows):
        return np.zeros((0, 2))
    centred = rows - rows.mean(axis=0)
    _, sizes, axes = np.linalg.svd(centred, full_matrices=False)
    points = np.zeros((len(rows), 2))
    for place, (size, axis) in enumerate(zip(sizes[:2], axes[:2], strict=True)):
        if size > _SAME:
            points[:, place] = centred @ axis * np.sign(axis[np.argmax(np.abs(axis))])
    return points


def _tsne(rows: NDArray[np.float64]) -> Plane:
    from sklearn.manifold import TSNE

    count = len(rows)
    model = TSNE(
        n_components=2,
        perplexity=min(LARGEST_PERPLEXITY, (count - 1) / 3),
        init=_components(rows) * 1e-4 / _spread(rows),
        learning_rate="auto",
        method="exact" if count <= _EXACT else "barnes_hut",
        random_state=_SEED,
    )
    points: Plane = np.asarray(model.fit_transform(rows), dtype=np.float64)
    points -= points.mean(axis=0)
    return points


def _spread(rows: NDArray[np.float64]) -> float:
    return float(np.std(_components(rows)[:, 0])) or 1.0
