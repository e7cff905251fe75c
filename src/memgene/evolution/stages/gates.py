"""Every gate of a stage in turn: its text, then a trial where it will run."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from memgene.bank.unit import MemoryUnit
from memgene.core import Hit
from memgene.evolution.stages.static import check_stage_text
from memgene.programs.gates.finding import Finding, Gate
from memgene.retrieval.stages.calls import StageCalls
from memgene.retrieval.stages.host import StageError, StageHost
from memgene.retrieval.stages.stage import PlacedStage, Stage, StageKind
from memgene.sandbox import FailureKind, GuestError

_TEXTS = (
    "I moved to Lisbon on 7 May 2023 and adopted a cat.",
    "Break a leg, as they say!",
    "",
    "Zürich 東京 🙂",
    "cat " * 300,
)
_QUESTIONS = ("When did Ana move to Lisbon?", "", 'she said "no"; 100% {x} \\ ^(', "cat " * 300)
_LIMITS = frozenset({FailureKind.TIME, FailureKind.MEMORY, FailureKind.OUTPUT, FailureKind.BUDGET})
_LINE = re.compile(r"\(line (\d+)\)")


def gate_stage(source: str, name: str, host: StageHost) -> tuple[Finding, ...]:
    """What is wrong with a stage; empty where it may be tried.

    Findings of its text, or, where there is none, of a trial: each function is called by `host`
    with ordinary, empty and odd values, with none and with many hits, twice each. What it returns
    is checked as at work and must be the same both times.

    Raises SandboxUnavailableError where the host cannot isolate it.
    """
    return check_stage_text(source, name) or _trial(Stage(name, source), host)


def _trial(stage: Stage, host: StageHost) -> tuple[Finding, ...]:
    """Findings of calls, one of each kind; a stage that exceeds a limit is not called again."""
    found: dict[tuple[str, int | None], Finding] = {}
    for question in _QUESTIONS:
        for count in (0, 1, len(_TEXTS)):
            for finding in _called(stage, host, question, count):
                found.setdefault((finding.code, finding.line), finding)
                if finding.gate == "limits":
                    return tuple(found.values())
    return tuple(found.values())


def _called(stage: Stage, host: StageHost, question: str, count: int) -> tuple[Finding, ...]:
    """Findings of one call of each of its functions, made twice."""
    watched = _Watched(host)
    calls = StageCalls(watched, (PlacedStage(stage, 1.0),))
    for _ in range(2):
        watched.returned.append([])
        _call(stage.kind, calls, question, count)
        if calls.degraded:
            said = calls.degraded[0]
            line = _LINE.search(said)
            code = f"{stage.kind}-failed"
            return (Finding(watched.gate, code, said, int(line[1]) if line else None),)
    if watched.returned[0] != watched.returned[1]:
        said = f"stage {stage.name} returned different values for the same arguments"
        return (Finding("smoke", "not-deterministic", said),)
    return ()


def _call(kind: StageKind, calls: StageCalls, question: str, count: int) -> None:
    """What a read asks of a stage of this kind."""
    units = [
        MemoryUnit(text, speaker=("Ana", None)[at % 2], source=f"talk-{at % 2}")
        for at, text in enumerate(_TEXTS[:count])
    ]
    hits = [
        Hit(unit.id, unit.content, 1.0 / at, source=unit.source) for at, unit in enumerate(units, 1)
    ]
    match kind:
        case StageKind.QUERY:
            calls.queries(question)
        case StageKind.VIEW:
            calls.candidates(question, units)
        case StageKind.RESCORER:
            calls.scores(question, units, [hit.score for hit in hits])
        case StageKind.FILTER:
            calls.keep(question, hits)
        case StageKind.ANSWER:
            calls.instruction(question)
            calls.accepts(question, "\n".join(_TEXTS[:count]), "in Lisbon")


class _Watched:
    """A host that remembers what came back, and whether a limit was exceeded."""

    def __init__(self, host: StageHost) -> None:
        self._host = host
        self.returned: list[list[str]] = []
        self.gate: Gate = "smoke"

    def call(self, stage: Stage, method: str, params: Mapping[str, Any]) -> Any:
        """See `StageHost.call`."""
        try:
            found = self._host.call(stage, method, params)
        except StageError as error:
            cause = error.__cause__
            if isinstance(cause, GuestError) and cause.kind in _LIMITS:
                self.gate = "limits"
            raise
        self.returned[-1].append(json.dumps(found, sort_keys=True))
        return found
