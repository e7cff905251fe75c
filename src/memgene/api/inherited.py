"""What a genome learned, brought to a bank in use: once for each memory, never over its own life.

An evaluation writes a fresh memory and adds what was learned to it as a whole. A bank in use goes
on learning, and its owner deletes: what is there already, or was, is left alone.
"""

from __future__ import annotations

from collections.abc import Collection
from threading import Lock
from typing import TYPE_CHECKING

from memgene.bank.protocol import Bank, Value
from memgene.bank.unit import UnitStatus
from memgene.engine import MemoryEngine
from memgene.engine.learned import LearnedMemory, parents_of
from memgene.engine.linking import LinkSettings, RelationKind
from memgene.engine.linking.state import STATE as LINKS

if TYPE_CHECKING:
    from memgene.genome import GenomeBundle


class Inherited:
    """Learned values, distilled memories and links of a genome, for one bank. Thread-safe.

    Values come to units that have none, distilled memories where all they were built from is there
    and they never were, links where the configuration expands along them.
    """

    def __init__(self, genome: GenomeBundle | None) -> None:
        learned = None if genome is None else genome.memory
        plain = genome is not None and genome.program is None
        self._learned = learned if plain and learned is not None and not learned.is_empty else None
        self._links = plain and genome is not None and genome.config.graph_expansion
        self._lock = Lock()
        self._seen: int | None = None

    def into(self, engine: MemoryEngine) -> None:
        """Bring the bank level; nothing to do where it did not change since the last time."""
        if self._learned is None and not self._links:
            return
        with self._lock:
            bank, version = engine.bank, engine.bank.version()
            if version == self._seen:
                return
            if self._learned is not None:
                touched = None if self._seen is None else bank.changed_since(self._seen)
                lacking = _lacking(self._learned, bank, touched)
                if touched is None or lacking.values or lacking.distilled or lacking.retired:
                    lacking.apply(engine)
            if self._links:
                # What learning linked since stays linked its way; a first link is the evaluation's.
                known = bank.state(LINKS) is not None
                engine.link(settings=None if known else LinkSettings(kinds=(RelationKind.TIME,)))
            self._seen = version


def _lacking(learned: LearnedMemory, bank: Bank, touched: Collection[str] | None) -> LearnedMemory:
    """What of it the touched units of a bank (None: all) lack and never had."""
    near = None if touched is None else frozenset(touched)
    distilled = tuple(
        unit
        for unit in learned.distilled
        if (near is None or not near.isdisjoint(parents_of(unit))) and not bank.history(unit.id)
    )
    made = {unit.id for unit in distilled}
    about = [v for v in learned.values if near is None or v.unit_id in near or v.unit_id in made]
    have = _valued(bank, about)
    retired = [r for r in learned.retired if near is None or r.unit_id in near | made]
    active = {u.id for u in bank.get([r.unit_id for r in retired]) if u.status is UnitStatus.ACTIVE}
    return LearnedMemory(
        tuple(value for value in about if (value.unit_id, value.cluster) not in have),
        distilled,
        tuple(one for one in retired if one.unit_id in active | made),
        learned.clusters,
    )


def _valued(bank: Bank, values: Collection[Value]) -> set[tuple[str, str]]:
    ids = list(dict.fromkeys(value.unit_id for value in values))
    return {(value.unit_id, value.cluster) for value in bank.values(ids)}
