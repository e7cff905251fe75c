"""Means with bootstrap intervals, paired differences, and spread over categories.

Percentile bootstrap (Efron and Tibshirani, *An Introduction to the Bootstrap*, 1993, ch. 13).
Questions of one group (a conversation, a user) are not independent: with at least
`CLUSTER_FROM` groups whole groups are resampled and the mean is taken over the questions of the
drawn groups (cluster bootstrap, ratio of sums). With fewer, questions are resampled. Every result
says which.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from memgene.core import InputError

CLUSTER_FROM = 5
RESAMPLES = 10_000
LEVEL = 0.95
_CELLS = 1 << 18  # draws held at once: small enough to stay in the processor's cache
_ZERO = 1e-12  # a resampled difference this small is rounding, not a difference

Floats = NDArray[np.float64]


class Resampling(StrEnum):
    """What is drawn with replacement."""

    GROUPS = "groups"
    QUESTIONS = "questions"
    WITHIN_GROUPS = "questions within groups"


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean over `n` questions and its percentile interval."""

    mean: float
    low: float
    high: float
    n: int
    method: Resampling

    def to_json(self) -> dict[str, object]:
        """The metric entry of the `evaluate` JSON."""
        return {
            "mean": self.mean,
            "low": self.low,
            "high": self.high,
            "n": self.n,
            "method": str(self.method),
        }


@dataclass(frozen=True, slots=True)
class Paired:
    """Mean of per-question differences (challenger − base), with its interval.

    `p` is two-sided: twice the smaller share of resampled differences on one side of zero, zeros
    on both sides, one added to each count and to the number of resamples. `prob_positive` is the
    share of resampled differences above zero.
    """

    delta: float
    low: float
    high: float
    p: float
    prob_positive: float
    n: int
    method: Resampling


@dataclass(frozen=True, slots=True)
class Spread:
    """How even a metric is over categories: the lowest mean, whose it is, and the population
    standard deviation of the categories' means."""

    minimum: float
    category: str
    std: float

    def to_json(self) -> dict[str, object]:
        """The spread entry of the `evaluate` JSON."""
        return {"min": self.minimum, "category": self.category, "std": self.std}


def mean_interval(
    values: Sequence[float],
    groups: Sequence[str],
    *,
    seed: int = 0,
    resamples: int = RESAMPLES,
    level: float = LEVEL,
    method: Resampling | None = None,
) -> Interval:
    """Mean of `values` (one per question, `groups` beside it) with a bootstrap interval.

    `method=None` chooses by the number of groups. Raises InputError without values, or when
    lengths differ.
    """
    data, labels = _checked(values, groups)
    chosen = method or _method(labels)
    means = _resample(data, labels, chosen, seed, resamples)
    low, high = _percentiles(means, level)
    return Interval(float(data.mean()), low, high, len(data), chosen)


def paired_difference(
    challenger: Sequence[float],
    base: Sequence[float],
    groups: Sequence[str],
    *,
    seed: int = 0,
    resamples: int = RESAMPLES,
    level: float = LEVEL,
    method: Resampling | None = None,
) -> Paired:
    """Challenger − base on the same questions (equal positions), resampled as `mean_interval`."""
    if len(challenger) != len(base):
        raise InputError(f"paired values differ in length: {len(challenger)} and {len(base)}")
    data, labels = _checked(np.subtract(challenger, base).tolist(), groups)
    chosen = method or _method(labels)
    deltas = _resample(data, labels, chosen, seed, resamples)
    deltas[np.abs(deltas) < _ZERO] = 0.0
    low, high = _percentiles(deltas, level)
    below = int(np.count_nonzero(deltas <= 0))
    above = int(np.count_nonzero(deltas >= 0))
    p = min(1.0, 2 * (min(below, above) + 1) / (resamples + 1))
    positive = np.count_nonzero(deltas > 0) / resamples
    return Paired(float(data.mean()), low, high, p, float(positive), len(data), chosen)


def spread(means: Mapping[str, float]) -> Spread:
    """Minimum and population standard deviation of the categories' means; ties by name."""
    if not means:
        raise InputError("a spread needs at least one category")
    centre = math.fsum(means.values()) / len(means)
    variance = math.fsum((m - centre) ** 2 for m in means.values()) / len(means)
    lowest = min(means, key=lambda name: (means[name], name))
    return Spread(means[lowest], lowest, math.sqrt(variance))


def _checked(values: Sequence[float], groups: Sequence[str]) -> tuple[Floats, NDArray[np.intp]]:
    """Values as an array and the groups numbered in order of first appearance."""
    if not len(values):
        raise InputError("a mean needs at least one value")
    if len(values) != len(groups):
        raise InputError(f"{len(values)} values but {len(groups)} groups")
    data = np.asarray(values, dtype=np.float64)
    if not np.isfinite(data).all():
        raise InputError("a score is not a finite number")
    numbers = {name: i for i, name in enumerate(dict.fromkeys(groups))}
    return data, np.asarray([numbers[g] for g in groups], dtype=np.intp)


def _method(labels: NDArray[np.intp]) -> Resampling:
    many = int(labels.max()) + 1 >= CLUSTER_FROM
    return Resampling.GROUPS if many else Resampling.QUESTIONS


def _resample(
    data: Floats, labels: NDArray[np.intp], method: Resampling, seed: int, resamples: int
) -> Floats:
    """Means of `resamples` resamples, shape (resamples,)."""
    if resamples < 1:
        raise InputError(f"resamples must be at least 1, got {resamples}")
    rng = np.random.default_rng(seed)
    if method is Resampling.GROUPS:
        sums, sizes = np.bincount(labels, data), np.bincount(labels).astype(np.float64)
        drawn = _drawn_sums(np.stack([sums, sizes]), rng, resamples)
        means: Floats = drawn[0] / drawn[1]
        return means
    strata = [labels == g for g in range(int(labels.max()) + 1)]
    if method is Resampling.QUESTIONS:
        strata = [np.ones(len(data), dtype=np.bool_)]
    total: Floats = np.zeros(resamples)
    for inside in strata:
        total += _drawn_sums(data[None, inside], rng, resamples)[0]
    total /= len(data)
    return total


def _drawn_sums(rows: Floats, rng: np.random.Generator, resamples: int) -> Floats:
    """Sums of each row (shape (k, n)) over n columns drawn with replacement: (k, resamples)."""
    n = rows.shape[1]
    out = np.empty((rows.shape[0], resamples))
    step = max(1, _CELLS // n)
    for start in range(0, resamples, step):
        stop = min(start + step, resamples)
        drawn = rng.integers(0, n, size=(stop - start, n), dtype=np.int32)
        for row, target in zip(rows, out, strict=True):
            target[start:stop] = row[drawn].sum(axis=1)
    return out


def _percentiles(sample: Floats, level: float) -> tuple[float, float]:
    if not 0 < level < 1:
        raise InputError(f"level must lie between 0 and 1, got {level}")
    tail = (1 - level) / 2
    low, high = np.quantile(sample, [tail, 1 - tail])
    return float(low), float(high)
