"""Harnesses for tests: one that follows a script, one that watches, one that breaks."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from memgene.bank.unit import MemoryUnit
from memgene.core import Context, Episode, Filled, Instructions, Schema
from memgene.harness.baselines.turns import hit_of, turns_of
from memgene.harness.plain import PlainHarness
from memgene.harness.protocol import Harness


class ScriptedHarness(PlainHarness):
    """Ranks as the script says: for each query text, message ids from first to last.

    Ids that were never written are skipped; queries without a script find nothing. Every hit is
    shown; the candidate pool is everything that was written.
    """

    name = "scripted"
    yields_hits = True

    def __init__(self, rankings: Mapping[str, Sequence[str]] | None = None) -> None:
        self._rankings = dict(rankings or {})
        self._units: dict[str, MemoryUnit] = {}

    def write(self, item: Filled, episode: Episode) -> None:
        """Keep every turn under its message id."""
        self._units.update({unit.refs[0]: unit for unit in turns_of(episode)})

    def read(self, query: Filled) -> Context:
        """The scripted ranking; score 1 / rank."""
        refs = self._rankings.get(query.values["query_text"], ())
        found = [self._units[ref] for ref in refs if ref in self._units]
        hits = tuple(hit_of(unit, 1 / rank) for rank, unit in enumerate(found, start=1))
        return Context(
            text="\n".join(hit.rendered for hit in hits),
            hits=hits,
            shown=len(hits),
            pool=tuple(self._units),
        )

    def close(self) -> None:
        """Forget everything."""
        self._units.clear()


class _Wrapped:
    """Passes everything on to another harness."""

    def __init__(self, inner: Harness) -> None:
        self._inner = inner

    @property
    def name(self) -> str:
        return self._inner.name

    @property
    def thread_safe(self) -> bool:
        return self._inner.thread_safe

    @property
    def instructions(self) -> Instructions:
        return self._inner.instructions

    @property
    def item_schema(self) -> Schema:
        return self._inner.item_schema

    @property
    def query_schema(self) -> Schema:
        return self._inner.query_schema

    @property
    def yields_hits(self) -> bool:
        return self._inner.yields_hits

    def write(self, item: Filled, episode: Episode) -> None:
        """Passed on."""
        self._inner.write(item, episode)

    def read(self, query: Filled) -> Context:
        """Passed on."""
        return self._inner.read(query)

    def close(self) -> None:
        """Passed on."""
        self._inner.close()


class SpyHarness(_Wrapped):
    """Keeps what it was given: `items`, `episodes`, `queries`, and how often it was closed."""

    def __init__(self, inner: Harness | None = None) -> None:
        super().__init__(inner or ScriptedHarness())
        self.items: list[Filled] = []
        self.episodes: list[Episode] = []
        self.queries: list[Filled] = []
        self.closed = 0

    def write(self, item: Filled, episode: Episode) -> None:
        """Noted and passed on."""
        self.items.append(item)
        self.episodes.append(episode)
        super().write(item, episode)

    def read(self, query: Filled) -> Context:
        """Noted and passed on."""
        self.queries.append(query)
        return super().read(query)

    def close(self) -> None:
        """Counted and passed on."""
        self.closed += 1
        super().close()


class FailingHarness(_Wrapped):
    """Raises `error` when it writes one of these episodes (ids) or reads one of these texts."""

    def __init__(
        self,
        error: BaseException,
        *,
        writes: Collection[str] = (),
        reads: Collection[str] = (),
        inner: Harness | None = None,
    ) -> None:
        super().__init__(inner or ScriptedHarness())
        self._error = error
        self._writes = frozenset(writes)
        self._reads = frozenset(reads)

    def write(self, item: Filled, episode: Episode) -> None:
        """Raises for the chosen episodes."""
        if episode.id in self._writes:
            raise self._error
        super().write(item, episode)

    def read(self, query: Filled) -> Context:
        """Raises for the chosen query texts."""
        if query.values["query_text"] in self._reads:
            raise self._error
        return super().read(query)
