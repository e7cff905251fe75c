"""memgene demo."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from memgene.cli import bars, options, output
from memgene.cli.app import program


def demo(
    dir: Annotated[
        Path, typer.Option("--dir", metavar="DIR", help="Folder for the run, the report, a bank.")
    ] = Path("memgene-demo"),
    json: options.Json = False,
) -> None:
    """Evaluate, evolve, report and search on bundled data."""
    from memgene.api import demo as steps

    show = not json
    steps.prepare(dir)
    task = steps.task()
    if show:
        output.say(steps.introduction(task))
        output.say("\n1. Memories as they are, on the held-out questions:\n")
    with bars.evaluation_bar(json) as progress:
        report = steps.evaluate_static(task, progress)
    if show:
        output.scores(report, [task.metric, "token_f1"])
        output.say("2. Evolve the retrieval configuration on the other questions:\n")
    with bars.evolution_bar(json) as watch, output.finishing_on_interrupt():
        run = steps.evolve_config(task, dir, watch)
    if show:
        output.evolution(run)
        output.say(f"\n{steps.honest_words(run)}")
        output.say("\n3. Search a small memory with what evolved:\n")
    found = steps.search_with(task, run, dir)
    if not show:
        output.json_line(steps.summary(report, run, found, program()))
        return
    output.say(f'"{found.query}"')
    for place, hit in enumerate(found.result, start=1):
        output.say(f"{place:>2}  {hit.score:7.3f}  {hit.line}")
    output.say(f"\nReport: {run.report}")
    output.say(f"Next:   {steps.next_command(found, program())}")
