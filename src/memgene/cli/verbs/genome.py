"""memgene genome show|verify."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from memgene.cli import options, output

Bundle = Annotated[
    Path, typer.Argument(metavar="PATH", help="A genome: a folder such as RUN/best, or a .zip.")
]


def show(path: Bundle, json: options.Json = False) -> None:
    """Show a genome: where it came from, its scores, its configuration."""
    from memgene.api import describe_genome

    genome = describe_genome(path)
    if json:
        output.json_line(genome.model_dump())
        return
    for name, value in genome.facts().items():
        output.say(f"{name:<24} {value}")
    output.say()
    output.table(("lever", "default", "here"), genome.changed_rows())


def verify(path: Bundle, json: options.Json = False) -> None:
    """Check that a genome can be read and used here."""
    from memgene.api import verify_genome

    checked = verify_genome(path)
    if json:
        output.json_line(checked.model_dump())
    else:
        output.say(f"genome {checked.id} can be used here (embedder {checked.embedder})")
