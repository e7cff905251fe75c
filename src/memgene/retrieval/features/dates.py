"""When things happened, against the dates a question names."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from memgene.retrieval.features.candidates import Candidates, Floats, floats
from memgene.retrieval.features.registry import Feature
from memgene.retrieval.query import DateMention


def features() -> Iterable[Feature]:
    """Dates; 0 with `has_date` 0 where the unit has none."""
    yield Feature("has_date", _has_date, "the unit has an event time")
    yield Feature("date.month", lambda c: _part(c, "month"), "its month is the question's")
    yield Feature("date.year", lambda c: _part(c, "year"), "its year is the question's")
    yield Feature("date.near", _near, "nearness to the day the question names, 14 days scale")
    yield Feature("date.after", _after, "at most 40 days after the month the question names")
    yield Feature("when.time_words", _when_time, "time words, if the question asks when")
    yield Feature("when.past", _when_past, "past tense, if the question asks when")
    yield Feature("order.late", _late, "how late among the candidates, 0 to 1")


def moment(mention: DateMention, days: NDArray[np.float64]) -> float | None:
    """Day number a mention stands for (mid-month when no day is said); the year missing = the
    year of the latest unit."""
    from datetime import date

    if mention.month is None:
        return None
    year = mention.year
    if year is None:
        known = days[~np.isnan(days)]
        if not len(known):
            return None
        year = date.fromordinal(int(known.max())).year
    return float(date(year, mention.month, min(mention.day or 15, 28)).toordinal())


def _days(c: Candidates) -> NDArray[np.float64]:
    return c.index.day[c.rows]


def _has_date(c: Candidates) -> Floats:
    return (~np.isnan(_days(c))).astype(np.float32)


def _part(c: Candidates, part: str) -> Floats:
    wanted = getattr(c.query.date, part) if c.query.date else None
    if wanted is None:
        return np.zeros(len(c), np.float32)
    return floats(c.index.date_part(part)[c.rows] == wanted)


def _distance(c: Candidates) -> NDArray[np.float64] | None:
    living = c.index.day[c.index.alive]
    target = moment(c.query.date, living) if c.query.date else None
    return None if target is None else _days(c) - target


def _near(c: Candidates) -> Floats:
    distance = _distance(c)
    if distance is None:
        return np.zeros(len(c), np.float32)
    return np.nan_to_num(np.exp(-np.abs(distance) / 14)).astype(np.float32)


def _after(c: Candidates) -> Floats:
    distance = _distance(c)
    if distance is None:
        return np.zeros(len(c), np.float32)
    return ((distance >= -15) & (distance <= 40)).astype(np.float32)


def _when_time(c: Candidates) -> Floats:
    return np.minimum(c.trait("time_words"), 3) * (c.query.type == "when")


def _when_past(c: Candidates) -> Floats:
    return np.minimum(c.trait("past_tense"), 3) * (c.query.type == "when")


def _late(c: Candidates) -> Floats:
    order = np.argsort(np.argsort(c.index.seq[c.rows], kind="stable"), kind="stable")
    return (order / max(len(c) - 1, 1)).astype(np.float32)
