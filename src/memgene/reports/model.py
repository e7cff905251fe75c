"""What a report shows, as plain values. Filled by `load`, drawn by the other modules."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from memgene.evaluation.case import Case


@dataclass(frozen=True, slots=True)
class Score:
    """A mean with its interval over `n` questions; `method` says what was resampled."""

    mean: float
    low: float
    high: float
    n: int
    method: str = ""


@dataclass(frozen=True, slots=True)
class Difference:
    """Evolved minus another memory on the same questions."""

    name: str
    delta: float
    low: float
    high: float
    p: float | None = None


def was_asked(case: Case) -> bool:
    """Whether the agent was asked for an answer; an evaluation of rankings alone does not."""
    return bool(case.answer) or case.abstained or "respond" in case.timings


class Verdict(StrEnum):
    """What became of a round's candidate."""

    START = "start"
    ACCEPTED = "accepted"
    REJECTED = "rejected"
    REVERTED = "reverted"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class Change:
    """One lever, before and after."""

    lever: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Round:
    """One round: what was tried, why, and what came of it.

    `score` is the candidate's on val, `best` the best accepted one so far. `causes` counts the
    failures of the incumbent on dev, `zeros` the val questions that
    scored 0 under the candidate, of how many, per category.
    """

    number: int
    verdict: Verdict
    score: float | None
    best: float | None
    kind: str = ""
    changes: tuple[Change, ...] = ()
    why: str = ""
    outcome: str = ""
    causes: Mapping[str, int] = field(default_factory=dict)
    zeros: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    dev_score: float | None = None
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Followed:
    """One val question as each round's candidate answered it: (round number, case)."""

    question: str
    gold: tuple[str, ...]
    steps: tuple[tuple[int, Case], ...]

    @property
    def asked(self) -> bool:
        """Whether it was asked for an answer in any round."""
        return any(was_asked(case) for _, case in self.steps)


@dataclass(frozen=True, slots=True)
class Example:
    """A held-out question before (start) and after (evolved)."""

    before: Case
    after: Case


@dataclass(frozen=True, slots=True)
class CategoryRow:
    """Per-category means of one memory, with the lowest and the spread."""

    name: str
    means: Mapping[str, tuple[float, int]]
    minimum: float | None = None
    std: float | None = None


@dataclass(frozen=True, slots=True)
class Trajectory:
    """One evolution's rounds; a run with folds has several."""

    name: str
    rounds: tuple[Round, ...]
    test: Score | None = None
    start: Score | None = None
    stopped: str = ""


@dataclass(frozen=True, slots=True)
class RunView:
    """Everything one report shows. Absent parts are empty, and the page says so. `search_asked`:
    the search asked the agent for answers (for a ranking it need not)."""

    run: str
    task: str
    strategy: str
    metric: str
    finished: bool
    rows: Mapping[str, Mapping[str, Score]] = field(default_factory=dict)
    differences: tuple[Difference, ...] = ()
    best_static: str | None = None
    trajectories: tuple[Trajectory, ...] = ()
    categories: tuple[CategoryRow, ...] = ()
    followed: Followed | None = None
    fixed: tuple[Example, ...] = ()
    broken: tuple[Example, ...] = ()
    usage: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    seconds: float | None = None
    evaluations: int | None = None
    best: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, str] = field(default_factory=dict)
    fingerprints: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    search_asked: bool = True

    @property
    def evolved(self) -> Score | None:
        """Held-out score of the evolved memory in the run's metric."""
        return self.rows.get("evolved", {}).get(self.metric)
