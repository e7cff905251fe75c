"""Whether two consecutive memories belong together."""

from __future__ import annotations

from memgene.llm.prompts.prompt import Prompt

TIME_LINKS = Prompt(
    "time_links",
    "You look at two notes that were made one right after the other, and decide whether they "
    "belong together. You add nothing of your own.",
    """Earlier: $earlier

Later: $later

They belong together when the later note goes on with what the earlier one is about: it answers \
it, follows from it, or is the next step of the same matter.
They do not when the later note begins something else, even if both were made by the same person \
or at the same time.""",
)
"""Slots: `earlier` and `later`, one line each (CoEvo-Mem §2; the published wording is not
public)."""
