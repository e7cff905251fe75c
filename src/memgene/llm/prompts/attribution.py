"""How much each note that was shown went into an answer."""

from __future__ import annotations

from memgene.llm.prompts.prompt import Prompt

ATTRIBUTION = Prompt(
    "attribution",
    "You see notes from a memory, a question, and what somebody answered or did who had read the "
    "notes. You say how much each note went into it. You do not judge whether it is right.",
    """Notes:
$notes

Question: $question

Answer: $answer

Give every note, by its number, a share from 0 to 1:
1 - the answer rests on this note, it says what the answer says
0.5 - the note helped to understand the question or to find the answer
0 - without this note the answer would be the same""",
)
"""Slots: `notes`, one numbered line each from 1, `question`, `answer` (CoEvo-Mem §4; the published
wording is not public). Nothing here tells the right answer or the reward."""
