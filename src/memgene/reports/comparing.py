"""Two candidates of a run side by side: their text, their scores, question by question."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from memgene.core import InputError
from memgene.evaluation.case import Case
from memgene.evaluation.statistics import paired_difference
from memgene.evolution.programs.patch import patch_of
from memgene.evolution.rundir import read_run
from memgene.evolution.scoring import value
from memgene.reports.coevolve_comparing import LearningChange, StateSide, compare_states
from memgene.reports.config_history import GENOME, read_config
from memgene.reports.joint_genomes import Genomes
from memgene.reports.joint_history import genome_cases
from memgene.reports.joint_reading import read_joint
from memgene.reports.lineage import LineageView, read_lineage
from memgene.reports.node import Node
from memgene.reports.program_history import PROGRAM
from memgene.reports.recorded import candidate_file, evaluations, read_events, split_cases
from memgene.retrieval.config import RetrievalConfig


@dataclass(frozen=True, slots=True)
class QuestionChange:
    """One question's score under each of the two; `split` says what it was asked for."""

    id: str
    split: str
    category: str
    a: float
    b: float
    delta: float


@dataclass(frozen=True, slots=True)
class SplitChange:
    """B − A over the questions of one split that both have a score for.

    Splits: static or val (these select: what was chosen by them looks better on them than it is),
    fresh (asked after the selection), dev (diagnosed). `gains` are questions on which B scores
    higher. `low` and `high` bound the mean paired difference (95 %, bootstrap over `method`).
    """

    split: str
    n: int
    a: float
    b: float
    gains: int
    losses: int
    equal: int
    delta: float
    low: float
    high: float
    p: float
    method: str


@dataclass(frozen=True, slots=True)
class LeverChange:
    """A lever's value in each of the two; of learned weights (`ranker`, `router`) the digest."""

    lever: str
    a: Any
    b: Any


@dataclass(frozen=True, slots=True)
class CandidateDiff:
    """What changed from A to B. `patch` is the unified difference of programs, `levers` those of
    configurations that differ, `learning` what states of a co-evolution learned (None for others);
    `names` are the two as they can be asked for again."""

    run: str
    strategy: str
    metric: str
    names: tuple[str, str]
    a: Node
    b: Node
    patch: str
    levers: tuple[LeverChange, ...]
    splits: tuple[SplitChange, ...]
    questions: tuple[QuestionChange, ...]
    learning: LearningChange | None = None

    def model_dump(self) -> dict[str, Any]:
        """Plain values, as `memgene diff --json` prints them."""
        values: dict[str, Any] = json.loads(json.dumps(asdict(self)))
        return values


@dataclass(frozen=True, slots=True)
class _Side:
    """One of the two: where it lies, what it is, its cases by split, and of a joint evolution the
    genomes, of which each may have but a part of its files."""

    name: str
    folder: Path
    node: Node
    cases: Mapping[str, Sequence[Case]]
    genomes: Genomes | None = None


def compare_candidates(folder: Path, a: str, b: str) -> CandidateDiff:
    """The difference of two candidates, named by id, `best`, a seed's title, or `fold-N/…`.

    Raises RunError when the folder is no run folder, InputError when there is no such candidate or
    one of them has neither a program nor a configuration to compare.
    """
    view = read_lineage(folder)
    seed = int(read_run(folder).get("settings", {}).get("seed", 0))
    first, second = _side(folder, view, a), _side(folder, view, b)
    questions = _questions(first, second, view.metric)
    return CandidateDiff(
        run=view.run,
        strategy=view.strategy,
        metric=view.metric,
        names=(first.name, second.name),
        a=first.node,
        b=second.node,
        patch=_patch(first, second),
        levers=_levers(first, second),
        splits=_splits(questions, first, seed),
        questions=questions,
        learning=_learning(first, second),
    )


def _side(folder: Path, view: LineageView, asked: str) -> _Side:
    fold, _, rest = asked.partition("/")
    if not rest or (view.inner and not view.folds):  # names of a joint evolution have a slash
        fold, rest = "", asked
    if fold:
        parts = {Path(part.run).name: part for part in view.folds}
        if fold not in parts:
            known = ", ".join(parts) or "none"
            raise InputError(f"{folder} has no fold {fold!r}; it has {known}")
        folder, view = folder / fold, parts[fold]
    node = view.find(rest)
    name = f"{fold}/{node.id}" if fold else node.id
    events = read_events(folder)
    joint = read_joint(events)
    if joint is None:
        found = evaluations(events).get(node.id, ())
        return _Side(name, folder, node, split_cases(folder, node.id, found))
    cases = genome_cases(folder, joint, node.id)
    return _Side(name, folder, node, cases, Genomes(folder, joint))


def _patch(first: _Side, second: _Side) -> str:
    """Unified difference of the two programs; empty for configurations."""
    sources = []
    for side in (first, second):
        source = _program(side)
        if source is None:
            if side.genomes is not None:
                return ""
            if candidate_file(side.folder, side.node.id, GENOME) is not None:
                return ""
            why = "; ".join(each.reason for each in side.node.rejections)
            raise InputError(f"candidate {side.name} has no program to compare: {why}")
        sources.append(source)
    return patch_of(first.name, sources[0], second.name, sources[1])


def _program(side: _Side) -> str | None:
    if side.genomes is not None:
        return side.genomes.program(side.node.id)
    return candidate_file(side.folder, side.node.id, PROGRAM)


def _config(side: _Side) -> RetrievalConfig | None:
    if side.genomes is not None:
        return side.genomes.config(side.node.id)
    if candidate_file(side.folder, side.node.id, GENOME) is None:
        return None
    return read_config(side.folder, side.node.id)


def _levers(first: _Side, second: _Side) -> tuple[LeverChange, ...]:
    """Levers of two configurations that differ; none for programs."""
    before, after = _config(first), _config(second)
    if before is None or after is None:
        return ()
    return tuple(
        LeverChange(lever, old, new) for lever, (old, new) in before.difference(after).items()
    )


def _learning(first: _Side, second: _Side) -> LearningChange | None:
    """What two states learned; None for what is no state of a co-evolution."""
    sides = (first, second)
    if any(candidate_file(side.folder, side.node.id, GENOME) is None for side in sides):
        return None
    a, b = (
        StateSide(s.folder, s.node.id, read_config(s.folder, s.node.id), s.cases.get("val", ()))
        for s in sides
    )
    return compare_states(a, b, read_events(first.folder))


def _questions(first: _Side, second: _Side, metric: str) -> tuple[QuestionChange, ...]:
    """Questions that both have a score for, split by split, in the order of the record."""
    found = []
    for split, cases in second.cases.items():
        known = {case.question_id: value(case, metric) for case in first.cases.get(split, ())}
        for case in cases:
            a, b = known.get(case.question_id), value(case, metric)
            if a is not None and b is not None:
                change = QuestionChange(case.question_id, split, case.category, a, b, b - a)
                found.append(change)
    return tuple(found)


def _splits(questions: Sequence[QuestionChange], side: _Side, seed: int) -> tuple[SplitChange, ...]:
    """Gains, losses and the mean paired difference of each split."""
    groups = {c.question_id: c.group for cases in side.cases.values() for c in cases}
    found = []
    for split in dict.fromkeys(question.split for question in questions):
        inside = [question for question in questions if question.split == split]
        before, after = [q.a for q in inside], [q.b for q in inside]
        paired = paired_difference(after, before, [groups[q.id] for q in inside], seed=seed)
        gains, losses = sum(q.delta > 0 for q in inside), sum(q.delta < 0 for q in inside)
        found.append(
            SplitChange(
                split=split,
                n=paired.n,
                a=sum(before) / len(inside),
                b=sum(after) / len(inside),
                gains=gains,
                losses=losses,
                equal=len(inside) - gains - losses,
                delta=paired.delta,
                low=paired.low,
                high=paired.high,
                p=paired.p,
                method=str(paired.method),
            )
        )
    return tuple(found)
