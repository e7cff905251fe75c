"""Routing by rules: what must be matched to the letter pulls to the sparse route."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memgene.retrieval.router.observation import SelfRouting
from memgene.retrieval.router.self_routing import CONFIDENCE, route_by_rules
from memgene.retrieval.text import content_words, words


def test_the_dense_route_gets_the_question_and_the_sparse_one_its_content_words() -> None:
    assert route_by_rules("What did Anna's sister bake on the boat?") == SelfRouting(
        dense="What did Anna's sister bake on the boat?",
        sparse="Anna's sister bake boat",
        prior=pytest.approx(1 / 3),  # type: ignore[arg-type]
        confidence=CONFIDENCE,
        by="rules",
    )


@pytest.mark.parametrize(
    ("text", "prior"),
    [
        ("who likes to swim?", 1 / 2),
        ("Who likes to swim?", 1 / 2),
        ("Who swims with Anna?", 1 / 3),
        ("who lent me 20 pounds?", 1 / 3),
        ('who sings "green fields"?', 1 / 3),
        ('who sings "Green Fields"?', 1 / 3),
        ("Where did Anna hide the 3 keys?", 1 / 5),
        ("Who sang 'Green Fields' for Anna?", 1 / 5),
        ('Did Anna read "Green Fields" in 2019?', 1 / 9),
    ],
)
def test_each_kind_of_exact_words_doubles_the_odds_of_the_sparse_route(
    text: str, prior: float
) -> None:
    assert route_by_rules(text).prior == pytest.approx(prior)


def test_a_kind_counts_once() -> None:
    one, many = "Who saw Anna in 2019?", "Who saw Anna, Ben and Cleo in May 2019 or 2020?"
    assert route_by_rules(one).prior == route_by_rules(many).prior == pytest.approx(1 / 5)


@pytest.mark.parametrize(
    "text",
    [
        "Anna likes to swim",  # the first word of a sentence has a capital anyway
        "It rained. Where were they then?",
        "It rained!\nWhere were they then?",
        "(Where were they then?)",
        "what did I say, and what I'd like",
        "WHO LIKES TO SWIM",
        "Who Likes To Swim",
        "who swims with anna?",
        "don't say it's the dogs' rock 'n' roll",  # apostrophes are no quotes
        "谁喜欢游泳",
        "кто любит плавать",
    ],
)
def test_capitals_and_marks_that_say_nothing_leave_the_prior_uniform(text: str) -> None:
    assert route_by_rules(text).prior == 0.5


@pytest.mark.parametrize(
    ("text", "prior"),
    [
        ("Кто видел Анну?", 1 / 3),
        ("¿Quién vio a José en Graz?", 1 / 3),
        ("qui a lu «Les champs verts» ?", 1 / 3),
        ("wer singt „grüne felder“?", 1 / 3),
        ("谁唱了「绿色的田野」", 1 / 3),
        ("谁在２０１９年游泳", 1 / 3),
        ("من سبح في ٢٠١٩", 1 / 3),
    ],
)
def test_other_languages_have_names_quotes_and_digits_too(text: str, prior: float) -> None:
    assert route_by_rules(text).prior == pytest.approx(prior)


@pytest.mark.parametrize("text", ["", " ", "???", "who was it?", "«»", '"', "\ud800", "_", "\x00"])
def test_a_text_without_content_words_is_searched_as_it_stands(text: str) -> None:
    assert route_by_rules(text) == SelfRouting(text, text, 0.5, CONFIDENCE, "rules")


def test_a_script_without_spaces_is_searched_whole() -> None:
    assert route_by_rules("谁喜欢游泳？").sparse == "谁喜欢游泳"


@given(st.text(max_size=80))
@example("‘" * 60)
@example('"' * 61)
def test_any_text_gives_searches_and_a_prior(text: str) -> None:
    found = route_by_rules(text)
    assert found == route_by_rules(text)
    assert 1 / 9 <= found.prior <= 1 / 2
    assert found.dense == text
    assert bool(found.sparse) == bool(text)


@given(st.text(max_size=80))
def test_the_sparse_search_keeps_every_content_word_and_adds_none(text: str) -> None:
    searched, asked = words(route_by_rules(text).sparse), words(text)
    if content_words(text):
        assert set(content_words(text)) <= set(searched) <= set(asked)
