"""A question as agents and harnesses see it, and the gold that only scorers and learners see."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any


@dataclass(frozen=True, slots=True)
class Question:
    """The public side of a question: nothing here tells the answer."""

    id: str
    text: str
    group: str
    time: datetime | None = None
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Gold:
    """The hidden side: for scorers and, on dev only, for diagnosis and learners.

    `answers` are accepted alternatives, the first one canonical; empty means "not answerable".
    `evidence` holds message ids or episode ids. `unusable` says why evidence cannot be scored.
    """

    answers: tuple[str, ...] = ()
    evidence: tuple[str, ...] = ()
    category: str = "all"
    rubric: tuple[Mapping[str, Any], ...] = ()
    unusable: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class LabelledQuestion:
    """A question with its gold. Only `question` may travel to a harness or an agent."""

    question: Question
    gold: Gold

    @property
    def id(self) -> str:
        return self.question.id

    @property
    def group(self) -> str:
        return self.question.group


@dataclass(frozen=True, slots=True)
class Answer:
    """What an agent replied. `abstained` is its own statement that memory does not tell,
    `confidence` (0 to 1) its own estimate, where it gives one."""

    text: str
    abstained: bool = False
    rule: str | None = None
    cited: tuple[str, ...] = ()
    confidence: float | None = None
