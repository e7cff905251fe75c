"""Fills any item or query schema without a language model: by field type, then by field name.

| field type | field name holds | value |
|---|---|---|
| any `str` | summary, text, content, raw, body, transcript, note, … or unknown | the text |
| any `str` | question, query | the text |
| any `str` | date, time, when, day | the episode's date as `8 May 2023`, else empty |
| any `str` | speaker, person, author, user, who, participant | first person named, else empty |
| any `str` | topic, title, subject, keyword, category, type | first entity, else empty |
| `list[str]` | person, people, participant, speaker, who | persons |
| `list[str]` | date, time, when | dates as written |
| `list[str]` | keyword, term, tag, topic | entities, then the rarest-looking content words |
| `list[str]` | fact, sentence, statement, lesson, observation, key_point | the sentences |
| `list[str]` | unknown | entities |
| `optional[list[str]]` | any | as `list[str]` |
| other `optional[…]` | any | `None` |
| `int`, `float`, `bool` | any | 0, 0.0, `False` |

Names are split at underscores and capitals and compared word by word without a plural *s*.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from memgene.agents.extractive.sentences import sentences
from memgene.agents.extractive.words import STOP, WordClass
from memgene.bank.unit import render_date
from memgene.core import Episode, Filled, Question, Schema, SchemaField
from memgene.retrieval.dates import find_dates

_LIMIT = 16
_NAME_PART = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")


@dataclass(frozen=True)
class Source:
    """What a schema is filled from: the text, who spoke in it, and its date in words."""

    text: str
    speakers: tuple[str, ...] = ()
    date: str = ""

    @cached_property
    def entities(self) -> list[str]:
        """Runs of capitalised words, each once, in order of appearance."""
        found: dict[str, None] = {}
        for sentence in sentences(self.text):
            run: list[int] = []
            for i, kind in enumerate((*sentence.classes, None)):
                if kind is WordClass.NAME and not (run and sentence.breaks[i]):
                    run.append(i)
                    continue
                if run:
                    found[sentence.cut(run[0], run[-1])] = None
                run = [i] if kind is WordClass.NAME else []
        return list(found)[:_LIMIT]

    @cached_property
    def persons(self) -> list[str]:
        """Those who speak, or else the entities of one word."""
        return list(self.speakers) or [e for e in self.entities if " " not in e]

    @cached_property
    def dates(self) -> list[str]:
        """The date of the text, then dates as they are written in it."""
        written = [self.text[d.start : d.end].strip() for d in find_dates(self.text, None)]
        return list(dict.fromkeys(filter(None, [self.date, *written])))[:_LIMIT]

    @cached_property
    def keywords(self) -> list[str]:
        """Entities, then content words by number of occurrences and length."""
        counts: dict[str, int] = {}
        for sentence in sentences(self.text):
            for word in sentence.words:
                if word not in STOP and len(word) > 2:
                    counts[word] = counts.get(word, 0) + 1
        known = {w.lower() for e in self.entities for w in e.split()}
        rest = sorted((w for w in counts if w not in known), key=lambda w: (-counts[w], -len(w), w))
        return (self.entities + rest)[:_LIMIT]

    @cached_property
    def facts(self) -> list[str]:
        """The sentences that are no questions."""
        return [s.text for s in sentences(self.text) if not s.asks]


def _words(*names: str) -> frozenset[str]:
    return frozenset(names)


_DATE = _words("date", "time", "when", "day", "timestamp")
_PERSON = _words("person", "people", "participant", "speaker", "who", "author", "user", "character")
_TEXT_FIELDS: tuple[tuple[frozenset[str], Callable[[Source], str]], ...] = (
    (_words("text", "content", "summary", "raw", "body", "transcript", "note"), lambda s: s.text),
    (_words("question", "query"), lambda s: s.text),
    (_DATE, lambda s: s.date),
    (_PERSON, lambda s: next(iter(s.persons), "")),
    (
        _words("topic", "title", "subject", "keyword", "category", "type", "entity"),
        lambda s: next(iter(s.entities), ""),
    ),
)
_LIST_FIELDS: tuple[tuple[frozenset[str], Callable[[Source], list[str]]], ...] = (
    (_DATE, lambda s: s.dates),
    (_PERSON, lambda s: s.persons),
    (_words("keyword", "term", "tag", "topic"), lambda s: s.keywords),
    (_words("fact", "sentence", "statement", "lesson", "observation", "point"), lambda s: s.facts),
)


def _name_words(name: str) -> frozenset[str]:
    parts = [p.lower() for p in _NAME_PART.findall(name)]
    singular = {p[:-3] + "y" for p in parts if p.endswith("ies")}
    return frozenset(parts) | {p.removesuffix("s") for p in parts} | singular


def _value(field: SchemaField, source: Source) -> object:
    """The value of one field, by the table above."""
    name = _name_words(field.name)
    if field.type == "str":
        return next((get(source) for names, get in _TEXT_FIELDS if names & name), source.text)
    if field.type in ("list[str]", "optional[list[str]]"):
        found = next((get for names, get in _LIST_FIELDS if names & name), None)
        return list(found(source) if found else source.entities)
    if field.type.startswith("optional"):
        return None
    plain: dict[str, object] = {"int": 0, "float": 0.0, "bool": False}
    return plain[field.type]


def _fill(schema: Schema, source: Source) -> Filled:
    return Filled(schema, {f.name: _value(f, source) for f in schema.fields})


def fill_item(schema: Schema, episode: Episode) -> Filled:
    """Fill an item schema from an episode."""
    speakers = dict.fromkeys(m.speaker for m in episode.messages if m.speaker)
    date = render_date(episode.time) if episode.time else ""
    return _fill(schema, Source(episode.text, tuple(speakers), date))


def fill_query(schema: Schema, question: Question) -> Filled:
    """Fill a query schema from a question. Unknown text fields hold the question itself."""
    date = render_date(question.time) if question.time else ""
    return _fill(schema, Source(question.text, (), date))
