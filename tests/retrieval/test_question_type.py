"""Predicted question types, by the syntax of the question alone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memgene.retrieval.question_type import QUESTION_TYPES, predict_type

TABLE = {
    "when": (
        "When did the bakery open?",
        "What year was the bridge built?",
        "On which day does the market close?",
        "Since when is the mill idle?",
        "“When is it?”",
    ),
    "how_long": ("How long did the repair take?", "How old is the oak?"),
    "how_many": ("How many oars are there?", "How much is the fare?", "How often do they meet?"),
    "who": ("Who painted the sign?", "Whose boat is it?", "With whom did Ben sail?"),
    "where": ("Where is the key?", "Which city do they visit?", "From where came the letter?"),
    "yes_no": ("Is the door open?", "Did Anna call?", "Has the rope arrived?", "Can Ben swim?"),
    "why": ("Why is the mill idle?", "What was the reason for the delay?", "How come it rains?"),
    "inference": (
        "Would Anna like a canoe?",
        "What might Ben study?",
        "Is Mira likely to move?",
        "What could the noise be?",
    ),
    "list": (
        "What kinds of tea are sold?",
        "Which books did Mira read?",
        "What are the hobbies of Ben?",
        "What outdoor activities do they share?",
    ),
    "single": (
        "What did Anna buy?",
        "What is the colour of the door?",
        "Tell me about the mill.",
        "何を買いましたか",
        "",
    ),
}
PAIRS = [(kind, question) for kind, questions in TABLE.items() for question in questions]


@pytest.mark.parametrize(("kind", "question"), PAIRS)
def test_the_table(kind: str, question: str) -> None:
    assert predict_type(question) == kind


def test_every_type_is_in_the_table() -> None:
    assert set(TABLE) == set(QUESTION_TYPES)


@pytest.mark.parametrize(("kind", "question"), PAIRS)
def test_case_does_not_matter(kind: str, question: str) -> None:
    assert predict_type(question.lower()) == predict_type(question.upper()) == kind


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("When would Anna sail?", "when"),
        ("How long would it take?", "how_long"),
        ("Would it be because of rain?", "inference"),
        ("Is that what kinds of tea are?", "yes_no"),
    ],
)
def test_the_first_rule_that_speaks_decides(question: str, kind: str) -> None:
    assert predict_type(question) == kind


@given(st.text(max_size=60))
def test_every_text_has_a_type(text: str) -> None:
    assert predict_type(text) in QUESTION_TYPES
