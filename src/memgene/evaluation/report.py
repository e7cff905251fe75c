"""From cases to what a person compares: means with intervals, by category, cost."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from memgene.core import InputError, Usage
from memgene.evaluation.agreement import Agreement, agreements
from memgene.evaluation.case import Case
from memgene.evaluation.judges import JudgeUsed, judges_used
from memgene.evaluation.scoring import IN_TEXT
from memgene.evaluation.statistics import Interval, Spread, mean_interval, spread
from memgene.sandbox import Level
from memgene.settings import SandboxSettings
from memgene.tasks.metrics import Needs, get_metric
from memgene.tasks.task import Task


@dataclass(frozen=True, slots=True)
class CategoryReport:
    """One category. `set_apart` ones count in no mean of the harness; `official` is the metric
    they are scored by where it is not the task's."""

    questions: int
    excluded: int
    errors: int
    metrics: Mapping[str, Interval]
    set_apart: bool = False
    official: str | None = None

    def shown(self, metric: str) -> str:
        """The metric that stands for the category in a table of `metric`."""
        return self.official if self.official in self.metrics and self.official else metric

    def to_json(self) -> dict[str, Any]:
        """An entry of `by_category`."""
        record: dict[str, Any] = {
            "questions": self.questions,
            "excluded": self.excluded,
            "errors": self.errors,
            "set_apart": self.set_apart,
            "metrics": {name: interval.to_json() for name, interval in self.metrics.items()},
        }
        if self.official:
            record["official"] = self.official
        return record


@dataclass(frozen=True, slots=True)
class HarnessReport:
    """One memory's result over the questions that count (those of no set-apart category).

    `questions` were asked; `excluded` of them have evidence that cannot be scored (they miss
    ranking metrics only); `errors` ended in an error and have no score; `degraded` were read
    without a step that failed (a plan, a reranking), as their notes say. `spread` is over the
    counted categories. With several seeds `by_seed` has each seed's mean, and every score is a
    question's mean over seeds. `judges` are the models that scored answers, with their prompts;
    `agreement` compares their verdicts. `cases` are kept for paired comparison; JSON leaves them
    out, and has the judges once for all memories.
    """

    name: str
    questions: int
    excluded: int
    errors: int
    metrics: Mapping[str, Interval]
    by_category: Mapping[str, CategoryReport]
    spread: Mapping[str, Spread]
    usage: Usage = field(default_factory=Usage)
    seconds: float = 0.0
    degraded: int = 0
    by_seed: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    judges: tuple[JudgeUsed, ...] = ()
    agreement: tuple[Agreement, ...] = ()
    cases: tuple[Case, ...] = field(default=(), repr=False, compare=False)

    def to_json(self) -> dict[str, Any]:
        """One entry of `harnesses` (architecture.md §5)."""
        record: dict[str, Any] = {
            "name": self.name,
            "questions": self.questions,
            "excluded": self.excluded,
            "errors": self.errors,
            "metrics": {name: interval.to_json() for name, interval in self.metrics.items()},
            "by_category": {name: part.to_json() for name, part in self.by_category.items()},
            "spread": {name: value.to_json() for name, value in self.spread.items()},
            "usage": usage_json(self.usage),
            "seconds": self.seconds,
        }
        if self.degraded:
            record["degraded"] = self.degraded
        if self.by_seed:
            record["by_seed"] = {name: list(means) for name, means in self.by_seed.items()}
        if self.agreement:
            record["agreement"] = [pair.to_json() for pair in self.agreement]
        return record


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of text for whoever prints: every row is as long as the header. `notes` explain words
    and marks that stand in it."""

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()

    def markdown(self) -> str:
        """Title and rows as Markdown."""
        lines = [f"## {self.title}", "", "| " + " | ".join(self.header) + " |"]
        lines.append("|" + "---|" * len(self.header))
        lines += ["| " + " | ".join(row) + " |" for row in self.rows]
        return "\n".join(lines) + "\n"


@dataclass(frozen=True, slots=True)
class EvaluationReport:
    """What `evaluate` returns. `seeds` beside the first one are those of repeated runs. `sandbox`
    is how programs ran, its level the isolation that was achieved; None where none ran."""

    task: str
    split: str
    agent: str
    seed: int
    harnesses: tuple[HarnessReport, ...]
    seeds: tuple[int, ...] = ()
    sandbox: SandboxSettings | None = None

    def to_json(self) -> dict[str, Any]:
        """The JSON of `memgene evaluate` (architecture.md §5)."""
        record: dict[str, Any] = {
            "task": self.task,
            "split": self.split,
            "agent": self.agent,
            "seed": self.seed,
            "harnesses": [harness.to_json() for harness in self.harnesses],
        }
        if self.sandbox:
            record["sandbox"] = self.sandbox.model_dump()
        if self.seeds:
            record["seeds"] = list(self.seeds)
        if self.judges:
            record["judges"] = [judge.to_json() for judge in self.judges]
        return record

    @property
    def judges(self) -> tuple[JudgeUsed, ...]:
        """Every model that scored answers, with each prompt it was given, once."""
        return tuple(dict.fromkeys(one for report in self.harnesses for one in report.judges))

    def harness(self, name: str) -> HarnessReport:
        """The result of one harness."""
        for report in self.harnesses:
            if report.name == name:
                return report
        raise InputError(f"the report has no harness {name!r}; it has {_names(self.harnesses)}")

    def table(self) -> Table:
        """One row per harness, one column per metric, percent with interval.

        `evidence_in_text` stands in `text_table`, because it is not comparable with recall.
        """
        metrics = _in_order(report.metrics for report in self.harnesses)
        if any(get_metric(name).needs is Needs.RANKING for name in metrics):
            metrics = [name for name in metrics if name != IN_TEXT]
        table = self._table(f"{self.task}, {self.split}", metrics, self.harnesses)
        caution = Level.named(self.sandbox.level).caution if self.sandbox else ""
        return replace(table, notes=(*table.notes, caution)) if caution else table

    def text_table(self) -> Table | None:
        """Memories without a ranking: how much evidence their context holds. None without any."""
        without = tuple(report for report in self.harnesses if IN_TEXT in report.metrics)
        if not without:
            return None
        return self._table("memories without a ranking", [IN_TEXT], without)

    def category_table(self, metric: str) -> Table:
        """One row per category, one column per harness, then the lowest and the spread.

        `*` marks categories set apart, which show their official metric where they have one.
        """
        rows, notes = [], []
        for name in _in_order(report.by_category for report in self.harnesses):
            parts = [report.by_category.get(name) for report in self.harnesses]
            apart = next((part for part in parts if part is not None and part.set_apart), None)
            shown = next((part.shown(metric) for part in parts if part is not None), metric)
            cells = [_cell(part.metrics.get(shown) if part else None) for part in parts]
            rows.append((f"{name} *" if apart else name, *cells))
            if apart:
                by = f", scored by {shown}" if shown != metric else ""
                notes.append(f"* {name} is set apart{by}: it counts in no mean, nor below")
        spreads = [report.spread.get(metric) for report in self.harnesses]
        rows.append(
            ("lowest", *(f"{100 * s.minimum:.1f} {s.category}" if s else "–" for s in spreads))
        )
        rows.append(("spread", *(f"{100 * s.std:.1f}" if s else "–" for s in spreads)))
        notes.append("spread: standard deviation of the categories' means")
        header = ("category", *(report.name for report in self.harnesses))
        return Table(f"{metric} by category", header, tuple(rows), tuple(notes))

    def agreement_table(self) -> Table | None:
        """One row per harness and pair of judges. None where nothing was judged twice."""
        rows = tuple(
            (report.name, pair.first, pair.second, str(pair.agreement.n), *_agreed(pair))
            for report in self.harnesses
            for pair in report.agreement
        )
        if not rows:
            return None
        pairs = [pair for report in self.harnesses for pair in report.agreement]
        notes = ["kappa: agreement beyond chance (Cohen); 1 is full, 0 is chance"]
        notes += dict.fromkeys(f"–: {pair.note}" for pair in pairs if pair.note)
        header = ("harness", "judge", "beside", "questions", "agreement", "kappa")
        return Table("agreement of judges", header, rows, tuple(notes))

    def _table(self, title: str, metrics: Sequence[str], reports: Sequence[HarnessReport]) -> Table:
        header = ("harness", "questions", "excluded", "errors", *metrics)
        rows = tuple(
            (
                report.name,
                str(report.questions),
                str(report.excluded),
                str(report.errors),
                *(_cell(report.metrics.get(metric)) for metric in metrics),
            )
            for report in reports
        )
        notes = []
        if any(report.excluded for report in reports):
            notes.append(
                "excluded: evidence that cannot be scored; missing in ranking metrics only"
            )
        notes += [
            f"degraded: {report.degraded} questions of {report.name} were read without a step that "
            "failed; their cases say which"
            for report in reports
            if report.degraded
        ]
        if any(report.errors for report in reports):
            notes.append("errors: a call failed, which is no wrong answer; they have no score")
        return Table(title, header, rows, tuple(notes))


def summarise(
    cases: Sequence[Case],
    task: Task,
    *,
    name: str,
    usage: Usage | None = None,
    seconds: float = 0.0,
    seed: int = 0,
) -> HarnessReport:
    """Means, intervals and spread of one harness's cases. `seed` is that of the bootstrap."""
    counted = [case for case in cases if case.category not in task.set_apart]
    categories = sorted({case.category for case in cases})
    by_category = {
        category: _category(
            [case for case in cases if case.category == category],
            set_apart=category in task.set_apart,
            official=task.set_apart_metric if category in task.set_apart else None,
            seed=seed,
        )
        for category in categories
    }
    metrics = intervals(counted, seed=seed)
    return HarnessReport(
        name=name,
        questions=len(counted),
        excluded=_count_excluded(counted),
        errors=_count_errors(counted),
        metrics=metrics,
        by_category=by_category,
        spread={metric: spread(_category_means(by_category, metric)) for metric in metrics},
        usage=usage or Usage(),
        seconds=seconds,
        degraded=sum(bool(case.notes.get("degraded")) for case in counted),
        judges=judges_used(cases),
        agreement=agreements(counted, seed=seed),
        cases=tuple(cases),
    )


def intervals(cases: Sequence[Case], *, seed: int = 0, own: str = "") -> dict[str, Interval]:
    """Mean and interval of every metric over the cases that have it (errors have none).

    Metrics on rankings need one for every question: a program may rank for some of them only, and
    the mean over those would say nothing. `evidence_in_text` does not stand beside them, unless it
    is the metric that something was evolved for (`own`).
    """
    found = {}
    for metric in _told(cases, own):
        scored = [case for case in cases if metric in case.scores]
        found[metric] = mean_interval(
            [case.scores[metric] for case in scored], [case.group for case in scored], seed=seed
        )
    return found


def _told(cases: Sequence[Case], own: str) -> list[str]:
    names = _in_order(case.scores for case in cases)
    ranking = {name for name in names if get_metric(name).needs is Needs.RANKING}
    if any(IN_TEXT in case.scores and case.hits is None for case in cases):
        return [name for name in names if name not in ranking]
    if ranking and own != IN_TEXT:
        return [name for name in names if name != IN_TEXT]
    return names


def usage_json(usage: Usage) -> dict[str, dict[str, float]]:
    """Usage by role: calls, fresh ones, tokens in and out together, cost."""
    return {
        role: {
            "calls": used.calls,
            "fresh": used.fresh,
            "tokens": used.tokens_in + used.tokens_out,
            "cost": used.cost,
        }
        for role, used in usage.roles.items()
    }


def _category(
    cases: Sequence[Case], *, set_apart: bool, official: str | None, seed: int
) -> CategoryReport:
    return CategoryReport(
        questions=len(cases),
        excluded=_count_excluded(cases),
        errors=_count_errors(cases),
        metrics=intervals(cases, seed=seed),
        set_apart=set_apart,
        official=official,
    )


def _category_means(parts: Mapping[str, CategoryReport], metric: str) -> dict[str, float]:
    return {
        name: part.metrics[metric].mean
        for name, part in parts.items()
        if not part.set_apart and metric in part.metrics
    }


def _count_excluded(cases: Sequence[Case]) -> int:
    return sum(case.excluded is not None for case in cases)


def _count_errors(cases: Sequence[Case]) -> int:
    return sum(case.error is not None for case in cases)


def _in_order(mappings: Iterable[Mapping[str, Any]]) -> list[str]:
    """Keys of all, in order of first appearance."""
    return list(dict.fromkeys(key for mapping in mappings for key in mapping))


def _names(reports: Sequence[HarnessReport]) -> str:
    return ", ".join(report.name for report in reports)


def _agreed(pair: Agreement) -> tuple[str, str]:
    return _cell(pair.agreement), "–" if pair.kappa is None else f"{pair.kappa:.2f}"


def _cell(interval: Interval | None) -> str:
    if interval is None:
        return "–"
    return f"{100 * interval.mean:.1f} [{100 * interval.low:.1f}, {100 * interval.high:.1f}]"
