"""Who becomes the incumbent: acceptance on val, and the re-check before promotion.

Source: EvolveMem §4 (best-so-far acceptance, revert, explore, stop). The paired test and the
re-check are memgene's: acceptance on val is a search heuristic, the claim is made on test.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from memgene.evaluation.statistics import Resampling, paired_difference
from memgene.evolution.scoring import Pairs

EPSILON = 0.005
REVERT_DROP = 0.01
ALPHA = 0.1
RESAMPLES = 4_000


class GuardMode(StrEnum):
    """normal: P(Δ>0) ≥ 0.9. strict: the 0.1 is divided by the round limit (Bonferroni)."""

    NORMAL = "normal"
    STRICT = "strict"


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a candidate is accepted, with the numbers behind it."""

    accepted: bool
    delta: float
    probability: float | None
    reason: str


class Guard(Protocol):
    """Judges a candidate against the one it would replace, on the same val questions."""

    def judge(self, pairs: Pairs, seed: int) -> Verdict:
        """The verdict; `seed` fixes the resamples."""
        ...


@dataclass(frozen=True, slots=True)
class PairedGuard:
    """Accept when Δ ≥ `epsilon` and P(Δ>0) ≥ 1 − `alpha`, by bootstrap over questions within
    groups (which conversations there are is given; whether the candidate is better on them is
    asked)."""

    alpha: float = ALPHA
    epsilon: float = EPSILON

    @classmethod
    def of_mode(cls, mode: GuardMode, rounds: int) -> PairedGuard:
        """The guard of a mode for a run of so many rounds."""
        return cls(ALPHA / rounds if mode is GuardMode.STRICT else ALPHA)

    def judge(self, pairs: Pairs, seed: int) -> Verdict:
        found = paired_difference(
            pairs.challenger,
            pairs.base,
            pairs.groups,
            seed=seed,
            resamples=RESAMPLES,
            method=Resampling.WITHIN_GROUPS,
        )
        needed = 1 - self.alpha
        if found.delta < self.epsilon:
            reason = f"difference {found.delta:+.4f} is below {self.epsilon}"
            return Verdict(False, found.delta, found.prob_positive, reason)
        sure = found.prob_positive >= needed
        sign = "≥" if sure else "<"
        reason = (
            f"difference {found.delta:+.4f}, P(better) {found.prob_positive:.3f} {sign} {needed:g}"
        )
        return Verdict(sure, found.delta, found.prob_positive, reason)


@dataclass(frozen=True, slots=True)
class BestSoFar:
    """The paper's acceptance: a candidate with a higher score than the best is the best."""

    def judge(self, pairs: Pairs, seed: int) -> Verdict:
        del seed
        better = pairs.delta > 0
        reason = f"difference {pairs.delta:+.4f} to the best so far"
        return Verdict(better, pairs.delta, None, reason)


@dataclass(frozen=True, slots=True)
class Recheck:
    """Result of the re-check: `not_worse` = share of resampled differences that are ≥ 0."""

    kept: bool
    delta: float
    not_worse: float


def recheck(pairs: Pairs, seed: int) -> Recheck:
    """Compare a candidate with the start on val items that no acceptance has seen.

    It is kept unless it is worse beyond noise: unless fewer than 10 % of the resampled paired
    differences (over questions within groups) are at or above zero.
    """
    found = paired_difference(
        pairs.base,
        pairs.challenger,
        pairs.groups,
        seed=seed,
        resamples=RESAMPLES,
        method=Resampling.WITHIN_GROUPS,
    )
    not_worse = 1 - found.prob_positive  # of the reversed difference: start better
    return Recheck(not_worse >= ALPHA, -found.delta, not_worse)
