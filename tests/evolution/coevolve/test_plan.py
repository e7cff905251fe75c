"""A plan says who learns when, and every ablation of the paper is one of its switches."""

from __future__ import annotations

import pytest

from memgene.core import InputError, MemgeneError
from memgene.engine.credit.settings import Rule
from memgene.evolution.coevolve.plan import CoevolvePlan, Evolving, Schedule
from memgene.evolution.coevolve.steps import Phase, steps_of


def order(plan: CoevolvePlan, *, empty: bool = False) -> list[str]:
    return [str(step.phase) for step in steps_of(plan, empty=empty)]


def test_the_learners_take_turns_by_default() -> None:
    assert order(CoevolvePlan(cycles=2)) == ["router", "memory", "router", "memory"]


def test_two_stages_let_one_learn_to_the_end_first() -> None:
    plan = CoevolvePlan(schedule=Schedule.TWO_STAGE, cycles=2)
    assert order(plan) == ["router", "router", "memory", "memory"]


def test_simultaneous_learning_is_one_pass_for_both() -> None:
    assert order(CoevolvePlan(schedule=Schedule.SIMULTANEOUS)) == ["both", "both", "both"]


@pytest.mark.parametrize("schedule", list(Schedule))
def test_a_lone_learner_has_every_pass_whatever_the_schedule(schedule: Schedule) -> None:
    assert order(CoevolvePlan(schedule=schedule, router=False)) == ["memory"] * 3
    assert order(CoevolvePlan(schedule=schedule, memory=Evolving.FROZEN)) == ["router"] * 3


def test_an_empty_memory_learns_before_there_is_anything_to_route_to() -> None:
    steps = steps_of(CoevolvePlan(cycles=1), empty=True)
    assert [step.phase for step in steps] == [Phase.MEMORY, Phase.ROUTER, Phase.MEMORY]
    assert [step.number for step in steps] == [1, 2, 3]
    assert [step.cycle for step in steps] == [0, 1, 1]


def test_credit_along_edges_needs_edges() -> None:
    with pytest.raises(InputError, match="needs the memory graph"):
        CoevolvePlan().parsed("hops=2")
    assert CoevolvePlan().parsed("hops=2,link=true").credited().hops == 2


def test_a_plan_serves_the_fusion_it_names() -> None:
    assert CoevolvePlan(fit=False).start().fusion == "weighted_sum"
    assert CoevolvePlan(fit=False).parsed("fusion=q_rrf").start().fusion == "q_rrf"


def test_nothing_that_learns_is_refused() -> None:
    with pytest.raises(InputError, match="nothing would evolve"):
        CoevolvePlan(router=False, memory=Evolving.FROZEN)


def test_the_paper_starts_from_two_routes_weighed_by_rank() -> None:
    config = CoevolvePlan.paper().start()
    assert config.fusion == "q_rrf"
    assert config.self_routing == "rules"
    assert config.lexical_k > 0
    assert config.dense_k > 0


def test_the_paper_credits_along_the_graph_and_its_ablation_does_not() -> None:
    assert CoevolvePlan.paper().credited().hops == 2
    assert CoevolvePlan.paper().parsed("memory=items").credited().hops == 0


def test_a_plan_is_written_as_names_and_values() -> None:
    plan = CoevolvePlan().parsed(
        "schedule=two-stage, cycles=5, rule=td, alpha=0.1, rate=0.02, utility_weight=0.3, most=none"
    )
    assert plan.schedule is Schedule.TWO_STAGE
    assert plan.cycles == 5
    assert plan.credit.rule is Rule.TD
    assert plan.credit.alpha == 0.1
    assert plan.learner.rate == 0.02
    assert plan.start().utility_weight == 0.3
    assert plan.most is None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("speed=3", "no 'speed'"),
        ("cycles=many", "cycles needs a number"),
        ("cycles=0", "cycles must be a whole number, 1 or more"),
        ("most=2.5", "most must be a whole number, 1 or more"),
        ("hops=1.5", "hops needs a number"),
        ("rule=never", "credit rule is one of td, gap, used"),
        ("alpha=none", "alpha cannot be absent"),
        ("distil=yes", "distil is true or false"),
        ("noise=2", "noise must lie"),
        ("schedule=never", "no schedule 'never'"),
    ],
)
def test_what_a_plan_cannot_be_is_named(text: str, said: str) -> None:
    with pytest.raises(MemgeneError, match=said):
        CoevolvePlan().parsed(text)


def test_a_plan_is_kept_as_plain_values() -> None:
    kept = CoevolvePlan.paper().parsed("q_rank_weight=0.25").to_dict()
    assert kept["schedule"] == "alternating"
    assert kept["credit"]["rule"] == "td"
    assert kept["levers"]["q_rank_weight"] == 0.25
    assert "most" not in kept
