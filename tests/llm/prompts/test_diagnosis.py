"""The wording of the diagnosis prompts, as it is sent."""

from __future__ import annotations

from memgene.llm.prompts.diagnosis import CORRECTION, DIAGNOSIS

VALUES = {
    "most": "at most 2 changes",
    "result": "RESULT",
    "causes": "CAUSES",
    "kinds": "KINDS",
    "levers": "LEVERS",
    "checklist": "OFF",
    "history": "HISTORY",
    "cases": "CASES",
}


def test_the_diagnosis_prompt_is_this() -> None:
    system, user = DIAGNOSIS.render(**VALUES)
    assert (system.role, user.role) == ("system", "user")
    assert system.content == (
        'You tune the settings ("levers") of a memory. Questions are answered from that memory '
        "and some fail. Find out why, and choose at most 2 changes that would let more questions "
        "succeed."
    )
    assert (
        user.content
        == """\
## Result
RESULT

## Where questions fail (counted)
never_stored: the fact is not in the memory
not_retrieved: it is stored, but the search does not find it
ranked_low: it is found, but too far down the list to be shown
answered_wrong: it was shown, and the answer is still wrong
CAUSES

## By kind of question
KINDS

## Levers you may change
name = value now | allowed | what it does | which failure it helps
LEVERS

## Switched off, though what they help against happens
OFF

## Tried before
HISTORY

## Failed questions
A star marks a line that holds the needed fact.
CASES

## What to do
Choose at most 2 changes in all, each a lever named above with a new value that is allowed. \
Switch on what is off before you tune numbers. Do not repeat what was tried. \
Leave lists empty that you do not need."""
    )


def test_the_correction_prompt_is_this() -> None:
    (message,) = CORRECTION.render(problems="- P", most="one change")
    assert message.role == "user"
    assert (
        message.content
        == """\
This cannot be tried:
- P
Reply again with the whole JSON object. Choose one change from the levers listed above."""
    )
