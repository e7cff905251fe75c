"""The index of one scope: columns, neighbours and names, exact under adds, removals, revaluing."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memgene.bank.unit import MemoryUnit
from memgene.retrieval.index import NONE, UnitIndex, day_number
from memgene.retrieval.traits import TRAITS

Make = Callable[..., UnitIndex]
Units = Callable[..., list[MemoryUnit]]


def turn(seq: int, source: str | None, place: int | None, text: str = "word") -> MemoryUnit:
    return MemoryUnit(text, source=source, turn_start=place, id=f"u{seq}", seq=seq)


def around(index: UnitIndex) -> dict[str, tuple[str | None, str | None]]:
    """Ids of the units before and after each living unit."""

    def name(row: int) -> str | None:
        return None if row == NONE else index.units[row].id

    rows = [(index.units[r].id, r) for r in range(len(index)) if index.alive[r]]
    return {i: (name(int(index.previous[r])), name(int(index.next[r]))) for i, r in rows}


def test_neighbours_follow_the_turns_of_a_source_not_the_order_of_adding() -> None:
    index = UnitIndex()
    index.append([turn(1, "a", 2), turn(2, "b", 0), turn(3, "a", 0)])
    index.append([turn(4, "a", 1), turn(5, None, None)])
    assert around(index) == {
        "u3": (None, "u4"),
        "u4": ("u3", "u1"),
        "u1": ("u4", None),
        "u2": (None, None),
        "u5": (None, None),
    }


def test_neighbours_without_turn_numbers_follow_the_order_of_adding() -> None:
    index = UnitIndex()
    index.append([turn(1, "a", None), turn(2, "b", None), turn(3, "a", None)])
    assert around(index)["u1"] == (None, "u3")
    assert around(index)["u3"] == ("u1", None)


def test_removal_closes_the_gap(index_of: Make) -> None:
    index = index_of("one", "two", "three", "four")
    index.remove("u2")
    assert around(index) == {"u1": (None, "u3"), "u3": ("u1", "u4"), "u4": ("u3", None)}
    index.remove("u1")
    index.remove("u4")
    assert around(index) == {"u3": (None, None)}
    index.remove("u1")
    index.remove("never there")
    assert (index.living, len(index)) == (1, 4)


def test_shifting_walks_along_the_source_and_falls_off_its_ends(index_of: Make) -> None:
    index = index_of("one", "two", "three")
    rows = np.asarray([0, 1, 2])
    assert index.shifted(rows, 1).tolist() == [1, 2, NONE]
    assert index.shifted(rows, 2).tolist() == [2, NONE, NONE]
    assert index.shifted(rows, -1).tolist() == [NONE, 0, 1]
    assert index.shifted(rows, 0).tolist() == [0, 1, 2]
    assert index.shifted(np.asarray([NONE]), 1).tolist() == [NONE]


def test_statistics_count_living_rows_only(index_of: Make) -> None:
    index = index_of("one", "one two three", "one two")
    assert (index.living, index.window_lengths((0,))[1]) == (3, 2.0)
    index.remove("u2")
    assert (index.living, index.window_lengths((0,))[1]) == (2, 1.5)
    two = index.postings.term("two")
    assert two is not None
    assert index.postings.df(two) == 1
    assert UnitIndex().window_lengths((0,))[1] == 1.0


def test_window_lengths_add_up_the_neighbours(index_of: Make) -> None:
    index = index_of("a b c", "d", "e f")
    lengths, mean = index.window_lengths((-1, 0, 1))
    assert lengths.tolist() == [4, 6, 3]
    assert mean == pytest.approx(13 / 3)
    lengths, mean = index.window_lengths((-1, 0))
    assert lengths.tolist() == [3, 4, 3]
    index.remove("u2")
    lengths, mean = index.window_lengths((-1, 0, 1))
    assert (lengths[0], lengths[2]) == (5, 5)
    assert mean == 5
    index.append([turn(9, "talk", 9, "g h")])
    assert index.window_lengths((-1, 0, 1))[0][3] == 4


def test_the_speaker_and_the_words_are_indexed_the_date_is_not(index_of: Make) -> None:
    index = index_of(
        MemoryUnit("We sailed.", speaker="Anna", event_time=datetime(2024, 5, 1, 18, 0))
    )
    assert index.postings.term("anna") is not None
    assert index.postings.term("sail") is not None
    assert index.postings.term("2024") is None
    assert index.length.tolist() == [3]
    assert index.day[0] == datetime(2024, 5, 1).toordinal() + 0.75


def test_the_words_of_dates_are_counted_as_the_full_text_holds_them(index_of: Make) -> None:
    june = MemoryUnit("in June", event_time=datetime(2024, 6, 1))
    index = index_of(june, MemoryUnit("tea", event_time=datetime(2024, 10, 1)), "tea")
    found = {s: index.text_df(s) for s in ("2024", "june", "octob", "tea", "cup")}
    assert found == {"2024": 2, "june": 2, "octob": 1, "tea": 2, "cup": 0}
    index.remove("u2")
    assert (index.text_df("2024"), index.text_df("octob"), index.text_df("tea")) == (1, 0, 1)


def test_parts_of_dates_are_unknown_without_one(index_of: Make) -> None:
    index = index_of(MemoryUnit("a", event_time=datetime(2024, 5, 1)), "b")
    parts = [index.date_part(name).tolist() for name in ("year", "month", "day")]
    assert parts == [[2024, NONE], [5, NONE], [1, NONE]]


def test_days_count_as_written_and_are_unknown_without_a_time() -> None:
    assert day_number(datetime(1, 1, 2, 12)) == 2.5
    assert day_number(datetime(1, 1, 2, 12, tzinfo=UTC)) == 2.5
    assert math.isnan(day_number(None))


def test_speakers_and_persons_are_known_by_the_stems_of_their_names(index_of: Make) -> None:
    index = index_of(
        "Anna Berg: Hello.",
        MemoryUnit("They met.", persons=("Charles",)),
        "Anna Berg: Bye.",
    )
    anna = index.speaker[0]
    assert index.speaker.tolist() == [anna, NONE, anna]
    assert index.name_words["anna"] == index.name_words["berg"] == {anna}
    assert "charl" in index.name_words


def test_a_name_is_forgotten_with_the_last_unit_that_bears_it(index_of: Make) -> None:
    index = index_of(
        "Anna Berg: Hello.", MemoryUnit("They met.", persons=("Anna Lund",)), "Anna Berg: Bye."
    )
    berg = index.speaker[0]
    index.remove("u1")
    assert index.name_words["berg"] == {berg}
    index.remove("u3")
    assert "berg" not in index.name_words
    assert len(index.name_words["anna"]) == 1


def test_labels_are_looked_up_by_stem(index_of: Make) -> None:
    index = index_of(
        MemoryUnit("x", entities=("Red Boats",)),
        MemoryUnit("y", locations=("Graz",), topics=("boat",)),
        MemoryUnit("z", keywords=("boats",)),
    )
    assert index.labelled("boat").tolist() == [0, 1, 2]
    assert index.labelled("graz").tolist() == [1]
    assert index.labelled("nothing").tolist() == []


def test_terms_are_found_by_their_first_four_characters(index_of: Make) -> None:
    index = index_of("gardens gardener garlic gar")
    names = {v: k for k, v in index.postings.vocabulary.items()}
    assert [names[t] for t in index.prefixed("gardenia")] == ["garden"]
    assert [names[t] for t in index.prefixed("garlic")] == ["garlic"]
    assert index.prefixed("gar") == []


@pytest.mark.parametrize("name", ["importance", "reinforcement", "utility"])
def test_changed_values_are_taken_over_in_place(index_of: Make, name: str) -> None:
    index = index_of("one", "two")
    changed = replace(index.units[1], **{name: 1})
    assert index.revalue(1, changed)
    assert index.boost(name)[1] == 1
    assert index.units[1] is changed


def test_a_caption_that_comes_later_is_taken_over(index_of: Make) -> None:
    index = index_of("one", "two")
    caption = TRAITS.index("caption")
    assert index.traits_at(np.asarray([0, 1]))[:, caption].tolist() == [0, 0]
    assert index.revalue(1, replace(index.units[1], metadata={"caption": "a boat"}))
    assert index.traits_at(np.asarray([0, 1]))[:, caption].tolist() == [0, 1]


@pytest.mark.parametrize(
    "change",
    [
        {"content": "three"},
        {"speaker": "Ben"},
        {"source": "other"},
        {"turn_start": 7},
        {"event_time": datetime(2024, 1, 1)},
        {"persons": ("Ben",)},
        {"entities": ("Boat",)},
        {"locations": ("Graz",)},
        {"topics": ("sea",)},
        {"keywords": ("sea",)},
    ],
)
def test_anything_else_that_changed_needs_a_new_row(
    index_of: Make, change: dict[str, object]
) -> None:
    index = index_of("one", "two")
    before = index.units[1]
    assert not index.revalue(1, replace(before, utility=1.0, **change))  # type: ignore[arg-type]
    assert index.units[1] is before
    assert index.boost("utility")[1] == 0.5


steps = st.lists(
    st.one_of(
        st.tuples(
            st.just("add"),
            st.sampled_from(["a", "b", None]),
            st.one_of(st.none(), st.integers(0, 5)),
            st.lists(st.sampled_from(["tea", "pot", "cup"]), max_size=4).map(" ".join),
        ),
        st.tuples(st.just("remove"), st.integers(0, 20)),
    ),
    max_size=20,
)


@settings(max_examples=80)
@given(steps)
def test_an_index_that_followed_equals_one_built_at_once(sequence: list[tuple]) -> None:  # type: ignore[type-arg]
    followed, living = UnitIndex(), []
    for seq, step in enumerate(sequence, 1):
        if step[0] == "add":
            unit = turn(seq, *step[1:])
            followed.append([unit])
            living.append(unit)
        elif living:
            gone = living.pop(step[1] % len(living))
            followed.remove(gone.id)
    built = UnitIndex()
    built.append(living)
    assert around(followed) == around(built)
    assert followed.living == built.living
    for offsets in ((0,), (-1, 0, 1), (0, 1)):
        lengths, mean = followed.window_lengths(offsets)
        expected, expected_mean = built.window_lengths(offsets)
        assert lengths[followed.alive].tolist() == expected.tolist()
        assert mean == pytest.approx(expected_mean)
    for word in ("tea", "pot", "cup"):
        here, there = followed.postings.term(word), built.postings.term(word)
        df = 0 if here is None else followed.postings.df(here)
        assert df == (0 if there is None else built.postings.df(there))
