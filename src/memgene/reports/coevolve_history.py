"""A co-evolution: what each phase learned, and what came of the state it ended in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from memgene.evolution.coevolve.events import (
    CoevolutionStarted,
    PhaseFinished,
    Retrained,
    WeightFixed,
)
from memgene.evolution.event import Event
from memgene.evolution.events import Evaluated, RoundFinished, Stopped
from memgene.reports.coevolve_model import Learning
from memgene.reports.coevolve_nodes import START
from memgene.reports.coevolve_reading import compared_weights, read_held, read_picture
from memgene.reports.history import Cases, History, zeros
from memgene.reports.lineage import LineageView, lineage_of
from memgene.reports.model import Round, Verdict, Wording
from memgene.reports.node import Node, Status
from memgene.reports.numbers import points
from memgene.reports.recorded import evaluations, first, of_kind, split_cases

WORDING = Wording(
    step="phase",
    row="state",
    verdicts=(Verdict.START, Verdict.ACCEPTED, Verdict.REJECTED),
    followed="One question through all states",
    rounds="What each phase learned",
)
_START_ROW = "start is what both learners began with: nothing learned by router or memory."


def coevolve_history(folder: Path, events: Sequence[Event], metric: str) -> History:
    """The training that a journal tells. Raises RunError when a file it names is gone."""
    lineage = lineage_of(folder, events)
    val = _val_cases(folder, lineage, events)
    phases = {event.candidate: event for event in of_kind(events, PhaseFinished)}
    rounds = tuple(
        _round(node, events, phases.get(node.id), val.get(node.id, {}), metric)
        for node in lineage.nodes
    )
    stopped = first(events, Stopped)
    accepted = [r.name for r in rounds if r.verdict is Verdict.ACCEPTED]
    return History(
        wording=WORDING,
        rounds=rounds,
        val=val,
        line=tuple(node.id for node in lineage.nodes if node.id in val),
        kept=lineage.best or "",
        stopped=f"Stopped after phase {stopped.round}: {stopped.detail}." if stopped else "",
        summary=_summary(events, len(phases), len(accepted)),
        start=_START_ROW,
        learning=_learning(folder, lineage, events, val),
        notes=_notes(events),
    )


def _val_cases(folder: Path, lineage: LineageView, events: Sequence[Event]) -> dict[str, Cases]:
    evaluated = evaluations(events)
    found: dict[str, Cases] = {}
    for node in lineage.nodes:
        splits = split_cases(folder, node.id, evaluated.get(node.id, ()))
        if "val" in splits:
            found[node.id] = {case.question_id: case for case in splits["val"]}
    return found


def _round(
    node: Node,
    events: Sequence[Event],
    phase: PhaseFinished | None,
    cases: Cases,
    metric: str,
) -> Round:
    evaluated = first(events, Evaluated, candidate=node.id, split="val")
    finished = first(events, RoundFinished, candidate=node.id)
    return Round(
        number=node.iteration,
        name=node.id,
        verdict=_verdict(node, events),
        score=node.score,
        best=finished.best_score if finished else node.score if phase is None else None,
        kind=node.title,
        why=node.message,
        outcome="; ".join(f"{each.stage}: {each.reason}" for each in node.rejections),
        zeros=zeros(cases, metric),
        seconds=(phase.seconds if phase else 0.0) + (evaluated.seconds if evaluated else 0.0),
    )


def _verdict(node: Node, events: Sequence[Event]) -> Verdict:
    if node.parent is None:
        return Verdict.START
    if any(each.stage == "guard" for each in node.rejections):
        return Verdict.REJECTED
    return Verdict.SKIPPED if node.status is Status.PENDING else Verdict.ACCEPTED


def _summary(events: Sequence[Event], taken: int, accepted: int) -> str:
    started = first(events, CoevolutionStarted)
    if started is None:
        return ""
    return (
        f"{taken} of {started.steps} phases ({started.schedule}) over {started.training} training "
        f"questions; {accepted} states accepted. Training goes on from the latest state, accepted "
        "or not."
    )


def _learning(
    folder: Path, lineage: LineageView, events: Sequence[Event], val: Mapping[str, Cases]
) -> Learning | None:
    started = first(events, CoevolutionStarted)
    if started is None:
        return None
    phases = tuple(of_kind(events, PhaseFinished))
    state = lineage.best or START
    aside = state == START and bool(phases)
    if aside:
        state = phases[-1].candidate
    before, after = (list(val.get(name, {}).values()) for name in (START, state))
    return Learning(
        schedule=started.schedule,
        training=started.training,
        routes=started.routes,
        phases=phases,
        scores={node.id: node.score for node in lineage.nodes if node.score is not None},
        state=state,
        aside=aside,
        weights=compared_weights(before, after, started.routes),
        held=read_held(folder, state),
        picture=read_picture(folder, state),
    )


def _notes(events: Sequence[Event]) -> tuple[str, ...]:
    notes = [
        f"{event.row} took the first {event.steps} phases once more on {event.questions} questions "
        "of dev and val before it was measured on test."
        for event in of_kind(events, Retrained)
    ]
    notes += [
        f"{event.row} is the start with {points(event.share)} % of the weight on the dense route "
        f"for every question: the best of all shares on {event.questions} questions of dev and "
        f"val ({points(event.score)} there)."
        for event in of_kind(events, WeightFixed)
    ]
    return tuple(notes)
