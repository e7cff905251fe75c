"""memgene genome verify."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from memgene.cli import options, output
from memgene.cli.app import FAILED
from memgene.cli.output import printable
from memgene.cli.verbs.genome.paths import Bundle

if TYPE_CHECKING:
    from memgene.api import GenomeCheck

Key = Annotated[
    str | None,
    typer.Option(
        "--key",
        metavar="PUBLIC",
        help="The public key that must have signed it: ed25519:…, or the file that holds it.",
    ),
]


def verify(path: Bundle, key: Key = None, json: options.Json = False) -> None:
    """Check that a genome is whole, who signed it, and that it can be used here. Runs nothing.

    Exit code 1 when something is found.
    """
    from memgene.api import verify_genome

    checked = verify_genome(path, key=key)
    if json:
        output.json_line(checked.model_dump())
    else:
        _show(checked)
    if not checked.ok:
        raise typer.Exit(FAILED)


def _show(checked: GenomeCheck) -> None:
    from memgene.api.genome import signature_line

    for problem in checked.problems:
        output.say(f"problem   {printable(problem)}")
    for note in checked.notes:
        output.say(f"note      {printable(note)}")
    if checked.content is not None:
        output.say(f"content   {checked.content}")
    if checked.id is not None:
        output.say(f"signed by {printable(signature_line(checked.signature))}")
    if checked.ok:
        embedder = printable(checked.embedder or "")
        output.say(f"genome {checked.id} is whole and can be used here (embedder {embedder})")
