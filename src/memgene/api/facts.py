"""Adding to a memory whose configuration has a language model extract facts."""

from __future__ import annotations

from dataclasses import replace

from memgene.api.messages import Handed
from memgene.api.results import Added
from memgene.bank.protocol import Fate
from memgene.core import Scope
from memgene.engine import MemoryEngine


def add_with_facts(engine: MemoryEngine, handed: Handed, scope: Scope) -> tuple[Added, ...]:
    """Store an episode as `engine.remember` does; one entry for every turn or fact, then one for
    every message without words.

    The episode's metadata is added to that of every unit that is new.
    """
    episode = handed.episode
    receipts = engine.remember(episode, scope).receipts
    fresh = [receipt.id for receipt in receipts if receipt.fate is Fate.ADDED]
    if episode.metadata:
        with engine.bank.atomic():
            for unit in engine.bank.get(fresh):
                engine.bank.update(replace(unit, metadata={**unit.metadata, **episode.metadata}))
    wordless = [Added.wordless(note) for message, note in handed if not message.content.strip()]
    return (*(Added.of(receipt) for receipt in receipts), *wordless)
