"""What the agent of M* §4 says: extract, formulate, respond, and a second look at a draft.

The words of the memory in use (its four instructions) are slots; everything else is fixed.
"""

from __future__ import annotations

from memgene.llm.prompts.prompt import Prompt

EXTRACT = Prompt(
    "agent/extract",
    "You read one episode and record what a memory should keep of it. "
    "Use only what the episode says; leave a field empty rather than guess.",
    """$instruction

The episode$date:
$episode

Fill in the record $record, one JSON object and nothing else.""",
)

FORMULATE = Prompt(
    "agent/formulate",
    "You answer questions with the help of a memory. First you say what to look up in it.",
    """$instruction

The question$date:
$question

Fill in the query $record, one JSON object and nothing else.""",
)

RESPOND = Prompt(
    "agent/respond",
    "You answer questions from the retrieved memory. Every line of it that begins with a date in "
    "brackets was said on that date.",
    """<retrieved_memory>
$memory
</retrieved_memory>

$instruction
$style
If the memory holds nothing about what is asked, reply with the one word: unknown

Question$date: $question$choices
$form""",
)

ANSWER_FORM = "Answer:"
CONFIDENT_FORM = (
    "Reply with one JSON object: your answer, and your confidence that the memory supports it, "
    "from 0 (a guess) to 1 (it is stated there)."
)

SHORTER = Prompt(
    "agent/shorter",
    "",
    "That was too long and was cut off. Give the answer alone, in one short phrase.",
)

VERIFY = Prompt(
    "agent/verify",
    "You check an answer against the retrieved memory and correct it where needed.",
    """<retrieved_memory>
$memory
</retrieved_memory>

Question$date: $question$choices
Draft answer: $draft

$task
$style
Reply with one JSON object: the answer, and your confidence that the memory supports it, from 0 \
to 1.""",
)

STRICT_TASK = (
    "If the draft says that it does not know, look again for the answer in the memory. If the "
    "draft is not in the form asked for, put it into that form. Otherwise keep it."
)
MULTI_TASK = (
    "Name two or three possible answers, compare how well the memory supports each, and reply with "
    "the one that it supports best."
)

PROMPTS = (EXTRACT, FORMULATE, RESPOND, SHORTER, VERIFY)
