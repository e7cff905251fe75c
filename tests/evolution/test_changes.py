"""Changes: companions, what needs a fit, what has an effect."""

from __future__ import annotations

import pytest

from memgene.evolution.changes import (
    Change,
    apply,
    change,
    has_effect,
    same_settings,
    settings_of,
    wants_fit,
)
from memgene.evolution.means import Use
from memgene.retrieval.config import RetrievalConfig, levers
from memgene.retrieval.levers import Need
from memgene.retrieval.needs import MODEL_LEVERS
from memgene.retrieval.ranker import Ranker
from memgene.retrieval.router.router import Router

RANKER = Ranker({"bm25": 1.0}, {"bm25": 0.0}, {"bm25": 1.0})
DEFAULT = RetrievalConfig(
    lexical_k=60,
    window_k=60,
    episode_k=0,
    dense_k=60,
    soft_k=60,
    structured_k=20,
    window=1,
    fusion="weighted_sum",
    neighbour_bonus=0,
    temporal_neighbours=0,
    entity_swap=False,
    recency_weight=0,
    context_k=10,
)
MINIMAL = RetrievalConfig.minimal()
LEARNED = DEFAULT.changed(fusion="learned", ranker=RANKER)
RECALL = "recall@10"


def test_a_view_that_is_switched_on_gets_weight_and_a_fusion_that_reads_it() -> None:
    found = change(MINIMAL, "dense_k", 60)
    assert found.settings == {"dense_k": 60, "fusion": "weighted_sum", "weight_dense": 1.0}
    window = change(MINIMAL, "window_k", 60)
    assert window.settings == {
        "window_k": 60,
        "fusion": "weighted_sum",
        "weight_window": 1.0,
        "window": 1,
    }
    assert change(DEFAULT, "episode_k", 60).settings == {"episode_k": 60}
    assert change(MINIMAL, "lexical_k", 20).settings == {"lexical_k": 20}
    assert change(DEFAULT, "dense_k", 0).settings == {"dense_k": 0}


def test_changes_apply_together_and_per_type() -> None:
    changes = (change(DEFAULT, "window", 2), change(DEFAULT, "context_k", 5, "when"))
    assert settings_of(changes) == {"window": 2, "per_type.when.context_k": 5}
    assert apply(DEFAULT, changes) == DEFAULT.changed(window=2, per_type={"when": {"context_k": 5}})


def test_learned_waits_for_its_weights() -> None:
    to_learned = (change(DEFAULT, "fusion", "learned"),)
    assert apply(DEFAULT, to_learned) == DEFAULT
    assert wants_fit(DEFAULT, to_learned)


@pytest.mark.parametrize(
    ("config", "changed", "fit"),
    [
        (DEFAULT, change(DEFAULT, "window", 2), False),
        (LEARNED, change(LEARNED, "window", 2), True),
        (LEARNED, change(LEARNED, "dense_k", 90), True),
        (LEARNED, change(LEARNED, "neighbour_bonus", 0.3), False),
        (LEARNED, change(LEARNED, "context_k", 5), False),
        (LEARNED, change(LEARNED, "extraction", "both"), True),
        (LEARNED, change(LEARNED, "coverage_pass", False), True),
        (LEARNED, change(LEARNED, "decomposition", True), False),
        (LEARNED, change(LEARNED, "rerank", "llm"), False),
        (LEARNED, change(LEARNED, "answer_style", "list"), False),
        (LEARNED, change(LEARNED, "verification", "strict"), False),
        (LEARNED, change(LEARNED, "recency_weight", 0.3, "when"), False),
        (LEARNED, change(LEARNED, "fusion", "rrf"), False),
    ],
)
def test_weights_are_fitted_anew_when_what_they_were_fitted_on_changes(
    config: RetrievalConfig, changed: Change, fit: bool
) -> None:
    assert wants_fit(config, (changed,)) is fit


def test_levers_without_effect_are_known() -> None:
    everything = frozenset({*Need, *Use})

    def dead(config: RetrievalConfig, metric: str = RECALL) -> set[str]:
        return {n for n in levers() if not has_effect(config, n, everything, metric)}

    waiting = {
        "extraction_focus",  # no proposer draws words
        "weight_episode",
        "entity_swap_k",
        "half_life_days",
        "extraction_window",
        "extraction_tail",
        "extraction_chunk",
        "coverage_pass",
        "decomposition_max",
        "rerank_k",
        "verification_threshold",
        "route_pool",
        "route_prior",
        "q_rank_weight",
        "self_routing",
        "router_strength",
    }
    answering = {"context_k", "context_chars", "answer_style", "verification"}
    assert dead(DEFAULT) == waiting | answering
    assert dead(DEFAULT, "token_f1") == waiting
    assert dead(DEFAULT.changed(extraction="facts"), "token_f1") == waiting - {
        "extraction_window",
        "extraction_tail",
        "extraction_chunk",
        "coverage_pass",
    }
    reading = DEFAULT.changed(decomposition=True, rerank="llm", verification="strict")
    assert waiting - dead(reading, "token_f1") == {
        "decomposition_max",
        "rerank_k",
        "verification_threshold",
    }
    assert "verification_threshold" in dead(reading)
    assert "weight_episode" not in dead(DEFAULT.changed(episode_k=10))
    assert "half_life_days" not in dead(DEFAULT.changed(recency_weight=0.5))
    rrf = dead(DEFAULT.changed(fusion="rrf"))
    assert {"weight_speaker", "weight_length"} <= rrf
    assert "weight_dense" not in rrf
    single = dead(DEFAULT.changed(fusion="lexical_only"))
    assert {"weight_lexical", "weight_dense", "window", "dense_center"} <= single
    assert "lexical_drop_names" not in single
    assert "value_shrink" in dead(DEFAULT.changed(utility_weight=0))


def test_two_routes_have_levers_of_their_own() -> None:
    everything = frozenset({*Need, *Use})
    routed = DEFAULT.changed(fusion="q_rrf", utility_weight=0, entity_swap=True)
    own = {"route_pool", "route_prior", "q_rank_weight", "self_routing", "value_shrink"}
    shared = {"lexical_drop_names", "dense_drop_names", "dense_center", "max_df", "mmr_lambda"}
    of_views = {"lexical_k", "soft_k", "window", "weight_dense", "weight_length", "entity_swap_k"}
    for name in own | shared:
        assert has_effect(routed, name, everything, RECALL), name
    for name in of_views:
        assert not has_effect(routed, name, everything, RECALL), name
    assert not has_effect(routed.changed(self_routing="rules"), "route_prior", everything, RECALL)
    assert not has_effect(routed, "self_routing", frozenset(Need), RECALL)


def test_a_router_holds_its_fusion_and_has_a_strength() -> None:
    everything = frozenset({*Need, *Use})
    router = Router.fresh(("lexical", "dense"), ("length",))
    with_router = DEFAULT.changed(router=router)
    assert has_effect(with_router, "router_strength", everything, RECALL)
    assert not has_effect(DEFAULT, "router_strength", everything, RECALL)
    assert has_effect(DEFAULT, "fusion", everything, RECALL)
    assert not has_effect(with_router, "fusion", everything, RECALL)


def test_a_lever_whose_need_is_not_met_has_no_effect() -> None:
    assert has_effect(DEFAULT, "dense_k", frozenset({Need.EMBEDDINGS}), RECALL)
    assert not has_effect(DEFAULT, "dense_k", frozenset(), RECALL)
    assert not has_effect(DEFAULT, "utility_weight", frozenset({Need.EMBEDDINGS}), RECALL)


@pytest.mark.parametrize(
    ("use", "levers_of_it"),
    [
        (Use.EXTRACT, {"extraction"}),
        (Use.REWRITE, {"decomposition", "intent_planning", "rerank"}),
        (Use.ANSWER, {"answer_style", "verification"}),
    ],
)
def test_a_model_serves_the_levers_of_its_use_only(use: Use, levers_of_it: set[str]) -> None:
    means = frozenset({use})
    needing = {name for name, lever in levers().items() if Need.LLM in lever.needs}
    assert {n for n in needing if has_effect(DEFAULT, n, means, "token_f1")} == levers_of_it
    # self_routing is served by rules as well
    assert set(MODEL_LEVERS[str(use)]) - {"self_routing"} == levers_of_it
    assert not any(has_effect(DEFAULT, n, frozenset(Need), "token_f1") for n in needing)


def test_setting_what_is_set_changes_nothing() -> None:
    assert same_settings(DEFAULT, (change(DEFAULT, "window", 1),))
    assert same_settings(DEFAULT, (change(DEFAULT, "lexical_k", 60),))
    assert not same_settings(DEFAULT, (change(DEFAULT, "window", 2),))
    typed = DEFAULT.changed(per_type={"when": {"window": 2}})
    assert same_settings(typed, (change(typed, "window", 2, "when"),))
    assert not same_settings(typed, (change(typed, "window", 1, "when"),))
    # clamped to what it is already
    wide = DEFAULT.changed(dense_k=100)
    assert same_settings(wide, (change(wide, "dense_k", 160),))
