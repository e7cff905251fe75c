"""The gamma function's logarithm and its slope, for arrays: what a Beta density needs of them."""

from __future__ import annotations

import math

import numpy as np

from memgene.retrieval.router.observation import Floats

_FROM = 10.0
_SERIES = (1 / 12, -1 / 120, 1 / 252, -1 / 240, 1 / 132, -691 / 32760, 1 / 12)
"""B_2n / 2n of the asymptotic series (Abramowitz and Stegun 6.3.18)."""


def log_gamma(x: Floats) -> Floats:
    """ln Γ(x) for x > 0, of the same shape."""
    flat = [math.lgamma(v) for v in np.ravel(x).tolist()]
    return np.array(flat, np.float64).reshape(np.shape(x))


def digamma(x: Floats) -> Floats:
    """ψ(x) = d ln Γ / dx for x > 0, of the same shape; relative error about 1e-15.

    ψ(x) = ψ(x + 1) − 1/x up to x ≥ 10, then the asymptotic series.
    """
    at = np.array(x, np.float64)
    shift = np.zeros_like(at)
    while (low := at < _FROM).any():
        shift -= np.where(low, 1 / at, 0.0)
        at += low
    inverse = 1 / at**2
    tail = np.zeros_like(at)
    for term in reversed(_SERIES):
        tail = (tail + term) * inverse
    found: Floats = shift + np.log(at) - 0.5 / at - tail
    return found
