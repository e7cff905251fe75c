# recipe: {}
"""Single lines, found by vectors and BM25."""

import re
import textwrap
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
    """Single lines, found by vectors and BM25."""

    DATE_LINE = re.compile(
        r"\W?(\d{1,2} [A-Z][a-z]+ \d{4}|\d{4}-\d\d-\d\d)(?:\W+\d\d?:\d\d(?: ?[ap]m)?)?\W*"
    )
    LONGEST = 700
    DEPTH = 60
    COMMON = (
        "a an and are as at be been but by can could did do does for from had has have he her "
        "him his how i if in is it its me my of on or our she should so than that the their "
        "them then there they this to was we were what when where which who whom whose why "
        "will with would you your"
    )
    LIMIT = 3000
    SHOWN = 40

    def __init__(self, toolkit: Any) -> None:
        self.toolkit = toolkit
        # One entry per piece; its place in these lists is its number everywhere.
        self.pieces: list[str] = []
        self.dates: list[str] = []
        self.sources: list[int] = []
        self.texts = 0
        self.vectors = toolkit.chroma.get_or_create_collection("pieces")
        toolkit.db.execute(
            "CREATE VIRTUAL TABLE words USING fts5(text, tokenize = 'porter unicode61')"
        )

    def write(self, item: KnowledgeItem, raw_text: str) -> None:
        date, body = self._dated(raw_text)
        pieces = self._cut(body)
        if not pieces:
            return
        first = len(self.pieces)
        self.pieces += pieces
        self.dates += [date] * len(pieces)
        self.sources += [self.texts] * len(pieces)
        self.texts += 1
        self.vectors.add(documents=pieces, ids=[str(first + i) for i in range(len(pieces))])
        self.toolkit.db.executemany(
            "INSERT INTO words (rowid, text) VALUES (?, ?)", enumerate(pieces, first)
        )
        self.toolkit.logger.debug(f"{len(pieces)} pieces stored, {len(self.pieces)} in all")

    def read(self, query: Query) -> str:
        if not self.pieces:
            return "Nothing is stored yet."
        scores = self._fused(query)
        ranking = sorted(scores, key=lambda number: (-scores[number], number))
        kept = self._fitting(ranking[: self.SHOWN])
        return "\n".join(self._dated_piece(number) for number in kept)

    def _dated(self, text: str) -> tuple[str, str]:
        """The date that the first line tells, without the time of day, and the rest."""
        head, _, body = text.partition("\n")
        found = self.DATE_LINE.fullmatch(head.strip())
        return (found.group(1), body) if found else ("", text)

    def _cut(self, body: str) -> list[str]:
        """Its lines. A very long one is cut between words, so that every piece fits into a read."""
        return [line for whole in body.splitlines() for line in textwrap.wrap(whole, self.LONGEST)]

    def _by_vectors(self, query: str) -> dict[int, float]:
        """The pieces nearest to the query."""
        deep = min(self.DEPTH, len(self.pieces))
        found = self.vectors.query(query_texts=[query], n_results=deep)
        near = zip(found["ids"][0], found["distances"][0], strict=True)
        return {int(number): -distance for number, distance in near}

    def _by_words(self, query: str) -> dict[int, float]:
        """BM25 of the pieces that share a word with it."""
        match = " OR ".join(f'"{term}"' for term in self._terms(query))
        if not match:
            return {}
        rows = self.toolkit.db.execute(
            "SELECT rowid, -bm25(words) AS score FROM words WHERE words MATCH ? "
            "ORDER BY score DESC, rowid LIMIT ?",
            (match, self.DEPTH),
        )
        return dict(rows.fetchall())

    def _terms(self, text: str) -> list[str]:
        """Its words in lower case, each once, without those that every text has."""
        common = self.COMMON.split()
        words = re.findall(r"[^\W_]+", text.lower())
        return [word for word in dict.fromkeys(words) if word not in common]

    def _fused(self, query: Query) -> dict[int, float]:
        """Reciprocal ranks: scores of different signals do not compare, places do."""
        scores: dict[int, float] = {}
        for weight, found in (
            (0.5, self._by_vectors(query.query_text)),
            (0.5, self._by_words(query.query_text)),
        ):
            ranked = sorted(found, key=lambda number: (-found[number], number))
            for place, number in enumerate(ranked):
                scores[number] = scores.get(number, 0.0) + weight * 60 / (60 + place)
        return scores

    def _fitting(self, ranking: list[int]) -> list[int]:
        """The best ones that fit into a read whole; a long one gives way to shorter ones."""
        room = self.LIMIT
        kept: list[int] = []
        for number in ranking:
            needed = len(self._dated_piece(number)) + 1
            if needed <= room:
                room -= needed
                kept.append(number)
        return kept

    def _dated_piece(self, number: int) -> str:
        """A piece with its date in front."""
        date = self.dates[number]
        return f"[{date}] {self.pieces[number]}" if date else self.pieces[number]
