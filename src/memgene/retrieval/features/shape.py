"""What the unit is like, whatever is asked; and by what is asked."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from memgene.retrieval.features.candidates import Candidates, Floats
from memgene.retrieval.features.registry import Compute, Feature
from memgene.retrieval.index import NONE
from memgene.retrieval.traits import TRAITS

_WANTED = {
    "when": "time_words",
    "how_long": "time_words",
    "how_many": "numbers",
    "who": "proper_names",
    "where": "proper_names",
}


def features() -> Iterable[Feature]:
    """Length, traits, place in the source, expected kind of answer."""
    yield Feature("length", lambda c: np.log1p(c.index.length[c.rows]), "log words")
    yield Feature("short", lambda c: np.exp(-c.index.length[c.rows] / 6), "very short units")
    yield Feature("length@-1", lambda c: _length_at(c, -1), "log words of the unit before")
    yield Feature("length@+1", lambda c: _length_at(c, 1), "log words of the unit after")
    for trait in TRAITS:
        yield Feature(f"trait.{trait}", _trait(trait), f"log(1 + {trait})")
    yield Feature("expected", _expected, "holds the kind of word the question type asks for")
    yield Feature("source_start", _start, "nearness to the start of its source")
    yield Feature("source_end", _end, "nearness to the end of its source")


def _length_at(c: Candidates, offset: int) -> Floats:
    rows = c.at(offset)
    return np.where(rows == NONE, np.float32(0), np.log1p(c.index.length[np.maximum(rows, 0)]))


def _trait(name: str) -> Compute:
    return lambda c: np.log1p(c.trait(name))


def _expected(c: Candidates) -> Floats:
    wanted = _WANTED.get(c.query.type)
    if wanted is None:
        return np.zeros(len(c), np.float32)
    return np.minimum(c.trait(wanted), 2)


def _start(c: Candidates) -> Floats:
    return _nearness(c, -1)


def _end(c: Candidates) -> Floats:
    return _nearness(c, 1)


def _nearness(c: Candidates, direction: int) -> Floats:
    """1 at the border of the source, ½ one unit away, … 0 from four units on."""
    near = np.zeros(len(c), np.float32)
    for distance in range(1, 5):
        gone = (c.at(direction * distance) == NONE) & (near == 0)
        near[gone] = 1 / distance if distance < 4 else 0
    return near
