"""Router and values passes: one phase of a co-evolution each, on the bank that the genome uses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from memgene.core import InputError, LabelledQuestion
from memgene.evaluation.case import Case
from memgene.evolution.coevolve.candidates import StateCandidates
from memgene.evolution.coevolve.state import State
from memgene.evolution.coevolve.steps import Phase, Step
from memgene.evolution.coevolve.training import Training
from memgene.evolution.coevolve.workshop import training_on
from memgene.evolution.joint.genome import Genome
from memgene.evolution.joint.judged import Judged
from memgene.evolution.joint.plan import Arm
from memgene.evolution.joint.turn import TurnTools, named
from memgene.evolution.rundir import RunFolder
from memgene.evolution.scoring import mean
from memgene.evolution.sealed import spread_sample
from memgene.retrieval.config import ROUTED
from memgene.tasks.task import Regime

_MADE = "001"


class LearningPass:
    """One pass over some of the dev questions: the router learns, or the memory.

    What is learned is learned with the bank alone; it is judged with the whole genome.
    """

    def __init__(self, arm: Arm, tools: TurnTools, *, divides: bool) -> None:
        self._arm = arm
        self._phase = Phase.ROUTER if arm is Arm.ROUTER else Phase.MEMORY
        self._tools = tools
        self._divides = divides
        self._training: Training | None = None

    def blocked(self, genome: Genome) -> str:
        """What the learning of this arm needs of a genome, a task and a division."""
        if not genome.uses_bank:
            return "the program does not use the bank"
        if self._arm is Arm.ROUTER:
            fusion = genome.config.fusion
            return "" if fusion in ROUTED else f"fusion {fusion} has no routes to weigh"
        if genome.program is not None:
            return "a program writes its own memory, which has no learned values"
        if self._divides and self._tools.bench.task.regime is Regime.OWN_GROUP:
            return "values of one group's memories mean nothing in another's"
        return ""

    def cost(self, parent: Judged) -> int:
        """The questions that a pass plays, and the judging ones."""
        del parent
        return self.training_cost + len(self._tools.data.select)

    @property
    def training_cost(self) -> int:
        """The questions that one phase plays, at most."""
        return self._trained().cost(self._step(1))

    def take(self, number: int, parent: Judged, part: RunFolder) -> Judged:
        """One phase from the genome's state."""
        tools, genome = self._tools, parent.genome

        made = self.learned(number, _MADE, parent.id, genome, part)
        questions = tools.data.select
        cases: Sequence[Case] = tools.recorder(part).cases(
            _MADE,
            "val",
            questions,
            lambda: tools.evaluator.evaluate(made, questions, f"{_MADE} val"),
        )
        score = mean(cases, tools.bench.metric)
        if score is None:
            raise InputError(f"metric {tools.bench.metric} applies to none of the val questions")
        tools.report(score)
        return Judged(named(number, self._arm, _MADE), number, made, score, cases)

    def learned(
        self, number: int, name: str, parent: str, genome: Genome, part: RunFolder
    ) -> Genome:
        """The genome after one phase, kept as candidate `name` of the part; not judged."""
        tools = self._tools
        candidates = StateCandidates(
            part, tools.recorder(part), tools.meter, tools.spending, _never, tools.data
        )
        step = self._step(number)
        state = candidates.take(step, name, parent, genome.state, self._trained())
        return replace(
            genome,
            config=state.config,
            learned=state.learned,
            learning=(*genome.learning, self._phase),
        )

    def _step(self, number: int) -> Step:
        return Step(number, self._phase, number)

    def _trained(self) -> Training:
        if self._training is None:
            data, most = self._tools.data, self._tools.plan.learning_items
            asked = spread_sample(data.diagnose, most, self._tools.bench.settings.seed)
            self._training = training_on(self._tools.bench, data.task, data.training, asked)
        return self._training


def _never(state: State, questions: Sequence[LabelledQuestion], label: str) -> Sequence[Case]:
    """Its states are judged as parts of a genome."""
    raise AssertionError(f"{label}: states are not evaluated here")
