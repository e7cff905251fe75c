"""memgene list."""

from __future__ import annotations

from typing import Annotated

import typer

from memgene.cli import inputs, options, output


def list_(
    db: options.Db = None,
    user_id: options.UserId = None,
    agent_id: options.AgentId = None,
    run_id: options.RunId = None,
    filter: options.Filters = None,
    limit: Annotated[
        int, typer.Option("--limit", metavar="N", min=1, help="How many memories a page.")
    ] = 100,
    after: Annotated[
        int, typer.Option("--after", metavar="PLACE", min=0, help="Start behind this place.")
    ] = 0,
    all: Annotated[bool, typer.Option("--all", help="Memories of every owner.")] = False,
    json: options.Json = False,
) -> None:
    """List memories in the order they came in.

    Without --user-id: those that belong to nobody in particular.
    """
    with inputs.open_memory(db) as memory:
        page = memory.get_all(
            user_id=user_id,
            agent_id=agent_id,
            run_id=run_id,
            filters=inputs.json_object(filter, "--filter"),
            limit=limit,
            after=after,
            all=all,
        )
    if json:
        output.json_line(page.model_dump())
    else:
        output.records(page)
