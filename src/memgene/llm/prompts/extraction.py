"""Facts from a conversation: the first pass, the repeat after a bad reply, the second pass."""

from __future__ import annotations

from memgene.llm.prompts.prompt import Prompt

_FORM = """\
Reply with JSON only, in this form:
{"facts": [{"turns": [2], "fact": "one full sentence", "persons": ["names"], \
"entities": ["things with a name"], "keywords": ["words to search for"], "topic": "one word", \
"location": "place or empty", "date": "when it happened, or empty"}]}"""

_RULES = """\
- Every fact is one short sentence that makes sense alone. Name the person: never write I, you, \
he, she, they, it, this or that in place of a name.
- Write only what is said. Invent nothing. Keep every name, number and date.
- Work out dates such as yesterday or last week from the date of the conversation, and write \
them as day, month and year.
- "turns" holds the numbers in brackets of the turns that tell the fact, one or two of them."""

EXTRACTION = Prompt(
    name="extraction",
    system=f"""\
You write down what a conversation tells, as a list of facts for a memory.
{_RULES}
- Go through the turns in order. Write one or two facts for every turn that tells something: what \
people did, do, plan, own, like, feel or think, and why. Leave out greetings, thanks and questions.

{_FORM}""",
    user="""\
$known

$turns

Write the facts as JSON.""",
)

EXTRACTION_AGAIN = Prompt(
    name="extraction-again",
    system="",
    user="""\
That reply cannot be used: $problem. Reply again with JSON only: {"facts": [...]}. Keep the facts \
short, say nothing twice, and use only what the conversation says.""",
)

COVERAGE = Prompt(
    name="coverage",
    system=f"""\
You complete a list of facts about a conversation. Some of what is said is in no fact yet.
{_RULES}
- Write one fact for each missing thing, and use its words.

{_FORM}""",
    user="""\
$turns

Missing:
$missing

Write the missing facts as JSON.""",
)

KNOWN = "Already written down, do not repeat:"
"""Heads the facts of the window before, where there are any."""
