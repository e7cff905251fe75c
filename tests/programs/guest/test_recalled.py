"""Which hits of the bank a program's text is made of."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memgene.core import Hit
from memgene.programs.guest.recalled import recalled


def hit(name: str, rendered: str) -> Hit:
    return Hit(name, rendered, 1.0, rendered=rendered)


A, B = hit("a", "[8 May 2023] Ann: a boat"), hit("b", "Bob: a tree")
LONG = hit("l", "Ann: a poem\nof two lines")
HEAD = hit("h", "Ann: a poem")


def test_a_text_of_whole_lines_is_a_ranking_in_its_own_order() -> None:
    text = f"{B.rendered}\n\n{A.rendered}\n"
    assert recalled(text, [A, LONG, B]) == ([B, A, LONG], 2)


def test_anything_else_in_it_makes_it_the_programs_own() -> None:
    assert recalled(f"Found:\n{A.rendered}", [A]) is None
    assert recalled(A.rendered[:-1], [A]) is None
    assert recalled(A.rendered + " …", [A]) is None


def test_an_empty_text_shows_none_of_what_was_found() -> None:
    assert recalled("", [A]) == ([A], 0)
    assert recalled("", []) == ([], 0)


def test_a_unit_of_several_lines_stands_as_one() -> None:
    assert recalled(f"{LONG.rendered}\n{B.rendered}", [HEAD, LONG, B]) == ([LONG, B, HEAD], 2)
    assert recalled(f"{HEAD.rendered}\n{B.rendered}", [HEAD, LONG, B]) == ([HEAD, B, LONG], 2)


@given(st.permutations([A, B, LONG]), st.integers(0, 3))
def test_every_choice_of_hits_is_told_back(order: list[Hit], shown: int) -> None:
    text = "\n".join(each.rendered for each in order[:shown])
    found = recalled(text, [A, B, LONG])
    assert found is not None
    assert found[0][: found[1]] == order[:shown]
    assert {each.id for each in found[0]} == {"a", "b", "l"}
