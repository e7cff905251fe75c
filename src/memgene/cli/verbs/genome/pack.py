"""memgene genome pack."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from memgene.cli import options, output
from memgene.cli.verbs.genome.paths import FORMS

Source = Annotated[Path, typer.Argument(metavar="SRC", help=f"A genome: {FORMS}.")]
Target = Annotated[
    Path,
    typer.Argument(
        metavar="OUT", help="Where to: one file by .memgene or .zip, else a folder of its own."
    ),
]
Sign = Annotated[
    Path | None,
    typer.Option(
        "--sign", metavar="KEYFILE", help="Sign it with this key, as `memgene genome key` makes it."
    ),
]


def pack(source: Source, target: Target, sign: Sign = None, json: options.Json = False) -> None:
    """Put a genome into one file to hand on, signed where asked. Older formats are migrated.

    Equal genomes give equal bytes.
    """
    from memgene.api import pack_genome

    packed = pack_genome(source, target, sign=sign)
    if json:
        output.json_line(packed.model_dump())
        return
    was = "" if packed.migrated_from is None else f", migrated from format {packed.migrated_from}"
    output.say(f"genome    {packed.id}: {packed.path}, {packed.bytes:,} bytes{was}")
    output.say(f"content   {packed.content}")
    output.say(f"signed by {packed.signer or 'nobody'}")
