"""memgene ablate."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from memgene.cli import inputs, options, output


def ablate(
    task: options.Task,
    run: Annotated[
        Path, typer.Option("--run", metavar="DIR", help="Folder of the runs: new, or to go on.")
    ],
    system: Annotated[
        str,
        typer.Option(
            "--system", metavar="NAMES", help="mstar, evolvemem, coevomem, comma-separated, or all."
        ),
    ] = "all",
    seeds: Annotated[
        int, typer.Option("--seeds", metavar="N", min=1, help="Seeds 0 to N − 1.")
    ] = 1,
    metric: Annotated[
        str | None, typer.Option("--metric", metavar="NAME", help="Default: the task's.")
    ] = None,
    budget: Annotated[
        str | None, typer.Option("--budget", metavar="LIMITS", help="Of each run, as evolve's.")
    ] = None,
    data: options.Data = None,
    json: options.Json = False,
) -> None:
    """The published ablations of the three systems, in one table."""
    from memgene.api.ablating import ablate as start
    from memgene.core import Budget

    names = inputs.names(system)
    limits = Budget.parse(budget) if budget else None
    with output.finishing_on_interrupt():
        found = start(
            task,
            run,
            systems="all" if names == ["all"] else names,
            seeds=seeds,
            metric=metric,
            budget=limits,
            data=data,
        )
    if json:
        output.json_line(found.to_json())
    else:
        output.titled(found.table())
