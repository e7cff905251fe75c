"""How a model is told which JSON to write, and what was wrong with what it wrote."""

from __future__ import annotations

from memgene.llm.prompts.prompt import Prompt

FORM = Prompt(
    name="structured.form",
    system="",
    user="""Reply with one JSON $kind and nothing else, in this form:
$sketch
$fields""",
)
"""Appended to the last user message of a request. Slots: kind (object or array), sketch (the form
in one line), fields (what each holds)."""

AGAIN = Prompt(
    name="structured.again",
    system="",
    user="""That reply cannot be used: $fault.
Write the whole JSON $kind again, corrected, and nothing else.""",
)
"""Said after a reply that could not be used. Slots: fault, kind."""
