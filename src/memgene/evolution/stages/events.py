"""What can happen when a model writes stages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from memgene.evolution.event import Event, volatile


@dataclass(frozen=True, slots=True)
class StageWritten(Event):
    """A model wrote a stage; it is in the run's folder `stages/ROUND/NAME.py`.

    `refused` says why it is not tried (empty: it is), `digest` names its text.
    """

    kind: ClassVar[str] = "stage_written"
    round: int
    model: str
    name: str
    strength: float
    reason: str
    refused: str
    digest: str
    usage: Mapping[str, Mapping[str, float]] = field(
        default_factory=dict, metadata={"volatile": True}
    )
    seconds: float = volatile()


STAGE_EVENTS: tuple[type[Event], ...] = (StageWritten,)
