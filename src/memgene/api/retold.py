"""Episodes told again from the units of a bank: what a program's memory is made of.

A bank keeps turns. Where their source and times do not tell how they came in, their metadata does
(`MARK`), so that an episode told again is the episode that was written.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from memgene.bank.protocol import Bank
from memgene.bank.unit import MemoryUnit
from memgene.core import Episode, Message, stable_id
from memgene.engine.learned import is_distilled

MARK = "written_as"
"""Metadata that tells which write a turn came with, and the time of that episode."""
_ISO = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{6})?([+-]\d\d:\d\d(:\d\d)?)?")


@dataclass(frozen=True, slots=True)
class Retold:
    """An episode and the units it was told from. Equal `digest`, equal episode of equal units."""

    episode: Episode
    units: tuple[MemoryUnit, ...]

    @property
    def digest(self) -> str:
        """A hash of all of it that a program or an agent may see."""
        time = self.episode.time
        told = self.episode.id, None if time is None else time.isoformat(), self.episode.text
        return stable_id(*told, *(unit.id for unit in self.units))


def retold(units: Iterable[MemoryUnit]) -> list[Retold]:
    """The episodes of units (in insertion order, as `Bank.scan` gives them), oldest first.

    Units of one write are one episode; of others, those of one owner and source. What learning
    distilled was never said and is left out.
    """
    parts: dict[tuple[Any, ...], list[MemoryUnit]] = {}
    for unit in units:
        if not is_distilled(unit):
            key, _ = _mark(unit)
            parts.setdefault((unit.scope, unit.source or unit.id, key), []).append(unit)
    return [_told(part) for part in parts.values()]


def marked(
    units: Sequence[MemoryUnit], episode: Episode, bank: Bank, *, continues: bool
) -> list[MemoryUnit]:
    """The units of an episode, those that are new marked, where the turns alone would not tell how
    it came in: it `continues` a source, or has another time than its turns."""
    told = [unit for unit in units if unit.content.strip()]
    if not told or not (continues or episode.time != _time(told)):
        return list(units)
    identities = [unit.identity() for unit in told]
    stored = bank.twins(identities)
    key = stable_id(*identities)[:12]
    mark = [key, None if episode.time is None else episode.time.isoformat()]
    return [
        unit if unit.identity() in stored else replace(unit, metadata={**unit.metadata, MARK: mark})
        for unit in units
    ]


def kept_mark(unit: MemoryUnit) -> dict[str, Any]:
    """The mark of a unit, which a change of its metadata does not take away."""
    return {MARK: unit.metadata[MARK]} if MARK in unit.metadata else {}


def _told(part: Sequence[MemoryUnit]) -> Retold:
    ordered = tuple(sorted(part, key=lambda unit: (unit.turn_start or 0, unit.seq)))
    first = ordered[0]
    key, time = _mark(first)
    when = time if key else _time(ordered)
    name = first.source or first.id
    messages = tuple(
        Message(
            text=unit.content,
            id=unit.refs[0] if unit.refs else None,
            speaker=unit.speaker,
            time=None if unit.event_time == when else unit.event_time,
        )
        for unit in ordered
    )
    return Retold(Episode(name, messages, name, when, first.source), ordered)


def _time(units: Sequence[MemoryUnit]) -> datetime | None:
    """The time of an episode as its turns tell it: that of the first."""
    return units[0].event_time


def _mark(unit: MemoryUnit) -> tuple[str, datetime | None]:
    """What the mark says; nothing where there is none, or where somebody else wrote it."""
    match unit.metadata.get(MARK):
        case [str(key), None]:
            return key, None
        case [str(key), str(time)] if _ISO.fullmatch(time):
            return key, datetime.fromisoformat(time)
    return "", None
