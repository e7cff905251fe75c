"""A memory whose configuration calls a language model."""

from __future__ import annotations

import json

import pytest

from memgene import Memory
from memgene.core import ConfigError, ModelError
from memgene.llm.protocol import Request
from memgene.llm.roles import RoleModels
from memgene.retrieval.config import RetrievalConfig
from memgene.testing import ScriptedLLM

PLANNED = RetrievalConfig(decomposition=True)


def test_a_question_is_planned_by_the_model() -> None:
    llm = ScriptedLLM(lambda request: json.dumps({"questions": ["Where is the boat moored?"]}))
    models = RoleModels.of({"task": llm})
    with Memory(config=PLANNED, embedder="hashing", models=models) as memory:
        memory.add("Ana keeps her boat moored in Porto.")
        found = memory.search("Where does Ana sail from?")
    assert found[0].text == "Ana keeps her boat moored in Porto."
    assert found.degraded == ()
    assert len(llm.requests) == 1


def test_a_model_that_fails_degrades_the_search_and_says_so() -> None:
    def fail(request: Request) -> str:
        raise ModelError("nobody there")

    models = RoleModels.of({"task": ScriptedLLM(fail)})
    with Memory(config=PLANNED, embedder="hashing", models=models) as memory:
        memory.add("Ana keeps her boat in Porto.")
        found = memory.search("Where is the boat?")
    assert found[0].text == "Ana keeps her boat in Porto."
    (said,) = found.degraded
    assert said.startswith("decomposition: ")
    assert "nobody there" in said


def test_without_the_model_the_setting_is_named() -> None:
    with (
        pytest.raises(ConfigError, match=r"\[llm.rewrite\] or \[llm.task\]"),
        Memory(config=PLANNED, embedder="hashing") as memory,
    ):
        memory.add("Ana keeps her boat in Porto.")


def test_facts_are_stored_beside_the_turns_and_carry_the_metadata() -> None:
    models = RoleModels.of({"task": ScriptedLLM(lambda request: "no facts today")})
    config = RetrievalConfig(extraction="both")
    with Memory(config=config, embedder="hashing", models=models) as memory:
        receipt = memory.add(
            [
                {"role": "user", "content": "I keep my boat in Porto."},
                {"role": "assistant", "content": None},
            ],
            metadata={"from": "chat"},
        )
        assert [(r.text, r.event) for r in receipt] == [
            ("I keep my boat in Porto.", "added"),
            ("", "refused"),
        ]
        assert memory.get(receipt[0].id).metadata["from"] == "chat"
