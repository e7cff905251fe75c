"""The states of a co-evolution, from its events."""

from __future__ import annotations

from collections.abc import Sequence

from memgene.evolution.coevolve.events import CoevolutionStarted, PhaseFinished
from memgene.evolution.event import Event
from memgene.evolution.events import Accepted, Evaluated, Promoted, Rejected
from memgene.evolution.programs.lineage import REGRESSION
from memgene.reports.node import Node, Rejection, Status
from memgene.reports.numbers import counted, points
from memgene.reports.rechecks import recheck_rejections
from memgene.reports.recorded import of_kind

START = "000"


def coevolve_nodes(events: Sequence[Event]) -> tuple[Node, ...]:
    """The start and one node a phase, in order. Training goes on from a refused state too."""
    found = _Found(events)
    starts = [found.start(event) for event in of_kind(events, CoevolutionStarted)]
    return (*starts, *(found.node(event) for event in of_kind(events, PhaseFinished)))


def told(event: PhaseFinished) -> str:
    """What happened in a phase, in a sentence."""
    words = [f"{counted(event.played, 'question')} played"]
    if event.reward is not None:
        words.insert(0, f"mean reward {points(event.reward)}")
    if event.credited:
        words.append(f"{counted(event.credited, 'value')} moved")
    if event.distilled:
        words.append(f"{counted(event.distilled, 'memory', 'memories')} distilled")
    if event.degraded:
        words.append(f"{counted(event.degraded, 'step')} fell back to something simpler")
    text = ", ".join(words)
    return f"{text[:1].upper()}{text[1:]}."


class _Found:
    """Events by candidate."""

    def __init__(self, events: Sequence[Event]) -> None:
        self._accepted = {e.candidate for e in of_kind(events, Accepted)}
        self._rejected = {e.candidate: e for e in of_kind(events, Rejected)}
        self._scores = {
            e.candidate: e.score for e in of_kind(events, Evaluated) if e.split == "val"
        }
        self._rechecks = recheck_rejections(events)
        self._promoted = {e.candidate for e in of_kind(events, Promoted)}

    def start(self, event: CoevolutionStarted) -> Node:
        return Node(
            id=START,
            parent=None,
            title="start",
            message=f"{event.steps} phases over {event.training} questions, {event.schedule}",
            iteration=0,
            status=Status.PROMOTED if START in self._promoted else Status.SEED,
            score=self._scores.get(START),
            proposer="start",
        )

    def node(self, event: PhaseFinished) -> Node:
        name = event.candidate
        before, after = self._scores.get(event.parent), self._scores.get(name)
        delta = None if before is None or after is None else after - before
        return Node(
            id=name,
            parent=event.parent,
            title=f"{event.phase} phase, cycle {event.cycle}",
            message=told(event),
            iteration=event.number,
            status=self._status(name),
            rejections=self._rejections(name),
            score=after,
            delta=delta,
            regressed=delta is not None and delta < -REGRESSION,
            proposer=event.phase,
        )

    def _status(self, name: str) -> Status:
        if name in self._promoted:
            return Status.PROMOTED
        if name in self._rejected:
            return Status.REFUSED
        return Status.JOINED if name in self._accepted else Status.PENDING

    def _rejections(self, name: str) -> tuple[Rejection, ...]:
        judged = self._rejected.get(name)
        own = () if judged is None else (Rejection("guard", judged.reason),)
        return (*own, *self._rechecks.get(name, ()))
