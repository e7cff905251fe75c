"""An agent that remembers its steps, so that a new memory pays only for what it changed.

A step depends on the agent and on what the step is shown: extraction on the instruction, the item
schema and the episode; a query on the instruction, the query schema and the question; an answer on
the conversation of the query, the retrieved text and the response instruction. A program whose
logic alone changed thus pays for answers only, and only where it retrieved something else.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from threading import Lock
from typing import Any, Literal, Protocol

from memgene.agents.protocol import Agent
from memgene.core import Answer, Context, Episode, Filled, Hit, Question, Schema, content_hash

Phase = Literal["extract", "formulate", "respond"]


class PhaseStore(Protocol):
    """Keeps the results of steps, by key. Thread-safe."""

    def get(self, key: str) -> str | None:
        """What was kept under the key, None when nothing was."""
        ...

    def put(self, key: str, value: str) -> None:
        """Keep a result."""
        ...


class MemoryPhases:
    """Results of steps, for as long as the process lives."""

    def __init__(self) -> None:
        self._kept: dict[str, str] = {}

    def get(self, key: str) -> str | None:
        """What was kept under the key."""
        return self._kept.get(key)

    def put(self, key: str, value: str) -> None:
        """Keep a result."""
        self._kept[key] = value


class PhaseCachedAgent:
    """Another agent's steps, each made once for equal inputs (threads that ask for the same at the
    same time may each make it). A step that fails is not kept.

    `made` and `saved` count the steps that were made and those that were remembered. Remembered
    steps report no usage: nothing was called.
    """

    def __init__(self, agent: Agent, store: PhaseStore | None = None) -> None:
        self._agent = agent
        self._store = store or MemoryPhases()
        self._lock = Lock()
        self.made: Counter[Phase] = Counter()
        self.saved: Counter[Phase] = Counter()

    @property
    def name(self) -> str:
        """The agent's own name."""
        return self._agent.name

    @property
    def concurrency(self) -> int:
        """As the agent's."""
        return self._agent.concurrency

    def extract(self, episode: Episode, schema: Schema, instruction: str) -> Filled:
        """Fill the item schema from an episode."""
        if not schema.fields:
            return self._agent.extract(episode, schema, instruction)
        key = self._key("extract", instruction, _schema(schema), _episode(episode))
        kept = self._get("extract", key)
        if kept is None:
            filled = self._agent.extract(episode, schema, instruction)
            self._put("extract", key, _filled_json(filled))
            return filled
        return _filled(schema, kept)

    def formulate(self, question: Question, schema: Schema, instruction: str) -> Filled:
        """Fill the query schema from a question."""
        key = self._key("formulate", instruction, _schema(schema), *_question(question))
        kept = self._get("formulate", key)
        if kept is None:
            filled = self._agent.formulate(question, schema, instruction)
            self._put("formulate", key, _filled_json(filled))
            return filled
        return _filled(schema, kept)

    def respond(
        self,
        question: Question,
        context: Context,
        instruction: str,
        always_on: str = "",
        query: Filled | None = None,
    ) -> Answer:
        """Answer from the context alone."""
        said = [] if query is None else [list(turn) for turn in query.said]
        key = self._key(
            "respond", instruction, always_on, said, _context(context), *_question(question)
        )
        kept = self._get("respond", key)
        if kept is None:
            answer = self._agent.respond(question, context, instruction, always_on, query)
            self._put("respond", key, _answer_json(answer))
            return answer
        return _answer(kept)

    def _key(self, phase: Phase, *parts: Any) -> str:
        return content_hash(json.dumps([phase, self._agent.name, *parts], sort_keys=True))

    def _get(self, phase: Phase, key: str) -> dict[str, Any] | None:
        kept = self._store.get(key)
        if kept is None:
            return None
        with self._lock:
            self.saved[phase] += 1
        found: dict[str, Any] = json.loads(kept)
        return found

    def _put(self, phase: Phase, key: str, value: Mapping[str, Any]) -> None:
        self._store.put(key, json.dumps(value))
        with self._lock:
            self.made[phase] += 1


def _schema(schema: Schema) -> list[Any]:
    return [schema.name, [[f.name, f.type, f.description] for f in schema.fields]]


def _episode(episode: Episode) -> list[Any]:
    turns = [[m.speaker, m.content, m.time and m.time.isoformat()] for m in episode.messages]
    return [episode.time and episode.time.isoformat(), turns]


def _question(question: Question) -> tuple[Any, ...]:
    return (question.text, question.time and question.time.isoformat(), list(question.choices))


def _context(context: Context) -> list[Any]:
    """All that an agent may read of it, or cite; scores say nothing."""
    plan = context.plan
    how = None if plan is None else [plan.style, plan.verification, plan.threshold]
    if how is not None and plan is not None and (plan.instruction or plan.check):
        how += [plan.instruction, plan.check]
    hits = None if context.hits is None else [_hit(hit) for hit in context.hits]
    return [context.text, how, context.shown, hits]


def _hit(hit: Hit) -> list[Any]:
    when = hit.event_time and hit.event_time.isoformat()
    return [hit.id, hit.rendered, hit.text, hit.speaker, when]


def _filled_json(filled: Filled) -> dict[str, Any]:
    return {"values": dict(filled.values), "said": [list(turn) for turn in filled.said]}


def _filled(schema: Schema, kept: Mapping[str, Any]) -> Filled:
    return Filled(schema, kept["values"], tuple((role, text) for role, text in kept["said"]))


def _answer_json(answer: Answer) -> dict[str, Any]:
    return {
        "text": answer.text,
        "abstained": answer.abstained,
        "rule": answer.rule,
        "cited": list(answer.cited),
        "confidence": answer.confidence,
    }


def _answer(kept: Mapping[str, Any]) -> Answer:
    return Answer(
        kept["text"], kept["abstained"], kept["rule"], tuple(kept["cited"]), kept["confidence"]
    )
