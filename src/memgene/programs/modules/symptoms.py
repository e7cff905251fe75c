"""From what went wrong with a question to the levers that may mend it.

A program has no pool and no ranking to look at: what can be told is whether the gold evidence
stands in the text that was read, how full that text is, and whether the answer was right.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType

from memgene.programs.modules.recipe import SLOTS, Slot

_FULL = 2500  # characters from which a read has hardly room for another line


class Symptom(StrEnum):
    """Why a question lost score."""

    NOTHING_READ = "nothing_read"  # the text is empty or one fixed sentence
    NOT_FOUND = "not_found"  # there was room left, yet the evidence is not in the text
    CROWDED_OUT = "crowded_out"  # the text is full, and the evidence is not in it
    PARTLY_FOUND = "partly_found"  # some of several pieces of evidence are there
    ANSWERED_WRONG = "answered_wrong"  # all of the evidence is there


LEVERS_FOR: Mapping[Symptom, tuple[str, ...]] = MappingProxyType(
    {
        Symptom.NOTHING_READ: ("signals", "storage"),
        Symptom.NOT_FOUND: (
            *("storage", "signals", "words_reach", "vectors_reach", "limit", "neighbours"),
            *("per_source", "ask"),
        ),
        Symptom.CROWDED_OUT: (
            *("storage", "signals", "words_reach", "vectors_reach", "fusion", "lean"),
            *("person", "date", "beside", "same_text", "order", "limit", "neighbours", "dedupe"),
        ),
        Symptom.PARTLY_FOUND: (
            *("storage", "per_source", "neighbours", "order", "limit", "dedupe"),
            *("words_reach", "fusion", "beside", "same_text"),
        ),
        Symptom.ANSWERED_WRONG: (
            *("order", "neighbours", "storage", "limit", "recent", "person", "date"),
            *("extract", "answer", "advice"),
        ),
    }
)


def symptom_of(
    score: float, evidence_in_text: float | None, characters: int, *, right_from: float = 0.5
) -> Symptom | None:
    """The symptom of one question, None when it was answered well (`score` ≥ `right_from`).

    `evidence_in_text` is the share of gold evidence in the text (None: unknown, taken as there),
    `characters` the length of the text.
    """
    if score >= right_from:
        return None
    if evidence_in_text is None or evidence_in_text >= 1:
        return Symptom.ANSWERED_WRONG
    if evidence_in_text > 0:
        return Symptom.PARTLY_FOUND
    if characters < 80:
        return Symptom.NOTHING_READ
    return Symptom.CROWDED_OUT if characters >= _FULL else Symptom.NOT_FOUND


def slots_for(symptom: Symptom) -> tuple[Slot, ...]:
    """Slots worth changing, in the order of the catalogue."""
    levers = LEVERS_FOR[symptom]
    return tuple(slot for slot, own in SLOTS.items() if any(lever in levers for lever in own))
