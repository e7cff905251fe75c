"""From an item that passed the checks to a unit: dates worked out, labels checked, turns cited."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time
from typing import Any

from memgene.bank.unit import MemoryUnit, UnitType
from memgene.core import Episode, Scope
from memgene.engine.extraction.items import Item
from memgene.engine.extraction.mentions import period_of
from memgene.engine.extraction.support import Source
from memgene.engine.extraction.turns import Turn
from memgene.retrieval.dates import Resolved, find_dates
from memgene.retrieval.periods import Grain

_PREPOSITION = re.compile(
    r"\b(?:on|in|at|since|until|till|by|from|for|during|around|before|after|of|to|over|the|than)\s*$",
    re.IGNORECASE,
)
_LEADING = re.compile(
    r"^(?:on|in|at|since|until|till|by|from|for|during|around|over)\s+(?:the\s+)?", re.IGNORECASE
)
_PRONOUN = re.compile(r"^(?P<owner>His|Her(?= [a-z])|Their)\b|^(?:He|She|They)\b")
_BEFORE: Mapping[Grain, str] = {
    Grain.DAY: "on",
    Grain.WEEKEND: "on the",
    Grain.WEEK: "in the",
    Grain.MONTH: "in",
    Grain.SEASON: "in",
    Grain.YEAR: "in",
}


@dataclass(frozen=True, slots=True)
class Fact:
    """A statement that stands alone, the turns it was made from, and when it happened (the first
    day of the period told, None where nothing is told)."""

    statement: str
    turns: tuple[Turn, ...]
    day: date | None
    item: Item

    @property
    def key(self) -> str:
        """Equal for facts that say the same in the same words."""
        return Item(self.statement).key


def fact_of(item: Item, turns: Sequence[Turn], source: Source) -> Fact:
    """An item about some turns as a fact.

    Relative dates in the statement become absolute ones, counted from the day of the turn. The
    item's date counts where the source backs it; one that the statement does not tell and that is
    longer than a day is added to it.
    """
    anchor = next((t.day for t in turns if t.day is not None), source.day)
    statement, told = _dated(_subject(item), anchor)
    if not told and item.date:
        found = find_dates(item.date, anchor)
        told = found[:1] if found and source.dated(period_of(found[0], item.date)) else []
        if told and told[0].grain is not Grain.DAY:
            statement = f"{statement.rstrip('.')} ({told[0].render()})."
    day = told[0].day if len(told) == 1 else None
    return Fact(statement, tuple(turns), day, item)


def unit_of(
    fact: Fact, episode: Episode, scope: Scope, source: Source, notes: Mapping[str, Any]
) -> MemoryUnit:
    """The unit a fact is stored as. Labels that the source does not hold are left out."""
    item = fact.item
    places = [turn.place for turn in fact.turns]
    speakers = {turn.speaker for turn in fact.turns}
    return MemoryUnit(
        content=fact.statement,
        scope=scope,
        type=UnitType.SEMANTIC,
        speaker=next(iter(speakers)) if len(speakers) == 1 else None,
        source=episode.id,
        turn_start=min(places, default=None),
        turn_end=max(places, default=None),
        refs=tuple(turn.ref for turn in fact.turns if turn.ref),
        persons=_held(item.persons, source),
        entities=_held(item.entities, source),
        locations=_held((item.location,), source),
        topics=(item.topic,) if item.topic else (),
        keywords=_held(item.keywords, source),
        event_time=_moment(fact, episode),
        metadata=dict(notes),
    )


def _held(labels: Sequence[str], source: Source) -> tuple[str, ...]:
    return tuple(label for label in labels if label and source.holds(label))


def _moment(fact: Fact, episode: Episode) -> datetime | None:
    """The day told; else when it was said, else the time of the episode."""
    said = next((turn.time for turn in fact.turns if turn.time is not None), episode.time)
    if fact.day is None or (said is not None and said.date() == fact.day):
        return said
    return datetime.combine(fact.day, time(), said.tzinfo if said else None)


def _subject(item: Item) -> str:
    """The statement, a pronoun at its start replaced by the one person it can mean."""
    match = _PRONOUN.match(item.fact)
    if match is None or len(item.persons) != 1:
        return item.fact
    name = f"{item.persons[0]}'s" if match["owner"] else item.persons[0]
    return name + item.fact[match.end() :]


def _dated(statement: str, anchor: date | None) -> tuple[str, list[Resolved]]:
    """The statement with relative dates made absolute, and the dates it tells."""
    found = find_dates(statement, anchor)
    for resolved in reversed(found):
        if resolved.relative:
            before, after = statement[: resolved.start], statement[resolved.end :]
            said = statement[resolved.start : resolved.end]
            statement = before + _absolute(resolved, said, before) + after
    return statement, found


def _absolute(found: Resolved, said: str, before: str) -> str:
    """`yesterday` → `on 7 May 2023`; `since last May` → `since May 2022`."""
    lead = "" if said == said.lstrip() else " "
    said = said.lstrip()
    opening = _LEADING.match(said)
    if opening:
        return f"{lead}{opening.group()}{found.render()}"
    if _PREPOSITION.search(before):
        return f"{lead}{found.render()}"
    article = _BEFORE[found.grain]
    phrase = f"{article} {found.render()}"
    return lead + (phrase[0].upper() + phrase[1:] if not before.strip() else phrase)
