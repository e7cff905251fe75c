"""Passes over training questions: who may change what, and that equal runs are equal."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from io import StringIO

import pytest

from memgene.agents.offline import OfflineAgent
from memgene.bank.portable import export_jsonl
from memgene.bank.protocol import Bank
from memgene.core import LabelledQuestion
from memgene.embed import load_embedder, word_vectors
from memgene.engine.learned import LearnedMemory
from memgene.engine.linking import LinkSettings
from memgene.engine.reading import Retrieval
from memgene.evolution.coevolve.crediting import Crediting
from memgene.evolution.coevolve.field import Field, Outcome
from memgene.evolution.coevolve.memories import FactoryMaker, TrainingMemories
from memgene.evolution.coevolve.phases import Trainer
from memgene.evolution.coevolve.plan import CoevolvePlan
from memgene.evolution.coevolve.state import State
from memgene.evolution.coevolve.steps import Phase, Step, steps_of
from memgene.evolution.coevolve.training import Taken, Training, TrainingTools
from memgene.retrieval.config import RetrievalConfig
from memgene.retrieval.router.router import Router
from memgene.retrieval.router.training import RouterTrainer
from memgene.testing import tiny_task

TASK = tiny_task()
QUESTIONS = [q for q in TASK.questions if q.gold.category != "unanswerable"]
PAPER = CoevolvePlan.paper()
STABLE = PAPER.parsed("hidden=0,bound=1.5,rate=0.3,baseline=group,samples=4")


@pytest.fixture(scope="module")
def make() -> FactoryMaker:
    return FactoryMaker(load_embedder("static"), word_vectors())


def tools(make: FactoryMaker, plan: CoevolvePlan, reward: str = "hit@1") -> TrainingTools:
    return TrainingTools(OfflineAgent(), make, plan, reward, 0)


def start(plan: CoevolvePlan) -> State:
    return State(plan.start(), LearnedMemory.empty())


def take(
    make: FactoryMaker,
    plan: CoevolvePlan,
    phases: str,
    state: State | None = None,
    reward: str = "hit@1",
) -> Taken:
    """The last of some passes: r for router, m for memory, b for both."""
    kinds = {"r": Phase.ROUTER, "m": Phase.MEMORY, "b": Phase.BOTH}
    training = Training(tools(make, plan, reward), TASK, None, QUESTIONS)
    state = state or start(plan)
    for number, letter in enumerate(phases, 1):
        taken = training.take(Step(number, kinds[letter], number), state)
        state = taken.state
    return taken


def router_of(state: State) -> Router:
    assert state.config.router is not None
    return state.config.router


def test_a_router_phase_leaves_the_memory_as_it_is(make: FactoryMaker) -> None:
    taken = take(make, STABLE, "r")
    assert taken.state.learned.digest == LearnedMemory.empty().digest
    assert not router_of(taken.state).untrained
    assert taken.credited == taken.distilled == 0


def test_a_router_phase_leaves_the_bank_byte_identical(make: FactoryMaker) -> None:
    state = start(STABLE)
    training = Training(tools(make, STABLE), TASK, None, QUESTIONS)
    router = router_of(training.take(Step(1, Phase.ROUTER, 1), state).state)
    with TrainingMemories(TASK, None, OfflineAgent(), make, state, LinkSettings()) as memories:
        bank = memories.engine(QUESTIONS[0], state.config).bank
        before = exported(bank)
        trainer = Trainer(
            Field(TASK, OfflineAgent(), "hit@1"),
            memories,
            Crediting(STABLE, 0, None, None),
            QUESTIONS,
            0,
        )
        learner = RouterTrainer(router, STABLE.learner)
        trainer.run(Step(1, Phase.ROUTER, 1), state.config, learner)
        assert learner.router != router
        assert exported(bank) == before


def exported(bank: Bank) -> str:
    stream = StringIO()
    export_jsonl(bank, stream, history=True)
    return stream.getvalue()


def test_a_memory_phase_leaves_the_router_as_it_is(make: FactoryMaker) -> None:
    trained = take(make, STABLE, "r").state
    taken = take(make, STABLE, "m", trained)
    assert router_of(taken.state) == router_of(trained)
    assert taken.credited > 0
    assert taken.distilled == len(QUESTIONS)


def test_an_untrained_router_is_the_prior(make: FactoryMaker) -> None:
    """Played with a fresh router, every question has the outcome that it has without one."""
    plan = STABLE.parsed("rate=1e-12")
    training = Training(tools(make, plan), TASK, None, QUESTIONS)
    without = training.played(start(plan))
    state = training.take(Step(1, Phase.ROUTER, 1), start(plan)).state
    arrays = {n: a * 0 if "head" in n else a for n, a in router_of(state).arrays.items()}
    fresh = replace(router_of(state), arrays=arrays)
    assert fresh.untrained
    assert training.played(replace(state, config=state.config.changed(router=fresh))) == without


def test_testing_changes_neither(make: FactoryMaker) -> None:
    state = take(make, STABLE, "rm").state
    before = state.digest
    training = Training(tools(make, STABLE), TASK, None, QUESTIONS)
    first = training.played(state)
    assert training.played(state) == first
    assert state.digest == before


@pytest.mark.parametrize("phases", ["rm", "b", "rmrm"])
def test_equal_seeds_reach_equal_states(make: FactoryMaker, phases: str) -> None:
    assert take(make, STABLE, phases).state.digest == take(make, STABLE, phases).state.digest


def test_a_step_goes_on_from_files_as_from_memory(make: FactoryMaker) -> None:
    """What a resumed run reads back leads to the same next state."""
    trained = take(make, STABLE, "rm").state
    read = State(
        type(trained.config).from_toml(trained.config.to_toml(), router=router_of(trained)),
        LearnedMemory.from_jsonl(trained.learned.to_jsonl()),
    )
    training = Training(tools(make, STABLE), TASK, None, QUESTIONS)
    step = Step(3, Phase.MEMORY, 2)
    assert training.take(step, read).state.digest == training.take(step, trained).state.digest


def test_values_learn_which_memory_answers(make: FactoryMaker) -> None:
    """Units that hold the evidence gain value over three passes, the others do not."""
    plan = CoevolvePlan(router=False, fit=False).parsed("rule=gap,conditional=false")
    learned = take(make, plan, "mmm", reward="recall@5").state.learned
    gold = {ref for q in QUESTIONS for ref in q.gold.evidence}
    with TrainingMemories(
        TASK, None, OfflineAgent(), make, State(plan.start(), learned)
    ) as memories:
        holds = {
            unit.id: not gold.isdisjoint(unit.refs)
            for question in QUESTIONS
            for unit in memories.engine(question, plan.start()).bank.scan(None)
        }
    values = {v.unit_id: v.q for v in learned.values}
    good = [q for unit, q in values.items() if holds[unit]]
    other = [q for unit, q in values.items() if not holds[unit]]
    assert sum(good) / len(good) > sum(other) / len(other)


def test_noise_turns_attributions_round(make: FactoryMaker) -> None:
    plan = CoevolvePlan(router=False, fit=False).parsed("rule=gap,conditional=false")
    quiet = take(make, plan, "m").state.learned
    noisy = take(make, plan.parsed("noise=0.5"), "m").state.learned
    assert quiet.digest != noisy.digest


def test_growth_is_bounded_where_the_plan_says_so(make: FactoryMaker) -> None:
    plan = STABLE.parsed("router=false,most=4")
    learned = take(make, plan, "mmm").state.learned
    assert learned.retired


def test_the_simultaneous_schedule_moves_both(make: FactoryMaker) -> None:
    state = take(make, STABLE.parsed("distil=false"), "b").state
    assert not router_of(state).untrained
    assert state.learned.values


def states(make: FactoryMaker, plan: CoevolvePlan) -> Iterator[State]:
    training = Training(tools(make, plan), TASK, None, QUESTIONS)
    state = start(plan)
    for step in steps_of(plan, empty=False):
        state = training.take(step, state).state
        yield state


def test_phases_change_their_own_side_only(make: FactoryMaker) -> None:
    before = start(STABLE)
    for step, state in zip(steps_of(STABLE, empty=False), states(make, STABLE), strict=True):
        router = before.config.router is not None and state.config.router == before.config.router
        memory = state.learned.digest == before.learned.digest
        assert router is (step.phase is Phase.MEMORY)
        assert memory is (step.phase is Phase.ROUTER)
        before = state


def test_overrides_for_a_type_of_question_may_switch_views_off(make: FactoryMaker) -> None:
    """One router over the views of the configuration serves all types."""
    plan = CoevolvePlan(cycles=1)
    config = RetrievalConfig().changed(
        per_type={"when": {"window_k": 0}, "list": {"entity_swap": True}}
    )
    training = Training(tools(make, plan), TASK, None, QUESTIONS)
    state = State(config, LearnedMemory.empty())
    taken = training.take(Step(1, Phase.ROUTER, 1), state)
    assert router_of(taken.state).routes == training.routes(state)
    assert "window" in training.routes(state)
    assert "entity_swap" not in training.routes(state)


@pytest.mark.parametrize(
    ("change", "phase"),
    [
        ("explore=1", Phase.MEMORY),
        ("epochs=2", Phase.ROUTER),
        ("epochs=2", Phase.BOTH),
        ("epochs=2,baseline=self_critical", Phase.BOTH),
    ],
)
def test_a_step_plays_what_it_was_said_to_cost_and_answers_each_once(
    make: FactoryMaker, change: str, phase: Phase
) -> None:
    plan = STABLE.parsed(change)
    field = Counted(TASK, OfflineAgent(), "hit@1")
    training = Training(tools(make, plan), TASK, None, QUESTIONS, field)
    step = Step(1, phase, 1)
    taken = training.take(step, start(plan))
    assert taken.played == field.answers == training.cost(step)


def test_the_best_fixed_weight_is_worth_what_it_serves(make: FactoryMaker) -> None:
    plan = STABLE.parsed("self_routing=off")
    training = Training(tools(make, plan, "recall@1"), TASK, None, QUESTIONS)
    found = training.fixed(start(plan))
    config = plan.start().changed(route_prior=found.share)
    served = training.played(State(config, LearnedMemory.empty()))
    assert found.score == pytest.approx(sum(served) / len(served))


class Counted(Field):
    """Counts the answers."""

    answers = 0

    def answered(self, labelled: LabelledQuestion, found: Retrieval) -> Outcome:
        self.answers += 1
        return super().answered(labelled, found)
