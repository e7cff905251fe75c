"""One budget of evaluated questions for every strategy: what each finds, measured held out.

    python benchmarks/joint.py locomo --data PATH --runs runs/joint --metric token_f1

Each row is an ordinary `memgene.evolve` with `--budget questions=N`, once per seed in a folder of
its own, so the script may be stopped and started again; what is finished is read. Held-out means
are pooled over seeds (intervals over groups); differences are paired on the same questions.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from common import add_data_option, cell, finish, note, points, read_task, table
from held import Held

import memgene
from memgene.api import EvolutionRun
from memgene.core import Budget
from memgene.tasks.task import Task

TOLD = ("token_f1", "evidence_in_text")


@dataclass(frozen=True, slots=True)
class Plan:
    """A strategy and how it goes about it."""

    strategy: str
    plan: str = ""


ROWS: Mapping[str, Plan] = {
    "config": Plan("config"),
    "program": Plan("program"),
    "coevolve": Plan("coevolve"),
    "joint": Plan("joint"),
    "joint, simultaneous": Plan("joint", "schedule=simultaneous"),
    "joint, no structure": Plan("joint", "arms=parameters+router+values"),
    "joint, no parameters": Plan("joint", "arms=structure+router+values"),
    "joint, no router": Plan("joint", "arms=structure+parameters"),
    "joint, parameters first": Plan("joint", "arms=parameters+structure+router+values"),
}
SINGLE = ("config", "program", "coevolve")


def main() -> None:
    options = _options()
    task = read_task(options.task, options.data)
    names = options.rows.split(";") if options.rows else list(ROWS)[:5]
    runs = {
        name: [_run(task, name, seed, options) for seed in range(options.seeds)] for name in names
    }
    held = {
        name: {metric: _held(some, "evolved", metric) for metric in TOLD}
        for name, some in runs.items()
    }
    first = runs[names[0]]
    for row in ("start", "learned-once"):
        held[row] = {metric: _held(first, row, metric) for metric in TOLD}
    best = {
        metric: max(
            (name for name in SINGLE if name in held),
            key=lambda name: held[name][metric].interval().mean,
            default=names[0],
        )
        for metric in TOLD
    }
    _tell(task, options, runs, held, best)


def _tell(
    task: Task,
    options: argparse.Namespace,
    runs: Mapping[str, Sequence[EvolutionRun]],
    held: Mapping[str, Mapping[str, Held]],
    best: Mapping[str, str],
) -> None:
    header = ["memory"]
    for metric in TOLD:
        header += [metric, f"− {best[metric]}"]
    rows = []
    for name, found in held.items():
        row = [name]
        for metric in TOLD:
            against = held[best[metric]][metric]
            same = name == best[metric]
            delta = "" if same else cell(found[metric].against(against), signed=True)
            row += [cell(found[metric].interval()), delta]
        some = runs.get(name, ())
        row.append(" ".join(f"{run.result.evaluations:,}" for run in some))
        row.append(" ".join(run.result.promoted for run in some))
        row.append(" ".join(f"{run.result.seconds:.0f}" for run in some))
        rows.append(row)
    table(
        f"{task.name}, {options.seeds} seeds, at most {options.questions:,} questions each, "
        f"evolved for {options.metric}, held out",
        (*header, "questions", "promoted", "seconds"),
        rows,
    )
    finish(
        "joint",
        {
            "task": task.name,
            "metric": options.metric,
            "seeds": options.seeds,
            "questions": options.questions,
            "rows": {
                name: {
                    metric: {
                        **points(each.interval()),
                        "against": best[metric],
                        "delta": points(each.against(held[best[metric]][metric])),
                    }
                    for metric, each in found.items()
                }
                for name, found in held.items()
            },
        },
    )


def _run(task: Task, name: str, seed: int, options: argparse.Namespace) -> EvolutionRun:
    """One evolution, run or taken up or read."""
    plan = ROWS[name]
    slug = "".join(c if c.isalnum() else "-" for c in name)
    folder = options.runs / f"{slug}-{options.metric}-{seed}"
    note(f"{folder}: {'going on' if folder.exists() else 'starting'}")
    more = ",".join(filter(None, (plan.plan, options.plan if plan.strategy == "joint" else "")))
    return memgene.evolve(
        task,
        strategy=plan.strategy,
        metric=options.metric,
        budget=Budget(questions=options.questions),
        run_dir=folder,
        seed=seed,
        resume=folder.exists(),
        plan=more or None,
        harness=(),
    )


def _held(runs: Sequence[EvolutionRun], row: str, metric: str) -> Held:
    rows = [{r.name: r for r in run.result.test.rows}[row].cases for run in runs]
    return Held.of(rows, metric)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("task")
    parser.add_argument("--runs", type=Path, required=True, metavar="DIR", help="new, or to go on")
    parser.add_argument("--metric", default="token_f1", help="what all of them evolve for")
    parser.add_argument("--questions", type=int, default=8_000, help="budget of each run")
    parser.add_argument("--seeds", type=int, default=3, help="seeds 0, 1, …")
    parser.add_argument("--rows", help=f"between semicolons, of {'; '.join(ROWS)}")
    parser.add_argument("--plan", default="", help="further settings of the joint plans")
    add_data_option(parser)
    return parser.parse_args()


if __name__ == "__main__":
    main()
