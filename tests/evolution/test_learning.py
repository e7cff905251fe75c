"""The learned fusion is fitted on a task's questions: from evidence, else from answers' words."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np
import pytest

from memgene.core import BudgetExhaustedError, Filled, Gold, LabelledQuestion, RunError
from memgene.embed.hashing import HashingEmbedder
from memgene.embed.static import StaticEmbedder
from memgene.engine.models import EngineModels
from memgene.evaluation.memories import MemoryPool
from memgene.evolution import learning
from memgene.evolution.learning import ANSWER_TOKENS, EVIDENCE, RankerLearner, target_of
from memgene.harness.bank import BankHarnessFactory
from memgene.harness.protocol import NO_ITEM, QUERY_TEXT
from memgene.retrieval.config import RetrievalConfig
from memgene.retrieval.features.registry import features
from memgene.retrieval.learning import Example, fit_ranker
from memgene.retrieval.ranker import Ranker
from memgene.tasks.task import Regime, Task
from memgene.testing.agents import ScriptedAgent
from memgene.testing.llm import ScriptedLLM
from memgene.testing.tiny import tiny_task

TASK = tiny_task()
DEFAULT = RetrievalConfig()


@pytest.fixture(scope="module")
def words() -> StaticEmbedder:
    return StaticEmbedder()


@pytest.fixture(scope="module")
def pool() -> Iterator[MemoryPool]:
    with MemoryPool() as memories:
        yield memories


@pytest.fixture
def learner(words: StaticEmbedder, pool: MemoryPool) -> Callable[..., RankerLearner]:
    def make(
        task: Task = TASK,
        training: tuple[str, ...] | None = None,
        seed: int = 0,
        models: EngineModels | None = None,
    ) -> RankerLearner:
        agent, embedder = ScriptedAgent(), HashingEmbedder()
        return RankerLearner(task, training, agent, embedder, words, pool, seed, models)

    return make


def golds(change: Callable[[Gold], Gold]) -> list[LabelledQuestion]:
    """The task's questions with another gold."""
    return [replace(q, gold=change(q.gold)) for q in TASK.questions]


def without_evidence(gold: Gold) -> Gold:
    return replace(gold, evidence=())


def of_kind(kind: str) -> list[LabelledQuestion]:
    return [q for q in TASK.questions if q.id.endswith(f"/{kind}")]


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> list[Example]:
    """The examples that the fit was given."""
    seen: list[Example] = []

    def spy(examples: Sequence[Example], *rest: object, **more: object) -> Ranker:
        seen[:] = examples
        return fit_ranker(examples, *rest, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(learning, "fit_ranker", spy)
    return seen


# -- what is learned from


def test_evidence_is_the_target_where_there_is_any(learner: Callable[..., RankerLearner]) -> None:
    ranker = learner()(DEFAULT, TASK.questions)
    assert ranker.target == EVIDENCE == "evidence"
    assert ranker.questions == 18  # the unanswerable six teach nothing
    assert set(ranker.features) <= set(features())
    assert {"dense", "soft", "bm25"} <= set(ranker.features)


def test_each_question_teaches_with_its_own_evidence(
    learner: Callable[..., RankerLearner], shown: list[Example]
) -> None:
    learner()(DEFAULT, TASK.questions)
    gold = [int(e.target.sum()) for e in shown]
    assert gold == [1, 1, 2] * 6
    assert all(set(e.target.tolist()) <= {0.0, 1.0} for e in shown)


def test_without_evidence_the_answers_words_stand_in_and_the_ranker_says_so(
    learner: Callable[..., RankerLearner],
) -> None:
    ranker = learner()(DEFAULT, golds(without_evidence))
    assert ranker.target == ANSWER_TOKENS == "answer_tokens"
    assert ranker.questions > 6


def test_the_proxy_is_the_share_of_the_answers_stems(
    learner: Callable[..., RankerLearner], shown: list[Example]
) -> None:
    tools = [replace(q, gold=without_evidence(q.gold)) for q in of_kind("tools")[:1]]
    learner()(DEFAULT, tools)
    # "kneading trough, flour scale": each of the two is named in one turn, with two of four stems
    (example,) = shown
    assert sorted(example.target.tolist(), reverse=True)[:3] == [0.5, 0.5, 0.0]


def test_of_several_accepted_answers_the_best_counts(
    learner: Callable[..., RankerLearner], shown: list[Example]
) -> None:
    (door, *_) = of_kind("door")
    both = replace(door, gold=Gold(answers=("a brown gate", "the door is bronze")))
    learner()(DEFAULT, [both])
    assert max(shown[0].target.tolist()) == 1.0


def test_one_question_with_evidence_makes_evidence_the_target() -> None:
    bare = golds(without_evidence)
    assert target_of(bare) == ANSWER_TOKENS
    assert target_of([*bare, TASK.questions[0]]) == EVIDENCE


def test_unusable_evidence_is_no_evidence() -> None:
    broken = golds(lambda gold: replace(gold, unusable="malformed"))
    assert target_of(broken) == ANSWER_TOKENS


@pytest.mark.parametrize("answers", [(), ("the",), ("!",)])
def test_with_neither_evidence_nor_answers_it_is_refused(
    learner: Callable[..., RankerLearner], answers: tuple[str, ...]
) -> None:
    questions = golds(lambda _: Gold(answers=answers))
    with pytest.raises(RunError, match="neither evidence nor answers"):
        learner()(DEFAULT, questions)
    with pytest.raises(RunError):
        target_of([])


def test_evidence_that_no_candidate_holds_is_refused(
    learner: Callable[..., RankerLearner],
) -> None:
    questions = golds(lambda gold: replace(gold, evidence=("nowhere",)))
    with pytest.raises(RunError, match="nothing to learn from"):
        learner()(DEFAULT, questions)


def test_evidence_may_name_an_episode(
    learner: Callable[..., RankerLearner], shown: list[Example]
) -> None:
    (door, *_) = of_kind("door")
    learner()(DEFAULT, [replace(door, gold=Gold(evidence=("bakery:1",)))])
    assert shown[0].target.sum() == 3


# -- from which memory


def test_candidates_come_from_the_questions_own_group(
    learner: Callable[..., RankerLearner], shown: list[Example]
) -> None:
    learner()(DEFAULT, TASK.questions)
    assert {len(e.target) for e in shown} <= set(range(2, 7))  # a group has six turns


def test_shared_memory_holds_the_training_groups(
    words: StaticEmbedder, shown: list[Example]
) -> None:
    task = replace(TASK, regime=Regime.SHARED)
    training = ("bakery", "library")
    questions = [q for q in task.questions if q.group in training]
    with MemoryPool() as memories:
        learn = RankerLearner(task, training, ScriptedAgent(), HashingEmbedder(), words, memories)
        learn(DEFAULT, questions)
        assert len(memories) == 1
    assert max(len(e.target) for e in shown) == 12
    assert sum(e.target.sum() for e in shown) == 8


def test_the_candidates_are_those_of_the_configuration(
    learner: Callable[..., RankerLearner], shown: list[Example]
) -> None:
    learn = learner()
    learn(DEFAULT, of_kind("tools"))
    wide = sum(len(e.target) for e in shown)
    narrow = DEFAULT.changed(window_k=0, episode_k=0, dense_k=0, structured_k=0)
    learn(narrow, of_kind("tools"))
    assert sum(len(e.target) for e in shown) < wide


# -- what comes of it


def test_equal_seeds_give_equal_weights(learner: Callable[..., RankerLearner]) -> None:
    first, again = learner(seed=4), learner(seed=4)
    ranker = first(DEFAULT, TASK.questions)
    assert ranker == again(DEFAULT, TASK.questions)
    assert ranker == first(DEFAULT, TASK.questions)
    first(DEFAULT.changed(window=2), TASK.questions)
    assert ranker == first(DEFAULT, TASK.questions)


def test_it_does_not_matter_whether_the_configuration_was_learned_already(
    learner: Callable[..., RankerLearner],
) -> None:
    learn = learner()
    ranker = learn(DEFAULT, TASK.questions)
    learned = DEFAULT.changed(fusion="learned", ranker=ranker)
    assert learn(learned, TASK.questions) == ranker


def test_learned_weights_find_the_evidence_of_questions_they_have_not_seen(
    learner: Callable[..., RankerLearner], words: StaticEmbedder
) -> None:
    """Doors, openings and tools of three places teach where those of the others are told."""
    taught = {"bakery", "greenhouse", "observatory"}
    seen = [q for q in TASK.questions if q.group in taught]
    ranker = learner()(DEFAULT, seen)
    learned = DEFAULT.changed(fusion="learned", ranker=ranker)
    fresh = [q for q in TASK.questions if q.group not in taught and q.gold.evidence]
    untrained = first_place(DEFAULT, fresh, words)
    assert first_place(learned, fresh, words) >= max(untrained, 0.8)


def first_place(
    config: RetrievalConfig, questions: Sequence[LabelledQuestion], words: StaticEmbedder
) -> float:
    """Share of the questions whose first hit is evidence."""
    right = []
    for question in questions:
        harness = BankHarnessFactory(config, HashingEmbedder(), words)()
        for episode in TASK.episodes:
            if episode.group == question.group:
                harness.write(Filled(NO_ITEM), episode)
        hits = harness.read(Filled(QUERY_TEXT, {"query_text": question.question.text})).hits
        assert hits
        right.append(bool(set(hits[0].refs) & set(question.gold.evidence)))
        harness.close()
    return float(np.mean(right))


def test_memories_are_written_once(words: StaticEmbedder) -> None:
    agent = ScriptedAgent()
    with MemoryPool() as memories:
        learn = RankerLearner(TASK, None, agent, HashingEmbedder(), words, memories)
        learn(DEFAULT, TASK.questions)
        learn(DEFAULT.changed(window=2), TASK.questions)
        assert len(memories) == 6
    assert len([step for step, _ in agent.seen if step == "extract"]) == len(TASK.episodes)
    assert {step for step, _ in agent.seen} == {"extract"}


def test_weights_are_fitted_on_what_the_configuration_stores(
    learner: Callable[..., RankerLearner],
) -> None:
    llm = ScriptedLLM(lambda request: '{"facts": []}', name="empty")
    make = learner(models=EngineModels(extract=llm))
    plain = make(DEFAULT, TASK.questions)
    assert llm.requests == []
    make(DEFAULT.changed(decomposition=False), TASK.questions)
    assert llm.requests == []
    both = make(DEFAULT.changed(extraction="both"), TASK.questions)
    assert llm.requests
    assert both.questions == plain.questions


def test_a_budget_that_ends_while_a_memory_is_written_is_heard_of(
    learner: Callable[..., RankerLearner],
) -> None:
    llm = ScriptedLLM([BudgetExhaustedError("calls: 9 of 9 used")], name="spent")
    make = learner(models=EngineModels(extract=llm))
    with pytest.raises(BudgetExhaustedError, match="9 of 9"):
        make(DEFAULT.changed(extraction="both"), TASK.questions)
