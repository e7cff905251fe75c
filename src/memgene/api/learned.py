"""What learning from use returns: receipts of a reward, of a lesson, and of taking one back."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from memgene.api.results import Results, plain
from memgene.bank.protocol import Lesson
from memgene.engine.online import Step


@dataclass(frozen=True, slots=True)
class Learned:
    """A memory's utility before and after a reward, over all queries and for the query's kind.

    The values for the kind are None without a kind. `used` says whether the memory counted as the
    one that was used; a memory that was merely shown keeps its values.
    """

    id: str
    before: float
    utility: float
    used: bool = True
    before_for_kind: float | None = None
    utility_for_kind: float | None = None

    def model_dump(self) -> dict[str, Any]:
        """Plain values."""
        return {name: plain(getattr(self, name)) for name in self.__dataclass_fields__}


@dataclass(frozen=True)
class FeedbackReceipt(Results[Learned]):
    """What a reward changed, memory by memory.

    `kind` is the kind of query it was credited to ("" without a query, and for what was only
    logged), `lesson` the number `undo` knows it by, `applied` False for what was only logged.
    """

    kind: str = ""
    lesson: int = 0
    applied: bool = True

    def model_dump(self) -> dict[str, Any]:
        """`{"results": […], "kind": …, "lesson": …, "applied": …}`."""
        said = {"kind": self.kind, "lesson": self.lesson, "applied": self.applied}
        return {**super().model_dump(), **said}


@dataclass(frozen=True, slots=True)
class LearnStep:
    """One part of a lesson: `feedback`, `links`, `router` or `growth`.

    `changed` counts what it changed, `reason` says what happened or why nothing did, `figures` are
    its numbers by name.
    """

    name: str
    changed: int
    reason: str
    figures: dict[str, float] = field(default_factory=dict)

    @classmethod
    def of(cls, step: Step) -> LearnStep:
        """The public side of a step."""
        return cls(step.name, step.changed, step.reason, dict(step.figures))

    def model_dump(self) -> dict[str, Any]:
        """Plain values."""
        return {name: plain(getattr(self, name)) for name in self.__dataclass_fields__}


@dataclass(frozen=True)
class LearnReceipt(Results[LearnStep]):
    """What an idle-time lesson did, step by step. `lesson` is its number, None when nothing
    changed."""

    lesson: int | None = None

    def model_dump(self) -> dict[str, Any]:
        """`{"results": […], "lesson": …}`."""
        return {**super().model_dump(), "lesson": self.lesson}


@dataclass(frozen=True, slots=True)
class LessonRecord:
    """One step of learning: `kind` is feedback, log (feedback that was only logged) or learn.

    `rows` counts the history rows it wrote.
    """

    number: int
    kind: str
    time: datetime
    rows: int
    undone: bool

    @classmethod
    def of(cls, lesson: Lesson, *, undone: bool = False) -> LessonRecord:
        """The public side of a bank's lesson."""
        return cls(
            number=lesson.number,
            kind=lesson.kind,
            time=lesson.time,
            rows=lesson.last - lesson.first + 1,
            undone=lesson.undone or undone,
        )

    def model_dump(self) -> dict[str, Any]:
        """Plain values."""
        return {name: plain(getattr(self, name)) for name in self.__dataclass_fields__}


class Lessons(Results[LessonRecord]):
    """Lessons, newest first."""
