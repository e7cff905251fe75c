"""Exploration: weights drawn around π, and how likely they were (CoEvo-Mem §3 and §4).

Two routes draw ζ ~ Beta(κπ_d, κπ_s); K routes draw from its generalisation, Dirichlet(κπ). The
mean of what is drawn is π; κ says how closely. Here x are logits, `π = softmax(x)`, and every
function takes arrays whose last axis are the K routes.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from memgene.core import InputError
from memgene.retrieval.router.observation import Floats
from memgene.retrieval.router.special import digamma, log_gamma

_LEAST = 1e-300
"""Least weight drawn; a Beta with small κπ gives weights far below what 1 − ζ can resolve."""


class Exploration(StrEnum):
    """`beta` for two routes, as published; `dirichlet` for any number of them."""

    BETA = "beta"
    DIRICHLET = "dirichlet"


@dataclass(frozen=True, slots=True)
class Policy:
    """Weights are drawn from Dirichlet(κ·π̃), of which Beta is the case of two routes.

    π̃ is π held to at least `floor` a route (so within [floor, 1 − floor] for two), what the
    floor gave being taken from the others in proportion. `kappa` κ ≥ 1.
    """

    kappa: float = 10.0
    floor: float = 0.02

    def mean(self, logits: Floats) -> Floats:
        """π̃, what is drawn on average; π itself where no route is under the floor.

        Raises:
            InputError: there are so many routes that the floors leave nothing to weigh.
        """
        pi = np.exp(log_softmax(logits))
        routes = pi.shape[-1]
        if routes * self.floor >= 1:
            raise InputError(
                f"a floor of {self.floor} for each of {routes} routes leaves nothing to weigh: "
                f"set floor below {1 / routes:.4f}"
            )
        free = np.ones_like(pi, np.bool_)
        held = pi
        while (under := free & (held < self.floor)).any():
            free &= ~under
            left = 1 - self.floor * (~free).sum(axis=-1, keepdims=True)
            total = np.where(free, pi, 0.0).sum(axis=-1, keepdims=True)
            changed = ~free.all(axis=-1, keepdims=True)
            held = np.where(changed, np.where(free, pi * (left / total), self.floor), pi)
        return held

    def sample(self, logits: Floats, rng: np.random.Generator) -> Floats:
        """One draw of weights, above 0, sum 1, for each row of `logits`."""
        # Two gammas keep the digits of a tiny share, which 1 − ζ of a drawn ζ would lose.
        gammas = rng.standard_gamma(self.kappa * self.mean(logits))
        drawn: Floats = gammas / gammas.sum(axis=-1, keepdims=True)
        return np.maximum(drawn, _LEAST)

    def log_prob(self, logits: Floats, weights: Floats) -> Floats:
        """ln p(weights | x), one number a row: ln of the Beta or Dirichlet density."""
        alpha = self.kappa * self.mean(logits)
        terms = (alpha - 1) * np.log(np.maximum(weights, _LEAST)) - log_gamma(alpha)
        density: Floats = terms.sum(axis=-1) + log_gamma(alpha.sum(axis=-1))
        return density

    def log_prob_slope(self, logits: Floats, weights: Floats) -> Floats:
        """∂ ln p(weights | x) / ∂x at the x whose softmax is π̃.

        For two routes, with x = logit π_d:
        κ π_d π_s [ln ζ − ln(1−ζ) − ψ(κπ_d) + ψ(κπ_s)]. Its mean over draws is 0. Under the floor
        the density no longer follows x; the slope is then that at the floor, so that a route
        can come back from there.
        """
        mean = self.mean(logits)
        pull = np.log(np.maximum(weights, _LEAST)) - digamma(self.kappa * mean)
        average = (mean * pull).sum(axis=-1, keepdims=True)
        slope: Floats = self.kappa * mean * (pull - average)
        return slope


def kl(logits: Floats, prior_logits: Floats) -> Floats:
    """KL(Cat(π) ‖ Cat(p̄)) in nats, one number a row; p̄ = softmax(`prior_logits`)."""
    gap = log_softmax(logits) - log_softmax(prior_logits)
    divergence: Floats = (np.exp(log_softmax(logits)) * gap).sum(axis=-1)
    return divergence


def kl_slope(logits: Floats, prior_logits: Floats) -> Floats:
    """∂ KL / ∂x; for two routes, with x = logit π_d and x₀ = logit p̄_d, π_d π_s (x − x₀)."""
    log_pi = log_softmax(logits)
    pi = np.exp(log_pi)
    gap = log_pi - log_softmax(prior_logits)
    slope: Floats = pi * (gap - (pi * gap).sum(axis=-1, keepdims=True))
    return slope


def log_softmax(logits: Floats) -> Floats:
    """ln softmax over the last axis."""
    shifted = logits - logits.max(axis=-1, keepdims=True)
    log_pi: Floats = shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))
    return log_pi
