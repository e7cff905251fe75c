"""One pass over a bank that loses nothing: what gives way keeps its lineage to what stands.

Source: EvolveMem §2 (store quality). Each step can be undone from the history, which keeps the
values before.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import numpy as np

from memgene.bank.protocol import Bank, Fate, UnitReceipt, Vectors
from memgene.bank.unit import MemoryUnit, UnitStatus, UnitType
from memgene.core import Scope
from memgene.engine.consolidation.attributes import Attribute, attribute_of
from memgene.engine.consolidation.settings import ConsolidationSettings
from memgene.engine.consolidation.values import Statement
from memgene.engine.consolidation.weights import faded, reinforced, unfaded

_STATES = (UnitType.PREFERENCE, UnitType.PROJECT_STATE)
_LISTS = ("refs", "entities", "persons", "locations", "topics", "keywords", "tags")


@dataclass(frozen=True, slots=True)
class ConsolidationReport:
    """Units looked at; near-duplicates and changed values that gave way; units whose importance
    faded or whose reinforcement grew. One receipt for each unit that gave way."""

    units: int = 0
    duplicates: int = 0
    outdated: int = 0
    faded: int = 0
    reinforced: int = 0
    receipts: tuple[UnitReceipt, ...] = ()


def consolidate(
    bank: Bank,
    scope: Scope | None,
    now: datetime,
    settings: ConsolidationSettings | None = None,
) -> ConsolidationReport:
    """Put the active units that a scope admits (None: all owners) in order, in one transaction.

    1. Near-duplicates: of two statements of one owner with equal numbers, dates, names, negations
       and day, the one that says all the other says stands for both (cosine ≥ `similarity`).
    2. Changed values: the newest event of an attribute supersedes the older ones.
    3. Importance fades without use; 4. entities told again reinforce the units that tell them.

    Turns of a conversation are a record, not claims: steps 1 and 2 leave them alone. A second pass
    at the same moment changes nothing.
    """
    chosen = settings or ConsolidationSettings()
    with bank.atomic():
        pass_ = _Pass(bank, list(bank.scan(scope)), chosen)
        pass_.merge_duplicates()
        pass_.supersede_outdated()
        return pass_.weigh(now)


class _Pass:
    """A consolidation under way; `units` are those that stand, by id."""

    def __init__(
        self, bank: Bank, units: Sequence[MemoryUnit], settings: ConsolidationSettings
    ) -> None:
        self._bank = bank
        self._settings = settings
        self._units = {unit.id: unit for unit in units}
        self._examined = len(units)
        self._receipts: list[UnitReceipt] = []
        self._duplicates = self._outdated = 0

    def merge_duplicates(self) -> None:
        """Let near-duplicates give way to the one that says most."""
        buckets: dict[object, list[Statement]] = defaultdict(list)
        for unit in self._claims():
            statement = Statement(unit)
            buckets[unit.scope, _day(unit), statement.values].append(statement)
        for statements in buckets.values():
            if len(statements) > 1:
                self._merge(statements)

    def supersede_outdated(self) -> None:
        """Let the values of an attribute give way to newer ones."""
        known: dict[object, list[tuple[MemoryUnit, Attribute]]] = defaultdict(list)
        for unit in self._claims():
            attribute = attribute_of(unit.content)
            if attribute is not None and unit.event_time is not None:
                key = (unit.scope, attribute.subject, attribute.name)
                known[key].append((unit, attribute))
        for told in known.values():
            for unit, attribute in told:
                newer = _next_value(unit, attribute, told)
                if newer is not None:
                    self._outdated += 1
                    day = newer.event_time.date() if newer.event_time else ""
                    self._give_way(unit, newer, f"a newer value was told for {day}")

    def weigh(self, now: datetime) -> ConsolidationReport:
        """Fade and reinforce what stands; returns the report."""
        standing = list(self._units.values())
        grown = reinforced(standing, self._settings)
        fading = 0
        for unit in standing:
            changed = faded(unit, now, self._settings)
            fading += changed is not unit
            if unit.id in grown:
                changed = replace(changed, reinforcement=grown[unit.id])
            if changed is not unit:
                self._bank.update(changed)
        return ConsolidationReport(
            self._examined,
            self._duplicates,
            self._outdated,
            fading,
            len(grown),
            tuple(self._receipts),
        )

    def _claims(self) -> list[MemoryUnit]:
        """Units that state something, in insertion order."""
        return [u for u in self._units.values() if not _is_record(u)]

    def _merge(self, statements: list[Statement]) -> None:
        ranked = sorted(statements, key=_goodness, reverse=True)
        vectors = self._vectors([s.unit.id for s in ranked])
        standing: list[Statement] = []
        for statement in ranked:
            better = next((s for s in standing if self._covers(s, statement, vectors)), None)
            if better is None:
                standing.append(statement)
                continue
            self._duplicates += 1
            kept = self._enrich(better.unit, statement.unit)
            standing[standing.index(better)] = Statement(kept)
            self._give_way(statement.unit, kept, "it says what another unit says")

    def _covers(self, better: Statement, other: Statement, vectors: dict[str, Vectors]) -> bool:
        if not better.stands_for(other):
            return False
        if better.words == other.words:
            return True
        one, two = vectors.get(better.unit.id), vectors.get(other.unit.id)
        if one is None or two is None:
            return False  # nothing says how near they are
        length = float(np.linalg.norm(one) * np.linalg.norm(two))
        return length > 0 and float(one @ two) >= self._settings.similarity * length

    def _vectors(self, ids: Sequence[str]) -> dict[str, Vectors]:
        found, matrix = self._bank.vectors(ids)
        return dict(zip(found, matrix, strict=True))

    def _enrich(self, kept: MemoryUnit, other: MemoryUnit) -> MemoryUnit:
        """The unit that stands, with the labels and turns of the one that gives way."""
        joined: dict[str, Any] = {
            name: tuple(dict.fromkeys((*getattr(kept, name), *getattr(other, name))))
            for name in _LISTS
        }
        whole = unfaded(kept)
        changed = replace(
            whole,
            importance=max(whole.importance, unfaded(other).importance),
            confidence=max(kept.confidence, other.confidence),
            reinforcement=max(kept.reinforcement, other.reinforcement),
            **joined,
        )
        return self._update(kept, changed)

    def _give_way(self, old: MemoryUnit, new: MemoryUnit, why: str) -> None:
        self._bank.set_status([old.id], UnitStatus.SUPERSEDED, new.id)
        del self._units[old.id]
        reason = f"superseded by {new.id}: {why}"
        self._receipts.append(UnitReceipt(old.id, Fate.SUPERSEDED, old.content, reason))
        current = self._units.get(new.id)
        if current is not None and current.supersedes is None:
            self._update(current, replace(current, supersedes=old.id))

    def _update(self, old: MemoryUnit, new: MemoryUnit) -> MemoryUnit:
        stored = self._bank.update(new) if new != old else old
        self._units[old.id] = stored
        return stored


def _is_record(unit: MemoryUnit) -> bool:
    return unit.type is UnitType.EPISODIC and unit.speaker is not None


def _day(unit: MemoryUnit) -> object:
    """What happened on different days happened twice; a state may be told on any day."""
    if unit.type in _STATES or unit.event_time is None:
        return unit.event_time is None and unit.type not in _STATES
    return unit.event_time.date()


def _goodness(statement: Statement) -> tuple[object, ...]:
    unit = statement.unit
    return (len(statement.words), unit.confidence, unit.importance, -unit.seq)


def _next_value(
    unit: MemoryUnit, attribute: Attribute, told: Iterable[tuple[MemoryUnit, Attribute]]
) -> MemoryUnit | None:
    """The first later event with another value."""
    later = [
        other for other, said in told if said.changes(attribute) and _plain(other) > _plain(unit)
    ]
    return min(later, key=lambda u: (_plain(u), u.seq)) if later else None


def _plain(unit: MemoryUnit) -> datetime:
    """Event times are compared as given."""
    assert unit.event_time is not None
    return unit.event_time.replace(tzinfo=None)
