"""memgene evolve."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from memgene.cli import bars, inputs, options, output


def evolve(
    task: Annotated[
        str, typer.Argument(metavar="TASK", help="A benchmark's name, or a task folder.")
    ],
    run: Annotated[
        Path, typer.Option("--run", metavar="DIR", help="Folder of the run: new, or to resume.")
    ],
    strategy: Annotated[
        str,
        typer.Option(
            "--strategy", metavar="NAME", help="What evolves: config (the retrieval configuration)."
        ),
    ] = "config",
    metric: Annotated[
        str | None,
        typer.Option(
            "--metric", metavar="NAME", help="What to maximise. Default: the task's metric."
        ),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Continue the run in --run to the same result.")
    ] = False,
    folds: Annotated[
        int | None,
        typer.Option("--folds", metavar="K", min=2, help="So many evolutions, results pooled."),
    ] = None,
    agent: options.Agent = None,
    harness: Annotated[
        str | None,
        typer.Option(
            "--harness", metavar="NAMES", help="Static memories to compare with, comma-separated."
        ),
    ] = None,
    proposer: Annotated[
        str, typer.Option("--proposer", metavar="NAME", help="rule, or random (the ablation).")
    ] = "rule",
    guard: Annotated[
        str,
        typer.Option(
            "--guard", metavar="NAME", help="normal, or strict (error divided by the round limit)."
        ),
    ] = "normal",
    budget: Annotated[
        str | None,
        typer.Option(
            "--budget",
            metavar="LIMITS",
            help="questions=N,iterations=N,calls=N,tokens=N,money=X,seconds=N; the first ends it.",
        ),
    ] = None,
    seed: options.Seed = 0,
    preset: Annotated[
        str,
        typer.Option(
            "--preset", metavar="NAME", help="default, or paper (the published protocol)."
        ),
    ] = "default",
    embedder: options.Embedder = None,
    data: options.Data = None,
    option: options.TaskOptions = None,
    json: options.Json = False,
) -> None:
    """Evolve a memory for a task, measured on held-out data."""
    from memgene.api import evolve as start
    from memgene.api import open_task
    from memgene.core import Budget

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
            harness=None if harness is None else inputs.names(harness),
            proposer=proposer,
            guard=guard,
            preset=preset,
            embedder=embedder,
            progress=progress,
        )
    if json:
        output.json_line(result.model_dump())
    else:
        output.evolution(result)
