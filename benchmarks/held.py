"""Held-out scores of one kind of row over several seeds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from memgene.evaluation import Case, Interval, Paired, mean_interval, paired_difference


@dataclass(frozen=True, slots=True)
class Held:
    """Held-out scores of one kind of row over all seeds, question by question."""

    scores: tuple[float, ...]
    groups: tuple[str, ...]
    keys: tuple[str, ...]

    @classmethod
    def of(cls, runs: Sequence[Sequence[Case]], metric: str) -> Held:
        """From the cases of each seed."""
        found = [
            (case.scores[metric], case.group, f"{seed}:{case.question_id}")
            for seed, cases in enumerate(runs)
            for case in cases
            if case.error is None and metric in case.scores
        ]
        scores, groups, keys = zip(*found, strict=True)
        return cls(scores, groups, keys)

    def interval(self) -> Interval:
        """Their mean, resampled by group."""
        return mean_interval(self.scores, self.groups)

    def against(self, other: Held) -> Paired:
        """The paired difference on the questions both have."""
        known = dict(zip(other.keys, other.scores, strict=True))
        rows = [
            (mine, known[key], group)
            for mine, key, group in zip(self.scores, self.keys, self.groups, strict=True)
            if key in known
        ]
        mine, theirs, groups = zip(*rows, strict=True)
        return paired_difference(mine, theirs, groups)
