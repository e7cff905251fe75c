"""What a joint evolution sees of dev and val, and what its budget has to cover."""

from __future__ import annotations

from dataclasses import replace

from memgene.core import Budget, InputError
from memgene.evolution.budget import BudgetMeter
from memgene.evolution.diagnosis import is_ranking
from memgene.evolution.joint.plan import Arm
from memgene.evolution.programs.sampling import Sampler
from memgene.evolution.sealed import DevVal
from memgene.evolution.workbench import Workbench

_PAID = 25  # judging questions where answers cost something


def search_budget(budget: Budget, data: DevVal) -> Budget:
    """What the passes may spend: the questions of the last choice are kept, and `iterations` are
    passes, which are counted elsewhere.

    Raises InputError where nothing would be left.
    """
    questions = budget.questions
    if questions is not None:
        kept = 2 * len(data.fresh)
        if questions <= kept:
            raise InputError(
                f"the budget of {questions} questions does not cover the last choice, which "
                f"takes {kept}; give more"
            )
        questions -= kept
    return replace(budget, questions=questions, iterations=None)


def judged(bench: Workbench, data: DevVal) -> int:
    """How many questions judge every genome: as many as the plan says, else all of val's selection
    part where answers cost nothing, and 25 where they do."""
    usual = _PAID if bench.answers_with_a_model else len(data.select)
    return min(bench.settings.jointly.program.static_items or usual, len(data.select))


def judging_data(bench: Workbench, data: DevVal, sampler: Sampler) -> DevVal:
    """Dev and val as the passes see them: the judging questions (a subset is chosen by k-means),
    and no fresh ones."""
    return replace(data, select=sampler.static(judged(bench, data)).questions, fresh=())


def require_a_pass(bench: Workbench, data: DevVal) -> None:
    """Raises InputError when no arm of the plan can do anything for the metric, or the budget does
    not cover the start and the cheapest candidate."""
    arms = bench.settings.jointly.arms
    if is_ranking(bench.metric) and set(arms) == {Arm.STRUCTURE}:
        raise InputError(
            f"programs give text and no ranking, so {bench.metric} never applies; take another "
            "metric or more arms"
        )
    meter = BudgetMeter(search_budget(bench.settings.budget, data))
    blocked = meter.blocks(2 * judged(bench, data))
    if blocked is not None:
        raise InputError(f"the budget does not cover the start and one candidate: {blocked}")
