"""Two routes at work: how a question is routed, prepared once and ranked by many weights."""

from __future__ import annotations

import json
from collections.abc import Callable

import numpy as np
import pytest

from memgene.bank import Bank, MemoryUnit, SqliteBank
from memgene.core import ConfigError, ModelError, Scope
from memgene.embed.static import StaticEmbedder
from memgene.engine import MemoryEngine
from memgene.engine.models import EngineModels
from memgene.retrieval.config import RetrievalConfig
from memgene.retrieval.observing import features_of
from memgene.retrieval.router.observation import TWO_ROUTES, SelfRouting
from memgene.retrieval.router.router import Router
from memgene.retrieval.router.self_routing import route_by_rules
from memgene.testing import ScriptedLLM

Talk = Callable[..., list[MemoryUnit]]
QUESTION = "Who sold Mira the boat in 1974?"
ROUTES = RetrievalConfig(fusion="q_rrf")
RULES = ROUTES.changed(self_routing="rules")
LLM = ROUTES.changed(self_routing="llm")
REPLY = json.dumps(
    {
        "dense": "Mira bought an old boat",
        "sparse": "Mira boat 1974 seller canoe",
        "dense_weight": 0.2,
        "sparse_weight": 0.8,
        "confidence": 0.5,
    }
)
SAID = (
    "Mira: My uncle sold me the old boat for a song.",
    "Ben: Was that the canoe of 1974?",
    "Mira: Yes, and he gave me two paddles with it.",
    "Ben: I would rather have a new car.",
)


@pytest.fixture
def engine(bank: Bank, static: StaticEmbedder, talk: Talk) -> MemoryEngine:
    engine = MemoryEngine(bank, static, ROUTES)
    engine.write(talk(*SAID))
    return engine


def with_model(engine: MemoryEngine, config: RetrievalConfig, *replies: object) -> MemoryEngine:
    return engine.with_config(config, EngineModels(rewrite=ScriptedLLM(replies)))  # type: ignore[arg-type]


# -- who routes


def test_without_self_routing_the_fixed_share_holds(engine: MemoryEngine) -> None:
    found = engine.with_config(ROUTES.changed(route_prior=0.8)).retrieve(QUESTION)
    assert found.weights == pytest.approx({"dense": 0.8, "sparse": 0.2})
    assert found.routing is None
    assert "routing" not in found.notes
    assert found.notes["weights"] == {"dense": 0.8, "sparse": 0.2}


def test_a_share_keeps_to_the_floor_of_every_prior(engine: MemoryEngine) -> None:
    found = engine.with_config(ROUTES.changed(route_prior=1.0)).retrieve(QUESTION)
    assert found.weights == pytest.approx({"dense": 0.98, "sparse": 0.02})


def test_rules_route_without_a_model(engine: MemoryEngine) -> None:
    found = engine.with_config(RULES).retrieve(QUESTION)
    routed = route_by_rules(QUESTION)
    share = 0.5 * routed.prior + 0.25
    assert found.routing == routed
    assert found.weights == pytest.approx({"dense": share, "sparse": 1 - share})
    assert found.notes["routing"]["by"] == "rules"


def test_a_model_routes_in_one_call(engine: MemoryEngine) -> None:
    found = with_model(engine, LLM, REPLY).retrieve(QUESTION)
    assert found.routing == SelfRouting(
        "Mira bought an old boat", "Mira boat 1974 seller canoe", 0.2, 0.5, "llm"
    )
    assert found.weights == pytest.approx({"dense": 0.35, "sparse": 0.65})
    names = set(found.hits[0].why.views)
    assert names == {"dense", "dense_rewrite", "sparse", "sparse_rewrite"}


def test_a_model_that_fails_leaves_the_raw_question_and_is_told_of(engine: MemoryEngine) -> None:
    failing = with_model(engine, LLM.changed(route_prior=0.9), ModelError("unreachable"))
    found = failing.retrieve(QUESTION)
    assert found.degraded == ("self_routing: unreachable",)
    assert found.weights == {"dense": 0.5, "sparse": 0.5}
    plain = engine.with_config(ROUTES).retrieve(QUESTION)
    assert [h.id for h in found.hits] == [h.id for h in plain.hits]
    again = with_model(engine, LLM, ModelError("unreachable"))
    assert again.read(again.prepare(QUESTION)).degraded == ("self_routing: unreachable",)


def test_a_model_that_is_not_there_is_missed_at_once(engine: MemoryEngine) -> None:
    with pytest.raises(ConfigError, match="self_routing needs a language model"):
        engine.with_config(LLM)
    engine.with_config(RULES)


def test_no_model_is_asked_where_no_ranking_depends_on_it(engine: MemoryEngine) -> None:
    plain = RetrievalConfig(self_routing="llm")
    found = with_model(engine, plain).retrieve(QUESTION)
    assert found.hits == engine.with_config(RetrievalConfig()).retrieve(QUESTION).hits
    routes = ("lexical", "dense")
    seeing = plain.changed(router=Router.fresh(routes, features_of(routes)))
    assert with_model(engine, seeing, REPLY).retrieve(QUESTION).routing is not None


def test_sub_questions_are_searched_as_they_are_with_the_prior_of_the_question(
    engine: MemoryEngine,
) -> None:
    both = RULES.changed(decomposition=True)
    reader = with_model(engine, both, json.dumps({"questions": ["Which paddles?"]}))
    found = reader.retrieve(QUESTION)
    share = 0.5 * route_by_rules(QUESTION).prior + 0.25
    assert found.queries == (QUESTION, "Which paddles?")
    assert found.weights == pytest.approx({"dense": share, "sparse": 1 - share})
    assert any("paddles" in hit.text for hit in found.hits)


# -- prepared once


@pytest.mark.parametrize(
    "config", [RULES, RULES.changed(graph_expansion=True), RetrievalConfig(), ROUTES]
)
def test_reading_what_was_prepared_is_retrieving(
    engine: MemoryEngine, config: RetrievalConfig
) -> None:
    reader = engine.with_config(config)
    assert reader.read(reader.prepare(QUESTION)) == reader.retrieve(QUESTION)
    few = reader.read(reader.prepare(QUESTION), limit=2, explained=1, pooled=False)
    assert few == reader.retrieve(QUESTION, limit=2, explained=1, pooled=False)


def test_a_routing_that_is_given_is_taken(engine: MemoryEngine) -> None:
    given = SelfRouting("a boat", "paddles", 1.0, 1.0, "llm")
    prepared = engine.with_config(RULES).prepare(QUESTION, routing=given)
    assert prepared.routing == given
    assert prepared.prior.tolist() == pytest.approx([0.98, 0.02])


def test_weights_decide_between_the_routes(engine: MemoryEngine) -> None:
    reader = engine.with_config(ROUTES)
    prepared = reader.prepare("automobile 1974")
    by_words = reader.read(prepared, np.array([0.0, 1.0])).hits
    by_meaning = reader.read(prepared, np.array([1.0, 0.0])).hits
    assert "1974" in by_words[0].text
    assert "car" in by_meaning[0].text
    assert by_words[0].why.weights == {"dense": 0.0, "sparse": 1.0}


def test_the_router_of_the_configuration_weighs_by_default(engine: MemoryEngine) -> None:
    router = Router.fresh(TWO_ROUTES, features_of(TWO_ROUTES))
    routed = engine.with_config(RULES.changed(router=router))
    prepared = routed.prepare(QUESTION)
    weights = router.weights(prepared.observation)
    assert routed.read(prepared) == routed.read(prepared, weights)


def test_scopes_are_kept_apart(static: StaticEmbedder) -> None:
    bank = SqliteBank(":memory:")
    engine = MemoryEngine(bank, static, ROUTES)
    ann, bob = Scope(user_id="ann"), Scope(user_id="bob")
    engine.write([MemoryUnit("a red boat", scope=ann), MemoryUnit("a blue boat", scope=bob)])
    found = engine.read(engine.prepare("boat", ann))
    assert [hit.text for hit in found.hits] == ["a red boat"]
    bank.close()
