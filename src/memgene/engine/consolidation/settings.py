"""How a bank is put in order."""

from __future__ import annotations

from dataclasses import dataclass

from memgene.core import InputError


@dataclass(frozen=True, slots=True)
class ConsolidationSettings:
    """Thresholds.

    similarity: least cosine of near-duplicates, in [0, 1].
    decay_after_days: days without use after which importance decays; half_life_days: in which it
        then halves; least_importance: where it ends, in [0, 1].
    most_reinforcement: cap of the reinforcement that shared entities give.
    """

    similarity: float = 0.95
    decay_after_days: float = 30.0
    half_life_days: float = 30.0
    least_importance: float = 0.05
    most_reinforcement: int = 10

    def __post_init__(self) -> None:
        for name in ("similarity", "least_importance"):
            if not 0 <= getattr(self, name) <= 1:
                raise InputError(f"{name} must lie in [0, 1], got {getattr(self, name)}")
        if self.decay_after_days < 0 or self.half_life_days <= 0 or self.most_reinforcement < 0:
            raise InputError(
                "decay_after_days and most_reinforcement must not be negative, and "
                f"half_life_days must be above 0, got {self}"
            )
