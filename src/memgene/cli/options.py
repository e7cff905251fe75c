"""Options that several verbs share, each declared once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Json = Annotated[
    bool, typer.Option("--json", help="Print one JSON object as the last line of stdout.")
]
Db = Annotated[
    str | None,
    typer.Option(
        "--db",
        metavar="FILE",
        help="The memory's file. Default: MEMGENE_DB, or db in memgene.toml.",
    ),
]
UserId = Annotated[str | None, typer.Option("--user-id", metavar="ID", help="Whose memory.")]
AgentId = Annotated[
    str | None, typer.Option("--agent-id", metavar="ID", help="Which agent's memory.")
]
RunId = Annotated[str | None, typer.Option("--run-id", metavar="ID", help="Which run (session).")]
Embedder = Annotated[
    str | None,
    typer.Option(
        "--embedder",
        metavar="NAME",
        help="static, hashing, minilm, minilm-int8, sentence-transformers/NAME or openai/NAME.",
    ),
]
Genome = Annotated[
    Path | None,
    typer.Option("--genome", metavar="PATH", help="Use what evolved, such as RUN/best."),
]
Filters = Annotated[
    str | None,
    typer.Option(
        "--filter",
        metavar="JSON",
        help="Restriction as JSON: metadata, type, source, since, until, status. "
        'Example: {"metadata": {"topic": "travel"}}.',
    ),
]
Metadata = Annotated[
    str | None, typer.Option("--metadata", metavar="JSON", help="Metadata as a JSON object.")
]
Task = Annotated[str, typer.Argument(metavar="TASK", help="A benchmark's name, or a task folder.")]
Data = Annotated[
    Path | None,
    typer.Option(
        "--data", metavar="PATH", help="Where benchmark files lie. Default: MEMGENE_DATA."
    ),
]
TaskOptions = Annotated[
    list[str] | None,
    typer.Option(
        "--option",
        metavar="NAME=VALUE",
        help="An option of the task, as `memgene tasks NAME` lists them. May be repeated.",
    ),
]
Agent = Annotated[
    str | None,
    typer.Option(
        "--agent",
        metavar="NAME",
        help="Who uses the memory: offline (no language model), llm (the model of [llm.task]), or "
        "llm+dates (relative dates resolved by rule first).",
    ),
]
Workers = Annotated[
    int | None,
    typer.Option(
        "--workers",
        metavar="N",
        min=1,
        help="Questions at once. Default: as many as the agent's model takes, at most 64.",
    ),
]
Sandbox = Annotated[
    str | None,
    typer.Option(
        "--sandbox",
        metavar="LEVEL",
        help="Isolation without which no program is run: full, bubblewrap or rlimits. Default: "
        "level under [sandbox] in memgene.toml, else full.",
    ),
]
Seed = Annotated[
    int, typer.Option("--seed", metavar="N", help="Seed of splits, draws and intervals.")
]
