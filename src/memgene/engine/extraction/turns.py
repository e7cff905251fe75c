"""The turns of an episode as a model is shown them, numbered from 1 in each window."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime

from memgene.bank.unit import render_date
from memgene.core import Episode
from memgene.engine.extraction.mentions import Mentions, find_mentions
from memgene.retrieval.text import content_words

_SAYS_SOMETHING = 4
_CHARACTERS = 12_000


@dataclass(frozen=True, slots=True)
class Turn:
    """One message: its place in the episode (from 0), words (with caption), speaker, time, id,
    and the names, numbers and dates it tells."""

    place: int
    text: str
    speaker: str | None
    time: datetime | None
    ref: str | None
    mentions: Mentions

    @property
    def line(self) -> str:
        """`speaker: words`, on one line."""
        words = " ".join(self.text.split())
        return f"{self.speaker}: {words}" if self.speaker else words

    @property
    def day(self) -> date | None:
        """The day it was said."""
        return None if self.time is None else self.time.date()

    @property
    def substantial(self) -> bool:
        """Whether it says something that a memory should not lose without a word."""
        return len(content_words(self.text)) >= _SAYS_SOMETHING or not self.mentions.empty


def turns_of(episode: Episode, captions: bool = True) -> list[Turn]:
    """The messages that have words, in order."""
    turns = []
    for place, message in enumerate(episode.messages):
        text = message.content if captions else message.text
        if text.strip():
            time = message.time or episode.time
            mentions = find_mentions(text, None if time is None else time.date())
            turns.append(Turn(place, text, message.speaker, time, message.id, mentions))
    return turns


def slices(turns: Sequence[Turn], size: int) -> Iterator[tuple[Turn, ...]]:
    """Runs of at most `size` turns and about 12,000 characters, as even as can be, so that no run
    is a mere remainder"""
    if not turns:
        return
    letters = sum(len(turn.text) for turn in turns)
    runs = min(len(turns), max(-(-len(turns) // size), -(-letters // _CHARACTERS)))
    for run in range(runs):
        yield tuple(turns[run * len(turns) // runs : (run + 1) * len(turns) // runs])


def shown(turns: Sequence[Turn]) -> str:
    """Numbered lines; the date stands where it changes."""
    lines: list[str] = []
    day: date | None = None
    for number, turn in enumerate(turns, 1):
        if turn.time is not None and turn.day != day:
            day = turn.day
            weekday = turn.time.strftime("%A")
            lines.append(f"Date: {weekday}, {render_date(turn.time)}")
        lines.append(f"[{number}] {turn.line}")
    return "\n".join(lines)
