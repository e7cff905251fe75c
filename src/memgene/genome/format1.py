"""Bundles of format 1, which older versions wrote: read here, written never again.

Their head lists the files beside the configuration by name and hashes all that is stored into
`content`, 12 hex digits; those of the first versions hashed it into their id. Files that it does
not list are no part of the genome.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from memgene.core import StoredConfigError, stable_id
from memgene.genome.contents import Contents, decoded, read_contents, reading
from memgene.genome.head import Origin, Score
from memgene.genome.parts import MEMORY, PROGRAM, RETRIEVAL, ROUTER
from memgene.genome.stored import HEAD, StoredFiles
from memgene.retrieval.config import parsed

FORMAT = 1
_BESIDE = (PROGRAM, ROUTER, MEMORY)


def read_format1(stored: StoredFiles, head: Mapping[str, Any]) -> tuple[Origin, Contents]:
    """Where it came from and what it does.

    Raises StoredConfigError when it is damaged or was edited, NotFoundError when a file it lists
    is missing.
    """
    with reading(stored, HEAD):
        origin = Origin(
            strategy=head["strategy"],
            embedder=head["embedder"],
            parents=tuple(head["parents"]),
            scores={name: Score(**score) for name, score in head["scores"].items()},
            fingerprints=head["fingerprints"],
            provenance=head["provenance"],
        )
        listed = [name for name in _BESIDE if name in tuple(head.get("files", ()))]
        kept = {name: stored.content(name) for name in (HEAD, RETRIEVAL, *listed)}
    mine = replace(stored, files=kept, foreign=())
    contents = read_contents(mine)
    with reading(stored, HEAD):
        unedited = _is_as_written(mine, head, listed)
    if not unedited:
        raise StoredConfigError(
            f"{stored.path} does not hold what was stored as genome {head['id']}: it was edited"
        )
    return origin, contents


def _is_as_written(stored: StoredFiles, head: Mapping[str, Any], beside: list[str]) -> bool:
    """Whether the stored values are those that were hashed when they were written, whatever this
    version would write. Line ends and comments of the configuration are no part of them."""
    import tomli_w

    values = tomli_w.dumps(parsed(decoded(stored, RETRIEVAL)))
    if "content" not in head:
        return bool(stable_id(values, head["embedder"])[:12] == head["id"])
    said = (
        hashlib.sha256(stored.files[name]).hexdigest() if name == ROUTER else decoded(stored, name)
        for name in beside
    )
    content = stable_id(head["id"], values, head["embedder"], *said)[:12]
    return bool(content == head["content"])
