"""What a model is told that says what to search for."""

from __future__ import annotations

from memgene.llm.prompts.rewriting import DECOMPOSITION, INTENT_PLANNING
from memgene.llm.protocol import ChatMessage

SYSTEM = (
    "You prepare searches in somebody's memory. You know nothing about the people in it, so you "
    "never answer and never guess: you only say what to look for."
)
SPLIT = """\
Some questions join, compare or count several things, and each has to be looked up.
Split such a question into at most 3 short ones. Each must make sense alone: names, no pronouns.
A question about one thing is given back unchanged, alone.

Examples:
"When did Kim buy the boat?" -> ["When did Kim buy the boat?"]
"Who taught Kim's brother to sail?" -> ["Who taught Kim's brother to sail?"]
"Is Kim older than Lee's sister?" -> ["How old is Kim?", "How old is Lee's sister?"]
"How old was Kim when Lee moved?" -> ["When was Kim born?", "When did Lee move?"]

The question: Who sold the $5 hat?"""
FACTS = """\
Which facts must be found in the memory to answer a question? Often it is one, never more than 5.
Name each by a short phrase that says what is looked for, never what it might be.

Examples:
"When did Kim buy the boat?" -> ["date when Kim bought the boat"]
"Is Kim older than Lee's sister?" -> ["Kim's age or birthday", "age of Lee's sister"]

The question: Who sold the $5 hat?"""


def test_a_question_is_split() -> None:
    assert DECOMPOSITION.render(question="Who sold the $5 hat?", most="3") == (
        ChatMessage("system", SYSTEM),
        ChatMessage("user", SPLIT),
    )


def test_facts_are_named() -> None:
    assert INTENT_PLANNING.render(question="Who sold the $5 hat?", most="5") == (
        ChatMessage("system", SYSTEM),
        ChatMessage("user", FACTS),
    )
