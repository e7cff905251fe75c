"""Numbers, spans of time, times of day and frequencies in English text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from memgene.agents.extractive.sentences import Sentence
from memgene.agents.extractive.words import ORDINALS, WordClass
from memgene.retrieval.dates import Resolved

_SMALL = (
    "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|forty"
    "|fifty|sixty|ninety|hundred"
)
_UNIT = r"(?:second|minute|hour|day|night|week|weekend|month|year|decade)"
_DURATION = re.compile(
    rf"\b(?:(?:\d+(?:\.\d+)?|{_SMALL}|half an?|an?|(?:a )?couple(?: of)?|(?:a )?few|several|many)"
    rf"(?: and a half)?[ -](?:more )?{_UNIT}s?(?: and a half)?)\b"
    r"|\bsince (?:(?:19|20)\d\d|childhood)\b",
    re.IGNORECASE,
)
_CLOCK = re.compile(
    r"\b(?:[01]?\d|2[0-3])(?::[0-5]\d)?\s?(?:[ap]m\b|[ap]\.m\.)|\b(?:[01]?\d|2[0-3]):[0-5]\d\b"
    r"|\b(?:noon|midnight)\b",
    re.IGNORECASE,
)
_FREQUENCY = re.compile(
    rf"\b(?:(?:(?:once|twice|thrice)(?: or (?:twice|thrice))?|(?:\d+|{_SMALL}|several|a few)"
    rf"(?: or \w+)? times) (?:a|an|per|each|every) {_UNIT}"
    rf"|every (?:other |single |\w+ )?(?:{_UNIT}s?|morning|evening|\w+day)"
    r"|daily|weekly|monthly|yearly|annually)\b",
    re.IGNORECASE,
)


def duration(text: str, unit: str | None = None) -> str | None:
    """The first span of time, such as `two and a half years` or `since 2016`.

    With a `unit` (*year*), the first one in it.
    """
    found = (m.group() for m in _DURATION.finditer(text))
    return next((f for f in found if unit is None or unit in f.lower()), None)


def clock_time(text: str) -> str | None:
    """The first time of day, such as `5:30 AM` or `noon`."""
    found = _CLOCK.search(text)
    return found.group() if found else None


def frequency(text: str) -> str | None:
    """The first frequency, such as `twice a week` or `every Monday`."""
    found = _FREQUENCY.search(text)
    return found.group() if found else None


def count_for(
    sentence: Sentence, focus: str | None, dates: Sequence[Resolved]
) -> Iterator[tuple[str, bool]]:
    """Numbers of a sentence outside its dates, and whether each stands before the thing counted.

    An ordinal right before the thing counts it (*my fourth win* → `four`), others do not.
    """
    for i, kind in enumerate(sentence.classes):
        if kind is not WordClass.NUMBER:
            continue
        if any(d.start <= sentence.starts[i] < d.end for d in dates):
            continue
        near = focus is not None and focus in sentence.stems[i + 1 : i + 4]
        ordinal = ORDINALS.get(sentence.words[i])
        if ordinal is None:
            yield sentence.cut(i, i), near
        elif near:
            yield ordinal, near
