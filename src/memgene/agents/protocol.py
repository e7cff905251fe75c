"""Who uses a memory: extracts items from episodes, formulates queries, answers from context."""

from __future__ import annotations

from typing import Protocol

from memgene.core import Answer, Context, Episode, Filled, Question, Schema


class Agent(Protocol):
    """Three steps of M* §4. An agent sees questions, never gold. Thread-safe.

    Every step reports what it used with `memgene.core.record`, under the role `task`.
    """

    @property
    def name(self) -> str:
        """Name in tables and JSON."""
        ...

    @property
    def concurrency(self) -> int:
        """How many steps at once make sense (1 for an agent that computes)."""
        ...

    def extract(self, episode: Episode, schema: Schema, instruction: str) -> Filled:
        """Fill the item schema from an episode."""
        ...

    def formulate(self, question: Question, schema: Schema, instruction: str) -> Filled:
        """Fill the query schema from a question."""
        ...

    def respond(
        self,
        question: Question,
        context: Context,
        instruction: str,
        always_on: str = "",
        query: Filled | None = None,
    ) -> Answer:
        """Answer from the context alone; `query` is what `formulate` gave for this question."""
        ...
