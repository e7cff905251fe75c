"""`ablate()`: the published ablations of the three systems in one table."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memgene.api.ablation_rows import SYSTEMS, AblationRow, System
from memgene.api.evolving import EvolutionRun, evolve
from memgene.api.tasks import open_task
from memgene.core import Budget, InputError
from memgene.evaluation.report import Table
from memgene.evaluation.statistics import Interval, Paired, mean_interval, paired_difference
from memgene.evolution.diagnosis import is_ranking
from memgene.evolution.files import write_whole
from memgene.tasks.task import Task


@dataclass(frozen=True, slots=True)
class Ablated:
    """A row that was run, or why it was not. `held_out` is pooled over the seeds, `against` the
    paired difference to the whole system on the same questions (None for the whole itself)."""

    system: str
    row: AblationRow
    held_out: Interval | None
    against: Paired | None


@dataclass(frozen=True, slots=True)
class AblationReport:
    """All rows, system by system."""

    task: str
    metric: str
    seeds: int
    rows: tuple[Ablated, ...]

    def table(self) -> Table:
        """Percent with 95 % intervals; published figures are of other models and judges."""
        rows = [
            (
                each.system,
                each.row.name,
                _percent(each.held_out) if each.held_out else f"not run: {each.row.skipped}",
                _signed(each.against),
                each.row.published or "–",
            )
            for each in self.rows
        ]
        title = f"{self.task}, {self.metric}, held out, {self.seeds} seeds"
        header = ("system", "row", self.metric, "− full", "published, by its own measure")
        return Table(title, header, tuple(rows))

    def to_json(self) -> dict[str, Any]:
        """Plain values, as `memgene ablate --json` prints them."""
        return {
            "task": self.task,
            "metric": self.metric,
            "seeds": self.seeds,
            "rows": [
                {
                    "system": each.system,
                    "row": each.row.name,
                    "held_out": each.held_out.to_json() if each.held_out else None,
                    "against_full": _plain(each.against),
                    "published": each.row.published,
                    "skipped": each.row.skipped,
                }
                for each in self.rows
            ],
        }


def ablate(
    task: Task | str | Path,
    out: str | Path,
    *,
    systems: str | Sequence[str] = "all",
    seeds: int = 1,
    metric: str | None = None,
    budget: Budget | Mapping[str, float] | None = None,
    data: str | Path | None = None,
    **settings: Any,
) -> AblationReport:
    """Evolve with every row of the systems' published ablations, under `seeds` seeds each.

    `systems`: mstar, evolvemem, coevomem, some of them, or `all`. Runs lie in
    `out/SYSTEM/ROW/seed-N`; what is finished is read, what was stopped is taken up. Rows that need
    a language model are named and not run. `settings` are those of `evolve`, for every row. The
    table is written to `out/ablations.md`, the numbers to `out/ablations.json`.

    Raises InputError for an unknown system, no seed, and a metric on rankings with mstar.
    """
    names = (
        list(SYSTEMS) if systems == "all" else [systems] if isinstance(systems, str) else systems
    )
    unknown = [name for name in names if name not in SYSTEMS]
    if unknown or not names:
        raise InputError(f"there is no system {unknown or names!r}; there are {', '.join(SYSTEMS)}")
    if seeds < 1:
        raise InputError(f"seeds must be at least 1, got {seeds}")
    loaded = task if isinstance(task, Task) else open_task(task, data)
    measured = metric or loaded.metric
    if is_ranking(measured) and "mstar" in names:
        raise InputError(
            f"programs give no ranking for {measured}: name another metric, or leave mstar out"
        )
    common = {"metric": measured, "budget": budget, "harness": (), **settings}
    rows: list[Ablated] = []
    for name in names:
        system = SYSTEMS[name]
        runs = {
            row.name: _runs(loaded, system, row, Path(out), seeds, common)
            for row in system.rows
            if not row.skipped
        }
        rows += _ablated(system, runs)
    report = AblationReport(loaded.name, measured, seeds, tuple(rows))
    write_whole(Path(out) / "ablations.md", report.table().markdown())
    write_whole(Path(out) / "ablations.json", json.dumps(report.to_json(), indent=1) + "\n")
    return report


def _runs(
    task: Task,
    system: System,
    row: AblationRow,
    out: Path,
    seeds: int,
    common: Mapping[str, Any],
) -> list[EvolutionRun]:
    slug = "".join(c if c.isalnum() else "-" for c in row.name).strip("-")
    made = []
    for seed in range(seeds):
        folder = out / system.name / slug / f"seed-{seed}"
        asked = {**common, **system.settings, **row.settings}
        asked["held"] = {**(common.get("held") or {}), **row.settings.get("held", {})}
        made.append(
            evolve(
                task, system.strategy, run_dir=folder, seed=seed, resume=folder.exists(), **asked
            )
        )
    return made


def _ablated(system: System, runs: Mapping[str, Sequence[EvolutionRun]]) -> list[Ablated]:
    full = _scores(runs[system.rows[0].name])
    found = []
    for row in system.rows:
        if row.skipped:
            found.append(Ablated(system.name, row, None, None))
            continue
        mine = _scores(runs[row.name])
        against = None
        if row is not system.rows[0]:
            shared = [key for key in mine if key in full]
            against = paired_difference(
                [mine[key][0] for key in shared],
                [full[key][0] for key in shared],
                [mine[key][1] for key in shared],
            )
        values = list(mine.values())
        held = mean_interval([score for score, _ in values], [group for _, group in values])
        found.append(Ablated(system.name, row, held, against))
    return found


def _scores(runs: Sequence[EvolutionRun]) -> dict[str, tuple[float, str]]:
    """Held-out score and group by seed and question."""
    return {
        f"{seed}:{case.question_id}": (case.scores[run.metric], case.group)
        for seed, run in enumerate(runs)
        for case in run.result.test.evolved.cases
        if case.error is None and run.metric in case.scores
    }


def _percent(found: Interval) -> str:
    return f"{100 * found.mean:.1f} [{100 * found.low:.1f}, {100 * found.high:.1f}]"


def _signed(found: Paired | None) -> str:
    if found is None:
        return ""
    return f"{100 * found.delta:+.1f} [{100 * found.low:.1f}, {100 * found.high:.1f}]"


def _plain(found: Paired | None) -> dict[str, float] | None:
    if found is None:
        return None
    return {"delta": found.delta, "low": found.low, "high": found.high, "p": found.p}
