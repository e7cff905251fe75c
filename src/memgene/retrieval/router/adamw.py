"""AdamW: Adam with weight decay apart from the gradient (Loshchilov and Hutter, 2019)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from memgene.retrieval.router.observation import Floats

_FIRST, _SECOND, _LEAST = 0.9, 0.999, 1e-8


@dataclass(slots=True)
class AdamW:
    """Moves arrays against their gradients. `rate` is the step, `decay` the weight decay
    (`w ← w − rate·decay·w` at each step); β₁ = .9, β₂ = .999, ε = 1e-8."""

    rate: float
    decay: float = 0.0
    steps: int = 0
    _first: dict[str, Floats] = field(default_factory=dict)
    _second: dict[str, Floats] = field(default_factory=dict)

    def step(
        self, arrays: Mapping[str, Floats], gradients: Mapping[str, Floats]
    ) -> dict[str, Floats]:
        """The arrays after one step; those without a gradient stay as they are."""
        self.steps += 1
        moved = dict(arrays)
        first_bias, second_bias = 1 - _FIRST**self.steps, 1 - _SECOND**self.steps
        for name, gradient in gradients.items():
            first = _FIRST * self._first.get(name, 0.0) + (1 - _FIRST) * gradient
            second = _SECOND * self._second.get(name, 0.0) + (1 - _SECOND) * gradient**2
            self._first[name], self._second[name] = first, second
            turn = (first / first_bias) / (np.sqrt(second / second_bias) + _LEAST)
            moved[name] = arrays[name] - self.rate * (turn + self.decay * arrays[name])
        return moved
