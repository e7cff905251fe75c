"""memgene history."""

from __future__ import annotations

from typing import Annotated

import typer

from memgene.cli import inputs, options, output


def history(
    id: Annotated[str, typer.Argument(metavar="ID", help="The memory's id.")],
    db: options.Db = None,
    user_id: options.UserId = None,
    agent_id: options.AgentId = None,
    run_id: options.RunId = None,
    json: options.Json = False,
) -> None:
    """Show every change of a memory, also after its deletion."""
    with inputs.open_memory(db) as memory:
        found = memory.history(id, user_id=user_id, agent_id=agent_id, run_id=run_id)
    if json:
        output.json_line(found.model_dump())
        return
    for entry in found:
        said = "" if entry.payload is None else f"  {dict(entry.payload)}"
        output.say(f"{entry.time.isoformat(timespec='seconds')}  {entry.event:<10}{said}")
