"""No memory: what an agent answers on its own. The floor of every comparison."""

from __future__ import annotations

from memgene.core import Context, Episode, Filled
from memgene.harness.plain import PlainHarness


class NoMemory(PlainHarness):
    """Forgets every episode; every context is empty, and there is no ranking."""

    name = "no-memory"
    yields_hits = False

    def write(self, item: Filled, episode: Episode) -> None:
        """Nothing is kept."""

    def read(self, query: Filled) -> Context:
        """The empty context."""
        return Context("")

    def close(self) -> None:
        """Nothing is held."""
