"""What a model is told that writes a stage of retrieval."""

from __future__ import annotations

from memgene.llm.prompts.stages import MEND, STAGE

TOLD = """\
## Questions on which the memory failed
Question: Where is the $5 hat?

## What a stage is
A module that says KIND, one of the kinds below, and ABOUT, one line, as plain literals, and \
defines the functions of its kind:
- rescorer: `def scores(query, hits)`

A unit is a dict of
- `id`: str
A hit has these too:
- `score`: float
It may import re, nothing else.

Write one stage."""


def test_failures_contract_and_what_may_be_imported() -> None:
    system, user = STAGE.render(
        failures="Question: Where is the $5 hat?",
        contract="- rescorer: `def scores(query, hits)`",
        unit="- `id`: str",
        hit="- `score`: float",
        modules="re",
    )
    assert system.content.endswith("write for the kind of question, never for a single one.")
    assert user.content == TOLD


def test_what_is_to_be_mended() -> None:
    [message] = MEND.render(findings="static/syntax (line 2): this is not Python")
    assert message.role == "user"
    assert "static/syntax (line 2): this is not Python" in message.content
