"""Stretches of time a question names: between, from … to, before, after, since, until, seasons."""

from __future__ import annotations

import calendar
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from types import MappingProxyType

from memgene.bank.unit import MONTHS
from memgene.retrieval.text import fold

_MONTH_NUMBER: Mapping[str, int] = MappingProxyType(
    {m.lower(): i for i, m in enumerate(MONTHS, 1)}
    | {m[:3].lower(): i for i, m in enumerate(MONTHS, 1)}
    | {"sept": 9}
)
# Meteorological seasons of the northern hemisphere: first month; each lasts three.
_SEASONS: Mapping[str, int] = MappingProxyType(
    {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}
)
_MONTH = "|".join(sorted(_MONTH_NUMBER, key=len, reverse=True))
_DAY = r"(?P<{name}{n}>\d{{1,2}})(?:st|nd|rd|th)?"
_POINT = (
    "(?:the )?(?:"
    + f"(?:{_DAY.replace('{name}', 'day')}(?: of)? )?(?P<month{{n}}>{_MONTH})\\.?"
    + f"(?: {_DAY.replace('{name}', 'after')}(?!\\d))?"
    + f"|(?P<season{{n}}>{'|'.join(_SEASONS)})"
    + r")?(?:,? ?(?:of )?(?P<year{n}>(?:1[89]|20)\d\d))?"
)
_ONE, _TWO = _POINT.format(n=1), _POINT.format(n=2)
_PATTERNS = (
    ("between", re.compile(rf"\bbetween {_ONE} and {_TWO}\b")),
    ("between", re.compile(rf"\bfrom {_ONE} (?:to|until|till|through) {_TWO}\b")),
    ("before", re.compile(rf"\b(?:before|prior to|earlier than) {_ONE}\b")),
    ("after", re.compile(rf"\b(?:after|later than) {_ONE}\b")),
    ("since", re.compile(rf"\bsince {_ONE}\b")),
    ("until", re.compile(rf"\b(?:until|till|by|up to) {_ONE}\b")),
    ("during", re.compile(rf"\b(?:in|during|over|this|last|that) {_ONE}\b")),
)


@dataclass(frozen=True, slots=True)
class Point:
    """A day, month, season or year as said; parts that were not said are None."""

    year: int | None
    month: int | None
    day: int | None
    season: int | None = None

    def first(self, year: int) -> date:
        """Its first day; `year` stands in for a year that was not said."""
        return date(self.year or year, self.month or self.season or 1, self.day or 1)

    def last(self, year: int) -> date:
        """Its last day."""
        year = self.year or year
        if self.season is not None:
            year, month = (year + 1, 2) if self.season == 12 else (year, self.season + 2)
        else:
            month = self.month or 12
        return date(year, month, self.day or calendar.monthrange(year, month)[1])


@dataclass(frozen=True, slots=True)
class TimeRange:
    """A stretch of time: from the first day of `start` to the last of `end`; None is open.

    `excludes` says that the named point itself is outside (before, after).
    """

    start: Point | None
    end: Point | None
    excludes: bool = False

    def days(self, newest: date) -> tuple[float, float]:
        """First day and the day after the last, as numbers since year 1 (±inf where open).

        A year that was not said is that of the other end, else the last in which the stretch
        began before the newest memory.
        """
        said = [p.year for p in (self.end, self.start) if p is not None and p.year is not None]
        year = said[0] if said else newest.year
        if not said and self.start is not None and self.start.first(year) > newest:
            year -= 1
        low, high = float("-inf"), float("inf")
        if self.start is not None:
            first = self.start.last(year) if self.excludes else self.start.first(year)
            low = first.toordinal() + (1 if self.excludes else 0)
        if self.end is not None:
            last = self.end.first(year) if self.excludes else self.end.last(year)
            high = last.toordinal() + (0 if self.excludes else 1)
        return low, high


def find_range(question: str) -> TimeRange | None:
    """The first stretch of time a question names; None where it names none, or a mere date."""
    plain = fold(question)
    for kind, pattern in _PATTERNS:
        for match in pattern.finditer(plain):
            one = _point(match, "1")
            two = _point(match, "2") if kind == "between" else None
            if one is None or (kind == "between" and two is None):
                continue
            if kind == "during" and one.season is None:
                continue  # "in May 2023" is a date; the view matches its parts
            return _range(kind, one, two)
    return None


def _range(kind: str, one: Point, two: Point | None) -> TimeRange:
    if kind == "between":
        return TimeRange(one, two)
    if kind in ("before", "after"):
        open_start = kind == "before"
        return TimeRange(None if open_start else one, one if open_start else None, excludes=True)
    if kind == "since":
        return TimeRange(one, None)
    return TimeRange(None, one) if kind == "until" else TimeRange(one, one)


def _point(match: re.Match[str], n: str) -> Point | None:
    part = {name: match.group(f"{name}{n}") for name in ("day", "month", "after", "season", "year")}
    if not (part["month"] or part["season"] or part["year"]):
        return None
    month = _MONTH_NUMBER[part["month"]] if part["month"] else None
    year = int(part["year"]) if part["year"] else None
    said = part["day"] or part["after"]
    day = int(said) if said else None
    if day is not None and month is not None:
        longest = calendar.monthrange(year or 2024, month)[1]
        if not 1 <= day <= longest:
            return None
    return Point(year, month, day, _SEASONS[part["season"]] if part["season"] else None)
