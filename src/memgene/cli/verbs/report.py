"""memgene report."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from memgene.cli import options, output


def report(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="The run's folder.")],
    json: options.Json = False,
) -> None:
    """Write a run's report: an HTML page and a Markdown table."""
    from memgene.reports import write_report

    page = write_report(run)
    if json:
        output.json_line(
            {"run": str(run), "report": str(page), "table": str(page.with_suffix(".md"))}
        )
    else:
        output.say(f"{page}\n{page.with_suffix('.md')}")
