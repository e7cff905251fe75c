"""memgene evaluate."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from memgene.cli import bars, inputs, options, output


def evaluate(
    task: options.Task,
    harness: Annotated[
        str,
        typer.Option(
            "--harness",
            metavar="NAMES",
            help="Memories, comma-separated; genome:PATH for a genome.",
        ),
    ] = "bank",
    agent: options.Agent = None,
    split: Annotated[
        str, typer.Option("--split", metavar="NAME", help="dev, val, test or all.")
    ] = "test",
    limit: Annotated[
        int | None,
        typer.Option(
            "--limit",
            metavar="N",
            min=1,
            help="So many questions, drawn by the seed; categories set apart are left out.",
        ),
    ] = None,
    seed: options.Seed = 0,
    seeds: Annotated[
        int | None,
        typer.Option(
            "--seeds",
            metavar="N",
            min=1,
            help="Average over so many seeds from --seed, on the questions that --seed draws.",
        ),
    ] = None,
    metrics: Annotated[
        str | None,
        typer.Option(
            "--metrics",
            metavar="NAMES",
            help="Comma-separated; judge_strict, judge_lenient and rubric ask [llm.judge]. "
            "Default: all that need no judge.",
        ),
    ] = None,
    workers: options.Workers = None,
    max_errors: Annotated[
        float,
        typer.Option(
            "--max-errors", metavar="SHARE", min=0, max=1, help="Errors beyond it fail the run."
        ),
    ] = 0.05,
    budget: Annotated[
        str | None,
        typer.Option(
            "--budget",
            metavar="LIMITS",
            help="What language models may use: calls=N,tokens=N,money=X,seconds=N.",
        ),
    ] = None,
    embedder: options.Embedder = None,
    data: options.Data = None,
    option: options.TaskOptions = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="DIR", help="Write cases and report.json there."),
    ] = None,
    categories: Annotated[
        bool,
        typer.Option("--categories", help="Also a table by category, with lowest and spread."),
    ] = False,
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
