"""The candidates of a program search, from its events."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from memgene.evolution.event import Event
from memgene.evolution.events import Evaluated, Promoted
from memgene.evolution.programs.events import Drafted, Joined, Refused
from memgene.reports.node import Node, Rejection, Status
from memgene.reports.rechecks import recheck_rejections
from memgene.reports.recorded import STATIC, of_kind


def program_nodes(events: Sequence[Event]) -> tuple[Node, ...]:
    """One node a draft, in the order in which they were made."""
    found = _Found(events)
    return tuple(found.node(draft) for draft in found.drafts.values())


class _Found:
    """Events by candidate."""

    def __init__(self, events: Sequence[Event]) -> None:
        self.drafts: Mapping[str, Drafted] = {e.candidate: e for e in of_kind(events, Drafted)}
        self._joined = {e.candidate: e for e in of_kind(events, Joined)}
        self._refused = {e.candidate: e for e in of_kind(events, Refused)}
        self._scores = {
            e.candidate: e.score for e in of_kind(events, Evaluated) if e.split == STATIC
        }
        self._rechecks = recheck_rejections(events)
        self._promoted = {e.candidate for e in of_kind(events, Promoted)}

    def node(self, draft: Drafted) -> Node:
        name = draft.candidate
        joined = self._joined.get(name)
        rejections = (*self._rejections(draft), *self._rechecks.get(name, ()))
        return Node(
            id=name,
            parent=draft.parent or None,
            title=draft.title,
            message=draft.message,
            iteration=draft.iteration,
            status=self._status(draft, rejections),
            rejections=rejections,
            score=joined.score if joined else self._scores.get(name),
            delta=joined.delta if joined and draft.parent else None,
            regressed=joined is not None and joined.regressed,
            failures=joined.failures if joined else 0,
            attempts=draft.attempts,
            proposer=draft.proposer,
        )

    def _status(self, draft: Drafted, rejections: Sequence[Rejection]) -> Status:
        if draft.candidate in self._promoted:
            return Status.PROMOTED
        if draft.candidate in self._joined:
            return Status.JOINED if draft.parent else Status.SEED
        return Status.REFUSED if rejections else Status.PENDING

    def _rejections(self, draft: Drafted) -> tuple[Rejection, ...]:
        """Why it is not in the pool. A program that broke at work and was mended goes on under
        another name; when mending fails, the journal refuses the first of them."""
        name = draft.candidate
        refused = self._refused.get(name)
        if refused is not None:
            return (Rejection(refused.stage, refused.reason),)
        if name in self._joined:
            return ()
        first, _, mended = name.partition(".")
        successor = f"{first}.{int(mended or 0) + 1}"
        if successor in self.drafts:
            return (Rejection("runtime", f"it broke at work; mended as {successor}"),)
        if mended and first in self._refused:
            given_up = self._refused[first]
            return (Rejection(given_up.stage, draft.refused or given_up.reason),)
        return ()
