"""What a window says and no fact mentions: names, numbers and dates (EvolveMem §2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from memgene.bank.unit import MemoryUnit
from memgene.engine.extraction.facts import Fact
from memgene.engine.extraction.mentions import Period, numbers_of, period_of
from memgene.engine.extraction.turns import Turn
from memgene.retrieval.dates import find_dates
from memgene.retrieval.periods import Grain
from memgene.retrieval.text import stem, words


@dataclass(frozen=True, slots=True)
class Gap:
    """A name, number or date of a turn that no fact mentions."""

    kind: str
    text: str
    turn: Turn


def gaps(turns: Sequence[Turn], facts: Sequence[Fact]) -> list[Gap]:
    """Gaps in the order of the turns, each name and number once. Speakers' names are none."""
    told = _Told()
    for fact in facts:
        told.add(fact.statement, next((t.day for t in fact.turns if t.day is not None), None))
        told.on(fact.day)
    return _gaps(turns, told)


def share_told(turns: Sequence[Turn], units: Sequence[MemoryUnit]) -> float:
    """Share of the names, numbers and dates of some turns that units mention; 1 without any."""
    told = _Told()
    for unit in units:
        day = None if unit.event_time is None else unit.event_time.date()
        told.add(unit.content, day)
        told.on(day)
    mentioned = len(_gaps(turns, _Told()))
    return 1.0 - len(_gaps(turns, told)) / mentioned if mentioned else 1.0


def _gaps(turns: Sequence[Turn], told: _Told) -> list[Gap]:
    speakers = {stem(w) for t in turns if t.speaker for w in words(t.speaker)}
    found: dict[tuple[str, str, str], Gap] = {}
    for turn in turns:
        for name in turn.mentions.names:
            stems = [s for s in name.stems if s not in speakers]
            if stems and not told.names(stems):
                found.setdefault(("name", " ".join(stems), ""), Gap("name", name.text, turn))
        for number in turn.mentions.numbers:
            if number not in told.numbers:
                found.setdefault(("number", number, ""), Gap("number", number, turn))
        for period in turn.mentions.dates:
            if not _is_now(period, turn) and not told.date(period):
                key = ("date", period.first.isoformat(), period.grain.name)
                found.setdefault(key, Gap("date", period.text, turn))
    return list(found.values())


def _is_now(period: Period, turn: Turn) -> bool:
    """Whether a date only says the day of the conversation, which every fact has."""
    return turn.day is not None and period.first <= turn.day <= period.last


class _Told:
    """What statements mention."""

    def __init__(self) -> None:
        self.numbers: set[str] = set()
        self._stems: set[str] = set()
        self._dates: list[Period] = []

    def add(self, statement: str, anchor: date | None) -> None:
        """A statement, its dates counted from a day."""
        self._stems.update(stem(w) for w in words(statement))
        self.numbers |= numbers_of(statement)
        self._dates += (period_of(r, statement) for r in find_dates(statement, anchor))

    def on(self, day: date | None) -> None:
        """The day a statement is about."""
        if day is not None:
            self._dates.append(Period(day, day, Grain.DAY))

    def names(self, stems: Sequence[str]) -> bool:
        """Whether every word of a name stands in some statement."""
        return all(s in self._stems for s in stems)

    def date(self, period: Period) -> bool:
        """Whether a statement tells a day of the period."""
        return any(d.first <= period.last and period.first <= d.last for d in self._dates)
