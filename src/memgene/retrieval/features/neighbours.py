"""What the turns around a unit say."""

from __future__ import annotations

from collections.abc import Iterable

from memgene.retrieval.features.candidates import Candidates, Floats, floats
from memgene.retrieval.features.registry import Compute, Feature
from memgene.retrieval.index import NONE

AROUND = ("bm25", "bm25_names", "coverage", "prefix", "soft", "dense", "dense_question")
OFFSETS = (-2, -1, 1, 2)


def features() -> Iterable[Feature]:
    """Signals of the neighbours, the best of them, and whether there are neighbours at all."""
    for signal in AROUND:
        for offset in OFFSETS:
            yield Feature(
                f"{signal}@{offset:+d}",
                _at(signal, offset),
                f"{signal} of the unit {offset:+d} places away",
                (signal,),
            )
        yield Feature(f"{signal}.around", _best(signal), f"best {signal} within ±2", (signal,))
        yield Feature(
            f"{signal}.peak", _peak(signal), f"{signal} is the highest within ±2", (signal,)
        )
    yield Feature("has_previous", lambda c: _present(c, -1), "there is a unit before")
    yield Feature("has_next", lambda c: _present(c, 1), "there is a unit after")


def _at(signal: str, offset: int) -> Compute:
    return lambda c: c.value(signal, offset)


def _best(signal: str) -> Compute:
    return lambda c: c.around(signal)


def _peak(signal: str) -> Compute:
    return lambda c: floats((c.value(signal) > c.around(signal)) & (c.value(signal) > 0))


def _present(c: Candidates, offset: int) -> Floats:
    return floats(c.at(offset) != NONE)
