"""What a model is told that routes a question, attributes an answer, or distils an attempt."""

from __future__ import annotations

from memgene.llm.prompts.attribution import ATTRIBUTION
from memgene.llm.prompts.distillation import DISTILLATION
from memgene.llm.prompts.self_routing import SELF_ROUTING
from memgene.llm.protocol import ChatMessage

ROUTE = """\
The memory is searched in two ways. Prepare both searches for the question below.
"dense" is searched by meaning: one short sentence that says what is looked for.
"sparse" is searched by words: those that the memory will hold, such as names, numbers, titles and \
things, and other words for the same. No sentence.
Keep every name of the question, and its language.

Then say how far each search is to be relied on, from 0 to 1. Rely on words where a name, a number \
or a title must be found to the letter, on meaning where the memory may say it in other words. \
"confidence" says how sure you are of these two numbers, from 0 to 1.

Examples:
"Who sold Kim the boat from 1974?" -> {"dense": "Kim bought an old boat from somebody", "sparse": \
"Kim boat 1974 sold bought seller", "dense_weight": 0.3, "sparse_weight": 0.7, "confidence": 0.7}
"How does Kim unwind when work gets too much?" -> {"dense": "what Kim does to relax after \
stressful work", "sparse": "Kim relax unwind stress work", "dense_weight": 0.8, "sparse_weight": \
0.2, "confidence": 0.6}

The question: Who sold the $5 hat?"""

ATTRIBUTE = """\
Notes:
1. Ben: tea
2. Anna: a red boat

Question: Which boat?

Answer: the red one

Give every note, by its number, a share from 0 to 1:
1 - the answer rests on this note, it says what the answer says
0.5 - the note helped to understand the question or to find the answer
0 - without this note the answer would be the same"""

DISTIL = """\
Notes that were at hand:
1. Anna: a red boat

Question or task: Which boat?

What was answered or done: the red one

Outcome: success (reward 1.00 of 1)

Write what to remember of this attempt: one to three short sentences that make sense alone.
After a success, say what answered the question, or which steps in which order did the task.
After a failure, say what was tried and that it did not work, and what to do differently where the \
notes show it. Never tell what failed as if it were true.
Keep names, numbers and dates. Write in the language of the question."""


def test_a_question_is_made_ready_for_both_routes() -> None:
    assert SELF_ROUTING.render(question="Who sold the $5 hat?") == (
        ChatMessage(
            "system",
            "You prepare searches in somebody's memory. You know nothing about the people in it, "
            "so you never answer and never guess: you only say what to look for.",
        ),
        ChatMessage("user", ROUTE),
    )


def test_an_answer_is_attributed_to_notes() -> None:
    rendered = ATTRIBUTION.render(
        notes="1. Ben: tea\n2. Anna: a red boat", question="Which boat?", answer="the red one"
    )
    assert rendered == (
        ChatMessage(
            "system",
            "You see notes from a memory, a question, and what somebody answered or did who had "
            "read the notes. You say how much each note went into it. You do not judge whether it "
            "is right.",
        ),
        ChatMessage("user", ATTRIBUTE),
    )


def test_an_attempt_is_distilled() -> None:
    rendered = DISTILLATION.render(
        notes="1. Anna: a red boat",
        question="Which boat?",
        answer="the red one",
        outcome="success (reward 1.00 of 1)",
    )
    assert rendered == (
        ChatMessage(
            "system",
            "You keep the memory of somebody who will meet similar questions and tasks again. You "
            "write down what one attempt teaches. You invent nothing.",
        ),
        ChatMessage("user", DISTIL),
    )
