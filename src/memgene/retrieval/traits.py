"""What a unit is like, whatever is asked: counts of kinds of words, computed once when indexed."""

from __future__ import annotations

import re

from memgene.bank.unit import MemoryUnit

TRAITS = (
    "question",
    "first_person",
    "second_person",
    "time_words",
    "numbers",
    "proper_names",
    "caption",
    "quotes",
    "exclamations",
    "past_tense",
    "thanks",
)
_FIRST = re.compile(r"\b(?:i|me|my|mine|myself|we|us|our|ours)\b", re.IGNORECASE)
_SECOND = re.compile(r"\b(?:you|your|yours|yourself)\b", re.IGNORECASE)
_TIME = re.compile(
    r"\b(?:yesterday|today|tonight|tomorrow|ago|last|next|since|week(?:end)?s?|months?|years?|days?"
    r"|morning|evening|summer|winter|spring|autumn|fall|recently|(?:mon|tues|wednes|thurs|fri|satur"
    r"|sun)day|january|february|march|april|june|july|august|september|october|november"
    r"|december)\b",
    re.IGNORECASE,
)
_NUMBER = re.compile(
    r"\d+|\b(?:two|three|four|five|six|seven|eight|nine|ten|once|twice|dozen|hundred)\b",
    re.IGNORECASE,
)
_PROPER = re.compile(r"(?<=[\w,] )(?!I\b)[A-Z][\w’']+")
_QUOTE = re.compile(r"[\"“«][^\"”»]+[\"”»]")
_PAST = re.compile(
    r"\b(?:was|were|had|did|went|got|made|took|bought|saw|\w{3,}ed)\b", re.IGNORECASE
)
_THANKS = re.compile(r"\b(?:thanks?|thank you|congrats?|congratulations|wow|bye)\b", re.IGNORECASE)


def traits(unit: MemoryUnit) -> tuple[float, ...]:
    """One number per name in `TRAITS`."""
    text = unit.content
    return (
        float("?" in text),
        float(len(_FIRST.findall(text))),
        float(len(_SECOND.findall(text))),
        float(len(_TIME.findall(text))),
        float(len(_NUMBER.findall(text))),
        float(len(_PROPER.findall(text))),
        float(bool(unit.metadata.get("caption"))),
        float(len(_QUOTE.findall(text))),
        float(text.count("!")),
        float(len(_PAST.findall(text))),
        float(bool(_THANKS.search(text))),
    )
