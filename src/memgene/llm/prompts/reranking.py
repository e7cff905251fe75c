"""Ordering what was found by how much it helps to answer."""

from __future__ import annotations

from memgene.llm.prompts.prompt import Prompt

RERANKING = Prompt(
    "reranking",
    "You decide which notes help to answer a question. You do not answer it.",
    """Notes:
$notes

Question: $question

List the numbers of the notes that help to answer the question, the most helpful first.
Leave out notes that do not help.""",
)
"""Slots: `notes`, one numbered line each from 1, and `question`."""
