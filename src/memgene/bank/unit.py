"""The unit a bank remembers (EvolveMem §1, with utility and event time)."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from memgene.core import Scope, stable_id

MONTHS = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
]


class UnitType(StrEnum):
    """The six kinds of memory."""

    EPISODIC = "episodic"
    SEMANTIC = "semantic"
    PREFERENCE = "preference"
    PROJECT_STATE = "project_state"
    WORKING_SUMMARY = "working_summary"
    PROCEDURAL_OBSERVATION = "procedural_observation"


class UnitStatus(StrEnum):
    """Only active units are found by a search; the others keep their lineage."""

    ACTIVE = "active"
    SUPERSEDED = "superseded"
    ARCHIVED = "archived"


@dataclass(frozen=True, slots=True)
class MemoryUnit:
    """One remembered statement or turn.

    `event_time` is when it happened, `created` when it was stored. `source` is the episode and
    `turn_start..turn_end` the span of its messages (from 0); neighbours in a source follow from
    them. `refs` are the message ids the unit stands for. `importance`, `confidence` and
    `utility` lie in [0, 1]. `seq` is the insertion order, given by the bank.
    """

    content: str
    scope: Scope = field(default_factory=Scope)
    type: UnitType = UnitType.EPISODIC
    summary: str = ""
    speaker: str | None = None
    source: str | None = None
    turn_start: int | None = None
    turn_end: int | None = None
    refs: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    persons: tuple[str, ...] = ()
    locations: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()
    keywords: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    importance: float = 0.5
    confidence: float = 0.7
    utility: float = 0.5
    reinforcement: int = 0
    access_count: int = 0
    status: UnitStatus = UnitStatus.ACTIVE
    supersedes: str | None = None
    superseded_by: str | None = None
    event_time: datetime | None = None
    created: datetime | None = None
    updated: datetime | None = None
    last_accessed: datetime | None = None
    expires: datetime | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    id: str = ""
    seq: int = 0

    def identity(self) -> str:
        """The id this unit gets: a hash of what was said, by whom, when, where, and for whom.

        Two units with one identity are exact duplicates. White space and Unicode composition do
        not count as differences; every other change (a number, a name, a negation) does.
        """
        content = " ".join(unicodedata.normalize("NFC", self.content).split())
        return stable_id(
            content,
            self.speaker,
            self.event_time.isoformat() if self.event_time else None,
            self.source,
            None if self.turn_start is None else str(self.turn_start),
            self.scope.user_id,
            self.scope.agent_id,
            self.scope.run_id,
        )

    @property
    def rendered(self) -> str:
        """What an agent reads, full text holds and embedders get: `[date] speaker: content`."""
        said = f"{self.speaker}: {self.content}" if self.speaker else self.content
        return f"[{render_date(self.event_time)}] {said}" if self.event_time else said

    @property
    def spoken(self) -> str:
        """`speaker: content` without the date: the words that postings and soft match see."""
        return f"{self.speaker}: {self.content}" if self.speaker else self.content


def render_date(moment: datetime) -> str:
    """`8 May 2023, 1:56 pm` (midnight: the date alone): readable, searchable, no locale."""
    date = f"{moment.day} {MONTHS[moment.month - 1]} {moment.year}"
    if not (moment.hour or moment.minute):
        return date
    half = "am" if moment.hour < 12 else "pm"
    return f"{date}, {moment.hour % 12 or 12}:{moment.minute:02d} {half}"
