"""Progress bars on stderr; silent where nobody watches."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memgene.evaluation.progress import Progress
    from memgene.evolution.progress import EvolveProgress, ProgressCallback


def watched(as_json: bool) -> bool:
    """Whether a bar makes sense: stderr is a terminal and a person reads along."""
    return not as_json and sys.stderr.isatty()


@contextmanager
def evaluation_bar(as_json: bool) -> Iterator[Progress | None]:
    """A bar per memory under evaluation, with the time left."""
    if not watched(as_json):
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TaskID, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bars

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    with Bars(*columns, console=Console(stderr=True)) as bars:
        shown: dict[str, TaskID] = {}

        def progress(done: int, total: int, label: str) -> None:
            if label not in shown:
                shown[label] = bars.add_task(label, total=total)
            bars.update(shown[label], completed=done, total=total)

        yield progress


@contextmanager
def evolution_bar(as_json: bool) -> Iterator[ProgressCallback | None]:
    """One bar per run: round, score, best, cost, time left."""
    if not watched(as_json):
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn
    from rich.progress import Progress as Bars

    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[state]}"))
    with Bars(*columns, console=Console(stderr=True)) as bars:
        bar = bars.add_task("evolve", total=1, state="")

        def progress(at: EvolveProgress) -> None:
            fold = f"fold {at.fold}/{at.folds} " if at.folds else ""
            bars.update(
                bar,
                description=f"{fold}{at.stage}, round {at.round}/{at.rounds}",
                completed=at.round,
                total=max(at.rounds, 1),
                state=evolution_state(at),
            )

        yield progress


def evolution_state(at: EvolveProgress) -> str:
    """Score, best, cost and time left in a few words."""
    parts = []
    if at.score is not None:
        parts.append(f"val {100 * at.score:.1f}")
    if at.best is not None:
        parts.append(f"best {100 * at.best:.1f}")
    parts.append(f"{at.evaluations} questions")
    if at.cost:
        parts.append(f"cost {at.cost:.2f}")
    if at.seconds_left is not None:
        parts.append(f"{at.seconds_left:.0f} s left")
    return ", ".join(parts)
