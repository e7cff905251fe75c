"""Stretches of time in questions, resolved by hand."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memgene.bank.unit import MemoryUnit
from memgene.retrieval.index import UnitIndex
from memgene.retrieval.query import analyse
from memgene.retrieval.structured import structured_scores
from memgene.retrieval.time_range import find_range

NEWEST = date(2023, 9, 1)
OPEN = float("inf")


def days(question: str) -> tuple[object, object] | None:
    """First and last day of the stretch, None where it is open."""
    found = find_range(question)
    if found is None:
        return None
    low, high = found.days(NEWEST)
    return (
        None if low == -OPEN else date.fromordinal(int(low)),
        None if high == OPEN else date.fromordinal(int(high) - 1),
    )


@pytest.mark.parametrize(
    ("question", "first", "last"),
    [
        ("What did Ana paint between March and May 2023?", date(2023, 3, 1), date(2023, 5, 31)),
        ("What happened between 3 May and 8 May?", date(2023, 5, 3), date(2023, 5, 8)),
        ("Where was Ben from June 2021 to January 2022?", date(2021, 6, 1), date(2022, 1, 31)),
        ("Who called before April 2023?", None, date(2023, 3, 31)),
        ("What did she buy after 8 May, 2023?", date(2023, 5, 9), None),
        ("What did she buy after May 8th 2023?", date(2023, 5, 9), None),
        ("What has Ben read since 2022?", date(2022, 1, 1), None),
        ("What has Ben read since October?", date(2022, 10, 1), None),
        ("What was done by June?", None, date(2023, 6, 30)),
        ("What did they do in the summer of 2022?", date(2022, 6, 1), date(2022, 8, 31)),
        ("What did they do last winter?", date(2022, 12, 1), date(2023, 2, 28)),
    ],
)
def test_what_a_stretch_of_time_covers(question: str, first: date, last: date) -> None:
    assert days(question) == (first, last)


@pytest.mark.parametrize(
    "question",
    [
        "What happened in May 2023?",
        "What happened on 8 May 2023?",
        "What did Ana do after the concert?",
        "What is the difference between the two boats?",
        "Who may come by later?",
        "What was said by Ana?",
        "",
    ],
)
def test_a_date_or_other_words_are_no_stretch_of_time(question: str) -> None:
    assert days(question) is None


def test_a_day_that_does_not_exist_is_no_point_in_time() -> None:
    assert days("What was done before 31 February 2023?") is None


def test_the_structured_view_finds_what_lies_inside(index_of: Callable[..., UnitIndex]) -> None:
    index = index_of(
        *(MemoryUnit("sailed", event_time=datetime(2023, month, 15, 18)) for month in range(2, 7)),
        MemoryUnit("sailed"),
    )

    def scores(question: str) -> list[float]:
        return structured_scores(analyse(question, index), index).tolist()

    assert scores("What was done between March and May 2023?") == [0, 1, 1, 1, 0, 0]
    assert scores("What was done after April 2023?") == [0, 0, 0, 1, 1, 0]
    assert scores("What was done before March?") == [1, 0, 0, 0, 0, 0]
    assert scores("What was done until 15 March 2023?") == [1, 1, 0, 0, 0, 0]


@given(st.text(max_size=80))
def test_no_text_is_too_strange(text: str) -> None:
    for start in ("between ", "since ", ""):
        found = find_range(f"{start}{text} and May 2020")
        if found is not None:
            low, high = found.days(NEWEST)
            assert low == low
            assert high == high
