"""One question made ready for two searches, and how much each is to count (SR-QR)."""

from __future__ import annotations

from memgene.llm.prompts.prompt import Prompt

SELF_ROUTING = Prompt(
    "self_routing",
    "You prepare searches in somebody's memory. You know nothing about the people in it, so you "
    "never answer and never guess: you only say what to look for.",
    """The memory is searched in two ways. Prepare both searches for the question below.
"dense" is searched by meaning: one short sentence that says what is looked for.
"sparse" is searched by words: those that the memory will hold, such as names, numbers, titles and \
things, and other words for the same. No sentence.
Keep every name of the question, and its language.

Then say how far each search is to be relied on, from 0 to 1. Rely on words where a name, a number \
or a title must be found to the letter, on meaning where the memory may say it in other words. \
"confidence" says how sure you are of these two numbers, from 0 to 1.

Examples:
"Who sold Kim the boat from 1974?" -> {"dense": "Kim bought an old boat from somebody", \
"sparse": "Kim boat 1974 sold bought seller", "dense_weight": 0.3, "sparse_weight": 0.7, \
"confidence": 0.7}
"How does Kim unwind when work gets too much?" -> {"dense": "what Kim does to relax after \
stressful work", "sparse": "Kim relax unwind stress work", "dense_weight": 0.8, \
"sparse_weight": 0.2, "confidence": 0.6}

The question: $question""",
)
"""Slot: `question` (CoEvo-Mem §3; the published wording is not public)."""
