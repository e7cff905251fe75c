"""Looking after a memory: checks, counts, order, moving in and out."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import IO

from memgene.api import exchange
from memgene.api.filters import read_scope, scope_if_given
from memgene.api.messages import read_time
from memgene.api.results import (
    Added,
    Consolidation,
    Count,
    Finding,
    ImportReceipt,
    Stats,
    Verification,
)
from memgene.bank.protocol import Bank
from memgene.core import InputError, SystemClock
from memgene.engine import MemoryEngine


class Upkeep:
    """What `Memory` does with what it holds as a whole."""

    _bank: Bank

    @property
    def _engine(self) -> MemoryEngine:
        raise NotImplementedError

    def verify(self) -> Verification:
        """Check every index row, vector, relation and history row against the facts."""
        problems = self._bank.verify()
        return Verification(tuple(Finding(p.where, p.unit_id, p.what) for p in problems))

    def stats(
        self,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
    ) -> Stats:
        """Counts and size, of one owner or of the whole bank."""
        return Stats.of(self._bank.stats(scope_if_given(user_id, agent_id, run_id)))

    def export(self, target: str | Path | IO[str]) -> Count:
        """Write every memory with its vector, relations and values as JSON lines."""
        return Count(exchange.export(self._bank, target))

    def import_(self, origin: str | Path | IO[str]) -> ImportReceipt:
        """Read what `export` wrote, all or nothing; memories that are already there are merged.

        Vectors are taken as they are when this memory's embedder made them; otherwise they are
        set aside, and the memories embedded anew.
        """
        return exchange.read(self._engine, origin)

    def consolidate(
        self,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        now: datetime | str | None = None,
        all: bool = False,
    ) -> Consolidation:
        """Put facts in order: near-duplicates and outdated values give way (superseded, with their
        lineage, never erased), importance fades without use, shared entities reinforce.

        What differs in a number, date, name or negation is never taken for a duplicate; turns of a
        conversation are left as they are. `now` (default: the clock) is what fading counts from.
        One owner's memories, or with `all=True` every owner's, each for themselves.
        """
        scope = read_scope(user_id, agent_id, run_id)
        if all and scope_if_given(user_id, agent_id, run_id) is not None:
            raise InputError("consolidate takes a scope or all=True, not both")
        moment = read_time(now) or SystemClock().now()
        found = self._engine.consolidate(None if all else scope, moment)
        return Consolidation(
            tuple(Added.of(receipt) for receipt in found.receipts),
            units=found.units,
            duplicates=found.duplicates,
            outdated=found.outdated,
            faded=found.faded,
            reinforced=found.reinforced,
        )
