"""From the final rows' cases to scores, paired differences, categories and examples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from memgene.evaluation.case import Case
from memgene.evaluation.compare import compare_cases
from memgene.evaluation.records import read_cases
from memgene.evaluation.report import intervals
from memgene.evaluation.statistics import spread
from memgene.evolution.event import Event
from memgene.evolution.events import TestMeasured, TestOpened
from memgene.evolution.result import EVOLVED, START, best_static
from memgene.evolution.rundir import row_subject
from memgene.evolution.scoring import mean
from memgene.reports.model import CategoryRow, Difference, Example, Score
from memgene.reports.recorded import evaluations, first, of_kind

EXAMPLES = 5
Cases = Mapping[str, Sequence[Case]]


def read_rows(folder: Path, events: Sequence[Event]) -> tuple[dict[str, list[Case]], ...]:
    """Cases of every measured row: on test, and on val (rows that were measured there).

    Evaluations that the journal names tell them apart by their order in the record, else their
    groups do (a chronological division tests inside the groups that selected).
    """
    opened = first(events, TestOpened)
    if opened is None:
        return {}, {}
    test: dict[str, list[Case]] = {}
    val: dict[str, list[Case]] = {}
    evaluated = evaluations(events)
    for event in of_kind(events, TestMeasured):
        subject = row_subject(event.row)
        cases = read_cases(folder / subject / "cases.jsonl")
        made = [split for e in evaluated.get(subject, ()) for split in [e.split] * e.questions]
        if not made:
            made = ["test" if case.group in opened.groups else "val" for case in cases]
        named = list(zip(made, cases, strict=False))
        test[event.row] = [case for split, case in named if split == "test"]
        val[event.row] = [case for split, case in named if split == "val"]
    return test, val


def scores(rows: Cases, seed: int) -> dict[str, dict[str, Score]]:
    """Mean and interval of every row and metric."""
    return {
        name: {
            metric: Score(found.mean, found.low, found.high, found.n, str(found.method))
            for metric, found in intervals(cases, seed=seed).items()
        }
        for name, cases in rows.items()
    }


def differences(rows: Cases, metric: str, seed: int) -> tuple[Difference, ...]:
    """Evolved minus every other row that has the metric, start first."""
    if EVOLVED not in rows or not _has(rows[EVOLVED], metric):
        return ()
    found = []
    for name, cases in rows.items():
        if name != EVOLVED and _has(cases, metric):
            pair = compare_cases(rows[EVOLVED], cases, metric, seed=seed).paired
            found.append(Difference(name, pair.delta, pair.low, pair.high, pair.p))
    return tuple(found)


def best_on_val(parts: Sequence[Cases], metric: str) -> str | None:
    """The static memory with the highest mean on val (its mean over folds)."""
    found: dict[str, float | None] = {}
    for name in parts[0] if parts else ():
        if name in (EVOLVED, START):
            continue
        means = [mean(part.get(name, ()), metric) for part in parts]
        taken = [m for m in means if m is not None]
        found[name] = sum(taken) / len(taken) if len(taken) == len(means) else None
    return best_static(found)


def categories(rows: Cases, metric: str) -> tuple[CategoryRow, ...]:
    """Means per category of each row that has the metric."""
    found = []
    for name, cases in rows.items():
        scored: dict[str, list[float]] = {}
        for case in cases:
            if metric in case.scores:
                scored.setdefault(case.category, []).append(case.scores[metric])
        if not scored:
            continue
        means = {c: (sum(v) / len(v), len(v)) for c, v in sorted(scored.items())}
        even = spread({c: m for c, (m, _) in means.items()})
        found.append(CategoryRow(name, means, even.minimum, even.std))
    return tuple(found)


def examples(rows: Cases, metric: str) -> tuple[tuple[Example, ...], tuple[Example, ...]]:
    """Questions that gained most and that lost most against the start, at most five each."""
    if EVOLVED not in rows or START not in rows:
        return (), ()
    before = {case.question_id: case for case in rows[START]}
    pairs = [
        Example(before[case.question_id], case)
        for case in rows[EVOLVED]
        if case.question_id in before
        and metric in case.scores
        and metric in before[case.question_id].scores
    ]

    def gained(pair: Example) -> float:
        return pair.after.scores[metric] - pair.before.scores[metric]

    fixed = sorted((p for p in pairs if gained(p) > 0), key=gained, reverse=True)
    broken = sorted((p for p in pairs if gained(p) < 0), key=gained)
    return tuple(fixed[:EXAMPLES]), tuple(broken[:EXAMPLES])


def _has(cases: Sequence[Case], metric: str) -> bool:
    return any(metric in case.scores for case in cases)
