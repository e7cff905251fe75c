"""What an agent was shown, as lines: who said what on which day, in the memory's own order."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date
from functools import lru_cache

from memgene.agents.extractive.sentences import Sentence, sentences
from memgene.core import Context, Hit
from memgene.retrieval.dates import find_dates, read_date
from memgene.retrieval.periods import Grain

_BULLET = re.compile(r"^\s*(?:[-*•]|\d{1,3}[.)])\s+")
_HEAD = re.compile(r"^\[(?P<head>[^\]]{4,40})\]:?\s*|^\((?P<round>[^)]{4,40})\):?\s*")
_CLOCK_OR_LABEL = re.compile(
    r"\b(?:\d{1,2}:\d\d(?::\d\d)?|\d{0,2} ?[ap]\.?m\.?|session|conversation|date|time|when|on|at"
    r"|\w{3,6}day)(?![^\W_])",
    re.IGNORECASE,
)
_LONGEST_HEADER = 60
_SPEAKER = re.compile(r"^(?P<speaker>[^\W\d_][\w.'’-]*(?: [^\W\d_][\w.'’-]*){0,2})\s*:\s+(?=\S)")


@dataclass(frozen=True, slots=True)
class Line:
    """One unit of a context. `rank` counts from 0; `day` is when it was said, if known.

    `prior` is what its place promises: `1 / (1 + rank)` for hits, half of it for the lines of a
    plain text, whose order says less. `id` is the hit's, if it came as one.
    """

    text: str
    speaker: str | None
    day: date | None
    rank: int
    prior: float
    id: str = ""

    @property
    def sentences(self) -> tuple[Sentence, ...]:
        """Its sentences, analysed."""
        return sentences(self.text)

    @property
    def content(self) -> frozenset[str]:
        """Stems of its content words."""
        return _content(self.text)


@lru_cache(maxsize=1 << 13)
def _content(text: str) -> frozenset[str]:
    return frozenset().union(*(s.content for s in sentences(text)))


@lru_cache(maxsize=1 << 13)
def _parse(raw: str) -> tuple[str, str | None, date | None]:
    """Cut `[date] speaker: words` into words, speaker and date; parts may be absent."""
    text = _BULLET.sub("", raw).strip()
    day = None
    head = _HEAD.match(text)
    if head:
        day = read_date(head["head"] or head["round"])
        if day is not None:
            text = text[head.end() :]
    speaker = None
    said = _SPEAKER.match(text)
    if said:
        speaker, text = said["speaker"], text[said.end() :]
    return text, speaker, day


def _header_date(raw: str) -> date | None:
    """The date of a line that tells a date and nothing else; it dates the lines that follow."""
    if len(raw) > _LONGEST_HEADER:
        return None
    found = next((d for d in find_dates(raw, None) if d.grain is Grain.DAY), None)
    if found is None:
        return None
    rest = _CLOCK_OR_LABEL.sub("", raw[: found.start] + " " + raw[found.end :])
    return None if any(c.isalnum() for c in rest) else found.day


def _from_hit(hit: Hit, rank: int) -> Line:
    text, speaker, day = _parse(hit.rendered or hit.text)
    if hit.event_time is not None:
        day = hit.event_time.date()
    return Line(text, speaker or hit.speaker, day, rank, 1.0 / (1 + rank), hit.id)


def read_lines(context: Context) -> list[Line]:
    """The lines of a context: its shown hits in rank order, or else the lines of its text."""
    if context.hits and context.shown:
        return [_from_hit(hit, rank) for rank, hit in enumerate(context.hits[: context.shown])]
    lines: list[Line] = []
    day: date | None = None
    for raw in context.text.splitlines():
        if not raw.strip():
            continue
        header = _header_date(raw)
        if header is not None:
            day = header
            continue
        text, speaker, own = _parse(raw)
        rank = len(lines)
        lines.append(Line(text, speaker, own or day, rank, 0.5 / (1 + rank)))
    return lines


def said_on(text: str) -> list[tuple[str, date | None]]:
    """Every line of a text as it stands, with the day it was said: its own date, else that of the
    last line that told a date and nothing else."""
    lines: list[tuple[str, date | None]] = []
    day: date | None = None
    for raw in text.splitlines():
        day = _header_date(raw) or day
        lines.append((raw, _parse(raw)[2] or day))
    return lines
