"""What the router's tests share: routers whose every number is random, and observations."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from memgene.retrieval.router.observation import Observation
from memgene.retrieval.router.router import Router

ROUTES, FEATURES, DIMENSION = ("dense", "sparse", "date"), ("length", "names"), 4


def trained(
    seed: int,
    *,
    hidden: int = 3,
    bound: float | None = 1.5,
    routes: tuple[str, ...] = ROUTES,
    strength: float = 1.0,
) -> Router:
    """A router as if it had learned: no array is zero, features have statistics."""
    router = Router.fresh(
        routes, FEATURES, DIMENSION, hidden=hidden, bound=bound, strength=strength
    )
    rng = np.random.default_rng(seed)
    arrays = {name: rng.standard_normal(held.shape) for name, held in router.arrays.items()}
    arrays["feature_scale"] = np.abs(arrays["feature_scale"]) + 0.5
    return replace(router, arrays=arrays)


def observed(seed: int, routes: tuple[str, ...] = ROUTES) -> Observation:
    """A question with a random prior, each route at least .02."""
    rng = np.random.default_rng(seed)
    prior = 0.02 + (1 - 0.02 * len(routes)) * rng.dirichlet(np.ones(len(routes)))
    return Observation(
        routes, prior / prior.sum(), rng.standard_normal(DIMENSION), rng.standard_normal(2)
    )


@pytest.fixture(scope="session", name="trained")
def _trained() -> Callable[..., Router]:
    return trained


@pytest.fixture(scope="session", name="observed")
def _observed() -> Callable[..., Observation]:
    return observed
