"""From the journal to rounds: what was tried, why, what came of it, and val cases per candidate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import TypeVar

from memgene.core import RunError
from memgene.evaluation.case import Case
from memgene.evaluation.records import read_cases
from memgene.evolution.event import Event
from memgene.evolution.events import (
    Accepted,
    Diagnosed,
    Evaluated,
    Proposed,
    Rejected,
    Reverted,
    RoundFinished,
    Stopped,
)
from memgene.reports.model import Change, Followed, Round, Verdict
from memgene.reports.numbers import value
from memgene.retrieval.config import RetrievalConfig

_E = TypeVar("_E", bound=Event)


@dataclass(frozen=True, slots=True)
class History:
    """One search: its rounds, and each candidate's cases on val (by question id)."""

    rounds: tuple[Round, ...]
    candidates: tuple[str, ...] = ()
    val: Mapping[str, Mapping[str, Case]] = field(default_factory=dict)
    stopped: str = ""


def read_history(folder: Path, events: Sequence[Event], metric: str) -> History:
    """The search that a run's journal tells."""
    proposed = [e for e in events if isinstance(e, Proposed)]
    val = _val_cases(folder, events)
    rounds = tuple(_round(folder, e, events, val.get(e.candidate, {}), metric) for e in proposed)
    stopped = next((e for e in events if isinstance(e, Stopped)), None)
    return History(
        rounds,
        tuple(e.candidate for e in proposed),
        val,
        f"Stopped after round {stopped.round}: {stopped.detail}." if stopped else "",
    )


def follow(history: History, metric: str) -> Followed | None:
    """A val question as every candidate answered it: the one that the last accepted candidate
    gained most over the start; among equals the one that moved most, then the first by id.

    None when no question moved.
    """
    steps: dict[str, list[tuple[int, Case]]] = {}
    for round_, candidate in zip(history.rounds, history.candidates, strict=True):
        for name, case in history.val.get(candidate, {}).items():
            if metric in case.scores:
                steps.setdefault(name, []).append((round_.number, case))
    kept = max((r.number for r in history.rounds if r.verdict is Verdict.ACCEPTED), default=0)

    def moved(name: str) -> float:
        return sum(
            abs(b.scores[metric] - a.scores[metric]) for (_, a), (_, b) in pairwise(steps[name])
        )

    def gained(name: str) -> float:
        first = steps[name][0][1].scores[metric]
        return next((c.scores[metric] for n, c in steps[name] if n == kept), first) - first

    moving = [name for name in steps if moved(name)]
    if not moving:
        return None
    chosen = min(moving, key=lambda name: (-gained(name), -moved(name), name))
    case = steps[chosen][-1][1]
    return Followed(case.question, case.gold, tuple(steps[chosen]))


def _round(
    folder: Path,
    made: Proposed,
    events: Sequence[Event],
    cases: Mapping[str, Case],
    metric: str,
) -> Round:
    evaluated = _one(events, Evaluated, candidate=made.candidate, split="val")
    finished = _one(events, RoundFinished, candidate=made.candidate)
    diagnosed = _one(events, Diagnosed, round=made.round)
    score = evaluated.score if evaluated else None
    verdict, outcome = _verdict(made, events)
    return Round(
        number=made.round,
        verdict=verdict,
        score=score,
        best=finished.best_score if finished else score if made.round == 0 else None,
        kind=made.proposer,
        changes=_changes(folder, made),
        why=made.reason,
        outcome=outcome,
        causes=dict(diagnosed.causes) if diagnosed else {},
        zeros=_zeros(cases, metric),
        dev_score=diagnosed.score if diagnosed else None,
        seconds=made.seconds + (evaluated.seconds if evaluated else 0.0),
    )


def _verdict(made: Proposed, events: Sequence[Event]) -> tuple[Verdict, str]:
    """What became of a candidate, and the guard's words."""
    if made.round == 0:
        return Verdict.START, ""
    accepted = _one(events, Accepted, candidate=made.candidate)
    judged = accepted or _one(events, Rejected, candidate=made.candidate)
    if judged is None:
        return Verdict.SKIPPED, "not judged yet"
    words = judged.reason
    reverted = _one(events, Reverted, given_up=made.candidate)
    if reverted is not None:
        fell = f"{words}; fell {100 * reverted.drop:.1f}, back to {reverted.back_to}"
        return Verdict.REVERTED, fell
    return Verdict.REJECTED if accepted is None else Verdict.ACCEPTED, words


def _changes(folder: Path, made: Proposed) -> tuple[Change, ...]:
    """Levers that differ from the parent's, learned weights in words."""
    if not made.parent:
        return ()
    before, after = _config(folder, made.parent), _config(folder, made.candidate)
    changes = []
    for lever, (old, new) in before.difference(after).items():
        if lever == "ranker":
            changes.append(Change("learned weights", "older" if old else "none", _fit(made, new)))
        else:
            changes.append(Change(lever, value(old), value(new)))
    return tuple(changes)


def _fit(made: Proposed, digest: object) -> str:
    if digest is None:
        return "none"
    what = made.target.replace("_", " ")
    return f"fitted on {made.fitted_on} questions ({what})" if what else "as before"


def _config(folder: Path, candidate: str) -> RetrievalConfig:
    path = folder / "candidates" / candidate / "retrieval.toml"
    try:
        return RetrievalConfig.from_toml(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise RunError(f"{path} is gone, though the journal names it") from None


def _val_cases(folder: Path, events: Sequence[Event]) -> dict[str, dict[str, Case]]:
    """Cases of every candidate on the questions it was accepted by.

    A candidate's record begins with its cases on val; dev and fresh ones follow.
    """
    found: dict[str, dict[str, Case]] = {}
    for event in events:
        if isinstance(event, Evaluated) and event.split == "val" and "/" not in event.candidate:
            path = folder / "candidates" / event.candidate / "cases.jsonl"
            cases = read_cases(path)[: event.questions]
            found[event.candidate] = {case.question_id: case for case in cases}
    return found


def _zeros(cases: Mapping[str, Case], metric: str) -> dict[str, tuple[int, int]]:
    """Per category: questions that scored 0, and all that have the metric."""
    counts: dict[str, tuple[int, int]] = {}
    for case in cases.values():
        if metric in case.scores:
            zero, whole = counts.get(case.category, (0, 0))
            counts[case.category] = (zero + (case.scores[metric] == 0), whole + 1)
    return dict(sorted(counts.items()))


def _one(events: Sequence[Event], kind: type[_E], **values: object) -> _E | None:
    """The first event of a kind with these values."""
    for event in events:
        if isinstance(event, kind) and all(getattr(event, k) == v for k, v in values.items()):
            return event
    return None
