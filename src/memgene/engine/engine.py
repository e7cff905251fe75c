"""The engine: a bank, an embedder and a configuration, working as one memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
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
from memgene.engine.linking import Linker, LinkReport, LinkSettings, TimeCheck
from memgene.engine.linking.progress import Progress
from memgene.engine.merging import MergedRanking, merge
from memgene.engine.models import EngineModels
from memgene.engine.planning import distinct, plan_queries
from memgene.engine.reading import Retrieval, hits_of
from memgene.engine.remembering import ExtractionLog, Remembered, remember
from memgene.engine.reranking import rerank
from memgene.engine.routing import for_sub_question, looks_at_routing, routing_of
from memgene.engine.served_router import ServedRouter
from memgene.engine.stages import filtered_first, staged
from memgene.engine.writing import write_units
from memgene.retrieval.config import RetrievalConfig
from memgene.retrieval.features.candidates import Candidates
from memgene.retrieval.index import UnitIndex, day_number
from memgene.retrieval.prepared import Prepared
from memgene.retrieval.question_type import predict_type
from memgene.retrieval.ranking import Ranking
from memgene.retrieval.router.observation import Floats, SelfRouting
from memgene.retrieval.stages.calls import StageCalls

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
        self._linker = Linker(bank, embedder)
        self._router = ServedRouter(bank, embedder)
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
        other.models, other._indices, other._router = models, self._indices, self._router
        other.extractions, other._linker = self.extractions, self._linker
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

    def link(
        self,
        scope: Scope | None = None,
        settings: LinkSettings | None = None,
        check: TimeCheck | None = None,
        progress: Progress | None = None,
        *,
        rebuild: bool = False,
    ) -> LinkReport:
        """Give the active units their edges: near in meaning, words shared, next in their source.

        Looks at what changed since the last link, with the same result as linking all of it anew.
        `scope` names whose units are meant (at least: all of its user and agent; None: everyone's).
        `settings` None are those of the last link. A `check` says which consecutive units belong
        together; pairs without a verdict do, and `degraded` tells. `rebuild` takes thresholds and
        word statistics anew and asks the check about all pairs. Nothing is written until all is
        known, and then at once: a link that is stopped changes nothing.

        Raises:
            EmbedderMismatchError: the bank's vectors are another embedder's.
            BudgetExhaustedError, ConfigError: of the check's calls.
        """
        return self._linker.link(scope, settings, check, progress, rebuild=rebuild)

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
        and says so; likewise where a stage of the configuration fails. A router that the bank
        learned for this configuration serves it.

        Raises BudgetExhaustedError and ConfigError of a model's calls, SandboxUnavailableError
        where this machine cannot isolate the stages.
        """
        limit = DEFAULT_LIMIT if limit is None else limit
        explained = limit if explained is None else min(explained, limit)
        if where == Filter():
            where = None  # restricts nothing: no mask to make, no rows to leave out
        served = self._router.into(self.config).for_type(predict_type(text))
        plan = plan_queries(self.models.rewrite, text, served)
        routing: SelfRouting | None = None
        unrouted: tuple[str, ...] = ()
        if looks_at_routing(served):
            routing, unrouted = routing_of(self.models.rewrite, text, served)
        degraded = (*plan.degraded, *unrouted)
        stages = StageCalls.of(self.models.stages, served.stages)
        queries = plan.queries
        if stages is not None:
            queries = distinct((*queries, *stages.queries(text)))
        asked = _Question(text, served, queries, routing, degraded, stages)
        scoped = self._indices.at(scope)
        with scoped.lock:
            scoped.refresh()
            ranking = _ranked(scoped, asked, where, now)
            found = self._found(asked, ranking, scoped.index, limit, explained, pooled)
        return self._reranked(text, found, limit)

    def prepare(
        self, text: str, scope: Scope | None = None, routing: SelfRouting | None = None
    ) -> Prepared:
        """Make a question ready to be ranked by several weights of the routes, as a trainer of the
        router does. `routing` defaults to what the configuration's `self_routing` makes of it.

        Usable until the memory changes. Further searches (`decomposition`, `intent_planning`) are
        no part of it. Raises BudgetExhaustedError and ConfigError of a model's call.
        """
        served = self.config.for_type(predict_type(text))
        degraded: tuple[str, ...] = ()
        if routing is None:
            routing, degraded = routing_of(self.models.rewrite, text, served)
        scoped = self._indices.at(scope)
        with scoped.lock:
            scoped.refresh()
            stages = StageCalls.of(self.models.stages, served.stages)
            prepared = scoped.retriever().prepare(text, self.config, routing=routing, stages=stages)
        prepared.degraded = degraded
        return prepared

    def read(
        self,
        prepared: Prepared,
        weights: Floats | None = None,
        *,
        limit: int | None = None,
        explained: int | None = None,
        pooled: bool = True,
    ) -> Retrieval:
        """What `retrieve` finds for a prepared question, its routes weighed by `weights` (default:
        as the configuration's router says)."""
        limit = DEFAULT_LIMIT if limit is None else limit
        explained = limit if explained is None else min(explained, limit)
        text = prepared.query.text
        routing = prepared.routing if prepared.routing.by != "none" else None
        asked = _Question(
            text, prepared.config, (text,), routing, prepared.degraded, prepared.stages
        )
        ranking = prepared.rank(weights)
        found = self._found(asked, ranking, prepared.index, limit, explained, pooled)
        return self._reranked(text, found, limit)

    def _found(
        self,
        asked: _Question,
        ranking: Ranking | MergedRanking,
        index: UnitIndex,
        limit: int,
        explained: int,
        pooled: bool,
    ) -> Retrieval:
        """The hits of a ranking, with as many as a model would order anew."""
        block = max(_block(asked.config), filtered_first(asked.config))
        shown = max(explained, block) if explained else 0
        rows = ranking.rows.tolist() if pooled else ()
        return Retrieval(
            hits_of(ranking, index, max(limit, block), shown),
            tuple(ref for row in rows for ref in index.units[row].refs),
            ranking.query.type,
            asked.config,
            asked.queries,
            asked.degraded,
            asked.routing,
            ranking.weights,
            stages=asked.stages,
        )

    def _reranked(self, text: str, found: Retrieval, limit: int) -> Retrieval:
        """The first hits ordered anew and filtered, where the configuration says so; at most
        `limit` of all."""
        block = _block(found.config)
        if block:
            reranked = rerank(self.models.rewrite, text, found.hits, block)
            found = replace(found, hits=reranked.hits, degraded=found.degraded + reranked.degraded)
        if found.stages is not None:
            found = staged(found.stages, text, found)
        return found if len(found.hits) <= limit else replace(found, hits=found.hits[:limit])

    def candidates(self, text: str, scope: Scope | None = None) -> Candidates:
        """The pool of a question with its features, for fitting the learned fusion."""
        scoped = self._indices.at(scope)
        with scoped.lock:
            scoped.refresh()
            return scoped.retriever().candidates(text, self.config)


@dataclass(frozen=True, slots=True)
class _Question:
    """A question, the configuration that serves it, what is searched for it, and its routing."""

    text: str
    config: RetrievalConfig
    queries: tuple[str, ...]
    routing: SelfRouting | None
    degraded: tuple[str, ...] = ()
    stages: StageCalls | None = None


def _block(config: RetrievalConfig) -> int:
    return config.rerank_k if config.rerank == "llm" else 0


def _ranked(
    scoped: ScopedIndex, asked: _Question, where: Filter | None, now: datetime | None
) -> Ranking | MergedRanking:
    """The ranking of the first query, merged with those of the others, where there are any.

    One configuration serves them all, that of the question: overrides for the type of a
    sub-question are for questions of that type.
    """
    retriever = scoped.retriever(where)
    config = asked.config
    if len(asked.queries) > 1 and config.per_type:
        config = replace(config, per_type={})
    rankings = [
        retriever.rank(
            query,
            config,
            routing=for_sub_question(asked.routing, query) if place else asked.routing,
            allowed=None if where is None else scoped.mask(where),
            now=None if now is None else day_number(now),
            stages=asked.stages,
        )
        for place, query in enumerate(asked.queries)
    ]
    return rankings[0] if len(rankings) == 1 else merge(rankings, scoped.index.seq)
