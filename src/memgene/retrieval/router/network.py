"""The router's network: question → Δ, one number a route; forward, and backward by hand.

With `hidden` units (CoEvo-Mem §3): unit-length query embedding → two GELU layers ⊕ standardised
observation features → linear head. Without: the head on the features alone. All in float64.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from memgene.retrieval.router.observation import Floats

CLIP = 4.0
"""Standardised features are clipped to ±CLIP, so that an outlier cannot take over."""

STATISTICS = ("feature_mean", "feature_scale")
HEAD, HEAD_BIAS = "head", "head_bias"
LAYERS = ("layer1", "layer1_bias", "layer2", "layer2_bias")

_GELU = math.sqrt(2 / math.pi)
_CUBIC = 0.044715

Arrays = Mapping[str, Floats]


def shapes(routes: int, features: int, dimension: int, hidden: int) -> dict[str, tuple[int, ...]]:
    """The arrays of a router by name, in the order they are stored and updated, and their shapes.

    All are learned by gradient except those in `STATISTICS`.
    """
    named: dict[str, tuple[int, ...]] = dict.fromkeys(STATISTICS, (features,))
    if hidden:
        wanted = ((hidden, dimension), (hidden,), (hidden, hidden), (hidden,))
        named |= dict(zip(LAYERS, wanted, strict=True))
    return named | {HEAD: (routes, hidden + features), HEAD_BIAS: (routes,)}


@dataclass(frozen=True, slots=True)
class Forward:
    """Δ of n questions, (n, routes), and what the way back needs."""

    deltas: Floats
    top: Floats
    layers: tuple[_Layer, ...]


@dataclass(frozen=True, slots=True)
class _Layer:
    inputs: Floats
    slope: Floats
    """d GELU / d input of the activation, (n, hidden)."""


def forward(
    arrays: Arrays, queries: Floats, features: Floats, hidden: int, bound: float | None
) -> Forward:
    """Δ for `queries` (n, dimension; unused when `hidden` is 0) and `features` (n, features).

    With a bound b, `Δ = b·tanh(z/b)` of the head's output z.
    """
    standard = (features - arrays["feature_mean"]) / arrays["feature_scale"]
    top = np.clip(standard, -CLIP, CLIP)
    layers: list[_Layer] = []
    if hidden:
        flow = _scaled(queries)
        for weight, bias in (LAYERS[:2], LAYERS[2:]):
            inputs = flow
            flow, slope = _gelu(inputs @ arrays[weight].T + arrays[bias])
            layers.append(_Layer(inputs, slope))
        top = np.concatenate([flow, top], axis=1)
    raw = top @ arrays[HEAD].T + arrays[HEAD_BIAS]
    deltas = raw if bound is None else bound * np.tanh(raw / bound)
    return Forward(deltas, top, tuple(layers))


def backward(
    arrays: Arrays, passed: Forward, slopes: Floats, hidden: int, bound: float | None
) -> dict[str, Floats]:
    """d loss / d array for each learned array, from `slopes` = d loss / d Δ, (n, routes)."""
    raw = slopes if bound is None else slopes * (1 - (passed.deltas / bound) ** 2)
    gradient = {HEAD: raw.T @ passed.top, HEAD_BIAS: raw.sum(axis=0)}
    back = raw @ arrays[HEAD][:, :hidden]
    for layer, at in reversed(list(zip(passed.layers, (0, 2), strict=False))):
        weight, bias = LAYERS[at : at + 2]
        inner = back * layer.slope
        gradient[weight] = inner.T @ layer.inputs
        gradient[bias] = inner.sum(axis=0)
        back = inner @ arrays[weight]
    return gradient


def _scaled(queries: Floats) -> Floats:
    """Vectors scaled to length √dimension: numbers of order 1 whatever the embedder's scale."""
    length = np.linalg.norm(queries, axis=1, keepdims=True)
    scaled: Floats = queries * (math.sqrt(queries.shape[1]) / np.where(length > 0, length, 1.0))
    return scaled


def _gelu(x: Floats) -> tuple[Floats, Floats]:
    """GELU in its tanh form, and its derivative."""
    bent = np.tanh(_GELU * (x + _CUBIC * x**3))
    slope = 0.5 * (1 + bent) + 0.5 * x * (1 - bent**2) * _GELU * (1 + 3 * _CUBIC * x**2)
    return 0.5 * x * (1 + bent), slope
