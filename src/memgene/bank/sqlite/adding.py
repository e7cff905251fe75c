"""Adding units: refuse, merge with an exact duplicate, or store."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from memgene.bank.protocol import Event, Fate, UnitReceipt, Vectors
from memgene.bank.sqlite import fulltext, scopes, vectors
from memgene.bank.sqlite.changing import replace_unit
from memgene.bank.sqlite.codec import INSERT, LISTS, encode, refusal
from memgene.bank.sqlite.conditions import chunks
from memgene.bank.sqlite.history import Entry, digest, record
from memgene.bank.sqlite.images import Image
from memgene.bank.sqlite.reading import by_id, by_identity, seqs_by_id
from memgene.bank.unit import MemoryUnit, UnitStatus
from memgene.core import stable_id

_FILLED = ("summary", "turn_end", "supersedes")
_KEPT = ("type", "expires")
_LARGER = ("importance", "confidence", "reinforcement")


@dataclass(frozen=True, slots=True)
class Candidate:
    """A unit handed in with its identity, or the reason why it is refused."""

    unit: MemoryUnit
    identity: str
    refused: str | None


@dataclass(slots=True)
class _Entry:
    """One unit per identity: as it is stored (None: not yet) and as it shall be."""

    id: str
    identity: str
    stored: MemoryUnit | None
    unit: MemoryUnit
    place: int
    """Row of its vector in the matrix handed in."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What an `add` will do, and the receipts it will give."""

    entries: tuple[_Entry, ...]
    receipts: list[UnitReceipt]

    @property
    def new(self) -> list[_Entry]:
        """Units to insert."""
        return [e for e in self.entries if e.stored is None]

    @property
    def merged(self) -> list[_Entry]:
        """Stored units that were handed in again."""
        return [e for e in self.entries if e.stored is not None]


def prepare(units: Sequence[MemoryUnit]) -> list[Candidate]:
    """Check every unit and compute its identity."""
    candidates = []
    for unit in units:
        refused = refusal(unit)
        candidates.append(Candidate(unit, "" if refused else unit.identity(), refused))
    return candidates


def all_stored(connection: sqlite3.Connection, candidates: Sequence[Candidate]) -> bool:
    """Whether every identity is stored; stops at the first slice that has a new one."""
    identities = list(dict.fromkeys(c.identity for c in candidates if not c.refused))
    return all(len(by_identity(connection, some)) == len(some) for some in chunks(identities))


def plan(connection: sqlite3.Connection, candidates: Sequence[Candidate]) -> Plan:
    """Decide the fate of each unit; reads only."""
    twins = _twins(connection, candidates)
    wanted = [c.unit.id or c.identity for c in candidates if c.identity not in twins]
    taken = set(seqs_by_id(connection, wanted)) if wanted else set()
    entries: dict[str, _Entry] = {}
    receipts = []
    for place, candidate in enumerate(candidates):
        unit, identity = candidate.unit, candidate.identity
        if candidate.refused:
            text = unit.content if isinstance(unit.content, str) else ""
            receipts.append(UnitReceipt(unit.id, Fate.REFUSED, text, candidate.refused))
            continue
        entry = entries.get(identity)
        if entry is None and identity in twins:
            stored = twins[identity]
            entry = entries[identity] = _Entry(stored.id, identity, stored, stored, place)
        if entry is not None:
            entry.unit, reason = merge(entry.unit, unit)
            receipts.append(UnitReceipt(entry.id, Fate.MERGED, entry.unit.content, reason))
            continue
        unit_id = unit.id or identity
        if unit_id in taken:
            if unit_id != identity:
                reason = f"the id {unit_id!r} names another unit; use update to change that one"
                receipts.append(UnitReceipt(unit_id, Fate.REFUSED, unit.content, reason))
                continue
            unit_id = _free_id(connection, identity, taken)
        taken.add(unit_id)
        entries[identity] = _Entry(unit_id, identity, None, unit, place)
        receipts.append(UnitReceipt(unit_id, Fate.ADDED, unit.content))
    return Plan(tuple(entries.values()), receipts)


def carry_out(
    connection: sqlite3.Connection, planned: Plan, matrix: Vectors | None, now: datetime
) -> None:
    """Write what the plan says, in the caller's transaction."""
    for entry in planned.merged:
        assert entry.stored is not None
        restored = entry.stored.status is not entry.unit.status
        event = Event.RESTORE if restored else Event.UPDATE
        replace_unit(connection, entry.stored, entry.unit, event, now)
    if matrix is not None and planned.merged:
        _embed_merged(connection, planned.merged, matrix, now)
    if planned.new:
        _insert(connection, planned.new, matrix, now)


def changes(connection: sqlite3.Connection, planned: Plan, embedded: bool) -> bool:
    """Whether the plan writes anything; `embedded`: vectors were handed in."""
    merged = planned.merged
    if planned.new or any(e.stored != e.unit for e in merged):
        return True
    return embedded and len(_with_vector(connection, merged)) < len(merged)


def merge(stored: MemoryUnit, again: MemoryUnit) -> tuple[MemoryUnit, str]:
    """The stored unit enriched by its duplicate, and what was done with every difference.

    A unit that is no longer active comes back when it is said anew. The same turn of the same
    source (or of the same time) handed in again is not said anew, so its status stays.
    """
    new: dict[str, Any] = {}
    kept = [name for name in _KEPT if getattr(stored, name) != getattr(again, name)]
    for name in LISTS:
        more = [x for x in dict.fromkeys(getattr(again, name)) if x not in getattr(stored, name)]
        if more:
            new[name] = (*getattr(stored, name), *more)
    for name in _FILLED:
        old, given = getattr(stored, name), getattr(again, name)
        if given and not old:
            new[name] = given
        elif given and given != old:
            kept.append(name)
    for name in _LARGER:
        if getattr(again, name) > getattr(stored, name):
            new[name] = getattr(again, name)
    keys = [key for key in again.metadata if key not in stored.metadata]
    if keys:
        new["metadata"] = {**stored.metadata, **{key: again.metadata[key] for key in keys}}
    kept += [
        f"metadata {key!r}"
        for key, value in again.metadata.items()
        if key in stored.metadata and stored.metadata[key] != value
    ]
    notes = ["an equal unit is stored"]
    if new:
        notes.append(f"it gained {', '.join(new)}")
    if kept:
        notes.append(f"its {', '.join(kept)} stayed, though the new one differs")
    if stored.status is not again.status:
        notes.append(_settle_status(stored, again, new))
    return (replace(stored, **new) if new else stored), "; ".join(notes)


def _settle_status(stored: MemoryUnit, again: MemoryUnit, new: dict[str, Any]) -> str:
    said_anew = again.source is None and again.event_time is None
    if again.status is UnitStatus.ACTIVE and said_anew:
        new["status"], new["superseded_by"] = UnitStatus.ACTIVE, None
        return f"it was {stored.status} and is active again, because it was said anew"
    by = f" by {stored.superseded_by}" if stored.superseded_by else ""
    return f"it stays {stored.status}{by}, because it is the same turn; set_status changes that"


def _twins(
    connection: sqlite3.Connection, candidates: Sequence[Candidate]
) -> dict[str, MemoryUnit]:
    """Stored units by identity."""
    ids = by_identity(connection, (c.identity for c in candidates if not c.refused))
    units = {unit.id: unit for unit in by_id(connection, list(ids.values()))}
    return {identity: units[unit_id] for identity, unit_id in ids.items()}


def _free_id(connection: sqlite3.Connection, identity: str, taken: set[str]) -> str:
    """An id for content whose usual id names a unit that was updated to say something else."""
    number = 2
    while (other := stable_id(identity, str(number))) in taken or seqs_by_id(connection, [other]):
        number += 1
    return other


def _insert(
    connection: sqlite3.Connection, new: list[_Entry], matrix: Vectors | None, now: datetime
) -> None:
    before = connection.execute("SELECT coalesce(max(seq), 0) FROM units").fetchone()[0]
    numbers = scopes.numbers(connection, (e.unit.scope for e in new))
    moment = now.isoformat()
    connection.executemany(
        INSERT, (encode(e.unit, e.id, e.identity, numbers[e.unit.scope], moment) for e in new)
    )
    fulltext.index_after(connection, before)
    entries = (Entry(e.id, digest=digest(e.unit.content)) for e in new)
    record(connection, Event.ADD, entries, now)
    if matrix is not None:
        rows = connection.execute("SELECT seq FROM units WHERE seq > ? ORDER BY seq", (before,))
        seqs = [seq for (seq,) in rows.fetchall()]
        vectors.store(connection, seqs, matrix[[e.place for e in new]])


def _with_vector(connection: sqlite3.Connection, merged: Sequence[_Entry]) -> set[int]:
    return vectors.have_vector(connection, [e.stored.seq for e in merged if e.stored])


def _embed_merged(
    connection: sqlite3.Connection, merged: list[_Entry], matrix: Vectors, now: datetime
) -> None:
    """Give stored units the vector they lacked."""
    held = _with_vector(connection, merged)
    lacking = [e for e in merged if e.stored and e.stored.seq not in held]
    seqs = [e.stored.seq for e in lacking if e.stored]
    vectors.store(connection, seqs, matrix[[e.place for e in lacking]])
    none = Image(vector=(None,))
    record(connection, Event.REEMBED, (Entry(e.id, image=none) for e in lacking), now)
