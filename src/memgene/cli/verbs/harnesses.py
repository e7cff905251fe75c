"""memgene harnesses."""

from __future__ import annotations

from memgene.cli import options, output


def harnesses(json: options.Json = False) -> None:
    """List every memory that can be evaluated."""
    from memgene.api import list_harnesses

    listed = list_harnesses()
    if json:
        output.json_line({"harnesses": [one.model_dump() for one in listed]})
        return
    rows = [(h.name, "yes" if h.default else "", h.about) for h in listed]
    output.table(("memory", "static", "about"), rows)
