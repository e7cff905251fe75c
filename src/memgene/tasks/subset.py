"""Small subsets that stand for a whole, chosen on embeddings (M* §5). Seeded, no text needed."""

from __future__ import annotations

import heapq

import numpy as np
from numpy.typing import NDArray

from memgene.core import InputError

Matrix = NDArray[np.floating]

_ROUNDS = 50


def static_subset(embeddings: Matrix, count: int, seed: int = 0) -> list[int]:
    """M* §5, static validation set: k-means into `count` clusters, one random member of each.

    `embeddings` is (items, dimensions). Ascending indices, all of them when `count` ≥ items.
    """
    _require_positive(count)
    items = len(embeddings)
    if count >= items:
        return list(range(items))
    generator = np.random.default_rng(seed)
    labels = kmeans(embeddings, count, generator)
    return sorted(int(generator.choice(np.flatnonzero(labels == label))) for label in range(count))


def kmeans(embeddings: Matrix, clusters: int, generator: np.random.Generator) -> NDArray[np.int64]:
    """Lloyd's algorithm from k-means++ starts; a label in [0, clusters) per row, none unused.

    Needs at least `clusters` rows. An empty cluster takes the row farthest from its centre among
    clusters that can spare one.
    """
    _require_positive(clusters)
    points = np.asarray(embeddings, dtype=np.float64)
    if points.ndim != 2 or len(points) < clusters:
        raise InputError(f"{clusters} clusters need as many rows, got shape {points.shape}")
    centres = _spread_out(points, clusters, generator)
    labels = np.full(len(points), -1, dtype=np.int64)
    for _ in range(_ROUNDS):
        distances = _squared_distances(points, centres)
        chosen = _without_empty(distances.argmin(axis=1), distances, clusters)
        if np.array_equal(chosen, labels):
            break
        labels = chosen
        centres = np.stack([points[labels == label].mean(axis=0) for label in range(clusters)])
    return labels


def facility_location(similarity: Matrix, count: int) -> list[int]:
    """M* §5, episode subset: `max_{|S|=M} Σ_v max_{e∈S} sim(v, e)` by lazy greedy (1 − 1/e).

    `similarity` is (targets, candidates). Indices of candidates in the order chosen; equal gains
    go to the lower index. A target not served yet counts its least similarity, so that negative
    values are fine.
    """
    _require_positive(count)
    targets, candidates = similarity.shape
    served = similarity.min(axis=1) if candidates else np.zeros(targets)
    # Gains only shrink as the set grows, so a stale gain is an upper bound.
    queue = [(-_gain(similarity, served, c), c) for c in range(candidates)]
    heapq.heapify(queue)
    chosen: list[int] = []
    while queue and len(chosen) < count:
        _, candidate = heapq.heappop(queue)
        gain = _gain(similarity, served, candidate)
        if queue and (-gain, candidate) > queue[0]:
            heapq.heappush(queue, (-gain, candidate))
            continue
        chosen.append(candidate)
        served = np.maximum(served, similarity[:, candidate])
    return chosen


def _gain(similarity: Matrix, served: Matrix, candidate: int) -> float:
    return float(np.maximum(similarity[:, candidate] - served, 0).sum())


def _spread_out(
    points: NDArray[np.float64], clusters: int, generator: np.random.Generator
) -> NDArray[np.float64]:
    """k-means++ (Arthur & Vassilvitskii 2007): each centre far from those before it."""
    chosen = [int(generator.integers(len(points)))]
    for _ in range(clusters - 1):
        nearest = _squared_distances(points, points[chosen]).min(axis=1)
        total = nearest.sum()
        weights = nearest / total if total > 0 else None
        chosen.append(int(generator.choice(len(points), p=weights)))
    return points[chosen]


def _squared_distances(
    points: NDArray[np.float64], centres: NDArray[np.float64]
) -> NDArray[np.float64]:
    squares = (points**2).sum(axis=1)[:, None] + (centres**2).sum(axis=1)[None, :]
    distances: NDArray[np.float64] = np.maximum(squares - 2 * points @ centres.T, 0)
    return distances


def _without_empty(
    labels: NDArray[np.int64], distances: NDArray[np.float64], clusters: int
) -> NDArray[np.int64]:
    labels = labels.copy()
    for label in range(clusters):
        if np.any(labels == label):
            continue
        spare = np.bincount(labels, minlength=clusters)[labels] > 1
        own = distances[np.arange(len(labels)), labels]
        labels[int(np.where(spare, own, -1).argmax())] = label
    return labels


def _require_positive(count: int) -> None:
    if count < 1:
        raise InputError(f"a subset needs at least 1 member, got {count}")
