"""memgene import."""

from __future__ import annotations

import sys
from collections import Counter
from typing import Annotated

import typer

from memgene.cli import inputs, options, output


def import_(
    origin: Annotated[
        str, typer.Argument(metavar="FILE", help="File that export wrote; - reads stdin.")
    ],
    db: options.Db = None,
    embedder: options.Embedder = None,
    json: options.Json = False,
) -> None:
    """Read what export wrote; what is there is merged."""
    with inputs.open_memory(db, embedder=embedder, make=True) as memory:
        receipt = memory.import_(sys.stdin if origin == inputs.STDIN else origin)
    counts = Counter(one.event for one in receipt)
    if json:
        output.json_line(
            {
                "count": len(receipt),
                "events": dict(counts),
                "set_aside": receipt.set_aside,
                "made_by": receipt.made_by,
            }
        )
        return
    output.say(", ".join(f"{n} {event}" for event, n in counts.items()) or "nothing to read")
    if receipt.set_aside:
        output.say(
            f"{receipt.set_aside} vectors by {receipt.made_by} were set aside, "
            "their memories embedded anew"
        )
