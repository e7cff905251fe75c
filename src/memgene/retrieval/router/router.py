"""The residual router: how much each route counts for this question (CoEvo-Mem §3)."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from memgene.core import ConfigError, InputError
from memgene.retrieval.router import network
from memgene.retrieval.router.observation import Floats, Observation

_SCALE_LEAST = 1e-6


@dataclass(frozen=True, eq=False)
class Router:
    """`π = softmax(log p̄ + Δ)`: the prior p̄ of an observation, corrected by what was learned.

    `routes` and `features` name what is weighed and what is seen, in order. `dimension` is the
    length of the query embedding and `hidden` the width of the two layers over it; with `hidden`
    0 a linear head sees the features alone. `bound` b, when given, keeps each Δ within ±b.
    `strength` ρ ≥ 0 scales the router's part where it is a residual on another fusion:
    `score + ρ·K·Σ_v (π_v − p̄_v)·view_v` over K routes. `arrays` are the float64 numbers of
    `network.shapes`, read-only. Features are standardised by `feature_mean` and
    `feature_scale` (0 and 1 until `with_statistics`), then clipped at ±4.

    Routers of equal content are equal and have equal bytes.

    Raises:
        ConfigError: names repeat, a size or array does not fit, a number is not finite.
    """

    routes: tuple[str, ...]
    features: tuple[str, ...]
    dimension: int
    hidden: int
    bound: float | None
    strength: float
    arrays: Mapping[str, Floats]

    def __post_init__(self) -> None:
        object.__setattr__(self, "routes", tuple(self.routes))
        object.__setattr__(self, "features", tuple(self.features))
        check_form(
            self.routes, self.features, self.dimension, self.hidden, self.bound, self.strength
        )
        object.__setattr__(self, "strength", float(self.strength))
        if self.bound is not None:
            object.__setattr__(self, "bound", float(self.bound))
        wanted = network.shapes(len(self.routes), len(self.features), self.dimension, self.hidden)
        if set(self.arrays) != set(wanted):
            raise ConfigError(f"a router of this form has arrays {list(wanted)}")
        held = {name: _held(name, self.arrays[name], shape) for name, shape in wanted.items()}
        if held["feature_scale"].min(initial=1.0) <= 0:
            raise ConfigError("a router's feature_scale must be above 0")
        object.__setattr__(self, "arrays", held)

    @classmethod
    def fresh(
        cls,
        routes: tuple[str, ...],
        features: tuple[str, ...],
        dimension: int = 0,
        *,
        hidden: int = 0,
        bound: float | None = 1.5,
        strength: float = 1.0,
        seed: int = 0,
    ) -> Router:
        """An untrained router, which is the prior: its head is zero, its layers random by `seed`.

        The published form is `hidden=128, bound=None` over the query's embedding.
        """
        check_form(tuple(routes), tuple(features), dimension, hidden, bound, strength)
        rng = np.random.default_rng(seed)
        wanted = network.shapes(len(routes), len(features), dimension, hidden)
        arrays = {name: np.zeros(shape) for name, shape in wanted.items()}
        arrays["feature_scale"] += 1
        for name in ("layer1", "layer2") if hidden else ():
            shape = wanted[name]
            arrays[name] = rng.standard_normal(shape) * math.sqrt(2 / shape[1])
        return cls(routes, features, dimension, hidden, bound, strength, arrays)

    @property
    def untrained(self) -> bool:
        """Whether the head is still zero, so that π is the prior for every question."""
        return not (self.arrays[network.HEAD].any() or self.arrays[network.HEAD_BIAS].any())

    @property
    def has_statistics(self) -> bool:
        """Whether means and scales of the features were fixed by `with_statistics`."""
        return bool(self.arrays["feature_mean"].any() or (self.arrays["feature_scale"] != 1).any())

    def with_statistics(self, features: Floats) -> Router:
        """This router with the means and scales of `features` (n ≥ 1, features).

        A feature that does not vary keeps scale 1. Only before anything is learned: afterwards
        other statistics would change what the learned weights mean.

        Raises:
            InputError: the shape is wrong, a number is not finite, or it is too late.
        """
        if not self.untrained:
            raise InputError("a router's feature statistics are fixed before it learns")
        matrix = np.asarray(features, np.float64)
        if matrix.ndim != 2 or not len(matrix) or matrix.shape[1] != len(self.features):
            raise InputError(
                f"statistics need a matrix (n, {len(self.features)}), got {matrix.shape}"
            )
        if not np.isfinite(matrix).all():
            raise InputError("statistics need finite features")
        scale = matrix.std(axis=0)
        kept = {
            "feature_mean": matrix.mean(axis=0),
            "feature_scale": np.where(scale < _SCALE_LEAST, 1.0, scale),
        }
        return replace(self, arrays={**self.arrays, **kept})

    def prior_weights(self, observation: Observation) -> Floats:
        """p̄ over `routes`, shape (K,): what `weights` returns while the router is untrained.

        Raises:
            InputError: the observation has other routes, or its prior is not positive with sum 1.
        """
        prior = np.array(observation.prior, np.float64)
        if observation.routes != self.routes:
            raise InputError(
                f"this router weighs {list(self.routes)}, the question offers "
                f"{list(observation.routes)}: use the configuration it was trained with"
            )
        if prior.shape != (len(self.routes),):
            raise InputError(f"a prior has shape ({len(self.routes)},), got {prior.shape}")
        if not ((prior > 0).all() and abs(prior.sum() - 1) < 1e-9):
            raise InputError(f"a prior must be above 0 and sum to 1, got {prior.tolist()}")
        return prior

    def weights(self, observation: Observation) -> Floats:
        """π over `routes`, shape (K,), sums to 1; bitwise p̄ where every Δ is 0.

        Raises:
            InputError: the observation does not fit this router.
        """
        prior = self.prior_weights(observation)
        query, features = self.seen(observation)
        deltas = self.deltas(query[None], features[None])[0]
        if not deltas.any():
            return prior
        lifted = prior * np.exp(deltas - deltas.max())
        weights: Floats = lifted / lifted.sum()
        return weights

    def deltas(self, queries: Floats, features: Floats) -> Floats:
        """Δ of n questions, (n, K); `queries` (n, dimension) is unused when `hidden` is 0."""
        return network.forward(self.arrays, queries, features, self.hidden, self.bound).deltas

    def seen(self, observation: Observation) -> tuple[Floats, Floats]:
        """The observation's query (empty where this router does not look at it) and features.

        Raises:
            InputError: a shape does not fit, or a number is not finite.
        """
        features = np.asarray(observation.features, np.float64)
        query = np.asarray(observation.query if self.hidden else (), np.float64)
        if features.shape != (len(self.features),):
            raise InputError(
                f"this router sees {len(self.features)} features ({', '.join(self.features)}), "
                f"the observation has shape {features.shape}"
            )
        if self.hidden and query.shape != (self.dimension,):
            raise InputError(
                f"this router was trained on query embeddings of length {self.dimension}, got "
                f"shape {query.shape}: use the embedder it was trained with"
            )
        if not (np.isfinite(features).all() and np.isfinite(query).all()):
            raise InputError("an observation's query and features must be finite numbers")
        return query, features

    def to_bytes(self) -> bytes:
        """The content of `router.npz`; equal routers give equal bytes."""
        from memgene.retrieval.router.stored import pack

        return pack(self)

    @classmethod
    def from_bytes(cls, content: bytes, where: str = "router.npz") -> Router:
        """Inverse of `to_bytes`; runs no code of the file. `where` names it in errors.

        Raises:
            StoredConfigError: not a router's file, another format, arrays that do not fit.
        """
        from memgene.retrieval.router.stored import unpack

        return unpack(content, where)

    @cached_property
    def digest(self) -> str:
        """A short hash of everything in it."""
        return hashlib.sha256(self.to_bytes()).hexdigest()[:12]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Router):
            return NotImplemented
        return self is other or self.to_bytes() == other.to_bytes()

    def __hash__(self) -> int:
        return hash(self.digest)


def check_form(
    routes: tuple[str, ...],
    features: tuple[str, ...],
    dimension: int,
    hidden: int,
    bound: float | None,
    strength: float,
) -> None:
    """Raise ConfigError unless a router can have this form."""
    if len(routes) < 2:
        raise ConfigError(f"a router needs two routes or more, got {list(routes)}")
    for kind, names in (("route", routes), ("feature", features)):
        if not all(isinstance(n, str) and n for n in names) or len(set(names)) < len(names):
            raise ConfigError(f"a router's {kind} names must be different words: {list(names)}")
    if hidden < 0 or dimension < (1 if hidden else 0):
        raise ConfigError(
            f"a router's hidden ({hidden}) and dimension ({dimension}) must be 0 or more, and "
            "hidden layers need a query embedding"
        )
    if not (bound is None or (math.isfinite(bound) and bound > 0)):
        raise ConfigError(f"a router's bound must be above 0, or absent; got {bound}")
    if not (math.isfinite(strength) and strength >= 0):
        raise ConfigError(f"a router's strength must be 0 or more, got {strength}")


def _held(name: str, values: Floats, shape: tuple[int, ...]) -> Floats:
    held = np.array(values, np.float64, order="C")
    if held.shape != shape:
        raise ConfigError(f"a router's {name} must have shape {shape}, got {held.shape}")
    if not np.isfinite(held).all():
        raise ConfigError(f"a router's {name} must hold finite numbers")
    held.flags.writeable = False
    return held
