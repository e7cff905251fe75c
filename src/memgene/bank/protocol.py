"""What every bank backend promises. SQLite implements it; PostgreSQL can stand behind it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from memgene.bank.unit import MemoryUnit, UnitStatus
from memgene.core import Scope

Vectors = NDArray[np.float32]


class Fate(StrEnum):
    """What became of a unit that was handed in."""

    ADDED = "added"
    MERGED = "merged"
    SUPERSEDED = "superseded"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class UnitReceipt:
    """The fate of one unit: `id` of the stored unit (its twin's when merged), and the reason."""

    id: str
    fate: Fate
    text: str
    reason: str = ""


class Event(StrEnum):
    """Kinds of history rows."""

    ADD = "add"
    UPDATE = "update"
    SUPERSEDE = "supersede"
    ARCHIVE = "archive"
    RESTORE = "restore"
    DELETE = "delete"
    FEEDBACK = "feedback"
    VALUE = "value"
    RELATE = "relate"
    UNRELATE = "unrelate"
    STATE = "state"
    UNDO = "undo"
    REEMBED = "reembed"


@dataclass(frozen=True, slots=True)
class HistoryRow:
    """One mutation. `payload` is erased when the unit is deleted (tombstones keep no text)."""

    seq: int
    event: Event
    unit_id: str
    time: datetime
    content_hash: str | None
    payload: Mapping[str, Any] | None


class RelationKind(StrEnum):
    """Edge kinds of the memory graph; time edges point from earlier to later."""

    DENSE = "dense"
    SPARSE = "sparse"
    TIME = "time"


@dataclass(frozen=True, slots=True)
class Relation:
    """A typed, weighted edge between two units. Removed with either of them."""

    kind: RelationKind
    source_id: str
    target_id: str
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Value:
    """A learned value of a unit: one per kind of query (`cluster`, "" = over all queries)."""

    unit_id: str
    cluster: str
    q: float
    exposures: int = 0


@dataclass(frozen=True, slots=True)
class Lesson:
    """One step of learning that can be taken back as a whole: its history rows are
    `first` … `last`. `kind` says what taught: `feedback`, `learn`, …"""

    number: int
    kind: str
    time: datetime
    first: int
    last: int
    undone: bool = False


@dataclass(frozen=True, slots=True)
class EmbedderInfo:
    """Name and size of the embedder whose vectors the bank holds."""

    name: str
    dimension: int


@dataclass(frozen=True, slots=True)
class Filter:
    """Restriction on units beside the scope. Every given part must hold.

    `metadata` compares by equality on top-level keys; time bounds are inclusive and apply to
    the event time (units without one fail a bound).
    """

    metadata: Mapping[str, Any] = field(default_factory=dict)
    types: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    since: datetime | None = None
    until: datetime | None = None
    statuses: tuple[UnitStatus, ...] = (UnitStatus.ACTIVE,)


@dataclass(frozen=True, slots=True)
class TextMatch:
    """A full-text match: `score` is a BM25 score, higher is better."""

    id: str
    score: float


@dataclass(frozen=True, slots=True)
class Problem:
    """One finding of `verify`: which derived row disagrees with which fact."""

    where: str
    unit_id: str
    what: str


@dataclass(frozen=True, slots=True)
class BankStats:
    """Counts and size of a bank."""

    units: int
    by_status: Mapping[str, int]
    sources: int
    relations: int
    history: int
    bytes: int
    embedder: EmbedderInfo | None
    version: int


class Bank(Protocol):
    """Facts with history, full text, vectors, relations and values. One writer at a time.

    Every mutation and its history row are one transaction. Methods may be called from any
    thread. Reads and writes that name a scope see only units it admits (`Scope.admits`).
    """

    @property
    def location(self) -> str:
        """Where the bank lives: a path, `:memory:`, or a URL without secrets."""
        ...

    # -- transactions and versions
    def atomic(self) -> AbstractContextManager[None]:
        """One transaction; nests (an inner failure undoes only the inner part)."""
        ...

    def version(self) -> int:
        """Number of the last mutation, by any process. Equal versions mean equal content."""
        ...

    def changed_since(self, version: int, apart: Collection[Event] = ()) -> frozenset[str]:
        """Ids of all units touched after `version` (added, changed or deleted), leaving out those
        with rows of the kinds `apart` alone."""
        ...

    # -- units
    def add(self, units: Sequence[MemoryUnit], vectors: Vectors | None = None) -> list[UnitReceipt]:
        """Store units (with one vector each, shape (n, dimension)), one receipt per unit.

        Exact duplicates (equal `identity`) are merged, also against concurrent writers.
        """
        ...

    def get(self, ids: Sequence[str], scope: Scope | None = None) -> list[MemoryUnit]:
        """Units by id in the order asked, of any status; unknown or hidden ids are left out."""
        ...

    def existing(self, ids: Sequence[str]) -> frozenset[str]:
        """Which of these ids are stored (any status): lets a writer embed only what is new."""
        ...

    def twins(self, identities: Sequence[str]) -> dict[str, str]:
        """Ids of the stored units that `add` would merge units of these identities with.

        Differs from `existing` for units that were updated (their id stays, their identity
        follows the content) or were added under an id of their own.
        """
        ...

    def scan(
        self,
        scope: Scope | None = None,
        where: Filter | None = None,
        after: int = 0,
        ids: Iterable[str] | None = None,
    ) -> Iterator[MemoryUnit]:
        """Units in insertion order with `seq > after`; `scope=None` means all owners.

        Without `where`, active units only (`Filter()`).
        """
        ...

    def page(
        self, scope: Scope | None, where: Filter | None = None, limit: int = 100, after: int = 0
    ) -> list[MemoryUnit]:
        """At most `limit` units in insertion order with `seq > after`."""
        ...

    def update(self, unit: MemoryUnit, vector: Vectors | None = None) -> MemoryUnit:
        """Replace the unit with this id; `vector` (shape (dimension,)) if its text changed."""
        ...

    def delete(self, ids: Sequence[str], scope: Scope | None = None) -> int:
        """Erase units with every derived row (text index, vectors, relations, values, payloads)."""
        ...

    def set_status(
        self, ids: Sequence[str], status: UnitStatus, superseded_by: str | None = None
    ) -> int:
        """Archive, supersede or restore units; their lineage is kept."""
        ...

    # -- search
    def search_text(
        self,
        terms: Sequence[str],
        scope: Scope | None,
        limit: int,
        where: Filter | None = None,
    ) -> list[TextMatch]:
        """Units that hold any of the terms, best BM25 first, ties by insertion order.

        Terms are words (stemmed by the index); a term in a script without spaces is looked up
        in the trigram index as a substring.
        """
        ...

    def match_text(
        self,
        terms: Sequence[str],
        scope: Scope | None,
        limit: int,
        where: Filter | None = None,
    ) -> list[tuple[int, float]]:
        """What `search_text` finds, as (`seq`, score): for those who hold the units already."""
        ...

    def document_frequency(self, terms: Sequence[str]) -> dict[str, int]:
        """In how many units each term occurs (after stemming), over all owners."""
        ...

    # -- vectors
    def embedder(self) -> EmbedderInfo | None:
        """The embedder whose vectors are stored, None while there are none."""
        ...

    def set_embedder(self, info: EmbedderInfo) -> None:
        """Remember the embedder; raises EmbedderMismatchError if another one has vectors here."""
        ...

    def vectors(self, ids: Sequence[str]) -> tuple[list[str], Vectors]:
        """Stored vectors of these units: the ids that have one, and the matrix in that order."""
        ...

    def all_vectors(self, scope: Scope | None = None, after: int = 0) -> tuple[list[str], Vectors]:
        """Vectors of all admitted units of any status with `seq > after`, in insertion order."""
        ...

    def replace_vectors(self, info: EmbedderInfo, ids: Sequence[str], vectors: Vectors) -> None:
        """Swap all vectors for another embedder's in one transaction (re-embedding)."""
        ...

    # -- relations and values
    def relate(self, relations: Sequence[Relation]) -> int:
        """Add or update edges; both ends must exist. Returns how many were written."""
        ...

    def relations(self, ids: Sequence[str], kinds: Sequence[RelationKind] = ()) -> list[Relation]:
        """Edges that touch any of these units."""
        ...

    def unrelate(self, relations: Sequence[Relation]) -> int:
        """Remove edges (by kind and ends; weights do not count). Returns how many there were."""
        ...

    def set_values(self, values: Sequence[Value], event: Event = Event.VALUE) -> None:
        """Write learned values; cluster "" also becomes the unit's utility. History keeps both."""
        ...

    def utilities(
        self, ids: Sequence[str], scope: Scope | None = None, where: Filter | None = None
    ) -> dict[str, float]:
        """Utility of each of these units that `get` gives and the filter admits (without `where`,
        active units only), without reading the units."""
        ...

    def values(self, ids: Sequence[str], *, by_kind: bool = False) -> list[Value]:
        """All learned values of these units, or those for a kind of query alone (`by_kind`)."""
        ...

    def all_values(self, scope: Scope | None = None) -> list[Value]:
        """All learned values of the admitted units of any status, in insertion order of the
        units, then by cluster."""
        ...

    def touch(
        self,
        ids: Sequence[str],
        reward: float,
        query: str | None,
        attributions: Sequence[float] = (),
    ) -> None:
        """Log feedback: access count and time go up; the history row keeps reward, query and each
        unit's part in the answer (`attributions` in [0, 1], one an id; left out: 1 each)."""
        ...

    # -- what is learned about the bank as a whole, and taking it back
    def state(self, name: str) -> bytes | None:
        """A named piece of learned state (clusters of queries, a router, how far units are
        linked); None when there is none."""
        ...

    def states(self) -> list[str]:
        """Names of all pieces of learned state, sorted."""
        ...

    def set_state(self, name: str, content: bytes | None) -> None:
        """Keep a named piece of state, or drop it; the history (unit id "") keeps what was there
        before."""
        ...

    def lesson(self, kind: str) -> AbstractContextManager[None]:
        """One transaction whose mutations form a lesson. Nothing is kept of one that changed
        nothing. Raises InputError when nested in another lesson, and for what cannot be taken
        back: deletion and re-embedding (`replace_vectors`)."""
        ...

    def lessons(self, limit: int = 100, *, undone: bool = False) -> list[Lesson]:
        """The newest lessons, newest first; those that were taken back only if asked for."""
        ...

    def undo(self, lesson: Lesson) -> int:
        """Take back the newest lesson that still stands: units, values, edges, states and access
        marks are what they were before it, and units it added are erased. The history goes on (an
        `undo` row for each row taken back). Returns how many rows were taken back: those about
        units deleted since are passed over, for what was deleted stays deleted.

        Raises InputError when a lesson after it still stands, when it was taken back before, or
        when something other than a lesson changed one of its units or states since (naming it);
        NotFoundError for a lesson of another bank.
        """
        ...

    # -- looking after
    def history(self, unit_id: str) -> list[HistoryRow]:
        """Every mutation of one unit, oldest first (also after its deletion)."""
        ...

    def events(self, event: Event, after: int = 0) -> list[HistoryRow]:
        """Every history row of one kind with `seq > after`, of all units, oldest first."""
        ...

    def verify(self) -> list[Problem]:
        """Check every derived row against the facts; empty when all agree."""
        ...

    def stats(self, scope: Scope | None = None) -> BankStats:
        """Counts and size."""
        ...

    def close(self) -> None:
        """Release connections. The bank cannot be used afterwards."""
        ...
