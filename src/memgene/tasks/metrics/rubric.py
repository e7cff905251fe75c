"""Rubrics as data, and their score (M* §8)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memgene.core import DataError, Gold


@dataclass(frozen=True, slots=True)
class Criterion:
    """One line of a rubric; negative `points` mark what is undesirable."""

    text: str
    points: float


def criteria_of(gold: Gold, question: str) -> tuple[Criterion, ...]:
    """The rubric in order, from its `criterion` and `points`; whatever else an entry has is not
    looked at. Raises DataError that names the question and the place (from 0)."""
    return tuple(
        _criterion(entry, f"question {question}, rubric[{place}]")
        for place, entry in enumerate(gold.rubric)
    )


def rubric_score(points: Sequence[float], met: Sequence[bool]) -> float:
    """Unclipped `Σ_met p_i / Σ_{p_i>0} p_i`; some criterion must have positive points."""
    reachable = math.fsum(p for p in points if p > 0)
    return math.fsum(p for p, yes in zip(points, met, strict=True) if yes) / reachable


def _criterion(entry: Mapping[str, Any], where: str) -> Criterion:
    text, points = entry.get("criterion"), entry.get("points")
    if not isinstance(text, str) or not text.strip():
        raise DataError(f"{where}: `criterion` must be text, got {text!r}")
    if isinstance(points, bool) or not isinstance(points, int | float) or not math.isfinite(points):
        raise DataError(f"{where}: `points` must be a finite number, got {points!r}")
    return Criterion(text, float(points))
