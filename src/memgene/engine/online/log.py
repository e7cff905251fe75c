"""The log of feedback, read back as uses of the memory."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, field

from memgene.bank.protocol import Bank, Event, HistoryRow
from memgene.engine.credit.interaction import Exposure

FEEDBACK, LOG, LEARN = "feedback", "log", "learn"
"""Kinds of lessons: feedback that was applied at once, that was only logged, and idle work."""

EVERY = 1 << 62
"""More lessons than a bank will ever have."""


@dataclass(frozen=True, slots=True)
class Logged:
    """One feedback that stands: its lesson, what was asked, the reward, and what was shown.

    Memories that were erased since are not in `exposed`. `applied`: it was credited when given.
    """

    lesson: int
    query: str | None
    reward: float
    exposed: tuple[Exposure, ...]
    applied: bool

    @property
    def used(self) -> tuple[str, ...]:
        """Ids of the memories that count as used."""
        return tuple(one.unit_id for one in self.exposed if one.attribution == 1)


def read_log(bank: Bank) -> list[Logged]:
    """Every feedback that was not taken back, oldest first."""
    lessons = [one for one in reversed(bank.lessons(EVERY)) if one.kind in (FEEDBACK, LOG)]
    rows: list[list[HistoryRow]] = [[] for _ in lessons]
    starts = [lesson.first for lesson in lessons]
    for row in bank.events(Event.FEEDBACK, after=starts[0] - 1 if starts else EVERY):
        place = bisect_right(starts, row.seq) - 1
        if row.seq <= lessons[place].last:
            rows[place].append(row)
    return [
        Logged(lesson.number, said.query, said.reward, tuple(said.exposed), lesson.kind == FEEDBACK)
        for lesson, found in zip(lessons, rows, strict=True)
        if (said := _said(found)) is not None
    ]


@dataclass(slots=True)
class _Said:
    query: str | None
    reward: float
    exposed: list[Exposure] = field(default_factory=list)


def _said(rows: Iterable[HistoryRow]) -> _Said | None:
    """What the rows of one feedback say; those of erased memories say nothing any more."""
    said: _Said | None = None
    for row in rows:
        if row.payload is None:
            continue
        if said is None:
            said = _Said(row.payload.get("query"), float(row.payload["reward"]))
        part = float(row.payload.get("attribution", 1.0))
        said.exposed.append(Exposure(row.unit_id, part))
    return said
