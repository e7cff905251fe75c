"""memgene stability."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from memgene.cli import options, output


def stability(
    task: options.Task,
    run: Annotated[
        Path, typer.Option("--run", metavar="DIR", help="Folder of the runs: new, or to go on.")
    ],
    strategy: Annotated[
        str, typer.Option("--strategy", metavar="NAME", help="config, program, coevolve, joint.")
    ] = "config",
    seeds: Annotated[
        int, typer.Option("--seeds", metavar="N", min=2, help="Seeds 0 to N − 1.")
    ] = 5,
    metric: Annotated[
        str | None, typer.Option("--metric", metavar="NAME", help="Default: the task's.")
    ] = None,
    budget: Annotated[
        str | None, typer.Option("--budget", metavar="LIMITS", help="Of each run, as evolve's.")
    ] = None,
    data: options.Data = None,
    json: options.Json = False,
) -> None:
    """The same evolution under several seeds: mean, spread, wins over the best static memory."""
    from memgene.api.stability import stability as start
    from memgene.core import Budget

    limits = Budget.parse(budget) if budget else None
    with output.finishing_on_interrupt():
        found = start(task, strategy, run, seeds=seeds, metric=metric, budget=limits, data=data)
    if json:
        output.json_line(found.to_json())
    else:
        output.titled(found.table())
