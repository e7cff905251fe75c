"""A model makes a question ready for two routes; what it says badly never reaches a search."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from memgene.core import BudgetExhaustedError, ConfigError, ModelError
from memgene.engine.self_routing import self_route
from memgene.llm.roles import RoleModels
from memgene.retrieval.router.observation import SelfRouting
from memgene.testing import ScriptedLLM

QUESTION = "Which boat is older?"
GOOD: dict[str, Any] = {
    "dense": "age of the boats",
    "sparse": "boat canoe kayak old built",
    "dense_weight": 0.6,
    "sparse_weight": 0.2,
    "confidence": 0.7,
}


def reply(**changes: Any) -> str:
    return json.dumps({**GOOD, **changes})


def routed(*replies: Any, text: str = QUESTION) -> tuple[SelfRouting, tuple[str, ...]]:
    return self_route(ScriptedLLM(replies), text)


def test_one_call_gives_both_searches_the_prior_and_its_confidence() -> None:
    llm = ScriptedLLM([reply()])
    found, degraded = self_route(llm, QUESTION)
    assert found == SelfRouting(
        "age of the boats", "boat canoe kayak old built", found.prior, 0.7, "llm"
    )
    assert found.prior == pytest.approx(0.75)
    assert degraded == ()
    assert len(llm.requests) == 1


@pytest.mark.parametrize(
    ("dense", "sparse", "prior"),
    [(3, 1, 0.75), (0, 0.4, 0.0), (70, 0, 1.0), (1e308, 1e308, 0.5), (5e-324, 0, 1.0)],
)
def test_weights_are_a_proportion(dense: float, sparse: float, prior: float) -> None:
    found, degraded = routed(reply(dense_weight=dense, sparse_weight=sparse))
    assert found.prior == pytest.approx(prior)
    assert degraded == ()


def test_spaces_are_folded_and_what_is_too_long_is_cut() -> None:
    found, _ = routed(reply(dense=" age \n of it ", sparse="canoe " * 100))
    assert found.dense == "age of it"
    assert len(found.sparse) == 400
    assert found.sparse.startswith("canoe canoe ")


def test_a_held_model_is_asked_again_when_a_search_was_cut_off() -> None:
    llm = ScriptedLLM([reply(sparse="c" * 400), reply()], constrains=True)
    assert self_route(llm, QUESTION)[0].sparse == GOOD["sparse"]


def test_the_model_sees_the_question_and_not_all_of_a_very_long_one() -> None:
    llm = ScriptedLLM(lambda _: reply())
    self_route(llm, "Which\nboat?")
    self_route(llm, "boat " * 10_000)
    short, long = (request.messages[-1].content for request in llm.requests)
    assert "The question: Which boat?" in short
    assert len(long) - len(short) < 2000


def test_equal_questions_are_paid_once(tmp_path: Path) -> None:
    inner = ScriptedLLM([reply()])
    with RoleModels.of({"rewrite": inner}, cache=tmp_path / "llm.sqlite") as roles:
        llm = roles.need("rewrite", "the test")
        assert self_route(llm, QUESTION) == self_route(llm, QUESTION)
    assert len(inner.requests) == 1


# -- when the model fails


@pytest.mark.parametrize(
    "bad",
    [
        "I would search for boats.",
        "{}",
        "[]",
        "",
        reply(dense=""),
        reply(sparse=" \n"),
        reply(dense=None),
        reply(dense=["a"]),
        reply(sparse="\ud800"),
        reply(dense_weight=-0.1),
        reply(dense_weight=float("nan")),
        reply(sparse_weight=float("inf")),
        reply(dense_weight=0, sparse_weight=0),
        reply(dense_weight="much"),
        reply(confidence=1.1),
        reply(confidence=-1),
        reply(confidence=None),
    ],
)
def test_an_invalid_reply_is_asked_for_again_and_then_the_raw_question_is_searched(
    bad: str,
) -> None:
    assert routed(bad, reply())[1] == ()
    found, degraded = routed(bad, bad, bad)
    assert found == SelfRouting.raw(QUESTION) == SelfRouting(QUESTION, QUESTION, 0.5, 0.0, "none")
    (told,) = degraded
    assert told.startswith("self_routing: ")
    assert "3 attempts" in told


def test_a_model_that_is_away_leaves_the_raw_question() -> None:
    assert routed(ModelError("timed out")) == (
        SelfRouting.raw(QUESTION),
        ("self_routing: timed out",),
    )


@pytest.mark.parametrize("error", [BudgetExhaustedError("calls"), ConfigError("bad key")])
def test_a_spent_budget_and_a_bad_setting_end_the_read(error: Exception) -> None:
    with pytest.raises(type(error)):
        routed(error)


@pytest.mark.parametrize("text", ["", " \n"])
def test_a_blank_text_is_not_asked_about(text: str) -> None:
    assert routed(text=text) == (SelfRouting.raw(text), ())


@given(st.text(max_size=60))
def test_whatever_a_model_says_searches_are_never_blank_and_the_prior_is_a_share(
    said: str,
) -> None:
    assume(said.strip())
    for answered in (said, reply(dense=said, sparse=said)):
        found, _ = routed(answered, answered, answered)
        assert found.dense.strip()
        assert found.sparse.strip()
        assert 0 <= found.prior <= 1
