"""One joint evolution over one division of the groups: search, final report, best genome."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import replace

from memgene.agents.phase_file import PhaseFile
from memgene.agents.phases import PhaseCachedAgent
from memgene.core import Budget
from memgene.engine.learned import LearnedMemory
from memgene.evolution.basis import holding
from memgene.evolution.coevolve.workshop import training_on
from memgene.evolution.division_run import DivisionRun
from memgene.evolution.final import FinalOutcome
from memgene.evolution.guard import GuardMode, PairedGuard
from memgene.evolution.joint.finishing import LEARNING, Finisher, bundle_of_genome
from memgene.evolution.joint.genome import Genome
from memgene.evolution.joint.judged import GenomeEvaluator, Judged
from memgene.evolution.joint.learning import LearningPass
from memgene.evolution.joint.parameters import ParametersPass
from memgene.evolution.joint.plan import Arm, JointPlan, JointSchedule
from memgene.evolution.joint.search import JointOutcome, JointSearch, JointTools
from memgene.evolution.joint.sizes import judging_data, search_budget
from memgene.evolution.joint.structure import StructurePass
from memgene.evolution.joint.together import TOGETHER, TogetherPass
from memgene.evolution.joint.turn import Turn, TurnTools
from memgene.evolution.programs.sampling import Sampler
from memgene.evolution.progress import Place, ProgressCallback
from memgene.evolution.promotion import provenance, scores_of
from memgene.evolution.rundir import RunFolder
from memgene.evolution.sealed import DevVal, SealedTest
from memgene.evolution.spending import Spending
from memgene.evolution.workbench import Workbench
from memgene.genome import GenomeBundle
from memgene.programs.runtime import ProgramRuntime
from memgene.sandbox import Level

PHASES = "phases.sqlite"
EVOLVED_ROW = "evolved"
_GROUPS = "groups"


class JointEvolution(DivisionRun[JointOutcome]):
    """Strategy `joint`. A context manager: it ends the workers."""

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
        self._plan: JointPlan = bench.settings.jointly
        self._held = ExitStack()

    def __enter__(self) -> JointEvolution:
        bench, sandbox = self._bench, self._bench.settings.sandbox
        self._runtime = self._held.enter_context(
            ProgramRuntime(
                llm=bench.roles.get("toolkit"),
                embedder=bench.embedder,
                words=bench.words,
                seed=bench.settings.seed,
                require=Level.named(sandbox.level),
                chroma=sandbox.chroma,
            )
        )
        phases = self._held.enter_context(PhaseFile(self._run.path / PHASES))
        self._agent = PhaseCachedAgent(bench.agent, phases)
        return self

    def __exit__(self, *_: object) -> None:
        self._held.close()

    def _limits(self) -> Budget:
        """The questions of the last choice are set aside; passes are counted here, not by the
        searches inside them."""
        return search_budget(self._settings.budget, self._data)

    def _search(self) -> JointOutcome:
        bench, plan = self._bench, self._plan
        tools = self._tools()
        joint = JointTools(
            run=self._run,
            turns=turns_of(tools, divides=self._settings.division == _GROUPS),
            recorder=tools.recorder(self._run),
            evaluator=tools.evaluator,
            meter=self._meter,
            guard=PairedGuard.of_mode(GuardMode(self._settings.guard), self._settings.rounds),
            interrupt=bench.interrupt,
            report=self._searched,
        )
        judging = replace(tools.data, fresh=self._data.fresh)
        rounds = self._settings.rounds
        search = JointSearch(joint, judging, plan, bench.metric, self._settings.seed, rounds)
        return search.run(self._start())

    def _start(self) -> Genome:
        base, settings = self._start_genome(), self._settings
        if base is not None:
            return Genome(base.program, base.config, LearnedMemory.empty())
        return Genome(None, holding(settings.plan.start(), settings.held), LearnedMemory.empty())

    def _tools(self) -> TurnTools:
        bench = self._bench
        sampler = Sampler(self._data, bench.embedder, None, self._settings.seed)
        judging = judging_data(bench, self._data, sampler)
        self._done = 0
        return TurnTools(
            bench=bench,
            run=self._run,
            data=judging,
            meter=self._meter,
            spending=self._spending,
            evaluator=GenomeEvaluator(
                bench, judging.task, judging.training, self._agent, self._runtime, sampler.sample
            ),
            runtime=self._runtime,
            sampler=sampler,
            learner=self._learner,
            learnable=self._learnable,
            plan=self._plan,
            report=lambda score: self._reporter.searched(self._done, score, self._top),
        )

    def _searched(self, number: int, score: float | None, best: float | None) -> None:
        self._done, self._top = number, best
        self._reporter.searched(number, score, best)

    def _final(self, found: JointOutcome, sealed: SealedTest) -> FinalOutcome:
        """The promoted genome learns once more on dev and val, then everything is measured."""
        questions = (*self._data.dev, *self._data.val)
        final = Spending(self._run.journal, self._final_meter)
        training = training_on(self._bench, self._data.task, self._data.training, questions)
        self._evolved, usage, seconds = Finisher(self._run, final, self._learner).finished(
            EVOLVED_ROW, found.promoted.genome, training, questions
        )
        self._final_meter.add_work(usage, seconds)
        evaluator = self._evaluator_of_subjects()
        return self._report(found.rounds, self._agent).run(
            evaluator.subject(self._evolved),
            evaluator.subject(found.start.genome),
            self._bench.static,
            sealed,
            learned_once=self._learnable,
        )

    def _evaluator_of_subjects(self) -> GenomeEvaluator:
        data = self._data
        sampler = Sampler(data, self._bench.embedder, None, self._settings.seed)
        return GenomeEvaluator(
            self._bench, data.task, data.training, self._agent, self._runtime, sampler.sample
        )

    def _bundle(self, found: JointOutcome, final: FinalOutcome) -> GenomeBundle:
        """The promoted genome, its scores on val (which selected it) and on test (which did not),
        and where it came from."""
        bench, promoted = self._bench, found.promoted
        parent = found.parent
        bundle = bundle_of_genome(bench, self._evolved)
        return replace(
            bundle,
            parents=self._parents(
                None if parent is None else bundle_of_genome(bench, parent.genome).id
            ),
            scores=scores_of(bench, promoted.cases, final),
            fingerprints={bench.task.name: bench.task.fingerprint},
            provenance={**self._provenance(found, promoted), "division": self._origin},
        )

    def _provenance(
        self, found: JointOutcome, promoted: Judged
    ) -> Mapping[str, str | int | float | bool]:
        level = self._runtime.level
        below = {} if level is Level.FULL else {"isolation": level.label}
        return {
            **below,
            **provenance(self._bench, self._evolved.config),
            "candidate": promoted.id,
            LEARNING: "+".join(self._evolved.learning),
            "rounds": found.rounds,
            "schedule": str(self._plan.schedule),
        }


def turns_of(tools: TurnTools, *, divides: bool) -> dict[str, Turn]:
    """The arms of the run's plan, in order. `divides`: test groups are others than those whose
    memories learn values."""
    single: dict[str, Turn] = {}
    for arm in tools.plan.arms:
        if arm == Arm.STRUCTURE:
            single[arm] = StructurePass(tools)
        elif arm == Arm.PARAMETERS:
            single[arm] = ParametersPass(tools)
        else:
            single[arm] = LearningPass(Arm(arm), tools, divides=divides)
    if tools.plan.schedule is JointSchedule.SIMULTANEOUS:
        return {TOGETHER: TogetherPass(tools, single)}
    return single
