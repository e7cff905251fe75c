"""The engine: a bank, an embedder and a configuration, working as one memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from memgene.bank.protocol import Bank, Filter, UnitReceipt
from memgene.bank.unit import MemoryUnit
from memgene.core import Episode, Scope
from memgene.embed.protocol import Embedder, WordVectors
from memgene.engine.consolidation import (
    ConsolidationReport,
    ConsolidationSettings,
    consolidate,
)
from memgene.engine.extraction import ExtractionSettings, Extractor
from memgene.engine.indices import IndexStore, ScopedIndex
from memgene.engine.merging import MergedRanking, merge
from memgene.engine.models import EngineModels
from memgene.engine.planning import plan_queries
from memgene.engine.reading import Retrieval, hits_of
from memgene.engine.remembering import ExtractionLog, Remembered, remember
from memgene.engine.reranking import rerank
from memgene.engine.writing import write_units
from memgene.retrieval.config import RetrievalConfig
from memgene.retrieval.features.candidates import Candidates
from memgene.retrieval.index import day_number
from memgene.retrieval.question_type import predict_type
from memgene.retrieval.retriever import Ranking

DEFAULT_LIMIT = 50


class MemoryEngine:
    """Writes units with their vectors and reads rankings. Thread-safe; it does not own the bank.

    `words` gives static word vectors for the soft match view; by default the embedder's own if
    it is static, else none. `config` can be swapped without touching the indices. `models` serve
    the levers that need one; a configuration that needs a model that is not there is refused
    (ConfigError).
    """

    def __init__(
        self,
        bank: Bank,
        embedder: Embedder | None,
        config: RetrievalConfig | None = None,
        words: WordVectors | None = None,
        models: EngineModels | None = None,
    ) -> None:
        self.bank = bank
        self.embedder = embedder
        self.config = config or RetrievalConfig()
        self.models = models or EngineModels()
        self.models.check(self.config)
        if words is None and isinstance(embedder, WordVectors):
            words = embedder
        self._indices = IndexStore(bank, embedder, words)
        self.extractions = ExtractionLog()

    def with_config(
        self, config: RetrievalConfig, models: EngineModels | None = None
    ) -> MemoryEngine:
        """The same memory read with another configuration, and by other language models where
        some are given; indices and caches are shared."""
        models = models or self.models
        models.check(config)
        other = MemoryEngine.__new__(MemoryEngine)
        other.bank, other.embedder, other.config = self.bank, self.embedder, config
        other.models, other._indices = models, self._indices
        other.extractions = self.extractions
        return other

    def write(self, units: Sequence[MemoryUnit]) -> list[UnitReceipt]:
        """Store units with vectors, one receipt a unit, one transaction."""
        return write_units(self.bank, self.embedder, units)

    def remember(
        self, episode: Episode, scope: Scope | None = None, extractor: Extractor | None = None
    ) -> Remembered:
        """Store an episode as the configuration says: turns, extracted facts, or both.

        `extractor` stands in for the one that the configuration and `models.extract` make. What
        extractions did adds up in `extractions`. Raises BudgetExhaustedError and ConfigError of
        the model's calls; a call without reply loses nothing, the turns are stored as they are.
        """
        mode = self.config.extraction
        if mode != "off" and extractor is None:
            assert self.models.extract is not None  # the configuration was checked
            extractor = Extractor(self.models.extract, ExtractionSettings.of(self.config))
        stored = remember(
            self.bank,
            self.embedder,
            episode,
            scope,
            None if mode == "off" else extractor,
            verbatim=mode != "facts",
        )
        if stored.extraction is not None:
            self.extractions.add(stored.extraction)
        return stored

    def consolidate(
        self, scope: Scope | None, now: datetime, settings: ConsolidationSettings | None = None
    ) -> ConsolidationReport:
        """Let duplicates and outdated values give way, fade what is not used; nothing is lost."""
        return consolidate(self.bank, scope, now, settings)

    def rewrite(self, unit: MemoryUnit, text: str) -> MemoryUnit:
        """Give a stored unit another text, with its vector."""
        changed = replace(unit, content=text)
        vector = None if self.embedder is None else self.embedder.embed([changed.rendered])[0]
        return self.bank.update(changed, vector)

    def retrieve(
        self,
        text: str,
        scope: Scope | None = None,
        *,
        limit: int | None = None,
        where: Filter | None = None,
        now: datetime | None = None,
        explained: int | None = None,
        pooled: bool = True,
    ) -> Retrieval:
        """Rank what the scope may see for a question.

        `scope=None` looks at all owners. At most `limit` hits (50) come back, the first
        `explained` (all) of them with reasons; `now` is what recency counts from (default: the
        newest event). Without `pooled` the refs of the other candidates are not collected.
        Where levers ask for it, a model first says what else to search for, and at last orders
        the first hits; the index is not held meanwhile. If it fails, the read goes on without,
        and says so.

        Raises BudgetExhaustedError and ConfigError of a model's calls.
        """
        limit = DEFAULT_LIMIT if limit is None else limit
        explained = limit if explained is None else min(explained, limit)
        if where == Filter():
            where = None  # restricts nothing: no mask to make, no rows to leave out
        kind = predict_type(text)
        served = self.config.for_type(kind)
        plan = plan_queries(self.models.rewrite, text, served)
        block = served.rerank_k if served.rerank == "llm" else 0
        scoped = self._indices.at(scope)
        with scoped.lock:
            scoped.refresh()
            ranking = _ranked(scoped, plan.queries, served, where, now)
            index = scoped.index
            shown = max(explained, block) if explained else 0
            hits = hits_of(ranking, index, max(limit, block), shown)
            rows = ranking.rows.tolist() if pooled else ()
            pool = tuple(ref for row in rows for ref in index.units[row].refs)
        reranked = rerank(self.models.rewrite, text, hits, block)
        degraded = plan.degraded + reranked.degraded
        return Retrieval(reranked.hits[:limit], pool, kind, served, plan.queries, degraded)

    def candidates(self, text: str, scope: Scope | None = None) -> Candidates:
        """The pool of a question with its features, for fitting the learned fusion."""
        scoped = self._indices.at(scope)
        with scoped.lock:
            scoped.refresh()
            return scoped.retriever().candidates(text, self.config)


def _ranked(
    scoped: ScopedIndex,
    queries: Sequence[str],
    config: RetrievalConfig,
    where: Filter | None,
    now: datetime | None,
) -> Ranking | MergedRanking:
    """The ranking of the first query, merged with those of the others, where there are any.

    One configuration serves them all, that of the question: overrides for the type of a
    sub-question are for questions of that type.
    """
    retriever = scoped.retriever(where)
    if len(queries) > 1 and config.per_type:
        config = replace(config, per_type={})
    rankings = [
        retriever.rank(
            query,
            config,
            allowed=None if where is None else scoped.mask(where),
            now=None if now is None else day_number(now),
        )
        for query in queries
    ]
    return rankings[0] if len(rankings) == 1 else merge(rankings, scoped.index.seq)
