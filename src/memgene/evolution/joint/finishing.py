"""The promoted genome learns once more on all questions it may: ranker, then router and values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from memgene.core import LabelledQuestion
from memgene.engine.learned import LearnedMemory
from memgene.evolution.budget import BudgetMeter
from memgene.evolution.candidates import Learner
from memgene.evolution.changes import LEARNED
from memgene.evolution.coevolve.events import Retrained
from memgene.evolution.coevolve.steps import Phase, Step
from memgene.evolution.coevolve.training import Training
from memgene.evolution.coevolve.workshop import training_on
from memgene.evolution.joint.genome import Genome
from memgene.evolution.rundir import BEST, RunFolder, UsageByRole, row_subject
from memgene.evolution.spending import Spending
from memgene.evolution.workbench import Workbench
from memgene.genome import GenomeBundle
from memgene.programs.program import Program
from memgene.tasks.part import counted
from memgene.tasks.task import Regime

LEARNING = "learning"
"""What a bundle's provenance calls the phases that led to router and values, joined by `+`."""


def learned_anew(
    genome: Genome, learner: Learner, training: Training, questions: Sequence[LabelledQuestion]
) -> Genome:
    """The genome with its learned weights, if any, fitted on these questions, and router and
    values trained anew by the phases that led to them. Program and levers stay as they are."""
    config = genome.config.changed(router=None)
    if config.fusion == LEARNED:
        config = config.changed(ranker=learner(config, questions))
    state = replace(genome.state, config=config, learned=LearnedMemory.empty())
    for number, phase in enumerate(genome.learning, start=1):
        state = training.take(Step(number, phase, number), state).state
    return replace(genome, config=state.config, learned=state.learned)


class Finisher:
    """Does so once in a run: made, written down and recorded, or taken from the record."""

    def __init__(self, run: RunFolder, spending: Spending, learner: Learner) -> None:
        self._run = run
        self._spending = spending
        self._learner = learner

    def finished(
        self,
        row: str,
        genome: Genome,
        training: Training,
        questions: Sequence[LabelledQuestion],
    ) -> tuple[Genome, UsageByRole, float]:
        """The genome as the row of the final report (or `best`) has it, and what that took."""
        subject = row_subject(row)
        recorded = self._run.journal.peek(Retrained, row=row)
        if recorded is not None:
            made = Genome.load(self._run, subject, genome.learning)
            usage, seconds = recorded.usage, recorded.seconds
        else:
            with self._spending.work(limited=False) as spent:
                made = learned_anew(genome, self._learner, training, questions)
            self._run.save_files(subject, made.files())
            usage, seconds = spent.usage, spent.seconds
        router = made.config.router
        event = self._run.journal.emit(
            Retrained(
                row=row,
                steps=len(genome.learning),
                questions=len(questions),
                router="" if router is None else router.digest,
                memory=made.learned.digest,
                usage=usage,
                seconds=seconds,
            )
        )
        return made, event.usage, event.seconds


def on_everything(
    bench: Workbench, run: RunFolder, promoted: GenomeBundle, meter: BudgetMeter
) -> Genome:
    """The genome of a bundle, learned anew on every question of the task; nothing is left to test
    it on. `meter` counts what that takes."""
    task, questions = bench.task, counted(bench.task)
    groups = task.groups if task.regime is Regime.SHARED else None
    said = str(promoted.provenance.get(LEARNING, ""))
    genome = Genome(
        None if promoted.program is None else Program(promoted.program),
        promoted.config,
        promoted.memory or LearnedMemory.empty(),
        tuple(Phase(name) for name in filter(None, said.split("+"))),
    )
    finisher = Finisher(run, Spending(run.journal, meter), bench.learner(task, groups))
    training = training_on(bench, task, groups, questions)
    made, usage, seconds = finisher.finished(BEST, genome, training, questions)
    meter.add_work(usage, seconds)
    return made


def bundle_of_genome(bench: Workbench, genome: Genome) -> GenomeBundle:
    """The bare genome as a bundle."""
    return GenomeBundle(
        genome.config,
        bench.settings.embedder,
        bench.settings.strategy,
        program=None if genome.program is None else genome.program.source,
        memory=None if genome.learned.is_empty else genome.learned,
    )
