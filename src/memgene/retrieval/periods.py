"""Periods of the calendar: how exact a date is, how it reads, and steps from one to another."""

from __future__ import annotations

import calendar
from datetime import date
from enum import IntEnum

from memgene.bank.unit import MONTHS

SEASONS = {"spring": 3, "summer": 6, "fall": 9, "autumn": 9, "winter": 12}
_COUNTS = {
    word: n
    for n, words in enumerate(
        (
            "",
            "a an one",
            "two couple",
            "three few several",
            "four",
            "five",
            "six",
            "seven",
            "eight",
            "nine",
            "ten",
            "eleven",
            "twelve",
        )
    )
    for word in words.split()
}


class Grain(IntEnum):
    """How exact a date is, from fine to coarse."""

    DAY = 0
    WEEKEND = 1
    WEEK = 2
    MONTH = 3
    SEASON = 4
    YEAR = 5


def render(day: date, grain: Grain) -> str:
    """Plain English for a period that starts on `day`."""
    month = MONTHS[day.month - 1]
    if grain is Grain.DAY:
        return f"{day.day} {month} {day.year}"
    if grain in (Grain.WEEK, Grain.WEEKEND):
        return f"{grain.name.lower()} of {day.day} {month} {day.year}"
    if grain is Grain.MONTH:
        return f"{month} {day.year}"
    if grain is Grain.SEASON:
        season = next(name for name, first in SEASONS.items() if first == day.month)
        return f"{season} {day.year}"
    return str(day.year)


def shift_months(day: date, months: int) -> date:
    """The same day `months` later (earlier if negative), at the month's end where it is shorter."""
    index = day.year * 12 + day.month - 1 + months
    year = min(max(index // 12, 1), 9999)
    month = index % 12 + 1
    return date(year, month, min(day.day, calendar.monthrange(year, month)[1]))


def shift_days(day: date, days: int) -> date:
    """The day `days` later (earlier if negative), within the calendar's range."""
    return date.fromordinal(min(max(day.toordinal() + days, 1), date.max.toordinal()))


def make_date(year: int, month: int, day: int) -> date | None:
    """The date, or None where the calendar has no such day."""
    try:
        return date(year, month, day)
    except ValueError:
        return None


def count_of(words: str) -> int:
    """The number that `3`, `two`, `a couple of` or `a few` stand for."""
    if words.isdigit():
        return int(words)
    return next(_COUNTS[w] for w in reversed(words.lower().split()) if w in _COUNTS)


def is_vague(words: str) -> bool:
    """Whether a count only says roughly how many."""
    return any(w in words.lower() for w in ("few", "several", "couple"))


def step(anchor: date, count: int, unit: str, vague: bool = False) -> tuple[date, Grain]:
    """`count` units from the anchor. A vague count of days or weeks is exact to the month."""
    if unit in ("day", "night"):
        return shift_days(anchor, count), Grain.DAY
    if unit in ("week", "weekend"):
        day = shift_days(anchor, 7 * count)
        monday = shift_days(day, -day.weekday())
        if unit == "weekend":
            return shift_days(monday, 5), Grain.WEEKEND
        return (day.replace(day=1), Grain.MONTH) if vague else (monday, Grain.WEEK)
    if unit == "month":
        return shift_months(anchor, count).replace(day=1), Grain.MONTH
    years = count * (10 if unit == "decade" else 1)
    return shift_months(anchor, 12 * years).replace(month=1, day=1), Grain.YEAR
