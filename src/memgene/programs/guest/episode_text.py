"""The text of an episode, as programs are given it, back into turns and times.

The form is `[8 May 2023, 1:56 pm]` on a line of its own where the episode has a time, then one
line a turn, `speaker: words`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, datetime
from datetime import time as clock_time

from memgene.bank.unit import MONTHS
from memgene.core import InputError
from memgene.retrieval.dates import read_date

_HEADER = re.compile(r"\s*\[([^\[\]\n]+)\][ \t]*(?:\n|$)")
_SPEAKER = re.compile(r"([^\W\d_][\w.'’&-]*(?: [\w.'’&-]+){0,3}): ?(.*)")
_RENDERED = re.compile(
    rf"(\d{{1,2}}) ({'|'.join(MONTHS)}) (\d{{4}})(?:, (\d{{1,2}}):(\d{{2}}) (am|pm))?"
)


@dataclass(frozen=True, slots=True)
class Turn:
    """What one speaker said; `place` counts the turns of the episode from 0."""

    place: int
    speaker: str | None
    words: str


def turns_of(raw_text: str) -> tuple[datetime | None, list[Turn]]:
    """The time in the leading line, if there is one, and the turns that have words.

    Where any line has a speaker, a line without one goes on with the turn before it; where none
    has, each line is a turn.
    """
    header = _HEADER.match(raw_text)
    moment = None if header is None else read_time(header[1])
    body = raw_text if header is None or moment is None else raw_text[header.end() :]
    lines = [line for line in body.split("\n") if line.strip()]
    spoken = [_SPEAKER.match(line) for line in lines]
    talk = any(spoken)
    turns: list[tuple[str | None, str]] = []
    for line, match in zip(lines, spoken, strict=True):
        if match is not None:
            turns.append((match[1], match[2]))
        elif talk and turns:
            speaker, words = turns[-1]
            turns[-1] = (speaker, f"{words}\n{line}" if words else line)
        else:
            turns.append((None, line))
    found = [Turn(place, *turn) for place, turn in enumerate(turns)]
    return moment, [turn for turn in found if turn.words.strip()]


def read_time(value: object) -> datetime | None:
    """A datetime, a date, or a text that holds a full date, as a datetime; None where it holds
    none.

    Texts: ISO, `8 May 2023, 1:56 pm`, or any words with a day, a month and a year (time of day
    lost). Raises InputError for other types.
    """
    if value is None:
        return None
    if isinstance(value, datetime):
        return datetime.fromisoformat(value.isoformat())  # not a subclass that a program may use
    if isinstance(value, date):
        return datetime(value.year, value.month, value.day)
    if not isinstance(value, str):
        raise InputError(f"a time is a datetime, a date or a text, got {value!r}")
    text = value.strip()
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        rendered = _RENDERED.fullmatch(text)
    if rendered is not None:
        return _from_rendered(rendered)
    day = read_date(text)
    return None if day is None else datetime.combine(day, clock_time())


def _from_rendered(match: re.Match[str]) -> datetime | None:
    day, month, year, hour, minute, half = match.groups()
    hours = 0 if hour is None else int(hour) % 12 + (12 if half == "pm" else 0)
    try:
        return datetime(int(year), MONTHS.index(month) + 1, int(day), hours, int(minute or 0))
    except ValueError:  # 31 June
        return None
