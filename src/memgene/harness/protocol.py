"""One protocol for every kind of memory: bank, program, genome, baseline."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from memgene.core import Context, Episode, Filled, Instructions, Schema, SchemaField

QUERY_TEXT = Schema("Query", (SchemaField("query_text", "str", "what to look for"),))
NO_ITEM = Schema("KnowledgeItem")


class Harness(Protocol):
    """A memory at work for one evaluation: fresh when made, persistent until closed."""

    @property
    def name(self) -> str:
        """Name in tables and JSON."""
        ...

    @property
    def instructions(self) -> Instructions:
        """Words for the agent's prompts."""
        ...

    @property
    def item_schema(self) -> Schema:
        """What the agent fills in from an episode; no fields = the episode is stored as it is."""
        ...

    @property
    def query_schema(self) -> Schema:
        """What the agent fills in from a question."""
        ...

    @property
    def yields_hits(self) -> bool:
        """Whether reads return a ranking (then recall@k applies)."""
        ...

    @property
    def thread_safe(self) -> bool:
        """Whether reads may overlap; otherwise they are made one after another."""
        ...

    def write(self, item: Filled, episode: Episode) -> None:
        """Remember one episode."""
        ...

    def read(self, query: Filled) -> Context:
        """Recall for one query. Sees nothing of the gold answer."""
        ...

    def close(self) -> None:
        """Release what the memory holds."""
        ...


HarnessFactory = Callable[[], Harness]
"""Makes a fresh, empty memory; called once per group (`own_group`) or once (`shared`)."""
