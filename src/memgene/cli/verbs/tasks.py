"""memgene tasks."""

from __future__ import annotations

from typing import Annotated

import typer

from memgene.cli import inputs, options, output


def tasks(
    name: Annotated[
        str | None,
        typer.Argument(metavar="NAME", help="A benchmark or task folder, to see what it holds."),
    ] = None,
    data: options.Data = None,
    option: options.TaskOptions = None,
    json: options.Json = False,
) -> None:
    """List the benchmarks, or show one task in numbers."""
    from memgene.api import describe_task, list_tasks

    if name is None:
        listed = list_tasks(data)
        if json:
            output.json_line({"tasks": [one.model_dump() for one in listed]})
            return
        rows = [
            (t.name, t.regime, t.metric, t.licence, "yes" if t.available else "no", t.description)
            for t in listed
        ]
        output.table(("name", "memory", "metric", "licence", "data", "about"), rows)
        for absent in (t for t in listed if not t.available):
            output.say(f"\n{absent.name}: {absent.obtain}")
        return
    described = describe_task(name, data, **inputs.task_options(option))
    if json:
        output.json_line(described.model_dump())
        return
    for key, value in described.model_dump().items():
        output.say(f"{key:<12} {value}")
