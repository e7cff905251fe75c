"""The rule proposer follows the rubric; the random one draws levers by seed."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memgene.evaluation.case import Case
from memgene.evolution.changes import change, settings_of
from memgene.evolution.diagnosis import Diagnosis, diagnose
from memgene.evolution.means import Means, Use
from memgene.evolution.proposers import Attempt, Proposal, RandomProposer, tried
from memgene.evolution.rules import RuleProposer, complaints
from memgene.retrieval.config import RetrievalConfig, levers
from memgene.retrieval.levers import Need, Symptom
from memgene.retrieval.ranker import Ranker

RECALL, F1 = "recall@10", "token_f1"
UNTRAINED = frozenset({Need.EMBEDDINGS, Need.WORD_VECTORS})
TRAINED = UNTRAINED | {Need.TRAINING}
MODELS: Means = frozenset({*TRAINED, *Use})
MINIMAL = RetrievalConfig.minimal()
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
LEARNED = DEFAULT.changed(
    fusion="learned", ranker=Ranker({"bm25": 1.0}, {"bm25": 0.0}, {"bm25": 1.0})
)
Diagnose = Callable[..., Diagnosis]


@pytest.fixture
def diagnosed(make_case: Callable[..., Case]) -> Diagnose:
    """Diagnosis of 100 questions, some of them failing for a given cause."""

    def make(metric: str = RECALL, **counts: int) -> Diagnosis:
        failing = {
            "not_retrieved": {"pool_evidence": 0.0},
            "ranked_low": {},
            "answered_wrong": {"shown": 12},
            "when_low": {"question_type": "when"},
            "never_stored": {"bank_evidence": 0.0, "pool_evidence": 0.0},
            "several_facts": {"pool_evidence": 0.0, "evidence": ("one", "two")},
            "when_wrong": {"shown": 12, "question_type": "when"},
            "list_wrong": {"shown": 12, "question_type": "list"},
            "silent": {"evidence": (), "abstained": True},
            "unclear": {"evidence": ()},
        }
        cases = [
            make_case(f"{kind}{i}", "a", 0.0, scores={metric: 0.0}, **failing[kind])
            for kind, count in counts.items()
            for i in range(count)
        ]
        fine = 100 - len(cases)
        return diagnose(
            [*cases, *(make_case(f"ok{i}", "a", 1.0, scores={metric: 1.0}) for i in range(fine))],
            metric,
        )

    return make


def propose(
    diagnosis: Diagnosis,
    config: RetrievalConfig = DEFAULT,
    history: Sequence[Attempt] = (),
    available: Means = TRAINED,
    most: int = 2,
) -> Proposal | None:
    proposer = RuleProposer(available, diagnosis.metric, most)
    return proposer.propose(diagnosis, config, history, random.Random(0))


def settings(proposal: Proposal | None) -> dict[str, object]:
    assert proposal is not None
    return settings_of(proposal.changes)


def test_evidence_ranked_low_asks_for_the_learned_fusion_alone(diagnosed: Diagnose) -> None:
    found = propose(diagnosed(ranked_low=30, not_retrieved=5))
    assert settings(found) == {"fusion": "learned"}
    assert found is not None
    assert "ranked too low" in found.reason
    assert "30.0 points" in found.reason


def test_the_learned_fusion_comes_first_even_when_answers_cost_more(diagnosed: Diagnose) -> None:
    found = propose(diagnosed(F1, answered_wrong=50, ranked_low=10))
    assert settings(found) == {"fusion": "learned"}


def test_without_a_training_signal_learned_is_never_proposed(diagnosed: Diagnose) -> None:
    diagnosis, history = diagnosed(ranked_low=30, not_retrieved=20), []
    for _ in range(100):
        found = propose(diagnosis, DEFAULT, history, UNTRAINED)
        if found is None:
            break
        assert settings(found).get("fusion") != "learned"
        history.append(Attempt(DEFAULT.digest, found.changes, -0.01, False))
    assert found is None


def test_evidence_outside_the_pool_switches_a_view_on_before_widening(
    diagnosed: Diagnose,
) -> None:
    diagnosis = diagnosed(not_retrieved=30)
    first = propose(diagnosis, DEFAULT, most=1)
    on = levers()["episode_k"].default or 60
    assert settings(first) == {"episode_k": on}
    everything = DEFAULT.changed(episode_k=60, entity_swap=True, temporal_neighbours=1)
    assert settings(propose(diagnosis, everything, most=1)) == {"window_k": 96}


def test_the_minimal_start_gets_a_view_it_can_use(diagnosed: Diagnose) -> None:
    found = propose(diagnosed(not_retrieved=60), MINIMAL, available=UNTRAINED, most=1)
    assert settings(found) == {
        "window_k": 60,
        "fusion": "weighted_sum",
        "weight_window": 1.0,
        "window": 1,
    }


def test_wrong_answers_with_the_evidence_present_shrink_the_context(diagnosed: Diagnose) -> None:
    found = propose(diagnosed(F1, answered_wrong=40), most=1)
    assert settings(found) == {"context_k": 6}


def test_the_context_is_left_alone_when_the_metric_is_a_ranking(diagnosed: Diagnose) -> None:
    history: list[Attempt] = []
    for _ in range(60):
        found = propose(diagnosed(ranked_low=40), DEFAULT, history)
        if found is None:
            break
        assert not {"context_k", "context_chars"} & settings(found).keys()
        history.append(Attempt(DEFAULT.digest, found.changes, -0.01, False))
    assert len(history) > 10


def test_many_abstentions_without_evidence_widen_the_search(diagnosed: Diagnose) -> None:
    silent = {c.symptom: c.lost for c in complaints(diagnosed(F1, silent=40), DEFAULT)}
    assert silent[Symptom.NOT_RETRIEVED] == pytest.approx(0.2)
    assert Symptom.ANSWERED_WRONG not in silent
    unclear = complaints(diagnosed(F1, unclear=40), DEFAULT)
    assert unclear[0].symptom is Symptom.ANSWERED_WRONG


def test_questions_about_time_that_lag_get_time_levers_and_an_override(
    diagnosed: Diagnose,
) -> None:
    found = complaints(diagnosed(when_low=20), DEFAULT)
    assert (Symptom.TEMPORAL, None) in [(c.symptom, c.question_type) for c in found]
    assert (Symptom.RANKED_LOW, "when") in [(c.symptom, c.question_type) for c in found]
    history: list[Attempt] = []
    seen: set[str] = set()
    while (proposal := propose(diagnosed(when_low=20), LEARNED, history)) is not None:
        seen |= settings(proposal).keys()
        history.append(Attempt(LEARNED.digest, proposal.changes, -0.01, False))
    assert {"recency_weight", "per_type.when.neighbour_bonus"} <= seen
    # learned weights are fitted once for all types, so overrides leave features and pool alone
    typed = {name.split(".")[2] for name in seen if name.startswith("per_type")}
    assert typed == {"neighbour_bonus"}


def test_two_changes_answer_different_complaints(diagnosed: Diagnose) -> None:
    found = propose(diagnosed(not_retrieved=20, ranked_low=20), LEARNED)
    assert found is not None
    assert len(found.changes) == 2
    assert found.reason.count("points") == 2


def test_one_change_when_only_one_is_allowed(diagnosed: Diagnose) -> None:
    found = propose(diagnosed(not_retrieved=20, ranked_low=20), LEARNED, most=1)
    assert found is not None
    assert len(found.changes) == 1


def test_nothing_is_tried_twice_from_the_same_incumbent(diagnosed: Diagnose) -> None:
    diagnosis, history = diagnosed(not_retrieved=20, ranked_low=20), []
    seen = []
    while (found := propose(diagnosis, LEARNED, history)) is not None:
        seen.append(tuple(sorted(settings(found).items())))
        history.append(Attempt(LEARNED.digest, found.changes, 0.001, False))
    assert len(seen) == len(set(seen)) > 10
    # from another incumbent the same change may be tried
    other = LEARNED.changed(episode_k=1)
    assert propose(diagnosis, other, history) is not None


def test_a_change_that_lost_elsewhere_waits_for_the_others(diagnosed: Diagnose) -> None:
    diagnosis = diagnosed(not_retrieved=30)
    first = propose(diagnosis, DEFAULT, most=1)
    assert first is not None
    lost = Attempt("elsewhere", first.changes, -0.02, False)
    found = propose(diagnosis, DEFAULT, [lost], most=1)
    assert settings(found) == {"temporal_neighbours": 1}


def test_names_in_the_query_may_be_what_misleads(diagnosed: Diagnose) -> None:
    named = DEFAULT.changed(lexical_drop_names=False, episode_k=20, temporal_neighbours=1)
    diagnosis = diagnosed(not_retrieved=30)
    assert Symptom.NAMES_MISLEAD in {c.symptom for c in complaints(diagnosis, named)}
    assert settings(propose(diagnosis, named, most=1)) == {"entity_swap": True}
    assert Symptom.NAMES_MISLEAD not in {c.symptom for c in complaints(diagnosis, DEFAULT)}


def test_small_gains_are_taken_together(diagnosed: Diagnose) -> None:
    a = change(LEARNED, "window", 2)
    b, c = change(LEARNED, "mmr_lambda", 0.2), change(LEARNED, "dense_k", 9)
    history = [
        Attempt(LEARNED.digest, (a,), 0.006, False),
        Attempt(LEARNED.digest, (b, c), 0.008, False),
        Attempt(LEARNED.digest, (change(LEARNED, "lexical_k", 9),), 0.004, False),
    ]
    found = propose(diagnosed(ranked_low=30), LEARNED, history)
    assert settings(found) == {"mmr_lambda": 0.2, "window": 2}
    assert found is not None
    assert found.reason == "small gains taken together (+0.0080 and +0.0060)"
    history.append(Attempt(LEARNED.digest, found.changes, -0.01, False))
    assert settings(propose(diagnosed(ranked_low=30), LEARNED, history)) == {
        "dense_k": 9,
        "window": 2,
    }
    other = LEARNED.changed(window=3)
    assert propose(diagnosed(ranked_low=30), other, history) != found


def test_a_learned_fusion_is_not_given_up(diagnosed: Diagnose) -> None:
    history: list[Attempt] = []
    while (found := propose(diagnosed(ranked_low=40), LEARNED, history)) is not None:
        assert "fusion" not in settings(found)
        history.append(Attempt(LEARNED.digest, found.changes, -0.01, False))


def everything_proposed(
    diagnosis: Diagnosis, config: RetrievalConfig, available: Means, most: int = 1
) -> list[dict[str, object]]:
    """All that the rules try, one after another, when nothing helps."""
    history: list[Attempt] = []
    found = []
    while (proposal := propose(diagnosis, config, history, available, most)) is not None:
        found.append(settings(proposal))
        history.append(Attempt(config.digest, proposal.changes, -0.01, False))
    return found


def test_facts_that_were_never_stored_ask_for_extraction_and_its_coverage(
    diagnosed: Diagnose,
) -> None:
    diagnosis = diagnosed(never_stored=30)
    assert everything_proposed(diagnosis, LEARNED, MODELS)[:2] == [
        {"extraction": "both"},
        {"extraction": "facts"},
    ]
    lean = LEARNED.changed(extraction="facts", coverage_pass=False)
    assert everything_proposed(diagnosis, lean, MODELS) == [
        {"coverage_pass": True},
        {"extraction": "both"},
        {"extraction_window": 20},
        {"extraction_chunk": 8},
        {"extraction_tail": 5},
    ]
    found = propose(diagnosis, lean, available=MODELS, most=1)
    assert found is not None
    assert found.reason == "facts were never stored (costs 30.0 points)"


def test_extraction_is_never_given_up_against_missing_facts(diagnosed: Diagnose) -> None:
    full = LEARNED.changed(extraction="both")
    tried_values = everything_proposed(diagnosed(never_stored=30), full, MODELS)
    assert [set(each) for each in tried_values] == [
        {"extraction_window"},
        {"extraction_chunk"},
        {"extraction_tail"},
    ]


def test_questions_that_need_several_facts_are_taken_apart_first(diagnosed: Diagnose) -> None:
    diagnosis = diagnosed(several_facts=30)
    found = everything_proposed(diagnosis, LEARNED.changed(soft_k=0), MODELS)
    assert {"decomposition": True} in found[:3]
    assert {"intent_planning": True} in found


def test_low_ranks_are_reranked_once_the_fusion_is_learned(diagnosed: Diagnose) -> None:
    assert everything_proposed(diagnosed(ranked_low=30), LEARNED, MODELS)[0] == {"rerank": "llm"}


def test_wrong_answers_are_verified_before_the_context_is_cut(diagnosed: Diagnose) -> None:
    found = everything_proposed(diagnosed(F1, answered_wrong=40), LEARNED, MODELS)
    assert found[:3] == [{"verification": "strict"}, {"context_k": 6}, {"answer_style": "verbatim"}]


def test_a_type_that_is_answered_badly_gets_its_own_style(diagnosed: Diagnose) -> None:
    for kind, style in (("when", "date"), ("list", "list")):
        found = everything_proposed(diagnosed(F1, **{f"{kind}_wrong": 20}), LEARNED, MODELS)
        assert {f"per_type.{kind}.answer_style": style} in found
        assert not any(f"per_type.{kind}.extraction" in name for each in found for name in each)


def test_without_models_no_rule_asks_for_one(diagnosed: Diagnose) -> None:
    needing = {name for name, lever in levers().items() if Need.LLM in lever.needs}
    diagnosis = diagnosed(F1, never_stored=20, several_facts=20, answered_wrong=20, when_wrong=15)
    for each in everything_proposed(diagnosis, DEFAULT, TRAINED):
        assert not needing & {name.split(".")[-1] for name in each}


def test_nothing_wrong_nothing_proposed(diagnosed: Diagnose) -> None:
    assert propose(diagnosed()) is None


def test_random_proposals_are_valid_bounded_and_repeatable(diagnosed: Diagnose) -> None:
    diagnosis = diagnosed(ranked_low=10)
    proposer = RandomProposer(UNTRAINED, RECALL)

    @given(st.integers())
    def check(seed: int) -> None:
        found = proposer.propose(diagnosis, DEFAULT, (), random.Random(seed))
        assert found is not None
        assert 1 <= len(found.changes) <= 2
        assert not tried(DEFAULT, found.changes, ())
        for each in found.changes:
            declared = levers()[each.lever]
            assert declared.checked(each.value) == each.value
            assert each.value != "learned"
        assert found == proposer.propose(diagnosis, DEFAULT, (), random.Random(seed))

    check()


def test_random_proposals_reach_every_lever_with_an_effect_and_learned(
    diagnosed: Diagnose,
) -> None:
    proposer, diagnosis = RandomProposer(frozenset({*Need, *Use}), F1), diagnosed(F1, unclear=9)
    drawn = [proposer.propose(diagnosis, DEFAULT, (), random.Random(seed)) for seed in range(600)]
    changes = [each for found in drawn if found is not None for each in found.changes]
    without = {
        "extraction_focus",
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
    assert {each.lever for each in changes} == levers().keys() - without
    assert "learned" in {each.value for each in changes}


def test_random_never_repeats_from_the_same_incumbent(diagnosed: Diagnose) -> None:
    proposer, diagnosis = RandomProposer(TRAINED, RECALL), diagnosed()
    first = proposer.propose(diagnosis, DEFAULT, (), random.Random(3))
    assert first is not None
    history = [Attempt(DEFAULT.digest, first.changes, 0.0, False)]
    second = proposer.propose(diagnosis, DEFAULT, history, random.Random(3))
    assert second is not None
    assert settings(second) != settings(first)
