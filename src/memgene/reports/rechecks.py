"""Candidates that were turned away after the search, by fresh val questions."""

from __future__ import annotations

from collections.abc import Sequence

from memgene.evolution.event import Event
from memgene.evolution.events import Rechecked
from memgene.reports.node import Rejection
from memgene.reports.numbers import signed
from memgene.reports.recorded import of_kind


def recheck_rejections(events: Sequence[Event]) -> dict[str, tuple[Rejection, ...]]:
    """A rejection by candidate, whatever searched for it."""
    return {
        event.candidate: (
            Rejection(
                "recheck",
                f"{signed(event.delta)} against {event.against} "
                f"on {event.questions} fresh val questions",
            ),
        )
        for event in of_kind(events, Rechecked)
        if not event.kept
    }
