"""Where new messages of a known episode belong: conversations arrive in pieces, or again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from memgene.bank.unit import MemoryUnit

Turn = tuple[str | None, str, datetime | None]
"""Speaker, words, and when it was said."""

_SURELY_AGAIN = 2


def offset_of(new: Sequence[Turn], stored: Sequence[Turn]) -> int:
    """Position among the stored turns of the first new one.

    New turns that overlap the end of the stored ones continue them from there. Inside, they count
    as handed in again only where at least two equal as many: one "yes" may well be said twice.
    Of several overlaps the longest is taken; without any, the new turns follow the last one.
    """
    best, offset = 0, len(stored)
    for start in range(len(stored)):
        overlap = min(len(new), len(stored) - start)
        if overlap <= best or (overlap < _SURELY_AGAIN and start + overlap < len(stored)):
            continue
        if list(stored[start : start + overlap]) == list(new[:overlap]):
            best, offset = overlap, start
    return offset


def placed(new: Sequence[MemoryUnit], stored: Sequence[MemoryUnit]) -> list[MemoryUnit]:
    """The new units over the stored ones they repeat, or behind the last, without gaps."""
    stored = sorted(stored, key=_place)
    offset = offset_of([_turn(u) for u in new], [_turn(u) for u in stored])
    places = [_place(u) for u in stored]
    behind = places[-1] + 1 if places else 0
    taken = places[offset : offset + len(new)]
    taken += range(behind, behind + len(new) - len(taken))
    return [replace(u, turn_start=at, turn_end=at) for u, at in zip(new, taken, strict=True)]


def _turn(unit: MemoryUnit) -> Turn:
    return unit.speaker, unit.content, unit.event_time


def _place(unit: MemoryUnit) -> int:
    return unit.turn_start or 0
