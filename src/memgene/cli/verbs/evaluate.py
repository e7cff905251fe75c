"""memgene evaluate."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from memgene.cli import bars, inputs, options, output

Harness = Annotated[
    str,
    typer.Option(
        "--harness",
        metavar="NAMES",
        help="Memories, comma-separated; genome:PATH for a genome.",
    ),
]
SplitName = Annotated[str, typer.Option("--split", metavar="NAME", help="dev, val, test or all.")]
Limit = Annotated[
    int | None,
    typer.Option(
        "--limit",
        metavar="N",
        min=1,
        help="So many questions, drawn by the seed; categories set apart are left out.",
    ),
]
Seeds = Annotated[
    int | None,
    typer.Option(
        "--seeds",
        metavar="N",
        min=1,
        help="Average over so many seeds from --seed, on the questions that --seed draws.",
    ),
]
Metrics = Annotated[
    str | None,
    typer.Option(
        "--metrics",
        metavar="NAMES",
        help="Comma-separated; judge_strict, judge_lenient and rubric ask [llm.judge]. "
        "Default: all that need no judge.",
    ),
]
MaxErrors = Annotated[
    float,
    typer.Option(
        "--max-errors", metavar="SHARE", min=0, max=1, help="Errors beyond it fail the run."
    ),
]
Limits = Annotated[
    str | None,
    typer.Option(
        "--budget",
        metavar="LIMITS",
        help="What language models may use: calls=N,tokens=N,money=X,seconds=N.",
    ),
]
Out = Annotated[
    Path | None,
    typer.Option("--out", metavar="DIR", help="Write cases and report.json there."),
]
Categories = Annotated[
    bool,
    typer.Option("--categories", help="Also a table by category, with lowest and spread."),
]


def evaluate(
    task: options.Task,
    harness: Harness = "bank",
    agent: options.Agent = None,
    split: SplitName = "test",
    limit: Limit = None,
    seed: options.Seed = 0,
    seeds: Seeds = None,
    metrics: Metrics = None,
    workers: options.Workers = None,
    max_errors: MaxErrors = 0.05,
    budget: Limits = None,
    embedder: options.Embedder = None,
    sandbox: options.Sandbox = None,
    data: options.Data = None,
    option: options.TaskOptions = None,
    out: Out = None,
    categories: Categories = False,
    json: options.Json = False,
) -> None:
    """Evaluate memories on a task: means with 95 % intervals.

    Usage is what each memory would have cost alone: what several read is charged to each.
    """
    from memgene.api import evaluate as run
    from memgene.api import open_task
    from memgene.core import Budget

    loaded = open_task(task, data, inputs.task_options(option))
    with bars.evaluation_bar(json) as progress:
        report = run(
            loaded,
            inputs.names(harness),
            agent,
            split,
            limit,
            seed,
            seeds=seeds,
            embedder=embedder,
            sandbox=sandbox,
            metrics=None if metrics is None else inputs.names(metrics),
            workers=workers,
            max_errors=max_errors,
            budget=Budget.parse(budget) if budget else None,
            out=out,
            progress=progress,
        )
    if json:
        output.json_line(report.to_json())
        return
    output.evaluation(report, loaded.metric if categories else None)
