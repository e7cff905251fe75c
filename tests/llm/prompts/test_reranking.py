"""What a model is told that orders what was found."""

from __future__ import annotations

from memgene.llm.prompts.reranking import RERANKING
from memgene.llm.protocol import ChatMessage

USER = """\
Notes:
1. Ben: tea
2. Anna: a red boat

Question: Which boat?

List the numbers of the notes that help to answer the question, the most helpful first.
Leave out notes that do not help."""


def test_notes_come_first_and_the_question_after_them() -> None:
    rendered = RERANKING.render(notes="1. Ben: tea\n2. Anna: a red boat", question="Which boat?")
    assert rendered == (
        ChatMessage(
            "system", "You decide which notes help to answer a question. You do not answer it."
        ),
        ChatMessage("user", USER),
    )
