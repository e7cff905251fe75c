"""What a model is told that writes a stage of retrieval, and what it is told to mend."""

from __future__ import annotations

from memgene.llm.prompts.prompt import Prompt

STAGE = Prompt(
    name="stage",
    system="""\
You improve the retrieval of an agent's memory by writing one small stage of it in Python. A stage \
is run in a sandbox: it sees its arguments and nothing else, and must be pure. It is kept only if \
it helps on questions that you are not shown, so write for the kind of question, never for a \
single one.""",
    user="""\
## Questions on which the memory failed
$failures

## What a stage is
A module that says KIND, one of the kinds below, and ABOUT, one line, as plain literals, and \
defines the functions of its kind:
$contract

A unit is a dict of
$unit
A hit has these too:
$hit
It may import $modules, nothing else.

Write one stage.""",
)

MEND = Prompt(
    name="stage-mend",
    system="",
    user="""\
The stage cannot be run:

$findings

Write it once more, whole, with this mended.""",
)
