"""What a memory tells the agent that uses it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Instructions:
    """What a harness tells the agent: how to extract, ask and answer (M* §2)."""

    knowledge_item: str = ""
    query: str = ""
    response: str = ""
    always_on: str = ""
