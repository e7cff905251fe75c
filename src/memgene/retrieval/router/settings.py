"""How a router learns; every number of CoEvo-Mem §3 and §4 by name."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum

from memgene.core import InputError
from memgene.retrieval.router.policy import Exploration


class Baseline(StrEnum):
    """What a reward R is compared with; the advantage is `Â = R − baseline`.

    `ema` (published): a moving average of earlier rewards. `self_critical`: the reward of the
    mean weights π on the same question. `group`: the mean reward of the other weights tried on
    the same question.
    """

    EMA = "ema"
    SELF_CRITICAL = "self_critical"
    GROUP = "group"


@dataclass(frozen=True, slots=True)
class RouterSettings:
    """The form of a router and how it learns.

    Learning: `rate` the AdamW step, in (0, 1]; `weight_decay` ≥ 0; `batch` interactions per step,
    ≥ 1; `epochs` passes over the interactions in one router phase, ≥ 1; `beta_kl` β ≥ 0, the
    weight of KL(π ‖ p̄) in nats.
    Exploration: `exploration` `beta` (two routes) or `dirichlet`; `kappa` κ ≥ 1, the
    concentration around π (larger: closer); `floor` in [0, .5), the least mean weight of a route;
    `samples` weights tried per question, ≥ 1 (2 for `group`).
    Baseline: `baseline` `ema`, `self_critical` or `group`; `ema` in [0, 1), the share of the old
    average kept at each interaction, started at the mean reward of the first batch.
    Form: `hidden` ≥ 0 units in each of two layers over the query's embedding (0: a linear head on
    the observation's features); `bound` > 0 on each |Δ| in nats (0 or None: no bound);
    `strength` ρ ≥ 0 of the residual on another fusion.

    The defaults are a bounded linear residual over many views, eight weights tried per question.
    Where each try costs calls, `baseline="self_critical", samples=1` takes two answers a question,
    `baseline="ema", samples=1` one (and about four times the questions).

    Raises:
        InputError: a number is out of its range, or two settings contradict each other.
    """

    rate: float = 3e-3
    weight_decay: float = 0.0
    batch: int = 10
    epochs: int = 1
    beta_kl: float = 0.05
    exploration: Exploration = Exploration.DIRICHLET
    kappa: float = 50.0
    floor: float = 0.02
    samples: int = 8
    baseline: Baseline = Baseline.GROUP
    ema: float = 0.9
    hidden: int = 0
    bound: float | None = 1.5
    strength: float = 1.0

    def __post_init__(self) -> None:
        for name, kind in (("exploration", Exploration), ("baseline", Baseline)):
            try:
                object.__setattr__(self, name, kind(getattr(self, name)))
            except ValueError as error:
                known = ", ".join(kind)
                raise InputError(
                    f"router {name} is one of {known}; got {getattr(self, name)!r}"
                ) from error
        self._check_numbers()
        object.__setattr__(self, "bound", self.bound or None)
        if self.baseline is Baseline.GROUP and self.samples < 2:
            raise InputError("router baseline group compares samples: set samples to 2 or more")

    def _check_numbers(self) -> None:
        for name, least in (("batch", 1), ("epochs", 1), ("samples", 1), ("hidden", 0)):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < least:
                raise InputError(
                    f"router {name} must be a whole number, {least} or more; got {value!r}"
                )
        ranges = {
            "rate": (0 < self.rate <= 1, "in (0, 1]"),
            "weight_decay": (0 <= self.weight_decay < math.inf, "0 or more"),
            "beta_kl": (0 <= self.beta_kl < math.inf, "0 or more"),
            "kappa": (1 <= self.kappa < math.inf, "1 or more"),
            "floor": (0 <= self.floor < 0.5, "in [0, 0.5)"),
            "ema": (0 <= self.ema < 1, "in [0, 1)"),
            "bound": (self.bound is None or 0 <= self.bound < math.inf, "0 or more"),
            "strength": (0 <= self.strength < math.inf, "0 or more"),
        }
        for name, (fits, words) in ranges.items():
            if not fits:
                raise InputError(f"router {name} must be {words}; got {getattr(self, name)}")

    @classmethod
    def paper(cls) -> RouterSettings:
        """As published, with our choices for what is not: Beta over two routes, an MLP of 128."""
        return cls(
            rate=3e-4,
            exploration=Exploration.BETA,
            kappa=10.0,
            samples=1,
            baseline=Baseline.EMA,
            hidden=128,
            bound=None,
        )

    @classmethod
    def two_routes(cls) -> RouterSettings:
        """What learns stably on two routes: a bounded linear head, a faster rate, κ 10."""
        return cls(rate=1e-2, exploration=Exploration.BETA, kappa=10.0)
