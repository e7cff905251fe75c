"""What to remember of one attempt."""

from __future__ import annotations

from memgene.llm.prompts.prompt import Prompt

DISTILLATION = Prompt(
    "distillation",
    "You keep the memory of somebody who will meet similar questions and tasks again. You write "
    "down what one attempt teaches. You invent nothing.",
    """Notes that were at hand:
$notes

Question or task: $question

What was answered or done: $answer

Outcome: $outcome

Write what to remember of this attempt: one to three short sentences that make sense alone.
After a success, say what answered the question, or which steps in which order did the task.
After a failure, say what was tried and that it did not work, and what to do differently where the \
notes show it. Never tell what failed as if it were true.
Keep names, numbers and dates. Write in the language of the question.""",
)
"""Slots: `notes`, one numbered line each from 1, `question`, `answer`, `outcome` (CoEvo-Mem §4; the
published wording is not public). Nothing here tells the right answer."""
