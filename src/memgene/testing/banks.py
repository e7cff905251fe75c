"""Steps that the contract tests of every bank repeat."""

from __future__ import annotations

from typing import Any

from memgene.bank.protocol import Bank, Fate, Filter
from memgene.bank.unit import MemoryUnit, UnitStatus
from memgene.core import Scope


def put(bank: Bank, *units: MemoryUnit | str) -> list[str]:
    """Add units, all of which must be new; returns their ids."""
    receipts = bank.add([MemoryUnit(u) if isinstance(u, str) else u for u in units])
    assert [r.fate for r in receipts] == [Fate.ADDED] * len(units)
    return [r.id for r in receipts]


def found(
    bank: Bank, *terms: str, scope: Scope | None = None, where: Filter | None = None
) -> list[str]:
    """Ids of the ten best full-text matches, best first."""
    return [match.id for match in bank.search_text(terms, scope, 10, where)]


def everything(bank: Bank, *words: str) -> dict[str, Any]:
    """All that a reader of the bank can see, but for the history; `texts` tells what these words
    find."""
    every = Filter(statuses=tuple(UnitStatus))
    units = list(bank.scan(where=every))
    ids = [unit.id for unit in units]
    names, matrix = bank.all_vectors()
    return {
        "units": units,
        "vectors": (names, matrix.tolist()),
        "relations": bank.relations(ids),
        "values": bank.all_values(),
        "states": {name: bank.state(name) for name in bank.states()},
        "embedder": bank.embedder(),
        "texts": {word: sorted(found(bank, word)) for word in words},
    }
