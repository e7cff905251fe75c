"""No memory: what an agent answers on its own. The floor of every comparison."""

from __future__ import annotations

from memgene.core import Context, Episode, Filled, Schema
from memgene.harness.protocol import NO_ITEM, QUERY_TEXT, Instructions


class NoMemory:
    """Forgets every episode; every context is empty, and there is no ranking."""

    @property
    def name(self) -> str:
        return "no-memory"

    @property
    def instructions(self) -> Instructions:
        return Instructions()

    @property
    def item_schema(self) -> Schema:
        return NO_ITEM

    @property
    def query_schema(self) -> Schema:
        return QUERY_TEXT

    @property
    def yields_hits(self) -> bool:
        return False

    def write(self, item: Filled, episode: Episode) -> None:
        """Nothing is kept."""

    def read(self, query: Filled) -> Context:
        """The empty context."""
        return Context("")

    def close(self) -> None:
        """Nothing is held."""
