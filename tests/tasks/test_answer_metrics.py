from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memgene.tasks.metrics import (
    contains_match,
    exact_match,
    mcq_accuracy,
    squad_f1,
    token_f1,
)


@pytest.mark.parametrize(
    ("predicted", "expected", "score"),
    [
        ("the red house", "a red house!", 1.0),
        ("red red house", "red house", 0.8),  # 2·2 / (3 + 2)
        ("in May 2023", "7 May 2023", 2 / 3),
        ("", "", 1.0),
        ("the", "", 1.0),
        ("", "house", 0.0),
        ("house", "", 0.0),
        ("boat", "house", 0.0),
        ("“Straße” – Köln", "straße köln", 1.0),
        ("don't", "dont", 1.0),
    ],
)
def test_token_f1(predicted, expected, score):
    assert token_f1(predicted, expected) == pytest.approx(score)


@given(st.text(max_size=40), st.text(max_size=40))
def test_token_f1_is_symmetric_and_within_bounds(one, other):
    assert token_f1(one, other) == token_f1(other, one)
    assert 0 <= token_f1(one, other) <= 1
    assert token_f1(one, one) == 1


def test_squad_f1_keeps_punctuation_that_ascii_does_not_know():
    assert squad_f1("“red” house", "red house") == 0.5
    assert token_f1("“red” house", "red house") == 1.0
    assert squad_f1("The red, house.", "red house") == 1.0


def test_exact_match_wants_the_same_order():
    assert exact_match("The House, red", "house red") == 1
    assert exact_match("red house", "house red") == 0


@pytest.mark.parametrize(
    ("predicted", "expected", "score"),
    [
        ("It is 6:30 a.m., as always", "6:30 am", 1),
        ("cross-functional teams", "Crossfunctional", 1),
        ("I think ten hours", "ten", 1),
        ("tenth", "ten", 0),
        ("the artist's name", 'artist"s', 1),
        ("anything", "", 0),
        ("", "ten", 0),
    ],
)
def test_contains_follows_the_bfcl_rule(predicted, expected, score):
    assert contains_match(predicted, expected) == score


@pytest.mark.parametrize(
    ("predicted", "right"),
    [
        ("B", True),
        ("b", True),
        ("(B)", True),
        ("B. Rome", True),
        ("The answer is B", True),
        ('{"answer": "B"}', True),
        ("rome!", True),
        ("A", False),
        ("A city I do not know", False),
        ("(A) or (B)", False),
        ("", False),
    ],
)
def test_a_choice_is_named_by_letter_or_text(predicted, right):
    choices = ("Paris", "Rome", "Oslo")
    assert mcq_accuracy(predicted, choices, "Rome") == right
    assert mcq_accuracy(predicted, choices, "B") == right
