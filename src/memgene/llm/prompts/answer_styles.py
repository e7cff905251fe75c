"""How an answer should look: one instruction for each value of the lever `answer_style`."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

ANSWER_STYLES: Mapping[str, str] = MappingProxyType(
    {
        "concise": (
            "Answer with the fact alone: a name, a number, a date or a short phrase, "
            "no sentence around it."
        ),
        "explanatory": (
            "Answer in one to three sentences, and name the facts from memory that the answer "
            "rests on."
        ),
        "verbatim": "Answer in the exact words of the memory. Copy them, change nothing.",
        "list": (
            "Answer with every matching item that the memory holds, separated by commas, and "
            "nothing else. Name each item once."
        ),
        "date": (
            "Answer with the date or the time span alone. Work out words such as 'yesterday' or "
            "'next week' from the date in front of the line that says them."
        ),
        "choice": "Answer with one of the given choices, copied exactly, and nothing else.",
    }
)
"""Sentences to put among an agent's instructions."""
