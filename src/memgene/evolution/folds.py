"""Folds: K ordinary evolutions, each tested on groups of its own; held-out cases are pooled.

RUN/fold-1 … RUN/fold-K are complete run folders. RUN/best is then fitted on everything and makes
no claim about test: every group has been used.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from memgene.core import Budget
from memgene.engine.learned import LearnedMemory
from memgene.evolution.basis import inheriting
from memgene.evolution.budget import BudgetMeter
from memgene.evolution.changes import LEARNED
from memgene.evolution.coevolve.events import Retrained
from memgene.evolution.coevolve.state import State
from memgene.evolution.coevolve.workshop import trained_on_everything
from memgene.evolution.events import Finished, FoldFinished, Refitted, RunStarted
from memgene.evolution.joint.finishing import on_everything
from memgene.evolution.progress import Place, ProgressCallback
from memgene.evolution.promotion import provenance
from memgene.evolution.result import (
    EvolveResult,
    TestReport,
    add_usage,
    best_static,
    pool_rows,
)
from memgene.evolution.rundir import BEST, RunFolder, row_subject
from memgene.evolution.single import evolve_division, prepare
from memgene.evolution.spending import Spending
from memgene.evolution.workbench import Workbench
from memgene.genome import GenomeBundle
from memgene.retrieval.config import RetrievalConfig
from memgene.tasks.part import counted
from memgene.tasks.splits import fold_splits
from memgene.tasks.task import Regime


def evolve_folds(
    bench: Workbench, path: Path, *, resume: bool, progress: ProgressCallback | None
) -> EvolveResult:
    """All folds, then the pooled result and the genome fitted on everything.

    The budget is that of each fold. A fold that is finished is read, not repeated.
    """
    settings, task = bench.settings, bench.task
    assert settings.folds is not None
    divisions = fold_splits(task, settings.folds, settings.seed)
    for number, division in enumerate(divisions, start=1):
        prepare(bench, division, Place(number, settings.folds))
    asked, data = bench.asked, {task.name: task.fingerprint}
    with RunFolder.open(path, asked, data, resume=resume, isolation=bench.isolation) as run:
        run.journal.emit(_started(bench))
        results = []
        for number, division in enumerate(divisions, start=1):
            folder = run.path / f"fold-{number}"
            result = evolve_division(
                bench,
                division,
                folder,
                resume=folder.exists(),
                progress=progress,
                place=Place(number, settings.folds),
            )
            score = result.test.evolved.metrics.get(bench.metric)
            run.journal.emit(FoldFinished(number, result.promoted, score.mean if score else None))
            results.append(result)
        return _pooled(bench, run, results)


def medoid(configs: Sequence[RetrievalConfig]) -> int:
    """Place of the configuration that differs from the others in the fewest levers, learned
    weights apart; the first of equals."""
    bare = [
        config.changed(ranker=None) if config.fusion != LEARNED else config for config in configs
    ]

    def distance(place: int) -> int:
        return sum(len(bare[place].difference(other).keys() - {"ranker"}) for other in bare)

    return min(range(len(bare)), key=distance)


def _started(bench: Workbench) -> RunStarted:
    settings = bench.settings
    return RunStarted(
        task=bench.task.name,
        strategy=settings.strategy,
        metric=bench.metric,
        seed=settings.seed,
        rounds=settings.rounds,
        dev=0,
        val=0,
        fresh=0,
        division=f"{settings.folds} folds",
    )


def _pooled(bench: Workbench, run: RunFolder, results: Sequence[EvolveResult]) -> EvolveResult:
    rows = pool_rows([result.test.rows for result in results], bench.settings.seed, bench.metric)
    static = {row.name: row.val for row in results[0].test.static}
    chosen = best_static({name: rows[name].val for name in static})
    report = TestReport.of(rows, bench.metric, chosen, bench.settings.seed)
    place = _representative(bench, results)
    meter = BudgetMeter(Budget())
    learned: LearnedMemory | None = None
    if bench.settings.strategy == "coevolve":
        config, learned = _learned_on_everything(bench, run, int(results[place].promoted), meter)
    elif bench.settings.strategy == "joint":
        genome = on_everything(bench, run, GenomeBundle.load(results[place].best), meter)
        config, learned = genome.config, None if genome.learned.is_empty else genome.learned
    else:
        config = _on_everything(bench, run, results[place].config, meter)
    bundle = GenomeBundle(
        config=config,
        embedder=bench.settings.embedder,
        strategy=bench.settings.strategy,
        fingerprints={bench.task.name: bench.task.fingerprint},
        provenance={
            **provenance(bench, config),
            "division": f"{bench.settings.folds} folds, then fitted on everything",
            "fold": place + 1,
        },
        program=results[place].program,
        memory=learned,
    )
    seen = [GenomeBundle.load(result.best).fingerprints for result in results]
    bundle = inheriting(bundle, {name: said for each in seen for name, said in each.items()})
    if run.journal.peek(Finished) is None or not (run.path / BEST).exists():
        run.save_best(bundle)
    rounds = sum(result.rounds for result in results)
    evaluations = sum(result.evaluations for result in results)
    run.journal.emit(Finished(bundle.id, rounds, evaluations))
    return EvolveResult(
        run=run.path,
        strategy=bench.settings.strategy,
        metric=bench.metric,
        rounds=rounds,
        evaluations=evaluations,
        promoted=f"fold-{place + 1}/{results[place].promoted}",
        stopped=", ".join(dict.fromkeys(result.stopped for result in results)),
        config=config,
        test=report,
        usage=add_usage([*(result.usage for result in results), meter.roles]),
        seconds=sum(result.seconds for result in results) + meter.seconds,
        folds=tuple(results),
        program=results[place].program,
        sandbox=bench.sandbox,
    )


def _representative(bench: Workbench, results: Sequence[EvolveResult]) -> int:
    """Place of the fold whose memory is kept: the medoid of the configurations, or (programs, and
    what learned) that with the highest score on the val questions that selected it."""
    if bench.settings.strategy == "config":
        return medoid([result.config for result in results])
    metric = f"val/{bench.metric}"
    found = [GenomeBundle.load(result.best).scores[metric].mean for result in results]
    return found.index(max(found))


def _learned_on_everything(
    bench: Workbench, run: RunFolder, steps: int, meter: BudgetMeter
) -> tuple[RetrievalConfig, LearnedMemory | None]:
    """Router and values after so many steps on every question; `meter` counts what that takes."""
    subject = row_subject(BEST)
    recorded = run.journal.peek(Retrained, row=BEST)
    if recorded is not None:
        state, usage, seconds = State.load(run, subject), recorded.usage, recorded.seconds
    else:
        with Spending(run.journal, meter).work(limited=False) as spent:
            state = trained_on_everything(bench, steps)
        run.save_files(subject, state.files())
        usage, seconds = spent.usage, spent.seconds
    router = state.config.router
    event = run.journal.emit(
        Retrained(
            row=BEST,
            steps=steps,
            questions=len(counted(bench.task)),
            router="" if router is None else router.digest,
            memory=state.learned.digest,
            usage=usage,
            seconds=seconds,
        )
    )
    meter.add_work(event.usage, event.seconds)
    return state.config, None if state.learned.is_empty else state.learned


def _on_everything(
    bench: Workbench, run: RunFolder, config: RetrievalConfig, meter: BudgetMeter
) -> RetrievalConfig:
    """The configuration with its learned weights, if any, fitted on every question; `meter` counts
    what that takes."""
    if config.fusion != LEARNED:
        return config
    recorded = run.journal.peek(Refitted, row=BEST)
    if recorded is not None:
        fitted = run.load_config(row_subject(BEST))
        run.journal.emit(recorded)
        meter.add_work(recorded.usage, recorded.seconds)
        return fitted
    task = bench.task
    training = task.groups if task.regime is Regime.SHARED else None
    questions = counted(task)
    with Spending(run.journal, meter).work(limited=False) as spent:
        ranker = bench.learner(task, training)(config, questions)
    fitted = config.changed(ranker=ranker)
    run.save_config(row_subject(BEST), fitted)
    event = run.journal.emit(
        Refitted(
            BEST,
            "retrieval.toml",
            ranker.target,
            len(questions),
            fitted.digest,
            spent.usage,
            spent.seconds,
        )
    )
    meter.add_work(event.usage, event.seconds)
    return fitted
