"""The candidates of a configuration search, from its events."""

from __future__ import annotations

from collections.abc import Sequence

from memgene.evolution.event import Event
from memgene.evolution.events import Accepted, Evaluated, Promoted, Proposed, Rejected, Reverted
from memgene.evolution.programs.lineage import REGRESSION
from memgene.reports.node import Node, Rejection, Status
from memgene.reports.numbers import points, value
from memgene.reports.rechecks import recheck_rejections
from memgene.reports.recorded import of_kind


def config_nodes(events: Sequence[Event]) -> tuple[Node, ...]:
    """One node a proposal, in order."""
    found = _Found(events)
    return tuple(found.node(made) for made in of_kind(events, Proposed))


class _Found:
    """Events by candidate."""

    def __init__(self, events: Sequence[Event]) -> None:
        self._accepted = {e.candidate: e for e in of_kind(events, Accepted)}
        self._rejected = {e.candidate: e for e in of_kind(events, Rejected)}
        self._reverted = {e.given_up: e for e in of_kind(events, Reverted)}
        self._scores = {
            e.candidate: e.score for e in of_kind(events, Evaluated) if e.split == "val"
        }
        self._rechecks = recheck_rejections(events)
        self._promoted = {e.candidate for e in of_kind(events, Promoted)}

    def node(self, made: Proposed) -> Node:
        name = made.candidate
        judged = self._accepted.get(name) or self._rejected.get(name)
        delta = judged.delta if judged else None
        return Node(
            id=name,
            parent=made.parent or None,
            title=_title(made),
            message=made.reason,
            iteration=made.round,
            status=self._status(made),
            rejections=self._rejections(name),
            score=self._scores.get(name),
            delta=delta,
            regressed=delta is not None and delta < -REGRESSION,
            proposer=made.proposer,
        )

    def _status(self, made: Proposed) -> Status:
        name = made.candidate
        if name in self._promoted:
            return Status.PROMOTED
        if not made.parent:
            return Status.SEED
        if name in self._rejected or name in self._reverted:
            return Status.REFUSED
        return Status.JOINED if name in self._accepted else Status.PENDING

    def _rejections(self, name: str) -> tuple[Rejection, ...]:
        found = []
        if name in self._rejected:
            found.append(Rejection("guard", self._rejected[name].reason))
        if name in self._reverted:
            fell = self._reverted[name]
            words = f"{points(fell.drop)} under the best, back to {fell.back_to}"
            found.append(Rejection("revert", words))
        return (*found, *self._rechecks.get(name, ()))


def _title(made: Proposed) -> str:
    if not made.parent:
        return made.proposer
    return "; ".join(f"{lever} = {value(new)}" for lever, new in made.changes.items())
