"""How many questions a program search looks at, and which programs it starts from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from memgene.core import InputError
from memgene.evolution.budget import BudgetMeter
from memgene.evolution.programs.plan import ProgramPlan, Search
from memgene.evolution.sealed import DevVal
from memgene.programs.program import Program
from memgene.programs.seeds import seed

_PAID, _FREE = (25, 5), (200, 25)
_EPISODES = 5
_SEEDS = ("vector-search", "experience-learner", "hybrid", "bank")
_WITH_MODEL = ("vector-search", "llm-summarizer", "experience-learner", "hybrid", "bank")
_EMPTY = ("empty",)


@dataclass(frozen=True, slots=True)
class Sizes:
    """Numbers of static and rotating questions of one run, and of episodes for each (None: all)."""

    static: int
    rotating: int
    episodes: int | None

    @classmethod
    def of(cls, plan: ProgramPlan, data: DevVal, *, pays: bool) -> Sizes:
        """What the plan says, as far as there are questions. `pays`: answers cost something, so
        that the paper's small numbers are the default."""
        static, rotating = _PAID if pays else _FREE
        return cls(
            min(plan.static_items or static, len(data.select)),
            min(plan.rotating_items or rotating, len(data.diagnose)),
            plan.episodes_per_item or (_EPISODES if pays else None),
        )


def seeds_of(plan: ProgramPlan, *, llm: bool) -> Sequence[tuple[str, Program]]:
    """The programs that a search starts from, by name. `llm`: programs have a language model; the
    summarising seed is left out by default where they have none.

    Raises ConfigError for a name that is no seed.
    """
    usual = _EMPTY if plan.search is Search.LINEAR else _WITH_MODEL if llm else _SEEDS
    return [(name, seed(name)) for name in plan.seeds or usual]


def require_a_child(
    plan: ProgramPlan, data: DevVal, meter: BudgetMeter, *, pays: bool, llm: bool
) -> None:
    """Raises InputError when the budget does not cover the seeds and one child. `pays` and `llm`
    as for `Sizes.of` and `seeds_of`."""
    sizes = Sizes.of(plan, data, pays=pays)
    seeds = len(seeds_of(plan, llm=llm))
    child = plan.questions_of_a_child(sizes.static)
    blocked = meter.blocks(seeds * sizes.static + sizes.rotating + child)
    if blocked is not None:
        raise InputError(f"the budget does not cover the seeds and one child: {blocked}")
