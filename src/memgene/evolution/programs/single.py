"""One evolution of programs over one division of the groups: search, final report, best genome."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack

from memgene.agents.phase_file import PhaseFile
from memgene.agents.phases import PhaseCachedAgent
from memgene.core import Budget
from memgene.evaluation.statistics import mean_interval
from memgene.evolution.budget import BudgetMeter
from memgene.evolution.events import Finished, RunStarted
from memgene.evolution.final import FinalOutcome, FinalReport, FinalTools, Subject
from memgene.evolution.guard import PairedGuard
from memgene.evolution.programs.candidates import ProgramCandidates
from memgene.evolution.programs.composing import ModuleDrafter
from memgene.evolution.programs.drafting import Drafter, Workshop
from memgene.evolution.programs.evaluating import ProgramEvaluator
from memgene.evolution.programs.plan import ProgramPlan
from memgene.evolution.programs.pool import Member
from memgene.evolution.programs.reflecting import ReflectiveDrafter
from memgene.evolution.programs.sampling import Sampler
from memgene.evolution.programs.search import ProgramOutcome, ProgramSearch, ProgramTools
from memgene.evolution.programs.sizes import Sizes, seeds_of
from memgene.evolution.progress import Place, ProgressCallback, Reporter
from memgene.evolution.recorder import Recorder
from memgene.evolution.reflection.material import ToolkitNotes
from memgene.evolution.reflection.reflector import Reflector
from memgene.evolution.remembering import RememberingLearner
from memgene.evolution.result import EvolveResult, add_usage
from memgene.evolution.rundir import BEST, RunFolder
from memgene.evolution.scoring import value
from memgene.evolution.sealed import DevVal, SealedTest
from memgene.evolution.spending import Spending
from memgene.evolution.workbench import Workbench, can_learn
from memgene.genome import GenomeBundle, Score
from memgene.harness.program import ProgramHarnessFactory
from memgene.programs.gates import check
from memgene.programs.gates.finding import Finding
from memgene.programs.program import Program
from memgene.programs.runtime import ProgramRuntime
from memgene.retrieval.config import RetrievalConfig
from memgene.sandbox import Level

PHASES = "phases.sqlite"
_SEED_ROW = "seed:"


class ProgramEvolution:
    """The parts of one run wired together. A context manager: it ends the workers."""

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
        self._plan: ProgramPlan = bench.settings.programs
        self._run = run
        self._data = data
        self._origin = origin
        self._held = ExitStack()
        self._meter = BudgetMeter(bench.settings.budget)
        self._spending = Spending(run.journal, self._meter, bench.ledger)
        self._final_meter = BudgetMeter(Budget())
        self._reporter = Reporter(progress, self._meter, self._plan.iterations, place)
        self._sizes = Sizes.of(self._plan, data, pays=bench.answers_with_a_model)

    def __enter__(self) -> ProgramEvolution:
        bench = self._bench
        self._runtime = self._held.enter_context(
            ProgramRuntime(
                llm=bench.roles.get("toolkit"),
                embedder=bench.embedder,
                words=bench.words,
                seed=bench.settings.seed,
                require=Level.named(bench.settings.sandbox.level),
                chroma=bench.settings.sandbox.chroma,
            )
        )
        phases = self._held.enter_context(PhaseFile(self._run.path / PHASES))
        self._agent = PhaseCachedAgent(bench.agent, phases)
        return self

    def __exit__(self, *_: object) -> None:
        self._held.close()

    def run(self, sealed: SealedTest) -> EvolveResult:
        """Search, report, promote."""
        journal = self._run.journal
        journal.emit(self._start_event())
        self._reporter.tell("start")
        found = self._search()
        final = self._final(found, sealed)
        bundle = self._bundle(found, final)
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
            program=found.promoted.program.source,
            sandbox=self._bench.sandbox,
        )

    def _start_event(self) -> RunStarted:
        return RunStarted(
            task=self._bench.task.name,
            strategy=self._settings.strategy,
            metric=self._bench.metric,
            seed=self._settings.seed,
            rounds=self._plan.iterations,
            dev=len(self._data.dev),
            val=len(self._data.val),
            fresh=len(self._data.fresh),
            division=self._origin,
        )

    def _search(self) -> ProgramOutcome:
        bench, plan = self._bench, self._plan
        evaluator = ProgramEvaluator(
            self._data.training, self._agent, self._runtime, bench.metrics, bench.executor()
        )
        recorder = Recorder(self._run, bench.metric, self._meter, self._spending)
        drafter = self._drafter()
        threads = plan.parents * plan.children
        tools = ProgramTools(
            journal=self._run.journal,
            candidates=ProgramCandidates(self._run, recorder, self._meter, evaluator),
            meter=self._meter,
            spending=self._spending,
            sampler=Sampler(self._data, bench.embedder, self._sizes.episodes, self._settings.seed),
            workshop=Workshop(drafter, self._gates, plan.repairs, threads),
            gate=PairedGuard(supported=False),
            interrupt=bench.interrupt,
            report=self._reporter.searched,
        )
        search = ProgramSearch(
            tools,
            plan,
            seeds_of(plan, llm="toolkit" in bench.roles),
            bench.metric,
            self._settings.seed,
            self._sizes.static,
            self._sizes.rotating,
        )
        return search.run()

    def _gates(self, source: str) -> tuple[Finding, ...]:
        return check(Program(source), self._runtime)

    def _drafter(self) -> Drafter:
        bench, plan = self._bench, self._plan
        words = bench.answers_with_a_model
        if self._settings.proposer != "llm":
            return ModuleDrafter(
                self._settings.proposer, bench.metric, words=words, scope=plan.scope
            )
        reflector = Reflector(bench.roles["reflector"], max_prompt_tokens=plan.prompt_tokens)
        toolkit = ToolkitNotes(
            llm="toolkit" in bench.roles,
            agent="llm" if words else "offline",
            limits=self._runtime.limits,
        )
        hints = "\n".join(bench.task.hints.values())
        return ReflectiveDrafter(reflector, plan, bench.metric, toolkit, hints)

    def _final(self, found: ProgramOutcome, sealed: SealedTest) -> FinalOutcome:
        bench, data = self._bench, self._data
        spending = Spending(self._run.journal, self._final_meter)
        tools = FinalTools(
            run=self._run,
            recorder=Recorder(self._run, bench.metric, self._final_meter, spending),
            spending=spending,
            meter=self._final_meter,
            learner=RememberingLearner(bench.learner(data.task, data.training)),
            evaluator_for=lambda part: bench.evaluator(part, data.training, agent=self._agent),
            interrupt=bench.interrupt,
            rounds=found.rounds,
            report=lambda: self._reporter.tell("final"),
        )
        static: dict[str, Subject] = dict(bench.static)
        static.update({f"{_SEED_ROW}{m.title}": self._subject(m) for m in found.seeds})
        report = FinalReport(tools, data, bench.metric, self._settings.seed)
        return report.run(
            self._subject(found.promoted),
            self._subject(found.start),
            static,
            sealed,
            learned_once=can_learn(data.dev),
        )

    def _subject(self, member: Member) -> ProgramHarnessFactory:
        return ProgramHarnessFactory(member.program, self._runtime, member.id)

    def _bundle(self, found: ProgramOutcome, final: FinalOutcome) -> GenomeBundle:
        """The promoted program, its scores on val (which selected it) and on test (which did
        not), and where it came from."""
        bench, promoted = self._bench, found.promoted
        scores = {
            f"test/{name}": Score(each.mean, each.low, each.high, each.n)
            for name, each in final.report.evolved.metrics.items()
        }
        scores[f"val/{bench.metric}"] = self._val_score(promoted)
        return GenomeBundle(
            config=RetrievalConfig(),
            embedder=bench.settings.embedder,
            strategy=bench.settings.strategy,
            parents=() if promoted.parent is None else (promoted.parent,),
            scores=scores,
            fingerprints={bench.task.name: bench.task.fingerprint},
            provenance={**self._provenance(), "candidate": promoted.id, "rounds": found.rounds},
            program=promoted.program.source,
        )

    def _provenance(self) -> Mapping[str, str | int | float | bool]:
        settings = self._settings
        level = self._runtime.level
        below = {} if level is Level.FULL else {"isolation": level.label}
        return {
            **below,
            "division": self._origin,
            "metric": self._bench.metric,
            "preset": settings.preset,
            "proposer": settings.proposer,
            "search": str(self._plan.search),
            "seed": settings.seed,
        }

    def _val_score(self, member: Member) -> Score:
        metric = self._bench.metric
        scored = [(v, c.group) for c in member.cases if (v := value(c, metric)) is not None]
        found = mean_interval(
            [v for v, _ in scored], [group for _, group in scored], seed=self._settings.seed
        )
        return Score(found.mean, found.low, found.high, found.n)
