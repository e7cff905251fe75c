"""Who proposes configurations in a run."""

from __future__ import annotations

from memgene.evolution.budget import BudgetMeter
from memgene.evolution.consulting import Consultant
from memgene.evolution.diagnosis import cut_of
from memgene.evolution.llm_proposer import LLMProposer
from memgene.evolution.means import Held, Means
from memgene.evolution.proposers import Proposer, RandomProposer
from memgene.evolution.rules import RuleProposer
from memgene.evolution.rundir import RunFolder
from memgene.evolution.sealed import DevVal
from memgene.evolution.spending import Spending
from memgene.evolution.stages.discovering import Discoverer
from memgene.evolution.stages.proposing import StageProposer
from memgene.evolution.stages.writing import StageWriter
from memgene.evolution.workbench import Workbench
from memgene.retrieval.config import RetrievalConfig
from memgene.retrieval.stages.host import StageHost


def proposers_of(
    bench: Workbench,
    data: DevVal,
    available: Means,
    run: RunFolder,
    meter: BudgetMeter,
    spending: Spending,
) -> tuple[Proposer, Proposer]:
    """The proposer that the run's settings ask for, and the one that explores.

    `available` is what levers may need, `run` keeps what a model was asked and said. Levers that
    the run holds are not touched; stages are tried where its settings say so.
    """
    settings, metric = bench.settings, bench.metric
    available = frozenset({*available, *(Held(name) for name in settings.held)})
    most = settings.plan.max_changes
    explorer = RandomProposer(available, metric, most, "exploring after flat rounds")
    asked = _asked(bench, available, run, meter, spending)
    if not settings.stages or bench.stages is None:
        return asked, explorer
    write = None
    if settings.proposer == "llm":
        write = StageWriter(bench.diagnoser(), bench.stages, run, meter, spending).write
    return StageProposer(asked, _discoverer(bench, bench.stages, data).discover, write), explorer


def _asked(
    bench: Workbench, available: Means, run: RunFolder, meter: BudgetMeter, spending: Spending
) -> Proposer:
    settings, metric = bench.settings, bench.metric
    most = settings.plan.max_changes
    if settings.proposer == "random":
        return RandomProposer(available, metric, most)
    rules = RuleProposer(available, metric, most)
    if settings.proposer == "rule":
        return rules
    limit = settings.diagnosis_tokens
    consultant = Consultant(bench.diagnoser(), available, metric, most, max_tokens=limit)
    return LLMProposer(consultant, rules, run, meter, spending)


def _discoverer(bench: Workbench, host: StageHost, data: DevVal) -> Discoverer:
    """Looks at as many hits as the metric, or as an agent is shown by default."""
    ranked = bench.learner(data.task, data.training).ranked
    k = cut_of(bench.metric) or RetrievalConfig().context_k
    return Discoverer(ranked, data.diagnose, host, k)
