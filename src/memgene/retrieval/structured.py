"""The structured view: persons, entities, places and dates that question and unit share."""

from __future__ import annotations

from datetime import date

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
        scores[np.isin(index.speaker, sorted(query.speakers))] += NAME_WEIGHT
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
    match = np.zeros(len(index), np.float32)
    parts = [p for p in ("year", "month", "day") if getattr(mention, p) is not None]
    days = np.floor(index.day)  # NaN where unknown, which equals no day
    for ordinal in np.unique(days[~np.isnan(days)]):
        when = date.fromordinal(int(ordinal))
        same = sum(getattr(when, p) == getattr(mention, p) for p in parts) / len(parts)
        if same:
            match[days == ordinal] = same
    return match
