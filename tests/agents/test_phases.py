"""Steps of an agent that are made once: what a change of the memory has to pay for."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from memgene.agents.phase_file import PhaseFile
from memgene.agents.phases import MemoryPhases, PhaseCachedAgent
from memgene.core import (
    Answer,
    Context,
    Episode,
    Filled,
    Hit,
    Message,
    ModelError,
    Question,
    Schema,
    SchemaField,
    StoredConfigError,
)

ITEM = Schema("KnowledgeItem", (SchemaField("summary", "str", "what happened"),))
QUERY = Schema("Query", (SchemaField("query_text", "str"),))
EPISODE = Episode("e1", (Message("I sold the kayak", speaker="Anna"),), "g", datetime(2024, 5, 7))
QUESTION = Question("q1", "What did Anna sell?", "g")
CONTEXT = Context("7 May 2024 Anna: I sold the kayak")


class Counting:
    """An agent that says which call it is."""

    name = "counting"
    concurrency = 3

    def __init__(self) -> None:
        self.calls: list[str] = []

    def _next(self, what: str) -> str:
        self.calls.append(what)
        return f"{what} {len(self.calls)}"

    def extract(self, episode: Episode, schema: Schema, instruction: str) -> Filled:
        return Filled(schema, {"summary": self._next("extract")}, (("user", "extract"),))

    def formulate(self, question: Question, schema: Schema, instruction: str) -> Filled:
        return Filled(schema, {"query_text": self._next("formulate")}, (("user", instruction),))

    def respond(
        self,
        question: Question,
        context: Context,
        instruction: str,
        always_on: str = "",
        query: Filled | None = None,
    ) -> Answer:
        return Answer(self._next("respond"), False, "rule", ("m1",), 0.5)


@pytest.fixture
def inner() -> Counting:
    return Counting()


@pytest.fixture
def agent(inner: Counting) -> PhaseCachedAgent:
    return PhaseCachedAgent(inner)


def test_equal_steps_are_made_once_and_give_the_same(
    agent: PhaseCachedAgent, inner: Counting
) -> None:
    for _ in range(3):
        assert agent.extract(EPISODE, ITEM, "note it").values == {"summary": "extract 1"}
        query = agent.formulate(QUESTION, QUERY, "ask")
        assert query == Filled(QUERY, {"query_text": "formulate 2"}, (("user", "ask"),))
        answer = agent.respond(QUESTION, CONTEXT, "short", "", query)
        assert answer == Answer("respond 3", False, "rule", ("m1",), 0.5)
    assert inner.calls == ["extract", "formulate", "respond"]
    assert agent.made == {"extract": 1, "formulate": 1, "respond": 1}
    assert agent.saved == {"extract": 2, "formulate": 2, "respond": 2}
    assert (agent.name, agent.concurrency) == ("counting", 3)


@pytest.mark.parametrize(
    ("episode", "schema", "instruction"),
    [
        (EPISODE, ITEM, "note more"),
        (EPISODE, Schema("KnowledgeItem", (SchemaField("summary", "str", "why"),)), "note it"),
        (replace(EPISODE, time=datetime(2024, 5, 8)), ITEM, "note it"),
        (replace(EPISODE, messages=(Message("I sold it", speaker="Anna"),)), ITEM, "note it"),
        (replace(EPISODE, messages=(Message("I sold the kayak", speaker="Ben"),)), ITEM, "note it"),
    ],
)
def test_extraction_is_made_anew_when_what_it_sees_changes(
    agent: PhaseCachedAgent, inner: Counting, episode: Episode, schema: Schema, instruction: str
) -> None:
    agent.extract(EPISODE, ITEM, "note it")
    agent.extract(episode, schema, instruction)
    assert inner.calls == ["extract", "extract"]


def test_the_id_of_an_episode_is_nothing_an_agent_sees(
    agent: PhaseCachedAgent, inner: Counting
) -> None:
    agent.extract(EPISODE, ITEM, "note it")
    agent.extract(replace(EPISODE, id="e2"), ITEM, "note it")
    assert inner.calls == ["extract"]


@pytest.mark.parametrize(
    "changed",
    [
        {"instruction": "long"},
        {"always_on": "be brief"},
        {"context": Context("nothing")},
        {"context": replace(CONTEXT, hits=(Hit("u1", "I sold the kayak", 1.0),))},
        {"query": Filled(QUERY, {"query_text": "kayak"}, (("user", "other words"),))},
        {"question": replace(QUESTION, text="Who sold it?")},
        {"question": replace(QUESTION, choices=("a", "b"))},
    ],
)
def test_answers_are_made_anew_when_what_they_see_changes(
    agent: PhaseCachedAgent, inner: Counting, changed: dict[str, Any]
) -> None:
    given: dict[str, Any] = {
        "question": QUESTION,
        "context": CONTEXT,
        "instruction": "short",
        "always_on": "",
        "query": Filled(QUERY, {"query_text": "kayak"}),
    }
    agent.respond(**given)
    agent.respond(**given)
    agent.respond(**{**given, **changed})
    assert inner.calls == ["respond", "respond"]


@pytest.mark.parametrize(
    ("changed", "calls"),
    [
        ({"id": "u2"}, 2),  # an answer cites it
        ({"event_time": datetime(2024, 5, 8)}, 2),  # an offline agent dates the line by it
        ({"speaker": "Bea"}, 2),
        ({"score": 0.5}, 1),
    ],
)
def test_of_a_hit_everything_counts_that_an_answer_may_hold(
    agent: PhaseCachedAgent, inner: Counting, changed: dict[str, Any], calls: int
) -> None:
    hit = Hit("u1", "I sold the kayak", 1.0, speaker="Anna", event_time=datetime(2024, 5, 7))
    for shown in (hit, replace(hit, **changed)):
        agent.respond(QUESTION, Context("the kayak", (shown,), 1), "short")
    assert len(inner.calls) == calls


def test_a_logic_only_change_pays_for_answers_alone(
    agent: PhaseCachedAgent, inner: Counting
) -> None:
    """sandbox.md: with 25 items and 125 episodes, 25 calls in place of 125 + 25 × 2 = 175."""
    episodes = [replace(EPISODE, messages=(Message(f"I sold kayak {i}"),)) for i in range(125)]
    questions = [replace(QUESTION, text=f"Who sold kayak {i}?") for i in range(25)]

    def evaluate(retrieved: str) -> None:
        for episode in episodes:
            agent.extract(episode, ITEM, "note it")
        for question in questions:
            query = agent.formulate(question, QUERY, "ask")
            agent.respond(question, Context(retrieved), "short", "", query)

    evaluate("what the parent finds")
    assert len(inner.calls) == 175
    evaluate("what the child finds")
    assert len(inner.calls) == 175 + 25


def test_a_step_that_fails_is_tried_again(inner: Counting, monkeypatch: pytest.MonkeyPatch) -> None:
    agent = PhaseCachedAgent(inner)
    with monkeypatch.context() as broken:
        broken.setattr(inner, "_next", _no_reply)
        with pytest.raises(ModelError):
            agent.extract(EPISODE, ITEM, "note it")
    assert agent.extract(EPISODE, ITEM, "note it").values == {"summary": "extract 1"}


def _no_reply(what: str) -> str:
    raise ModelError(f"no reply to {what}")


def test_a_memory_without_item_fields_is_nothing_to_remember(
    agent: PhaseCachedAgent, inner: Counting
) -> None:
    plain = Schema("KnowledgeItem")
    agent.extract(EPISODE, plain, "")
    agent.extract(EPISODE, plain, "")
    assert agent.saved == {}


def test_agents_with_other_names_share_nothing(inner: Counting) -> None:
    store = MemoryPhases()
    other = Counting()
    other.name = "other"
    PhaseCachedAgent(inner, store).extract(EPISODE, ITEM, "note it")
    PhaseCachedAgent(other, store).extract(EPISODE, ITEM, "note it")
    assert other.calls == ["extract"]


def test_a_file_keeps_steps_for_the_next_process(tmp_path: Path, inner: Counting) -> None:
    path = tmp_path / "phases.sqlite"
    with PhaseFile(path) as first:
        PhaseCachedAgent(inner, first).extract(EPISODE, ITEM, "note it")
    with PhaseFile(path) as second:
        agent = PhaseCachedAgent(inner, second)
        assert agent.extract(EPISODE, ITEM, "note it").values == {"summary": "extract 1"}
        second.put("a", "1")
        second.put("a", "2")
        assert second.get("a") == "1"
    assert inner.calls == ["extract"]


def test_a_file_that_is_none_is_named_with_the_remedy(tmp_path: Path) -> None:
    path = tmp_path / "phases.sqlite"
    path.write_text("this is no database, though it is long enough to be looked at closely" * 20)
    with pytest.raises(StoredConfigError, match=r"phases\.sqlite .*delete the file"):
        PhaseFile(path)
