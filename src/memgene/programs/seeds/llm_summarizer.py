"""A language model summarises all texts for each query."""

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
    """Keeps the texts; a read asks the model for what the query needs of them."""

    SHOWN = 30_000
    LIMIT = 3000

    def __init__(self, toolkit: Any) -> None:
        self.toolkit = toolkit
        self.texts: list[str] = []

    def write(self, item: KnowledgeItem, raw_text: str) -> None:
        self.texts.append(raw_text)
        self.toolkit.logger.debug(f"{len(raw_text)} characters stored, {len(self.texts)} texts")

    def read(self, query: Query) -> str:
        if not self.texts:
            return "Nothing is stored yet."
        texts = "\n\n".join(self.texts)[: self.SHOWN]
        request = (
            "Summarise what the texts below say about the query, and nothing else. "
            f"Keep to facts and be brief.\n\nQuery: {query.query_text}\n\nTexts:\n{texts}"
        )
        try:
            summary: str = self.toolkit.llm_completion([{"role": "user", "content": request}])
        except RuntimeError as problem:
            self.toolkit.logger.debug(f"no summary, the texts are shown: {problem}")
            summary = texts
        return summary[: self.LIMIT]
