"""memgene feedback."""

from __future__ import annotations

from typing import Annotated

import typer

from memgene.cli import inputs, options, output


def feedback(
    ids: Annotated[
        list[str], typer.Argument(metavar="ID", help="Ids of the memories that were used.")
    ],
    reward: Annotated[
        float,
        typer.Option("--reward", metavar="X", min=0.0, max=1.0, help="0 useless … 1 decisive."),
    ],
    db: options.Db = None,
    user_id: options.UserId = None,
    agent_id: options.AgentId = None,
    run_id: options.RunId = None,
    query: Annotated[
        str | None, typer.Option("--query", metavar="TEXT", help="What had been looked for.")
    ] = None,
    json: options.Json = False,
) -> None:
    """Tell how useful memories were.

    Utility moves as Q ← Q + 0.3 · (reward − Q).
    """
    with inputs.open_memory(db) as memory:
        receipt = memory.feedback(
            ids, reward, query, user_id=user_id, agent_id=agent_id, run_id=run_id
        )
    if json:
        output.json_line(receipt.model_dump())
        return
    for one in receipt:
        output.say(f"{one.id}  utility {one.before:.3f} → {one.utility:.3f}")
