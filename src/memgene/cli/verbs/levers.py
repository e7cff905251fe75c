"""memgene levers."""

from __future__ import annotations

from memgene.cli import options, output


def levers(json: options.Json = False) -> None:
    """List the levers of retrieval that may evolve."""
    from memgene.api import list_levers

    listed = list_levers()
    if json:
        output.json_line({"levers": [one.model_dump() for one in listed]})
        return
    rows = [(x.name, x.range, x.default, x.minimal, ", ".join(x.needs), x.about) for x in listed]
    output.table(("lever", "range", "default", "minimal", "needs", "about"), rows)
