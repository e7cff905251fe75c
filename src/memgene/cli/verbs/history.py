"""memgene history."""

from __future__ import annotations

from typing import Annotated

import typer

from memgene.cli import inputs, options, output


def history(
    id: Annotated[
        str | None,
        typer.Argument(metavar="ID", help="The memory's id. Without: what the memory learned."),
    ] = None,
    db: options.Db = None,
    user_id: options.UserId = None,
    agent_id: options.AgentId = None,
    run_id: options.RunId = None,
    json: options.Json = False,
) -> None:
    """Show every change of a memory, also after its deletion, or the lessons of the whole file."""
    with inputs.open_memory(db) as memory:
        if id is None:
            if user_id or agent_id or run_id:
                raise typer.BadParameter("lessons are those of the whole file; give an ID")
            output.lessons(memory.lessons(undone=True), json)
            return
        found = memory.history(id, user_id=user_id, agent_id=agent_id, run_id=run_id)
    if json:
        output.json_line(found.model_dump())
        return
    for entry in found:
        said = "" if entry.payload is None else f"  {dict(entry.payload)}"
        output.say(f"{entry.time.isoformat(timespec='seconds')}  {entry.event:<10}{said}")
