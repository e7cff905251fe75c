"""Who uses a memory: extracts items from episodes, formulates queries, answers from context."""

from __future__ import annotations

from typing import Protocol

from memgene.core import Answer, Context, Episode, Filled, Question, Schema, Usage


class Agent(Protocol):
    """Three steps of M* §4. An agent sees questions, never gold. Thread-safe."""

    @property
    def name(self) -> str:
        """Name in tables and JSON."""
        ...

    def extract(self, episode: Episode, schema: Schema, instruction: str) -> Filled:
        """Fill the item schema from an episode."""
        ...

    def formulate(self, question: Question, schema: Schema, instruction: str) -> Filled:
        """Fill the query schema from a question."""
        ...

    def respond(
        self, question: Question, context: Context, instruction: str, always_on: str = ""
    ) -> Answer:
        """Answer from the context alone."""
        ...

    def usage(self) -> Usage:
        """What was used since the agent was made."""
        ...
