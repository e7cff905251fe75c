"""memgene add."""

from __future__ import annotations

from typing import Annotated

import typer

from memgene.cli import inputs, options, output
from memgene.cli.app import FAILED


def add(
    text: Annotated[
        str, typer.Argument(metavar="TEXT", help="What to remember; - reads it from stdin.")
    ],
    db: options.Db = None,
    user_id: options.UserId = None,
    agent_id: options.AgentId = None,
    run_id: options.RunId = None,
    metadata: options.Metadata = None,
    time: Annotated[
        str | None, typer.Option("--time", metavar="TIME", help="When it happened, ISO 8601.")
    ] = None,
    source: Annotated[
        str | None,
        typer.Option("--source", metavar="NAME", help="Name of the conversation it belongs to."),
    ] = None,
    messages: Annotated[
        bool,
        typer.Option("--messages", help="The text is messages: a JSON list, or one per line."),
    ] = False,
    genome: options.Genome = None,
    embedder: options.Embedder = None,
    json: options.Json = False,
) -> None:
    """Remember a text or a conversation.

    Ends with code 1 when nothing of it could be stored.
    """
    given = inputs.words(text)
    # Read before the file is made.
    said = inputs.messages(given) if messages else given.strip()
    about = inputs.json_object(metadata, "--metadata")
    moment = inputs.moment(time, "--time")
    with inputs.open_memory(db, genome=genome, embedder=embedder, make=True) as memory:
        receipt = memory.add(
            said,
            user_id=user_id,
            agent_id=agent_id,
            run_id=run_id,
            metadata=about,
            event_time=moment,
            source=source,
        )
    if json:
        output.json_line(receipt.model_dump())
    else:
        for one in receipt:
            output.say(
                f"{one.event:<10} {one.id}  {one.text}"
                + (f"  ({one.reason})" if one.reason else "")
            )
    if not receipt.ids:
        raise typer.Exit(FAILED)
