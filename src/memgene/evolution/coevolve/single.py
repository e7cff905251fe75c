"""One co-evolution over one division of the groups: search, final report, best genome."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from memgene.core import LabelledQuestion
from memgene.evaluation.case import Case
from memgene.evolution.basis import start_config
from memgene.evolution.coevolve.candidates import Started, StateCandidates
from memgene.evolution.coevolve.events import Retrained, WeightFixed
from memgene.evolution.coevolve.picture import GRAPH_FILE
from memgene.evolution.coevolve.search import (
    CoevolveOutcome,
    CoevolveSearch,
    CoevolveTools,
    Trained,
)
from memgene.evolution.coevolve.state import State
from memgene.evolution.coevolve.training import Training
from memgene.evolution.coevolve.workshop import maker_of, start_state, steps_for, training_on
from memgene.evolution.division_run import DivisionRun
from memgene.evolution.final import FinalOutcome, Subject
from memgene.evolution.guard import BestSoFar, Guard, GuardMode, PairedGuard
from memgene.evolution.progress import Place, ProgressCallback
from memgene.evolution.promotion import provenance, scores_of
from memgene.evolution.recorder import Recorder
from memgene.evolution.rundir import RunFolder, row_subject
from memgene.evolution.sealed import DevVal, SealedTest
from memgene.evolution.workbench import Workbench
from memgene.genome import GenomeBundle
from memgene.harness.bank import BankHarnessFactory
from memgene.retrieval.config import Q_RRF

FIXED_WEIGHT = "fixed-weight"
EVOLVED_ROW = "evolved"


class CoEvolution(DivisionRun[CoevolveOutcome]):
    """Strategy `coevolve`."""

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
        self._plan = bench.settings.coevolution
        divided = (origin, bench.settings.seed)
        self._base = start_config(self._plan, bench.task, bench.settings.embedder, divided, place)
        self._make = maker_of(bench)

    def _search(self) -> CoevolveOutcome:
        bench = self._bench
        training = self._training(self._data.dev)
        steps = steps_for(bench, self._data)
        evaluator = bench.evaluator(self._data.task, self._data.training, searching=True)

        def evaluate(
            state: State, questions: Sequence[LabelledQuestion], label: str
        ) -> Sequence[Case]:
            return evaluator.evaluate_harness(self._subject(state), questions, label)

        candidates = StateCandidates(
            self._run,
            Recorder(self._run, bench.metric, self._meter, self._spending),
            self._meter,
            self._spending,
            evaluate,
            self._data,
        )
        tools = CoevolveTools(
            journal=self._run.journal,
            candidates=candidates,
            meter=self._meter,
            guard=self._guard(),
            interrupt=bench.interrupt,
            report=self._reporter.searched,
        )
        start = candidates.start(
            self._base.digest,
            lambda: self._start(self._data.dev),
            lambda state: Started(
                str(self._plan.schedule), len(steps), training.questions, training.routes(state)
            ),
        )
        search = CoevolveSearch(
            tools, training, self._data, bench.metric, self._settings.seed, steps
        )
        return search.run(start)

    def _training(self, questions: Sequence[LabelledQuestion]) -> Training:
        return training_on(self._bench, self._data.task, self._data.training, questions)

    def _guard(self) -> Guard:
        if self._plan.follow:
            return BestSoFar()
        steps = steps_for(self._bench, self._data)
        return PairedGuard.of_mode(GuardMode(self._settings.guard), len(steps))

    def _start(self, questions: Sequence[LabelledQuestion]) -> State:
        learner = self._learner if self._learnable else None
        return start_state(self._plan, self._base, learner, questions)

    def _subject(self, state: State) -> BankHarnessFactory:
        return self._make(state.config, state.learned)

    def _final(self, found: CoevolveOutcome, sealed: SealedTest) -> FinalOutcome:
        """Start and promoted state learn once more on dev and val, then everything is measured."""
        questions = (*self._data.dev, *self._data.val)
        start = self._start(questions)
        self._evolved = self._retrained(found.promoted, start, questions)
        static: dict[str, Subject] = dict(self._bench.static)
        if self._base.fusion == Q_RRF and self._plan.router:
            static[FIXED_WEIGHT] = self._subject(self._fixed(start, self._data.dev))
        return self._report(found.rounds).run(
            self._subject(self._evolved),
            self._subject(start),
            static,
            sealed,
            learned_once=self._learnable,
        )

    def _retrained(
        self, promoted: Trained, start: State, questions: Sequence[LabelledQuestion]
    ) -> State:
        """The steps that led to the promoted state, on all of dev and val."""
        journal, subject = self._run.journal, row_subject(EVOLVED_ROW)
        recorded = journal.peek(Retrained, row=EVOLVED_ROW)
        if recorded is not None:
            state = State.load(self._run, subject)
            usage, seconds = recorded.usage, recorded.seconds
        else:
            with self._spending.work(limited=False) as spent:
                state = start
                training = self._training(questions)
                for step in steps_for(self._bench, self._data)[: promoted.steps]:
                    state = training.take(step, state).state
                drawn = training.picture(state) if self._plan.link else None
            files = state.files()
            if drawn is not None:
                files[GRAPH_FILE] = drawn.to_json()
            self._run.save_files(subject, files)
            usage, seconds = spent.usage, spent.seconds
        router = state.config.router
        event = journal.emit(
            Retrained(
                row=EVOLVED_ROW,
                steps=promoted.steps,
                questions=len(questions),
                router="" if router is None else router.digest,
                memory=state.learned.digest,
                usage=usage,
                seconds=seconds,
            )
        )
        self._final_meter.add_work(event.usage, event.seconds)
        return state

    def _fixed(self, start: State, questions: Sequence[LabelledQuestion]) -> State:
        """The start with the best share of the dense route for all dev questions alike (val is to
        judge it among the static rows), chosen as it serves: nothing is rewritten, for that came
        with a share for each question."""
        raw = replace(start, config=start.config.changed(self_routing="off"))
        recorded = self._run.journal.peek(WeightFixed, row=FIXED_WEIGHT)
        if recorded is None:
            with self._spending.work(limited=False) as spent:
                found = self._training(questions).fixed(raw)
            recorded = WeightFixed(
                FIXED_WEIGHT, found.share, found.score, len(questions), spent.seconds, spent.usage
            )
        event = self._run.journal.emit(recorded)
        self._final_meter.add_work(event.usage, event.seconds)
        return replace(raw, config=raw.config.changed(route_prior=event.share))

    def _bundle(self, found: CoevolveOutcome, final: FinalOutcome) -> GenomeBundle:
        bench, state = self._bench, self._evolved
        parent = found.parent
        return GenomeBundle(
            config=state.config,
            embedder=self._settings.embedder,
            strategy=self._settings.strategy,
            parents=self._parents(None if parent is None else self._genome(parent.state).id),
            scores=scores_of(bench, found.promoted.cases, final),
            fingerprints={bench.task.name: bench.task.fingerprint},
            provenance={
                **provenance(bench, state.config),
                "candidate": found.promoted.id,
                "division": self._origin,
                "rounds": found.rounds,
                "schedule": str(self._plan.schedule),
            },
            memory=None if state.learned.is_empty else state.learned,
        )

    def _genome(self, state: State) -> GenomeBundle:
        settings, learned = self._settings, state.learned
        memory = None if learned.is_empty else learned
        return GenomeBundle(state.config, settings.embedder, settings.strategy, memory=memory)
