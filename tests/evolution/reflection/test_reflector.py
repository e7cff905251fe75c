"""A reflector asks, applies, says what cannot be applied, and gives up in good time."""

from __future__ import annotations

from typing import Any, Protocol

import pytest

from memgene.core import Budget, BudgetExhaustedError, ConfigError, InputError, ModelError
from memgene.evolution.reflection.material import Material, Scope, ToolkitNotes
from memgene.evolution.reflection.prompt import (
    PromptTooLongError,
    reflection_messages,
    repair_messages,
)
from memgene.evolution.reflection.reflector import NoProposalError, Reflector
from memgene.llm.protocol import ChatMessage, Finish, Reply
from memgene.llm.roles import RoleModels
from memgene.testing import ScriptedLLM

GOOD = """\
The newest text is not the one asked for.

*** Commit Message
Title: Return the first text
- Cause: the newest hides it
- Change: index 0

*** Begin Patch
*** Update File: program.py
@@ def read
     def read(self, query: Query) -> str:
-        return self.texts[-1][:3000] if self.texts else "Nothing yet."
+        return self.texts[0][:3000] if self.texts else "Nothing yet."
*** End Patch
"""
MISPLACED = GOOD.replace("self.texts[-1]", "self.store[-1]")
NEW_STRING = GOOD.split("@@")[0] + (
    "@@\n"
    '-INSTRUCTION_RESPONSE = "Answer in a few words."\n'
    '+INSTRUCTION_RESPONSE = "Answer in one word."\n'
    "*** End Patch\n"
)


class Make(Protocol):
    def __call__(self, **given: Any) -> Material: ...


def changed(source: str) -> str:
    return source.replace("self.texts[-1]", "self.texts[0]")


def test_a_proposal_is_the_patched_program_with_its_message(material: Make, source: str) -> None:
    llm = ScriptedLLM([Reply(GOOD, tokens_in=900, tokens_out=80)])
    made = Reflector(llm).propose(material())
    assert made.source == changed(source)
    assert made.title == "Return the first text"
    assert made.body == "- Cause: the newest hides it\n- Change: index 0"
    assert (made.form, made.tokens, made.attempts) == ("v4a", 980, 1)
    assert made.exchange == (*reflection_messages(material()), ChatMessage("assistant", GOOD))


def test_a_request_carries_seed_temperature_and_bound(material: Make) -> None:
    llm = ScriptedLLM([GOOD, GOOD])
    reflector = Reflector(llm, temperature=0.3, reply_tokens=500)
    reflector.propose(material(), seed=11)
    reflector.propose(material(), seed=12)
    first, second = llm.requests
    assert (first.seed, first.temperature, first.max_tokens) == (11, 0.3, 500)
    assert second.seed == 12
    assert first.messages == second.messages


def test_what_cannot_be_applied_goes_back_to_the_model(material: Make, source: str) -> None:
    llm = ScriptedLLM([Reply(MISPLACED, tokens_in=5, tokens_out=1), Reply(GOOD, tokens_in=7)])
    made = Reflector(llm).propose(material())
    assert made.source == changed(source)
    assert (made.tokens, made.attempts) == (13, 2)
    asked = llm.requests[1].messages
    assert asked[:2] == llm.requests[0].messages
    assert asked[2] == ChatMessage("assistant", MISPLACED)
    assert asked[3].role == "user"
    assert "Nothing of this was applied" in asked[3].content
    assert 'self.texts[-1][:3000] if self.texts else "Nothing yet."' in asked[3].content
    assert made.exchange == (*asked, ChatMessage("assistant", GOOD))


def test_only_the_last_fault_is_told_so_that_prompts_do_not_grow(material: Make) -> None:
    llm = ScriptedLLM(["no change", MISPLACED, GOOD])
    made = Reflector(llm).propose(material())
    assert [len(r.messages) for r in llm.requests] == [2, 4, 4]
    assert llm.requests[2].messages[2].content == MISPLACED
    assert len(made.exchange) == 7


def test_after_the_last_attempt_there_is_no_proposal(material: Make) -> None:
    llm = ScriptedLLM([Reply("no change", tokens_in=2), Reply(MISPLACED, tokens_in=3)])
    with pytest.raises(NoProposalError, match="no usable change in 2 replies") as refused:
        Reflector(llm, attempts=2).propose(material())
    assert (refused.value.tokens, refused.value.attempts) == (5, 2)
    assert refused.value.reason
    assert [m.role for m in refused.value.exchange] == [
        "system",
        "user",
        "assistant",
        "user",
        "assistant",
    ]


@pytest.mark.parametrize(
    "reply",
    [
        Reply(GOOD, Finish.LENGTH),
        Reply(GOOD, Finish.OTHER),
        Reply(GOOD[: GOOD.index("*** End")]),
        Reply(""),
        Reply("Nothing needs to change."),
        Reply(GOOD.replace("+        return self.texts[0]", "+        return self.texts[-1]")),
    ],
    ids=["length", "other", "cut", "empty", "prose", "same"],
)
def test_such_a_reply_is_never_adopted(material: Make, reply: Reply) -> None:
    llm = ScriptedLLM([reply])
    with pytest.raises(NoProposalError):
        Reflector(llm, attempts=1).propose(material())
    again = ScriptedLLM([reply, GOOD])
    assert Reflector(again).propose(material()).attempts == 2
    assert all(m.content.strip() for m in again.requests[1].messages)


def test_a_model_that_repeats_itself_is_asked_more_warmly(material: Make) -> None:
    llm = ScriptedLLM(["no", "no", GOOD])
    Reflector(llm, temperature=0.0).propose(material(), seed=4)
    assert [r.seed for r in llm.requests] == [4, 4, 6]
    assert [r.temperature for r in llm.requests] == [0.0, 0.0, 0.7]


def test_a_whole_program_is_taken_too(material: Make, source: str) -> None:
    llm = ScriptedLLM([f"All new.\n\n```python\n{changed(source)}```\n"])
    made = Reflector(llm).propose(material())
    assert made.source.strip() == changed(source).strip()
    assert made.form == "whole"


def test_a_frozen_side_is_defended(material: Make, source: str) -> None:
    llm = ScriptedLLM([NEW_STRING, GOOD])
    made = Reflector(llm).propose(material(scope=Scope.CODE))
    assert made.source == changed(source)
    assert "INSTRUCTION_RESPONSE may not change" in llm.requests[1].messages[-1].content
    strings = ScriptedLLM([GOOD, NEW_STRING])
    assert Reflector(strings).propose(material(scope=Scope.INSTRUCTIONS)).attempts == 2


def test_long_replies_are_shown_again_in_short(material: Make) -> None:
    llm = ScriptedLLM(["x" * 50_000, Reply("y" * 50_000, Finish.LENGTH), GOOD])
    Reflector(llm).propose(material())
    assert 11_900 < len(llm.requests[1].messages[2].content) <= 12_000
    assert 1_400 < len(llm.requests[2].messages[2].content) <= 1_500


@pytest.mark.parametrize("error", [BudgetExhaustedError("b"), ConfigError("c"), ModelError("m")])
def test_errors_of_the_model_pass_through(material: Make, error: Exception) -> None:
    with pytest.raises(type(error)):
        Reflector(ScriptedLLM([error])).propose(material())
    with pytest.raises(type(error)):
        Reflector(ScriptedLLM(["no change", error])).repair("x = 1\n", "wrong", 3)


def test_a_budget_ends_between_two_attempts(material: Make) -> None:
    llm = ScriptedLLM(lambda request: "no change")
    with RoleModels.of({"reflector": llm}) as models:
        reflector = Reflector(models.need("reflector", "a test"))
        with models.ledger.limited(Budget(calls=2)), pytest.raises(BudgetExhaustedError):
            reflector.propose(material())
    assert len(llm.requests) == 2


def test_a_repair_mends_what_was_found(source: str) -> None:
    llm = ScriptedLLM([GOOD])
    made = Reflector(llm).repair(source, "smoke/raised: IndexError", 3)
    assert made.source == changed(source)
    (request,) = llm.requests
    assert request.messages == repair_messages(
        source, "smoke/raised: IndexError", toolkit=ToolkitNotes()
    )


def test_a_repair_uses_no_more_replies_than_are_left(source: str) -> None:
    llm = ScriptedLLM([MISPLACED, MISPLACED])
    with pytest.raises(NoProposalError) as refused:
        Reflector(llm, attempts=9).repair(source, "wrong", 2)
    assert refused.value.attempts == 2
    with pytest.raises(InputError, match="at least 1"):
        Reflector(llm).repair(source, "wrong", 0)


def test_a_repair_keeps_to_the_side_of_the_original(source: str) -> None:
    broken = source.replace("self.texts.append", "self.text.append")
    mended = GOOD.replace("self.texts[0]", "self.texts[-1][:9]")
    llm = ScriptedLLM([NEW_STRING, mended])
    made = Reflector(llm).repair(broken, "wrong", 2, scope=Scope.CODE, original=source)
    assert made.attempts == 2


def test_a_program_too_long_for_the_prompt_is_refused_before_any_call(material: Make) -> None:
    llm = ScriptedLLM([])
    with pytest.raises(PromptTooLongError, match="needs"):
        Reflector(llm, max_prompt_tokens=2_000).propose(material(source="x = 1\n" * 2_000))
    assert llm.requests == []


def test_at_least_one_attempt_is_needed() -> None:
    with pytest.raises(InputError, match="attempts"):
        Reflector(ScriptedLLM([]), attempts=0)
