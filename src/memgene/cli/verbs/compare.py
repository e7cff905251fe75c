"""memgene compare."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from memgene.cli import options, output


def compare(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN", help="Folders of runs.")],
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            metavar="FILE",
            help="Also write a page, with the landscape of all programs coloured by task.",
        ),
    ] = None,
    json: options.Json = False,
) -> None:
    """Show runs side by side: held-out scores, gains, and evolved memories question by question."""
    from memgene.api.lineages import compare as read

    found = read(runs, page=out)
    if json:
        output.json_line({**found.model_dump(), "page": None if out is None else str(out)})
    else:
        output.runs(found)
        if out is not None:
            output.say(str(out))
