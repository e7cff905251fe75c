"""Importance that fades without use, and reinforcement by what is told again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from memgene.bank.unit import MemoryUnit
from memgene.engine.consolidation.settings import ConsolidationSettings
from memgene.retrieval.text import words

DECAY = "decay"
"""Metadata of a unit whose importance fades: `from` what, and the last value written (`to`).
Decay is computed from the first, so that it does not depend on how often it is done."""

_LEAST_CHANGE = 0.005


def faded(unit: MemoryUnit, now: datetime, settings: ConsolidationSettings) -> MemoryUnit:
    """The unit with the importance it has at `now`; the unit itself where nothing changes.

    importance = base · 2^(−(days − decay_after) / half_life) for days without use (since it was
    stored or last accessed) above `decay_after_days`, never under `least_importance`. A unit that
    is used again has its full importance back; one whose importance was set anew fades from there.
    """
    base = unfaded(unit).importance
    days = _days_unused(unit, now)
    if days <= settings.decay_after_days:
        value = base
    else:
        share = 0.5 ** ((days - settings.decay_after_days) / settings.half_life_days)
        value = max(min(base, settings.least_importance), base * share)
    if abs(value - unit.importance) < _LEAST_CHANGE:
        return unit
    metadata = {key: v for key, v in unit.metadata.items() if key != DECAY}
    if value != base:
        metadata[DECAY] = {"from": base, "to": value}
    return replace(unit, importance=value, metadata=metadata)


def unfaded(unit: MemoryUnit) -> MemoryUnit:
    """The unit with the importance it had before decay (it was set anew: with that one)."""
    noted = unit.metadata.get(DECAY)
    if noted is None:
        return unit
    metadata = {key: v for key, v in unit.metadata.items() if key != DECAY}
    base = noted["from"] if noted["to"] == unit.importance else unit.importance
    return replace(unit, importance=base, metadata=metadata)


def reinforced(units: Sequence[MemoryUnit], settings: ConsolidationSettings) -> dict[str, int]:
    """New reinforcement by unit id, where it grows: one for every entity that another unit of the
    same owner names too, up to the cap."""
    named = {unit.id: _entities(unit) for unit in units}
    tellers = Counter((unit.scope, name) for unit in units for name in named[unit.id])
    grown = {}
    for unit in units:
        shared = sum(tellers[unit.scope, name] > 1 for name in named[unit.id])
        count = min(shared, settings.most_reinforcement)
        if count > unit.reinforcement:
            grown[unit.id] = count
    return grown


def _days_unused(unit: MemoryUnit, now: datetime) -> float:
    used = [moment for moment in (unit.created, unit.last_accessed) if moment is not None]
    return max(0.0, min((_days(now, moment) for moment in used), default=0.0))


def _days(now: datetime, then: datetime) -> float:
    if (now.tzinfo is None) != (then.tzinfo is None):
        now, then = now.replace(tzinfo=None), then.replace(tzinfo=None)
    return (now - then).total_seconds() / 86400


def _entities(unit: MemoryUnit) -> list[tuple[str, ...]]:
    return list(dict.fromkeys(tuple(words(name)) for name in unit.entities if words(name)))
