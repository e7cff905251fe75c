"""An episode's text, as programs get it, is read back into its turns and its time."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memgene.bank.unit import render_date
from memgene.core import Episode, InputError, Message
from memgene.harness.program import raw_text_of
from memgene.programs.guest.episode_text import Turn, read_time, turns_of


def test_a_date_line_and_turns() -> None:
    text = "[8 May 2023, 1:56 pm]\nAna: I sold the boat: it leaked.\nDr. Ben O'Hara: A pity."
    assert turns_of(text) == (
        datetime(2023, 5, 8, 13, 56),
        [
            Turn(0, "Ana", "I sold the boat: it leaked."),
            Turn(1, "Dr. Ben O'Hara", "A pity."),
        ],
    )


def test_lines_without_a_speaker_go_on_with_the_turn() -> None:
    text = "Ana: My list:\n- milk\n\n- http://shop.example/a\nBen:\nall right\nAna:  "
    assert turns_of(text) == (
        None,
        [
            Turn(0, "Ana", "My list:\n- milk\n- http://shop.example/a"),
            Turn(1, "Ben", "all right"),
        ],
    )


def test_where_nobody_speaks_each_line_is_a_turn() -> None:
    text = "[not a date]\nThe first thing.\n\nThe second thing."
    assert turns_of(text) == (
        None,
        [
            Turn(0, None, "[not a date]"),
            Turn(1, None, "The first thing."),
            Turn(2, None, "The second thing."),
        ],
    )


@pytest.mark.parametrize("text", ["", "  \n", "[8 May 2023]", "[8 May 2023]\n"])
def test_no_turns(text: str) -> None:
    assert turns_of(text)[1] == []


words = st.text(alphabet="abc :.[]", min_size=1, max_size=12).filter(str.strip)
moments = st.datetimes(datetime(1990, 1, 1), datetime(2040, 1, 1)).map(
    lambda moment: moment.replace(second=0, microsecond=0)
)


@given(
    st.lists(st.tuples(st.sampled_from(["Ana", "Ben B.", "user"]), words), min_size=1, max_size=5),
    st.one_of(st.none(), moments),
)
def test_what_the_harness_writes_is_what_is_read(
    told: list[tuple[str, str]], moment: datetime | None
) -> None:
    messages = tuple(Message(text, speaker=speaker) for speaker, text in told)
    text = raw_text_of(Episode("e", messages, "g", moment))
    read, turns = turns_of(text)
    assert read == moment
    assert [(turn.speaker, turn.words.strip()) for turn in turns] == [
        (speaker, words.strip()) for speaker, words in told
    ]


@given(moments)
def test_a_rendered_time_is_read(moment: datetime) -> None:
    assert read_time(render_date(moment)) == moment


@pytest.mark.parametrize(
    ("value", "moment"),
    [
        (None, None),
        ("", None),
        ("soon", None),
        ("May 2023", None),
        ("31 June 2023", None),
        ("2023-05-08", datetime(2023, 5, 8)),
        ("2023-05-08T13:56:00+00:00", datetime(2023, 5, 8, 13, 56, tzinfo=UTC)),
        ("8 May 2023, 12:05 am", datetime(2023, 5, 8, 0, 5)),
        ("8 May 2023, 12:05 pm", datetime(2023, 5, 8, 12, 5)),
        ("on May 8th, 2023, at noon", datetime(2023, 5, 8)),
        (date(2023, 5, 8), datetime(2023, 5, 8)),
        (datetime(2023, 5, 8, 1), datetime(2023, 5, 8, 1)),
    ],
)
def test_times(value: object, moment: datetime | None) -> None:
    assert read_time(value) == moment


def test_other_types_are_no_times() -> None:
    with pytest.raises(InputError, match="datetime"):
        read_time(20230508)
