"""Who proposes configurations in a run."""

from __future__ import annotations

from memgene.evolution.budget import BudgetMeter
from memgene.evolution.consulting import Consultant
from memgene.evolution.llm_proposer import LLMProposer
from memgene.evolution.means import Held, Means
from memgene.evolution.proposers import Proposer, RandomProposer
from memgene.evolution.rules import RuleProposer
from memgene.evolution.rundir import RunFolder
from memgene.evolution.spending import Spending
from memgene.evolution.workbench import Workbench


def proposers_of(
    bench: Workbench, available: Means, run: RunFolder, meter: BudgetMeter, spending: Spending
) -> tuple[Proposer, Proposer]:
    """The proposer that the run's settings ask for, and the one that explores. `available` is what
    levers may need, and levers that the run holds are not touched; `run` keeps what a model was
    asked and said."""
    settings, metric = bench.settings, bench.metric
    available = frozenset({*available, *(Held(name) for name in settings.held)})
    most = settings.plan.max_changes
    explorer = RandomProposer(available, metric, most, "exploring after flat rounds")
    if settings.proposer == "random":
        return RandomProposer(available, metric, most), explorer
    rules = RuleProposer(available, metric, most)
    if settings.proposer == "rule":
        return rules, explorer
    limit = settings.diagnosis_tokens
    consultant = Consultant(bench.diagnoser(), available, metric, most, max_tokens=limit)
    return LLMProposer(consultant, rules, run, meter, spending), explorer
