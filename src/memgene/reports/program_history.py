"""A program search: every program that was written, and what came of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from memgene.evolution.event import Event
from memgene.evolution.events import Evaluated, Stopped
from memgene.evolution.programs.events import Drafted, IterationFinished
from memgene.reports.history import Cases, History, zeros
from memgene.reports.lineage import LineageView, lineage_of
from memgene.reports.model import Chosen, Draft, Round, Verdict, Wording
from memgene.reports.node import Node, Status
from memgene.reports.numbers import points
from memgene.reports.recorded import (
    STATIC,
    candidate_file,
    evaluations,
    first,
    of_kind,
    required_file,
    split_cases,
)

PROGRAM = "program.py"
WORDING = Wording(
    step="iteration",
    row="candidate",
    verdicts=(Verdict.SEED, Verdict.BEST, Verdict.JOINED, Verdict.REFUSED),
    followed="One question along the line that led to the best program",
)
_PATCH, _SAID = "patch.diff", "reflection.md"


def program_history(folder: Path, events: Sequence[Event], metric: str) -> History:
    """The search that a journal tells. Raises RunError when a file it names is gone."""
    lineage = lineage_of(folder, events)
    drafted = {event.candidate: event for event in of_kind(events, Drafted)}
    evaluated = evaluations(events)
    val = _static_cases(folder, lineage, evaluated)
    verdicts = _verdicts(lineage)
    best = _best_scores(lineage, events)
    drafts = tuple(
        _draft(folder, node, drafted[node.id], evaluated.get(node.id, ()), verdicts[node.id])
        for node in lineage.nodes
    )
    rounds = tuple(
        _round(draft, verdicts[draft.node.id], best, val.get(draft.node.id, {}), metric)
        for draft in drafts
    )
    stopped = first(events, Stopped)
    line = tuple(node.id for node in lineage.line(lineage.best)) if lineage.best else ()
    return History(
        wording=WORDING,
        rounds=rounds,
        val=val,
        line=line,
        kept=line[-1] if line else "",
        stopped=f"Stopped after iteration {stopped.round}: {stopped.detail}." if stopped else "",
        summary=_summary(lineage),
        drafts=drafts,
        start=_start(lineage),
        chosen=_chosen(folder, lineage),
    )


def _static_cases(
    folder: Path, lineage: LineageView, evaluated: Mapping[str, Sequence[Evaluated]]
) -> dict[str, Cases]:
    """Cases of the candidates that have a score, on the questions that select; a program that an
    earlier pass of a joint evolution evaluated has none of its own."""
    found: dict[str, Cases] = {}
    for node in lineage.nodes:
        splits = split_cases(folder, node.id, evaluated.get(node.id, ()))
        if node.score is not None and STATIC in splits:
            found[node.id] = {case.question_id: case for case in splits[STATIC]}
    return found


def _verdicts(lineage: LineageView) -> dict[str, Verdict]:
    """What became of each candidate; a child above all before it is a new best."""
    found = {}
    top = float("-inf")
    for node in lineage.nodes:
        joined = node.status in (Status.SEED, Status.JOINED, Status.PROMOTED)
        if joined and node.parent is None:
            found[node.id] = Verdict.SEED
        elif joined and node.score is not None:
            found[node.id] = Verdict.BEST if node.score > top else Verdict.JOINED
        else:
            refused = node.status is Status.REFUSED
            found[node.id] = Verdict.REFUSED if refused else Verdict.SKIPPED
        if joined and node.score is not None:
            top = max(top, node.score)
    return found


def _best_scores(lineage: LineageView, events: Sequence[Event]) -> dict[int, float]:
    """The best score in the pool after each iteration that is finished; 0 stands for the seeds."""
    seeds = [n.score for n in lineage.nodes if n.parent is None and n.score is not None]
    found = {0: max(seeds)} if seeds else {}
    return found | {e.iteration: e.best_score for e in of_kind(events, IterationFinished)}


def _draft(
    folder: Path,
    node: Node,
    made: Drafted,
    evaluated: Sequence[Evaluated],
    verdict: Verdict,
) -> Draft:
    whole = made.digest and not node.parent
    said = candidate_file(folder, node.id, _SAID)
    return Draft(
        node=node,
        patch=(candidate_file(folder, node.id, _PATCH) or "") if node.parent else "",
        source=required_file(folder, node.id, PROGRAM) if whole else "",
        seconds=made.seconds + sum(event.seconds for event in evaluated),
        transcript=f"candidates/{node.id}/{_SAID}" if said is not None else "",
        new_best=verdict is Verdict.BEST,
    )


def _round(
    draft: Draft, verdict: Verdict, best: Mapping[int, float], cases: Cases, metric: str
) -> Round:
    node = draft.node
    joined = verdict not in (Verdict.REFUSED, Verdict.SKIPPED)
    return Round(
        number=node.iteration,
        name=node.id,
        verdict=verdict,
        score=node.score if joined else None,
        best=best.get(node.iteration),
        kind=node.proposer,
        why=node.message,
        outcome="; ".join(each.reason for each in node.rejections),
        zeros=zeros(cases, metric),
        seconds=draft.seconds,
    )


def _summary(lineage: LineageView) -> str:
    children = [node for node in lineage.nodes if node.parent is not None]
    refused = sum(node.status is Status.REFUSED for node in children)
    joined = sum(node.status in (Status.JOINED, Status.PROMOTED) for node in children)
    regressed = sum(node.regressed for node in children)
    lost = [node.title for node in lineage.nodes if node.parent is None and node.rejections]
    seeds = f" Seeds refused: {', '.join(lost)}." if lost else ""
    return (
        f"{len(children)} drafts: {joined} joined the pool "
        f"({regressed} of them below their parent), {refused} refused.{seeds}"
    )


def _start(lineage: LineageView) -> str:
    seeds = [node for node in lineage.nodes if node.parent is None and node.score is not None]
    if not seeds:
        return ""
    best = max(seeds, key=lambda node: node.score or 0.0)
    return f"start is the seed that was best on val: {best.id}, {best.title}."


def _chosen(folder: Path, lineage: LineageView) -> Chosen | None:
    """The promoted program, or the best so far."""
    if lineage.best is None:
        return None
    node = lineage.find(lineage.best)
    line = " → ".join(each.id for each in lineage.line(node.id))
    return Chosen(
        title="The promoted program" if lineage.promoted else "The best program so far",
        about=f"{node.id}: {node.title}. Score {points(node.score)} on val; line {line}.",
        source=required_file(folder, node.id, PROGRAM),
    )
