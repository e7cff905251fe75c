"""An agent that answers from a script and remembers everything it was shown."""

from __future__ import annotations

from collections.abc import Mapping
from threading import Lock
from typing import Any

from memgene.core import (
    Answer,
    Context,
    Episode,
    Filled,
    Question,
    RoleUsage,
    Schema,
    SchemaField,
    record,
)
from memgene.tasks.task import Task


class ScriptedAgent:
    """Answers by question id; ids without a script are an abstention.

    A scripted exception is raised in place of an answer. Queries hold the question's text in
    every `str` field, items the episode's; other fields are empty. `seen` lists what the agent was
    given, in order, as (step, object): ("extract", Episode), ("formulate", Question),
    ("respond", Context). Every step is one call of role `task`.
    """

    def __init__(self, answers: Mapping[str, str | Answer | BaseException] | None = None) -> None:
        self._answers = dict(answers or {})
        self._lock = Lock()
        self.seen: list[tuple[str, Any]] = []

    @classmethod
    def knowing(cls, task: Task) -> ScriptedAgent:
        """An agent that answers every question of the task right."""
        right = {q.id: q.gold.answers[0] for q in task.questions if q.gold.answers}
        return cls(right)

    @property
    def name(self) -> str:
        return "scripted"

    @property
    def concurrency(self) -> int:
        return 1

    def extract(self, episode: Episode, schema: Schema, instruction: str) -> Filled:
        """The episode's text in every `str` field."""
        self._see("extract", episode)
        return _fill(schema, episode.text)

    def formulate(self, question: Question, schema: Schema, instruction: str) -> Filled:
        """The question's text in every `str` field."""
        self._see("formulate", question)
        return _fill(schema, question.text)

    def respond(
        self,
        question: Question,
        context: Context,
        instruction: str,
        always_on: str = "",
        query: Filled | None = None,
    ) -> Answer:
        """The scripted answer; raises it if it is an exception."""
        self._see("respond", context)
        scripted = self._answers.get(question.id, Answer("", abstained=True))
        if isinstance(scripted, BaseException):
            raise scripted
        return Answer(scripted) if isinstance(scripted, str) else scripted

    def _see(self, step: str, given: object) -> None:
        with self._lock:
            self.seen.append((step, given))
        record("task", RoleUsage(calls=1, fresh=1))


def _fill(schema: Schema, text: str) -> Filled:
    return Filled(schema, {field.name: _value(field, text) for field in schema.fields})


def _value(field: SchemaField, text: str) -> Any:
    empty: dict[str, Any] = {"int": 0, "float": 0.0, "bool": False, "list[str]": []}
    return text if field.type == "str" else empty.get(field.type)
