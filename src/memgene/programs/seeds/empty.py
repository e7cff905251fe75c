"""Remembers nothing: where a linear search begins."""

from dataclasses import dataclass, field
from typing import Any

INSTRUCTION_KNOWLEDGE_ITEM = "Write down the key information of the text in a short summary."
INSTRUCTION_QUERY = (
    "Write a query in plain language that asks the memory for what is needed to answer the "
    "question."
)
INSTRUCTION_RESPONSE = (
    "Answer the original question from the knowledge above. Give a short answer without "
    "explanation."
)
ALWAYS_ON_KNOWLEDGE = ""


@dataclass
class KnowledgeItem:
    """What was understood of a text."""

    summary: str = field(metadata={"description": "the key information of the text"})


@dataclass
class Query:
    """What to look for."""

    query_text: str = field(metadata={"description": "what to look for, in plain language"})


class KnowledgeBase:
    """Keeps no text and finds none."""

    def __init__(self, toolkit: Any) -> None:
        self.toolkit = toolkit

    def write(self, item: KnowledgeItem, raw_text: str) -> None:
        self.toolkit.logger.debug("nothing is stored")

    def read(self, query: Query) -> str:
        return "Nothing is stored."
