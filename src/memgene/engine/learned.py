"""What learning added to freshly written memories, so that it can be added to others.

A run writes its memories anew for every evaluation; what was learned about them travels apart:
values, distilled memories, what was retired, and the kinds of query.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from memgene.bank.protocol import Bank, Filter, Value
from memgene.bank.unit import MemoryUnit, UnitStatus
from memgene.core import DataError
from memgene.engine.credit.distilling import DISTILLED, PARENTS
from memgene.engine.engine import MemoryEngine
from memgene.engine.learned_lines import Cluster, Retired, read_lines, write_lines
from memgene.retrieval.clusters import STATE, QueryClusters

_EVERYTHING = Filter(statuses=tuple(UnitStatus))


@dataclass(frozen=True, eq=False)
class LearnedMemory:
    """Ordered and free of times, so that equal learning is equal bytes (`digest`).

    `values` are sorted by unit and cluster; `distilled` units come after those they were built
    from, without what the bank itself keeps of them (status, times, counts, values).
    """

    values: tuple[Value, ...] = ()
    distilled: tuple[MemoryUnit, ...] = ()
    retired: tuple[Retired, ...] = ()
    clusters: QueryClusters = field(default_factory=QueryClusters)

    @classmethod
    def empty(cls) -> LearnedMemory:
        """Nothing learned."""
        return cls()

    @classmethod
    def of(cls, banks: Sequence[Bank]) -> LearnedMemory:
        """What these banks have learned, pooled.

        Values of a unit that several banks hold are averaged by exposures; a unit is retired
        where no bank has it active. Raises InputError when the kinds of query of the banks are
        of different embedders.
        """
        values: dict[tuple[str, str], list[Value]] = {}
        distilled: dict[str, MemoryUnit] = {}
        retired: dict[str, Retired] = {}
        active: set[str] = set()
        clusters = QueryClusters()
        for bank in banks:
            for value in bank.all_values():
                values.setdefault((value.unit_id, value.cluster), []).append(value)
            for unit in bank.scan(None, _EVERYTHING):
                made = is_distilled(unit)
                if made:
                    distilled.setdefault(unit.id, _bare(unit))
                if unit.status is UnitStatus.ARCHIVED:
                    retired.setdefault(unit.id, Retired(unit.id, unit.status))
                elif made and unit.status is UnitStatus.SUPERSEDED:
                    by = Retired(unit.id, unit.status, unit.superseded_by)
                    retired.setdefault(unit.id, by)
                else:
                    active.add(unit.id)
            state = bank.state(STATE)
            if state is not None:
                clusters = clusters.joined(QueryClusters.from_bytes(state))
        return cls(
            tuple(pooled(values[key]) for key in sorted(values)),
            tuple(distilled.values()),
            tuple(retired[unit] for unit in sorted(retired) if unit not in active),
            clusters,
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, LearnedMemory):
            return NotImplemented
        return self is other or self.to_jsonl() == other.to_jsonl()

    def __hash__(self) -> int:
        return hash(self.digest)

    @property
    def is_empty(self) -> bool:
        """Whether nothing was learned."""
        return not (self.values or self.distilled or self.retired or len(self.clusters))

    def apply(self, engine: MemoryEngine) -> None:
        """Add to a memory what fits it, in one transaction; doing it again changes nothing.

        Distilled memories whose parents are all there are written; values and retirements are
        set for units that are there. Kinds of query, and values for them, fit memories of the
        same embedder.
        """
        bank, name = engine.bank, "" if engine.embedder is None else engine.embedder.name
        fits = self.clusters.embedder == name
        with bank.atomic():
            self._write_distilled(engine)
            here = bank.existing([value.unit_id for value in self.values])
            bank.set_values(
                [v for v in self.values if v.unit_id in here and (fits or not v.cluster)]
            )
            if fits and len(self.clusters):
                kept = QueryClusters.read(bank.state(STATE), engine.embedder)
                bank.set_state(STATE, kept.joined(self.clusters).to_bytes())
            for (status, by), ids in self._retirements().items():
                if by is None or bank.existing([by]):
                    bank.set_status(ids, status, by)

    def to_jsonl(self) -> str:
        """As lines of JSON, lossless; see `learned_lines`."""
        pairs = zip(self.clusters.names, self.clusters.centroids, strict=True)
        kinds = [Cluster.of(name, centroid) for name, centroid in pairs]
        return write_lines(
            self.clusters.embedder, [*kinds, *self.distilled, *self.values, *self.retired]
        )

    @classmethod
    def from_jsonl(cls, text: str) -> LearnedMemory:
        """Inverse of `to_jsonl`. Raises DataError that names the line and the field."""
        embedder, things = read_lines(text)
        kinds = [thing for thing in things if isinstance(thing, Cluster)]
        clusters = QueryClusters(embedder=embedder)
        if kinds:
            rows = [kind.vector for kind in kinds]
            if len({len(row) for row in rows}) > 1:
                raise DataError("the clusters of what was learned have different dimensions")
            clusters = QueryClusters(tuple(kind.name for kind in kinds), np.stack(rows), embedder)
        return cls(
            tuple(thing for thing in things if isinstance(thing, Value)),
            tuple(thing for thing in things if isinstance(thing, MemoryUnit)),
            tuple(thing for thing in things if isinstance(thing, Retired)),
            clusters,
        )

    @cached_property
    def digest(self) -> str:
        """Twelve hex digits of the SHA-256 of the text."""
        return hashlib.sha256(self.to_jsonl().encode()).hexdigest()[:12]

    def _retirements(self) -> dict[tuple[UnitStatus, str | None], list[str]]:
        found: dict[tuple[UnitStatus, str | None], list[str]] = {}
        for one in self.retired:
            found.setdefault((one.status, one.superseded_by), []).append(one.unit_id)
        return found

    def _write_distilled(self, engine: MemoryEngine) -> None:
        named = {unit.id for unit in self.distilled}
        named.update(parent for unit in self.distilled for parent in parents_of(unit))
        here = set(engine.bank.existing(sorted(named)))
        new = []
        for unit in self.distilled:
            if unit.id not in here and here.issuperset(parents_of(unit)):
                here.add(unit.id)
                new.append(unit)
        if new:
            engine.write(new)


def is_distilled(unit: MemoryUnit) -> bool:
    """Whether a unit was made of an interaction rather than written."""
    return unit.metadata.get(DISTILLED) is True


def parents_of(unit: MemoryUnit) -> tuple[str, ...]:
    """Ids of the units that were shown when a distilled one came to be."""
    return tuple(unit.metadata.get(PARENTS, ()))


def pooled(values: Sequence[Value]) -> Value:
    """Values of one unit and cluster as one: their mean by exposures (plain, where nothing was
    ever exposed), with all exposures. One value alone is kept to the last bit."""
    if len(values) == 1:
        return values[0]
    count = sum(value.exposures for value in values)
    if count:
        q = sum(value.q * value.exposures for value in values) / count
    else:
        q = sum(value.q for value in values) / len(values)
    return Value(values[0].unit_id, values[0].cluster, min(1.0, max(0.0, q)), count)


def _bare(unit: MemoryUnit) -> MemoryUnit:
    fresh = MemoryUnit(unit.content)
    kept = ("utility", "reinforcement", "access_count", "status", "supersedes", "superseded_by")
    times = ("created", "updated", "last_accessed", "seq")
    return replace(unit, **{name: getattr(fresh, name) for name in (*kept, *times)})
