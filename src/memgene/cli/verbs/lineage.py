"""memgene lineage."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from memgene.cli import options, output


def lineage(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="The run's folder, or a fold's.")],
    json: options.Json = False,
) -> None:
    """Show every candidate of a run as a tree, and why some were refused."""
    from memgene.api.lineages import lineage as read

    found = read(run)
    if json:
        output.json_line(found.model_dump())
    else:
        output.lineage(found)
