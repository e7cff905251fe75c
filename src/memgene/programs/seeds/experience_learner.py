"""Lessons and facts, all of them in every read."""

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
    """A lesson and a fact from one text."""

    lesson_learned: str = field(
        metadata={"description": "a general lesson or pattern that the text teaches"}
    )
    fact_to_remember: str = field(
        metadata={"description": "a specific fact of the text that is worth remembering"}
    )


@dataclass
class Query:
    """What is asked. Every query gets the same knowledge."""

    query_text: str = field(metadata={"description": "what to look for, in plain language"})


class KnowledgeBase:
    """Two lists, from which every read shows the first 500 characters each."""

    SHARE = 500

    def __init__(self, toolkit: Any) -> None:
        self.toolkit = toolkit
        self.lessons: list[str] = []
        self.facts: list[str] = []

    def write(self, item: KnowledgeItem, raw_text: str) -> None:
        self.lessons.append(item.lesson_learned)
        self.facts.append(item.fact_to_remember)
        self.toolkit.logger.debug(f"{len(self.lessons)} lessons and facts stored")

    def read(self, query: Query) -> str:
        if not self.lessons:
            return "Nothing is stored yet."
        lessons = "\n".join(self.lessons)[: self.SHARE]
        facts = "\n".join(self.facts)[: self.SHARE]
        return f"Lessons:\n{lessons}\n\nFacts:\n{facts}"
