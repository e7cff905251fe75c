"""Turning a question into searches: sub-questions, and the facts an answer needs."""

from __future__ import annotations

from memgene.llm.prompts.prompt import Prompt

_SYSTEM = (
    "You prepare searches in somebody's memory. You know nothing about the people in it, so you "
    "never answer and never guess: you only say what to look for."
)

DECOMPOSITION = Prompt(
    "rewriting/decomposition",
    _SYSTEM,
    """Some questions join, compare or count several things, and each has to be looked up.
Split such a question into at most $most short ones. Each must make sense alone: names, no pronouns.
A question about one thing is given back unchanged, alone.

Examples:
"When did Kim buy the boat?" -> ["When did Kim buy the boat?"]
"Who taught Kim's brother to sail?" -> ["Who taught Kim's brother to sail?"]
"Is Kim older than Lee's sister?" -> ["How old is Kim?", "How old is Lee's sister?"]
"How old was Kim when Lee moved?" -> ["When was Kim born?", "When did Lee move?"]

The question: $question""",
)
"""Slots: `question`, and `most` sub-questions (EvolveMem §3, query decomposition)."""

INTENT_PLANNING = Prompt(
    "rewriting/intent_planning",
    _SYSTEM,
    """Which facts must be found in the memory to answer a question? Often it is one, never more \
than $most.
Name each by a short phrase that says what is looked for, never what it might be.

Examples:
"When did Kim buy the boat?" -> ["date when Kim bought the boat"]
"Is Kim older than Lee's sister?" -> ["Kim's age or birthday", "age of Lee's sister"]

The question: $question""",
)
"""Slots: `question`, and `most` facts (EvolveMem, intent planning)."""
