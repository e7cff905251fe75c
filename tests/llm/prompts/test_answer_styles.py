"""One instruction for each answer style that a configuration can ask for."""

from __future__ import annotations

from memgene.llm.prompts.answer_styles import ANSWER_STYLES
from memgene.retrieval.action_space import ANSWER_STYLES as NAMES


def test_every_style_of_the_action_space_has_its_own_words() -> None:
    assert tuple(ANSWER_STYLES) == NAMES
    assert len(set(ANSWER_STYLES.values())) == len(NAMES)


def test_the_words() -> None:
    assert dict(ANSWER_STYLES) == {
        "concise": "Answer with the fact alone: a name, a number, a date or a short phrase, no "
        "sentence around it.",
        "explanatory": "Answer in one to three sentences, and name the facts from memory that the "
        "answer rests on.",
        "verbatim": "Answer in the exact words of the memory. Copy them, change nothing.",
        "list": "Answer with every matching item that the memory holds, separated by commas, and "
        "nothing else. Name each item once.",
        "date": "Answer with the date or the time span alone. Work out words such as 'yesterday' "
        "or 'next week' from the date in front of the line that says them.",
        "choice": "Answer with one of the given choices, copied exactly, and nothing else.",
    }
