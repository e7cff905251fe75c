"""Episodes as turns: the units that memories without extraction hold."""

from __future__ import annotations

from memgene.bank.unit import MemoryUnit
from memgene.core import Episode, Hit


def turns_of(episode: Episode) -> list[MemoryUnit]:
    """One unit per message, in order, each with the message's own time or its episode's.

    A message without an id is known by its episode's.
    """
    return [
        MemoryUnit(
            content=message.content,
            speaker=message.speaker,
            source=episode.id,
            turn_start=place,
            turn_end=place,
            refs=(message.id or episode.id,),
            event_time=message.time or episode.time,
        )
        for place, message in enumerate(episode.messages)
    ]


def hit_of(unit: MemoryUnit, score: float) -> Hit:
    """The unit as a hit, its identity as id."""
    return Hit(
        id=unit.identity(),
        text=unit.content,
        score=score,
        source=unit.source,
        refs=unit.refs,
        rendered=unit.rendered,
        event_time=unit.event_time,
        speaker=unit.speaker,
    )
