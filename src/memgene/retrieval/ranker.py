"""The learned fusion: a linear listwise ranker over named features, kept as named floats."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memgene.core import ConfigError

CLIP = 4.0


@dataclass(frozen=True)
class Ranker:
    """Weights of standardised features: `score = Σ w · clip((x − mean) / scale, ±4)`.

    `target` says what it was fitted on: "evidence", or "answer_tokens" (the proxy for tasks
    without gold evidence). `questions` is how many questions it learned from.
    """

    weight: Mapping[str, float]
    mean: Mapping[str, float]
    scale: Mapping[str, float]
    target: str = "evidence"
    questions: int = 0

    def __post_init__(self) -> None:
        if not self.weight or not (self.weight.keys() == self.mean.keys() == self.scale.keys()):
            raise ConfigError("a ranker needs one weight, mean and scale per feature")
        for name in ("weight", "mean", "scale"):
            values = {k: float(getattr(self, name)[k]) for k in self.weight}
            if not all(np.isfinite(list(values.values()))):
                raise ConfigError(f"a ranker's {name} must be finite")
            if name == "scale" and min(values.values()) <= 0:
                raise ConfigError("a ranker's scale must be above 0")
            object.__setattr__(self, name, values)

    @property
    def features(self) -> tuple[str, ...]:
        """Names of the features, in the order of `score`'s columns."""
        return tuple(self.weight)

    def standardised(self, matrix: NDArray[np.float32]) -> NDArray[np.float32]:
        """Columns (in the order of `features`) standardised and clipped."""
        mean = np.fromiter(self.mean.values(), np.float32)
        scale = np.fromiter(self.scale.values(), np.float32)
        standard: NDArray[np.float32] = np.clip((matrix - mean) / scale, -CLIP, CLIP)
        return standard

    def score(self, matrix: NDArray[np.float32]) -> NDArray[np.float32]:
        """Scores of candidates; `matrix` has one row a candidate, one column a feature."""
        weight = np.fromiter(self.weight.values(), np.float32)
        scored: NDArray[np.float32] = self.standardised(matrix) @ weight
        return scored

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "target": self.target,
            "questions": self.questions,
            "weight": dict(self.weight),
            "mean": dict(self.mean),
            "scale": dict(self.scale),
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Ranker:
        """Inverse of `to_dict`."""
        try:
            return cls(
                values["weight"],
                values["mean"],
                values["scale"],
                values["target"],
                values["questions"],
            )
        except KeyError as error:
            raise ConfigError(f"learned weights lack {error}") from error

    @property
    def digest(self) -> str:
        """A short hash of the weights."""
        return hashlib.sha256(json.dumps(self.to_dict()).encode()).hexdigest()[:12]
