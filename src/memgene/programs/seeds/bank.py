# recipe: {"storage": "bank", "signals": "bank"}
"""Texts kept and found by the bank."""

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
    """What was understood of a text. This memory keeps the text itself."""

    summary: str = field(metadata={"description": "the key information of the text"})


@dataclass
class Query:
    """What to look for."""

    query_text: str = field(metadata={"description": "what to look for, in plain language"})


class KnowledgeBase:
    """Hands texts to the bank of the toolkit, which keeps, finds and ranks them."""

    LIMIT = 3000

    def __init__(self, toolkit: Any) -> None:
        self.toolkit = toolkit
        self.bank = toolkit.bank
        self.stored = 0

    def write(self, item: KnowledgeItem, raw_text: str) -> None:
        self.bank.add_episode(raw_text)
        self.stored += 1
        self.toolkit.logger.debug(f"{self.stored} texts stored")

    def read(self, query: Query) -> str:
        if not self.stored:
            return "Nothing is stored yet."
        text: str = self.bank.context(query.query_text, characters=self.LIMIT)
        return text
