"""The structured view: shared persons, entities, places and dates."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

import pytest

from memgene.bank.unit import MemoryUnit
from memgene.retrieval.index import UnitIndex
from memgene.retrieval.query import DateMention, analyse
from memgene.retrieval.structured import date_match, structured_scores

Make = Callable[..., UnitIndex]


@pytest.fixture
def index(index_of: Make) -> UnitIndex:
    return index_of(
        MemoryUnit("Hello.", speaker="Anna", event_time=datetime(2023, 5, 8, 13)),
        MemoryUnit("Hello.", speaker="Ben", event_time=datetime(2023, 6, 8)),
        MemoryUnit("Hello.", entities=("Red Boat",), locations=("Graz",)),
        MemoryUnit("Hello.", topics=("boats",), event_time=datetime(2022, 5, 9)),
    )


def scores(index: UnitIndex, question: str) -> list[float]:
    return structured_scores(analyse(question, index), index).tolist()


def test_a_speaker_and_each_word_of_a_label_count_one_half(index: UnitIndex) -> None:
    assert scores(index, "What did Anna say?") == [0.5, 0, 0, 0]
    assert scores(index, "What did Anna say to Ben?") == [0.5, 0.5, 0, 0]
    assert scores(index, "Which boat is it?") == [0, 0, 0.5, 0.5]
    assert scores(index, "Which red boat is in Graz?") == [0, 0, 1.5, 0.5]


def test_a_person_who_is_told_of_counts_like_any_label(index_of: Make) -> None:
    index = index_of(
        MemoryUnit("They sailed.", persons=("Mira",)),
        MemoryUnit("We sailed.", speaker="Mira", persons=("Mira",)),
        MemoryUnit("We sailed.", speaker="Ben"),
    )
    assert scores(index, "What did Mira do?") == [0.5, 0.5, 0]


def test_a_date_counts_by_the_share_of_its_parts(index: UnitIndex) -> None:
    assert scores(index, "What was said on 8 May 2023?") == pytest.approx([1, 2 / 3, 0, 1 / 3])
    assert scores(index, "What was said in May?") == [1, 0, 0, 1]
    assert scores(index, "What was said in 2023?") == [1, 1, 0, 0]
    assert scores(index, "What did Anna say in May?") == [1.5, 0, 0, 1]


def test_a_unit_without_a_date_matches_none(index: UnitIndex) -> None:
    assert date_match(DateMention(2023, 5, 8), index)[2] == 0


def test_nothing_shared_is_nothing(index: UnitIndex) -> None:
    assert scores(index, "What now?") == [0, 0, 0, 0]


def test_removed_rows_score_nothing(index: UnitIndex) -> None:
    for unit_id in ("u1", "u3"):
        index.remove(unit_id)
    assert scores(index, "Which boat was it in May 2023?") == pytest.approx([0, 0.5, 0, 1])
