"""What can happen in a run: one small typed event each, and its JSON form.

Replay compares events field by field; fields marked volatile (seconds) may differ between a run
and its repetition and are left out of that comparison.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from memgene.core import RunError
from memgene.evolution.coevolve.events import COEVOLUTION_EVENTS
from memgene.evolution.event import Event, frozen, volatile
from memgene.evolution.joint.events import JOINT_EVENTS
from memgene.evolution.programs.events import PROGRAM_EVENTS
from memgene.evolution.stages.events import STAGE_EVENTS


@dataclass(frozen=True, slots=True)
class RunStarted(Event):
    """The run and the sizes of its question sets."""

    kind: ClassVar[str] = "run_started"
    task: str
    strategy: str
    metric: str
    seed: int
    rounds: int
    dev: int
    val: int
    fresh: int
    division: str


@dataclass(frozen=True, slots=True)
class Resumed(Event):
    """Another process took up the run."""

    kind: ClassVar[str] = "resumed"
    replayed: ClassVar[bool] = False
    cut_bytes: int = 0
    differences: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Interrupted(Event):
    """Ctrl-C: the round was finished, the run can be resumed."""

    kind: ClassVar[str] = "interrupted"
    replayed: ClassVar[bool] = False
    round: int


@dataclass(frozen=True, slots=True)
class Diagnosed(Event):
    """Root causes of the lost score of a candidate on dev: questions and score per cause."""

    kind: ClassVar[str] = "diagnosed"
    round: int
    candidate: str
    score: float
    failing: int
    causes: Mapping[str, int]
    lost: Mapping[str, float]
    weak_types: tuple[str, ...]
    abstained: float
    worst: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Explored(Event):
    """A seeded random step was taken because the last rounds were flat."""

    kind: ClassVar[str] = "explored"
    round: int
    flat_rounds: int


@dataclass(frozen=True, slots=True)
class Advised(Event):
    """A model was asked for a diagnosis and proposals; a resumed run takes them from here.

    `changes` are the proposals that will be tried: lever, value and, where it is for one type,
    question_type. `problems` say what of the reply could not be tried, `unusable` (empty when
    there are changes) why the fallback proposes instead. `causes` are the model's reading of the
    failures, `missing` the topics it misses, `next` its plan. `exchange` is a hash of prompts and
    replies, which are in the folder of the round's candidate (diagnosis.md).
    """

    kind: ClassVar[str] = "advised"
    round: int
    model: str
    changes: tuple[Mapping[str, Any], ...]
    reason: str
    causes: Mapping[str, int]
    missing: tuple[str, ...]
    next: str
    problems: tuple[str, ...]
    unusable: str
    exchange: str
    usage: Mapping[str, Mapping[str, float]] = field(metadata={"volatile": True})
    seconds: float = volatile()


@dataclass(frozen=True, slots=True)
class Proposed(Event):
    """A candidate, its files in place. `changes` are the levers set, by name (per-type overrides
    as `per_type.TYPE.LEVER`); `digest` names the configuration, learned weights included.
    `target` is what they were fitted on ("" = not fitted anew), `usage` what fitting took:
    writing the memories whose candidates are learned from."""

    kind: ClassVar[str] = "proposed"
    round: int
    candidate: str
    parent: str
    proposer: str
    changes: Mapping[str, Any]
    reason: str
    digest: str
    target: str = ""
    fitted_on: int = 0
    usage: Mapping[str, Mapping[str, float]] = field(
        default_factory=dict, metadata={"volatile": True}
    )
    seconds: float = volatile()


@dataclass(frozen=True, slots=True)
class Evaluated(Event):
    """A candidate (or a row of the final report) was evaluated; its cases are in its folder.

    `score` is the mean of the run's metric (None where the metric does not apply), `scored` the
    questions it was taken over, `errors` the failed calls, `digest` a hash of the scores. `usage`
    by role includes writing the memories that the process did not hold yet.
    """

    kind: ClassVar[str] = "evaluated"
    candidate: str
    split: str
    questions: int
    scored: int
    score: float | None
    errors: int
    digest: str
    usage: Mapping[str, Mapping[str, float]] = field(metadata={"volatile": True})
    seconds: float = volatile()


@dataclass(frozen=True, slots=True)
class Accepted(Event):
    """The candidate became the incumbent. `probability` = share of resampled paired differences
    above zero (None under best-so-far acceptance)."""

    kind: ClassVar[str] = "accepted"
    round: int
    candidate: str
    score: float
    delta: float
    probability: float | None
    reason: str


@dataclass(frozen=True, slots=True)
class Rejected(Event):
    """The candidate did not become the incumbent, and why."""

    kind: ClassVar[str] = "rejected"
    round: int
    candidate: str
    score: float
    delta: float
    probability: float | None
    reason: str


@dataclass(frozen=True, slots=True)
class Reverted(Event):
    """The current configuration fell too far under the best and was given up for it."""

    kind: ClassVar[str] = "reverted"
    round: int
    given_up: str
    back_to: str
    drop: float


@dataclass(frozen=True, slots=True)
class RoundFinished(Event):
    """State after a round: `current` is what the next round changes, `best` the best so far."""

    kind: ClassVar[str] = "round_finished"
    round: int
    candidate: str
    score: float
    current: str
    best: str
    best_score: float
    flat_rounds: int


@dataclass(frozen=True, slots=True)
class Stopped(Event):
    """The search ended: `reason` is one of rounds, converged, exhausted, budget; `detail` says
    more."""

    kind: ClassVar[str] = "stopped"
    round: int
    reason: str
    detail: str


@dataclass(frozen=True, slots=True)
class Rechecked(Event):
    """A candidate against the start on val items that no acceptance has seen."""

    kind: ClassVar[str] = "rechecked"
    candidate: str
    against: str
    delta: float
    not_worse: float
    questions: int
    kept: bool


@dataclass(frozen=True, slots=True)
class Promoted(Event):
    """The candidate that the run yields."""

    kind: ClassVar[str] = "promoted"
    candidate: str
    fallback: bool


@dataclass(frozen=True, slots=True)
class Refitted(Event):
    """Learned weights of a row of the final report: fitted on dev + val (`retrieval.toml`), or on
    dev alone to choose the best static row (`dev.toml`). `usage` is what fitting took."""

    kind: ClassVar[str] = "refitted"
    row: str
    file: str
    target: str
    questions: int
    digest: str
    usage: Mapping[str, Mapping[str, float]] = field(
        default_factory=dict, metadata={"volatile": True}
    )
    seconds: float = volatile()


@dataclass(frozen=True, slots=True)
class TestOpened(Event):
    """The sealed test questions were handed to the final report."""

    __test__: ClassVar[bool] = False
    kind: ClassVar[str] = "test_opened"
    questions: int
    groups: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TestMeasured(Event):
    """A row of the final report on the test questions."""

    __test__: ClassVar[bool] = False
    kind: ClassVar[str] = "test_measured"
    row: str
    score: float | None
    questions: int


@dataclass(frozen=True, slots=True)
class FoldFinished(Event):
    """One of the folds is done; its own journal tells the rest."""

    kind: ClassVar[str] = "fold_finished"
    fold: int
    best: str
    score: float | None


@dataclass(frozen=True, slots=True)
class Finished(Event):
    """The run is complete; best/ holds this genome."""

    kind: ClassVar[str] = "finished"
    best: str
    rounds: int
    evaluations: int


_ALL: tuple[type[Event], ...] = (
    RunStarted,
    Resumed,
    Interrupted,
    Diagnosed,
    Explored,
    Advised,
    Proposed,
    Evaluated,
    Accepted,
    Rejected,
    Reverted,
    RoundFinished,
    Stopped,
    Rechecked,
    Promoted,
    Refitted,
    TestOpened,
    TestMeasured,
    FoldFinished,
    Finished,
    *PROGRAM_EVENTS,
    *COEVOLUTION_EVENTS,
    *JOINT_EVENTS,
    *STAGE_EVENTS,
)
_KINDS: Mapping[str, type[Event]] = {event.kind: event for event in _ALL}


def from_dict(values: Mapping[str, Any]) -> Event:
    """Inverse of `Event.to_dict`. Raises RunError on an unknown event or field."""
    values = dict(values)
    name = values.pop("event", None)
    if name not in _KINDS:
        raise RunError(f"unknown event {name!r}")
    try:
        return _KINDS[name](**{key: frozen(value) for key, value in values.items()})
    except TypeError as error:
        raise RunError(f"event {name!r} does not fit this version: {error}") from error
