"""Who becomes the incumbent: acceptance on val, and the re-check before promotion.

Source: EvolveMem §4 (best-so-far acceptance, revert, explore, stop). The paired test and the
re-check are memgene's: acceptance on val is a search heuristic, the claim is made on test.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from memgene.evaluation.statistics import Paired, Resampling, paired_difference
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

    def judge(self, pairs: Pairs, seed: int, support: Pairs | None = None) -> Verdict:
        """The verdict; `seed` fixes the resamples. `support` are shares of evidence in equally
        long contexts, where the metric scores answers."""
        ...


@dataclass(frozen=True, slots=True)
class PairedGuard:
    """Accept when Δ ≥ `epsilon` and P(Δ>0) ≥ 1 − `alpha`, by bootstrap over questions within
    groups (which conversations there are is given; whether the candidate is better on them is
    asked).

    Scores of answers are noisier than the retrieval behind them. So, where `supported`, a
    candidate that passes this very test on the evidence it brings into a context of equal length
    is accepted too, unless its answers are as surely worse (P(Δ>0) < `alpha`);
    docs/decisions/009.
    """

    alpha: float = ALPHA
    epsilon: float = EPSILON
    supported: bool = True

    @classmethod
    def of_mode(cls, mode: GuardMode, rounds: int) -> PairedGuard:
        """The guard of a mode for a run of so many rounds; strict takes no support."""
        if mode is GuardMode.STRICT:
            return cls(ALPHA / rounds, supported=False)
        return cls()

    def judge(self, pairs: Pairs, seed: int, support: Pairs | None = None) -> Verdict:
        found = _bootstrap(pairs, seed)
        needed = 1 - self.alpha
        said = f"difference {found.delta:+.4f}, P(better) {found.prob_positive:.3f}"
        accepted = found.delta >= self.epsilon and found.prob_positive >= needed
        if (
            not accepted
            and self.supported
            and support is not None
            and found.prob_positive >= self.alpha
        ):
            evidence = _bootstrap(support, seed)
            accepted = evidence.delta >= self.epsilon and evidence.prob_positive >= needed
            said += (
                f"; evidence in the context {evidence.delta:+.4f}, "
                f"P(more) {evidence.prob_positive:.3f}"
            )
        if not accepted:
            said += f" (needed: {self.epsilon} with {needed:g})"
        return Verdict(accepted, found.delta, found.prob_positive, said)


@dataclass(frozen=True, slots=True)
class BestSoFar:
    """The paper's acceptance: a candidate with a higher score than the best is the best."""

    def judge(self, pairs: Pairs, seed: int, support: Pairs | None = None) -> Verdict:
        del seed, support
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
    found = _bootstrap(Pairs(pairs.base, pairs.challenger, pairs.groups), seed)
    not_worse = 1 - found.prob_positive  # of the reversed difference: start better
    return Recheck(not_worse >= ALPHA, -found.delta, not_worse)


def _bootstrap(pairs: Pairs, seed: int) -> Paired:
    """Challenger − base, questions resampled within groups."""
    return paired_difference(
        pairs.challenger,
        pairs.base,
        pairs.groups,
        seed=seed,
        resamples=RESAMPLES,
        method=Resampling.WITHIN_GROUPS,
    )
