"""memgene search."""

from __future__ import annotations

from typing import Annotated

import typer

from memgene.cli import inputs, options, output


def search(
    query: Annotated[
        str, typer.Argument(metavar="QUERY", help="What to look for; - reads it from stdin.")
    ],
    db: options.Db = None,
    user_id: options.UserId = None,
    agent_id: options.AgentId = None,
    run_id: options.RunId = None,
    limit: Annotated[
        int, typer.Option("--limit", metavar="N", min=1, help="How many memories at most.")
    ] = 10,
    filter: options.Filters = None,
    genome: options.Genome = None,
    embedder: options.Embedder = None,
    why: Annotated[
        bool, typer.Option("--why", help="Show each memory's rank and score per view.")
    ] = False,
    json: options.Json = False,
) -> None:
    """Find memories, best first."""
    with inputs.open_memory(db, genome=genome, embedder=embedder) as memory:
        found = memory.search(
            inputs.words(query).strip(),
            user_id=user_id,
            agent_id=agent_id,
            run_id=run_id,
            limit=limit,
            filters=inputs.json_object(filter, "--filter"),
        )
    if json:
        output.json_line(found.model_dump())
        return
    for lost in found.degraded:
        output.warn(f"without a part of the search: {lost}")
    for place, hit in enumerate(found, start=1):
        output.say(f"{place:>2}  {hit.score:7.3f}  {hit.id}  {hit.line}")
        if why:
            output.say(f"      {output.reasons(hit.why)}")
