"""memgene import."""

from __future__ import annotations

import io
import sys
from collections import Counter
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated

import typer

from memgene.cli import inputs, options, output

if TYPE_CHECKING:
    from memgene.api import ImportReceipt


def import_(
    origin: Annotated[
        str, typer.Argument(metavar="FILE", help="File that export wrote; - reads stdin.")
    ],
    db: options.Db = None,
    genome: options.Genome = None,
    embedder: options.Embedder = None,
    json: options.Json = False,
) -> None:
    """Read what export wrote; what is there is merged."""
    from memgene.api.exchange import opened

    with opened(sys.stdin if origin == inputs.STDIN else origin, "r") as lines:
        receipt = _read(lines, db, genome, embedder)
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


def _read(
    lines: IO[str], db: str | None, genome: Path | None, embedder: str | None
) -> ImportReceipt:
    """The import; an export that cannot be read makes no file."""
    from memgene.api.exchange import check

    if not Path(inputs.bank_path(db, make=True)).exists():
        if not lines.seekable():
            lines = io.StringIO(lines.read())
        check(lines)
        lines.seek(0)
    with inputs.open_memory(db, genome=genome, embedder=embedder, make=True) as memory:
        return memory.import_(lines)
