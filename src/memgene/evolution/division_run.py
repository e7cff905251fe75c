"""What every strategy does on one division of the groups: begin, search, report, promote."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Generic, Protocol, TypeVar

from memgene.agents.protocol import Agent
from memgene.core import Budget
from memgene.evolution.basis import StartGenome, inheriting, start_genome
from memgene.evolution.budget import BudgetMeter
from memgene.evolution.events import Finished, RunStarted
from memgene.evolution.final import FinalOutcome, FinalReport, FinalTools
from memgene.evolution.progress import Place, ProgressCallback, Reporter
from memgene.evolution.recorder import Recorder
from memgene.evolution.remembering import RememberingLearner
from memgene.evolution.result import EvolveResult, add_usage
from memgene.evolution.rundir import BEST, RunFolder
from memgene.evolution.sealed import DevVal, SealedTest
from memgene.evolution.spending import Spending
from memgene.evolution.workbench import Workbench, can_learn
from memgene.genome import GenomeBundle


class Named(Protocol):
    """A candidate."""

    @property
    def id(self) -> str:
        """Its name in the run."""
        ...


class Outcome(Protocol):
    """What every search yields."""

    @property
    def promoted(self) -> Named:
        """The candidate that the run yields."""
        ...

    @property
    def rounds(self) -> int:
        """How many there were."""
        ...

    @property
    def stopped(self) -> str:
        """Why there were no more."""
        ...


O = TypeVar("O", bound=Outcome)  # noqa: E741 - of a search


class DivisionRun(ABC, Generic[O]):
    """The parts of one run wired together; a strategy adds its search and its genome."""

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
        self._place = place
        self._meter = BudgetMeter(self._limits())
        self._spending = Spending(run.journal, self._meter, bench.ledger)
        self._final_meter = BudgetMeter(Budget())
        self._reporter = Reporter(progress, self._meter, bench.settings.rounds, place)
        self._learner = RememberingLearner(bench.learner(data.task, data.training))
        self._learnable = bool(data.task.episodes) and can_learn(data.dev)

    def _start_genome(self) -> StartGenome | None:
        """The genome to start from, where the settings name one."""
        bench, settings = self._bench, self._settings
        divided = (self._origin, settings.seed)
        planned = settings.coevolution.base if settings.strategy == "coevolve" else ""
        return start_genome(
            settings.base or planned,
            bench.task,
            settings.embedder,
            divided,
            self._place,
            settings.held,
        )

    def _parents(self, replaced: str | None) -> tuple[str, ...]:
        """Ids of the genomes that the promoted one came from: the one it replaced, or the base
        where it replaced none."""
        if replaced is not None:
            return (replaced,)
        base = self._start_genome()
        return () if base is None else (base.id,)

    def _limits(self) -> Budget:
        """What the search may spend."""
        return self._settings.budget

    def run(self, sealed: SealedTest) -> EvolveResult:
        """Search, report, promote."""
        journal = self._run.journal
        journal.emit(self._start_event())
        self._reporter.tell("start")
        found = self._search()
        final = self._final(found, sealed)
        base = self._start_genome()
        bundle = inheriting(self._bundle(found, final), base.fingerprints if base else {})
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
            config=bundle.config,
            test=final.report,
            usage=add_usage([self._meter.roles, self._final_meter.roles]),
            seconds=self._meter.seconds + self._final_meter.seconds,
            program=bundle.program,
            sandbox=self._bench.sandbox,
        )

    @abstractmethod
    def _search(self) -> O:
        """Find a better memory on dev and val."""

    @abstractmethod
    def _final(self, found: O, sealed: SealedTest) -> FinalOutcome:
        """Measure it on test, beside all it has to beat."""

    @abstractmethod
    def _bundle(self, found: O, final: FinalOutcome) -> GenomeBundle:
        """What the run yields."""

    def _report(self, rounds: int, agent: Agent | None = None) -> FinalReport:
        """The final report's maker; `agent` answers in place of the run's own."""
        bench, data = self._bench, self._data
        spending = Spending(self._run.journal, self._final_meter)
        tools = FinalTools(
            run=self._run,
            recorder=Recorder(self._run, bench.metric, self._final_meter, spending),
            spending=spending,
            meter=self._final_meter,
            learner=self._learner,
            evaluator_for=lambda part: bench.evaluator(part, data.training, agent=agent),
            interrupt=bench.interrupt,
            rounds=rounds,
            report=lambda: self._reporter.tell("final"),
        )
        return FinalReport(tools, data, bench.metric, self._settings.seed)

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
