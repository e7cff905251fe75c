"""Which cases a reflection is shown (M* §6)."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass

from memgene.evolution.reflection.material import ShownCase

SUCCESS = 0.5  # the least score of a case that is shown as one to preserve


@dataclass(frozen=True, slots=True)
class Chosen:
    """Cases to show: `failing` worst first, `successes` best first, none in both."""

    failing: tuple[ShownCase, ...]
    successes: tuple[ShownCase, ...]


def choose_cases(
    cases: Sequence[ShownCase], rng: random.Random, *, failing: int = 2, successes: int = 1
) -> Chosen:
    """At most so many failing and successful cases.

    Failing ones by weighted sampling without replacement (Efraimidis & Spirakis 2006): each case
    gets the key u^(1/w) with w = 1 − score and u uniform in (0, 1]; the highest keys are taken. A
    case of score 1 does not fail. Successes: the highest scores of the rest, at least 0.5. Ties
    go by order. One number is drawn for each case, whatever its score.
    """
    keys = [_key(1.0 - rng.random(), 1.0 - case.score) for case in cases]
    places = range(len(cases))
    drawn = sorted((p for p in places if keys[p] > -math.inf), key=lambda p: (-keys[p], p))
    failed = drawn[:failing]
    rest = [p for p in places if p not in failed and cases[p].score >= SUCCESS]
    best = sorted(rest, key=lambda p: (-cases[p].score, p))[:successes]
    return Chosen(
        tuple(cases[p] for p in sorted(failed, key=lambda p: (cases[p].score, p))),
        tuple(cases[p] for p in best),
    )


def _key(uniform: float, weight: float) -> float:
    """The logarithm of u^(1/w), which keeps its order where the power would round to 0."""
    return math.log(uniform) / weight if weight > 0 else -math.inf
