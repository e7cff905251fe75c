"""The programs that runs met, read from their folders."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from memgene.reports.joint_genomes import Genomes
from memgene.reports.joint_reading import read_joint
from memgene.reports.landscape import bands, landscape
from memgene.reports.landscape_model import Landscape, MetProgram
from memgene.reports.lineage import LineageView, read_lineage
from memgene.reports.node import Node
from memgene.reports.program_history import PROGRAM
from memgene.reports.recorded import candidate_file, read_events

STEPS, PASSES, FOLDS, TASKS = "iteration", "pass", "fold", "task"


def run_landscape(folder: Path) -> Landscape | None:
    """The programs of a run, coloured by when they were written (the iteration, or the pass of a
    joint evolution), or by fold where it has folds; None where it wrote fewer than two."""
    view = read_lineage(folder)
    if not view.folds:
        return landscape(_by_step(view), PASSES if view.inner else STEPS)
    met = []
    for fold in view.folds:
        name = Path(fold.run).name
        met += _met(fold, name.replace("-", " "), f"{name}/")
    return landscape(met, FOLDS, apart=True)


def runs_landscape(runs: Sequence[tuple[str, str, Path]]) -> Landscape | None:
    """The programs of several runs, each given by its name, its task and its folder, coloured by
    task."""
    met = []
    for name, task, folder in runs:
        view = read_lineage(folder)
        for part in view.folds or (view,):
            where = f"{name}/{Path(part.run).name}/" if view.folds else f"{name}/"
            met += _met(part, task, where)
    return landscape(met, TASKS, apart=True)


def _by_step(view: LineageView) -> list[MetProgram]:
    """Programs of one search, in the colour of their iteration."""
    met = _met(view, "", "")
    if view.inner:
        steps = {node.id: _pass_of(node) for node in view.inner}
    else:
        steps = {node.id: node.iteration for node in view.nodes}
    named = bands([steps[one.name] for one in met], PASSES if view.inner else STEPS)
    return [replace(one, group=named[steps[one.name]]) for one in met]


def _pass_of(node: Node) -> int:
    """The number of the pass that wrote a program, 0 for what it began with."""
    return int(node.id.partition("-")[0]) if node.parent is not None else 0


def _met(view: LineageView, group: str, before: str) -> list[MetProgram]:
    """Candidates that have a program; their names begin with `before`."""
    found = []
    best = _best_program(view)
    for node in view.inner or view.nodes:
        source = candidate_file(Path(view.run), node.id, PROGRAM)
        if source is None:
            continue
        found.append(
            MetProgram(
                name=f"{before}{node.id}",
                title=node.title,
                source=source,
                group=group,
                parent=None if node.parent is None else f"{before}{node.parent}",
                score=node.score,
                best=node.id == view.best or source == best,
            )
        )
    return found


def _best_program(view: LineageView) -> str | None:
    """Source of the best genome of a joint evolution, whichever pass wrote it; None for other
    strategies, whose best candidate is its own program."""
    folder = Path(view.run)
    joint = read_joint(read_events(folder)) if view.inner else None
    if joint is None or view.best is None:
        return None
    return Genomes(folder, joint).program(view.best)
