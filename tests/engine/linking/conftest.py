"""What the tests of links share: edges by the texts of their ends, and a check by words."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from memgene.bank import Bank, Filter, MemoryUnit, Relation, RelationKind, UnitStatus

Edges = Callable[..., set[tuple[str, str]]]


def relations_of(bank: Bank) -> list[Relation]:
    """Every edge of a bank."""
    ids = [unit.id for unit in bank.scan(None, Filter(statuses=tuple(UnitStatus)))]
    return bank.relations(ids)


@pytest.fixture
def edges(bank: Bank) -> Edges:
    """Edges of the bank of one kind (or all), as pairs of what their ends say."""

    def read(kind: RelationKind | None = None) -> set[tuple[str, str]]:
        everything = bank.scan(None, Filter(statuses=tuple(UnitStatus)))
        said = {unit.id: unit.content for unit in everything}
        return {
            (said[edge.source_id], said[edge.target_id])
            for edge in relations_of(bank)
            if kind in (None, edge.kind)
        }

    return read


@dataclass
class SameWord:
    """Units belong together when they share a word; keeps the pairs it was asked about."""

    concurrency: int = 1
    asked: list[tuple[str, str]] = field(default_factory=list)

    def __call__(self, earlier: MemoryUnit, later: MemoryUnit) -> bool:
        self.asked.append((earlier.content, later.content))
        return bool(set(earlier.content.split()) & set(later.content.split()))


@pytest.fixture
def same_word() -> SameWord:
    return SameWord()
