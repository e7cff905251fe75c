"""What a report shows, as plain values. Filled by `load`, drawn by the other modules."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from memgene.evaluation.case import Case
from memgene.reports.coevolve_model import Learning
from memgene.reports.landscape_model import Landscape
from memgene.reports.node import Node

if TYPE_CHECKING:
    from memgene.reports.joint_model import Joint


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
    SEED = "seed"
    BEST = "new best"
    JOINED = "joined"
    REFUSED = "refused"

    @property
    def kept(self) -> bool:
        """Whether the search went on with it."""
        return self in (Verdict.ACCEPTED, Verdict.BEST, Verdict.JOINED)


@dataclass(frozen=True, slots=True)
class Change:
    """One lever, before and after."""

    lever: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Round:
    """One candidate: what was tried in a round (number), why, and what came of it.

    `name` is what tables call it: the round where each has one candidate, else the candidate's id.
    `score` is the candidate's on the selection questions, `best` the best kept one so far. `causes`
    counts the failures of the incumbent on dev, `zeros` the val questions that scored 0 under the
    candidate, of how many, per category.
    """

    number: int
    name: str
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
    """One val question as candidates answered it: (name of the round or candidate, case)."""

    question: str
    gold: tuple[str, ...]
    steps: tuple[tuple[str, Case], ...]

    @property
    def asked(self) -> bool:
        """Whether it was asked for an answer in any round."""
        return any(was_asked(case) for _, case in self.steps)

    @property
    def ranked(self) -> bool:
        """Whether a memory returned a ranking for it, not text alone."""
        return any(case.hits is not None for _, case in self.steps)


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
class Draft:
    """A program that was written: its place in the lineage, its patch to the parent or, where it
    has none, its whole `source` (both empty where none came about), the seconds it took, and the
    file that holds what was said to get it (empty where nothing was). `new_best`: none was better
    when it joined."""

    node: Node
    patch: str
    source: str
    seconds: float
    transcript: str = ""
    new_best: bool = False


@dataclass(frozen=True, slots=True)
class Wording:
    """How a strategy's page calls things: what the plot counts, what a row of a table is, which
    verdicts there can be, which candidates the followed question goes through, and the title over
    the list of rounds."""

    step: str
    row: str
    verdicts: tuple[Verdict, ...]
    followed: str
    rounds: str = "What changed each round, and why"


@dataclass(frozen=True, slots=True)
class Trajectory:
    """One evolution's rounds; a run with folds has several. `drafts` are the programs that a
    program search wrote, `learning` what a co-evolution learned, `joint` the passes of a joint
    evolution; `summary` counts what was tried."""

    name: str
    wording: Wording
    rounds: tuple[Round, ...]
    test: Score | None = None
    start: Score | None = None
    stopped: str = ""
    summary: str = ""
    drafts: tuple[Draft, ...] = ()
    learning: Learning | None = None
    joint: Joint | None = None


@dataclass(frozen=True, slots=True)
class Chosen:
    """The program a run yields: the promoted one, or the best so far."""

    title: str
    about: str
    source: str


@dataclass(frozen=True, slots=True)
class RunView:
    """Everything one report shows. Absent parts are empty, and the page says so. `search_asked`:
    the search asked the agent for answers (for a ranking it need not). `start` says what the row of
    that name is where it is not the default configuration. `caution` says so where programs ran
    below full isolation."""

    run: str
    task: str
    strategy: str
    metric: str
    finished: bool
    rows: Mapping[str, Mapping[str, Score]] = field(default_factory=dict)
    differences: tuple[Difference, ...] = ()
    best_static: str | None = None
    trajectories: tuple[Trajectory, ...] = ()
    program: Chosen | None = None
    landscape: Landscape | None = None
    start: str = ""
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
    caution: str = ""

    @property
    def evolved(self) -> Score | None:
        """Held-out score of the evolved memory in the run's metric."""
        return self.rows.get("evolved", {}).get(self.metric)
