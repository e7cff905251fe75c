"""memgene task check."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from memgene.cli import options, output
from memgene.cli.app import FAILED


def check(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="Folder with task.toml and the two JSONL files.")
    ],
    json: options.Json = False,
) -> None:
    """Check a task folder: every problem with file and line."""
    from memgene.api import check_task

    report = check_task(folder)
    if json:
        output.json_line(report.model_dump())
    else:
        for problem in report.errors:
            output.say(f"error    {problem}")
        for problem in report.warnings:
            output.say(f"warning  {problem}")
        for key, value in report.summary.items():
            output.say(f"{key:<12} {value}")
        output.say("usable" if report.ok else f"not usable: {len(report.errors)} errors")
    if not report.ok:
        raise typer.Exit(FAILED)
