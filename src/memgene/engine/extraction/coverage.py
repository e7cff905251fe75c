"""What a window says and no fact mentions: names, numbers and dates (EvolveMem §2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from memgene.engine.extraction.facts import Fact, period_told
from memgene.engine.extraction.mentions import Period, numbers_of
from memgene.engine.extraction.turns import Turn
from memgene.retrieval.text import stem, words


@dataclass(frozen=True, slots=True)
class Gap:
    """A name, number or date of a turn that no fact mentions."""

    kind: str
    text: str
    turn: Turn


def gaps(turns: Sequence[Turn], facts: Sequence[Fact]) -> list[Gap]:
    """Gaps in the order of the turns, each name and number once. Speakers' names are none."""
    told = _Told(facts)
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
    """What facts mention."""

    def __init__(self, facts: Sequence[Fact]) -> None:
        self._stems = {stem(w) for f in facts for w in words(f.statement)}
        self.numbers = {n for f in facts for n in numbers_of(f.statement)}
        self._dates: list[Period] = []
        for fact in facts:
            anchor = next((t.day for t in fact.turns if t.day is not None), None)
            self._dates += period_told(fact, anchor)

    def names(self, stems: Sequence[str]) -> bool:
        """Whether every word of a name stands in some fact."""
        return all(s in self._stems for s in stems)

    def date(self, period: Period) -> bool:
        """Whether a fact tells a day of the period."""
        return any(d.first <= period.last and period.first <= d.last for d in self._dates)
