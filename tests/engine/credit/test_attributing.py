"""Which memories an answer rests on: by a model, by words, by where the evidence is."""

from __future__ import annotations

import inspect
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memgene.core import BudgetExhaustedError, ConfigError, Hit, ModelError
from memgene.engine.credit.attributing import (
    CITED,
    SHOWN,
    attribute,
    attribute_cited,
    attribute_evidence,
)
from memgene.engine.credit.interaction import Exposure
from memgene.testing import ScriptedLLM

QUESTION = "Who built the canoe?"
ANSWER = "grandmother"


def hit(name: str, text: str = "tea please", **more: Any) -> Hit:
    return Hit(name, text, 1.0, **more)


CANOE = hit(
    "canoe", "my grandmother built it", rendered="[3 May 2021] Anna: my grandmother built it"
)
TEA = hit("tea")
HITS = (CANOE, TEA, hit("kayak", "the kayak is red"))


def shares(*pairs: tuple[object, object]) -> str:
    return json.dumps({"shares": [{"note": n, "share": s} for n, s in pairs]})


def attributed(*replies: Any, hits: tuple[Hit, ...] = HITS) -> list[float]:
    exposures, degraded = attribute(ScriptedLLM(replies), QUESTION, ANSWER, hits)
    assert [e.unit_id for e in exposures] == [h.id for h in hits]
    assert degraded == ()
    return [e.attribution for e in exposures]


# -- by a model


def test_one_call_gives_each_memory_its_share() -> None:
    assert attributed(shares((1, 1), (2, 0), (3, 0.4))) == [1, 0, 0.4]


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (((2, 0.9),), [SHOWN, 0.9, SHOWN]),
        (((3, 0), (1, 1)), [1, SHOWN, 0]),
        (((1, 1), (2, 0), (3, 0), (4, 1), (0, 1), (-1, 1)), [1, 0, 0]),
        (((1, 0.7), (1, 0.2), (2, 0), (3, 0)), [0.7, 0, 0]),
    ],
    ids=["left out", "in another order", "numbers of no note", "named twice"],
)
def test_what_the_model_leaves_out_was_only_shown(
    said: tuple[tuple[int, float], ...], expected: list[float]
) -> None:
    assert attributed(shares(*said)) == expected


def test_many_equal_shares_are_no_loop() -> None:
    hits = tuple(hit(f"{n}") for n in range(8))
    llm = ScriptedLLM([shares(*((n, 0) for n in range(1, 9)))], constrains=True)
    exposures, degraded = attribute(llm, QUESTION, ANSWER, hits)
    assert {e.attribution for e in exposures} == {0}
    assert degraded == ()


def test_the_model_sees_question_answer_and_numbered_lines_and_nothing_else_can_be_told() -> None:
    llm = ScriptedLLM([shares((1, 1))])
    long = hit("long", "word " * 1000)
    attribute(llm, QUESTION, "a\nb", (CANOE, hit("two", "one\n2. two"), long))
    seen = llm.requests[0].messages[-1].content
    assert "Question: Who built the canoe?" in seen
    assert "Answer: a b" in seen
    assert "1. [3 May 2021] Anna: my grandmother built it\n2. one 2. two\n3. word word" in seen
    assert len(seen) < 1500
    assert list(inspect.signature(attribute).parameters) == ["llm", "question", "answer", "hits"]


def test_of_very_many_memories_the_model_judges_the_first_fifty() -> None:
    hits = tuple(hit(f"{n}") for n in range(60))
    llm = ScriptedLLM([shares(*((n, 0) for n in range(1, 61)))])
    exposures, _ = attribute(llm, QUESTION, ANSWER, hits)
    assert [e.attribution for e in exposures] == [0] * 50 + [SHOWN] * 10
    assert "50. tea please" in llm.requests[0].messages[-1].content
    assert "51. tea please" not in llm.requests[0].messages[-1].content


def test_nothing_shown_nothing_asked() -> None:
    assert attribute(ScriptedLLM([]), QUESTION, ANSWER, ()) == ((), ())


@pytest.mark.parametrize(
    "bad",
    [
        "the first one",
        "{}",
        shares(),
        shares((7, 1)),
        shares((1, 1.5)),
        shares((1, -0.5)),
        shares((1, "much")),
        shares((1, None)),
        shares((1, float("nan"))),
        '{"shares": [1, 0, 0]}',
    ],
)
def test_unusable_replies_are_asked_for_again_and_then_the_words_decide(bad: str) -> None:
    assert attributed(bad, shares((1, 1), (2, 0), (3, 0))) == [1, 0, 0]
    exposures, degraded = attribute(ScriptedLLM([bad] * 3), QUESTION, ANSWER, HITS)
    assert exposures == attribute_cited(ANSWER, HITS, question=QUESTION)
    (told,) = degraded
    assert told.startswith("attribution: ")
    assert "3 attempts" in told


def test_a_model_that_is_away_is_named() -> None:
    exposures, degraded = attribute(ScriptedLLM([ModelError("timed out")]), QUESTION, ANSWER, HITS)
    assert [e.attribution for e in exposures] == [CITED, SHOWN, SHOWN]
    assert degraded == ("attribution: timed out",)


@pytest.mark.parametrize("error", [BudgetExhaustedError("calls"), ConfigError("bad key")])
def test_a_spent_budget_and_a_bad_setting_are_passed_on(error: Exception) -> None:
    with pytest.raises(type(error)):
        attribute(ScriptedLLM([error]), QUESTION, ANSWER, HITS)


# -- by words


@pytest.mark.parametrize(
    ("answer", "cited"),
    [
        ("grandmother", ["canoe"]),
        ("Her grandmothers", ["canoe"]),  # by stems
        ("3 May 2021", ["canoe"]),  # by the line an agent reads, which holds the date
        ("a teapot", []),
        ("", []),
        ("...", []),
        ("not mentioned", []),
        ("tea, and her grandmother", ["canoe", "tea"]),  # each part by itself
        ("It is red. By her grandmother.", ["canoe", "kayak"]),
        ("red sails", []),  # half of a part is not enough
        ("a red kayak sails", ["kayak"]),
    ],
)
def test_memories_that_hold_the_words_of_a_part_of_the_answer_are_cited(
    answer: str, cited: list[str]
) -> None:
    found = attribute_cited(answer, HITS)
    assert [e.unit_id for e in found if e.attribution == CITED] == cited
    assert all(e.attribution in (CITED, SHOWN) for e in found)


def test_words_of_the_question_do_not_count_where_the_answer_has_others() -> None:
    asked = "What colour is the kayak?"
    hits = (hit("red", "it is red"), hit("kayak", "a kayak"))
    told = attribute_cited("The kayak is red", hits, question=asked)
    assert [e.attribution for e in told] == [CITED, SHOWN]
    echoed = attribute_cited("The kayak", hits, question=asked)
    assert [e.attribution for e in echoed] == [SHOWN, CITED]


def test_ids_that_the_answer_names_decide_alone() -> None:
    by_id = attribute_cited(ANSWER, HITS, cited=("tea",))
    assert [e.attribution for e in by_id] == [SHOWN, CITED, SHOWN]
    assert attribute_cited(ANSWER, HITS, cited=("elsewhere",)) == attribute_cited(ANSWER, HITS)


@given(st.text(max_size=60), st.lists(st.text(max_size=40), max_size=6), st.text(max_size=20))
def test_any_words_give_every_memory_a_part(answer: str, texts: list[str], question: str) -> None:
    hits = [hit(f"{n}", text) for n, text in enumerate(texts)]
    found = attribute_cited(answer, hits, question=question)
    assert [e.unit_id for e in found] == [h.id for h in hits]
    assert {e.attribution for e in found} <= {CITED, SHOWN}


# -- by gold evidence


def test_memories_that_are_evidence_are_cited() -> None:
    hits = (
        hit("a", refs=("s1:1", "s1:2"), source="s1"),
        hit("b", refs=("s1:3",), source="s1"),
        hit("c", source="s2"),
        hit("d"),
    )

    def cited(*gold: str) -> list[str]:
        found = attribute_evidence(hits, gold)
        assert {e.attribution for e in found} <= {CITED, SHOWN}
        return [e.unit_id for e in found if e.attribution == CITED]

    assert cited("s1:2", "s9:9") == ["a"]
    assert cited("s1") == ["a", "b"]
    assert cited("s2", "d") == ["c", "d"]
    assert cited() == []


def test_a_memory_shown_twice_is_one_exposure() -> None:
    twice = (hit("a", refs=("1",)), hit("b"), hit("a", refs=("2",)))
    assert attribute_evidence(twice, ["2"]) == (Exposure("a", CITED), Exposure("b", SHOWN))
