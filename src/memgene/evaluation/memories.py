"""Memories under evaluation: written at the first question, shared where that is sound, closed."""

from __future__ import annotations

from collections.abc import Callable, Collection
from contextlib import AbstractContextManager, ExitStack, nullcontext
from threading import Lock
from types import TracebackType
from typing import Protocol, runtime_checkable

from memgene.agents.protocol import Agent
from memgene.core import (
    Episode,
    ReplyError,
    RequestRefusedError,
    Usage,
    metering,
    stable_id,
    unmetered,
)
from memgene.evaluation.turns import Turns
from memgene.harness.protocol import Harness, HarnessFactory


@runtime_checkable
class Holds(Protocol):
    """A harness that can say what it stored (extraction or a gate may leave evidence out)."""

    def holds(self, refs: Collection[str]) -> Collection[str]:
        """Those of these message or episode ids that some stored unit stands for."""
        ...


UNUSABLE = (ReplyError, RequestRefusedError)
"""A step of an agent came to nothing though its model works."""


@runtime_checkable
class OwnWords(Protocol):
    """A harness that invents what agents are asked: schemas, instructions, standing advice. Steps
    that come to nothing under them (`UNUSABLE`) are its failures, no errors of the agent: an
    episode without an item is not written, a question without a query or an answer scores 0."""

    def unusable(self, step: str, problem: Exception, episode: Episode | None = None) -> str:
        """Take note of it; the failure in words."""
        ...


@runtime_checkable
class SharedWrites(Protocol):
    """A factory whose written memory can serve every factory with the same `write_key`.

    Two configurations that differ in reading only need one bank per group: equal keys promise
    that `write` would have stored the same.
    """

    @property
    def write_key(self) -> str:
        """Names everything that decides what is written: schema, instruction, embedder, gates."""
        ...

    def __call__(self) -> Harness:
        """A fresh, empty memory."""
        ...

    def memory(self, harness: Harness) -> object:
        """What was written into one of this factory's harnesses (a bank). The pool keeps that
        harness open for as long as the memory is in use."""
        ...

    def attach(self, memory: object) -> Harness:
        """A harness that reads this memory; closing it leaves the memory open."""
        ...


Write = Callable[[Harness, Agent], None]
"""Fills an empty memory, extracting with the agent."""


class Memories(Protocol):
    """Where memories that can be shared are opened."""

    def open(self, factory: SharedWrites, contents: str, write: Write, agent: Agent) -> Harness:
        """A harness over the memory with these contents, which `write` fills if it is new."""
        ...


class MemoryPool:
    """Written memories, kept for the next configuration that writes the same. Thread-safe.

    A memory is known by its `write_key`, the agent's name and the ids of its episodes; use one
    pool for one task. Close it (or use it as a context manager) to release the memories.
    With `apart`, what writing a memory takes counts in none of the meters that are open, but is
    known of each memory (`cost`); without, it counts where the memory is asked for first.
    """

    def __init__(self, *, apart: bool = False) -> None:
        self._apart = apart
        self._lock = Lock()
        self._kept: dict[tuple[str, str], _Kept] = {}

    def open(self, factory: SharedWrites, contents: str, write: Write, agent: Agent) -> Harness:
        """A harness over the memory with these contents, which `write` fills if it is new.

        A memory whose writing fails is not kept, and the failure is raised.
        """
        with self._lock:
            kept = self._kept.setdefault((factory.write_key, contents), _Kept())
        with kept.lock:
            if kept.owner is None:
                self._fill(kept, factory, write, agent)
            return factory.attach(kept.memory)

    def cost(self, write_key: str, contents: str) -> Usage:
        """What writing this memory took, also when it failed."""
        with self._lock:
            kept = self._kept.get((write_key, contents))
            return kept.cost if kept else Usage()

    def _fill(self, kept: _Kept, factory: SharedWrites, write: Write, agent: Agent) -> None:
        with ExitStack() as stack:
            if self._apart:
                stack.enter_context(unmetered())
            meter = stack.enter_context(metering())
            try:
                kept.owner = written(factory, lambda harness: write(harness, agent))
            finally:
                kept.cost = meter.usage if self._apart else Usage()
        kept.memory = factory.memory(kept.owner)

    def discard(self, write_key: str) -> None:
        """Close the memories written under this key."""
        with self._lock:
            for key in [key for key in self._kept if key[0] == write_key]:
                self._kept.pop(key).close()

    def close(self) -> None:
        """Close every memory."""
        with self._lock:
            while self._kept:
                self._kept.popitem()[1].close()

    def __len__(self) -> int:
        return sum(kept.owner is not None for kept in self._kept.values())

    def __enter__(self) -> MemoryPool:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


class Account:
    """A pool as one evaluation uses it: every memory it opens is charged to it in full.

    So the cost of a memory that several configurations read stands beside each of them, and does
    not depend on which came first.
    """

    def __init__(self, pool: MemoryPool) -> None:
        self._pool = pool
        self._lock = Lock()
        self._charged: dict[tuple[str, str], Usage] = {}

    def open(self, factory: SharedWrites, contents: str, write: Write, agent: Agent) -> Harness:
        """As the pool does."""
        try:
            return self._pool.open(factory, contents, write, agent)
        finally:
            key = (factory.write_key, contents)
            with self._lock:
                self._charged[key] = self._pool.cost(*key)

    @property
    def usage(self) -> Usage:
        """What the memories opened so far took to write."""
        with self._lock:
            return sum(self._charged.values(), start=Usage())


class _Kept:
    """One written memory, the harness that owns it, and what it took to write."""

    def __init__(self) -> None:
        self.lock = Lock()
        self.owner: Harness | None = None
        self.memory: object = None
        self.cost = Usage()

    def close(self) -> None:
        if self.owner is not None:
            self.owner.close()
            self.owner = None


class MemoryFailedError(Exception):
    """The memory could not be written; the cause is the first failure."""


class LazyMemory:
    """The memory of a set of questions: written when the first asks, closed after the last.

    The questions have turns 0, 1, 2, …; a harness that is not thread-safe is read in that order.
    `stored` are the ids of episodes and messages it holds: what it says (`Holds`), else all it
    was given.
    """

    def __init__(
        self,
        factory: HarnessFactory,
        agent: Agent,
        episodes: tuple[Episode, ...],
        readers: int,
        pool: Memories | None,
    ) -> None:
        self.stored = frozenset(
            ref
            for episode in episodes
            for ref in (episode.id, *(m.id for m in episode.messages if m.id is not None))
        )
        self._turns = Turns()
        self._episodes = episodes
        self._factory = factory
        self._agent = agent
        self._pool = pool
        self._left = readers
        self._lock = Lock()
        self._harness: Harness | None = None
        self._failure: Exception | None = None

    def harness(self) -> Harness:
        """The written memory. Raises MemoryFailedError to every question when writing failed."""
        with self._lock:
            if self._harness is None and self._failure is None:
                try:
                    self._harness = self._open()
                    if isinstance(self._harness, Holds):
                        self.stored = frozenset(self._harness.holds(self.stored))
                except Exception as problem:  # noqa: BLE001 - raised to every reader below
                    self._failure = problem
            if self._harness is None or self._failure is not None:
                raise MemoryFailedError from self._failure
            return self._harness

    def reading(self, harness: Harness, turn: int) -> AbstractContextManager[object]:
        """What the question with this turn holds while it reads."""
        return nullcontext() if harness.thread_safe else self._turns.taken(turn)

    def release(self, turn: int) -> None:
        """The question with this turn is done; the last closes the memory."""
        self._turns.passed(turn)
        with self._lock:
            self._left -= 1
            if self._left == 0:
                self._close()

    def close(self) -> None:
        """Close whatever the number of readers left."""
        with self._lock:
            self._close()

    def _open(self) -> Harness:
        if self._pool is not None and isinstance(self._factory, SharedWrites):
            contents = stable_id(self._agent.name, *(episode.id for episode in self._episodes))
            return self._pool.open(self._factory, contents, self._write, self._agent)
        return written(self._factory, lambda harness: self._write(harness, self._agent))

    def _write(self, harness: Harness, writer: Agent) -> None:
        instruction = harness.instructions.knowledge_item
        for episode in self._episodes:
            try:
                item = writer.extract(episode, harness.item_schema, instruction)
            except UNUSABLE as problem:
                if not isinstance(harness, OwnWords):
                    raise
                harness.unusable("extract", problem, episode)
            else:
                harness.write(item, episode)

    def _close(self) -> None:
        if self._harness is not None:
            self._harness.close()
            self._harness = None


def written(factory: HarnessFactory, write: Callable[[Harness], None]) -> Harness:
    """A fresh memory, filled; closed again if filling fails."""
    harness = factory()
    try:
        write(harness)
    except BaseException:
        harness.close()
        raise
    return harness
