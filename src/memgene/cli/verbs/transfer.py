"""memgene transfer."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from memgene.cli import inputs, options, output


def transfer(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN", help="Folders of finished runs.")],
    tasks: Annotated[
        str,
        typer.Option("--tasks", metavar="NAMES", help="Tasks to measure on, comma-separated."),
    ],
    out: Annotated[
        Path, typer.Option("--out", metavar="DIR", help="Folder of the results: new, or to go on.")
    ],
    budget: Annotated[
        str | None,
        typer.Option(
            "--budget",
            metavar="LIMITS",
            help="Also evolve each genome further on the tasks it does not know, within this.",
        ),
    ] = None,
    folds: Annotated[
        int | None,
        typer.Option("--folds", metavar="K", min=2, help="For tasks that no run evolved on."),
    ] = None,
    seed: options.Seed = 0,
    agents: Annotated[
        str, typer.Option("--agents", metavar="NAMES", help="Who answers: offline, llm, or both.")
    ] = "offline",
    data: options.Data = None,
    json: options.Json = False,
) -> None:
    """Measure genomes on other tasks: as they are, evolved further there, beside the untuned."""
    from memgene.api.transferring import transfer as start
    from memgene.core import Budget

    with output.finishing_on_interrupt():
        report = start(
            runs,
            inputs.names(tasks),
            out,
            budget=Budget.parse(budget) if budget else None,
            folds=folds,
            seed=seed,
            agents=inputs.names(agents),
            data=data,
        )
    if json:
        output.json_line(report.to_json())
        return
    for table in report.tables():
        output.titled(table)
        output.say()
