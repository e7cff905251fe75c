"""Facts from a conversation: the first pass, the repeat after a bad reply, the second pass."""

from __future__ import annotations

from memgene.llm.prompts.prompt import Prompt

_FORM = """\
Reply with JSON only, as in this example:
Date: Friday, 3 March 2017
[1] Omar: Hi Lena! Guess what, I sold my old bike in Ghent last Sunday.
[2] Lena: Hey, great! How are you?
[3] Omar: Fine. Are you still saving 40 euros a week for a Vespa?
[4] Lena: Yes, I want to see Italy with it. My sister Ida wants to come along.
{"facts": [
{"fact": "Omar sold his old bike in Ghent on 26 February 2017.", "turns": [1], \
"persons": ["Omar"], "location": "Ghent", "date": "26 February 2017", "topic": "bike", \
"keywords": ["sold"]},
{"fact": "Lena saves 40 euros a week for a Vespa.", "turns": [3, 4], "persons": ["Lena"], \
"entities": ["Vespa"], "topic": "money"},
{"fact": "Lena wants to see Italy with her Vespa.", "turns": [4], "persons": ["Lena"], \
"entities": ["Vespa", "Italy"], "topic": "travel"},
{"fact": "Ida is Lena's sister and wants to see Italy with her.", "turns": [4], \
"persons": ["Ida", "Lena"], "entities": ["Italy"], "topic": "family"}]}"""

_RULES = """\
- Every fact is one short sentence that makes sense alone. Name the person: never write I, you, \
he, she, they, it, this or that in place of a name.
- Write the thing itself, not that somebody says, asks, shares or answers something.
- Write only what is said. Invent nothing. Keep every name, number and date.
- Work out dates such as yesterday or last week from the date of the conversation, and write \
them as day, month and year.
- "turns" holds the numbers in brackets of the turns that tell the fact, one or two of them. Leave \
out what a fact does not have: entities, location, date."""

EXTRACTION = Prompt(
    name="extraction",
    system=f"""\
You write down what a conversation tells, as a list of facts for a memory.
{_RULES}
- Write down everything people did, do, plan, own, like, feel or think, and why. A turn may \
give several facts. Greetings, thanks and questions give none.

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
