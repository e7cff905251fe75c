"""The wording of typed replies."""

from __future__ import annotations

from memgene.llm import ChatMessage
from memgene.llm.prompts.structured import AGAIN, FORM


def test_the_form() -> None:
    assert FORM.render(kind="object", sketch='{"a": "..."}', fields='- "a": text') == (
        ChatMessage(
            "user",
            'Reply with one JSON object and nothing else, in this form:\n{"a": "..."}\n- "a": text',
        ),
    )


def test_the_request_to_write_again() -> None:
    assert AGAIN.render(kind="array", fault="it is empty") == (
        ChatMessage(
            "user",
            "That reply cannot be used: it is empty.\n"
            "Write the whole JSON array again, corrected, and nothing else.",
        ),
    )
