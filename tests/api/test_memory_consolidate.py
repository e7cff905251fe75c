"""A memory puts its facts in order on demand."""

from __future__ import annotations

import pytest

from memgene import Memory
from memgene.core import InputError
from memgene.llm.roles import RoleModels
from memgene.retrieval.config import RetrievalConfig
from memgene.testing import ScriptedLLM

NOW = "2024-08-01T00:00:00+00:00"
FACTS = RetrievalConfig(extraction="facts")


def facts(*statements: str) -> str:
    listed = ", ".join(f'{{"fact": "{s}", "turns": [1], "persons": ["Ana"]}}' for s in statements)
    return f'{{"facts": [{listed}]}}'


@pytest.fixture
def memory() -> Memory:
    replies = iter([facts("Ana lives in Porto."), facts("Ana lives in Lisbon.")])
    models = RoleModels.of({"task": ScriptedLLM(lambda request: next(replies, facts()))})
    return Memory(config=FACTS, embedder="hashing", models=models)


def test_the_newer_value_supersedes_the_older_and_both_are_kept(memory: Memory) -> None:
    with memory:
        old = memory.add([{"role": "Ana", "content": "I live in Porto."}], event_time="2024-05-08")
        new = memory.add([{"role": "Ana", "content": "I live in Lisbon."}], event_time="2024-07-08")
        found = memory.consolidate(now=NOW)
        assert (found.units, found.outdated, found.duplicates) == (2, 1, 0)
        (gone,) = found
        assert (gone.id, gone.event) == (old[0].id, "superseded")
        assert memory.get(old[0].id).status == "superseded"
        assert [hit.id for hit in memory.search("Where does Ana live?")] == [new[0].id]
        assert memory.consolidate(now=NOW).outdated == 0
        assert found.model_dump()["results"][0]["event"] == "superseded"


def test_a_scope_and_all_contradict_each_other(memory: Memory) -> None:
    with memory, pytest.raises(InputError, match="not both"):
        memory.consolidate(user_id="ana", all=True)
