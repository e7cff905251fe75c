"""The wording of judges. Another wording is another judge: its figures do not compare."""

from __future__ import annotations

import pytest

from memgene.llm import ChatMessage
from memgene.llm.prompts import judges
from memgene.llm.prompts.prompt import Prompt

ALL = [value for value in vars(judges).values() if isinstance(value, Prompt)]

TEMPORAL = """\
You grade answers. Compare the given answer with the right answer and decide whether the given
answer is correct. Rules:
- Everything in the right answer must be in the given answer: each name, number, place and item.
- Nothing in the given answer may contradict the right answer.
- The same meaning in other words is fine. Extra detail is fine when it contradicts nothing.
- An answer that is vague, partial, or only about the same topic is not correct.
- Dates and times must agree. How they are written does not matter: 2021-03-09 is 9 March 2021.
- A number of days, weeks, months or years may be off by one: 18 days is correct for 19 days.

First say in one short sentence what the given answer says and what the right answer says. Then
decide."""


def test_a_strict_judge_is_told_rules_first_and_the_pair_last() -> None:
    assert judges.JUDGE_STRICT_TEMPORAL.render(
        question="How long was it?", gold="19 days", answer="18 days"
    ) == (
        ChatMessage("system", TEMPORAL),
        ChatMessage(
            "user", "Question: How long was it?\n\nRight answer: 19 days\n\nGiven answer: 18 days"
        ),
    )


def test_a_criterion_is_told_rules_first_then_the_conversation_then_the_criterion() -> None:
    system, user = judges.RUBRIC_CRITERION.render(conversation="user: hi", criterion="Greets.")
    assert system.content.startswith("You read a conversation and one criterion.")
    for rule in ("all of them must hold", "need not be complete", "something bad"):
        assert rule in system.content
    assert user.content == (
        "<conversation>\nuser: hi\n</conversation>\n\n<criterion>\nGreets.\n</criterion>"
    )


def test_no_wording_changes_unseen() -> None:
    assert {prompt.name: prompt.digest for prompt in ALL} == {
        "judge_strict": "e42e5e13a095",
        "judge_strict_temporal": "23d427c9f871",
        "judge_strict_update": "91a77eb859d6",
        "judge_lenient": "4eb149ae178a",
        "judge_lenient_temporal": "8933179f4a52",
        "judge_lenient_update": "b1f49ca4d6ee",
        "judge_preference": "38afac0d137d",
        "judge_abstention": "59fcf6f72d64",
        "rubric_criterion": "a2e008c93259",
    }


@pytest.mark.parametrize("prompt", ALL, ids=lambda p: p.name)
def test_what_is_judged_stands_in_the_users_message_alone(prompt: Prompt) -> None:
    assert "$" not in prompt.system
    assert "answer" in prompt.slots or prompt is judges.RUBRIC_CRITERION


def test_only_a_question_without_an_answer_is_judged_without_one() -> None:
    without = [prompt.name for prompt in ALL if "gold" not in prompt.slots]
    assert without == ["judge_abstention", "rubric_criterion"]
