"""Evolution in folds by the rule proposer, and by random proposers, side by side.

    python benchmarks/folds.py locomo --data PATH --metric recall@10 --runs runs/locomo

Each evolution is an ordinary `memgene.evolve` in a folder of its own, so the script may be stopped
and started again; what is finished is read, not repeated. A row is the mean over all held-out
questions. The random row is each question's mean over the seeds.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from common import (
    add_data_option,
    cell,
    difference,
    finish,
    interval_of,
    note,
    points,
    read_task,
    table,
)

import memgene
from memgene.api import EvolutionRun
from memgene.core import Budget
from memgene.evaluation import Case, average_cases, compare_cases
from memgene.evolution.progress import EvolveProgress, ProgressCallback
from memgene.tasks.task import Task

RULE, RANDOM = "rule", "random"


def main() -> None:
    options = _options()
    task = read_task(options.task, options.data)
    metric = options.metric or task.metric
    rule = [_evolved(task, RULE, seed, options) for seed in range(options.rule_seeds)]
    random = [_evolved(task, RANDOM, seed, options) for seed in range(options.random_seeds)]
    evolved = {RULE: _pooled(rule)} | ({RANDOM: _pooled(random)} if random else {})
    others = {row.name: list(row.cases) for row in rule[0].result.test.rows[1:]}
    measured = {n: c for n, c in others.items() if any(metric in case.scores for case in c)}
    rows = {**evolved, **measured}
    header = ("memory", metric, "rule − it", "p")
    table(
        f"{task.name}, {options.folds} folds, {options.embedder}, held out",
        header,
        [_row(name, cases, evolved[RULE], metric) for name, cases in rows.items()],
    )
    table(
        "evolutions",
        ("proposer", "seed", metric, "rounds", "questions asked", "seconds a fold", "promoted"),
        [_run_row(RULE, seed, run, metric) for seed, run in enumerate(rule)]
        + [_run_row(RANDOM, seed, run, metric) for seed, run in enumerate(random)],
    )
    finish(
        "folds",
        {
            "task": task.name,
            "metric": metric,
            "folds": options.folds,
            "embedder": options.embedder,
            "rows": {name: points(interval_of(cases, metric)) for name, cases in rows.items()},
            "rule_against": {
                name: _paired(evolved[RULE], cases, metric)
                for name, cases in rows.items()
                if name != RULE
            },
            "runs": {
                proposer: [_told(run, metric) for run in runs]
                for proposer, runs in ((RULE, rule), (RANDOM, random))
            },
        },
    )


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("task")
    parser.add_argument("--runs", type=Path, required=True, metavar="DIR", help="new, or to go on")
    parser.add_argument("--metric")
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--rule-seeds", type=int, default=1, help="rule evolutions, seeds 0, 1, …")
    parser.add_argument("--random-seeds", type=int, default=5, help="random ones, seeds 0, 1, …")
    parser.add_argument("--embedder", default="static")
    parser.add_argument("--budget", default="", help="of each fold, as memgene evolve takes it")
    add_data_option(parser)
    options = parser.parse_args()
    if options.rule_seeds < 1:
        parser.error("--rule-seeds must be at least 1")
    return options


def _evolved(task: Task, proposer: str, seed: int, options: argparse.Namespace) -> EvolutionRun:
    """One evolution, run or taken up or read."""
    folder = options.runs / f"{proposer}-{seed}"
    note(f"{folder}: {'going on' if folder.exists() else 'starting'}")
    return memgene.evolve(
        task,
        metric=options.metric,
        budget=Budget.parse(options.budget),
        run_dir=folder,
        seed=seed,
        resume=folder.exists(),
        folds=options.folds,
        proposer=proposer,
        embedder=options.embedder,
        # the random ablation is compared with the rule's rows: it needs none of its own
        harness=None if proposer == RULE else (),
        progress=_teller(),
    )


def _teller() -> ProgressCallback:
    """Tells each stage and round once."""
    told: set[str] = set()

    def tell(progress: EvolveProgress) -> None:
        line = f"  fold {progress.fold} of {progress.folds}: {progress.stage} {progress.round}"
        if line not in told:
            told.add(line)
            note(line)

    return tell


def _pooled(runs: Sequence[EvolutionRun]) -> list[Case]:
    """Held-out cases of the evolved memories, each question's mean over the runs."""
    pooled = [{c.question_id: c for c in run.result.test.evolved.cases} for run in runs]
    order = list(pooled[0])  # the folds of other seeds ask in another order
    return average_cases([[cases[id] for id in order] for cases in pooled])


def _row(name: str, cases: Sequence[Case], rule: Sequence[Case], metric: str) -> tuple[str, ...]:
    label = {RULE: "evolved by rule", RANDOM: "evolved at random"}.get(name, name)
    if name == RULE:
        return label, cell(interval_of(cases, metric)), "–", "–"
    paired = difference(rule, cases, metric)
    return label, cell(interval_of(cases, metric)), cell(paired, signed=True), f"{paired.p:.4f}"


def _run_row(proposer: str, seed: int, run: EvolutionRun, metric: str) -> tuple[str, ...]:
    told = _told(run, metric)
    return (
        proposer,
        str(seed),
        f"{told['mean']:.2f}",
        str(told["rounds"]),
        str(told["evaluations"]),
        f"{told['seconds_a_fold']:.0f} (max {told['slowest_fold']:.0f})",
        str(told["promoted"]),
    )


def _told(run: EvolutionRun, metric: str) -> dict[str, Any]:
    result = run.result
    seconds = [fold.seconds for fold in result.folds] or [result.seconds]
    return {
        "mean": round(100 * result.test.evolved.metrics[metric].mean, 3),
        "rounds": result.rounds,
        "evaluations": result.evaluations,
        "seconds_a_fold": round(sum(seconds) / len(seconds), 1),
        "slowest_fold": round(max(seconds), 1),
        "promoted": result.promoted,
    }


def _paired(rule: Sequence[Case], base: Sequence[Case], metric: str) -> dict[str, Any]:
    found = compare_cases(rule, base, metric)
    return {**points(found.paired), "p": round(found.paired.p, 5), "unpaired": found.unpaired}


if __name__ == "__main__":
    main()
