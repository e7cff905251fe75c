"""Units from episodes, and vectors for units."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from memgene.bank.protocol import Bank, EmbedderInfo, Fate, Filter, UnitReceipt
from memgene.bank.unit import MemoryUnit, UnitStatus
from memgene.core import Episode, Scope
from memgene.embed.protocol import Embedder

_EMBED_AT_ONCE = 1024


def units_from_episode(episode: Episode, scope: Scope | None = None) -> list[MemoryUnit]:
    """One unit per message that has words, in order; no extraction."""
    owner = scope or Scope()
    return [
        MemoryUnit(
            content=message.content,
            scope=owner,
            speaker=message.speaker,
            source=episode.id,
            turn_start=turn,
            turn_end=turn,
            refs=(message.id,) if message.id else (),
            event_time=message.time or episode.time,
            metadata={"caption": message.caption} if message.caption else {},
        )
        for turn, message in enumerate(episode.messages)
        if message.content.strip()
    ]


def write_units(
    bank: Bank, embedder: Embedder | None, units: Sequence[MemoryUnit]
) -> list[UnitReceipt]:
    """Store units with vectors; only texts that are not stored with one yet are embedded."""
    if embedder is None:
        return bank.add(units)
    bank.set_embedder(EmbedderInfo(embedder.name, embedder.dimension))
    identities = [u.identity() if is_encodable(u.rendered) else "" for u in units]
    twins = bank.twins([identity for identity in identities if identity])
    embedded = set(bank.vectors(list(twins.values()))[0])
    known = {identity for identity, twin in twins.items() if twin in embedded}
    vectors = np.zeros((len(units), embedder.dimension), np.float32)
    fresh = [i for i, identity in enumerate(identities) if identity and identity not in known]
    if fresh:
        vectors[fresh] = embedder.embed([units[i].rendered for i in fresh])
    receipts = bank.add(units, vectors)
    # A twin that another process deleted meanwhile was added without its vector.
    for i, receipt in enumerate(receipts):
        if receipt.fate is Fate.ADDED and identities[i] in known:
            (stored,) = bank.get([receipt.id])
            bank.update(stored, embedder.embed([stored.rendered])[0])
    return receipts


def is_encodable(text: str) -> bool:
    """Whether the text is valid Unicode. A bank refuses other texts by name, and neither an
    embedder nor a hash may fail on them first."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def reembed(
    bank: Bank, embedder: Embedder, progress: Callable[[int, int], None] | None = None
) -> int:
    """Replace all vectors of a bank by another embedder's, in one transaction. Returns how many."""
    units = list(bank.scan(None, Filter(statuses=tuple(UnitStatus))))
    ids: list[str] = []
    parts = []
    for at in range(0, len(units), _EMBED_AT_ONCE):
        part = units[at : at + _EMBED_AT_ONCE]
        parts.append(embedder.embed([u.rendered for u in part]))
        ids += [u.id for u in part]
        if progress is not None:
            progress(len(ids), len(units))
    vectors = np.concatenate(parts) if parts else np.zeros((0, embedder.dimension), np.float32)
    bank.replace_vectors(EmbedderInfo(embedder.name, embedder.dimension), ids, vectors)
    return len(ids)
