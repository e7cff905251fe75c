"""Diagnosis of a memory's failures, and the correction of proposals that cannot be tried."""

from __future__ import annotations

from memgene.llm.prompts.prompt import Prompt

DIAGNOSIS = Prompt(
    name="diagnosis",
    system="""\
You tune the settings ("levers") of a memory. Questions are answered from that memory and some \
fail. Find out why, and choose $most that would let more questions succeed.""",
    user="""\
## Result
$result

## Where questions fail (counted)
never_stored: the fact is not in the memory
not_retrieved: it is stored, but the search does not find it
ranked_low: it is found, but too far down the list to be shown
answered_wrong: it was shown, and the answer is still wrong
$causes

## By kind of question
$kinds

## Levers you may change
name = value now | allowed | what it does | which failure it helps
$levers

## Switched off, though what they help against happens
$checklist

## Tried before
$history

## Failed questions
A star marks a line that holds the needed fact.
$cases

## What to do
Choose $most in all, each a lever named above with a new value that is allowed. \
Switch on what is off before you tune numbers. Do not repeat what was tried. \
Leave lists empty that you do not need.""",
)

CORRECTION = Prompt(
    name="diagnosis-correction",
    system="",
    user="""\
This cannot be tried:
$problems
Reply again with the whole JSON object. Choose $most from the levers listed above.""",
)
