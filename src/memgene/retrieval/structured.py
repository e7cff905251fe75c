"""The structured view: persons, entities, places and dates that question and unit share."""

from __future__ import annotations

from datetime import date

import numpy as np
from numpy.typing import NDArray

from memgene.retrieval.index import UnitIndex
from memgene.retrieval.query import DateMention, Query
from memgene.retrieval.time_range import TimeRange

DATE_WEIGHT = 1.0
NAME_WEIGHT = 0.5


def structured_scores(query: Query, index: UnitIndex) -> NDArray[np.float32]:
    """Per row: ½ for a speaker the question names + ½ per word of it that labels the row (person,
    entity, place, topic, keyword) + 1 for a matching date or a time range that holds it."""
    scores = np.zeros(len(index), np.float32)
    if query.speakers:
        for speaker in sorted(query.speakers):
            scores[index.speaker == speaker] += NAME_WEIGHT
    for term in query.terms:
        rows = index.labelled(term.stem)
        if len(rows):
            scores[rows] += NAME_WEIGHT
    if query.span is not None:
        scores += np.float32(DATE_WEIGHT) * within(query.span, index)
    elif query.date is not None:
        scores += np.float32(DATE_WEIGHT) * date_match(query.date, index)
    scores[~index.alive] = 0
    return scores


def within(span: TimeRange, index: UnitIndex) -> NDArray[np.float32]:
    """1 for living units whose event time lies in a stretch of time."""
    living = index.day[index.alive & ~np.isnan(index.day)]
    if not len(living):
        return np.zeros(len(index), np.float32)
    first, after = span.days(date.fromordinal(int(living.max())))
    inside: NDArray[np.float32] = ((index.day >= first) & (index.day < after)).astype(np.float32)
    return inside


def date_match(mention: DateMention, index: UnitIndex) -> NDArray[np.float32]:
    """Share of the mentioned parts (year, month, day) that a unit's event time has."""
    parts = [p for p in ("year", "month", "day") if getattr(mention, p) is not None]
    match = np.zeros(len(index), np.float32)
    for part in parts:
        match += index.date_part(part) == getattr(mention, part)
    return match / np.float32(len(parts))
