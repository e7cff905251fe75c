"""memgene feedback."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from memgene.cli import inputs, options, output

if TYPE_CHECKING:
    from memgene.api import FeedbackReceipt


def feedback(
    ids: Annotated[
        list[str] | None, typer.Argument(metavar="ID", help="Ids of the memories that were used.")
    ] = None,
    reward: Annotated[
        float | None,
        typer.Option("--reward", metavar="X", min=0.0, max=1.0, help="0 useless … 1 decisive."),
    ] = None,
    db: options.Db = None,
    user_id: options.UserId = None,
    agent_id: options.AgentId = None,
    run_id: options.RunId = None,
    query: Annotated[
        str | None, typer.Option("--query", metavar="TEXT", help="What had been looked for.")
    ] = None,
    log_only: Annotated[
        bool, typer.Option("--log-only", help="Only log it; `memgene learn` applies it.")
    ] = False,
    undo: Annotated[
        bool, typer.Option("--undo", help="Take back the newest feedback, if nothing came after.")
    ] = False,
    genome: options.Genome = None,
    embedder: options.Embedder = None,
    json: options.Json = False,
) -> None:
    """Tell how useful memories were.

    Utility moves as Q ← Q + 0.3 · (reward − Q), over all queries and for the query's kind.
    """
    told = bool(ids) or reward is not None
    if undo is told or (told and not (ids and reward is not None)):
        raise typer.BadParameter("give ids and --reward, or --undo")
    if undo:
        if query is not None or log_only or user_id or agent_id or run_id:
            raise typer.BadParameter("--undo takes back the newest feedback, whoever's: no options")
        with inputs.open_memory(db) as memory:
            output.lessons(memory.undo("feedback"), json)
        return
    with inputs.open_memory(db, genome=genome, embedder=embedder) as memory:
        receipt = memory.feedback(
            ids or (),
            reward or 0.0,
            query,
            user_id=user_id,
            agent_id=agent_id,
            run_id=run_id,
            apply=not log_only,
        )
    if json:
        output.json_line(receipt.model_dump())
    else:
        _tell(receipt)


def _tell(receipt: FeedbackReceipt) -> None:
    for one in receipt:
        moved = f"utility {one.before:.3f} → {one.utility:.3f}"
        if one.utility_for_kind is not None and one.before_for_kind is not None:
            moved += f", for this kind {one.before_for_kind:.3f} → {one.utility_for_kind:.3f}"
        output.say(f"{one.id}  {moved if receipt.applied else 'logged'}")
