"""The agent over a language model: what it says, when it asks, what it makes of replies."""

from __future__ import annotations

from datetime import datetime

import pytest

from memgene.agents.llm.agent import AgentSettings, LLMAgent
from memgene.agents.llm.dating import dated
from memgene.agents.llm.reply import answer_of, clean
from memgene.agents.registry import make_agent, useful_workers
from memgene.core import (
    AnswerPlan,
    ConfigError,
    Context,
    Episode,
    Message,
    ModelError,
    Question,
    ReplyError,
    Schema,
    SchemaField,
)
from memgene.harness.protocol import NO_ITEM, QUERY_TEXT
from memgene.llm.prompts.agent import PROMPTS
from memgene.llm.protocol import Finish, Reply
from memgene.llm.roles import RoleModels
from memgene.testing import ScriptedLLM

ASKED = Question("q", "Where does Ana row?", "g", time=datetime(2024, 5, 9))
MEMORY = Context("[8 May 2024] Ana: I rowed on the lake yesterday.")
NOTE = Schema("Note", (SchemaField("summary", "str", "what happened"),))
LOOKUP = Schema(
    "Lookup", (SchemaField("person", "str"), SchemaField("terms", "list[str]", "words to find"))
)


def said(llm: ScriptedLLM, call: int = -1) -> str:
    """The conversation of a call, as a person would read it."""
    return "\n".join(f"<{m.role}> {m.content}" for m in llm.requests[call].messages)


def test_an_answer_is_asked_for_with_the_memory_and_the_instructions() -> None:
    llm = ScriptedLLM(["the lake"])
    found = LLMAgent(llm).respond(ASKED, MEMORY, "Name the place.", "Ana rows.")
    assert (found.text, found.abstained) == ("the lake", False)
    assert (
        said(llm)
        == """\
<system> You answer questions from the retrieved memory. Every line of it that begins with a \
date in brackets was said on that date.
<user> <retrieved_memory>
Ana rows.

[8 May 2024] Ana: I rowed on the lake yesterday.
</retrieved_memory>

Name the place.
Answer with the fact alone: a name, a number, a date or a short phrase, no sentence around it.
If the memory holds nothing about what is asked, reply with the one word: unknown

Question (9 May 2024): Where does Ana row?
Answer:"""
    )


def test_a_plain_query_and_an_empty_record_need_no_call() -> None:
    llm = ScriptedLLM([])
    agent = LLMAgent(llm)
    assert agent.formulate(ASKED, QUERY_TEXT, "").values == {"query_text": ASKED.text}
    assert agent.extract(Episode("e", (Message("Hi."),), "g"), NO_ITEM, "").values == {}
    assert llm.requests == []


def test_a_query_with_fields_is_filled_and_its_conversation_goes_on_to_the_answer() -> None:
    llm = ScriptedLLM(['{"person": "Ana", "terms": ["row", "lake"]}', "the lake"])
    agent = LLMAgent(llm)
    query = agent.formulate(ASKED, LOOKUP, "Look up people.")
    assert query.values == {"person": "Ana", "terms": ["row", "lake"]}
    agent.respond(ASKED, MEMORY, "", query=query)
    roles = [m.role for m in llm.requests[1].messages]
    assert roles == ["system", "user", "assistant", "user"]
    assert "Look up people." in llm.requests[1].messages[1].content
    assert llm.requests[1].messages[2].content == '{"person":"Ana","terms":["row","lake"]}'


def test_an_episode_is_read_into_a_record() -> None:
    llm = ScriptedLLM(['{"summary": "Ana rowed."}'])
    episode = Episode("e", (Message("I rowed.", speaker="Ana"),), "g", datetime(2024, 5, 8))
    found = LLMAgent(llm).extract(episode, NOTE, "Keep what was done.")
    assert found.values == {"summary": "Ana rowed."}
    text = said(llm)
    assert "Keep what was done." in text
    assert "The episode (8 May 2024):\nAna: I rowed." in text
    assert "what happened" in text  # the description of the field


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        ("Answer: the lake", "the lake"),
        ('"the lake"', "the lake"),
        ("**the lake**", "the lake"),
        ("<think>Lake or sea?</think>\nthe lake", "the lake"),
        ('"Ana" and "Bo"', '"Ana" and "Bo"'),
        ("It's the lake's", "It's the lake's"),
    ],
)
def test_the_answer_alone_is_kept(reply: str, answer: str) -> None:
    assert clean(reply) == answer


@pytest.mark.parametrize(
    "reply",
    ["unknown", "Unknown.", "Not mentioned", "I don't know.", "The memory does not say where.", ""],
)
def test_a_reply_that_memory_does_not_tell_is_an_abstention(reply: str) -> None:
    assert answer_of(reply).abstained


@pytest.mark.parametrize("reply", ["an unknown poet", "not mentioned by Ana but by Bo", "None"])
def test_an_answer_that_only_sounds_like_one_is_none(reply: str) -> None:
    assert not answer_of(reply).abstained


def test_a_cut_answer_is_asked_for_again_and_never_adopted() -> None:
    cut = Reply("the lake the lake the", Finish.LENGTH)
    llm = ScriptedLLM([cut, "the lake"])
    assert LLMAgent(llm).respond(ASKED, MEMORY, "").text == "the lake"
    assert llm.requests[1].messages[-1].content.startswith("That was too long")
    with pytest.raises(ReplyError, match=r"no whole answer in 3 attempts: it ended by length"):
        LLMAgent(ScriptedLLM([cut, cut, cut])).respond(ASKED, MEMORY, "")


def test_a_model_that_fails_is_an_error_not_an_answer() -> None:
    with pytest.raises(ModelError, match="gone"):
        LLMAgent(ScriptedLLM([ModelError("gone")])).respond(ASKED, MEMORY, "")


def test_an_unsure_draft_is_verified_and_a_sure_one_is_not() -> None:
    plan = AnswerPlan("concise", "strict", 0.6)
    memory = Context(MEMORY.text, plan=plan)
    sure = ScriptedLLM(['{"answer": "the lake", "confidence": 0.9}'])
    assert LLMAgent(sure).respond(ASKED, memory, "").confidence == 0.9
    assert len(sure.requests) == 1
    unsure = ScriptedLLM(
        ['{"answer": "sea", "confidence": 0.4}', '{"answer": "lake", "confidence": 0.5}']
    )
    found = LLMAgent(unsure).respond(ASKED, memory, "")
    assert (found.text, found.rule) == ("lake", "verified:strict")
    assert "Draft answer: sea" in said(unsure)
    abstaining = ScriptedLLM(
        ['{"answer": "unknown", "confidence": 1}', '{"answer": "lake", "confidence": 1}']
    )
    assert LLMAgent(abstaining).respond(ASKED, memory, "").text == "lake"


def test_choices_are_lettered() -> None:
    llm = ScriptedLLM(["B"])
    LLMAgent(llm).respond(Question("q", "Where?", "g", choices=("sea", "lake")), MEMORY, "")
    assert "Question: Where?\nA. sea\nB. lake\nAnswer:" in said(llm)


def test_relative_dates_can_be_resolved_for_the_model() -> None:
    assert dated(MEMORY.text) == ("[8 May 2024] Ana: I rowed on the lake yesterday (7 May 2024).")
    assert dated("12 May 2024\nBo: I came last Friday, no, on 3 May 2024.") == (
        "12 May 2024\nBo: I came last Friday (10 May 2024), no, on 3 May 2024."
    )
    assert dated("Ana: I rowed yesterday.") == "Ana: I rowed yesterday."
    llm = ScriptedLLM(["7 May 2024"])
    LLMAgent(llm, AgentSettings(resolve_dates=True)).respond(ASKED, MEMORY, "")
    assert "yesterday (7 May 2024)" in said(llm)


def test_the_agent_is_made_from_the_model_of_role_task() -> None:
    models = RoleModels.of({"task": ScriptedLLM(["here"], concurrency=100)})
    agent = make_agent("llm", models)
    assert agent.name == "llm:scripted"
    assert make_agent("llm+dates", models).name == "llm:scripted+dates"
    assert useful_workers(agent) == 64
    assert useful_workers(make_agent("offline")) == 1
    with pytest.raises(ConfigError, match=r"\[llm.task\]"):
        make_agent("llm")


def test_every_prompt_renders_with_all_its_slots() -> None:
    for prompt in PROMPTS:
        filled = prompt.render(**{slot: f"<{slot}>" for slot in prompt.slots})
        text = "\n".join(m.content for m in filled)
        assert all(f"<{slot}>" in text for slot in prompt.slots)
        assert "$" not in text
