"""The states of a co-evolution: trained, written down and evaluated, each exactly once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from memgene.core import LabelledQuestion, RunError
from memgene.evaluation.case import Case
from memgene.evolution.budget import BudgetMeter
from memgene.evolution.coevolve.events import CoevolutionStarted, PhaseFinished
from memgene.evolution.coevolve.state import State
from memgene.evolution.coevolve.steps import Step
from memgene.evolution.coevolve.training import Taken, Training
from memgene.evolution.recorder import Recorder
from memgene.evolution.rundir import RunFolder, UsageByRole
from memgene.evolution.sealed import DevVal
from memgene.evolution.spending import Spending
from memgene.retrieval.config import RetrievalConfig

Evaluate = Callable[[State, Sequence[LabelledQuestion], str], Sequence[Case]]
"""Cases of a state on questions; the label is for progress."""


@dataclass(frozen=True, slots=True)
class Started:
    """What the journal says of a start: see `CoevolutionStarted`."""

    schedule: str
    steps: int
    training: int
    routes: tuple[str, ...]


class StateCandidates:
    """Makes the states of one run."""

    def __init__(
        self,
        run: RunFolder,
        recorder: Recorder,
        meter: BudgetMeter,
        spending: Spending,
        evaluate: Evaluate,
        data: DevVal,
    ) -> None:
        self._run = run
        self._recorder = recorder
        self._meter = meter
        self._spending = spending
        self._evaluate = evaluate
        self._questions = {"val": data.select, "fresh": data.fresh}
        self._cases: dict[tuple[str, str], Sequence[Case]] = {}

    def start(
        self, origin: str, make: Callable[[], State], describe: Callable[[State], Started]
    ) -> State:
        """Candidate 000: made, or taken from the folder where the journal vouches for it.

        Raises RunError when the run was begun from another configuration than `origin` names.
        """
        recorded = self._run.journal.peek(CoevolutionStarted)
        if recorded is not None:
            if recorded.origin != origin:
                raise RunError(
                    f"{self._run.path} started from configuration {recorded.origin}, its base now "
                    f"holds {origin}; put the base back, or start a new run folder"
                )
            state = self._loaded("000", recorded.base, None)
        else:
            with self._spending.work() as spent:
                state = make()
                about = describe(state)
            self._run.save_files("000", state.files())
            recorded = CoevolutionStarted(
                schedule=about.schedule,
                steps=about.steps,
                training=about.training,
                routes=about.routes,
                base=state.config.digest,
                origin=origin,
                usage=spent.usage,
                seconds=spent.seconds,
            )
        self._run.journal.emit(recorded)
        self._meter.add_work(recorded.usage, recorded.seconds)
        return state

    def take(self, step: Step, name: str, parent: str, state: State, training: Training) -> State:
        """Take a step, or what the journal says came of it."""
        recorded = self._run.journal.peek(PhaseFinished, candidate=name)
        if recorded is not None:
            made = self._loaded(name, recorded.config, recorded.memory)
            self._run.journal.emit(recorded)
        else:
            with self._spending.work() as spent:
                taken = training.take(step, state)
            made = taken.state
            self._run.save_files(
                name, {**made.files(), "message.md": _message(step, parent, taken)}
            )
            recorded = self._run.journal.emit(
                _finished(step, name, parent, training.questions, taken, spent.usage, spent.seconds)
            )
        self._meter.add_evaluation(recorded.played, recorded.usage, recorded.seconds)
        return made

    def cases(self, name: str, state: State, split: str) -> Sequence[Case]:
        """Cases of a state on `val` (its selection part) or `fresh`."""
        if (name, split) not in self._cases:
            questions = self._questions[split]
            self._cases[name, split] = self._recorder.cases(
                name,
                split,
                questions,
                lambda: self._evaluate(state, questions, f"{name} {split}"),
                limited=split != "fresh",
            )
        return self._cases[name, split]

    def _loaded(self, name: str, vouched: str, memory: str | None) -> State:
        """A state from its folder. Raises RunError when it is not what the journal recorded."""
        state = State.load(self._run, name)
        if memory is None:
            same = state.config.digest == vouched
        else:
            same = (state.config.digest, state.learned.digest) == (vouched, memory)
        if not same:
            raise RunError(
                f"{self._run.folder_of(name)} does not hold what the journal recorded; "
                "start a new run folder"
            )
        return state


def _router(config: RetrievalConfig) -> str:
    return "" if config.router is None else config.router.digest


def _finished(
    step: Step,
    name: str,
    parent: str,
    questions: int,
    taken: Taken,
    usage: UsageByRole,
    seconds: float,
) -> PhaseFinished:
    return PhaseFinished(
        number=step.number,
        phase=str(step.phase),
        cycle=step.cycle,
        candidate=name,
        parent=parent,
        questions=questions,
        played=taken.played,
        reward=taken.reward,
        curve=taken.curve,
        policy=taken.policy,
        credited=taken.credited,
        distilled=taken.distilled,
        values=taken.values,
        config=taken.state.config.digest,
        router=_router(taken.state.config),
        memory=taken.state.learned.digest,
        degraded=len(taken.degraded),
        complaint=taken.degraded[0] if taken.degraded else "",
        usage=usage,
        seconds=seconds,
    )


def _message(step: Step, parent: str, taken: Taken) -> str:
    reward = "none" if taken.reward is None else f"{taken.reward:.4f}"
    said = (
        f"# Candidate {step.number:03d}\n\nFrom {parent}, {step.phase} phase of cycle {step.cycle}"
    )
    said += f": mean reward {reward}, {taken.played} questions played"
    if taken.credited:
        said += f", {taken.credited} values moved"
    if taken.distilled:
        said += f", {taken.distilled} memories distilled"
    return said + ".\n"
