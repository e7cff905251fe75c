"""`stability()`: the same evolution under several seeds (M* §10's stability table)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

from memgene.api.evolving import EvolutionRun, evolve
from memgene.api.tasks import open_task
from memgene.core import Budget, InputError
from memgene.evaluation.report import Table
from memgene.evolution.files import write_whole
from memgene.genome import GenomeBundle
from memgene.tasks.task import Task


@dataclass(frozen=True, slots=True)
class SeedRow:
    """One seed: the best score on val, which selected, the held-out score, and that of the best
    static memory (chosen on val; None where there is none) on the same questions."""

    seed: int
    val: float
    test: float
    baseline: str | None
    baseline_test: float | None

    @property
    def won(self) -> bool | None:
        """Whether what evolved is above the best static memory; None where there is none."""
        return None if self.baseline_test is None else self.test > self.baseline_test


@dataclass(frozen=True, slots=True)
class StabilityReport:
    """Held-out scores of several seeds. Each seed divides the task anew, so that the spread is that
    of the search and of the division together."""

    task: str
    strategy: str
    metric: str
    rows: tuple[SeedRow, ...]

    @property
    def mean(self) -> float:
        """Of the held-out scores."""
        return fmean(row.test for row in self.rows)

    @property
    def std(self) -> float:
        """Their sample standard deviation (0 for one seed)."""
        return stdev([row.test for row in self.rows]) if len(self.rows) > 1 else 0.0

    @property
    def cv(self) -> float:
        """Coefficient of variation: standard deviation over mean (0 where the mean is)."""
        return self.std / self.mean if self.mean else 0.0

    @property
    def wins(self) -> int:
        """Seeds in which what evolved is above the best static memory."""
        return sum(row.won is True for row in self.rows)

    @property
    def compared(self) -> int:
        """Seeds that have a static memory to be compared with."""
        return sum(row.won is not None for row in self.rows)

    def table(self) -> Table:
        """One row per seed, percent."""
        rows = [
            (
                str(row.seed),
                f"{100 * row.val:.1f}",
                f"{100 * row.test:.1f}",
                "–" if row.baseline_test is None else f"{100 * row.baseline_test:.1f}",
                row.baseline or "–",
                {True: "yes", False: "no", None: "–"}[row.won],
            )
            for row in self.rows
        ]
        count = len(self.rows)
        note = (
            f"held out {100 * self.mean:.1f} ± {100 * self.std:.1f} (sample standard deviation), "
            f"CV {100 * self.cv:.1f} %, {self.wins} of {self.compared} above the best "
            "static memory"
        )
        title = f"{self.task}, {self.strategy}, {self.metric}, {count} seeds"
        header = ("seed", "best on val", "held out", "best static", "which", "above it")
        return Table(title, header, tuple(rows), (note,))

    def to_json(self) -> dict[str, Any]:
        """Plain values, as `memgene stability --json` prints them."""
        return {
            "task": self.task,
            "strategy": self.strategy,
            "metric": self.metric,
            "mean": self.mean,
            "std": self.std,
            "cv": self.cv,
            "wins": self.wins,
            "compared": self.compared,
            "seeds": [
                {
                    "seed": row.seed,
                    "val": row.val,
                    "test": row.test,
                    "baseline": row.baseline,
                    "baseline_test": row.baseline_test,
                }
                for row in self.rows
            ],
        }


def stability(
    task: Task | str | Path,
    strategy: str,
    out: str | Path,
    *,
    seeds: int = 5,
    first: int = 0,
    metric: str | None = None,
    budget: Budget | Mapping[str, float] | None = None,
    data: str | Path | None = None,
    **settings: Any,
) -> StabilityReport:
    """Evolve under `seeds` seeds from `first`, each in `out/seed-N`; a stopped one is taken up.

    `settings` are those of `evolve`. The table is written to `out/stability.md`, the numbers to
    `out/stability.json`. Raises InputError for fewer than two seeds, and what `evolve` raises.
    """
    if seeds < 2:
        raise InputError(f"stability needs at least 2 seeds, got {seeds}")
    runs = {}
    for seed in range(first, first + seeds):
        folder = Path(out) / f"seed-{seed}"
        runs[seed] = evolve(
            task, strategy, metric, budget, folder, seed, resume=folder.exists(), data=data,
            **settings,
        )  # fmt: skip
    some = next(iter(runs.values()))
    name = task.name if isinstance(task, Task) else open_task(task, data).name
    rows = tuple(_row(seed, run) for seed, run in runs.items())
    report = StabilityReport(name, strategy, some.metric, rows)
    table = report.table()
    write_whole(Path(out) / "stability.md", f"{table.markdown()}\n{table.notes[0]}\n")
    write_whole(Path(out) / "stability.json", json.dumps(report.to_json(), indent=1) + "\n")
    return report


def _row(seed: int, run: EvolutionRun) -> SeedRow:
    metric, test = run.metric, run.result.test
    scores = GenomeBundle.load(run.best).scores
    best = next((row for row in test.static if row.name == test.best_static), None)
    found = None if best is None else best.metrics.get(metric)
    return SeedRow(
        seed=seed,
        val=scores[f"val/{metric}"].mean,
        test=test.evolved.metrics[metric].mean,
        baseline=None if best is None else best.name,
        baseline_test=None if found is None else found.mean,
    )
