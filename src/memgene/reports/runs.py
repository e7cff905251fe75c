"""Several runs side by side: what each gained, and their evolved memories question by question."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from memgene.core import InputError
from memgene.evaluation.case import Case
from memgene.evaluation.compare import compare_cases
from memgene.evolution.result import EVOLVED, START
from memgene.reports import outcome
from memgene.reports.landscape_model import Landscape
from memgene.reports.landscape_reading import runs_landscape
from memgene.reports.load import load_view
from memgene.reports.model import Difference, RunView, Score
from memgene.reports.recorded import fold_folders, read_events


@dataclass(frozen=True, slots=True)
class RunRow:
    """One run: scores on its held-out questions (None where it has none), the paired gain over its
    start, and what the search cost. `evaluations` counts questions that were evaluated."""

    name: str
    folder: str
    task: str
    strategy: str
    metric: str
    finished: bool
    start: Score | None
    evolved: Score | None
    gain: Difference | None
    evaluations: int | None
    seconds: float | None


@dataclass(frozen=True, slots=True)
class RunsDifference:
    """Evolved by `name` minus evolved by `against`, on the `n` held-out questions that both were
    asked: mean, 95 % interval (bootstrap over `method`), and p."""

    name: str
    against: str
    metric: str
    n: int
    delta: float
    low: float
    high: float
    p: float
    method: str


@dataclass(frozen=True, slots=True)
class RunsView:
    """Rows in the order asked, each run against the first where both were tested on the same
    questions by the same metric, and the landscape of all their programs."""

    rows: tuple[RunRow, ...]
    differences: tuple[RunsDifference, ...]
    landscape: Landscape | None = None

    def model_dump(self) -> dict[str, Any]:
        """Plain values, as `memgene compare --json` prints them."""
        values: dict[str, Any] = json.loads(json.dumps(asdict(self)))
        return values


def compare_runs(folders: Sequence[Path]) -> RunsView:
    """The runs in these folders, finished or not.

    Raises InputError for fewer than two or the same folder twice, RunError for what is no run
    folder.
    """
    if len(folders) < 2:
        raise InputError("name at least two runs to compare")
    if len({folder.resolve() for folder in folders}) < len(folders):
        raise InputError("a run is named twice; name each once")
    names = _names(folders)
    views = [load_view(folder, pictured=False) for folder in folders]
    rows = tuple(_row(*each) for each in zip(names, map(str, folders), views, strict=True))
    tasks = [(row.name, row.task, folder) for row, folder in zip(rows, folders, strict=True)]
    return RunsView(rows, _differences(rows, folders), runs_landscape(tasks))


def _names(folders: Sequence[Path]) -> list[str]:
    """The shortest ends of their paths that tell them apart."""
    paths = [folder.resolve().parts for folder in folders]
    length = 1
    while len({path[-length:] for path in paths}) < len(paths):
        length += 1
    return ["/".join(path[-length:]) for path in paths]


def _row(name: str, folder: str, view: RunView) -> RunRow:
    return RunRow(
        name=name,
        folder=folder,
        task=view.task,
        strategy=view.strategy,
        metric=view.metric,
        finished=view.finished,
        start=view.rows.get(START, {}).get(view.metric),
        evolved=view.evolved,
        gain=next((d for d in view.differences if d.name == START), None),
        evaluations=view.evaluations,
        seconds=view.seconds,
    )


def _differences(rows: Sequence[RunRow], folders: Sequence[Path]) -> tuple[RunsDifference, ...]:
    first, metric = rows[0], rows[0].metric
    base = _by_question(_held_out(folders[0]), metric)
    found = []
    for row, folder in zip(rows[1:], folders[1:], strict=True):
        ours = _by_question(_held_out(folder), metric)
        if (row.task, row.metric) != (first.task, metric) or not ours.keys() & base.keys():
            continue
        pair = compare_cases([*ours.values()], [*base.values()], metric, intersect=True)
        told = pair.paired
        found.append(
            RunsDifference(
                name=row.name,
                against=first.name,
                metric=metric,
                n=told.n,
                delta=told.delta,
                low=told.low,
                high=told.high,
                p=told.p,
                method=str(told.method),
            )
        )
    return tuple(found)


def _held_out(folder: Path) -> list[Case]:
    """Cases of the evolved memory on test, those of folds one after another."""
    cases: list[Case] = []
    for part in fold_folders(folder) or [folder]:
        test, _ = outcome.read_rows(part, read_events(part))
        cases += test.get(EVOLVED, ())
    return cases


def _by_question(cases: Sequence[Case], metric: str) -> Mapping[str, Case]:
    return {case.question_id: case for case in cases if metric in case.scores}
