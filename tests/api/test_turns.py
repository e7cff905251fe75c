"""Where new turns of a known conversation go."""

from __future__ import annotations

from datetime import datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memgene.api.turns import Turn, offset_of, placed
from memgene.bank import MemoryUnit

turns = st.lists(st.tuples(st.none(), st.sampled_from("abc"), st.none()), max_size=8)


def said(text: str) -> list[Turn]:
    return [(None, letter, None) for letter in text]


@pytest.mark.parametrize(
    ("stored", "new", "offset"),
    [
        ("", "ab", 0),
        ("ab", "c", 2),
        ("ab", "ab", 0),
        ("ab", "abc", 0),
        ("abc", "bc", 1),
        ("abc", "cd", 2),
        ("abab", "abx", 2),
        ("abcab", "abc", 0),
        ("abc", "ab", 0),
        ("ab", "xa", 2),
        ("aba", "b", 3),
        ("ab", "a", 2),
        ("ab", "b", 1),
        ("abc", "bx", 3),
    ],
)
def test_new_turns_go_where_they_overlap_most(stored: str, new: str, offset: int) -> None:
    assert offset_of(said(new), said(stored)) == offset


@settings(deadline=None)
@given(turns, turns)
def test_placed_turns_never_contradict_stored_ones_and_leave_no_gap(
    new: list[Turn], stored: list[Turn]
) -> None:
    offset = offset_of(new, stored)
    assert 0 <= offset <= len(stored)
    here = stored[offset : offset + len(new)]
    assert here == new[: len(here)]


@settings(deadline=None)
@given(turns)
def test_handing_in_again_moves_nothing(stored: list[Turn]) -> None:
    assert offset_of(stored, stored) == 0


@settings(deadline=None)
@given(turns, st.tuples(st.none(), st.sampled_from("abc"), st.none()))
def test_a_turn_that_differs_from_the_last_one_follows_it(stored: list[Turn], new: Turn) -> None:
    again = bool(stored) and stored[-1] == new
    assert offset_of([new], stored) == len(stored) - again


def test_the_same_words_at_another_time_are_another_turn() -> None:
    noon, later = datetime(2024, 5, 8, 12), datetime(2024, 5, 8, 13)
    assert offset_of([(None, "a", later)], [(None, "a", noon)]) == 1
    assert offset_of([(None, "a", noon)], [(None, "a", noon)]) == 0


def test_units_take_the_places_of_those_they_repeat_and_then_follow_the_last() -> None:
    stored = [MemoryUnit(text, turn_start=at, turn_end=at) for text, at in (("a", 0), ("b", 3))]
    new = [MemoryUnit(text, turn_start=at, turn_end=at) for at, text in enumerate("abcd")]
    assert [(u.turn_start, u.turn_end) for u in placed(new, stored)] == [
        (0, 0),
        (3, 3),
        (4, 4),
        (5, 5),
    ]
    assert [u.turn_start for u in placed(new, [])] == [0, 1, 2, 3]
