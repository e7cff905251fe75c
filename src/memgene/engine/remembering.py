"""An episode into the bank: as it was said, as extracted facts, or both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from threading import Lock

from memgene.bank.protocol import Bank, Filter, UnitReceipt
from memgene.bank.unit import MemoryUnit, UnitStatus
from memgene.core import Episode, Scope
from memgene.embed.protocol import Embedder
from memgene.engine.extraction.extractor import BY, FROM, PART, Extractor, episode_digest
from memgene.engine.extraction.report import ExtractionReport
from memgene.engine.writing import units_from_episode, write_units


@dataclass(frozen=True, slots=True)
class Remembered:
    """Receipts of the units of an episode, and what its extraction did (None: none was needed)."""

    receipts: tuple[UnitReceipt, ...]
    extraction: ExtractionReport | None = None


class ExtractionLog:
    """The sum of the extraction reports of a memory. Thread-safe."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._total = ExtractionReport()

    def add(self, report: ExtractionReport) -> None:
        """Count one more."""
        with self._lock:
            self._total += report

    @property
    def total(self) -> ExtractionReport:
        """Everything so far."""
        with self._lock:
            return self._total


def remember(
    bank: Bank,
    embedder: Embedder | None,
    episode: Episode,
    scope: Scope | None = None,
    extractor: Extractor | None = None,
    *,
    verbatim: bool = True,
) -> Remembered:
    """Store an episode in one transaction: its turns (`verbatim`), its facts (`extractor`).

    An episode whose words were extracted before by an equal extractor is not extracted again: its
    units carry the extractor's key and the digest of what it read. What another extractor made
    from the same words, and turns that were kept because the model was away, are archived, so that
    nothing stands twice.
    """
    owner = scope or Scope()
    turns = units_from_episode(episode, owner) if verbatim else []
    if extractor is None:
        return Remembered(tuple(write_units(bank, embedder, turns)))
    made = _made(bank, episode, owner, FROM)
    if any(unit.metadata[BY] == extractor.key for unit in made):
        return Remembered(
            tuple(write_units(bank, embedder, turns)), ExtractionReport(episodes=1, resumed=1)
        )
    made += _made(bank, episode, owner, PART)
    extraction = extractor.extract(episode, owner)
    with bank.atomic():
        receipts = write_units(bank, embedder, _joined(turns, extraction.units))
        ids = [receipt.id for receipt in receipts]
        stale = [unit.id for unit in made if unit.id not in ids]
        bank.set_status(stale, UnitStatus.ARCHIVED)
        # archived when another extractor did not find them
        back = [u.id for u in bank.get(ids) if u.status is UnitStatus.ARCHIVED and BY in u.metadata]
        bank.set_status(back, UnitStatus.ACTIVE)
    return Remembered(tuple(receipts), extraction.report)


def _made(bank: Bank, episode: Episode, owner: Scope, how: str) -> list[MemoryUnit]:
    """Active units that were extracted from all (FROM) or PART of what the episode says."""
    where = Filter(sources=(episode.id,), metadata={how: episode_digest(episode)})
    return [unit for unit in bank.scan(owner, where) if unit.scope == owner]


def _joined(turns: Sequence[MemoryUnit], extracted: Sequence[MemoryUnit]) -> list[MemoryUnit]:
    """All units, a turn that was kept as it was said once, facts behind the turns they tell."""
    kept = {unit.identity(): unit for unit in extracted}
    units = [kept.pop(turn.identity(), turn) for turn in turns]
    units += kept.values()
    return sorted(units, key=lambda unit: -1 if unit.turn_start is None else unit.turn_start)
