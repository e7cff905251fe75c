"""A joint evolution: what each pass gained, at what cost, and what happened inside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from memgene.evaluation.case import Case
from memgene.evolution.coevolve.events import CoevolutionStarted
from memgene.evolution.event import Event
from memgene.evolution.events import Promoted, Proposed, Stopped
from memgene.evolution.joint.together import TOGETHER
from memgene.evolution.programs.events import Drafted
from memgene.reports.coevolve_history import coevolve_history
from memgene.reports.config_history import config_history
from memgene.reports.history import Cases, History, zeros
from memgene.reports.joint_genomes import Genomes
from memgene.reports.joint_model import Joint, Pass
from memgene.reports.joint_nodes import inner_name, joint_nodes
from memgene.reports.joint_reading import JointRecord, Turn, read_joint
from memgene.reports.model import Chosen, Draft, Round, Verdict, Wording
from memgene.reports.node import Node
from memgene.reports.numbers import counted, points
from memgene.reports.program_history import PROGRAM, program_history
from memgene.reports.recorded import candidate_file, evaluations, first, split_cases

WORDING = Wording(
    step="pass",
    row="genome",
    verdicts=(Verdict.START, Verdict.ACCEPTED, Verdict.REJECTED),
    followed="One question through all genomes",
)


def joint_history(folder: Path, events: Sequence[Event], metric: str) -> History:
    """The passes that a journal tells. Raises RunError when a file it names is gone."""
    record = read_joint(events)
    if record is None:
        return History(wording=WORDING, rounds=())
    genomes = Genomes(folder, record)
    nodes = joint_nodes(record)
    inner = [_inner(folder, turn, metric) for turn in record.turns]
    val = _val_cases(folder, record, nodes)
    stopped = first(record.outside, Stopped)
    best = _best(record)
    return History(
        wording=WORDING,
        rounds=tuple(_round(node, record, val.get(node.id, {}), metric) for node in nodes),
        val=val,
        line=tuple(node.id for node in nodes if node.id in val),
        kept=best,
        stopped=f"Stopped after pass {stopped.round}: {stopped.detail}." if stopped else "",
        summary=_summary(record),
        drafts=_drafts(folder, record, inner),
        start=f"start is the genome that the first pass was given: {record.start}.",
        chosen=_chosen(record, genomes, best, nodes),
        joint=_joint(record, genomes, nodes, inner, best),
    )


def _inner(folder: Path, turn: Turn, metric: str) -> list[History]:
    """What the search inside a pass tells, in its own strategy's words; nothing where a pass
    changes all parts at once, whose steps are no search of their own."""
    if turn.began.arm == TOGETHER:
        return []
    part = folder / "passes" / turn.part
    readers = (
        (Drafted, program_history),
        (Proposed, config_history),
        (CoevolutionStarted, coevolve_history),
    )
    return [
        read(part, turn.inner, metric)
        for mark, read in readers
        if first(turn.inner, mark) is not None
    ]


def _joint(
    record: JointRecord,
    genomes: Genomes,
    nodes: tuple[Node, ...],
    inner: Sequence[Sequence[History]],
    best: str,
) -> Joint:
    return Joint(
        schedule=record.started.schedule,
        arms=tuple(record.started.arms),
        start=record.start_score,
        passes=tuple(_pass(turn, found) for turn, found in zip(record.turns, inner, strict=True)),
        skips=record.skips,
        nodes=nodes,
        change=genomes.change(record.start, best) if record.turns else None,
    )


def _pass(turn: Turn, inner: Sequence[History]) -> Pass:
    began, told = turn.began, turn.finished
    made = Pass(
        number=began.number,
        arm=began.arm,
        parent=began.parent,
        why=began.why,
        questions=turn.questions,
        seconds=turn.seconds,
        rounds=tuple(one for history in inner for one in history.rounds),
        wording=inner[0].wording if inner else None,
    )
    if told is None:
        return made
    return replace(
        made,
        candidate=told.candidate,
        score=told.score,
        gain=told.gain,
        best=told.best_score,
        accepted=told.accepted,
    )


def _round(node: Node, record: JointRecord, cases: Cases, metric: str) -> Round:
    turn = next((t for t in record.turns if t.began.number == node.iteration), None)
    told = turn.finished if turn is not None else None
    verdict = Verdict.START
    if told is not None:
        verdict = Verdict.ACCEPTED if told.accepted else Verdict.REJECTED
    return Round(
        number=node.iteration,
        name=node.id,
        verdict=verdict,
        score=node.score,
        best=node.score if told is None else told.best_score,
        kind=node.proposer,
        why=node.message,
        outcome="; ".join(each.reason for each in node.rejections),
        zeros=zeros(cases, metric),
        seconds=None if turn is None else turn.seconds,
    )


def _val_cases(folder: Path, record: JointRecord, nodes: Sequence[Node]) -> dict[str, Cases]:
    """Cases of each genome on the questions that select, where its own folder has them."""
    found: dict[str, Cases] = {}
    for node in nodes:
        cases = genome_cases(folder, record, node.id)
        if "val" in cases:
            found[node.id] = {case.question_id: case for case in cases["val"]}
    return found


def _drafts(
    folder: Path, record: JointRecord, inner: Sequence[Sequence[History]]
) -> tuple[Draft, ...]:
    """Programs of all passes, each text once: a later pass begins with those of an earlier one."""
    drafts: list[Draft] = []
    known: dict[str, str] = {}
    shown_as: dict[str, str] = {}
    for turn, histories in zip(record.turns, inner, strict=True):
        for draft in (draft for history in histories for draft in history.drafts):
            name = inner_name(turn, draft.node.id)
            source = candidate_file(folder, name, PROGRAM)
            first_name = name if source is None else known.setdefault(source, name)
            shown_as[name] = first_name
            if first_name != name and draft.node.parent is None:
                continue
            parent = draft.node.parent
            shown = None if parent is None else shown_as.get(inner_name(turn, parent))
            said = f"passes/{turn.part}/{draft.transcript}" if draft.transcript else ""
            node = replace(draft.node, id=name, parent=shown)
            drafts.append(replace(draft, node=node, transcript=said))
    return tuple(drafts)


def _best(record: JointRecord) -> str:
    promoted = first(record.outside, Promoted)
    return promoted.candidate if promoted else record.best


def _chosen(
    record: JointRecord, genomes: Genomes, best: str, nodes: Sequence[Node]
) -> Chosen | None:
    source = genomes.program(best)
    if source is None:
        return None
    promoted = first(record.outside, Promoted) is not None
    node = next((each for each in nodes if each.id == best), None)
    told = f" Score {points(node.score)} on val." if node is not None else ""
    return Chosen(
        title="The promoted program" if promoted else "The best program so far",
        about=f"The program of genome {best}.{told}",
        source=source,
    )


def _summary(record: JointRecord) -> str:
    ended = [turn.finished for turn in record.turns if turn.finished is not None]
    questions = sum(turn.questions for turn in record.turns)
    accepted = sum(told.accepted for told in ended)
    return (
        f"{counted(len(ended), 'pass', 'passes')} ({record.started.schedule}), {accepted} "
        f"accepted, {counted(questions, 'question')} evaluated."
    )


def genome_cases(folder: Path, record: JointRecord, name: str) -> Mapping[str, list[Case]]:
    """Cases of a genome, or of a candidate inside a pass, by what they were asked for; those that
    select stand under `val` whatever searched."""
    found = dict(_recorded(folder, record, name))
    if "static" in found:
        found["val"] = found.pop("static")
    return found


def _recorded(folder: Path, record: JointRecord, name: str) -> Mapping[str, list[Case]]:
    turn = record.turn_of(name)
    if turn is None:
        turn = next(
            (t for t in record.turns if t.finished is not None and t.finished.candidate == name),
            None,
        )
        own = evaluations(record.outside).get(name, ())
        if own or turn is None:
            return split_cases(folder, name, own)
    inside = evaluations(turn.inner).get(name.rpartition("/")[2], ())
    return split_cases(folder / "passes" / turn.part, name.rpartition("/")[2], inside)
