"""What a router sees of a question before it weighs the routes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

DENSE, SPARSE = "dense", "sparse"
TWO_ROUTES = (DENSE, SPARSE)
"""The routes of the published retriever; the learned fusion routes over its views instead."""


@dataclass(frozen=True, slots=True)
class SelfRouting:
    """A question made ready for two routes (SR-QR, CoEvo-Mem §3).

    `prior` is the share of the dense route, in [0, 1]; `confidence` ξ in [0, 1] says how far it
    is to be trusted. `by` is who made it: `llm`, `rules`, or `none` (the raw question for both).
    """

    dense: str
    sparse: str
    prior: float = 0.5
    confidence: float = 0.0
    by: str = "none"

    @classmethod
    def raw(cls, text: str) -> SelfRouting:
        """The raw question on both routes and the uniform prior."""
        return cls(text, text)


@dataclass(frozen=True, eq=False)
class Observation:
    """One question for a router. `prior` is the smoothed prior p̄ over `routes` (sums to 1, each
    at least the floor); `query` the question's embedding, shape (dimension,); `features` named
    numbers of the question and of what the routes returned, shape (len(feature names),)."""

    routes: tuple[str, ...]
    prior: Floats
    query: Floats
    features: Floats


def smoothed(prior: Floats, confidence: float, floor: float = 0.02) -> Floats:
    """`p̄ = ξ·p⁰ + (1 − ξ)·uniform`, each at least `floor`, summing to 1."""
    mixed = confidence * prior + (1 - confidence) / len(prior)
    floored = np.maximum(mixed, floor)
    # what the floor gave is taken from the others in proportion, so that the floor still holds
    free = floored > floor
    missing = 1 - floored[~free].sum()
    if free.any():
        floored[free] *= missing / floored[free].sum()
    kept: Floats = floored / floored.sum()
    return kept
