"""Where new messages of a known episode belong: conversations arrive in pieces, or again."""

from __future__ import annotations

from collections.abc import Sequence

Turn = tuple[str | None, str]
"""Speaker and words."""


def offset_of(new: Sequence[Turn], stored: Sequence[Turn]) -> int:
    """Position in the episode of the first new turn, given the turns stored so far.

    The new turns go where they overlap the stored ones most: inside them (handed in again), or
    over their end (the conversation has grown); without any overlap they follow the last turn.
    """
    best, offset = 0, len(stored)
    for start in range(len(stored)):
        overlap = min(len(new), len(stored) - start)
        if overlap > best and list(stored[start : start + overlap]) == list(new[:overlap]):
            best, offset = overlap, start
    return offset
