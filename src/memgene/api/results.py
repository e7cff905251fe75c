"""What the public face returns: frozen, iterable results whose `model_dump()` is the CLI's JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Generic, Protocol, TypeVar, overload

from memgene.bank.portable import Imported
from memgene.bank.protocol import BankStats, UnitReceipt
from memgene.bank.unit import MemoryUnit
from memgene.core import Hit, Why


class Dumpable(Protocol):
    """A result with a JSON form."""

    def model_dump(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        ...


R = TypeVar("R", bound=Dumpable)


@dataclass(frozen=True)
class Results(Generic[R]):
    """A sequence of results that also has a JSON form."""

    results: tuple[R, ...] = ()

    def __iter__(self) -> Iterator[R]:
        return iter(self.results)

    def __len__(self) -> int:
        return len(self.results)

    @overload
    def __getitem__(self, place: int) -> R: ...

    @overload
    def __getitem__(self, place: slice) -> tuple[R, ...]: ...

    def __getitem__(self, place: int | slice) -> R | tuple[R, ...]:
        return self.results[place]

    def model_dump(self) -> dict[str, Any]:
        """`{"results": […]}`, plain values."""
        return {"results": [r.model_dump() for r in self.results]}


@dataclass(frozen=True, slots=True)
class Added:
    """The fate of one statement: `event` is added, merged, superseded or refused."""

    id: str
    event: str
    text: str
    reason: str = ""

    @classmethod
    def of(cls, receipt: UnitReceipt, note: str = "") -> Added:
        """The public side of a bank's receipt; `note` says what of the message is not kept."""
        reason = "; ".join(filter(None, (receipt.reason, note)))
        return cls(receipt.id, str(receipt.fate), receipt.text, reason)

    @classmethod
    def wordless(cls, note: str = "") -> Added:
        """The fate of a message without words."""
        return cls("", "refused", "", note or "it has no words")

    def model_dump(self) -> dict[str, Any]:
        """Plain values."""
        return {"id": self.id, "event": self.event, "text": self.text, "reason": self.reason}


class AddReceipt(Results[Added]):
    """What became of everything that was handed in: one entry per message, or where a language
    model extracts, per fact and turn stored and per message without words."""

    @property
    def ids(self) -> tuple[str, ...]:
        """Ids of what is now stored (refused statements have none)."""
        return tuple(r.id for r in self.results if r.event != "refused")


@dataclass(frozen=True)
class Consolidation(Results[Added]):
    """What gave way (event superseded, and why), and how many memories were looked at, were
    near-duplicates or outdated, faded, were reinforced."""

    units: int = 0
    duplicates: int = 0
    outdated: int = 0
    faded: int = 0
    reinforced: int = 0

    def model_dump(self) -> dict[str, Any]:
        """Plain values."""
        counts = ("units", "duplicates", "outdated", "faded", "reinforced")
        return {**super().model_dump(), **{name: getattr(self, name) for name in counts}}


@dataclass(frozen=True)
class ImportReceipt(AddReceipt):
    """What became of every memory of an export, in its order.

    `set_aside` vectors were made by another embedder, `made_by`; those memories were embedded
    anew.
    """

    set_aside: int = 0
    made_by: str | None = None

    @classmethod
    def of(cls, found: Imported) -> ImportReceipt:
        """The public side of a bank's import."""
        made_by = found.made_by.name if found.made_by else None
        return cls(tuple(map(Added.of, found.receipts)), found.set_aside, made_by)

    def model_dump(self) -> dict[str, Any]:
        """`{"results": […], "set_aside": …, "made_by": …}`."""
        return {**super().model_dump(), "set_aside": self.set_aside, "made_by": self.made_by}


@dataclass(frozen=True, slots=True)
class SearchHit:
    """One memory found. `why` tells its place per view and every rescoring factor.

    `line` is how it reads in a prompt: date, speaker, words. `query` is what it was found for.
    """

    id: str
    text: str
    score: float
    why: Why
    source: str | None
    metadata: Mapping[str, Any]
    line: str = ""
    query: str | None = None

    @classmethod
    def of(cls, hit: Hit, query: str | None = None) -> SearchHit:
        """The public side of an engine's hit."""
        return cls(
            id=hit.id,
            text=hit.text,
            score=hit.score,
            why=hit.why,
            source=hit.source,
            metadata=hit.metadata,
            line=hit.rendered or hit.text,
            query=query,
        )

    def model_dump(self) -> dict[str, Any]:
        """Plain values, as `memgene search --json` prints them."""
        return {
            "id": self.id,
            "text": self.text,
            "score": self.score,
            "why": dump_why(self.why),
            "source": self.source,
            "metadata": plain(self.metadata),
        }


@dataclass(frozen=True)
class SearchResult(Results[SearchHit]):
    """Memories found for `query`, best first. `context` is the text for an agent's prompt;
    `degraded` names what the configuration asks of a language model that it could not do this
    time."""

    context: str = ""
    degraded: tuple[str, ...] = ()
    query: str | None = None


@dataclass(frozen=True, slots=True)
class MemoryRecord:
    """One stored memory, whole."""

    id: str
    text: str
    user_id: str | None
    agent_id: str | None
    run_id: str | None
    speaker: str | None
    source: str | None
    type: str
    status: str
    utility: float
    event_time: datetime | None
    created: datetime | None
    updated: datetime | None
    metadata: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, unit: MemoryUnit) -> MemoryRecord:
        """The public side of a stored unit."""
        return cls(
            id=unit.id,
            text=unit.content,
            user_id=unit.scope.user_id,
            agent_id=unit.scope.agent_id,
            run_id=unit.scope.run_id,
            speaker=unit.speaker,
            source=unit.source,
            type=str(unit.type),
            status=str(unit.status),
            utility=unit.utility,
            event_time=unit.event_time,
            created=unit.created,
            updated=unit.updated,
            metadata=unit.metadata,
        )

    def model_dump(self) -> dict[str, Any]:
        """Plain values; times in ISO 8601."""
        names = self.__dataclass_fields__
        return {name: plain(getattr(self, name)) for name in names}


@dataclass(frozen=True)
class MemoryPage(Results[MemoryRecord]):
    """A page of memories in insertion order; `next` goes into `after=` (None on the last page)."""

    next: int | None = None

    def model_dump(self) -> dict[str, Any]:
        """`{"results": […], "next": …}`."""
        return {**super().model_dump(), "next": self.next}


@dataclass(frozen=True, slots=True)
class HistoryEntry:
    """One mutation of a memory. After deletion its `payload` is gone."""

    event: str
    id: str
    time: datetime
    content_hash: str | None
    payload: Mapping[str, Any] | None

    def model_dump(self) -> dict[str, Any]:
        """Plain values."""
        return {name: plain(getattr(self, name)) for name in self.__dataclass_fields__}


class History(Results[HistoryEntry]):
    """Every mutation of one memory, oldest first."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One disagreement between a derived row and a fact."""

    where: str
    id: str
    what: str

    def model_dump(self) -> dict[str, Any]:
        """Plain values."""
        return {"where": self.where, "id": self.id, "what": self.what}


class Verification(Results[Finding]):
    """Findings of `verify`; none means the bank agrees with itself."""

    @property
    def ok(self) -> bool:
        """Whether nothing was found."""
        return not self.results

    def model_dump(self) -> dict[str, Any]:
        """`{"ok": …, "results": […]}`."""
        return {"ok": self.ok, **super().model_dump()}


@dataclass(frozen=True, slots=True)
class Count:
    """How many memories an action reached."""

    count: int

    def model_dump(self) -> dict[str, Any]:
        """Plain values."""
        return {"count": self.count}


@dataclass(frozen=True, slots=True)
class Stats:
    """Counts and size of a memory. `embedder` is None while nothing is embedded."""

    units: int
    by_status: Mapping[str, int]
    sources: int
    relations: int
    history: int
    bytes: int
    embedder: str | None
    dimension: int | None
    version: int

    @classmethod
    def of(cls, stats: BankStats) -> Stats:
        """The public side of a bank's counts."""
        made_by = stats.embedder
        return cls(
            units=stats.units,
            by_status={str(k): v for k, v in stats.by_status.items()},
            sources=stats.sources,
            relations=stats.relations,
            history=stats.history,
            bytes=stats.bytes,
            embedder=made_by.name if made_by else None,
            dimension=made_by.dimension if made_by else None,
            version=stats.version,
        )

    def model_dump(self) -> dict[str, Any]:
        """Plain values."""
        return {name: plain(getattr(self, name)) for name in self.__dataclass_fields__}


@dataclass(frozen=True, slots=True)
class Reembedded:
    """How many vectors were replaced, and by whose."""

    count: int
    embedder: str
    dimension: int

    def model_dump(self) -> dict[str, Any]:
        """Plain values."""
        return {"count": self.count, "embedder": self.embedder, "dimension": self.dimension}


def dump_why(why: Why) -> dict[str, Any]:
    """`Why` as plain values."""
    return {
        "views": {n: {"rank": v.rank, "score": v.score} for n, v in why.views.items()},
        "fused": why.fused,
        "factors": dict(why.factors),
        "features": dict(why.features),
        "weights": dict(why.weights),
    }


def plain(value: Any) -> Any:
    """A value with its mappings, sequences and times made JSON-ready."""
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Mapping):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [plain(v) for v in value]
    return value
