"""`reembed()`: swap a bank's vectors for another embedder's, in one transaction."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from memgene import engine
from memgene.api.opening import DEFAULT_EMBEDDER, load
from memgene.api.results import Reembedded
from memgene.bank import open_bank
from memgene.embed import Embedder
from memgene.settings import load_settings


def reembed(
    path: str | Path,
    embedder: str | Embedder | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Reembedded:
    """Embed every memory of the file anew; `embedder` by default the settings', else `static`.

    Until it is done the old vectors stay; a failure leaves them as they were.
    """
    new = load(embedder or load_settings().embedder or DEFAULT_EMBEDDER)
    bank = open_bank(path)
    try:
        count = engine.reembed(bank, new, progress)
    finally:
        bank.close()
    return Reembedded(count, new.name, new.dimension)
