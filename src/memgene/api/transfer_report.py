"""A transfer matrix: memories evolved on one task, measured on others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from memgene.evaluation.case import Case
from memgene.evaluation.compare import compare_cases
from memgene.evaluation.report import Table, intervals
from memgene.evaluation.scoring import IN_TEXT
from memgene.evaluation.statistics import Interval, Paired
from memgene.tasks.metrics import Needs, get_metric

START = "start"


@dataclass(frozen=True, slots=True)
class TransferCell:
    """One memory on the held-out questions of one task, answered by one agent.

    `memory` is `start` (the default configuration, untuned), `RUN`, or `RUN, continued` (evolved
    further on the task's own dev and val questions). `home`: the run evolved on this very task.
    `paired` holds the differences to the start on the same questions, by metric.
    """

    memory: str
    task: str
    agent: str
    home: bool
    metrics: Mapping[str, Interval]
    paired: Mapping[str, Paired]
    cases: tuple[Case, ...] = field(default=(), repr=False, compare=False)

    @classmethod
    def of(
        cls,
        memory: str,
        task: str,
        agent: str,
        cases: Sequence[Case],
        start: Sequence[Case],
        *,
        home: bool = False,
    ) -> TransferCell:
        """From its cases and those of the start."""
        found = intervals(cases, own=IN_TEXT)
        common = [name for name in found if name in intervals(start, own=IN_TEXT)]
        paired = {
            name: compare_cases(cases, start, name).paired for name in common if memory != START
        }
        return cls(memory, task, agent, home, found, paired, tuple(cases))

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "memory": self.memory,
            "task": self.task,
            "agent": self.agent,
            "home": self.home,
            "metrics": {name: found.to_json() for name, found in self.metrics.items()},
            "paired": {
                name: {"delta": p.delta, "low": p.low, "high": p.high, "p": p.p, "n": p.n}
                for name, p in self.paired.items()
            },
        }


@dataclass(frozen=True, slots=True)
class TransferReport:
    """All cells, task by task. `divisions` say what was held out of each task."""

    cells: tuple[TransferCell, ...]
    divisions: Mapping[str, str]

    def cell(self, memory: str, task: str, agent: str) -> TransferCell:
        """One of them. KeyError when there is none."""
        for found in self.cells:
            if (found.memory, found.task, found.agent) == (memory, task, agent):
                return found
        raise KeyError((memory, task, agent))

    def tables(self) -> tuple[Table, ...]:
        """One per task: a row per memory and agent, a column per metric that all have, percent with
        interval and the paired difference to the start. Evidence in the text stands there where not
        all of them rank."""
        return tuple(self._table(task) for task in dict.fromkeys(c.task for c in self.cells))

    def to_json(self) -> dict[str, Any]:
        """Plain values, as `memgene transfer --json` prints them."""
        return {
            "cells": [cell.to_json() for cell in self.cells],
            "divisions": dict(self.divisions),
        }

    def markdown(self) -> str:
        """The tables as Markdown."""
        return "\n".join(table.markdown() for table in self.tables())

    def _table(self, task: str) -> Table:
        cells = [cell for cell in self.cells if cell.task == task]
        names = dict.fromkeys(name for cell in cells for name in cell.metrics)
        metrics = [name for name in names if all(name in cell.metrics for cell in cells)]
        if any(get_metric(name).needs is Needs.RANKING for name in metrics):
            metrics.remove(IN_TEXT)
        agents = len({cell.agent for cell in cells}) > 1
        header = ["memory", *(["agent"] if agents else [])]
        for name in metrics:
            header += [name, "− start"]
        rows = []
        for cell in cells:
            row = [cell.memory + (" (at home)" if cell.home else "")]
            row += [cell.agent] if agents else []
            for name in metrics:
                row += [_percent(cell.metrics.get(name)), _signed(cell.paired.get(name))]
            rows.append(tuple(row))
        questions = max((len(cell.cases) for cell in cells), default=0)
        title = f"{task}, {questions} held-out questions, {self.divisions[task]}"
        return Table(title, tuple(header), tuple(rows))


def _percent(found: Interval | None) -> str:
    if found is None:
        return "–"
    return f"{100 * found.mean:.1f} [{100 * found.low:.1f}, {100 * found.high:.1f}]"


def _signed(found: Paired | None) -> str:
    if found is None:
        return ""
    return f"{100 * found.delta:+.1f} [{100 * found.low:.1f}, {100 * found.high:.1f}]"
