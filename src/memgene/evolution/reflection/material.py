"""What a reflection may show of a program: everything it is made of, in frozen values.

All cases come from questions of dev; nothing of the questions that select programs or of the final
test belongs here, except the mean score.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal

from memgene.programs.program import ProgramLimits


class Scope(StrEnum):
    """Which side of a program a proposal may change (the ablations of M* §9 freeze one)."""

    BOTH = "both"
    INSTRUCTIONS = "instructions"  # the four constants only
    CODE = "code"  # everything but the four constants


@dataclass(frozen=True, slots=True)
class LineageEntry:
    """One candidate of the program's line: an ancestor, the program itself, or a child of it.

    `score` is None where it was never evaluated, `delta` its distance to the parent's score,
    `regressed` whether it scored below its parent, `refused` the reason why it was not evaluated.
    """

    id: str
    parent: str | None
    title: str
    message: str
    score: float | None
    delta: float | None = None
    kind: Literal["seed", "child"] = "child"
    regressed: bool = False
    refused: str | None = None


@dataclass(frozen=True, slots=True)
class ShownWrite:
    """How an episode became an item: its text (or its beginning), and the item as JSON."""

    raw_text: str
    item: str


@dataclass(frozen=True, slots=True)
class ShownCase:
    """One question as it went. `score` lies in 0…1; `conversation` holds the (role, text) turns:
    the query that was formulated, what the memory returned, what was answered. `failure` says what
    went wrong where the program failed."""

    question: str
    expected: tuple[str, ...]
    answer: str
    score: float
    conversation: tuple[tuple[str, str], ...] = ()
    failure: str | None = None


@dataclass(frozen=True, slots=True)
class ShownViolation:
    """A failure of the running program. `where` is `write`, `read` or `load`, `detail` the end of
    the traceback, `times` how often the same happened."""

    where: str
    message: str
    detail: str = ""
    times: int = 1


@dataclass(frozen=True, slots=True)
class Reference:
    """Another program of the pool, the most instructive first; `higher` than the current one."""

    id: str
    score: float
    source: str
    higher: bool


@dataclass(frozen=True, slots=True)
class ToolkitNotes:
    """What the toolkit of this run offers. `agent` is who fills items and queries and answers:
    a language model that follows the instructions, or rules that do not read them."""

    llm: bool = True
    bank: bool = True
    agent: Literal["llm", "offline"] = "llm"
    limits: ProgramLimits = field(default_factory=ProgramLimits)


@dataclass(frozen=True, slots=True)
class Material:
    """Everything one reflection is told.

    Attributes:
        source: the program to improve.
        id: its name in the lineage.
        iteration: number of the search's iteration, from 1.
        score: its mean on the selection questions, which are never shown.
        metric, metric_about: name of the metric, and in a sentence what it rewards.
        lineage: oldest first; the program itself may be among them.
        writes, logs, successes, failing, violations, references: as M* §6 has them, the most
            useful first (`logs`: in the order of writing).
        toolkit: what the program may use.
        hints: what the task says about its questions; empty: nothing.
        scope: what may be changed.
    """

    source: str
    id: str
    iteration: int
    score: float
    metric: str
    metric_about: str = ""
    lineage: tuple[LineageEntry, ...] = ()
    writes: tuple[ShownWrite, ...] = ()
    logs: tuple[str, ...] = ()
    successes: tuple[ShownCase, ...] = ()
    failing: tuple[ShownCase, ...] = ()
    violations: tuple[ShownViolation, ...] = ()
    references: tuple[Reference, ...] = ()
    toolkit: ToolkitNotes = ToolkitNotes()
    hints: str = ""
    scope: Scope = Scope.BOTH
