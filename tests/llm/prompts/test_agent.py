"""What the agent says to a model, word for word (`test_llm_agent.py` shows it filled)."""

from __future__ import annotations

from memgene.llm.prompts.agent import PROMPTS


def test_wording() -> None:
    """A change of words is a change of results: take over the digest on purpose."""
    assert {p.name: p.digest for p in PROMPTS} == {
        "agent/extract": "51bb1ac1651b",
        "agent/formulate": "1341375a315a",
        "agent/respond": "a59e981a4258",
        "agent/shorter": "a092674c142e",
        "agent/verify": "a5b7d794d0bc",
    }
