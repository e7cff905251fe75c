"""Which programs stand in the picture, in which colour, below whom."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memgene.programs.seeds import seed, seed_names
from memgene.reports.landscape import BANDS, bands, landscape
from memgene.reports.landscape_model import Landscape, MetProgram
from memgene.reports.landscape_projection import Method
from memgene.reports.landscape_storage import Storage

BANK, EMPTY, VECTOR = (seed(name).source for name in ("bank", "empty", "vector-search"))


def met(name: str, source: str, group: str = "seeds", **more: object) -> MetProgram:
    return MetProgram(name, f"title of {name}", source, group, **more)  # type: ignore[arg-type]


def drawn(*programs: MetProgram, apart: bool = False) -> Landscape:
    found = landscape(programs, "iteration", apart=apart)
    assert found is not None
    return found


def test_every_seed_has_a_place_and_its_architecture() -> None:
    found = drawn(*(met(name, seed(name).source) for name in seed_names()))
    assert [spot.name for spot in found.spots] == list(seed_names())
    assert found.storages == {
        Storage.BANK: 1,
        Storage.SQL_VECTOR: 1,
        Storage.VECTOR: 2,
        Storage.LLM: 1,
        Storage.PLAIN: 2,
    }
    assert found.method is Method.TSNE
    assert {0.0, 1.0} <= {spot.x for spot in found.spots}
    assert all(0 <= spot.x <= 1 and 0 <= spot.y <= 1 for spot in found.spots)


def test_equal_programs_give_equal_pictures() -> None:
    programs = [met(name, seed(name).source) for name in seed_names()]
    assert drawn(*programs) == drawn(*programs)


def test_renamed_programs_stand_on_one_point() -> None:
    other = EMPTY.replace("summary", "gist")
    first, second, third = drawn(met("a", EMPTY), met("b", other), met("c", BANK)).spots
    assert other != EMPTY
    assert (first.x, first.y) == (second.x, second.y)
    assert (first.x, first.y) != (third.x, third.y)


def test_one_text_is_shown_once_with_its_best_score_and_all_its_children() -> None:
    found = drawn(
        met("a", BANK, score=0.25),
        met("b", EMPTY, "pass 1", parent="a", score=0.5),
        met("c", BANK, "pass 1", score=0.75, best=True),
        met("d", VECTOR, "pass 2", parent="c"),
    )
    assert [(spot.name, spot.parent) for spot in found.spots] == [
        ("a", None),
        ("b", "a"),
        ("d", "a"),
    ]
    first = found.spots[0]
    assert (first.score, first.best, first.group) == (0.75, True, "seeds")
    assert found.groups == ("seeds", "pass 1", "pass 2")


def test_groups_that_stand_apart_each_show_their_own() -> None:
    found = drawn(met("x/a", BANK, "x"), met("y/a", BANK, "y"), apart=True)
    assert [spot.name for spot in found.spots] == ["x/a", "y/a"]


def test_a_text_that_goes_back_to_its_own_has_no_parent() -> None:
    found = drawn(met("a", BANK), met("b", BANK, parent="a"), met("c", EMPTY, parent="b"))
    assert [(spot.name, spot.parent) for spot in found.spots] == [("a", None), ("c", "a")]


def test_what_is_no_python_is_counted_and_its_children_stand_alone() -> None:
    found = drawn(met("a", BANK), met("b", "def broken(", parent="a"), met("c", EMPTY, parent="b"))
    assert [(spot.name, spot.parent) for spot in found.spots] == [("a", None), ("c", None)]
    assert found.unread == 1


@pytest.mark.parametrize("programs", [(), (met("a", BANK),), (met("a", BANK), met("b", BANK))])
def test_one_program_makes_no_landscape(programs: tuple[MetProgram, ...]) -> None:
    assert landscape(programs, "iteration") is None


def test_steps_have_at_most_four_colours() -> None:
    named = bands([0, 3, 10], "iteration")
    assert list(dict.fromkeys(named.values())) == [
        "seeds",
        "iterations 1–3",
        "iterations 4–5",
        "iterations 6–8",
        "iterations 9–10",
    ]
    assert list(bands([2], "pass").values()) == ["seeds", "pass 1", "pass 2"]
    assert bands([], "pass") == {0: "seeds"}


@given(st.integers(1, 60))
def test_a_span_of_steps_holds_those_it_names(last: int) -> None:
    named = bands([last], "step")
    assert len(set(named.values())) == 1 + min(last, BANDS)
    for number in range(1, last + 1):
        first, _, end = named[number].partition(" ")[2].partition("–")
        assert int(first) <= number <= int(end or first)
