"""The wording for readers of plain text, and of the doctor's one call."""

from __future__ import annotations

from memgene.llm.prompts.greeting import GREETING
from memgene.llm.prompts.plain_schema import PLAIN_SCHEMA
from memgene.llm.protocol import ChatMessage


def test_the_schema_is_told_so() -> None:
    assert PLAIN_SCHEMA.render(schema="{}") == (
        ChatMessage(
            "user",
            "Reply with one JSON value that fits this JSON schema, and nothing else:\n\n{}",
        ),
    )


def test_the_doctor_says_this() -> None:
    assert GREETING.render() == (ChatMessage("user", "Say hello."),)
