"""memgene delete."""

from __future__ import annotations

from typing import Annotated

import typer

from memgene.cli import inputs, options, output


def delete(
    ids: Annotated[
        list[str] | None, typer.Argument(metavar="ID", help="Ids of the memories to erase.")
    ] = None,
    db: options.Db = None,
    user_id: options.UserId = None,
    agent_id: options.AgentId = None,
    run_id: options.RunId = None,
    all: Annotated[
        bool,
        typer.Option("--all", help="Every memory of the owner given, or of the whole file."),
    ] = False,
    yes: Annotated[
        bool, typer.Option("--yes", help="Mean it: needed to erase the whole file with --all.")
    ] = False,
    json: options.Json = False,
) -> None:
    """Erase memories with everything derived from them: all that are named, or none."""
    if bool(ids) is all:
        raise typer.BadParameter("give ids, or --all (with --user-id, or for the whole file)")
    scope = {"user_id": user_id, "agent_id": agent_id, "run_id": run_id}
    if all and not any(scope.values()) and not yes:
        raise typer.BadParameter(
            "--all without an owner's id erases every memory of the file; say --yes to do that"
        )
    with inputs.open_memory(db) as memory:
        if all:
            count = memory.delete_all(**scope, all=not any(scope.values())).count
        else:
            count = memory.delete(ids or (), **scope).count
    if json:
        output.json_line({"count": count})
    else:
        output.say(f"erased {count}")
