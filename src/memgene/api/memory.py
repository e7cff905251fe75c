"""`Memory`: one agent's long-term memory in one file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import nullcontext
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from threading import Lock
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from memgene.api import checking
from memgene.api.facts import add_with_facts
from memgene.api.filters import read_filter, read_scope, scope_if_given
from memgene.api.inherited import Inherited
from memgene.api.learning import Learning
from memgene.api.lookup import not_found, several
from memgene.api.messages import Messages, read, read_time
from memgene.api.opening import check_fit, chosen_for_bank, load, recipe
from memgene.api.results import (
    Added,
    AddReceipt,
    Count,
    History,
    HistoryEntry,
    MemoryPage,
    MemoryRecord,
    SearchHit,
    SearchResult,
)
from memgene.api.retold import kept_mark, marked
from memgene.api.turns import placed
from memgene.api.upkeep import Upkeep
from memgene.bank import open_bank
from memgene.bank.protocol import Bank, Filter
from memgene.bank.unit import MemoryUnit, UnitStatus
from memgene.core import Episode, InputError, Scope
from memgene.embed import Embedder, WordVectors, word_vectors
from memgene.engine import MemoryEngine, compose, units_from_episode
from memgene.engine.models import EngineModels
from memgene.llm.roles import RoleModels
from memgene.programs.stage_host import SandboxedStages
from memgene.retrieval.config import RetrievalConfig
from memgene.retrieval.needs import needs_llm
from memgene.sandbox import Level
from memgene.settings import load_settings

if TYPE_CHECKING:
    from memgene.api.served_program import ServedProgram
    from memgene.genome import GenomeBundle


class Memory(Learning, Upkeep):
    """A memory for agents: one file, no server, no key, no network.

    `path`: a file (made when absent) or `:memory:`. `genome`: a bundle that evolution made, such
    as `RUN/best`; without one, `config` or the default configuration. `embedder`: a name
    (`static`, `hashing`, `minilm`, …) or an object; by default the genome's, else the settings'.

    A genome with a program searches by that program, in a sandbox: each reader's is written the
    episodes of the bank that it may see. What learns values of memories (`feedback`, `learn`) and
    filters other than the owner's are refused then. What a genome learned about memories joins
    them where they are.

    `models`: language models by role, for configurations that call them (default: as settings name
    them); such a configuration may store facts in place of turns.

    Whose memory: `user_id`, `agent_id`, `run_id` (a session). Ids that are given must match; a
    run also sees what was stored without a run; without `user_id` only unowned memories are seen.
    The methods that take a memory's id are the exception: an id is a capability, and without an
    owner's ids it reaches the memory whoever's it is; with them, that owner's only.
    Methods may be called from any thread. Use it as a context manager, or call `close`.

    Arguments that cannot be used raise InputError, which names them.
    """

    def __init__(
        self,
        path: str | Path = ":memory:",
        genome: str | Path | GenomeBundle | None = None,
        embedder: str | Embedder | None = None,
        config: RetrievalConfig | None = None,
        models: RoleModels | None = None,
    ) -> None:
        chosen = recipe(genome, config)
        self._llms = models
        self._own_llms: RoleModels | None = None
        self._stages: SandboxedStages | None = None
        self.config = chosen.config
        self.genome = chosen.genome
        asked = genome is not None or embedder is not None
        wanted = chosen.embedder(embedder)
        # What was asked for by name must load before a file is made.
        self._wanted = load(wanted) if asked else wanted
        self._made: MemoryEngine | None = None
        self._making = Lock()
        self._inherited = Inherited(self.genome)
        self._program: ServedProgram | None = None
        self._bank: Bank = open_bank(path)
        try:
            if asked:
                _ = self._writer
            if chosen.genome is not None and chosen.genome.program is not None:
                from memgene.api.served_program import ServedProgram

                self._program = ServedProgram(chosen.genome, self._writer, self._llms)
        except BaseException:
            self.close()
            raise

    @property
    def _writer(self) -> MemoryEngine:
        """The engine, made when first needed: verbs that only look at facts load no embedder."""
        with self._making:
            if self._made is None:
                embedder = load(self._wanted)
                check_fit(self._bank, embedder, self.genome)
                words = embedder if isinstance(embedder, WordVectors) else word_vectors()
                config = chosen_for_bank(self.config, self.genome)
                models = self._models(config)
                self._made = MemoryEngine(self._bank, embedder, config, words, models)
            return self._made

    @property
    def _engine(self) -> MemoryEngine:
        """The engine over a bank that has what the genome learned about it."""
        engine = self._writer
        self._inherited.into(engine)
        return engine

    def _models(self, config: RetrievalConfig) -> EngineModels:
        """The language models that the configuration calls, as given or as settings name them, and
        who runs its stages."""
        if self._llms is None and needs_llm(config):
            self._llms = self._own_llms = RoleModels(load_settings().llm)
        if config.stages and self._stages is None:
            self._stages = SandboxedStages(require=Level.named(load_settings().sandbox.level))
        return replace(EngineModels.of(self._llms, config), stages=self._stages)

    # -- writing
    def add(
        self,
        text_or_messages: Messages,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        event_time: datetime | str | None = None,
        source: str | None = None,
    ) -> AddReceipt:
        """Remember a text, messages (`{"role", "content", "time"?}` or `Message`) or an Episode.

        `event_time` is when it happened (never the time of import); messages that have a time
        keep it. `source` names the conversation, by default the run, else the messages' own hash;
        messages of a known conversation continue it, and what repeats its end, or two and more
        messages of it, is merged, not stored twice. What an Episode says of itself may be added
        to, but not contradicted. A message without words (a tool call) is refused, the rest kept.
        """
        scope = read_scope(user_id, agent_id, run_id)
        time = read_time(event_time)
        handed = read(
            text_or_messages, event_time=time, source=source, run_id=run_id, metadata=metadata
        )
        episode = handed.episode
        engine = self._writer
        if engine.config.extraction != "off":
            return AddReceipt(add_with_facts(engine, handed, scope))
        single = isinstance(text_or_messages, str) and source is None
        # A lone text needs no place among others, so nobody has to wait while it is embedded.
        with nullcontext() if single else self._bank.atomic():
            units = self._units(episode, scope, single)
            units = [replace(u, metadata={**u.metadata, **episode.metadata}) for u in units]
            receipts = iter(engine.write(units))
        return AddReceipt(
            tuple(
                Added.of(next(receipts), note) if message.content.strip() else Added.wordless(note)
                for message, note in handed
            )
        )

    def update(
        self,
        id: str,
        text: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
    ) -> MemoryRecord:
        """Change a memory's text (it is indexed and embedded anew), its metadata, or both.

        `metadata` replaces what was there. Raises NotFoundError for an unknown id, and for
        another owner's when any of the owner's ids is given.
        """
        if text is None and metadata is None:
            raise InputError("update needs text=, metadata= or both")
        if text is not None:
            checking.text(text, "text")
        about = checking.mapping(metadata, "metadata")
        scope = scope_if_given(user_id, agent_id, run_id)
        with self._bank.atomic():
            unit = self._one(id, scope)
            if metadata is not None:
                unit = replace(unit, metadata={**kept_mark(unit), **about})
            if text is None:
                return MemoryRecord.of(self._bank.update(unit))
            return MemoryRecord.of(self._writer.rewrite(unit, text))

    def delete(
        self,
        id: str | Iterable[str],
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
    ) -> Count:
        """Erase a memory, or several, with all that is derived from them.

        Raises NotFoundError if one of them is not there, or is another owner's when any of the
        owner's ids is given; then nothing is erased.
        """
        scope = scope_if_given(user_id, agent_id, run_id)
        ids = checking.ids(id, "id")
        with self._bank.atomic():
            several(self._bank, ids, scope)
            return Count(self._bank.delete(ids))

    def delete_all(
        self,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        all: bool = False,
    ) -> Count:
        """Erase every memory of exactly this owner, or with `all=True` every memory of the bank.

        Memories of another run, or without a run, are not touched when `run_id` is given.
        """
        scope = scope_if_given(user_id, agent_id, run_id)
        if (scope is None) is not all:
            raise InputError(
                "delete_all needs user_id=, agent_id= or run_id=, or all=True for the whole bank"
                + (", not both" if all else "")
            )
        every = tuple(UnitStatus)
        with self._bank.atomic():
            ids = [
                unit.id
                for unit in self._bank.scan(scope, Filter(statuses=every))
                if run_id is None or unit.scope.run_id == run_id
            ]
            return Count(self._bank.delete(ids))

    # -- reading
    def search(
        self,
        query: str,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        limit: int = 10,
        filters: Mapping[str, Any] | None = None,
    ) -> SearchResult:
        """The memories that fit the query best, best first, each with its reasons.

        `filters` may hold the scope too, and `metadata`, `type(s)`, `source(s)`, `status`,
        `since`, `until`. A scope that is given twice must be the same. `.context` of the result is
        the text for an agent's prompt.
        """
        checking.text(query, "query")
        limit = checking.whole(limit, "limit", 1)
        scope = read_scope(user_id, agent_id, run_id, filters)
        where = read_filter(filters)
        if self._program is not None:
            return self._program.search(query, scope, limit, where)
        found = self._engine.retrieve(query, scope, limit=limit, where=where, pooled=False)
        context, _ = compose(found)
        hits = tuple(SearchHit.of(hit, query) for hit in found.hits)
        return SearchResult(hits, context, found.degraded, query)

    def get(
        self,
        id: str,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
    ) -> MemoryRecord:
        """One memory by id.

        Raises NotFoundError for an unknown id, and for another owner's when any of the owner's
        ids is given.
        """
        return MemoryRecord.of(self._one(id, scope_if_given(user_id, agent_id, run_id)))

    def get_all(
        self,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        filters: Mapping[str, Any] | None = None,
        limit: int = 100,
        after: int = 0,
        all: bool = False,
    ) -> MemoryPage:
        """A page of memories in insertion order; `all=True` for every owner's.

        `after` is the `next` of the page before.
        """
        limit = checking.whole(limit, "limit", 1)
        after = checking.whole(after, "after", 0)
        scope: Scope | None = read_scope(user_id, agent_id, run_id, filters)
        if all:
            if scope != Scope():
                raise InputError("get_all takes a scope or all=True, not both")
            scope = None
        units = self._bank.page(scope, read_filter(filters), limit + 1, after)
        shown = units[:limit]
        more = shown[-1].seq if len(units) > limit else None
        return MemoryPage(tuple(map(MemoryRecord.of, shown)), more)

    def history(
        self,
        id: str,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
    ) -> History:
        """Every mutation of a memory, oldest first, also after its deletion.

        Raises NotFoundError for an unknown id. With an owner's ids the memory must still be there
        and be that owner's: after deletion nobody can tell whose it was.
        """
        scope = scope_if_given(user_id, agent_id, run_id)
        if scope is not None:
            self._one(id, scope)
        rows = self._bank.history(checking.text(id, "id"))
        if not rows:
            raise not_found(id)
        return History(
            tuple(
                HistoryEntry(str(r.event), r.unit_id, r.time, r.content_hash, r.payload)
                for r in rows
            )
        )

    # -- closing
    def close(self) -> None:
        """Release the file. The memory cannot be used afterwards."""
        if self._program is not None:
            self._program.close()
        if self._stages is not None:
            self._stages.close()
        self._bank.close()
        if self._own_llms is not None:
            self._own_llms.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _units(self, episode: Episode, scope: Scope, single: bool) -> list[MemoryUnit]:
        """The episode's units, placed behind or over the turns that are stored already."""
        units = units_from_episode(episode, scope)
        if single:
            return [replace(u, source=None, turn_start=None, turn_end=None) for u in units]
        found = self._bank.scan(scope, Filter(sources=(episode.id,)))
        stored = [u for u in found if u.scope == scope and u.turn_start is not None]
        # Turns of a new source stay where they are: a turn's place is part of its identity.
        units = placed(units, stored) if stored else units
        if self._program is None:
            return units
        return marked(units, episode, self._bank, continues=bool(stored))

    def _refuse(self, verb: str) -> None:
        if self._program is not None:
            self._program.refuse(verb)

    def _one(self, id: str, scope: Scope | None) -> MemoryUnit:
        return several(self._bank, [checking.text(id, "id")], scope)[0]
