"""Relative dates in a context, with the day they mean put behind them.

A model that reads `[8 May 2023] Ana: I sold it last Friday` has to count days; this does it for
it: `[8 May 2023] Ana: I sold it last Friday (5 May 2023)`.
"""

from __future__ import annotations

from datetime import date

from memgene.agents.extractive.lines import said_on
from memgene.retrieval.dates import find_dates


def dated(text: str) -> str:
    """The text with every relative date resolved against the day its line was said."""
    return "\n".join(_resolved(line, day) for line, day in said_on(text))


def _resolved(line: str, day: date | None) -> str:
    if day is None:
        return line
    parts, at = [], 0
    for found in find_dates(line, day):
        if found.relative and found.start >= at:
            parts += [line[at : found.end], f" ({found.render()})"]
            at = found.end
    return "".join([*parts, line[at:]])
