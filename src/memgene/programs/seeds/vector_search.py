"""Vector search over chunks of the raw text."""

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
    """Cuts texts into chunks of at most 500 characters and finds the five nearest to a query."""

    CHUNK = 500
    NEAREST = 5
    LIMIT = 3000

    def __init__(self, toolkit: Any) -> None:
        self.toolkit = toolkit
        self.collection = toolkit.chroma.get_or_create_collection("chunks")
        self.stored = 0

    def write(self, item: KnowledgeItem, raw_text: str) -> None:
        chunks = self._chunks(raw_text)
        if not chunks:
            return
        ids = [f"chunk-{self.stored + number}" for number in range(len(chunks))]
        self.collection.add(documents=chunks, ids=ids)
        self.stored += len(chunks)
        self.toolkit.logger.debug(f"{len(chunks)} chunks stored, {self.stored} in all")

    def read(self, query: Query) -> str:
        if not self.stored:
            return "Nothing is stored yet."
        found = self.collection.query(
            query_texts=[query.query_text], n_results=min(self.NEAREST, self.stored)
        )
        return "\n\n".join(found["documents"][0])[: self.LIMIT]

    def _chunks(self, text: str) -> list[str]:
        """Paragraphs, short ones joined. One that is too long is cut at its lines first: a
        conversation is often a single paragraph of many lines."""
        chunks: list[str] = []
        for paragraph in (part.strip() for part in text.split("\n\n")):
            if not paragraph:
                continue
            if len(paragraph) > self.CHUNK:
                chunks += self._joined(self._lines(paragraph), "\n")
            elif chunks and len(chunks[-1]) + 2 + len(paragraph) <= self.CHUNK:
                chunks[-1] += "\n\n" + paragraph
            else:
                chunks.append(paragraph)
        return chunks

    def _lines(self, paragraph: str) -> list[str]:
        """Its lines; a line longer than a chunk is cut between words where it has any."""
        lines: list[str] = []
        for whole in paragraph.split("\n"):
            line = whole.strip()
            while len(line) > self.CHUNK:
                cut = line.rfind(" ", 1, self.CHUNK + 1)
                cut = cut if cut > 0 else self.CHUNK
                lines.append(line[:cut].rstrip())
                line = line[cut:].lstrip()
            if line:
                lines.append(line)
        return lines

    def _joined(self, parts: list[str], glue: str) -> list[str]:
        """Neighbouring parts joined as long as they fit into one chunk."""
        joined: list[str] = []
        for part in parts:
            if joined and len(joined[-1]) + len(glue) + len(part) <= self.CHUNK:
                joined[-1] += glue + part
            else:
                joined.append(part)
        return joined
