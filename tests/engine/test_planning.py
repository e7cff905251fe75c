"""Sub-questions and facts from a language model: searched beside the question, never instead."""

from __future__ import annotations

import json
from collections.abc import Callable
from threading import Thread
from typing import Any

import pytest

from memgene.bank import Bank, Filter, MemoryUnit
from memgene.core import BudgetExhaustedError, ConfigError, ModelError, Scope
from memgene.embed.hashing import HashingEmbedder
from memgene.engine import MemoryEngine
from memgene.engine.models import EngineModels
from memgene.engine.planning import Plan, plan_queries
from memgene.llm.protocol import Reply, Request
from memgene.retrieval.config import RetrievalConfig
from memgene.testing import ScriptedLLM

Talk = Callable[..., list[MemoryUnit]]
QUESTION = "Which boat is older?"
WORDS = RetrievalConfig.minimal().changed(lexical_k=60)
SPLIT = WORDS.changed(decomposition=True)
INTENT = WORDS.changed(intent_planning=True)


def questions(*texts: str) -> str:
    return json.dumps({"questions": texts})


def facts(*texts: str) -> str:
    return json.dumps({"facts": texts})


def planned(config: RetrievalConfig, *replies: Any) -> Plan:
    return plan_queries(ScriptedLLM(replies), QUESTION, config)


# -- what is searched


def test_no_call_is_made_while_the_levers_are_off() -> None:
    assert planned(RetrievalConfig()) == Plan((QUESTION,))


def test_sub_questions_are_searched_after_the_question() -> None:
    found = planned(SPLIT, questions("How old is the canoe?", "How old is the kayak?"))
    assert found.queries == (QUESTION, "How old is the canoe?", "How old is the kayak?")
    assert found.degraded == ()


def test_facts_are_searched_after_the_question() -> None:
    found = planned(INTENT, facts("age of the canoe", "age of the kayak"))
    assert found.queries == (QUESTION, "age of the canoe", "age of the kayak")


def test_both_levers_make_two_calls_and_their_searches_add_up() -> None:
    both = SPLIT.changed(intent_planning=True)
    found = planned(both, questions("How old is the canoe?"), facts("age of the kayak"))
    assert found.queries == (QUESTION, "How old is the canoe?", "age of the kayak")


def test_a_single_hop_question_that_comes_back_adds_nothing() -> None:
    assert planned(SPLIT, questions(QUESTION)).queries == (QUESTION,)
    assert planned(SPLIT, questions("  which BOAT is  older")).queries == (QUESTION,)


def test_repetitions_and_blanks_are_left_out() -> None:
    said = questions("The canoe?", " ", "the  canoe", QUESTION, "The kayak?")
    found = planned(SPLIT.changed(decomposition_max=5), said)
    assert found.queries == (QUESTION, "The canoe?", "The kayak?")


def test_no_more_sub_questions_than_the_lever_allows() -> None:
    said = questions("a?", "b?", "c?", "d?", "e?", "f?")
    assert planned(SPLIT.changed(decomposition_max=2), said).queries == (QUESTION, "a?", "b?")
    assert planned(SPLIT.changed(decomposition_max=5), said).queries[1:] == (
        "a?", "b?", "c?", "d?", "e?",
    )  # fmt: skip
    assert len(planned(INTENT, facts(*"abcdefgh")).queries) == 6


def test_the_model_is_told_the_question_and_how_many_and_nothing_else() -> None:
    llm = ScriptedLLM([questions(QUESTION)], constrains=True)
    plan_queries(llm, QUESTION, SPLIT.changed(decomposition_max=4))
    (request,) = llm.requests
    assert QUESTION in request.messages[-1].content
    assert "at most 4" in request.messages[-1].content
    assert request.temperature == 0
    assert request.schema is not None
    items = request.schema["properties"]["questions"]
    assert (items["maxItems"], items["items"]["maxLength"]) == (5, 400)


# -- when the model fails


def test_a_failing_model_leaves_the_question_and_is_named() -> None:
    found = planned(SPLIT, ModelError("timed out"))
    assert found == Plan((QUESTION,), ("decomposition: timed out",))


def test_unusable_replies_are_asked_for_again_and_then_named() -> None:
    assert planned(SPLIT, "no JSON", questions("The canoe?")).queries == (QUESTION, "The canoe?")
    found = planned(SPLIT, "no JSON", questions(), '{"questions": "canoe"}')
    assert found.queries == (QUESTION,)
    (told,) = found.degraded
    assert told.startswith("decomposition: ")
    assert "3 attempts" in told


def test_one_lever_failing_leaves_the_other() -> None:
    both = SPLIT.changed(intent_planning=True)
    found = planned(both, ModelError("timed out"), facts("age of the canoe"))
    assert found == Plan((QUESTION, "age of the canoe"), ("decomposition: timed out",))


@pytest.mark.parametrize("error", [BudgetExhaustedError("calls"), ConfigError("bad key")])
@pytest.mark.parametrize("config", [SPLIT, INTENT], ids=["decomposition", "intent_planning"])
def test_a_spent_budget_and_a_bad_setting_end_the_read(
    config: RetrievalConfig, error: Exception
) -> None:
    with pytest.raises(type(error)):
        planned(config, error)


# -- in the engine


def engine_of(bank: Bank, config: RetrievalConfig, script: Any) -> MemoryEngine:
    llm = ScriptedLLM(script)
    return MemoryEngine(bank, HashingEmbedder(), config, models=EngineModels(rewrite=llm))


@pytest.fixture
def boats(bank: Bank, talk: Talk) -> Bank:
    MemoryEngine(bank, HashingEmbedder()).write(
        talk(
            "Anna: the canoe was built in May",
            "Ben: a boat is lovely",
            "Anna: a kayak from grandmother",
            "Ben: tea please",
        )
    )
    return bank


def test_the_lists_are_merged_by_reciprocal_rank(boats: Bank) -> None:
    said = questions("When was the canoe built?", "Where is the kayak from?")
    found = engine_of(boats, SPLIT, [said]).retrieve(QUESTION)
    # the question finds only "boat" by words: each of the three lists has one unit of rank 1
    assert [hit.refs[0] for hit in found.hits] == ["talk:0", "talk:1", "talk:2"]
    assert [hit.why.fused for hit in found.hits] == [pytest.approx(1 / 61, abs=1e-6)] * 3
    assert [hit.why.factors["sub_query"] for hit in found.hits] == [1, 0, 2]
    assert [hit.score for hit in found.hits] == [1, 1, 1]
    assert found.queries == (QUESTION, "When was the canoe built?", "Where is the kayak from?")


def test_a_unit_that_several_queries_find_comes_first(boats: Bank) -> None:
    said = questions("Was the kayak built by grandmother?", "Who gave the kayak?")
    found = engine_of(boats, SPLIT, [said]).retrieve(QUESTION)
    assert [hit.refs[0] for hit in found.hits] == ["talk:2", "talk:1", "talk:0"]
    first, second, third = found.hits
    assert first.why.fused == pytest.approx(2 / 61, abs=1e-6)
    assert third.why.fused == pytest.approx(1 / 62, abs=1e-6)
    assert first.why.factors["sub_query"] == third.why.factors["sub_query"] == 1
    assert first.why.views["lexical"].rank == 1
    assert third.why.views["lexical"].rank == 2
    assert second.why.factors["sub_query"] == 0


def test_the_pool_holds_what_any_query_found(boats: Bank) -> None:
    said = questions("Was the canoe built in May?", "Is there tea?")
    assert set(engine_of(boats, SPLIT, [said]).retrieve(QUESTION).pool) == {
        "talk:0", "talk:1", "talk:3",
    }  # fmt: skip


def test_no_query_sees_what_the_filter_or_the_scope_hides(boats: Bank, talk: Talk) -> None:
    engine = engine_of(boats, SPLIT, lambda _: questions("Where is the kayak from?"))
    engine.write(talk("Anna: a kayak from Graz", source="more"))
    engine.write([MemoryUnit("a kayak from Linz", scope=Scope("ben"), refs=("secret",))])
    assert set(engine.retrieve(QUESTION, Scope()).pool) == {"talk:1", "talk:2", "more:0"}
    filtered = engine.retrieve(QUESTION, Scope(), where=Filter(sources=("more",)))
    assert filtered.pool == ("more:0",)


def test_a_single_hop_question_is_read_as_without_the_lever(boats: Bank) -> None:
    plain = MemoryEngine(boats, HashingEmbedder(), WORDS).retrieve(QUESTION)
    split = engine_of(boats, SPLIT, [questions(QUESTION)]).retrieve(QUESTION)
    assert (split.hits, split.pool, split.queries) == (plain.hits, plain.pool, (QUESTION,))
    assert "sub_query" not in split.hits[0].why.factors


def test_a_failing_model_leaves_the_plain_ranking_and_the_read_says_so(boats: Bank) -> None:
    plain = MemoryEngine(boats, HashingEmbedder(), WORDS).retrieve(QUESTION)
    found = engine_of(boats, SPLIT, [ModelError("timed out")]).retrieve(QUESTION)
    assert found.hits == plain.hits
    assert found.degraded == ("decomposition: timed out",)
    assert found.notes == {
        "question_type": "single",
        "degraded": ["decomposition: timed out"],
    }
    assert plain.notes == {"question_type": "single"}


def test_further_queries_stand_in_the_notes(boats: Bank) -> None:
    found = engine_of(boats, SPLIT, [questions("The canoe?")]).retrieve(QUESTION)
    assert found.notes["queries"] == [QUESTION, "The canoe?"]


def test_an_override_splits_questions_of_its_type_only(boats: Bank) -> None:
    config = WORDS.changed(per_type={"when": {"decomposition": True}})
    engine = engine_of(boats, config, lambda _: questions("Where is the kayak from?"))
    assert len(engine.retrieve("When was the canoe built?").queries) == 2
    assert len(engine.retrieve("Who built the canoe?").queries) == 1
    llm = engine.models.rewrite
    assert isinstance(llm, ScriptedLLM)
    assert len(llm.requests) == 1


def test_sub_questions_are_served_as_the_question_is_and_not_by_their_own_type(
    boats: Bank,
) -> None:
    config = SPLIT.changed(per_type={"when": {"context_k": 1, "lexical_k": 0}})
    found = engine_of(boats, config, [questions("When was the canoe built?")]).retrieve(QUESTION)
    assert set(found.pool) == {"talk:0", "talk:1"}
    assert found.config.context_k == config.context_k


def test_the_index_is_free_while_the_model_thinks(boats: Bank) -> None:
    def meanwhile(request: Request) -> str:
        reading = Thread(target=plain.retrieve, args=("kayak",), daemon=True)
        reading.start()
        reading.join(20)
        assert not reading.is_alive()
        return '{"order": [2, 1]}' if "Notes:" in request.messages[-1].content else questions("a")

    engine = engine_of(boats, SPLIT.changed(rerank="llm"), meanwhile)
    plain = engine.with_config(WORDS)
    assert engine.retrieve("canoe, kayak and tea").hits


def test_threads_read_the_same(boats: Bank) -> None:
    config = RetrievalConfig(decomposition=True)
    engine = engine_of(boats, config, lambda _: questions("The canoe?", "The kayak?"))
    found: list[Any] = []
    threads = [
        Thread(target=lambda: found.append(engine.retrieve(QUESTION).hits)) for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8
    assert all(hits == found[0] for hits in found)


# -- a model that is not there


@pytest.mark.parametrize(
    ("config", "lever"),
    [
        (SPLIT, "decomposition"),
        (INTENT, "intent_planning"),
        (WORDS.changed(rerank="llm"), "rerank"),
        (WORDS.changed(per_type={"when": {"rerank": "llm"}}), "rerank"),
    ],
)
def test_a_lever_without_its_model_is_refused_when_the_engine_is_made(
    bank: Bank, config: RetrievalConfig, lever: str
) -> None:
    told = rf"{lever} needs .*\[llm\.rewrite\] or \[llm\.task\]"
    with pytest.raises(ConfigError, match=told):
        MemoryEngine(bank, None, config)
    plain = MemoryEngine(bank, None, WORDS)
    with pytest.raises(ConfigError, match=told):
        plain.with_config(config)
    reader = EngineModels(rewrite=ScriptedLLM([Reply("")]))
    assert plain.with_config(config, reader).models is reader


def test_extraction_without_its_model_is_refused_too(bank: Bank) -> None:
    with pytest.raises(ConfigError, match=r"extraction needs .*\[llm\.extract\] or \[llm\.task\]"):
        MemoryEngine(bank, None, RetrievalConfig(extraction="facts"))


def test_levers_of_the_answer_are_the_agents_matter(bank: Bank) -> None:
    config = RetrievalConfig(answer_style="list", verification="multi", verification_threshold=0.7)
    found = MemoryEngine(bank, None, config).retrieve("boat")
    assert (found.plan.style, found.plan.verification, found.plan.threshold) == (
        "list",
        "multi",
        0.7,
    )
