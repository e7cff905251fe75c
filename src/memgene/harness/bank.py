"""The bank as a harness: an episode's messages or facts, read by a retrieval configuration."""

from __future__ import annotations

import threading
from collections.abc import Collection
from typing import TYPE_CHECKING

from memgene.bank import open_bank
from memgene.core import Context, Episode, Filled, content_hash
from memgene.embed.protocol import Embedder, WordVectors
from memgene.engine import MemoryEngine, compose
from memgene.engine.extraction import ExtractionReport, ExtractionSettings, Extractor, Guards
from memgene.engine.learned import LearnedMemory
from memgene.engine.linking import LinkSettings, RelationKind, TimeCheck
from memgene.engine.models import EngineModels
from memgene.harness.plain import PlainHarness
from memgene.retrieval.config import RetrievalConfig

if TYPE_CHECKING:
    from memgene.engine.reading import Retrieval


class BankHarness(PlainHarness):
    """An engine over an in-memory bank. Not a place for users' memories: see `memgene.Memory`.

    `learned` is what an earlier life of the memory learned (values, distilled memories), `links`
    how its units become a graph. Both come once what they are about was written: when the memory
    is first used after a write.
    """

    yields_hits = True
    thread_safe = True

    def __init__(
        self,
        name: str,
        engine: MemoryEngine,
        *,
        owns_bank: bool = True,
        extractor: Extractor | None = None,
        learned: LearnedMemory | None = None,
        links: LinkSettings | None = None,
        check: TimeCheck | None = None,
    ) -> None:
        self._engine = engine
        self._name = name
        self._owns_bank = owns_bank
        self._extractor = extractor
        self._learned = learned
        self._links = links
        self._check = check
        self._settled = learned is None and links is None
        self._lock = threading.Lock()

    @property
    def name(self) -> str:
        return self._name

    @property
    def engine(self) -> MemoryEngine:
        """The engine over what was written and, from here on, what was learned. Thread-safe."""
        if not self._settled:
            with self._lock:
                if not self._settled:
                    self._settle()
                self._settled = True
        return self._engine

    def write(self, item: Filled, episode: Episode) -> None:
        """Store the episode's messages, its facts, or both; `item` has no fields."""
        self._engine.remember(episode, extractor=self._extractor)
        self._settled = self._learned is None and self._links is None

    def _settle(self) -> None:
        if self._learned is not None:
            self._learned.apply(self._engine)
        if self._links is not None:
            self._engine.link(settings=self._links, check=self._check)

    @property
    def extraction(self) -> ExtractionReport:
        """What extraction did so far; all zero without it."""
        return self._engine.extractions.total

    def read(self, query: Filled) -> Context:
        """Rank for `query_text` and compose the context."""
        text = str(query.values["query_text"])
        engine = self.engine
        found: Retrieval = engine.retrieve(text, explained=engine.config.context_k)
        context, shown = compose(found)
        return Context(
            text=context,
            hits=found.hits,
            shown=shown,
            pool=found.pool,
            plan=found.plan,
            notes=found.notes,
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
            self._engine.bank.close()


class BankHarnessFactory:
    """Makes bank harnesses of one configuration. Written banks can be read by another one.

    `models` serve the levers that need a language model; `guards` are those of extraction, all on
    except in an ablation. `learned` is added to every memory when it is written; it is a part of
    what is written, so that only memories with equal learning are shared. A configuration that
    expands along time edges (`graph_expansion`) has its memories linked in time, where `check`
    finds that consecutive units belong together (None: they do).

    Raises ConfigError when the configuration needs a model that is not there.
    """

    def __init__(
        self,
        config: RetrievalConfig,
        embedder: Embedder | None,
        words: WordVectors | None = None,
        name: str = "bank",
        models: EngineModels | None = None,
        guards: Guards | None = None,
        learned: LearnedMemory | None = None,
        check: TimeCheck | None = None,
    ) -> None:
        self.config = config
        self._embedder = embedder
        self._words = words
        self._name = name
        self._models = models or EngineModels()
        self._models.check(config)
        self._learned = None if learned is None or learned.is_empty else learned
        self._learned_key = "" if self._learned is None else self._learned.digest
        self._links = LinkSettings(kinds=(RelationKind.TIME,)) if config.graph_expansion else None
        self._check = check
        self._extractor = self._make_extractor(guards)

    @property
    def write_key(self) -> str:
        """Equal for all configurations that store the same units: over one embedder and, where
        facts are extracted, with one extractor (its model, settings and prompts); with the same
        learning."""
        written = [self._embedder.name if self._embedder else ""]
        if self._extractor is not None:
            written += [self.config.extraction, self._extractor.key]
        if self._learned is not None:
            written += ["learned", self._learned_key]
        if self._links is not None:
            written.append("linked" if self._check is None else "linked and checked")
        return "bank:" + content_hash("\x1f".join(written))[:12]

    def __call__(self) -> BankHarness:
        bank = open_bank(":memory:")
        engine = MemoryEngine(bank, self._embedder, self.config, self._words, self._models)
        return BankHarness(
            self._name,
            engine,
            extractor=self._extractor,
            learned=self._learned,
            links=self._links,
            check=self._check,
        )

    def memory(self, harness: object) -> object:
        """The engine that wrote, with what was learned."""
        assert isinstance(harness, BankHarness)
        return harness.engine

    def attach(self, memory: object) -> BankHarness:
        """Read the engine's bank with this factory's configuration."""
        assert isinstance(memory, MemoryEngine)
        engine = memory.with_config(self.config, self._models)
        return BankHarness(self._name, engine, owns_bank=False, extractor=self._extractor)

    def _make_extractor(self, guards: Guards | None) -> Extractor | None:
        if self.config.extraction == "off":
            return None
        assert self._models.extract is not None  # checked
        return Extractor(self._models.extract, ExtractionSettings.of(self.config, guards))
