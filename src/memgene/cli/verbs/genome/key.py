"""memgene genome key."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from memgene.cli import options, output

File = Annotated[
    Path,
    typer.Argument(
        metavar="KEYFILE", help="Where the private half goes; the public half goes to KEYFILE.pub."
    ),
]


def key(file: File, json: options.Json = False) -> None:
    """Make a key to sign genomes with. A key that is there is never overwritten."""
    from memgene.api import make_signing_key

    made = make_signing_key(file)
    if json:
        output.json_line(made.model_dump())
        return
    output.say(f"private   {made.path}, keep it to yourself")
    output.say(f"public    {made.public_key}")
