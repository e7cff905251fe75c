"""memgene update."""

from __future__ import annotations

from typing import Annotated

import typer

from memgene.cli import inputs, options, output


def update(
    id: Annotated[str, typer.Argument(metavar="ID", help="The memory's id.")],
    text: Annotated[
        str | None, typer.Argument(metavar="TEXT", help="The new text; - reads it from stdin.")
    ] = None,
    db: options.Db = None,
    user_id: options.UserId = None,
    agent_id: options.AgentId = None,
    run_id: options.RunId = None,
    metadata: options.Metadata = None,
    genome: options.Genome = None,
    embedder: options.Embedder = None,
    json: options.Json = False,
) -> None:
    """Change a memory's text, its metadata, or both."""
    with inputs.open_memory(db, genome=genome, embedder=embedder) as memory:
        changed = memory.update(
            id,
            None if text is None else inputs.words(text).strip(),
            inputs.json_object(metadata, "--metadata"),
            user_id=user_id,
            agent_id=agent_id,
            run_id=run_id,
        )
    if json:
        output.json_line(changed.model_dump())
    else:
        output.record(changed)
