"""One evolution over one division of the groups: search, final report, best genome."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from memgene.core import InputError
from memgene.evolution.basis import holding, retriever, start_genome
from memgene.evolution.budget import BudgetMeter
from memgene.evolution.candidates import Candidates
from memgene.evolution.coevolve.single import CoEvolution
from memgene.evolution.coevolve.workshop import require_usable
from memgene.evolution.config_proposers import proposers_of
from memgene.evolution.config_search import (
    ConfigSearch,
    SearchOutcome,
    SearchTools,
    require_a_round,
)
from memgene.evolution.division_run import DivisionRun
from memgene.evolution.final import FinalOutcome
from memgene.evolution.guard import BestSoFar, Guard, GuardMode, PairedGuard
from memgene.evolution.joint.single import JointEvolution
from memgene.evolution.joint.sizes import require_a_pass
from memgene.evolution.means import Means
from memgene.evolution.programs.single import ProgramEvolution
from memgene.evolution.programs.sizes import require_a_child
from memgene.evolution.progress import Place, ProgressCallback
from memgene.evolution.promotion import bundle_of
from memgene.evolution.proposers import Proposer
from memgene.evolution.recorder import Recorder
from memgene.evolution.result import EvolveResult
from memgene.evolution.rundir import RunFolder
from memgene.evolution.sealed import DevVal, SealedTest, seal
from memgene.evolution.workbench import Workbench
from memgene.genome import GenomeBundle
from memgene.retrieval.levers import Need
from memgene.tasks.metrics import can_apply, get_metric
from memgene.tasks.splits import Division


def evolve_division(
    bench: Workbench,
    division: Division,
    path: Path,
    *,
    resume: bool,
    progress: ProgressCallback | None,
    place: Place = Place(),  # noqa: B008 - frozen
) -> EvolveResult:
    """Evolve on dev and val of a division, then measure on its test groups.

    Raises RunInterruptedError after a stop was asked for; `resume=True` continues then.
    """
    task = bench.task
    asked = {**bench.asked, **({"fold": place.fold} if place.folds else {})}
    data, sealed = prepare(bench, division, place)
    fingerprints = {task.name: task.fingerprint}
    with RunFolder.open(path, asked, fingerprints, resume=resume, isolation=bench.isolation) as run:
        if bench.settings.strategy == "program":
            with ProgramEvolution(bench, run, data, division.origin, progress, place) as programs:
                return programs.run(sealed)
        if bench.settings.strategy == "joint":
            with JointEvolution(bench, run, data, division.origin, progress, place) as joint:
                return joint.run(sealed)
        if bench.settings.strategy == "coevolve":
            return CoEvolution(bench, run, data, division.origin, progress, place).run(sealed)
        return _Evolution(bench, run, data, division.origin, progress, place).run(sealed)


def prepare(
    bench: Workbench,
    division: Division,
    place: Place = Place(),  # noqa: B008 - frozen
) -> tuple[DevVal, SealedTest]:
    """The questions of a division, when an evolution can be made of them.

    Everything that would end it without a result is refused here, before a run folder is made: it
    would stand in the way of the corrected command. Raises InputError for a budget that covers no
    round and for a metric that applies to none of the dev or val questions.
    """
    data, sealed = seal(bench.task, division, bench.settings.seed)
    metric = get_metric(bench.metric)
    ranks = bench.settings.strategy != "program"
    for name, questions in (("val", data.select), ("dev", data.diagnose)):
        if not any(can_apply(metric, question, ranks=ranks) for question in questions):
            raise InputError(
                f"metric {metric.name} applies to none of the {name} questions "
                f"({metric.description}); choose another with --metric"
            )
    _require_base(bench, division, place)
    meter = BudgetMeter(bench.settings.budget)
    if bench.settings.strategy == "program":
        pays = bench.answers_with_a_model
        llm = "toolkit" in bench.roles
        require_a_child(bench.settings.programs, data, meter, pays=pays, llm=llm)
    elif bench.settings.strategy == "joint":
        require_a_pass(bench, data)
    elif bench.settings.strategy == "coevolve":
        require_usable(bench, data, meter, division.origin, place)
    else:
        require_a_round(meter, data)
    return data, sealed


def _require_base(bench: Workbench, division: Division, place: Place) -> None:
    """Raises InputError for a base that this run cannot start from."""
    settings = bench.settings
    divided = (division.origin, settings.seed)
    base = start_genome(settings.base, bench.task, settings.embedder, divided, place, settings.held)
    if settings.strategy in ("config", "coevolve"):
        retriever(base, settings.base, f"strategy {settings.strategy}")


class _Evolution(DivisionRun[SearchOutcome]):
    """Strategy `config`."""

    def _search(self) -> SearchOutcome:
        metric, settings = self._bench.metric, self._settings
        proposer, explorer = self._proposers()
        tools = SearchTools(
            journal=self._run.journal,
            candidates=Candidates(
                self._run,
                Recorder(self._run, metric, self._meter, self._spending),
                self._meter,
                self._spending,
                self._bench.evaluator(self._data.task, self._data.training, searching=True),
                self._learner,
                self._data,
                metric,
            ),
            meter=self._meter,
            proposer=proposer,
            explorer=explorer,
            guard=self._guard(),
            interrupt=self._bench.interrupt,
            report=self._reporter.searched,
        )
        plan, base = settings.plan, self._start_genome()
        start = retriever(base, settings.base, "strategy config")
        if start is None and settings.held:
            start = holding(plan.start(), settings.held)
        return ConfigSearch(
            tools, self._data, plan, metric, settings.seed, settings.rounds, start=start
        ).run()

    def _proposers(self) -> tuple[Proposer, Proposer]:
        """The proposer asked for, and the one that explores."""
        learning = {Need.TRAINING} if self._learnable else set()
        available: Means = frozenset({*self._bench.means, *learning})
        return proposers_of(
            self._bench, self._data, available, self._run, self._meter, self._spending
        )

    def _guard(self) -> Guard:
        if self._settings.plan.follow:
            return BestSoFar()
        return PairedGuard.of_mode(GuardMode(self._settings.guard), self._settings.rounds)

    def _final(self, found: SearchOutcome, sealed: SealedTest) -> FinalOutcome:
        return self._report(found.rounds).run(
            found.promoted.config,
            found.start.config,
            self._bench.static,
            sealed,
            learned_once=self._learnable,
        )

    def _bundle(self, found: SearchOutcome, final: FinalOutcome) -> GenomeBundle:
        bundle = bundle_of(self._bench, found, final, self._origin)
        return replace(bundle, parents=self._parents(next(iter(bundle.parents), None)))
