"""Numbers, durations, clock times and frequencies."""

from __future__ import annotations

from datetime import date

import pytest

from memgene.agents.extractive.amounts import clock_time, count_for, duration, frequency
from memgene.agents.extractive.sentences import analyse
from memgene.retrieval.dates import find_dates


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I have played for seven years.", "seven years"),
        ("It took two and a half hours.", "two and a half hours"),
        ("I stayed a couple of weeks.", "a couple of weeks"),
        ("a 19-month plan", "19-month"),
        ("I have lived here since 2016.", "since 2016"),
        ("No time at all.", None),
    ],
)
def test_durations(text: str, expected: str | None) -> None:
    assert duration(text) == expected


def test_a_duration_in_the_unit_asked_for() -> None:
    assert duration("After 3 days we had walked ten hours.", "hour") == "ten hours"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("We open at 5:30 AM.", "5:30 AM"),
        ("We close at 11 p.m. sharp.", "11 p.m."),
        ("Lunch is at noon.", "noon"),
        ("at 17:45", "17:45"),
        ("at 5 miles", None),
    ],
)
def test_clock_times(text: str, expected: str | None) -> None:
    assert clock_time(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I swim twice a week.", "twice a week"),
        ("We go once or twice a year.", "once or twice a year"),
        ("I run every morning.", "every morning"),
        ("We meet every other Friday.", "every other Friday"),
        ("I take it daily.", "daily"),
        ("I swim.", None),
    ],
)
def test_frequencies(text: str, expected: str | None) -> None:
    assert frequency(text) == expected


def counted(text: str, focus: str) -> list[tuple[str, bool]]:
    return list(count_for(analyse(text), focus, find_dates(text, date(2023, 5, 8))))


def test_numbers_before_the_thing_counted_are_near() -> None:
    assert counted("We saw 7 boats and three small turtles.", "turtl") == [
        ("7", False),
        ("three", True),
    ]


def test_numbers_inside_dates_do_not_count() -> None:
    assert counted("On 3 May 2023 I had two cats.", "cat") == [("two", True)]


def test_an_ordinal_before_the_thing_counts_it() -> None:
    assert counted("It was my fourth race.", "race") == [("four", True)]
    assert counted("First we ate.", "race") == []
