"""Steps that the contract tests of every bank repeat."""

from __future__ import annotations

from memgene.bank.protocol import Bank, Fate, Filter
from memgene.bank.unit import MemoryUnit
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
