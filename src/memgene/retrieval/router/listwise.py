"""The supervised loss of a router: gold candidates first, through the fused score.

The loss is that of the learned fusion (retrieval/learning.py): each gold candidate k, with weight
g_k, competes with the candidates that are not gold and never with another gold one,
`−Σ_k g_k · ln(e^{s_k} / (e^{s_k} + Σ_{j not gold} e^{s_j}))`; for one gold candidate this is the
cross-entropy of the softmax.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from memgene.core import InputError
from memgene.retrieval.router.observation import Floats


@dataclass(frozen=True, eq=False, slots=True)
class Ranked:
    """One question's candidates: `scores` of each by each route (m, K), `base` (m,) the score
    without a router, `target` (m,) weights ≥ 0 that say what is gold.

    Raises:
        InputError: shapes do not fit, or a number is not finite or a target below 0.
    """

    scores: Floats
    base: Floats
    target: Floats

    def __post_init__(self) -> None:
        for name in ("scores", "base", "target"):
            values = np.asarray(getattr(self, name), np.float64)
            if not np.isfinite(values).all():
                raise InputError(f"a listwise question's {name} must be finite numbers")
            object.__setattr__(self, name, values)
        many = len(self.base) if self.base.ndim == 1 else -1
        if self.target.shape != (many,) or self.scores.ndim != 2 or len(self.scores) != many:
            raise InputError(
                "a listwise question needs scores (m, K), base (m,), target (m,); got "
                f"{self.scores.shape}, {self.base.shape}, {self.target.shape}"
            )
        if (self.target < 0).any():
            raise InputError("a listwise question's target must be 0 or more")

    @property
    def teaches(self) -> bool:
        """Whether there is a gold candidate, and one that is not to tell it from."""
        gold = self.target > 0
        return bool(gold.any() and not gold.all())

    def fused(self, weights: Floats, prior: Floats, strength: float) -> Floats:
        """`base + ρ·K·Σ_v (π_v − p̄_v)·scores_v`, (m,), for π = `weights` and p̄ = `prior`."""
        lift: Floats = self.base + strength * len(prior) * (self.scores @ (weights - prior))
        return lift

    def loss(self, weights: Floats, prior: Floats, strength: float) -> float:
        """The loss at these weights, in nats."""
        fused = self.fused(weights, prior, strength)
        gold = self.target > 0
        share = self.target[gold] / self.target.sum()
        others = _log_sum(fused[~gold])
        return float(share @ (np.logaddexp(fused[gold], others) - fused[gold]))

    def slope(self, weights: Floats, prior: Floats, strength: float) -> Floats:
        """d loss / d logits of π, (K,)."""
        fused = self.fused(weights, prior, strength)
        gold = self.target > 0
        share = self.target[gold] / self.target.sum()
        others = _log_sum(fused[~gold])
        lost = share * np.exp(others - np.logaddexp(fused[gold], others))
        by_score = np.empty_like(fused)
        by_score[gold] = -lost
        by_score[~gold] = lost.sum() * np.exp(fused[~gold] - others)
        by_weight = strength * len(prior) * (by_score @ self.scores)
        slope: Floats = weights * (by_weight - weights @ by_weight)
        return slope


def _log_sum(values: Floats) -> float:
    top = values.max()
    return float(top + np.log(np.exp(values - top).sum()))
