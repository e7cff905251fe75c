"""`transfer()`: what evolved on one task, measured on others, and evolved further there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memgene.agents.registry import make_agent, useful_workers
from memgene.api.evolving import evolve
from memgene.api.transfer_report import START, TransferCell, TransferReport
from memgene.core import Budget, InputError
from memgene.evaluation.case import Case
from memgene.evaluation.evaluator import evaluate_cases
from memgene.evaluation.executor import threads
from memgene.evaluation.memories import MemoryPool
from memgene.evolution.basis import inherited
from memgene.evolution.files import write_whole
from memgene.evolution.rundir import BEST, read_run
from memgene.genome import GenomeBundle
from memgene.harness.registry import LoadedModels, make_factory
from memgene.llm.roles import RoleModels
from memgene.settings import load_settings
from memgene.tasks import load_task
from memgene.tasks.part import counted
from memgene.tasks.splits import Division, chronological_split, fold_splits, part, split_task
from memgene.tasks.task import Split, Task

_CHRONOLOGICAL = "chronological"
_TOLD = ("token_f1", "recall@10", "evidence_in_text")


@dataclass(frozen=True, slots=True)
class _Run:
    """A finished run: its folder, what was asked of it, and its name in the matrix."""

    folder: Path
    name: str
    asked: Mapping[str, Any]
    data: Mapping[str, str]

    def evolved_on(self, task: Task) -> bool:
        """Whether it saw questions of this task."""
        return task.name in self.data or task.fingerprint in self.data.values()


@dataclass(frozen=True, slots=True)
class _Target:
    """A task with its divisions (one, or one a fold) and how they were made."""

    task: Task
    divisions: tuple[Division, ...]
    folds: int | None
    seed: int
    how: str

    def told(self) -> str:
        """In words."""
        return f"{self.folds} folds, seed {self.seed}" if self.folds else self.divisions[0].origin


def transfer(
    runs: Sequence[str | Path],
    tasks: Sequence[Task | str | Path],
    out: str | Path,
    *,
    budget: Budget | Mapping[str, float] | None = None,
    folds: int | None = None,
    seed: int = 0,
    agents: str | Sequence[str] = "offline",
    metrics: Sequence[str] = (),
    data: str | Path | None = None,
    models: RoleModels | None = None,
) -> TransferReport:
    """Measure what runs evolved on the held-out questions of tasks, beside the untuned start.

    A task that one of the runs evolved on is divided as that run divided it (its seed and folds),
    so that nothing is tested that it saw; any other by `seed` and `folds`. With `budget` every
    run's genome is also evolved further on each foreign task, by its own strategy, on dev and val;
    those runs lie in `out/continued`, and a transfer that was stopped takes them up. `agents`: who
    answers (`offline`, `llm`), each with the same genomes, nothing retrained. `metrics`: default
    the task's, the runs', token_f1, recall@10 and evidence_in_text. `data`: where benchmark files
    lie. The tables are written to `out/transfer.md`, the numbers to
    `out/transfer.json`.

    Raises InputError for no runs or tasks, for two runs that divided one task differently, and for
    a run on another version of a task's data; RunError where a run is not finished.
    """
    if not runs or not tasks:
        raise InputError("a transfer needs runs and tasks: name at least one of each")
    settings = load_settings({"data": data})
    loaded = [t if isinstance(t, Task) else load_task(t, data=settings.data) for t in tasks]
    known = _named([Path(run) for run in runs])
    embedder = _embedder(known)
    targets = [_target(task, known, folds, seed) for task in loaded]
    limits = budget if isinstance(budget, Budget) or budget is None else Budget(**budget)  # type: ignore[arg-type]
    names = [agents] if isinstance(agents, str) else list(agents)
    cells: list[TransferCell] = []
    with ExitStack() as stack:
        llms = models or stack.enter_context(RoleModels(settings.llm))
        for target in targets:
            rows = _rows(target, known, Path(out), limits, settings.data, llms)
            for agent in names:
                told = _metrics(target, known, metrics)
                cells += _measured(target, rows, agent, llms, told, embedder)
    report = TransferReport(tuple(cells), {target.task.name: target.told() for target in targets})
    import json

    write_whole(Path(out) / "transfer.md", report.markdown())
    write_whole(Path(out) / "transfer.json", json.dumps(report.to_json(), indent=1) + "\n")
    return report


@dataclass(frozen=True, slots=True)
class _Row:
    """A memory of the matrix: for each division of the target the harness that is measured."""

    name: str
    harnesses: tuple[str, ...]
    home: bool = False


def _named(folders: Sequence[Path]) -> list[_Run]:
    found = []
    for folder in folders:
        kept = read_run(folder)
        if not (folder / BEST).is_dir():
            raise InputError(f"run {folder} has no {BEST}/ yet: finish it with --resume")
        found.append(_Run(folder, folder.name, kept["settings"], kept["data"]))
    names = [run.name for run in found]
    if len(set(names)) < len(names):
        found = [_Run(r.folder, str(r.folder), r.asked, r.data) for r in found]
    return found


def _embedder(runs: Sequence[_Run]) -> str:
    """That of the runs, which the start is measured with too: else a difference to it could be
    that of two embedders. Raises InputError for runs of several."""
    names = sorted({run.asked["embedder"] for run in runs})
    if len(names) > 1:
        raise InputError(
            f"the runs have embedders {', '.join(names)}: no one start compares with all of them. "
            "Transfer the runs of one embedder at a time"
        )
    return str(names[0])


def _target(task: Task, runs: Sequence[_Run], folds: int | None, seed: int) -> _Target:
    """The task divided as its runs divided it."""
    for run in runs:
        before = inherited(GenomeBundle.load(run.folder / BEST))
        if task.name in before or task.fingerprint in before.values():
            raise InputError(
                f"run {run.name} came from a genome that evolved on {task.name}: what is held out "
                "here may be what that has seen. Leave out the run or the task"
            )
    own = [run for run in runs if run.evolved_on(task)]
    for run in own:
        if run.data.get(task.name) != task.fingerprint:
            raise InputError(
                f"run {run.name} evolved on other data of {task.name}: what is held out here may "
                "be what it has seen"
            )
    asked = {
        (run.asked.get("folds"), run.asked["seed"], run.asked.get("division", "groups"))
        for run in own
    }
    if len(asked) > 1:
        raise InputError(
            f"runs {', '.join(run.name for run in own)} divided {task.name} differently; give "
            "runs of one seed and as many folds"
        )
    count, drawn, how = next(iter(asked), (folds, seed, "groups"))
    if how == _CHRONOLOGICAL:
        divisions: tuple[Division, ...] = (chronological_split(task),)
    elif count:
        divisions = fold_splits(task, count, drawn)
    else:
        divisions = (split_task(task, drawn),)
    return _Target(task, divisions, count, drawn, how)


def _rows(
    target: _Target,
    runs: Sequence[_Run],
    out: Path,
    budget: Budget | None,
    data: Path | None,
    models: RoleModels,
) -> list[_Row]:
    """Start, every run, and every foreign run evolved further."""
    rows = [_Row(START, ("bank",) * len(target.divisions))]
    for run in runs:
        home = run.evolved_on(target.task)
        rows.append(_Row(run.name, _genomes(run.folder, target, home=home), home))
        if budget is not None and not home:
            folder = out / "continued" / f"{_plain(run.name)}-on-{target.task.name}"
            _continued(run, target, folder, budget, models)
            name = f"{run.name}, continued"
            rows.append(_Row(name, _genomes(folder, target, home=True)))
    return rows


def _genomes(folder: Path, target: _Target, *, home: bool) -> tuple[str, ...]:
    """The genome for each division: that of its own fold where the run saw the task, else the
    one that the run made of everything."""
    if home and target.folds:
        folded = [folder / f"fold-{k}" / BEST for k in range(1, target.folds + 1)]
        return tuple(f"genome:{path}" for path in folded)
    return (f"genome:{folder / BEST}",) * len(target.divisions)


def _continued(
    run: _Run, target: _Target, folder: Path, budget: Budget, models: RoleModels
) -> None:
    """Evolve the run's genome on the target's dev and val questions."""
    evolve(
        target.task,
        run.asked["strategy"],
        run.asked["metric"],
        budget,
        folder,
        target.seed,
        resume=folder.exists(),
        folds=target.folds,
        agent=run.asked["agent"],
        harness=(),
        proposer=run.asked["proposer"],
        embedder=run.asked["embedder"],
        base=run.folder / BEST,
        division=target.how,
        models=models,
    )


def _measured(
    target: _Target,
    rows: Sequence[_Row],
    agent: str,
    llms: RoleModels,
    metrics: Sequence[str],
    embedder: str,
) -> list[TransferCell]:
    """Each row on the test questions of every division, pooled."""
    worker = make_agent(agent, llms)
    cases: dict[str, list[Case]] = {row.name: [] for row in rows}
    with (
        LoadedModels(llms) as models,
        MemoryPool() as memories,
    ):
        for place, division in enumerate(target.divisions):
            tested = part(target.task, division, Split.TEST)
            for row in rows:
                factory = make_factory(row.harnesses[place], embedder=embedder, models=models)
                cases[row.name] += evaluate_cases(
                    tested,
                    factory,
                    worker,
                    counted(tested),
                    metrics=metrics,
                    executor=threads(useful_workers(worker)),
                    label=row.name,
                    memories=memories,
                )
    start, name = cases[START], target.task.name
    return [
        TransferCell.of(row.name, name, agent, cases[row.name], start, home=row.home)
        for row in rows
    ]


def _metrics(target: _Target, runs: Sequence[_Run], asked: Sequence[str]) -> tuple[str, ...]:
    usual = (target.task.metric, *(run.asked["metric"] for run in runs), *_TOLD)
    return tuple(dict.fromkeys(asked or usual))


def _plain(name: str) -> str:
    return "".join(c if c.isalnum() or c in "-_" else "-" for c in name).strip("-")
