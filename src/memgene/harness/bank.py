"""The bank as a harness: one unit per message, read by a retrieval configuration."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from memgene.bank import open_bank
from memgene.core import Context, Episode, Filled, content_hash
from memgene.embed.protocol import Embedder, WordVectors
from memgene.engine import MemoryEngine, compose, units_from_episode
from memgene.harness.plain import PlainHarness
from memgene.retrieval.config import RetrievalConfig

if TYPE_CHECKING:
    from memgene.engine.reading import Retrieval


class BankHarness(PlainHarness):
    """An engine over an in-memory bank. Not a place for users' memories: see `memgene.Memory`."""

    yields_hits = True

    def __init__(self, name: str, engine: MemoryEngine, *, owns_bank: bool = True) -> None:
        self.engine = engine
        self._name = name
        self._owns_bank = owns_bank

    @property
    def name(self) -> str:
        return self._name

    def write(self, item: Filled, episode: Episode) -> None:
        """Store every message of the episode; `item` has no fields."""
        self.engine.write(units_from_episode(episode))

    def read(self, query: Filled) -> Context:
        """Rank for `query_text` and compose the context."""
        text = str(query.values["query_text"])
        found: Retrieval = self.engine.retrieve(text, explained=self.engine.config.context_k)
        context, shown = compose(found)
        return Context(
            text=context,
            hits=found.hits,
            shown=shown,
            pool=found.pool,
            notes={"question_type": found.question_type},
        )

    def holds(self, refs: Collection[str]) -> Collection[str]:
        """Those of these message or episode ids that a stored unit stands for."""
        stored: set[str] = set()
        for unit in self.engine.bank.scan(None):
            stored.update(unit.refs)
            if unit.source is not None:
                stored.add(unit.source)
        return stored.intersection(refs)

    def close(self) -> None:
        if self._owns_bank:
            self.engine.bank.close()


class BankHarnessFactory:
    """Makes bank harnesses of one configuration. Written banks can be read by another one."""

    def __init__(
        self,
        config: RetrievalConfig,
        embedder: Embedder | None,
        words: WordVectors | None = None,
        name: str = "bank",
    ) -> None:
        self.config = config
        self._embedder = embedder
        self._words = words
        self._name = name

    @property
    def write_key(self) -> str:
        """Equal for all configurations over one embedder: they store the same units."""
        return "bank:" + content_hash(self._embedder.name if self._embedder else "")[:12]

    def __call__(self) -> BankHarness:
        bank = open_bank(":memory:")
        return BankHarness(self._name, MemoryEngine(bank, self._embedder, self.config, self._words))

    def memory(self, harness: object) -> object:
        """The engine that wrote."""
        assert isinstance(harness, BankHarness)
        return harness.engine

    def attach(self, memory: object) -> BankHarness:
        """Read the engine's bank with this factory's configuration."""
        assert isinstance(memory, MemoryEngine)
        return BankHarness(self._name, memory.with_config(self.config), owns_bank=False)
