"""Sentences, words and their classes."""

from __future__ import annotations

import pytest

from memgene.agents.extractive.sentences import analyse, sentences, split
from memgene.agents.extractive.words import WordClass


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("One. Two! Three?", 3),
        ("Dr. Silva met J. R. Tolkien.", 1),
        ("It cost 6.9 euros.", 1),
        ("first line\nsecond line", 2),
        ("これは一つ。これは二つ。", 2),
        ("", 0),
    ],
)
def test_sentence_borders(text: str, count: int) -> None:
    assert len(split(text)) == count


def test_words_keep_their_inner_marks() -> None:
    words = analyse("Don't pay $49.99 (6.9%) for co-op @cup_7 at 5:30.").words
    assert words == ("don't", "pay", "$49.99", "6.9%", "for", "co-op", "@cup_7", "at", "5:30")


def test_scripts_without_spaces_are_cut_into_characters() -> None:
    assert analyse("東京タワー").words == ("東", "京", "タ", "ワ", "ー")


def test_classes_follow_grammar_and_form() -> None:
    found = analyse("Yesterday Ana and I visited Porto twice, walking slowly.")
    assert dict(zip(found.words, found.classes, strict=True)) == {
        "yesterday": WordClass.CONTENT,
        "ana": WordClass.NAME,
        "and": WordClass.CONJUNCTION,
        "i": WordClass.PRONOUN,
        "visited": WordClass.PAST,
        "porto": WordClass.NAME,
        "twice": WordClass.NUMBER,
        "walking": WordClass.GERUND,
        "slowly": WordClass.ADVERB,
    }


def test_marks_between_words_are_named() -> None:
    assert analyse('I read "Emma", twice').breaks == ("edge", "", "quote", "quote", "edge")


def test_questions_and_asides_are_told_apart() -> None:
    first, second, aside = sentences("Did you cook? I did. (a pot on a stove)")
    assert (first.asks, second.asks, aside.asks) == (True, False, False)
    assert (first.aside, aside.aside) == (False, True)
