"""Dates in text, worked out by hand against a calendar of 2023.

8 May 2023 is a Monday; that week runs to Sunday 14 May. 25 May 2023 is a Thursday.
"""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memgene.retrieval.dates import find_dates, read_date
from memgene.retrieval.periods import shift_months

MONDAY = date(2023, 5, 8)
THURSDAY = date(2023, 5, 25)


def resolved(text: str, anchor: date | None) -> list[str]:
    return [d.render() for d in find_dates(text, anchor)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I saw him yesterday.", "7 May 2023"),
        ("We spoke last night.", "7 May 2023"),
        ("It came the day before yesterday.", "6 May 2023"),
        ("I met her today.", "8 May 2023"),
        ("I woke early this morning.", "8 May 2023"),
        ("The exam is tomorrow.", "9 May 2023"),
        ("We leave the day after tomorrow.", "10 May 2023"),
        ("Three days ago it rained.", "5 May 2023"),
        ("a couple of days ago", "6 May 2023"),
        ("two weeks ago", "week of 24 April 2023"),
        ("a couple of weeks ago", "April 2023"),
        ("a month ago", "April 2023"),
        ("six months ago", "November 2022"),
        ("3 years ago", "2020"),
        ("a decade ago", "2013"),
        ("ten years back", "2013"),
        ("in two weeks", "week of 22 May 2023"),
        ("in 2 months' time", "July 2023"),
        ("three weeks from now", "week of 29 May 2023"),
        ("last week", "week of 1 May 2023"),
        ("the week before", "week of 1 May 2023"),
        ("the week before last", "week of 24 April 2023"),
        ("this week", "week of 8 May 2023"),
        ("next week", "week of 15 May 2023"),
        ("last weekend", "weekend of 6 May 2023"),
        ("this past weekend", "weekend of 6 May 2023"),
        ("this weekend", "weekend of 13 May 2023"),
        ("the weekend before last", "weekend of 29 April 2023"),
        ("We hiked over the weekend.", "weekend of 6 May 2023"),
        ("last month", "April 2023"),
        ("next month", "June 2023"),
        ("last year", "2022"),
        ("next year", "2024"),
        ("last Saturday", "6 May 2023"),
        ("last Monday", "1 May 2023"),
        ("next Monday", "15 May 2023"),
        ("this Friday", "12 May 2023"),
        ("I won on Friday.", "5 May 2023"),
        ("We will meet on Friday.", "12 May 2023"),
        ("last summer", "summer 2022"),
        ("this summer", "summer 2023"),
        ("summer 2021", "summer 2021"),
        ("winter of 2021", "winter 2021"),
        ("in March", "March 2023"),
        ("in July", "July 2022"),
        ("We will move in July.", "July 2023"),
        ("last May", "May 2022"),
        ("next May", "May 2024"),
        ("this December", "December 2023"),
        ("We met on the 3rd.", "3 May 2023"),
        ("We met on the 15th.", "15 April 2023"),
        ("We will meet on the 15th.", "15 May 2023"),
        ("last Christmas", "25 December 2022"),
        ("We will fly home for Christmas.", "25 December 2023"),
        ("on Halloween", "31 October 2022"),
    ],
)
def test_relative_dates_count_from_the_day_they_were_said(text: str, expected: str) -> None:
    assert resolved(text, MONDAY) == [expected]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("last Saturday", "20 May 2023"),
        ("last Sunday", "21 May 2023"),
        ("next Saturday", "27 May 2023"),
        ("last week", "week of 15 May 2023"),
        ("last weekend", "weekend of 20 May 2023"),
        ("ten days ago", "15 May 2023"),
    ],
)
def test_relative_dates_from_a_thursday(text: str, expected: str) -> None:
    assert resolved(text, THURSDAY) == [expected]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It was on 8 May 2023.", "8 May 2023"),
        ("It was on May 8, 2023.", "8 May 2023"),
        ("May 8th, 2023", "8 May 2023"),
        ("the 3rd of June 2019", "3 June 2019"),
        ("2023-05-01", "1 May 2023"),
        ("June 2021", "June 2021"),
        ("Sept. 2021", "September 2021"),
        ("since 2016", "2016"),
        ("Christmas 2020", "25 December 2020"),
    ],
)
def test_dates_with_a_year_need_no_anchor(text: str, expected: str) -> None:
    assert resolved(text, None) == [expected]


@pytest.mark.parametrize("text", ["yesterday", "last week", "on the 15th", "in March", "5 June"])
def test_dates_without_a_year_are_left_alone_when_no_day_is_known(text: str) -> None:
    assert resolved(text, None) == []


@pytest.mark.parametrize(
    "text",
    [
        "You may march there.",
        "It cost $2023.",
        "They sat in the sun.",
        "I am 35 and it was 6.9%.",
        "",
    ],
)
def test_words_and_numbers_that_are_no_dates(text: str) -> None:
    assert "2023" not in " ".join(resolved(text, MONDAY))


def test_a_day_that_the_calendar_lacks_leaves_only_its_month() -> None:
    assert resolved("the 31st of February 2023", MONDAY) == ["February 2023"]


def test_a_day_and_month_without_a_year_is_the_last_one_or_the_coming_one() -> None:
    assert resolved("It was on June 5th.", MONDAY) == ["5 June 2022"]
    assert resolved("It will be on June 5th.", MONDAY) == ["5 June 2023"]


def test_several_dates_keep_their_order_and_place() -> None:
    text = "I came yesterday and leave on 9 July 2023."
    found = find_dates(text, MONDAY)
    assert [text[d.start : d.end] for d in found] == ["yesterday", "9 July 2023"]


def test_month_arithmetic_stays_inside_the_month() -> None:
    assert shift_months(date(2023, 3, 31), -1) == date(2023, 2, 28)
    assert shift_months(date(2024, 3, 31), -1) == date(2024, 2, 29)
    assert shift_months(date(2023, 11, 30), 3) == date(2024, 2, 29)


def test_a_header_is_read_only_when_it_is_a_whole_date() -> None:
    assert read_date("1:56 pm on 8 May, 2023") == MONDAY
    assert read_date("May 2023") is None


@given(st.text(max_size=80), st.dates())
def test_any_text_and_any_day_are_safe(text: str, day: date) -> None:
    for d in find_dates(text, day):
        assert 0 <= d.start < d.end <= len(text)
        assert d.render()


@given(
    st.sampled_from(["decade", "year", "month", "week", "day", "weekend"]),
    st.integers(0, 999),
    st.dates(),
)
def test_distant_dates_stay_in_the_calendar(unit: str, count: int, day: date) -> None:
    assert len(find_dates(f"{count} {unit}s ago", day)) == 1
    assert len(find_dates(f"in {count} {unit}s", day)) == 1
