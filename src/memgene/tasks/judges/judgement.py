"""What a judge said about one answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Judgement:
    """A score in [0, 1] and how it came about.

    `verdict` is what is recorded in the case, as JSON has it. For correctness `correct` and
    `explanation`; for a rubric `unclipped` (its score before it is cut to [0, 1]) and `criteria`,
    each with `criterion`, `points`, `met` and `explanation`, in the rubric's order. Both name the
    `model` and the digest of the `prompt`; where no model had to be asked, `rule` says why.
    """

    score: float
    verdict: Mapping[str, Any]
