"""One evolution over one division of the groups: search, final report, best genome."""

from __future__ import annotations

from pathlib import Path

from memgene.core import Budget, InputError
from memgene.evolution.budget import BudgetMeter
from memgene.evolution.candidates import Candidates
from memgene.evolution.config_search import (
    ConfigSearch,
    SearchOutcome,
    SearchTools,
    require_a_round,
)
from memgene.evolution.consulting import Consultant
from memgene.evolution.events import Finished, RunStarted
from memgene.evolution.final import FinalOutcome, FinalReport, FinalTools
from memgene.evolution.guard import BestSoFar, Guard, GuardMode, PairedGuard
from memgene.evolution.llm_proposer import LLMProposer
from memgene.evolution.means import Means
from memgene.evolution.programs.single import ProgramEvolution
from memgene.evolution.programs.sizes import require_a_child
from memgene.evolution.progress import Place, ProgressCallback, Reporter
from memgene.evolution.promotion import bundle_of
from memgene.evolution.proposers import Proposer, RandomProposer
from memgene.evolution.recorder import Recorder
from memgene.evolution.remembering import RememberingLearner
from memgene.evolution.result import EvolveResult, add_usage
from memgene.evolution.rules import RuleProposer
from memgene.evolution.rundir import BEST, RunFolder
from memgene.evolution.sealed import DevVal, SealedTest, seal
from memgene.evolution.spending import Spending
from memgene.evolution.workbench import Workbench, can_learn
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
    data, sealed = prepare(bench, division)
    fingerprints = {task.name: task.fingerprint}
    with RunFolder.open(path, asked, fingerprints, resume=resume, isolation=bench.isolation) as run:
        if bench.settings.strategy == "program":
            with ProgramEvolution(bench, run, data, division.origin, progress, place) as programs:
                return programs.run(sealed)
        return _Evolution(bench, run, data, division.origin, progress, place).run(sealed)


def prepare(bench: Workbench, division: Division) -> tuple[DevVal, SealedTest]:
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
    meter = BudgetMeter(bench.settings.budget)
    if bench.settings.strategy == "program":
        pays = bench.answers_with_a_model
        llm = "toolkit" in bench.roles
        require_a_child(bench.settings.programs, data, meter, pays=pays, llm=llm)
    else:
        require_a_round(meter, data)
    return data, sealed


class _Evolution:
    """The parts of one run wired together."""

    def __init__(
        self,
        bench: Workbench,
        run: RunFolder,
        data: DevVal,
        origin: str,
        progress: ProgressCallback | None,
        place: Place,
    ) -> None:
        self._bench = bench
        self._settings = bench.settings
        self._run = run
        self._data = data
        self._origin = origin
        self._meter = BudgetMeter(bench.settings.budget)
        self._spending = Spending(run.journal, self._meter, bench.ledger)
        self._final_meter = BudgetMeter(Budget())
        self._reporter = Reporter(progress, self._meter, bench.settings.rounds, place)
        self._evaluator = bench.evaluator(data.task, data.training, searching=True)
        self._learner = RememberingLearner(bench.learner(data.task, data.training))
        self._learnable = can_learn(data.dev)

    def run(self, sealed: SealedTest) -> EvolveResult:
        """Search, report, promote."""
        journal = self._run.journal
        journal.emit(self._start_event())
        self._reporter.tell("start")
        found = self._search()
        final = self._final(found, sealed)
        bundle = bundle_of(self._bench, found, final, self._origin)
        if journal.peek(Finished) is None or not (self._run.path / BEST).exists():
            self._run.save_best(bundle)
        journal.emit(Finished(bundle.id, found.rounds, self._meter.questions))
        return EvolveResult(
            run=self._run.path,
            strategy=self._settings.strategy,
            metric=self._bench.metric,
            rounds=found.rounds,
            evaluations=self._meter.questions,
            promoted=found.promoted.id,
            stopped=found.stopped,
            config=final.config,
            test=final.report,
            usage=add_usage([self._meter.roles, self._final_meter.roles]),
            seconds=self._meter.seconds + self._final_meter.seconds,
            sandbox=self._bench.sandbox,
        )

    def _start_event(self) -> RunStarted:
        return RunStarted(
            task=self._bench.task.name,
            strategy=self._settings.strategy,
            metric=self._bench.metric,
            seed=self._settings.seed,
            rounds=self._settings.rounds,
            dev=len(self._data.dev),
            val=len(self._data.val),
            fresh=len(self._data.fresh),
            division=self._origin,
        )

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
                self._evaluator,
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
        plan = settings.plan
        return ConfigSearch(tools, self._data, plan, metric, settings.seed, settings.rounds).run()

    def _proposers(self) -> tuple[Proposer, Proposer]:
        """The proposer asked for, and the one that explores."""
        learning = {Need.TRAINING} if self._learnable else set()
        available: Means = frozenset({*self._bench.means, *learning})
        metric, most = self._bench.metric, self._settings.plan.max_changes
        explorer = RandomProposer(available, metric, most, "exploring after flat rounds")
        if self._settings.proposer == "random":
            return RandomProposer(available, metric, most), explorer
        rules = RuleProposer(available, metric, most)
        if self._settings.proposer == "rule":
            return rules, explorer
        limit = self._settings.diagnosis_tokens
        consultant = Consultant(self._bench.diagnoser(), available, metric, most, max_tokens=limit)
        return LLMProposer(consultant, rules, self._run, self._meter, self._spending), explorer

    def _guard(self) -> Guard:
        if self._settings.plan.follow:
            return BestSoFar()
        return PairedGuard.of_mode(GuardMode(self._settings.guard), self._settings.rounds)

    def _final(self, found: SearchOutcome, sealed: SealedTest) -> FinalOutcome:
        bench, data = self._bench, self._data
        spending = Spending(self._run.journal, self._final_meter)
        tools = FinalTools(
            run=self._run,
            recorder=Recorder(self._run, bench.metric, self._final_meter, spending),
            spending=spending,
            meter=self._final_meter,
            learner=self._learner,
            evaluator_for=lambda part: bench.evaluator(part, data.training),
            interrupt=bench.interrupt,
            rounds=found.rounds,
            report=lambda: self._reporter.tell("final"),
        )
        report = FinalReport(tools, data, bench.metric, self._settings.seed)
        return report.run(
            found.promoted.config,
            found.start.config,
            bench.static,
            sealed,
            learned_once=self._learnable,
        )
