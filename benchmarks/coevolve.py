"""Router and bank learned together: the published loop, its ablations and ours, side by side.

    python benchmarks/coevolve.py locomo --data PATH --runs runs/coevolve --preset paper

Each row is a plan, run by ordinary `memgene.evolve --strategy coevolve` once per seed in a folder
of its own, so the script may be stopped and started again; what is finished is read. A row gives
the held-out mean pooled over seeds (intervals over conversations), the difference to its own start
and to the first row on the same questions. `--division chronological` divides the questions inside
each conversation by time: only there can values of single memories be tested.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from common import add_data_option, finish, note, points, read_task, table
from held import Held

import memgene
from memgene.api import EvolutionRun
from memgene.evaluation import Paired, mean_interval
from memgene.evaluation.records import read_cases
from memgene.evolution.coevolve.events import PhaseFinished
from memgene.evolution.coevolve.single import FIXED_WEIGHT
from memgene.evolution.events import Evaluated
from memgene.evolution.journal import read_journal
from memgene.tasks.task import Task

STABLE = "hidden=0,bound=1.5,rate=0.01,baseline=group,samples=8"
ROWS: Mapping[str, Mapping[str, str]] = {
    "paper": {
        "full": "",
        "no SR-QR": "self_routing=off",
        "bank frozen": "memory=frozen",
        "items only (no graph credit)": "memory=items",
        "no router": "router=false",
        "simultaneous": "schedule=simultaneous",
        "two-stage": "schedule=two-stage",
        "bank frozen, stable router": f"memory=frozen,{STABLE}",
        "bank frozen, stable router, no SR-QR": f"memory=frozen,self_routing=off,{STABLE}",
        "bank frozen, no SR-QR": "memory=frozen,self_routing=off",
        "full, stable router": STABLE,
        "λ_Q 0": "q_rank_weight=0",
        "λ_Q 0.25": "q_rank_weight=0.25",
        "λ_Q 1": "q_rank_weight=1",
    },
    "default": {
        "full": "",
        "router alone": "memory=frozen",
        "values alone": "router=false",
        "values, one for all queries": "router=false,conditional=false",
        "values by u·(R − Q)": "router=false,rule=gap,conditional=false",
        "values by the published residual": "router=false,rule=td,conditional=false",
        "values with graph credit": "router=false,link=true,hops=2",
        "values and distilled memories": "router=false,distil=true",
        "values, 20 % attribution noise": "router=false,noise=0.2",
        "values, 50 % attribution noise": "router=false,noise=0.5",
        "simultaneous": "schedule=simultaneous",
        "two-stage": "schedule=two-stage",
    },
}


def main() -> None:
    options = _options()
    task = read_task(options.task, options.data)
    metric = options.metric or task.metric
    plans = _plans(options)
    runs = {
        name: [_run(task, name, plan, seed, options) for seed in range(options.seeds)]
        for name, plan in plans.items()
    }
    evolved = {name: _held(some, "evolved", metric) for name, some in runs.items()}
    start = {name: _held(some, "start", metric) for name, some in runs.items()}
    last = {name: _last(some, metric) for name, some in runs.items()}
    first = next(iter(plans))
    table(
        f"{task.name}, {options.preset} preset, {options.division}, {options.seeds} seeds, "
        f"{metric}, held out",
        (
            "plan",
            metric,
            "− its start",
            f"− {first}",
            "last state − start, val",
            "trained at",
            "seconds",
        ),
        [
            (
                name,
                _interval(evolved[name]),
                _delta(evolved[name].against(start[name])),
                "" if name == first else _delta(evolved[name].against(evolved[first])),
                _delta(last[name]),
                _rewards(runs[name]),
                f"{np.mean([run.result.seconds for run in runs[name]]):.0f}",
            )
            for name in plans
        ],
    )
    fixed = _fixed(runs, evolved, metric)
    if fixed:
        table(
            "the best weight that is the same for all questions",
            ("plan", metric, "evolved − it", "its start − it"),
            [
                (
                    name,
                    _interval(held),
                    _delta(evolved[name].against(held)),
                    _delta(start[name].against(held)),
                )
                for name, held in fixed.items()
            ],
        )
    finish(
        "coevolve",
        {
            "task": task.name,
            "preset": options.preset,
            "division": options.division,
            "metric": metric,
            "seeds": options.seeds,
            "base": options.base,
            "rows": {name: _told(evolved[name], start[name]) for name in plans},
            "last_state_on_val": {name: points(found) for name, found in last.items()},
            "against_first": {
                name: points(evolved[name].against(evolved[first]))
                for name in plans
                if name != first
            },
            "fixed_weight": {
                name: {
                    **points(mean_interval(held.scores, held.groups)),
                    "evolved_minus": points(evolved[name].against(held)),
                }
                for name, held in fixed.items()
            },
        },
    )


def _plans(options: argparse.Namespace) -> dict[str, str]:
    every = ROWS[options.preset]
    chosen = options.rows.split(";") if options.rows else list(every)
    unknown = [name for name in chosen if name not in every]
    if unknown:
        raise SystemExit(f"there is no row {unknown[0]!r}; there are {'; '.join(every)}")
    return {name: every[name] for name in chosen}


def _run(task: Task, name: str, plan: str, seed: int, options: argparse.Namespace) -> EvolutionRun:
    """One co-evolution, run or taken up or read."""
    slug = "".join(c if c.isalnum() else "-" for c in name).strip("-") or "row"
    folder = options.runs / f"{options.preset}-{options.division}-{slug}-{seed}"
    base = f"base={options.base.replace('SEED', str(seed))}" if options.base else ""
    cycles = f"cycles={options.cycles}" if options.cycles else ""
    note(f"{folder}: {'going on' if folder.exists() else 'starting'}")
    return memgene.evolve(
        task,
        strategy="coevolve",
        metric=options.metric,
        run_dir=folder,
        seed=seed,
        resume=folder.exists(),
        preset=options.preset,
        plan=",".join(filter(None, (base, cycles, plan))),
        division=options.division,
        embedder=options.embedder,
        harness=(),
        folds=options.folds,
    )


def _held(runs: Sequence[EvolutionRun], row: str, metric: str) -> Held:
    rows = [{r.name: r for r in run.result.test.rows}[row].cases for run in runs]
    return Held.of(rows, metric)


def _fixed(
    runs: Mapping[str, Sequence[EvolutionRun]], evolved: Mapping[str, Held], metric: str
) -> dict[str, Held]:
    """The fixed-weight row of the plans that have one."""
    return {
        name: _held(some, FIXED_WEIGHT, metric)
        for name, some in runs.items()
        if any(row.name == FIXED_WEIGHT for row in some[0].result.test.rows) and name in evolved
    }


def _rewards(runs: Sequence[EvolutionRun]) -> str:
    """Mean training reward of the first and the last pass of the learner that learned last, over
    the seeds: rewards of another's passes (of weights that were tried) are no start of these."""
    first, last = [], []
    for run in runs:
        folders = sorted(run.result.run.glob("fold-*")) or [run.result.run]
        for folder in folders:
            events = [entry.event for entry in read_journal(folder / "journal.jsonl")]
            passes = [e for e in events if isinstance(e, PhaseFinished) and e.reward is not None]
            like = [e.reward for e in passes if e.phase == passes[-1].phase]
            first.append(like[0])
            last.append(like[-1])
    return f"{100 * np.mean(first):.1f} → {100 * np.mean(last):.1f}"


def _last(runs: Sequence[EvolutionRun], metric: str) -> Paired:
    """The state after all phases minus the start, on the val questions that select. That state is
    what learning led to, whatever selection says; so its difference is not one that was chosen."""
    mine, theirs = [], []
    for run in runs:
        for folder in sorted(run.result.run.glob("fold-*")) or [run.result.run]:
            events = [entry.event for entry in read_journal(folder / "journal.jsonl")]
            made = [e.candidate for e in events if isinstance(e, PhaseFinished)]
            for into, name in ((mine, made[-1]), (theirs, "000")):
                count = next(
                    e.questions
                    for e in events
                    if isinstance(e, Evaluated) and (e.candidate, e.split) == (name, "val")
                )
                into.append(read_cases(folder / "candidates" / name / "cases.jsonl")[:count])
    return Held.of(mine, metric).against(Held.of(theirs, metric))


def _interval(held: Held) -> str:
    found = mean_interval(held.scores, held.groups)
    return f"{100 * found.mean:.1f} [{100 * found.low:.1f}, {100 * found.high:.1f}]"


def _delta(found: Paired) -> str:
    return f"{100 * found.delta:+.2f} [{100 * found.low:.2f}, {100 * found.high:.2f}]"


def _told(evolved: Held, start: Held) -> dict[str, object]:
    return {
        "evolved": points(mean_interval(evolved.scores, evolved.groups)),
        "start": points(mean_interval(start.scores, start.groups)),
        "gain": points(evolved.against(start)),
    }


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("task")
    parser.add_argument("--runs", type=Path, required=True, metavar="DIR", help="new, or to go on")
    parser.add_argument("--preset", default="paper", choices=tuple(ROWS))
    parser.add_argument("--metric", help="default: the task's")
    parser.add_argument("--division", default="groups")
    parser.add_argument("--seeds", type=int, default=3, help="seeds 0, 1, …")
    parser.add_argument("--folds", type=int)
    parser.add_argument("--cycles", type=int, help="passes of each learner (default: the preset's)")
    parser.add_argument("--rows", help="names of rows, between semicolons (default: all)")
    parser.add_argument("--base", default="", help="run or genome to start from; SEED is replaced")
    parser.add_argument("--embedder", default="static")
    add_data_option(parser)
    return parser.parse_args()


if __name__ == "__main__":
    main()
