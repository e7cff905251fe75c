"""Training a router, one interaction after another (CoEvo-Mem §4, router phase).

Per interaction `L = −Â · ln p(w | q) + β·KL(π ‖ p̄)`, averaged over a minibatch, one AdamW step
each; or the supervised listwise loss in place of the first term.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from memgene.core import InputError
from memgene.retrieval.router import network
from memgene.retrieval.router.adamw import AdamW
from memgene.retrieval.router.listwise import Ranked
from memgene.retrieval.router.observation import Floats, Observation
from memgene.retrieval.router.policy import Exploration, Policy, kl_slope, log_softmax
from memgene.retrieval.router.router import Router
from memgene.retrieval.router.settings import Baseline, RouterSettings


@dataclass(frozen=True, slots=True)
class _Trial:
    """Weights tried on a question (n, K), their rewards (n,), and what these are compared with
    where that is known already (n,); the moving average otherwise."""

    tried: Floats
    rewards: Floats
    against: Floats | None


@dataclass(frozen=True, slots=True)
class _Pending:
    prior: Floats
    query: Floats
    features: Floats
    lesson: _Trial | Ranked


class RouterTrainer:
    """Learns from interactions in the order they are given; equal order and seed, equal router.

    Ask `sample` for weights to try on a question, rank with them, tell `learn` the rewards. All
    samples of a minibatch may be drawn before any of it is learned: the router moves only when a
    batch is full, or at `flush`. What is not flushed is not in `router`.

    Raises:
        InputError: the settings ask for another form of router than the one given.
    """

    def __init__(self, router: Router, settings: RouterSettings, seed: int = 0) -> None:
        for name in ("hidden", "bound", "strength"):
            if getattr(router, name) != getattr(settings, name):
                raise InputError(
                    f"the settings say router {name} {getattr(settings, name)}, this router has "
                    f"{getattr(router, name)}: start a fresh one, or keep the settings it had"
                )
        if settings.exploration is Exploration.BETA and len(router.routes) != 2:
            raise InputError(
                f"beta exploration is for two routes, this router has {len(router.routes)}: "
                "set router exploration to dirichlet"
            )
        self.settings = settings
        self.policy = Policy(settings.kappa, settings.floor)
        self.policy.mean(np.zeros(len(router.routes)))  # raises where the floor leaves no room
        self._router = router
        self._rng = np.random.default_rng(seed)
        self._descent = AdamW(settings.rate, settings.weight_decay)
        self._pending: list[_Pending] = []
        self._average: float | None = None

    @property
    def router(self) -> Router:
        """The router as it is after the last step."""
        return self._router

    @property
    def steps(self) -> int:
        """Steps taken."""
        return self._descent.steps

    @property
    def pending(self) -> int:
        """Interactions that wait for their batch to fill, or for `flush`."""
        return len(self._pending)

    @property
    def average_reward(self) -> float | None:
        """The moving average of rewards that the `ema` baseline compares with; None at first."""
        return self._average

    def fit_features(self, observations: Sequence[Observation]) -> bool:
        """Fix the means and scales by which features are standardised, from these questions.

        Done once, before anything is learned: later calls, and a router that has its statistics
        or has learned, change nothing. Returns whether they were fixed now.
        """
        if self._router.has_statistics or not self._router.untrained or self._pending:
            return False
        seen = [self._router.seen(observation)[1] for observation in observations]
        self._router = self._router.with_statistics(np.array(seen))
        return True

    def sample(self, observation: Observation) -> tuple[Floats, ...]:
        """Weights (K,) to try on this question: as many as the setting `samples`."""
        prior = self._router.prior_weights(observation)
        query, features = self._router.seen(observation)
        logits = np.log(prior) + self._router.deltas(query[None], features[None])
        drawn = self.policy.sample(np.repeat(logits, self.settings.samples, axis=0), self._rng)
        return tuple(drawn)

    def learn(
        self,
        observation: Observation,
        tried: Sequence[Floats],
        rewards: Sequence[float],
        greedy_reward: float | None = None,
    ) -> None:
        """Take in one interaction: the weights tried, the reward in [0, 1] of each, and for the
        `self_critical` baseline the reward of the router's own weights.

        Raises:
            InputError: weights or rewards that do not fit, or are missing.
        """
        self._check_given(len(tried), rewards, greedy_reward)
        weights = np.array([self._checked(each) for each in tried])
        got = np.array(rewards, np.float64)
        against = None
        if self.settings.baseline is Baseline.GROUP:
            # the mean of the others: a reward must not be part of what it is compared with
            against = (got.sum() - got) / (len(got) - 1)
        elif self.settings.baseline is Baseline.SELF_CRITICAL:
            against = np.full_like(got, greedy_reward)
        self._take(observation, _Trial(weights, got, against))

    def learn_listwise(
        self, observation: Observation, scores: Floats, base: Floats, target: Floats
    ) -> bool:
        """Take in one question with known gold: `scores` (m, K) of its candidates by each route,
        `base` (m,) their scores without a router, `target` (m,) ≥ 0 with gold above 0.

        The router's `base + ρ·K·Σ_v (π_v − p̄_v)·scores_v` shall put gold first. A question
        whose candidates are all gold or none teaches nothing: it is not taken in, and False
        returned.

        Raises:
            InputError: shapes do not fit or numbers are not finite.
        """
        ranked = Ranked(scores, base, target)
        if ranked.scores.shape[1] != len(self._router.routes):
            raise InputError(
                f"scores need a column for each of {len(self._router.routes)} routes, got "
                f"{ranked.scores.shape[1]}"
            )
        if not ranked.teaches:
            return False
        self._take(observation, ranked)
        return True

    def flush(self) -> None:
        """Learn from what is pending, though it fills no batch."""
        if self._pending:
            self._step()

    def _check_given(self, many: int, rewards: Sequence[float], greedy: float | None) -> None:
        least = 2 if self.settings.baseline is Baseline.GROUP else 1
        if many < least or len(rewards) != many:
            raise InputError(
                f"an interaction needs {least} or more tried weights and a reward for each; got "
                f"{many} and {len(rewards)}"
            )
        if self.settings.baseline is Baseline.SELF_CRITICAL and greedy is None:
            raise InputError("the self_critical baseline needs greedy_reward, the reward of π")
        given = [*rewards, *([] if greedy is None else [greedy])]
        if not all(0 <= reward <= 1 for reward in given):
            raise InputError(f"rewards must lie in [0, 1], got {given}")

    def _checked(self, weights: Floats) -> Floats:
        given = np.asarray(weights, np.float64)
        fits = given.shape == (len(self._router.routes),)
        if not (fits and (given >= 0).all() and abs(given.sum() - 1) < 1e-6):
            raise InputError(
                f"tried weights are {len(self._router.routes)} numbers of 0 or more with sum 1, "
                f"got {given.tolist()}"
            )
        return given

    def _take(self, observation: Observation, lesson: _Trial | Ranked) -> None:
        prior = self._router.prior_weights(observation)
        self._pending.append(_Pending(prior, *self._router.seen(observation), lesson))
        if len(self._pending) >= self.settings.batch:
            self._step()

    def _step(self) -> None:
        batch, self._pending = self._pending, []
        queries = np.array([each.query for each in batch])
        features = np.array([each.features for each in batch])
        prior_logits = np.log([each.prior for each in batch])
        router = self._router
        passed = network.forward(router.arrays, queries, features, router.hidden, router.bound)
        logits = prior_logits + passed.deltas
        slopes = self.settings.beta_kl * kl_slope(logits, prior_logits)
        slopes += self._trial_slopes(batch, logits) + self._ranked_slopes(batch, logits)
        gradient = network.backward(
            router.arrays, passed, slopes / len(batch), router.hidden, router.bound
        )
        self._router = replace(router, arrays=self._descent.step(router.arrays, gradient))

    def _trial_slopes(self, batch: Sequence[_Pending], logits: Floats) -> Floats:
        """d/dx of −mean(Â · ln p) for each question that was tried; 0 for the others."""
        slopes = np.zeros_like(logits)
        trials = [(i, e.lesson) for i, e in enumerate(batch) if isinstance(e.lesson, _Trial)]
        if not trials:
            return slopes
        rows = np.repeat([i for i, _ in trials], [len(trial.rewards) for _, trial in trials])
        tried = np.concatenate([trial.tried for _, trial in trials])
        advantages = self._advantages([trial for _, trial in trials])
        factor = np.concatenate([each / len(each) for each in advantages])
        each = -factor[:, None] * self.policy.log_prob_slope(logits[rows], tried)
        np.add.at(slopes, rows, each)
        return slopes

    def _advantages(self, trials: Sequence[_Trial]) -> list[Floats]:
        """Â of each weight tried, trial by trial; moves the average on."""
        average, keep = self._average, self.settings.ema
        if average is None:
            # the first batch is compared with its own mean, where the average starts
            average, keep = float(np.mean([trial.rewards.mean() for trial in trials])), 1.0
        advantages = []
        for trial in trials:
            against = average if trial.against is None else trial.against
            advantages.append(trial.rewards - against)
            average = keep * average + (1 - keep) * float(trial.rewards.mean())
        self._average = average
        return advantages

    def _ranked_slopes(self, batch: Sequence[_Pending], logits: Floats) -> Floats:
        """d/dx of the listwise loss for each question with known gold; 0 for the others."""
        slopes = np.zeros_like(logits)
        pi = np.exp(log_softmax(logits))
        for row, each in enumerate(batch):
            if isinstance(each.lesson, Ranked):
                slopes[row] = each.lesson.slope(pi[row], each.prior, self._router.strength)
        return slopes
