"""memgene stats."""

from __future__ import annotations

from memgene.cli import inputs, options, output


def stats(
    db: options.Db = None,
    user_id: options.UserId = None,
    agent_id: options.AgentId = None,
    run_id: options.RunId = None,
    json: options.Json = False,
) -> None:
    """Count a memory's units, sources, relations and bytes."""
    with inputs.open_memory(db) as memory:
        found = memory.stats(user_id=user_id, agent_id=agent_id, run_id=run_id)
    if json:
        output.json_line(found.model_dump())
        return
    for name, value in found.model_dump().items():
        output.say(f"{name:<10} {value}")
