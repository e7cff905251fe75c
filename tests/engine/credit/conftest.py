"""A memory of six units, and what tests of credit ask of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing

import pytest

from memgene.bank import Bank, MemoryUnit, SqliteBank
from memgene.bank.protocol import Relation, RelationKind, Value
from memgene.embed.hashing import HashingEmbedder
from memgene.engine.credit.give import give_credit
from memgene.engine.credit.interaction import Credited, Exposure, Interaction
from memgene.engine.credit.settings import CreditSettings
from memgene.engine.engine import MemoryEngine
from memgene.retrieval.clusters import STATE

PLAIN = CreditSettings(conditional=False)
TEXTS = ("red kettle", "blue lamp", "green chair", "white door", "black stove", "grey rug")


class Memory:
    """Six units and an engine; units go by their place, 0 to 5."""

    def __init__(self, bank: Bank, embedder: HashingEmbedder | None = None) -> None:
        self.bank = bank
        self.engine = MemoryEngine(bank, embedder)
        self.ids = [r.id for r in self.engine.write([MemoryUnit(text) for text in TEXTS])]

    def value(self, place: int, q: float, cluster: str = "", exposures: int = 1) -> None:
        self.bank.set_values([Value(self.ids[place], cluster, q, exposures)])

    def give(
        self,
        parts: dict[int, float],
        reward: float,
        how: CreditSettings = PLAIN,
        query: str | None = None,
        distilled: MemoryUnit | None = None,
    ) -> Credited:
        shown = tuple(Exposure(self.ids[place], part) for place, part in parts.items())
        return give_credit(self.engine, Interaction(query, shown, reward, distilled), how)

    def q(self, place: int, cluster: str = "") -> float | None:
        return self.values().get((place, cluster), (None,))[0]

    def values(self) -> dict[tuple[int, str], tuple[float, int]]:
        return {
            (self.ids.index(v.unit_id), v.cluster): (v.q, v.exposures)
            for v in self.bank.values(self.ids)
        }

    def edge(self, kind: RelationKind, source: int, target: int) -> None:
        self.bank.relate([Relation(kind, self.ids[source], self.ids[target])])


@pytest.fixture
def memory(bank: Bank) -> Memory:
    return Memory(bank)


@pytest.fixture
def asked(bank: Bank) -> Memory:
    """A memory whose queries have kinds: texts without a common word are of different kinds."""
    return Memory(bank, HashingEmbedder(256))


Make = Callable[[Sequence[float], Sequence[tuple[RelationKind, int, int]]], Memory]


@pytest.fixture(scope="module")
def make() -> Iterator[Make]:
    """A memory with these values and edges, and nothing else; one bank serves all examples."""
    with closing(SqliteBank(":memory:")) as bank:

        def clean(
            starts: Sequence[float], edges: Sequence[tuple[RelationKind, int, int]]
        ) -> Memory:
            bank.delete([unit.id for unit in bank.scan()])
            bank.set_state(STATE, None)
            memory = Memory(bank, HashingEmbedder(64))
            for place, q in enumerate(starts):
                memory.value(place, q)
            bank.relate([Relation(k, memory.ids[a], memory.ids[b]) for k, a, b in edges])
            return memory

        yield clean
