"""What a memory's stages say of an answer: instructions for one question, and a check of drafts."""

from __future__ import annotations

from dataclasses import replace

from memgene.agents.llm.agent import LLMAgent
from memgene.agents.offline import OfflineAgent
from memgene.agents.phases import MemoryPhases, PhaseCachedAgent
from memgene.core import AnswerPlan, Context, Question
from memgene.testing import ScriptedAgent, ScriptedLLM

ASKED = Question("q", "Where does Ana live?", "g")
TEXT = "[8 May 2024] Ana: I live in Porto."


def memory(*refused: str, instruction: str = "", check: str = "mine:1") -> Context:
    plan = AnswerPlan(
        instruction=instruction,
        check=check,
        accepts=lambda context, answer: context == TEXT and answer not in refused,
    )
    return Context(TEXT, plan=plan)


def said(llm: ScriptedLLM, call: int) -> str:
    return "\n".join(m.content for m in llm.requests[call].messages)


def test_the_instruction_follows_that_of_the_memory() -> None:
    llm = ScriptedLLM(["Porto"])
    LLMAgent(llm).respond(ASKED, memory(instruction="Name a town."), "Be short.")
    assert "Be short.\nName a town.\n" in said(llm, 0)


def test_a_refused_draft_is_verified_against_the_memory() -> None:
    llm = ScriptedLLM(["Lisbon", '{"answer": "Porto", "confidence": 0.9}'])
    found = LLMAgent(llm).respond(ASKED, memory("Lisbon"), "")
    assert (found.text, found.rule) == ("Porto", "verified:strict")
    assert "Draft answer: Lisbon" in said(llm, 1)


def test_an_accepted_draft_and_an_abstention_stand() -> None:
    for reply in ("Porto", "unknown"):
        llm = ScriptedLLM([reply])
        LLMAgent(llm).respond(ASKED, memory("Lisbon", "unknown", ""), "")
        assert len(llm.requests) == 1


def test_without_a_model_a_refused_draft_becomes_an_abstention() -> None:
    agent = OfflineAgent()
    assert agent.respond(ASKED, memory("Lisbon"), "").text == "Porto"
    refused = agent.respond(ASKED, memory("Porto"), "")
    assert (refused.abstained, refused.rule) == (True, "refused")


def test_kept_answers_are_those_of_the_same_instruction_and_check() -> None:
    inner = ScriptedAgent({ASKED.id: "Porto"})
    agent = PhaseCachedAgent(inner, MemoryPhases())
    plain = Context(TEXT, plan=AnswerPlan())
    for context in (plain, memory(), memory(instruction="x"), memory(check="mine:2"), plain):
        agent.respond(ASKED, context, "")
    agent.respond(ASKED, replace(memory(), notes={"n": 1}), "")
    assert len([step for step, _ in inner.seen if step == "respond"]) == 4
