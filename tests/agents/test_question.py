"""What a question asks for, by its syntax."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memgene.agents.extractive.question import Kind, same_person, understand


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("When did Ana move?", Kind.WHEN),
        ("Which year did Ana move?", Kind.WHEN),
        ("In what month was the fair?", Kind.WHEN),
        ("What time does the shop open?", Kind.CLOCK),
        ("How long has Ana played?", Kind.HOW_LONG),
        ("How many years did it take?", Kind.HOW_LONG),
        ("How many cats does Ana have?", Kind.NUMBER),
        ("How much did it cost?", Kind.NUMBER),
        ("How old is Ana?", Kind.NUMBER),
        ("Who came to dinner?", Kind.WHO),
        ("Whose coat is it?", Kind.WHO),
        ("With whom did Ana travel?", Kind.WHO),
        ("Where does Ana live?", Kind.WHERE),
        ("Which city does Ana live in?", Kind.WHERE),
        ("Why did Ana leave?", Kind.WHY),
        ("How did Ana get home?", Kind.MANNER),
        ("Did Ana leave?", Kind.YES_NO),
        ("Is Ana a nurse?", Kind.YES_NO),
        ("Does Ana prefer tea or coffee?", Kind.CHOICE),
        ("What did Ana cook?", Kind.OPEN),
        ("Which instrument does Ana play?", Kind.OPEN),
        ("Which instruments does Ana play?", Kind.LIST),
        ("What are Ana's plans?", Kind.LIST),
        ("What kinds of tea does Ana drink?", Kind.LIST),
        ("Ana went abroad. Where did she go?", Kind.WHERE),
        ("After the storm, who repaired the roof?", Kind.WHO),
        ("What bread, other than rye, does Ana bake?", Kind.OPEN),
    ],
)
def test_kinds(text: str, kind: Kind) -> None:
    assert understand(text).kind is kind


def test_directions_after_the_question_are_not_what_it_is_about() -> None:
    asked = understand("How tall is the tower? Give the answer in metres.")
    assert asked.kind is Kind.NUMBER
    assert "metr" not in asked.stems


def test_focus_is_the_thing_asked_for_and_tail_the_last_key_word() -> None:
    asked = understand("How many turtles did Ana adopt?")
    assert (asked.focus, asked.tail) == ("turtl", "adopt")


def test_words_that_only_say_what_sort_of_answer_is_wanted_do_not_count() -> None:
    assert understand("What kind of tea does Ana drink?").stems == ("tea", "ana", "drink")


def test_english_is_told_by_function_words() -> None:
    assert understand("What did Ana cook?").english
    assert not understand("Wo wohnt Anna heute?").english
    assert not understand("アナはどこに住んでいますか").english


def test_people_are_known_by_short_forms_of_three_letters() -> None:
    assert same_person("Melissa", frozenset(["mel's"]))
    assert same_person("Ana Silva", frozenset(["silva"]))
    assert not same_person("Melissa", frozenset(["me"]))


@given(st.text(max_size=200))
def test_any_text_is_understood(text: str) -> None:
    assert understand(text).kind in Kind
