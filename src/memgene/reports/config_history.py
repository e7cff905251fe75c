"""A configuration search: what was changed in each round, why, and what came of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from memgene.core import NotFoundError, RunError
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
from memgene.genome import read_config as read_stored
from memgene.reports.history import Cases, History, zeros
from memgene.reports.model import Change, Round, Verdict, Wording
from memgene.reports.numbers import points, value
from memgene.reports.recorded import (
    candidate_folder,
    evaluations,
    first,
    of_kind,
    split_cases,
)
from memgene.retrieval.config import RetrievalConfig

GENOME = "retrieval.toml"
WORDING = Wording(
    step="round",
    row="round",
    verdicts=(Verdict.START, Verdict.ACCEPTED, Verdict.REJECTED, Verdict.REVERTED),
    followed="One question through all rounds",
)


def config_history(folder: Path, events: Sequence[Event], metric: str) -> History:
    """The search that a journal tells. Raises RunError when a file it names is gone."""
    proposed = of_kind(events, Proposed)
    val = _val_cases(folder, events)
    rounds = tuple(_round(folder, e, events, val.get(str(e.round), {}), metric) for e in proposed)
    stopped = first(events, Stopped)
    accepted = [r.name for r in rounds if r.verdict is Verdict.ACCEPTED]
    tried = sum(r.verdict is not Verdict.START for r in rounds)
    return History(
        wording=WORDING,
        rounds=rounds,
        val=val,
        line=tuple(r.name for r in rounds),
        kept=accepted[-1] if accepted else "",
        stopped=f"Stopped after round {stopped.round}: {stopped.detail}." if stopped else "",
        summary=f"{tried} candidates tried, {len(accepted)} accepted.",
    )


def read_config(folder: Path, candidate: str) -> RetrievalConfig:
    """A candidate's configuration, with its router. Raises RunError when it is gone."""
    path = candidate_folder(folder, candidate) / GENOME
    try:
        return read_stored(path)
    except NotFoundError as error:
        raise RunError(f"{path} is gone, though the journal names it: {error}") from None


def _round(
    folder: Path, made: Proposed, events: Sequence[Event], cases: Cases, metric: str
) -> Round:
    evaluated = first(events, Evaluated, candidate=made.candidate, split="val")
    finished = first(events, RoundFinished, candidate=made.candidate)
    diagnosed = first(events, Diagnosed, round=made.round)
    score = evaluated.score if evaluated else None
    verdict, outcome = _verdict(made, events)
    return Round(
        number=made.round,
        name=str(made.round),
        verdict=verdict,
        score=score,
        best=finished.best_score if finished else score if made.round == 0 else None,
        kind=made.proposer,
        changes=_changes(folder, made),
        why=made.reason,
        outcome=outcome,
        causes=dict(diagnosed.causes) if diagnosed else {},
        zeros=zeros(cases, metric),
        dev_score=diagnosed.score if diagnosed else None,
        seconds=made.seconds + (evaluated.seconds if evaluated else 0.0),
    )


def _verdict(made: Proposed, events: Sequence[Event]) -> tuple[Verdict, str]:
    """What became of a candidate, and the guard's words."""
    if made.round == 0:
        return Verdict.START, ""
    accepted = first(events, Accepted, candidate=made.candidate)
    judged = accepted or first(events, Rejected, candidate=made.candidate)
    if judged is None:
        return Verdict.SKIPPED, "not judged yet"
    words = judged.reason
    reverted = first(events, Reverted, given_up=made.candidate)
    if reverted is not None:
        fell = f"{words}; fell {points(reverted.drop)}, back to {reverted.back_to}"
        return Verdict.REVERTED, fell
    return Verdict.REJECTED if accepted is None else Verdict.ACCEPTED, words


def _changes(folder: Path, made: Proposed) -> tuple[Change, ...]:
    """Levers that differ from the parent's, learned weights in words."""
    if not made.parent:
        return ()
    before, after = read_config(folder, made.parent), read_config(folder, made.candidate)
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


def _val_cases(folder: Path, events: Sequence[Event]) -> Mapping[str, Cases]:
    """Cases of every round's candidate on the questions it was accepted by."""
    evaluated = evaluations(events)
    found = {}
    for made in of_kind(events, Proposed):
        splits = split_cases(folder, made.candidate, evaluated.get(made.candidate, ()))
        if "val" in splits:
            found[str(made.round)] = {case.question_id: case for case in splits["val"]}
    return found
