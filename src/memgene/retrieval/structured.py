"""The structured view: persons, entities, places and dates that question and unit share."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from memgene.retrieval.index import UnitIndex
from memgene.retrieval.query import DateMention, Query

DATE_WEIGHT = 1.0
NAME_WEIGHT = 0.5


def structured_scores(query: Query, index: UnitIndex) -> NDArray[np.float32]:
    """Per row: ½ for a speaker the question names + ½ per word of it that labels the row (person,
    entity, place, topic, keyword) + 1 for a matching date."""
    scores = np.zeros(len(index), np.float32)
    if query.speakers:
        for speaker in sorted(query.speakers):
            scores[index.speaker == speaker] += NAME_WEIGHT
    for term in query.terms:
        rows = index.labelled(term.stem)
        if len(rows):
            scores[rows] += NAME_WEIGHT
    if query.date is not None:
        scores += np.float32(DATE_WEIGHT) * date_match(query.date, index)
    scores[~index.alive] = 0
    return scores


def date_match(mention: DateMention, index: UnitIndex) -> NDArray[np.float32]:
    """Share of the mentioned parts (year, month, day) that a unit's event time has."""
    parts = [p for p in ("year", "month", "day") if getattr(mention, p) is not None]
    match = np.zeros(len(index), np.float32)
    for part in parts:
        match += index.date_part(part) == getattr(mention, part)
    return match / np.float32(len(parts))
