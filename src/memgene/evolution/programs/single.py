"""One evolution of programs over one division of the groups: search, final report, best genome."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack

from memgene.agents.phase_file import PhaseFile
from memgene.agents.phases import PhaseCachedAgent
from memgene.evolution.basis import holding
from memgene.evolution.division_run import DivisionRun
from memgene.evolution.final import FinalOutcome, Subject
from memgene.evolution.guard import PairedGuard
from memgene.evolution.programs.candidates import ProgramCandidates
from memgene.evolution.programs.drafters import drafter_of
from memgene.evolution.programs.drafting import Workshop
from memgene.evolution.programs.evaluating import ProgramEvaluator
from memgene.evolution.programs.plan import ProgramPlan
from memgene.evolution.programs.pool import Member
from memgene.evolution.programs.sampling import Sampler
from memgene.evolution.programs.search import ProgramOutcome, ProgramSearch, ProgramTools
from memgene.evolution.programs.sizes import Sizes, seeds_of
from memgene.evolution.progress import Place, ProgressCallback
from memgene.evolution.promotion import scores_of
from memgene.evolution.recorder import Recorder
from memgene.evolution.rundir import RunFolder
from memgene.evolution.sealed import DevVal, SealedTest
from memgene.evolution.workbench import Workbench
from memgene.genome import GenomeBundle
from memgene.harness.program import ProgramHarnessFactory
from memgene.programs.gates import check
from memgene.programs.gates.finding import Finding
from memgene.programs.program import Program
from memgene.programs.runtime import ProgramRuntime
from memgene.retrieval.config import RetrievalConfig
from memgene.sandbox import Level

PHASES = "phases.sqlite"
_SEED_ROW = "seed:"


class ProgramEvolution(DivisionRun[ProgramOutcome]):
    """Strategy `program`. A context manager: it ends the workers."""

    def __init__(
        self,
        bench: Workbench,
        run: RunFolder,
        data: DevVal,
        origin: str,
        progress: ProgressCallback | None,
        place: Place,
    ) -> None:
        super().__init__(bench, run, data, origin, progress, place)
        self._plan: ProgramPlan = bench.settings.programs
        self._held = ExitStack()
        self._sizes = Sizes.of(self._plan, data, pays=bench.answers_with_a_model)
        self._from = self._start_genome()
        held = bench.settings.held
        self._config = self._from.config if self._from else holding(RetrievalConfig(), held)

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
                config=self._config,
            )
        )
        phases = self._held.enter_context(PhaseFile(self._run.path / PHASES))
        self._agent = PhaseCachedAgent(bench.agent, phases)
        return self

    def __exit__(self, *_: object) -> None:
        self._held.close()

    def _search(self) -> ProgramOutcome:
        bench, plan = self._bench, self._plan
        evaluator = ProgramEvaluator(
            self._data.training, self._agent, self._runtime, bench.metrics, bench.executor()
        )
        recorder = Recorder(self._run, bench.metric, self._meter, self._spending)
        drafter = drafter_of(bench, plan, self._runtime)
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
            self._seeds(),
            bench.metric,
            self._settings.seed,
            self._sizes.static,
            self._sizes.rotating,
        )
        return search.run()

    def _seeds(self) -> Sequence[tuple[str, Program]]:
        """The usual ones; the base's program first, where it has one."""
        usual = seeds_of(self._plan, llm="toolkit" in self._bench.roles)
        own = None if self._from is None else self._from.program
        return usual if own is None else [("base", own), *usual]

    def _gates(self, source: str) -> tuple[Finding, ...]:
        return check(Program(source), self._runtime)

    def _final(self, found: ProgramOutcome, sealed: SealedTest) -> FinalOutcome:
        static: dict[str, Subject] = dict(self._bench.static)
        static.update({f"{_SEED_ROW}{m.title}": self._subject(m) for m in found.seeds})
        return self._report(found.rounds, self._agent).run(
            self._subject(found.promoted),
            self._subject(found.start),
            static,
            sealed,
            learned_once=self._learnable,
        )

    def _subject(self, member: Member) -> ProgramHarnessFactory:
        return ProgramHarnessFactory(member.program, self._runtime, member.id)

    def _bundle(self, found: ProgramOutcome, final: FinalOutcome) -> GenomeBundle:
        """The promoted program, its scores on val (which selected it) and on test (which did
        not), and where it came from."""
        promoted = found.promoted
        return GenomeBundle(
            config=self._config,
            embedder=self._settings.embedder,
            strategy=self._settings.strategy,
            parents=self._parents(None if found.parent is None else self._genome_id(found.parent)),
            scores=scores_of(self._bench, promoted.cases, final),
            fingerprints={self._bench.task.name: self._bench.task.fingerprint},
            provenance={**self._provenance(), "candidate": promoted.id, "rounds": found.rounds},
            program=promoted.program.source,
        )

    def _genome_id(self, member: Member) -> str:
        settings = self._settings
        return GenomeBundle(
            self._config, settings.embedder, settings.strategy, program=member.program.source
        ).id

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
