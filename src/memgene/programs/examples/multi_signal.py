"""Dialogues found by several signals: vectors, shared words, topics, and who spoke."""

import math
import re
import textwrap
from dataclasses import dataclass, field
from typing import Any

INSTRUCTION_KNOWLEDGE_ITEM = (
    "Read the dialogue and note what it says. Write every fact as a sentence that stands alone: "
    "the person's name instead of a pronoun, the thing by its name, and the date worked out from "
    "the date of the dialogue where it says yesterday, last week or next month."
)
INSTRUCTION_QUERY = (
    "Ask the memory for what the question needs. Keep its names, things and dates, name the person "
    "it is about, and add the words that an answer would probably stand next to."
)
INSTRUCTION_RESPONSE = (
    "Answer the question from the facts and excerpts above, in as few words as possible and in the "
    "words used there. Give all things where it asks for several. Give dates, not words such as "
    "yesterday: count from the date that stands with what was said."
)
ALWAYS_ON_KNOWLEDGE = (
    "What follows was found by a search and may be about something else: look at who speaks and "
    "when. Facts and excerpts of one date belong to one conversation."
)


@dataclass
class KnowledgeItem:
    """What one dialogue says, and what it is about."""

    summary: str = field(metadata={"description": "what the dialogue is about, in a few sentences"})
    participants: list[str] = field(metadata={"description": "names of those who speak"})
    organizations: list[str] = field(
        metadata={"description": "companies, schools, clubs and other groups that are named"}
    )
    activities: list[str] = field(
        metadata={"description": "what people did, do or plan, a few words each"}
    )
    key_facts: list[str] = field(
        metadata={"description": "facts, each a full sentence with a name and, if told, a date"}
    )
    relation_facts: list[str] = field(
        metadata={"description": "who is what to whom, each a full sentence"}
    )
    named_entities: list[str] = field(
        metadata={"description": "places, works, products, pets and other names"}
    )


@dataclass
class Query:
    """What is asked, and about whom."""

    query_text: str = field(metadata={"description": "the question, with its names and dates"})
    person: str = field(
        default="",
        metadata={"description": "name of the person it is about, empty if there is none"},
    )
    keywords: list[str] = field(
        default_factory=list, metadata={"description": "words that stand near an answer"}
    )


class KnowledgeBase:
    """Excerpts of dialogues and facts from them, in SQLite; vectors of the excerpts beside it.

    A read ranks excerpts by the sum of all signals and facts by the words they share with the
    query. Facts are shown first, then excerpts, each under its date.
    """

    LIMIT = 3000
    EXCERPT = 500
    HITS = 24
    PER_DIALOGUE = 2
    FACTS = 8
    FACT_SHARE = 800  # characters that facts may take of a read
    DATE_LINE = re.compile(r"\W?(\d{1,2} [A-Z][a-z]+ \d{4}|\d{4}-\d\d-\d\d)\b.{0,12}")
    COMMON = (
        "a an and any are as at be been but by can could did do does for from had has have he her "
        "him his how i if in into is it its me my of on or our she should so some than that the "
        "their them then there they this to us was we were what when where which who whom whose "
        "why will with would you your"
    )

    def __init__(self, toolkit: Any) -> None:
        self.toolkit = toolkit
        self.db = toolkit.db
        self.common = frozenset(self.COMMON.split())
        self.db.executescript(
            """
            CREATE TABLE dialogues (id INTEGER PRIMARY KEY, date TEXT, people TEXT, about TEXT);
            CREATE TABLE excerpts (id INTEGER PRIMARY KEY, dialogue INTEGER, text TEXT, words TEXT);
            CREATE TABLE facts (id INTEGER PRIMARY KEY, dialogue INTEGER, text TEXT, words TEXT);
            """
        )
        self.vectors = toolkit.chroma.get_or_create_collection("excerpts")

    def write(self, item: KnowledgeItem, raw_text: str) -> None:
        date, lines = self._lines(raw_text)
        dialogue = self._add_dialogue(item, date)
        excerpts = self._excerpts(lines)
        ids = [
            self.db.execute(
                "INSERT INTO excerpts (dialogue, text, words) VALUES (?, ?, ?)",
                (dialogue, text, self._joined(text)),
            ).lastrowid
            for text in excerpts
        ]
        if excerpts:
            self.vectors.add(documents=excerpts, ids=[str(number) for number in ids])
        facts = self._facts(item, lines)
        self.db.executemany(
            "INSERT INTO facts (dialogue, text, words) VALUES (?, ?, ?)",
            [(dialogue, fact, self._joined(fact)) for fact in facts],
        )
        self.toolkit.logger.debug(f"dialogue {dialogue}: {len(ids)} excerpts, {len(facts)} facts")

    def read(self, query: Query) -> str:
        asked = set(self._words(" ".join([query.query_text, *query.keywords])))
        people = set(self._words(query.person)) | self._people_in(query.query_text)
        facts = self._ranked_facts(asked, people)
        excerpts = self._ranked_excerpts(query, asked, people)
        if not facts and not excerpts:
            return "Nothing is stored yet."
        return self._shown(facts, excerpts)

    def _ranked_excerpts(
        self, query: Query, asked: set[str], people: set[str]
    ) -> list[tuple[int, str]]:
        """The nearest excerpts, best first by the sum of their signals; (dialogue, text)."""
        stored = self.vectors.count()
        if not stored:
            return []
        near = self.vectors.query(query_texts=[query.query_text], n_results=min(self.HITS, stored))
        scored: list[tuple[float, int, str]] = []
        for rank, (number, distance) in enumerate(
            zip(near["ids"][0], near["distances"][0], strict=True)
        ):
            dialogue, text, words, about, speakers = self.db.execute(
                "SELECT dialogue, text, words, about, people FROM excerpts "
                "JOIN dialogues ON dialogues.id = dialogue WHERE excerpts.id = ?",
                (int(number),),
            ).fetchone()
            score = 1.25 / (rank + 1) + 1 / (1 + distance)
            score += 2.1 * self._overlap(asked, words.split())
            score += self._overlap(asked, about.split())
            score += 1.2 * bool(people & set(speakers.split()) & set(self._speaking(text)))
            scored.append((score, dialogue, text))
        scored.sort(key=lambda found: -found[0])
        return self._few_of_each([(dialogue, text) for _, dialogue, text in scored])

    def _ranked_facts(self, asked: set[str], people: set[str]) -> list[tuple[int, str]]:
        """Facts that share words with the query, best first; (dialogue, text)."""
        scored: list[tuple[float, int, str]] = []
        for dialogue, text, words in self.db.execute(
            "SELECT dialogue, text, words FROM facts ORDER BY id"
        ).fetchall():
            own = words.split()
            shared = self._overlap(asked - people, own)
            if shared:
                scored.append((shared + 0.5 * bool(people & set(own)), dialogue, text))
        scored.sort(key=lambda found: -found[0])
        return [(dialogue, text) for _, dialogue, text in scored[: self.FACTS]]

    def _shown(self, facts: list[tuple[int, str]], excerpts: list[tuple[int, str]]) -> str:
        """Facts up to their share, then excerpts while there is room."""
        dates = dict(self.db.execute("SELECT id, date FROM dialogues").fetchall())
        parts: list[str] = []
        room = self.FACT_SHARE
        for dialogue, fact in facts:
            line = f"[{dates[dialogue]}] {fact}" if dates[dialogue] else fact
            if len(line) + 1 <= room:
                room -= len(line) + 1
                parts.append(line)
        room = self.LIMIT - sum(len(part) + 1 for part in parts)
        for dialogue, text in excerpts:
            block = f"[{dates[dialogue]}]\n{text}" if dates[dialogue] else text
            if len(block) + 1 <= room:
                room -= len(block) + 1
                parts.append(block)
        return "\n".join(parts)

    def _few_of_each(self, ranked: list[tuple[int, str]]) -> list[tuple[int, str]]:
        """At most two excerpts of one dialogue, so that no dialogue fills the read."""
        taken: dict[int, int] = {}
        kept: list[tuple[int, str]] = []
        for dialogue, text in ranked:
            taken[dialogue] = taken.get(dialogue, 0) + 1
            if taken[dialogue] <= self.PER_DIALOGUE:
                kept.append((dialogue, text))
        return kept

    def _add_dialogue(self, item: KnowledgeItem, date: str) -> int:
        about = [*item.organizations, *item.activities, *item.named_entities]
        row = (date, self._joined(" ".join(item.participants)), self._joined(" ".join(about)))
        number: int = self.db.execute(
            "INSERT INTO dialogues (date, people, about) VALUES (?, ?, ?)", row
        ).lastrowid
        return number

    def _facts(self, item: KnowledgeItem, lines: list[str]) -> list[str]:
        """Facts of the item. One that only repeats a line becomes that line: it says who spoke."""
        facts: dict[str, None] = {}
        for fact in [*item.key_facts, *item.relation_facts]:
            said = next((line for line in lines if fact in line), fact)
            if fact.strip() and len(said) <= self.FACT_SHARE // 2:
                facts.setdefault(said)
        return list(facts)

    def _lines(self, raw_text: str) -> tuple[str, list[str]]:
        """The date that the first line tells, and the other lines; long ones are cut."""
        head, _, rest = raw_text.partition("\n")
        dated = self.DATE_LINE.fullmatch(head.strip())
        body = rest if dated else raw_text
        lines = [part for line in body.splitlines() for part in textwrap.wrap(line, 1000)]
        return (dated.group(1) if dated else "", lines)

    def _excerpts(self, lines: list[str]) -> list[str]:
        """Neighbouring lines, joined while they are short: a question stays with its answer."""
        excerpts: list[str] = []
        for line in lines:
            if excerpts and len(excerpts[-1]) + 1 + len(line) <= self.EXCERPT:
                excerpts[-1] += "\n" + line
            else:
                excerpts.append(line)
        return excerpts

    def _people_in(self, text: str) -> set[str]:
        """Names of known speakers that stand in a text."""
        known = self.db.execute("SELECT DISTINCT people FROM dialogues").fetchall()
        return set(self._words(text)) & {name for (names,) in known for name in names.split()}

    def _speaking(self, text: str) -> list[str]:
        """Words before the colon of each line: who says it."""
        heads = [line.partition(": ")[0] for line in text.split("\n") if ": " in line[:40]]
        return self._words(" ".join(heads))

    def _overlap(self, asked: set[str], words: list[str]) -> float:
        """Share of the words asked for that are there, long texts weighing a little less."""
        shared = len(asked & set(words))
        return shared / (len(asked) or 1) / (1 + math.log1p(len(words)) / 10)

    def _joined(self, text: str) -> str:
        return " ".join(self._words(text))

    def _words(self, text: str) -> list[str]:
        """Words in lower case without common ones, each once, endings cut."""
        found = dict.fromkeys(re.findall(r"[^\W_]+", text.lower()))
        kept = (word for word in found if word not in self.common)
        return [re.sub(r"(?<=\w{3})(?:ing|ed|es|s)$", "", word) for word in kept]
