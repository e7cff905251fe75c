"""The engine: a bank, an embedder and a configuration, working as one memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from memgene.bank.protocol import Bank, Filter, UnitReceipt
from memgene.bank.unit import MemoryUnit
from memgene.core import Scope
from memgene.embed.protocol import Embedder, WordVectors
from memgene.engine.indices import IndexStore
from memgene.engine.reading import Retrieval, hits_of
from memgene.engine.writing import write_units
from memgene.retrieval.config import RetrievalConfig
from memgene.retrieval.features.candidates import Candidates
from memgene.retrieval.index import day_number

DEFAULT_LIMIT = 50


class MemoryEngine:
    """Writes units with their vectors and reads rankings. Thread-safe; it does not own the bank.

    `words` gives static word vectors for the soft match view; by default the embedder's own if
    it is static, else none. `config` can be swapped without touching the indices.
    """

    def __init__(
        self,
        bank: Bank,
        embedder: Embedder | None,
        config: RetrievalConfig | None = None,
        words: WordVectors | None = None,
    ) -> None:
        self.bank = bank
        self.embedder = embedder
        self.config = config or RetrievalConfig()
        if words is None and isinstance(embedder, WordVectors):
            words = embedder
        self._indices = IndexStore(bank, embedder, words)

    def with_config(self, config: RetrievalConfig) -> MemoryEngine:
        """The same memory read with another configuration; indices and caches are shared."""
        other = MemoryEngine.__new__(MemoryEngine)
        other.bank, other.embedder, other.config = self.bank, self.embedder, config
        other._indices = self._indices
        return other

    def write(self, units: Sequence[MemoryUnit]) -> list[UnitReceipt]:
        """Store units with vectors, one receipt a unit, one transaction."""
        return write_units(self.bank, self.embedder, units)

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
        """
        limit = DEFAULT_LIMIT if limit is None else limit
        if where == Filter():
            where = None  # restricts nothing: no mask to make, no rows to leave out
        scoped = self._indices.at(scope)
        with scoped.lock:
            scoped.refresh()
            ranking = scoped.retriever(where).rank(
                text,
                self.config,
                allowed=None if where is None else scoped.mask(where),
                now=None if now is None else day_number(now),
            )
            index = scoped.index
            hits = hits_of(ranking, index, limit, limit if explained is None else explained)
            rows = ranking.rows.tolist() if pooled else ()
            pool = tuple(ref for row in rows for ref in index.units[row].refs)
        return Retrieval(hits, pool, ranking.query.type, ranking.config)

    def candidates(self, text: str, scope: Scope | None = None) -> Candidates:
        """The pool of a question with its features, for fitting the learned fusion."""
        scoped = self._indices.at(scope)
        with scoped.lock:
            scoped.refresh()
            return scoped.retriever().candidates(text, self.config)
