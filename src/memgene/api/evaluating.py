"""`evaluate()`: memories against a task's questions, with honest intervals."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path

from memgene.agents.registry import check_agent, make_agent, useful_workers
from memgene.core import Budget, InputError
from memgene.evaluation.evaluator import MAX_ERRORS, TRACE_HITS
from memgene.evaluation.executor import Executor, threads
from memgene.evaluation.measure import measure
from memgene.evaluation.memories import MemoryPool
from memgene.evaluation.progress import Progress
from memgene.evaluation.records import write_cases
from memgene.evaluation.report import EvaluationReport, HarnessReport
from memgene.evaluation.seeds import average_reports
from memgene.harness.protocol import HarnessFactory
from memgene.harness.registry import LoadedModels, make_factory
from memgene.llm.protocol import LLM
from memgene.llm.roles import RoleModels
from memgene.settings import load_settings
from memgene.tasks import load_task
from memgene.tasks.metrics import METRICS, get_metric
from memgene.tasks.part import limit as limited
from memgene.tasks.splits import part, split_task
from memgene.tasks.task import Regime, Split, Task

ALL = "all"


def evaluate(
    task: Task | str | Path,
    harness: str | Sequence[str] = "bank",
    agent: str | None = None,
    split: str = "test",
    limit: int | None = None,
    seed: int = 0,
    *,
    seeds: int | None = None,
    embedder: str | None = None,
    sandbox: str | None = None,
    metrics: Sequence[str] | None = None,
    data: str | Path | None = None,
    out: str | Path | None = None,
    executor: Executor | None = None,
    workers: int | None = None,
    max_errors: float = MAX_ERRORS,
    budget: Budget | None = None,
    models: RoleModels | None = None,
    progress: Progress | None = None,
) -> EvaluationReport:
    """Evaluate one or several memories on a split of a task.

    `task`: a `Task`, a benchmark's name (with `data`, where its files lie) or a task folder.
    `harness`: names as `memgene harnesses` lists them, `genome:PATH` included. `split`: dev, val,
    test or all (under `shared` no all: the memory would hold what is asked about). `limit`: so
    many questions, drawn by `seed`, categories set apart left out. `seeds`: the same questions
    (split and drawn by `seed`) under seeds `seed … seed + seeds − 1`, averaged. `metrics`: default
    all that apply and need no judge. `sandbox`: the isolation without which no program is run
    (full, bubblewrap, rlimits; default: as settings say, else full). `workers`: questions at once
    (default: as many as the agent's model takes, at most 64). `budget`: limits on what language
    models may use. `models`: them by role (default: as settings name them). `out`: folder for one
    file of cases per memory and `report.json`.

    Memories that store the same share what was written; each is charged in full for it, so that
    its usage is what it would have cost alone, whatever else was evaluated.

    Raises InputError for unknown names and an `out` that cannot be written to, DataError for
    absent data, SandboxUnavailableError where programs cannot be isolated as required, RunError
    when more than the share `max_errors` of the questions end in an error, BudgetExhaustedError
    when the budget is used up.
    """
    _check_seeds(seed, seeds)
    settings = load_settings(
        {"agent": agent, "embedder": embedder, "data": data, "sandbox": {"level": sandbox}}
    )
    loaded = task if isinstance(task, Task) else load_task(task, data=settings.data)
    chosen = list(metrics or dict.fromkeys((loaded.metric, *METRICS)))
    asked = split_of(loaded, split, seed, limit)
    check_agent(settings.agent)  # so that an unknown one is refused before anything is made
    with ExitStack() as stack:
        llms = models or stack.enter_context(RoleModels(settings.llm))
        loading = stack.enter_context(LoadedModels(llms, sandbox=settings.sandbox))
        factories = {
            name: make_factory(name, embedder=settings.embedder or "static", models=loading)
            for name in harness_list(harness)
        }
        worker = make_agent(settings.agent, llms)
        judges = judges_of(llms, chosen)
        if out is not None:
            _prepare(Path(out))
        at_once = workers or useful_workers(worker)
        stack.enter_context(llms.ledger.limited(budget or Budget()))
        once = partial(
            measure,
            asked,
            agent=worker,
            metrics=chosen,
            training=_training(asked, split),
            executor=executor or threads(at_once),
            progress=progress,
            trace_hits=TRACE_HITS,
            max_errors=max_errors,
            judges=judges,
        )
        reports = [
            EvaluationReport(
                loaded.name,
                split,
                worker.name,
                one,
                _measured(once, factories, one),
                sandbox=loading.sandbox,
            )
            for one in range(seed, seed + (seeds or 1))
        ]
    report = average_reports(reports, loaded)
    if out is not None:
        _write(report, Path(out))
    return report


def _check_seeds(seed: int, seeds: int | None) -> None:
    if seeds is not None and seeds < 1:
        raise InputError(f"seeds must be at least 1, got {seeds}")
    if seed < 0:
        raise InputError(f"seed must be 0 or more, got {seed}")


def _measured(
    once: Callable[..., HarnessReport], factories: Mapping[str, HarnessFactory], seed: int
) -> tuple[HarnessReport, ...]:
    """Every memory under one seed; those that store the same share what was written."""
    with MemoryPool(apart=True) as memories:
        return tuple(
            once(name=name, factory=factory, memories=memories, seed=seed)
            for name, factory in factories.items()
        )


def split_of(task: Task, split: str, seed: int, limit: int | None = None) -> Task:
    """The questions of a split (grouped by seed) as a task, cut to `limit` questions."""
    if split == ALL:
        chosen = task
    else:
        try:
            wanted = Split(split)
        except ValueError as error:
            raise InputError(f"split {split!r} is not one of dev, val, test, all") from error
        chosen = part(task, split_task(task, seed), wanted)
    return chosen if limit is None else limited(chosen, limit, seed)


def harness_list(given: str | Sequence[str]) -> list[str]:
    """Names of memories, one or several, each once. InputError when there is none."""
    names = [given] if isinstance(given, str) else list(dict.fromkeys(given))
    if not names or not all(names):
        raise InputError(
            "an evaluation needs the name of a memory; `memgene harnesses` lists them all"
        )
    return names


def judges_of(models: RoleModels, metrics: Sequence[str]) -> Mapping[str, LLM]:
    """The judges' models by name, where one of the metrics needs a judge: those that metrics name,
    and the second judge, where there is one."""
    named = {
        judge: models.need(judge, f"metric {name}")
        for name in metrics
        if (judge := get_metric(name).judge) is not None
    }
    second = models.get("judge2") if named else None
    return named if second is None else {**named, "judge2": second}


def _training(asked: Task, split: str) -> tuple[str, ...] | None:
    """Whose episodes a shared memory holds where that is not to be read off the task: dev is
    asked about what the memory was made of, as evolution does."""
    if asked.regime is not Regime.SHARED or split != Split.DEV:
        return None
    return tuple(dict.fromkeys(episode.group for episode in asked.episodes))


def _prepare(folder: Path) -> None:
    """Make the folder and see that it can be written to, before the work is done."""
    from tempfile import TemporaryFile

    try:
        folder.mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise InputError(
            f"the results cannot be written to {folder}: {error.strerror or error}; "
            "choose another folder with --out (Python: out=…)"
        ) from error


def _write(report: EvaluationReport, folder: Path) -> None:
    import json

    for harness in report.harnesses:
        safe = "".join(c if c.isalnum() or c in "-_." else "_" for c in harness.name)
        write_cases(folder / f"{safe}.jsonl", harness.cases)
    text = json.dumps(report.to_json(), indent=1) + "\n"
    (folder / "report.json").write_text(text, encoding="utf-8")
