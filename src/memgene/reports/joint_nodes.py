"""The genomes of a joint evolution: the start, and one after each pass."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from memgene.evolution.event import Event
from memgene.evolution.events import Promoted
from memgene.evolution.joint.together import TOGETHER
from memgene.evolution.programs.lineage import REGRESSION
from memgene.reports.coevolve_nodes import coevolve_nodes
from memgene.reports.config_nodes import config_nodes
from memgene.reports.joint_reading import Finished, JointRecord, Turn
from memgene.reports.node import Node, Rejection, Status
from memgene.reports.numbers import counted, signed
from memgene.reports.program_nodes import program_nodes
from memgene.reports.rechecks import recheck_rejections
from memgene.reports.recorded import of_kind


def joint_nodes(found: JointRecord) -> tuple[Node, ...]:
    """The start and the genome of each finished pass, in order; one that a pass handed on as it
    was stands there once."""
    if not found.turns:
        return ()
    promoted = {event.candidate for event in of_kind(found.outside, Promoted)}
    rechecks = recheck_rejections(found.outside)
    scores = {found.start: found.start_score}
    nodes = [_start(found, promoted)]
    for turn in found.turns:
        told = turn.finished
        if told is None or told.candidate in scores:
            continue
        nodes.append(_node(turn, told, scores.get(turn.began.parent), promoted, rechecks))
        scores[told.candidate] = told.score
    return tuple(nodes)


def inner_nodes(turn: Turn) -> tuple[Node, ...]:
    """Candidates of the search inside a pass, named `NN-ARM/ID`."""
    found = config_nodes(turn.inner) if turn.began.arm == TOGETHER else _searched(turn.inner)
    return tuple(
        replace(
            node,
            id=inner_name(turn, node.id),
            parent=None if node.parent is None else inner_name(turn, node.parent),
        )
        for node in found
    )


def inner_name(turn: Turn, candidate: str) -> str:
    """How a candidate of the search inside a pass is told from those of others."""
    return f"{turn.part}/{candidate}"


def _searched(events: Sequence[Event]) -> tuple[Node, ...]:
    return (*config_nodes(events), *program_nodes(events), *coevolve_nodes(events))


def _start(found: JointRecord, promoted: set[str]) -> Node:
    return Node(
        id=found.start,
        parent=None,
        title="start",
        message="",
        iteration=0,
        status=Status.PROMOTED if found.start in promoted else Status.SEED,
        score=found.start_score,
        proposer="start",
    )


def _node(
    turn: Turn,
    told: Finished,
    before: float | None,
    promoted: set[str],
    rechecks: dict[str, tuple[Rejection, ...]],
) -> Node:
    delta = None if before is None or told.score is None else told.score - before
    status = Status.JOINED if told.accepted else Status.REFUSED
    why = f"gain {signed(told.gain)} over {counted(told.questions, 'question')}"
    own = () if told.accepted else (Rejection("pass", why),)
    return Node(
        id=told.candidate,
        parent=turn.began.parent,
        title=f"pass {told.number}: {told.arm}",
        message=turn.began.why,
        iteration=told.number,
        status=Status.PROMOTED if told.candidate in promoted else status,
        rejections=(*own, *rechecks.get(told.candidate, ())),
        score=told.score,
        delta=delta,
        regressed=delta is not None and delta < -REGRESSION,
        proposer=told.arm,
    )
