"""memgene export."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from memgene.cli import inputs, options, output


def export(
    target: Annotated[
        str, typer.Argument(metavar="FILE", help="File to write; - writes to stdout.")
    ],
    db: options.Db = None,
    json: options.Json = False,
) -> None:
    """Write a memory as JSON lines, with vectors, relations and values."""
    with inputs.open_memory(db) as memory:
        written = memory.export(sys.stdout if target == inputs.STDIN else target)
    if json:
        output.json_line(written.model_dump())
    elif target != inputs.STDIN:
        output.say(f"wrote {written.count} memories to {target}")
