"""Adding to a memory whose configuration has a language model extract facts."""

from __future__ import annotations

from dataclasses import replace

from memgene.api.results import Added
from memgene.bank.protocol import Fate
from memgene.core import Episode, Scope
from memgene.engine import MemoryEngine


def add_with_facts(engine: MemoryEngine, episode: Episode, scope: Scope) -> tuple[Added, ...]:
    """Store an episode as `engine.remember` does; one entry for every turn or fact.

    The episode's metadata is added to that of every unit that is new.
    """
    receipts = engine.remember(episode, scope).receipts
    fresh = [receipt.id for receipt in receipts if receipt.fate is Fate.ADDED]
    if episode.metadata:
        with engine.bank.atomic():
            for unit in engine.bank.get(fresh):
                engine.bank.update(replace(unit, metadata={**unit.metadata, **episode.metadata}))
    return tuple(Added.of(receipt) for receipt in receipts)
