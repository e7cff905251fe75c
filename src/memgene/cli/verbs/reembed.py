"""memgene reembed."""

from __future__ import annotations

from memgene.cli import inputs, options, output


def reembed(
    db: options.Db = None, embedder: options.Embedder = None, json: options.Json = False
) -> None:
    """Replace a memory's vectors by another embedder's."""
    from memgene.api import reembed as replace_vectors

    done = replace_vectors(inputs.bank_path(db), embedder)
    if json:
        output.json_line(done.model_dump())
    else:
        output.say(f"{done.count} vectors of {done.embedder} ({done.dimension} dimensions)")
