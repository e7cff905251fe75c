"""Contexts as lines: hits first, text otherwise."""

from __future__ import annotations

from datetime import date, datetime

import pytest

from memgene.agents.extractive.lines import read_lines
from memgene.core import Context, Hit


def test_a_rendered_line_is_cut_into_date_speaker_and_words() -> None:
    (line,) = read_lines(Context("[8 May 2023] Ana Silva: I cook rice. (a photo of a pot)"))
    assert (line.day, line.speaker) == (date(2023, 5, 8), "Ana Silva")
    assert line.text == "I cook rice. (a photo of a pot)"
    assert [s.aside for s in line.sentences] == [False, True]


def test_plain_paragraphs_and_bullets_have_neither_date_nor_speaker() -> None:
    lines = read_lines(Context("- Ana cooks rice.\n\nShe lives in Porto: a city."))
    assert [x.text for x in lines] == ["Ana cooks rice.", "She lives in Porto: a city."]
    assert all(x.speaker is None and x.day is None for x in lines)
    assert [x.rank for x in lines] == [0, 1]


def test_a_date_on_a_line_of_its_own_dates_what_follows() -> None:
    lines = read_lines(Context("Date: 8 May 2023\nAna: Hi.\n## 9 May 2023\nBo: Hi."))
    assert [(x.speaker, x.day) for x in lines] == [
        ("Ana", date(2023, 5, 8)),
        ("Bo", date(2023, 5, 9)),
    ]


@pytest.mark.parametrize(
    "header",
    [
        "9 May 2023",
        "[9 May 2023, 1:56 pm]",
        "Session date: Tuesday, May 9, 2023",
        "2023-05-09 13:56",
    ],
)
def test_ways_to_write_a_header(header: str) -> None:
    (line,) = read_lines(Context(f"{header}\nBo: Hi."))
    assert line.day == date(2023, 5, 9)


def test_a_sentence_with_a_date_is_no_header() -> None:
    assert len(read_lines(Context("Ana left on 9 May 2023.\nBo stayed."))) == 2


def test_the_order_of_hits_promises_more_than_that_of_a_text() -> None:
    hits = (Hit("a", "One.", 2.0), Hit("b", "Two.", 1.0))
    assert [x.prior for x in read_lines(Context("", hits, shown=2))] == [1.0, 0.5]
    assert [x.prior for x in read_lines(Context("One.\nTwo."))] == [0.5, 0.25]


def test_a_bracket_without_a_date_stays_in_the_text() -> None:
    (line,) = read_lines(Context("[laughing] That was odd."))
    assert line.text == "[laughing] That was odd."


def test_shown_hits_come_before_the_text_in_rank_order() -> None:
    when = datetime(2023, 5, 9, 18, 0)
    hits = (
        Hit("a", "I cook.", 2.0, rendered="[9 May 2023] Ana: I cook.", event_time=when),
        Hit("b", "I paint.", 1.0, speaker="Bo"),
        Hit("c", "Not shown.", 0.5),
    )
    lines = read_lines(Context("anything", hits, shown=2))
    assert [(x.id, x.text, x.speaker, x.day) for x in lines] == [
        ("a", "I cook.", "Ana", date(2023, 5, 9)),
        ("b", "I paint.", "Bo", None),
    ]


def test_an_empty_context_has_no_lines() -> None:
    assert read_lines(Context("")) == []
    assert read_lines(Context(" \n\n")) == []
