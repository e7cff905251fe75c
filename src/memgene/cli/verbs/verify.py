"""memgene verify, also called check."""

from __future__ import annotations

import typer

from memgene.cli import inputs, options, output
from memgene.cli.app import FAILED


def verify(db: options.Db = None, json: options.Json = False) -> None:
    """Check a memory's indices and vectors against its facts."""
    with inputs.open_memory(db) as memory:
        found = memory.verify()
    if json:
        output.json_line(found.model_dump())
    elif found.ok:
        output.say("everything agrees")
    else:
        output.table(("where", "id", "what"), [(f.where, f.id, f.what) for f in found])
    if not found.ok:
        raise typer.Exit(FAILED)
