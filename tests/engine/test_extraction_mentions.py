"""Names, numbers and dates of a text, which period may be told as which, and gaps."""

from __future__ import annotations

from datetime import date, datetime

import pytest

from memgene.bank.unit import MemoryUnit
from memgene.core import Episode, Message
from memgene.engine.extraction.attribution import Attributor
from memgene.engine.extraction.coverage import gaps, share_told
from memgene.engine.extraction.mentions import Period, backs, find_mentions
from memgene.engine.extraction.turns import Turn, slices, turns_of
from memgene.retrieval.periods import Grain

DAY = date(2024, 5, 8)


def names(text: str) -> list[str]:
    return [name.text for name in find_mentions(text, DAY).names]


def turns(*lines: str) -> list[Turn]:
    messages = tuple(Message(line, f"t{n}", "Anna") for n, line in enumerate(lines))
    return turns_of(Episode("e", messages, "g", datetime(2024, 5, 8)))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("We met Clara Smith in Porto.", ["Clara Smith", "Porto"]),
        ("Porto was nice. Lovely! We ate.", []),
        ("Old Porto was nice.", ["Old Porto"]),
        ("I think, OK, Mom and I read Emma.", ["Emma"]),
        ("The NASA tour. NASA!", ["NASA"]),
        ("we ride on Monday in May to Faro", ["Faro"]),
        ("we saw O'Brien's pub", ["O'Brien's"]),
        ("GREAT NEWS EVERYONE", []),
        ("we saw 北京 and Écija", ["Écija"]),
    ],
)
def test_names_are_capitals_inside_a_sentence(text: str, expected: list[str]) -> None:
    assert names(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("3 boats, 1,000 euros, 2.5 miles, 10:30", ("3", "1000", "2.5", "10:30")),
        ("two boats and twenty-five cats", ("2", "20", "5")),
        ("one boat for someone", ()),
        ("on 7 May 2024 I paid 7 euros", ("7",)),
        ("in 2023 and at 20:23", ("20:23",)),
    ],
)
def test_numbers_are_digits_or_words_outside_dates(text: str, expected: tuple[str, ...]) -> None:
    assert find_mentions(text, DAY).numbers == expected


def test_dates_are_periods() -> None:
    found = find_mentions("Yesterday, last week, in May 2023, in summer 2022, in 2021.", DAY).dates
    assert [(p.first, p.last) for p in found] == [
        (date(2024, 5, 7), date(2024, 5, 7)),
        (date(2024, 4, 29), date(2024, 5, 5)),
        (date(2023, 5, 1), date(2023, 5, 31)),
        (date(2022, 6, 1), date(2022, 8, 31)),
        (date(2021, 1, 1), date(2021, 12, 31)),
    ]


def period(first: date, last: date, grain: Grain) -> Period:
    return Period(first, last, grain)


MAY_7 = period(date(2024, 5, 7), date(2024, 5, 7), Grain.DAY)
WEEK = period(date(2024, 5, 6), date(2024, 5, 12), Grain.WEEK)
MAY = period(date(2024, 5, 1), date(2024, 5, 31), Grain.MONTH)
YEAR = period(date(2024, 1, 1), date(2024, 12, 31), Grain.YEAR)


@pytest.mark.parametrize(
    ("source", "told", "may"),
    [
        (MAY_7, MAY_7, True),
        (MAY_7, MAY, True),
        (MAY_7, YEAR, True),
        (WEEK, MAY_7, True),
        (MAY, MAY_7, False),
        (YEAR, MAY, False),
        (MAY_7, period(date(2024, 5, 8), date(2024, 5, 8), Grain.DAY), False),
    ],
)
def test_a_date_may_be_told_coarser_and_a_week_as_one_of_its_days(
    source: Period, told: Period, may: bool
) -> None:
    assert backs(source, told) is may


def test_gaps_are_mentions_no_statement_tells_speakers_and_today_aside() -> None:
    said = turns("Hi, Anna here: today I met Clara and 2 dogs in Porto.", "We met in Porto, Clara!")
    assert [(gap.kind, gap.text, gap.turn.ref) for gap in gaps(said, ())] == [
        ("name", "Clara", "t0"),
        ("name", "Porto", "t0"),
        ("number", "2", "t0"),
    ]


def test_the_share_told_is_over_names_numbers_and_dates() -> None:
    said = turns("Last week we saw Clara and 2 dogs in Porto.")
    assert share_told(said, []) == 0
    assert share_told(said, [MemoryUnit("Anna saw two dogs in PORTO.")]) == 0.5
    week = MemoryUnit("Anna saw Clara.", event_time=datetime(2024, 5, 1))
    assert share_told(said, [week]) == 0.5
    assert share_told(turns("Nothing to see."), []) == 1


def test_slices_are_even_and_bounded_by_characters() -> None:
    said = turns(*(f"line {n}" for n in range(7)))
    assert [len(s) for s in slices(said, 3)] == [2, 2, 3]
    assert [len(s) for s in slices(said, 40)] == [7]
    assert list(slices([], 3)) == []
    assert [len(s) for s in slices(turns("x" * 20_000, "y" * 20_000), 40)] == [1, 1]


@pytest.mark.parametrize(
    ("statement", "cited", "refs"),
    [
        ("Anna bought a boat", [1], ["t0"]),
        ("Anna bought a boat", [], ["t0"]),
        ("Anna fed the grey cat", [1], ["t2"]),
        ("Anna bought a boat and painted it", [1, 2], ["t0", "t1"]),
        ("Ben sold rockets", [], []),
        ("Ben sold rockets", [2], ["t1"]),
        ("Anna bought a boat", [9, 0, -1], ["t0"]),
        ("Anna bought a boat", [1, 2, 3, 4], ["t0", "t1", "t2"]),
    ],
)
def test_a_fact_stands_for_cited_turns_that_fit_else_for_the_best(
    statement: str, cited: list[int], refs: list[str]
) -> None:
    said = turns("I bought a boat", "I painted it", "The grey cat was fed", "Good night")
    assert [turn.ref for turn in Attributor(said).turns_of(statement, cited)] == refs
