"""memgene evolve."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from memgene.cli import bars, inputs, options, output

Run = Annotated[
    Path, typer.Option("--run", metavar="DIR", help="Folder of the run: new, or to resume.")
]
Strategy = Annotated[
    str,
    typer.Option(
        "--strategy",
        metavar="NAME",
        help="What evolves: config (retrieval), program (memory programs), coevolve (router and "
        "values), or joint (all of them in turns).",
    ),
]
Metric = Annotated[
    str | None,
    typer.Option("--metric", metavar="NAME", help="What to maximise. Default: the task's metric."),
]
Resume = Annotated[
    bool, typer.Option("--resume", help="Continue the run in --run to the same result.")
]
Folds = Annotated[
    int | None,
    typer.Option("--folds", metavar="K", min=2, help="So many evolutions, results pooled."),
]
Harness = Annotated[
    str | None,
    typer.Option(
        "--harness", metavar="NAMES", help="Static memories to compare with, comma-separated."
    ),
]
Proposer = Annotated[
    str,
    typer.Option(
        "--proposer",
        metavar="NAME",
        help="rule, random (the ablation), or llm ([llm.diagnose]; programs: [llm.reflector]).",
    ),
]
Guard = Annotated[
    str,
    typer.Option(
        "--guard", metavar="NAME", help="normal, or strict (error divided by the round limit)."
    ),
]
Limits = Annotated[
    str | None,
    typer.Option(
        "--budget",
        metavar="LIMITS",
        help="questions=N,iterations=N,calls=N,tokens=N,money=X,seconds=N; the first ends it.",
    ),
]
Preset = Annotated[
    str,
    typer.Option("--preset", metavar="NAME", help="default, or paper (the published protocol)."),
]

Plan = Annotated[
    str | None,
    typer.Option(
        "--plan",
        metavar="NAME=VALUE,…",
        help="Of program: search=max, children=4, …; of coevolve: schedule=two-stage, rule=td, …; "
        "of joint: schedule=simultaneous, arms=structure+parameters, program.search=population, …",
    ),
]
Base = Annotated[
    str,
    typer.Option("--base", metavar="PATH", help="A genome or a run to start from."),
]
Hold = Annotated[
    str | None,
    typer.Option(
        "--hold", metavar="LEVER=VALUE,…", help="Levers that stay at a value (`memgene levers`)."
    ),
]
Stages = Annotated[
    bool, typer.Option("--stages", help="Also try stages of retrieval written as code.")
]
Division = Annotated[
    str,
    typer.Option(
        "--division",
        metavar="NAME",
        help="Dev, val and test are whole groups, or chronological: early to last questions of "
        "each group.",
    ),
]


def evolve(
    task: options.Task,
    run: Run,
    strategy: Strategy = "config",
    metric: Metric = None,
    resume: Resume = False,
    folds: Folds = None,
    agent: options.Agent = None,
    harness: Harness = None,
    proposer: Proposer = "rule",
    guard: Guard = "normal",
    budget: Limits = None,
    seed: options.Seed = 0,
    preset: Preset = "default",
    plan: Plan = None,
    base: Base = "",
    hold: Hold = None,
    division: Division = "groups",
    stages: Stages = False,
    workers: options.Workers = None,
    embedder: options.Embedder = None,
    sandbox: options.Sandbox = None,
    data: options.Data = None,
    option: options.TaskOptions = None,
    json: options.Json = False,
) -> None:
    """Evolve a memory for a task, measured on held-out data."""
    from memgene.api import evolve as start
    from memgene.api import open_task
    from memgene.core import Budget

    static = None if harness is None else inputs.names(harness)
    if static == []:
        raise typer.BadParameter("--harness needs a name; `memgene harnesses` lists them all")
    loaded = open_task(task, data, inputs.task_options(option))
    with bars.evolution_bar(json) as progress, output.finishing_on_interrupt():
        result = start(
            loaded,
            strategy,
            metric,
            Budget.parse(budget) if budget else None,
            run,
            seed,
            resume=resume,
            folds=folds,
            agent=agent,
            harness=static,
            proposer=proposer,
            guard=guard,
            preset=preset,
            plan=plan,
            base=base,
            held=inputs.values(hold, "--hold"),
            division=division,
            stages=stages,
            workers=workers,
            embedder=embedder,
            sandbox=sandbox,
            progress=progress,
        )
    if json:
        output.json_line(result.model_dump())
    else:
        output.evolution(result)
