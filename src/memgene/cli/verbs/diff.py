"""memgene diff."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from memgene.cli import options, output

_NAMED = "a candidate's id, best, a seed's name, or FOLD/ID."


def diff(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="The run's folder, or a fold's.")],
    a: Annotated[str, typer.Argument(metavar="A", help=f"From: {_NAMED}")],
    b: Annotated[str, typer.Argument(metavar="B", help=f"To: {_NAMED}")],
    json: options.Json = False,
) -> None:
    """Show what changed from one candidate of a run to another, in text and in scores."""
    from memgene.api.lineages import diff as compare

    found = compare(run, a, b)
    if json:
        output.json_line(found.model_dump())
    else:
        output.difference(found)
