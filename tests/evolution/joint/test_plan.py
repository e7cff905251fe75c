"""How a joint evolution is told what to do."""

from __future__ import annotations

import pytest

from memgene.core import ConfigError, InputError
from memgene.evolution.joint.plan import Arm, JointPlan, JointSchedule
from memgene.evolution.programs.plan import Search
from memgene.evolution.sealed import spread_sample
from memgene.tasks.part import counted
from memgene.testing import tiny_task


def test_text_changes_it_and_the_plans_inside() -> None:
    plan = JointPlan().parsed(
        "schedule=simultaneous,arms=values+structure,rounds=7,discount=0.25,"
        "program.search=population,coevolve.rule=td"
    )
    assert plan.schedule is JointSchedule.SIMULTANEOUS
    assert plan.arms == (Arm.VALUES, Arm.STRUCTURE)
    assert (plan.rounds, plan.discount) == (7, 0.25)
    assert plan.program.search is Search.POPULATION
    assert plan.coevolve.credit.rule == "td"
    assert plan.passes == JointPlan().passes


def test_what_text_cannot_say_is_refused_with_what_it_can() -> None:
    with pytest.raises(InputError, match=r"a plan has no 'speed'; it has arms, discount,"):
        JointPlan().parsed("speed=2")
    with pytest.raises(InputError, match="rounds needs a number, got 'many'"):
        JointPlan().parsed("rounds=many")
    with pytest.raises(ConfigError, match="there is no schedule 'random'; there is alternating"):
        JointPlan().parsed("schedule=random")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("arms=structure+structure", "arms are some of structure, parameters, router, values"),
        ("arms=", "each once; got none"),
        ("arms=speed", "got speed"),
        ("passes=0", "passes must be at least 1, got 0"),
        ("learning_items=0", "learning_items must be at least 1, got 0"),
        ("discount=1.5", r"discount must lie in \[0, 1\], got 1.5"),
    ],
)
def test_values_out_of_range_are_refused(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        JointPlan().parsed(text)


def test_its_plain_values_hold_everything() -> None:
    values = JointPlan().to_dict()
    assert values["arms"] == ["structure", "parameters", "router", "values"]
    assert values["program"]["seeds"] == ["bank", "hybrid"]
    assert values["coevolve"]["cycles"] == 1


def test_learning_questions_are_spread_over_the_groups() -> None:
    questions = counted(tiny_task())
    assert spread_sample(questions, len(questions), 0) == questions
    some = spread_sample(questions, 6, 0)
    assert len(some) == 6
    assert len({q.group for q in some}) == 6
    assert some != spread_sample(questions, 6, 1)
