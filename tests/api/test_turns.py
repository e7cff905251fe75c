"""Where new turns of a known conversation go."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memgene.api.turns import offset_of

turns = st.lists(st.tuples(st.none(), st.sampled_from("abc")), max_size=8)


def said(text: str) -> list[tuple[None, str]]:
    return [(None, letter) for letter in text]


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
        ("ab", "xa", 2),
    ],
)
def test_new_turns_go_where_they_overlap_most(stored: str, new: str, offset: int) -> None:
    assert offset_of(said(new), said(stored)) == offset


@settings(deadline=None)
@given(turns, turns)
def test_placed_turns_never_contradict_stored_ones_and_leave_no_gap(
    new: list[tuple[None, str]], stored: list[tuple[None, str]]
) -> None:
    offset = offset_of(new, stored)
    assert 0 <= offset <= len(stored)
    here = stored[offset : offset + len(new)]
    assert here == new[: len(here)]


@settings(deadline=None)
@given(turns)
def test_handing_in_again_moves_nothing(stored: list[tuple[None, str]]) -> None:
    assert offset_of(stored, stored) == 0
