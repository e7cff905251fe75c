"""memgene learn."""

from __future__ import annotations

from typing import Annotated

import typer

from memgene.cli import bars, inputs, options, output


def learn(
    db: options.Db = None,
    user_id: options.UserId = None,
    agent_id: options.AgentId = None,
    run_id: options.RunId = None,
    most: Annotated[
        int | None,
        typer.Option(
            "--most",
            metavar="N",
            min=1,
            help="Archive memories above so many: superseded ones, then those never rewarded, then "
            "the least valuable. Default: no limit.",
        ),
    ] = None,
    undo: Annotated[
        bool, typer.Option("--undo", help="Take back the newest lesson, feedback included.")
    ] = False,
    all: Annotated[bool, typer.Option("--all", help="With --undo: every lesson.")] = False,
    genome: options.Genome = None,
    embedder: options.Embedder = None,
    json: options.Json = False,
) -> None:
    """Learn from the logged feedback while the memory is idle.

    Credits feedback that was only logged, links memories, trains a router where enough queries were
    logged, and archives what --most leaves no room for. One lesson, which --undo takes back.
    """
    if all and not undo:
        raise typer.BadParameter("--all goes with --undo")
    if undo:
        if most is not None or user_id or agent_id or run_id:
            raise typer.BadParameter("--undo takes no option but --all")
        with inputs.open_memory(db) as memory:
            output.lessons(memory.undo(all=all), json)
        return
    with (
        inputs.open_memory(db, genome=genome, embedder=embedder) as memory,
        bars.evaluation_bar(json) as progress,
    ):
        receipt = memory.learn(
            user_id=user_id, agent_id=agent_id, run_id=run_id, most=most, progress=progress
        )
    if json:
        output.json_line(receipt.model_dump())
        return
    for step in receipt:
        output.say(f"{step.name:<9} {step.reason}")
    known = "nothing changed" if receipt.lesson is None else f"lesson {receipt.lesson}"
    output.say(f"{known}; take it back with --undo" if receipt.lesson is not None else known)
