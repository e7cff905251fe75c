"""The public face of the SQLite backend: every method of `Bank` as one short call."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType

from memgene.bank.protocol import (
    BankStats,
    EmbedderInfo,
    Event,
    Filter,
    HistoryRow,
    Lesson,
    Problem,
    Relation,
    RelationKind,
    TextMatch,
    UnitReceipt,
    Value,
    Vectors,
)
from memgene.bank.sqlite import (
    adding,
    changing,
    graph,
    history,
    lessons,
    reading,
    states,
    textsearch,
    undoing,
)
from memgene.bank.sqlite import vectors as vector_rows
from memgene.bank.sqlite.codec import Decoder
from memgene.bank.sqlite.conditions import chunks, conditions
from memgene.bank.sqlite.connections import Connections
from memgene.bank.sqlite.history import moment_of
from memgene.bank.sqlite.stats import stats
from memgene.bank.sqlite.verify import verify
from memgene.bank.unit import MemoryUnit, UnitStatus
from memgene.core import Clock, InputError, Scope, SystemClock


class SqliteBank:
    """A bank in one SQLite file (or `:memory:`), for any number of threads and processes.

    The file keeps a write-ahead log beside it while it is open. Writers wait for each other up
    to `busy_timeout` seconds, then raise BankError; readers never wait for writers. A bank may
    be used in a forked child. Every method is documented in `Bank`; what is special here is
    said at the method.
    """

    def __init__(
        self,
        path: str | Path,
        clock: Clock | None = None,
        busy_timeout: float = 30.0,
    ) -> None:
        """Open the file, or create it. Raises BankError if it is not a bank, damaged or newer."""
        self._clock = clock or SystemClock()
        self._connections = Connections(str(path), busy_timeout)

    def __enter__(self) -> SqliteBank:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def location(self) -> str:
        """The path, or `:memory:`."""
        return self._connections.location

    # -- transactions and versions
    @contextmanager
    def atomic(self) -> Iterator[None]:
        """Holds the write lock from its start, so what it reads stays true until it ends."""
        with self._connections.writing():
            yield

    def version(self) -> int:
        """Number of the last history row."""
        with self._connections.reading() as connection:
            return history.version(connection)

    def changed_since(self, version: int, apart: Collection[Event] = ()) -> frozenset[str]:
        """Ids in all later history rows but those of the kinds `apart`."""
        with self._connections.reading() as connection:
            return history.changed_since(connection, version, apart)

    # -- units
    def add(self, units: Sequence[MemoryUnit], vectors: Vectors | None = None) -> list[UnitReceipt]:
        """Store units; text up to 1 MiB, not blank, without lone surrogates and NUL.

        An exact duplicate enriches the stored unit (lists and metadata are joined; where both
        say something, the stored word stays and the receipt tells). Without anything new it
        neither writes nor waits. Importance, confidence and utility lie in [0, 1].
        """
        matrix = None
        if vectors is not None:
            with self._connections.reading() as connection:
                info = vector_rows.embedder(connection)
            matrix = vector_rows.checked(vectors, len(units), info)
        candidates = adding.prepare(units)
        with self._connections.reading() as connection:
            if adding.all_stored(connection, candidates):
                planned = adding.plan(connection, candidates)
                if not adding.changes(connection, planned, matrix is not None):
                    return planned.receipts
        with self._connections.writing() as session:
            planned = adding.plan(session.connection, candidates)
            adding.carry_out(session.connection, planned, matrix, moment_of(self._clock))
            return planned.receipts

    def get(self, ids: Sequence[str], scope: Scope | None = None) -> list[MemoryUnit]:
        """Units in the order asked, of any status."""
        with self._connections.reading() as connection:
            return reading.by_id(connection, ids, scope)

    def existing(self, ids: Sequence[str]) -> frozenset[str]:
        """Which of these ids are stored."""
        with self._connections.reading() as connection:
            return frozenset(reading.seqs_by_id(connection, ids))

    def twins(self, identities: Sequence[str]) -> dict[str, str]:
        """Ids of the stored units that `add` would merge units of these identities with."""
        with self._connections.reading() as connection:
            return reading.by_identity(connection, identities)

    def scan(
        self,
        scope: Scope | None = None,
        where: Filter | None = None,
        after: int = 0,
        ids: Iterable[str] | None = None,
    ) -> Iterator[MemoryUnit]:
        """Which units are given is decided at the first step; they are read piece by piece."""
        with self._connections.reading() as connection:
            admitted = conditions(connection, scope, where)
            wanted = None if ids is None else list(ids)
            seqs = reading.matching(connection, admitted, after, ids=wanted)
        decoder = Decoder()
        for some in chunks(seqs):
            with self._connections.reading() as connection:
                units = reading.by_seq(connection, some, decoder)
            yield from units

    def page(
        self, scope: Scope | None, where: Filter | None = None, limit: int = 100, after: int = 0
    ) -> list[MemoryUnit]:
        """At most `limit` units with `seq > after`."""
        with self._connections.reading() as connection:
            return reading.page(connection, scope, where, limit, after)

    def update(self, unit: MemoryUnit, vector: Vectors | None = None) -> MemoryUnit:
        """Replace a unit. If its text changed and no vector is given, the old one is dropped."""
        with self._connections.writing() as session:
            return changing.update(session.connection, unit, vector, moment_of(self._clock))

    def delete(self, ids: Sequence[str], scope: Scope | None = None) -> int:
        """Erase units. The outermost transaction purges their words from the text indices."""
        with self._connections.writing() as session:
            count = changing.delete(session.connection, ids, scope, moment_of(self._clock))
            session.scrub |= count > 0
            return count

    def set_status(
        self, ids: Sequence[str], status: UnitStatus, superseded_by: str | None = None
    ) -> int:
        """Change the status of units; returns how many differed."""
        with self._connections.writing() as session:
            now = moment_of(self._clock)
            return changing.set_status(session.connection, ids, status, superseded_by, now)

    # -- search
    def search_text(
        self,
        terms: Sequence[str],
        scope: Scope | None,
        limit: int,
        where: Filter | None = None,
    ) -> list[TextMatch]:
        """Only active units are indexed, so only they are found, whatever the filter admits."""
        with self._connections.reading() as connection:
            return textsearch.search_text(connection, terms, scope, limit, where)

    def match_text(
        self,
        terms: Sequence[str],
        scope: Scope | None,
        limit: int,
        where: Filter | None = None,
    ) -> list[tuple[int, float]]:
        """What `search_text` finds, by sequence number."""
        with self._connections.reading() as connection:
            return textsearch.match_text(connection, terms, scope, limit, where)

    def document_frequency(self, terms: Sequence[str]) -> dict[str, int]:
        """In how many active units each term occurs."""
        with self._connections.reading() as connection:
            return textsearch.document_frequency(connection, terms)

    # -- vectors
    def embedder(self) -> EmbedderInfo | None:
        """The embedder the file remembers."""
        with self._connections.reading() as connection:
            return vector_rows.embedder(connection)

    def set_embedder(self, info: EmbedderInfo) -> None:
        """Remember the embedder; writes nothing if it is the same."""
        if self.embedder() == info:
            return
        with self._connections.writing() as session:
            vector_rows.set_embedder(session.connection, info, self.location)

    def vectors(self, ids: Sequence[str]) -> tuple[list[str], Vectors]:
        """Stored vectors in the order asked."""
        with self._connections.reading() as connection:
            return vector_rows.read(connection, ids)

    def all_vectors(self, scope: Scope | None = None, after: int = 0) -> tuple[list[str], Vectors]:
        """All stored vectors in insertion order."""
        with self._connections.reading() as connection:
            return vector_rows.read_all(connection, scope, after)

    def replace_vectors(self, info: EmbedderInfo, ids: Sequence[str], vectors: Vectors) -> None:
        """Drop all vectors and store these, in one transaction."""
        with self._connections.writing() as session:
            now = moment_of(self._clock)
            vector_rows.replace_all(session.connection, info, ids, vectors, now)

    # -- relations and values
    def relate(self, relations: Sequence[Relation]) -> int:
        """Write edges; returns how many were new or had another weight."""
        with self._connections.writing() as session:
            return graph.relate(session.connection, relations, moment_of(self._clock))

    def relations(self, ids: Sequence[str], kinds: Sequence[RelationKind] = ()) -> list[Relation]:
        """Edges that touch any of these units, each once."""
        with self._connections.reading() as connection:
            return graph.relations(connection, ids, kinds)

    def unrelate(self, relations: Sequence[Relation]) -> int:
        """Remove edges; returns how many there were."""
        with self._connections.writing() as session:
            return graph.unrelate(session.connection, relations, moment_of(self._clock))

    def set_values(self, values: Sequence[Value], event: Event = Event.VALUE) -> None:
        """Write learned values; equal ones are left alone."""
        with self._connections.writing() as session:
            graph.set_values(session.connection, values, event, moment_of(self._clock))

    def utilities(
        self, ids: Sequence[str], scope: Scope | None = None, where: Filter | None = None
    ) -> dict[str, float]:
        """Utility of each admitted unit."""
        with self._connections.reading() as connection:
            return graph.utilities(connection, ids, scope, where)

    def values(self, ids: Sequence[str], *, by_kind: bool = False) -> list[Value]:
        """Learned values of these units."""
        with self._connections.reading() as connection:
            return graph.values(connection, ids, by_kind=by_kind)

    def all_values(self, scope: Scope | None = None) -> list[Value]:
        """All learned values of the admitted units."""
        with self._connections.reading() as connection:
            return graph.all_values(connection, scope)

    def touch(
        self,
        ids: Sequence[str],
        reward: float,
        query: str | None,
        attributions: Sequence[float] = (),
    ) -> None:
        """Count an access of each unit and log the feedback."""
        if attributions and len(attributions) != len(ids):
            raise InputError(f"{len(ids)} units need as many attributions, not {len(attributions)}")
        parts = dict(zip(ids, attributions or [1.0] * len(ids), strict=True))
        with self._connections.writing() as session:
            changing.touch(session.connection, parts, reward, query, moment_of(self._clock))

    # -- what is learned about the bank as a whole, and taking it back
    def state(self, name: str) -> bytes | None:
        """A named piece of state."""
        with self._connections.reading() as connection:
            return states.state(connection, name)

    def states(self) -> list[str]:
        """Names of all pieces, sorted."""
        with self._connections.reading() as connection:
            return states.names(connection)

    def set_state(self, name: str, content: bytes | None) -> None:
        """Keep or drop a piece of state; an equal one is left alone."""
        with self._connections.writing() as session:
            states.set_state(session.connection, name, content, moment_of(self._clock))

    @contextmanager
    def lesson(self, kind: str) -> Iterator[None]:
        """One transaction (or part of one). Refuses what cannot be taken back: deletion and
        re-embedding."""
        with self._connections.writing() as session:
            lessons.begin(session.connection, kind, moment_of(self._clock))
            yield
            lessons.end(session.connection)

    def lessons(self, limit: int = 100, *, undone: bool = False) -> list[Lesson]:
        """The newest lessons, newest first."""
        with self._connections.reading() as connection:
            return lessons.lessons(connection, limit, undone)

    def undo(self, lesson: Lesson) -> int:
        """Take a lesson back, in one transaction. Units it added leave no trace in the file."""
        with self._connections.writing() as session:
            count, erased = undoing.undo(session.connection, lesson, moment_of(self._clock))
            session.scrub |= erased
            return count

    # -- looking after
    def history(self, unit_id: str) -> list[HistoryRow]:
        """Rows of one unit. `payload` holds former values (`before`), feedback or the new value."""
        with self._connections.reading() as connection:
            return history.read(connection, unit_id)

    def events(self, event: Event, after: int = 0) -> list[HistoryRow]:
        """Rows of one kind, oldest first; reads the whole log, which has no index by kind."""
        with self._connections.reading() as connection:
            return history.of_kind(connection, event, after)

    def verify(self) -> list[Problem]:
        """Check the file and every derived row; holds the write lock meanwhile."""
        with self._connections.writing() as session:
            return verify(session.connection)

    def stats(self, scope: Scope | None = None) -> BankStats:
        """Counts of what the scope admits; size, embedder and version of the whole file."""
        with self._connections.reading() as connection:
            return stats(connection, scope)

    def close(self) -> None:
        """Close the connections of all threads; no other thread may be using the bank."""
        self._connections.close()
