"""`Memory`: one agent's long-term memory in one file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from threading import Lock
from types import TracebackType
from typing import IO, TYPE_CHECKING, Any, Self

from memgene.api import transfer
from memgene.api.filters import read_filter, read_scope
from memgene.api.messages import Messages, episode_of, read_time
from memgene.api.opening import check_fit, load, recipe
from memgene.api.results import (
    Added,
    AddReceipt,
    Count,
    FeedbackReceipt,
    Finding,
    History,
    HistoryEntry,
    ImportReceipt,
    Learned,
    MemoryPage,
    MemoryRecord,
    SearchHit,
    SearchResult,
    Stats,
    Verification,
)
from memgene.api.turns import offset_of
from memgene.bank import open_bank
from memgene.bank.protocol import Bank, Filter, Value
from memgene.bank.unit import MemoryUnit, UnitStatus
from memgene.core import Episode, InputError, NotFoundError, Scope
from memgene.embed import Embedder, WordVectors, word_vectors
from memgene.engine import MemoryEngine, compose, units_from_episode
from memgene.retrieval.config import RetrievalConfig

if TYPE_CHECKING:
    from memgene.genome import GenomeBundle

LEARNING_RATE = 0.3
Feedback = SearchResult | SearchHit | str | Iterable[SearchHit | str]


class Memory:
    """A memory for agents: one file, no server, no key, no network.

    `path`: a file (made when absent) or `:memory:`. `genome`: a bundle that evolution made, such
    as `RUN/best`; without one, `config` or the default configuration. `embedder`: a name
    (`static`, `hashing`, `minilm`, …) or an object; by default the genome's, else the settings'.

    Whose memory: `user_id`, `agent_id`, `run_id` (a session). Ids that are given must match; a
    run also sees what was stored without a run; without `user_id` only unowned memories are seen.
    Methods may be called from any thread. Use it as a context manager, or call `close`.
    """

    def __init__(
        self,
        path: str | Path = ":memory:",
        genome: str | Path | GenomeBundle | None = None,
        embedder: str | Embedder | None = None,
        config: RetrievalConfig | None = None,
    ) -> None:
        chosen = recipe(genome, config)
        self.config = chosen.config
        self.genome = chosen.genome
        self._wanted = chosen.embedder(embedder)
        self._made: MemoryEngine | None = None
        self._making = Lock()
        self._bank: Bank = open_bank(str(path))
        try:
            if genome is not None or embedder is not None:
                _ = self._engine
        except BaseException:
            self._bank.close()
            raise

    @property
    def _engine(self) -> MemoryEngine:
        """The engine, made when first needed: verbs that only look at facts load no embedder."""
        with self._making:
            if self._made is None:
                embedder = load(self._wanted)
                check_fit(self._bank, embedder, self.genome)
                words = embedder if isinstance(embedder, WordVectors) else word_vectors()
                self._made = MemoryEngine(self._bank, embedder, self.config, words)
            return self._made

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

        `event_time` is when it happened (never the time of import). `source` names the
        conversation, by default the run, else the messages' own hash; messages of a known
        conversation continue it, and what is already there is merged, not stored twice.
        """
        scope = read_scope(user_id, agent_id, run_id)
        episode = episode_of(
            text_or_messages, event_time=read_time(event_time), source=source, run_id=run_id
        )
        single = isinstance(text_or_messages, str) and source is None
        # A lone text needs no place among others, so nobody has to wait while it is embedded.
        with nullcontext() if single else self._bank.atomic():
            units = self._units(episode, scope, single)
            units = [replace(u, metadata={**u.metadata, **(metadata or {})}) for u in units]
            receipts = self._engine.write(units)
        fates = iter(map(Added.of, receipts))
        blank = Added("", "refused", "", "it has no words")
        return AddReceipt(
            tuple(next(fates) if m.content.strip() else blank for m in episode.messages)
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

        `metadata` replaces what was there. Raises NotFoundError for an unknown or foreign id.
        """
        if text is None and metadata is None:
            raise InputError("update needs text=, metadata= or both")
        scope = _scope_if_given(user_id, agent_id, run_id)
        with self._bank.atomic():
            unit = self._one(id, scope)
            if metadata is not None:
                unit = replace(unit, metadata=dict(metadata))
            if text is None:
                return MemoryRecord.of(self._bank.update(unit))
            return MemoryRecord.of(self._engine.rewrite(unit, text))

    def delete(
        self,
        id: str,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
    ) -> Count:
        """Erase a memory with all that is derived from it. NotFoundError if it is not there."""
        scope = _scope_if_given(user_id, agent_id, run_id)
        count = self._bank.delete([id], scope)
        if not count:
            raise _not_found(id)
        return Count(count)

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
        scope = _scope_if_given(user_id, agent_id, run_id)
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
        if limit < 1:
            raise InputError(f"limit must be at least 1, got {limit}")
        scope = read_scope(user_id, agent_id, run_id, filters)
        found = self._engine.retrieve(query, scope, limit=limit, where=read_filter(filters))
        context, _ = compose(found)
        return SearchResult(tuple(map(SearchHit.of, found.hits)), context)

    def get(
        self,
        id: str,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
    ) -> MemoryRecord:
        """One memory by id. Raises NotFoundError for an unknown id, or one of another owner."""
        return MemoryRecord.of(self._one(id, _scope_if_given(user_id, agent_id, run_id)))

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
        if limit < 1:
            raise InputError(f"limit must be at least 1, got {limit}")
        scope: Scope | None = read_scope(user_id, agent_id, run_id, filters)
        if all:
            if scope != Scope():
                raise InputError("get_all takes a scope or all=True, not both")
            scope = None
        units = self._bank.page(scope, read_filter(filters), limit + 1, after)
        shown = units[:limit]
        more = shown[-1].seq if len(units) > limit else None
        return MemoryPage(tuple(map(MemoryRecord.of, shown)), more)

    def history(self, id: str) -> History:
        """Every mutation of a memory, oldest first, also after its deletion."""
        rows = self._bank.history(id)
        if not rows:
            raise _not_found(id)
        return History(
            tuple(
                HistoryEntry(str(r.event), r.unit_id, r.time, r.content_hash, r.payload)
                for r in rows
            )
        )

    # -- learning
    def feedback(
        self, hits_or_ids: Feedback, reward: float, query: str | None = None
    ) -> FeedbackReceipt:
        """Tell how useful memories were: reward 0 (useless) to 1 (it was this one).

        Utility moves as `Q ← Q + 0.3 · (reward − Q)`; it counts in a search where the
        configuration's `utility_weight` is above 0.
        """
        if not 0 <= reward <= 1:
            raise InputError(f"reward must lie between 0 and 1, got {reward}")
        ids = _ids(hits_or_ids)
        with self._bank.atomic():
            units = {unit.id: unit for unit in self._bank.get(ids)}
            for id in ids:
                if id not in units:
                    raise _not_found(id)
            seen = {v.unit_id: v.exposures for v in self._bank.values(ids) if v.cluster == ""}
            learned = [
                Learned(id, q := units[id].utility, q + LEARNING_RATE * (reward - q)) for id in ids
            ]
            self._bank.set_values(
                [Value(x.id, "", x.utility, seen.get(x.id, 0) + 1) for x in learned]
            )
            self._bank.touch(ids, reward, query)
        return FeedbackReceipt(tuple(learned))

    # -- looking after
    def verify(self) -> Verification:
        """Check every index row, vector, relation and history row against the facts."""
        problems = self._bank.verify()
        return Verification(tuple(Finding(p.where, p.unit_id, p.what) for p in problems))

    def stats(
        self,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
    ) -> Stats:
        """Counts and size, of one owner or of the whole bank."""
        return Stats.of(self._bank.stats(_scope_if_given(user_id, agent_id, run_id)))

    def export(self, target: str | Path | IO[str]) -> Count:
        """Write every memory with its vector, relations and values as JSON lines."""
        return Count(transfer.export(self._bank, target))

    def import_(self, origin: str | Path | IO[str]) -> ImportReceipt:
        """Read what `export` wrote, all or nothing; memories that are already there are merged.

        Vectors are taken as they are when this memory's embedder made them; otherwise they are
        set aside, and the memories embedded anew.
        """
        return transfer.read(self._engine, origin)

    def close(self) -> None:
        """Release the file. The memory cannot be used afterwards."""
        self._bank.close()

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
        stored = [
            u
            for u in self._bank.scan(scope, Filter(sources=(episode.id,)))
            if u.scope == scope and u.turn_start is not None
        ]
        stored.sort(key=lambda u: u.turn_start or 0)
        offset = offset_of([_turn(u) for u in units], [_turn(u) for u in stored])
        return [
            replace(u, turn_start=(u.turn_start or 0) + offset, turn_end=(u.turn_end or 0) + offset)
            for u in units
        ]

    def _one(self, id: str, scope: Scope | None) -> MemoryUnit:
        found = self._bank.get([id], scope)
        if not found:
            raise _not_found(id)
        return found[0]


def _scope_if_given(user_id: str | None, agent_id: str | None, run_id: str | None) -> Scope | None:
    """A scope when any id is given; None (no restriction) otherwise."""
    if user_id is None and agent_id is None and run_id is None:
        return None
    return Scope(user_id, agent_id, run_id)


def _turn(unit: MemoryUnit) -> tuple[str | None, str]:
    return unit.speaker, unit.content


def _ids(given: Feedback) -> list[str]:
    items: Sequence[SearchHit | str]
    items = [given] if isinstance(given, str | SearchHit) else list(given)
    ids = [item if isinstance(item, str) else item.id for item in items]
    if not ids:
        raise InputError("feedback was given no memory")
    return list(dict.fromkeys(ids))


def _not_found(id: str) -> NotFoundError:
    return NotFoundError(f"there is no memory {id!r} here (for this owner)")
