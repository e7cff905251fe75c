"""What happened to one question: everything a diagnosis, a report or a person needs to see."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class HitTrace:
    """One retrieved unit as recorded: id, refs, score, the line shown, and why."""

    id: str
    refs: tuple[str, ...]
    score: float
    rendered: str
    source: str | None = None
    why: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Case:
    """One question, from query to score.

    `scores` holds every metric that applies to it (a metric that does not apply is absent).
    `error` set = a call failed, which is not a wrong answer; then there are no scores.
    `failure` set = the memory itself broke (an evolved program raised, hung or exceeded a limit);
    then every score is 0 and no answer was asked for.
    `excluded` says why the evidence cannot be scored (answer metrics still can).
    `pool_evidence`, `bank_evidence`: shares of gold evidence in the candidate pool and stored at
    all; with the ranking they tell where a failure began.
    `hits` are the first of the ranking; a `context` above 20,000 characters is cut, and says so.
    `question_type` is the predicted one. `timings` are the seconds of each step (formulate, read,
    respond, score), `notes` what the harness said about the read. `judgements` hold the verdict
    behind each score that a judge gave, by metric (see `memgene.tasks.judges.Judgement`).
    """

    question_id: str
    group: str
    category: str
    question: str
    gold: tuple[str, ...]
    evidence: tuple[str, ...]
    query: Mapping[str, Any]
    context: str
    shown: int
    hits: tuple[HitTrace, ...] | None
    answer: str
    abstained: bool
    rule: str | None
    scores: Mapping[str, float]
    bank_evidence: float | None = None
    pool_evidence: float | None = None
    seconds: float = 0.0
    error: str | None = None
    excluded: str | None = None
    question_type: str = ""
    timings: Mapping[str, float] = field(default_factory=dict)
    notes: Mapping[str, Any] = field(default_factory=dict)
    judgements: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    failure: str | None = None
