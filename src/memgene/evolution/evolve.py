"""The one entry to evolution, for the Python API and the command line."""

from __future__ import annotations

from pathlib import Path

from memgene.evolution.folds import evolve_folds
from memgene.evolution.interrupt import Interruptible
from memgene.evolution.progress import ProgressCallback
from memgene.evolution.result import EvolveResult
from memgene.evolution.settings import EvolveSettings
from memgene.evolution.single import evolve_division
from memgene.evolution.workbench import Workbench
from memgene.llm.roles import RoleModels
from memgene.tasks.splits import chronological_split, split_task
from memgene.tasks.task import Task


def run_evolution(
    task: Task,
    settings: EvolveSettings,
    run_dir: Path | str,
    *,
    resume: bool = False,
    progress: ProgressCallback | None = None,
    models: RoleModels | None = None,
) -> EvolveResult:
    """Evolve a memory for a task; everything that happens is kept in `run_dir`.

    Without folds the groups are divided into dev, val and test by the seed. `resume=True` takes up
    a run that was interrupted or killed and ends in the same result; a finished run is read.
    The first Ctrl-C finishes the round and raises RunInterruptedError, the second one stops at
    once. `models` are the language models by role (None = offline); the caller closes them. Levers
    that need a model take part where theirs is there: `extract` for extraction, `rewrite` for
    query planning and reranking, an agent that uses `task` for how questions are answered.

    Raises:
        ConfigError: an agent, embedder or harness is unknown, or a model that is needed is not set.
        BudgetExhaustedError: the budget ended before the start was evaluated.
        RunError: the folder holds another run, or one with other settings or data.
        InputError: too few groups, a budget that covers no round, a metric that never applies.
    """
    path = Path(run_dir)
    with Interruptible() as interrupt, Workbench.of(task, settings, interrupt, models) as bench:
        if settings.folds is not None:
            return evolve_folds(bench, path, resume=resume, progress=progress)
        chronological = settings.division == "chronological"
        division = chronological_split(task) if chronological else split_task(task, settings.seed)
        return evolve_division(bench, division, path, resume=resume, progress=progress)
