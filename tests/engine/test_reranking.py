"""A model orders the first hits anew: nothing is lost, nothing is invented, and `why` tells."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memgene.bank import Bank, MemoryUnit
from memgene.core import BudgetExhaustedError, ConfigError, Hit, ModelError, Why
from memgene.embed.hashing import HashingEmbedder
from memgene.engine import MemoryEngine
from memgene.engine.models import EngineModels
from memgene.engine.reranking import Reranked, rerank
from memgene.retrieval.config import RetrievalConfig
from memgene.testing import ScriptedLLM

Talk = Callable[..., list[MemoryUnit]]
QUESTION = "Which boat is red?"
HITS = tuple(
    Hit(name, f"text {name}", 1 - place / 10, Why(fused=5.0 - place, factors={"recency": 0.1}))
    for place, name in enumerate("abcde")
)


def order(*numbers: object) -> str:
    return json.dumps({"order": numbers})


def reranked(*replies: Any, first: int = 5, hits: tuple[Hit, ...] = HITS) -> Reranked:
    return rerank(ScriptedLLM(replies), QUESTION, hits, first)


def ids(found: Reranked) -> str:
    return "".join(hit.id for hit in found.hits)


@pytest.mark.parametrize(
    ("numbers", "expected"),
    [
        ((5, 4, 3, 2, 1), "edcba"),
        ((3,), "cabde"),
        ((2, 4), "bdace"),
        ((9, 4, 0, -1, 2), "dbace"),
        ((4, 4, 2, 4, 2), "dbace"),
        ((), "abcde"),
    ],
    ids=["all", "one", "some", "unknown numbers", "repeated numbers", "none helps"],
)
def test_the_named_come_first_and_the_others_follow_in_their_order(
    numbers: tuple[int, ...], expected: str
) -> None:
    found = reranked(order(*numbers))
    assert ids(found) == expected
    assert found.degraded == ()


def test_only_the_first_are_ordered() -> None:
    found = reranked(order(5, 2), first=3)
    assert ids(found) == "bacde"


def test_the_place_the_model_gave_is_told_beside_the_other_factors() -> None:
    found = reranked(order(4, 2))
    assert [hit.why.factors.get("rerank") for hit in found.hits] == [1, 2, None, None, None]
    assert [hit.why.fused for hit in found.hits] == [2, 4, 5, 3, 1]
    assert all(hit.why.factors["recency"] == 0.1 for hit in found.hits)


def test_scores_stay_with_their_places() -> None:
    assert [h.score for h in reranked(order(4, 2)).hits] == [h.score for h in HITS]


def test_the_model_sees_the_question_and_numbered_lines_of_bounded_length() -> None:
    hits = (
        Hit("a", "one\ntwo  three", 1.0, event_time=datetime(2024, 5, 1)),
        Hit("b", "words", 0.9, rendered="[1 May 2024] Ben: " + "x" * 500),
    )
    llm = ScriptedLLM([order(1)], constrains=True)
    rerank(llm, QUESTION, hits, 5)
    (request,) = llm.requests
    lines = request.messages[-1].content.splitlines()
    assert lines[1] == "1. one two three"
    assert lines[2].startswith("2. [1 May 2024] Ben: xxx")
    assert lines[2].endswith("x…")
    assert len(lines[2]) == len("2. ") + 400
    assert QUESTION in request.messages[-1].content
    assert request.schema is not None
    numbers = request.schema["properties"]["order"]
    assert numbers["maxItems"] == numbers["items"]["maximum"] == 2
    assert numbers["items"]["minimum"] == 1


@pytest.mark.parametrize("hits", [HITS[:1], ()], ids=["one", "none"])
def test_fewer_than_two_hits_need_no_call(hits: tuple[Hit, ...]) -> None:
    assert reranked(hits=hits) == Reranked(hits)
    assert reranked(first=0) == Reranked(HITS)


def test_a_reply_of_unknown_numbers_is_asked_for_again() -> None:
    llm = ScriptedLLM([order(7, 9), order(2)])
    assert ids(rerank(llm, QUESTION, HITS, 5)) == "bacde"
    assert "number from 1 to 5" in llm.requests[1].messages[-1].content


def test_a_model_that_fails_leaves_the_order_and_is_named() -> None:
    assert reranked(ModelError("timed out")) == Reranked(HITS, ("rerank: timed out",))
    found = reranked("first the red one", order("red"), order(8))
    assert found.hits == HITS
    assert found.degraded[0].startswith("rerank: ")


@pytest.mark.parametrize("error", [BudgetExhaustedError("calls"), ConfigError("bad key")])
def test_a_spent_budget_and_a_bad_setting_end_the_read(error: Exception) -> None:
    with pytest.raises(type(error)):
        reranked(error)


@given(st.lists(st.integers(-2, 8)), st.integers(2, 6))
def test_whatever_the_numbers_every_hit_stays_once(numbers: list[int], first: int) -> None:
    found = reranked(*[order(*numbers)] * 3, first=first)
    assert sorted(hit.id for hit in found.hits) == list("abcde")
    assert [hit.score for hit in found.hits] == [hit.score for hit in HITS]
    assert found.hits[first:] == HITS[first:]
    valid = [n for n in dict.fromkeys(numbers) if 1 <= n <= min(first, 5)]
    assert "".join("abcde"[n - 1] for n in valid) == ids(found)[: len(valid)]
    assert bool(found.degraded) == (bool(numbers) and not valid)


# -- in the engine


@pytest.fixture
def boats(bank: Bank, talk: Talk) -> Bank:
    lines = [f"Anna: boat {'red ' * n}{n}" for n in range(6, 0, -1)]
    MemoryEngine(bank, HashingEmbedder()).write(talk(*lines))
    return bank


def engine_of(bank: Bank, *replies: Any, **levers: Any) -> MemoryEngine:
    config = RetrievalConfig(rerank="llm", **levers)
    models = EngineModels(rewrite=ScriptedLLM(replies))
    return MemoryEngine(bank, HashingEmbedder(), config, models=models)


def test_the_engine_reads_in_the_models_order(boats: Bank) -> None:
    plain = MemoryEngine(boats, HashingEmbedder()).retrieve(QUESTION)
    found = engine_of(boats, order(6, 5)).retrieve(QUESTION)
    assert [h.id for h in found.hits[:3]] == [plain.hits[i].id for i in (5, 4, 0)]
    assert found.hits[0].why.factors == {"rerank": 1}
    assert found.hits[0].why.views == plain.hits[5].why.views
    assert found.pool == plain.pool


def test_units_below_the_limit_can_come_up_and_the_limit_holds(boats: Bank) -> None:
    plain = MemoryEngine(boats, HashingEmbedder()).retrieve(QUESTION)
    found = engine_of(boats, order(6)).retrieve(QUESTION, limit=2)
    assert [h.id for h in found.hits] == [plain.hits[5].id, plain.hits[0].id]
    assert all(hit.why.views for hit in found.hits)


def test_the_first_explained_hits_have_reasons_after_the_order_too(boats: Bank) -> None:
    found = engine_of(boats, order(6)).retrieve(QUESTION, explained=1)
    assert found.hits[0].why.views
    unexplained = engine_of(boats, order(6)).retrieve(QUESTION, explained=0)
    assert all(hit.why.views == {} for hit in unexplained.hits)


def test_only_so_many_units_are_shown(boats: Bank) -> None:
    engine = engine_of(boats, order(3), rerank_k=3)
    engine.retrieve(QUESTION)
    llm = engine.models.rewrite
    assert isinstance(llm, ScriptedLLM)
    assert "\n3. " in llm.requests[0].messages[-1].content
    assert "\n4. " not in llm.requests[0].messages[-1].content


def test_a_failure_leaves_the_plain_ranking_and_the_read_says_so(boats: Bank) -> None:
    plain = MemoryEngine(boats, HashingEmbedder()).retrieve(QUESTION)
    found = engine_of(boats, ModelError("timed out")).retrieve(QUESTION)
    assert found.hits == plain.hits
    assert found.notes["degraded"] == ["rerank: timed out"]


def test_every_step_that_failed_is_named(boats: Bank) -> None:
    failed = ModelError("timed out")
    engine = engine_of(boats, failed, failed, failed, decomposition=True, intent_planning=True)
    found = engine.retrieve(QUESTION)
    assert found.degraded == (
        "decomposition: timed out",
        "intent_planning: timed out",
        "rerank: timed out",
    )
