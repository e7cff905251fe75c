"""The units of a reader in memory, group by group, as they were at their last link."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from memgene.bank.protocol import Bank, Filter, RelationKind, Vectors
from memgene.bank.unit import MemoryUnit, UnitStatus
from memgene.core import Scope
from memgene.engine.linking.frame import Frame
from memgene.engine.linking.group import Edge, Group, Moved, Node
from memgene.engine.linking.progress import Meter
from memgene.engine.linking.settings import LinkSettings
from memgene.engine.linking.verdicts import Pair

Owner = tuple[str | None, str | None]
"""User and agent: units of different ones are never linked."""

_HOLES = 1000
_EVERY = Filter(statuses=tuple(UnitStatus))


@dataclass(frozen=True, slots=True)
class Followed:
    """What following the bank touched, by owner; ids of the units that were taken in, and of those
    that are not active."""

    moved: dict[Owner, Moved]
    active: frozenset[str]
    gone: tuple[str, ...]

    @property
    def ids(self) -> list[str]:
        """All units whose edges may differ."""
        touched = (i for moved in self.moved.values() for i in moved.ids)
        return list(dict.fromkeys([*touched, *self.gone]))

    @property
    def pairs(self) -> list[Pair]:
        """Units that are consecutive only now."""
        return [pair for moved in self.moved.values() for pair in moved.pairs]

    @property
    def units(self) -> int:
        """How many had their neighbours worked out."""
        return sum(moved.units for moved in self.moved.values())


class View:
    """Groups of what a reader may see (None: of all owners); `version` is the bank's version they
    are level with, −1 before they are read."""

    def __init__(self, reader: Scope | None, frame: Frame, settings: LinkSettings) -> None:
        self.reader = reader
        self._frame = frame
        self._settings = settings
        self._groups: dict[Owner, Group] = {}
        self.version = -1

    def group(self, owner: Owner) -> Group:
        """The units of an owner."""
        if owner not in self._groups:
            self._groups[owner] = Group(self._frame, self._settings)
        return self._groups[owner]

    def read(self, bank: Bank, meter: Meter) -> Followed:
        """Take in all units, from nothing."""
        self._groups.clear()
        units, idle = list[MemoryUnit](), list[str]()
        for unit in bank.scan(self.reader, _EVERY):
            if unit.status is UnitStatus.ACTIVE:
                units.append(unit)
            else:
                idle.append(unit.id)
        found = bank.all_vectors(self.reader) if self._has_vectors else None
        return self._take(units, found, idle, meter)

    def follow(self, bank: Bank, changed: Iterable[str], meter: Meter) -> Followed:
        """Take in what became of some units."""
        ids = sorted(changed)
        units = list(bank.scan(self.reader, ids=ids))
        found = bank.vectors([u.id for u in units]) if self._has_vectors else None
        active = {unit.id for unit in units}
        return self._take(units, found, [i for i in ids if i not in active], meter)

    @property
    def worn(self) -> bool:
        """Whether most of what is held is of units that went or changed."""
        groups = self._groups.values()
        return sum(g.holes for g in groups) > _HOLES + sum(len(g) for g in groups)

    def refuse(self, followed: Followed, pairs: Iterable[Pair]) -> None:
        """These consecutive units do not belong together."""
        owner = {pair: owner for owner, moved in followed.moved.items() for pair in moved.pairs}
        for pair in pairs:
            self._groups[owner[pair]].refuse(*pair)

    def edges(self, followed: Followed) -> dict[Edge, float]:
        """All edges there are to be that touch any of the units followed."""
        found: dict[Edge, float] = {}
        for owner, moved in followed.moved.items():
            if owner in self._groups:
                found.update(self._groups[owner].edges(moved.ids))
        return found

    @property
    def _lists(self) -> int:
        """How many lists of neighbours a unit has."""
        kinds = self._settings.kinds
        return (RelationKind.DENSE in kinds and self._has_vectors) + (RelationKind.SPARSE in kinds)

    @property
    def _has_vectors(self) -> bool:
        return self._frame.embedder is not None

    def _take(
        self,
        units: Sequence[MemoryUnit],
        vectors: tuple[Sequence[str], Vectors] | None,
        gone: Sequence[str],
        meter: Meter,
    ) -> Followed:
        vector = {} if vectors is None else dict(zip(*vectors, strict=True))
        nodes: dict[Owner, list[Node]] = {}
        home: dict[str, Owner] = {}
        for unit in units:
            owner = home[unit.id] = unit.scope.user_id, unit.scope.agent_id
            nodes.setdefault(owner, []).append(Node.of(unit, vector.get(unit.id)))
        left = {
            owner: [i for i in (*gone, *home) if i in group and home.get(i) != owner]
            for owner, group in self._groups.items()
        }
        meter.expect(len(units) * self._lists)
        moved: dict[Owner, Moved] = {}
        for owner in dict.fromkeys([*left, *nodes]):
            out, into = left.get(owner, []), nodes.get(owner, [])
            if out or into:
                group = self.group(owner)
                moved[owner] = group.update(out, into, meter.told)
                if not len(group):
                    del self._groups[owner]
        return Followed(moved, frozenset(home), tuple(gone))
