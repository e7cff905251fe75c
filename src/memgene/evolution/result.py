"""What an evolution yields, and its JSON (architecture.md §5)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from memgene.core import InputError
from memgene.evaluation.case import Case
from memgene.evaluation.compare import Comparison, compare_cases
from memgene.evaluation.report import intervals
from memgene.evaluation.statistics import Interval
from memgene.retrieval.config import RetrievalConfig
from memgene.settings import SandboxSettings

EVOLVED = "evolved"
START = "start"
LEARNED_ONCE = "learned-once"


@dataclass(frozen=True, slots=True)
class Row:
    """One memory on the test questions. `val` is its score on val (None where not taken)."""

    name: str
    cases: tuple[Case, ...] = field(repr=False)
    metrics: Mapping[str, Interval]
    val: float | None = None

    @classmethod
    def of(
        cls,
        name: str,
        cases: Sequence[Case],
        val: float | None = None,
        seed: int = 0,
        metric: str = "",
    ) -> Row:
        """A row from its cases; `seed` is that of the bootstrap, `metric` what was evolved for."""
        return cls(name, tuple(cases), intervals(cases, seed=seed, own=metric), val)


@dataclass(frozen=True, slots=True)
class TestReport:
    """Evolved, start and static memories on the same held-out questions.

    `paired` compares evolved with each other row that has the metric. `best_static` has the
    highest mean on val among the static rows (None when none has the metric).
    """

    __test__ = False  # not a test class, whatever its name suggests to pytest

    evolved: Row
    start: Row
    static: tuple[Row, ...]
    paired: Mapping[str, Comparison]
    best_static: str | None

    @property
    def rows(self) -> tuple[Row, ...]:
        """All rows: evolved, start, static ones."""
        return (self.evolved, self.start, *self.static)

    @classmethod
    def of(
        cls, rows: Mapping[str, Row], metric: str, best_static: str | None, seed: int
    ) -> TestReport:
        """A report over rows by name; `evolved` and `start` are among them."""
        evolved = rows[EVOLVED]
        static = tuple(row for name, row in rows.items() if name not in (EVOLVED, START))
        paired = {
            row.name: compare_cases(evolved.cases, row.cases, metric, seed=seed)
            for row in (rows[START], *static)
            if metric in row.metrics and metric in evolved.metrics
        }
        return cls(evolved, rows[START], static, paired, best_static)

    def to_json(self) -> dict[str, Any]:
        """The `test` entry."""
        return {
            "evolved": _metrics(self.evolved),
            "start": _metrics(self.start),
            "static": {row.name: _metrics(row) for row in self.static},
            "paired": {name: found.to_json() for name, found in self.paired.items()},
            "best_static": self.best_static,
        }


@dataclass(frozen=True, slots=True)
class EvolveResult:
    """A finished evolution. `best` is the folder of the promoted genome, `config` what it holds,
    `program` the source of an evolved program, `promoted` the candidate it came from.
    `evaluations` counts the questions evaluated by the search; `usage` by role and `seconds` of
    work cover the final report as well. `sandbox` is how programs ran, its level the isolation
    that was achieved; None where none ran. With folds everything is pooled or added up over them,
    and `folds` holds each one's result."""

    run: Path
    strategy: str
    metric: str
    rounds: int
    evaluations: int
    promoted: str
    stopped: str
    config: RetrievalConfig
    test: TestReport
    usage: Mapping[str, Mapping[str, float]]
    seconds: float
    folds: tuple[EvolveResult, ...] = ()
    program: str | None = None
    sandbox: SandboxSettings | None = None

    @property
    def best(self) -> Path:
        """Folder of the promoted genome bundle."""
        return self.run / "best"

    def to_json(self) -> dict[str, Any]:
        """The JSON of `memgene evolve`."""
        values: dict[str, Any] = {
            "run": str(self.run),
            "strategy": self.strategy,
            "metric": self.metric,
            "rounds": self.rounds,
            "evaluations": self.evaluations,
            "best": str(self.best),
            "promoted": self.promoted,
            "stopped": self.stopped,
            "test": self.test.to_json(),
            "usage": {role: dict(used) for role, used in self.usage.items()},
            "seconds": round(self.seconds, 3),
        }
        if self.sandbox:
            values["sandbox"] = self.sandbox.model_dump()
        if self.folds:
            values["folds"] = [fold.to_json() for fold in self.folds]
        return values


def best_static(rows: Mapping[str, float | None]) -> str | None:
    """The static memory with the highest mean on val; the first of equals."""
    scored = {name: score for name, score in rows.items() if score is not None}
    return max(scored, key=lambda name: scored[name]) if scored else None


def pool_rows(parts: Sequence[Sequence[Row]], seed: int, metric: str = "") -> dict[str, Row]:
    """Rows of several folds, pooled by name over their held-out cases; `val` is the mean over
    folds; `metric` what was evolved for. Raises InputError when the folds have different rows."""
    names = [row.name for row in parts[0]]
    if any([row.name for row in part] != names for part in parts):
        raise InputError("the folds were evaluated with different memories; they cannot be pooled")
    pooled = {}
    for place, name in enumerate(names):
        rows = [part[place] for part in parts]
        found = [row.val for row in rows if row.val is not None]
        val = sum(found) / len(found) if len(found) == len(rows) else None
        cases = [case for row in rows for case in row.cases]
        pooled[name] = Row.of(name, cases, val, seed, metric)
    return pooled


def add_usage(parts: Sequence[Mapping[str, Mapping[str, float]]]) -> dict[str, dict[str, float]]:
    """Usage by role, added up."""
    total: dict[str, dict[str, float]] = {}
    for part in parts:
        for role, used in part.items():
            into = total.setdefault(role, {})
            for name, amount in used.items():
                into[name] = into.get(name, 0) + amount
    return total


def _metrics(row: Row) -> dict[str, Any]:
    return {name: interval.to_json() for name, interval in row.metrics.items()}
