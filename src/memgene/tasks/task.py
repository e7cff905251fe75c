"""A task: episodes to remember, questions with gold, groups, and who may see what."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from memgene.core import Episode, LabelledQuestion


class Regime(StrEnum):
    """What memory holds when a question is asked.

    `own_group`: the episodes of the question's own group only (one memory per group).
    `shared`: the training groups' experience; test questions are new.
    """

    OWN_GROUP = "own_group"
    SHARED = "shared"


class Split(StrEnum):
    """dev: diagnosis and learning. val: selection. test: touched once, by the final report."""

    DEV = "dev"
    VAL = "val"
    TEST = "test"


@dataclass(frozen=True, slots=True)
class Exclusion:
    """A question that cannot be scored (wholly or for one metric), and why."""

    question_id: str
    reason: str


@dataclass(frozen=True, slots=True)
class Task:
    """Everything an evaluation needs. Immutable; subsets are new tasks.

    `metric` is what evolution maximises by default. `set_apart` names categories that are
    reported apart and never counted in a mean (LoCoMo's adversarial questions);
    `set_apart_metric` is what they are officially scored by, where it is not `metric`.
    `fingerprint` is a hash of the data.
    """

    name: str
    episodes: tuple[Episode, ...]
    questions: tuple[LabelledQuestion, ...]
    regime: Regime
    metric: str
    fingerprint: str
    hints: Mapping[str, str] = field(default_factory=dict)
    set_apart: frozenset[str] = frozenset()
    fixed_splits: Mapping[str, Split] = field(default_factory=dict)
    exclusions: tuple[Exclusion, ...] = ()
    licence: str = ""
    set_apart_metric: str | None = None

    @property
    def groups(self) -> tuple[str, ...]:
        """Groups of questions and episodes, in order of first appearance."""
        seen = dict.fromkeys(e.group for e in self.episodes)
        seen.update(dict.fromkeys(q.group for q in self.questions))
        return tuple(seen)
