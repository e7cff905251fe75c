"""Keeping a memory that learns from growing without bound. Archives, never deletes.

CoEvo-Mem only adds. Here near-duplicate distilled memories become one, and beyond a limit the
least valuable units are archived, so that a bank can be used for years.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memgene.bank.protocol import Bank, Filter, Value, Vectors
from memgene.bank.unit import MemoryUnit, UnitStatus
from memgene.core import InputError, Scope
from memgene.embed.normalise import unit_rows
from memgene.engine.consolidation.values import Statement
from memgene.engine.credit.distilling import REWARD, SUCCESS
from memgene.engine.engine import MemoryEngine
from memgene.engine.learned import is_distilled, pooled

_BLOCK = 512
_COUNTED = Filter(statuses=(UnitStatus.ACTIVE, UnitStatus.SUPERSEDED))


@dataclass(frozen=True, slots=True)
class GrowthSettings:
    """`most` units are kept unarchived (None: all), superseded ones included. Distilled memories
    of cosine ≥ `similarity` are near-duplicates (ours: as in consolidation)."""

    most: int | None = None
    similarity: float = 0.95

    def __post_init__(self) -> None:
        if self.most is not None and self.most < 0:
            raise InputError(f"growth most must be 0 or more, got {self.most}")
        if not 0 <= self.similarity <= 1:
            raise InputError(f"growth similarity must lie in [0, 1], got {self.similarity}")


@dataclass(frozen=True, slots=True)
class GrowthReport:
    """Unarchived units before; ids that gave way to a near-duplicate (`merged`: which to which);
    ids that were archived, in the order they went."""

    units: int = 0
    merged: tuple[tuple[str, str], ...] = ()
    archived: tuple[str, ...] = ()


def control_growth(
    engine: MemoryEngine, settings: GrowthSettings, scope: Scope | None = None
) -> GrowthReport:
    """Merge near-duplicate distilled memories, then archive down to the limit; one transaction.

    1. Distilled memories of one owner and one outcome (reward on the same side of one half) that
       are near-duplicates, with equal numbers, dates, names and negations, become one: the one
       learned from most often stands, then the better, then the older. It takes over their values,
       averaged by exposures; they are superseded by it.
    2. Beyond `most` units, archived are first the superseded (oldest first), then those no reward
       and no read ever touched, then the others; among these, lowest value first, then oldest.

    Doing it again changes nothing. `scope`: whose memory; None takes all owners together.
    """
    bank = engine.bank
    with bank.atomic():
        units = list(bank.scan(scope, _COUNTED))
        values: dict[str, list[Value]] = defaultdict(list)
        for value in bank.all_values(scope):
            values[value.unit_id].append(value)
        merged = _merge(bank, units, values, settings.similarity)
        archived = _archive(bank, units, values, merged, settings.most)
    return GrowthReport(len(units), tuple(merged.items()), archived)


def _merge(
    bank: Bank, units: Sequence[MemoryUnit], values: dict[str, list[Value]], similarity: float
) -> dict[str, str]:
    """Let near-duplicates give way; which to which. `values` are updated."""
    alike: dict[object, list[MemoryUnit]] = defaultdict(list)
    for unit in units:
        if unit.status is UnitStatus.ACTIVE and is_distilled(unit):
            alike[unit.scope, _outcome(unit), Statement(unit).values].append(unit)
    gone: dict[str, str] = {}
    for group in alike.values():
        ranked = sorted(group, key=lambda u: (-_exposures(values[u.id]), -u.utility, u.seq))
        gone.update(_nearest_standing(bank, [unit.id for unit in ranked], similarity))
    taken: dict[str, list[Value]] = defaultdict(list)
    for unit_id, kept in gone.items():
        taken[kept] += values[unit_id]
        bank.set_status([unit_id], UnitStatus.SUPERSEDED, kept)
    for kept, more in taken.items():
        values[kept] = _joined(kept, values[kept], more)
        bank.set_values(values[kept])
    return gone


def _nearest_standing(bank: Bank, ids: Sequence[str], similarity: float) -> dict[str, str]:
    """For each unit that gives way, the nearest of those before it that stand."""
    if len(ids) < 2:
        return {}
    found, matrix = bank.vectors(ids)
    rows: Vectors = unit_rows(matrix)
    stands: NDArray[np.bool_] = np.any(rows, axis=1, keepdims=True)[:, 0]
    gone: dict[str, str] = {}
    for start in range(0, len(found), _BLOCK):
        cosines = rows[start : start + _BLOCK] @ rows[: start + _BLOCK].T
        for place, row in enumerate(cosines, start):
            near = np.where(stands[:place], row[:place], -1.0)
            if stands[place] and place and near.max() >= similarity:
                gone[found[place]] = found[int(near.argmax())]
                stands[place] = False
    return gone


def _joined(unit_id: str, own: Sequence[Value], more: Sequence[Value]) -> list[Value]:
    by_cluster: dict[str, list[Value]] = defaultdict(list)
    for value in (*own, *more):
        by_cluster[value.cluster].append(Value(unit_id, value.cluster, value.q, value.exposures))
    return [pooled(by_cluster[cluster]) for cluster in sorted(by_cluster)]


def _archive(
    bank: Bank,
    units: Sequence[MemoryUnit],
    values: dict[str, list[Value]],
    merged: dict[str, str],
    most: int | None,
) -> tuple[str, ...]:
    excess = 0 if most is None else len(units) - most
    if excess <= 0:
        return ()

    def worth(unit: MemoryUnit) -> tuple[int, float, int]:
        if unit.id in merged or unit.status is UnitStatus.SUPERSEDED:
            return 0, 0.0, unit.seq
        known = values[unit.id]
        used = unit.access_count > 0 or _exposures(known) > 0
        q = next((value.q for value in known if value.cluster == ""), unit.utility)
        return 1 + used, q, unit.seq

    going = [unit.id for unit in sorted(units, key=worth)[:excess]]
    bank.set_status(going, UnitStatus.ARCHIVED)
    return tuple(going)


def _exposures(values: Sequence[Value]) -> int:
    return sum(value.exposures for value in values if value.cluster == "")


def _outcome(unit: MemoryUnit) -> object:
    reward = unit.metadata.get(REWARD)
    return None if reward is None else reward >= SUCCESS
