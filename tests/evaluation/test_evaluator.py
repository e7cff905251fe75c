"""What an evaluation writes, reads, asks, records, and keeps to itself."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection
from dataclasses import replace
from typing import Any

import pytest

from memgene.agents.protocol import Agent
from memgene.core import (
    Answer,
    BudgetExhaustedError,
    Context,
    Episode,
    Filled,
    Gold,
    InputError,
    LabelledQuestion,
    ModelError,
    Question,
    ReplyError,
    RequestRefusedError,
    RunError,
    Schema,
)
from memgene.evaluation import (
    Case,
    EvaluationFailedError,
    Holds,
    MemoryPool,
    SerialExecutor,
    SharedWrites,
    ThreadExecutor,
    evaluate_cases,
    measure,
)
from memgene.harness.baselines.full_context import FullContext
from memgene.harness.baselines.no_memory import NoMemory
from memgene.harness.baselines.recent import Recent
from memgene.harness.protocol import Harness
from memgene.tasks.task import Regime
from memgene.testing import FailingHarness, ScriptedAgent, ScriptedHarness, SpyHarness, tiny_task

TASK = tiny_task()
METRICS = ["token_f1", "recall@1", "recall@2"]
GROUPS = ["bakery", "boathouse", "greenhouse", "library", "observatory", "workshop"]


class Spies:
    """A factory that keeps every harness it made."""

    def __init__(self, make: Callable[[], Harness] = ScriptedHarness) -> None:
        self._make = make
        self.made: list[SpyHarness] = []

    def __call__(self) -> SpyHarness:
        self.made.append(SpyHarness(self._make()))
        return self.made[-1]


def run(
    factory: Callable[[], Harness], agent: ScriptedAgent | None = None, **more: object
) -> list[Case]:
    more.setdefault("metrics", METRICS)
    return evaluate_cases(more.pop("task", TASK), factory, agent or ScriptedAgent(), **more)  # type: ignore[arg-type]


def untimed(cases: list[Case]) -> list[Case]:
    return [replace(case, seconds=0.0, timings={}) for case in cases]


def by_id(cases: list[Case]) -> dict[str, Case]:
    return {case.question_id: case for case in cases}


# -- memories


def test_each_group_has_a_fresh_memory_with_its_own_episodes_in_order() -> None:
    spies = Spies()
    run(spies)
    assert [[e.id for e in spy.episodes] for spy in spies.made] == [
        [f"{group}:1", f"{group}:2"] for group in GROUPS
    ]
    assert [len(spy.queries) for spy in spies.made] == [4] * 6
    assert [spy.closed for spy in spies.made] == [1] * 6


def test_only_groups_that_are_asked_about_are_written() -> None:
    spies = Spies()
    run(spies, questions=[q for q in TASK.questions if q.group == "library"])
    assert [[e.group for e in spy.episodes] for spy in spies.made] == [["library", "library"]]


def test_a_shared_memory_holds_the_training_groups_only() -> None:
    spies = Spies()
    asked = [q for q in TASK.questions if q.group == "workshop"]
    task = tiny_task(Regime.SHARED)
    run(spies, task=task, questions=asked, training=["bakery", "library"])
    assert [[e.id for e in spy.episodes] for spy in spies.made] == [
        ["bakery:1", "bakery:2", "library:1", "library:2"]
    ]
    assert [spy.closed for spy in spies.made] == [1]


def test_a_shared_memory_that_would_hold_what_is_tested_is_refused() -> None:
    with pytest.raises(InputError, match=r"6 groups that are asked about \(bakery, boathouse"):
        run(Spies(), task=tiny_task(Regime.SHARED))


def test_a_cut_shared_task_needs_no_training_groups() -> None:
    spies = Spies()
    whole = tiny_task(Regime.SHARED)
    cut = replace(
        whole,
        episodes=tuple(e for e in whole.episodes if e.group == "bakery"),
        questions=tuple(q for q in whole.questions if q.group == "library"),
    )
    assert len(run(spies, task=cut)) == 4
    assert [e.id for e in spies.made[0].episodes] == ["bakery:1", "bakery:2"]


def test_training_groups_have_no_meaning_where_each_group_has_its_memory() -> None:
    with pytest.raises(InputError, match="training has no meaning"):
        run(Spies(), training=["bakery"])


# -- order and concurrency


@pytest.mark.parametrize("workers", [1, 3, 8])
def test_threads_change_neither_order_nor_content(workers: int) -> None:
    questions = list(reversed(TASK.questions))[::2] + list(TASK.questions)[::2]
    agent = ScriptedAgent.knowing(TASK)
    serial = run(lambda: Recent(2), agent, questions=questions)
    threaded = run(lambda: Recent(2), agent, questions=questions, executor=ThreadExecutor(workers))
    assert [case.question_id for case in serial] == [q.id for q in questions]
    assert untimed(threaded) == untimed(serial)


def test_one_worker_keeps_one_memory_open_at_a_time() -> None:
    spies = Spies()
    open_at_once = []

    def note(done: int, total: int, label: str) -> None:
        open_at_once.append(sum(not spy.closed for spy in spies.made))

    mixed = sorted(TASK.questions, key=lambda q: q.id.split("/")[1])
    run(spies, questions=mixed, executor=SerialExecutor(), progress=note)
    assert len(spies.made) == 6
    assert max(open_at_once) == 1


def test_progress_counts_questions() -> None:
    seen: list[tuple[int, int, str]] = []
    run(Spies(), progress=lambda *step: seen.append(step), label="recent")
    assert seen == [(done, 24, "recent") for done in range(1, 25)]


# -- what travels


def test_gold_reaches_neither_harness_nor_agent() -> None:
    marked = replace(
        TASK,
        questions=tuple(
            LabelledQuestion(
                q.question,
                Gold(
                    answers=("GOLD answer",),
                    evidence=("GOLD evidence",),
                    category="GOLD category",
                    metadata={"GOLD": "GOLD"},
                    unusable="GOLD reason",
                ),
            )
            for q in TASK.questions
        ),
    )
    spies, agent = Spies(), ScriptedAgent()
    cases = run(spies, agent, task=marked)
    assert {case.gold for case in cases} == {("GOLD answer",)}
    assert {type(given) for step, given in agent.seen if step == "formulate"} == {Question}
    given = [agent.seen, *([spy.items, spy.episodes, spy.queries] for spy in spies.made)]
    assert len(agent.seen) == 12 + 24 + 24
    assert "GOLD" not in repr(given)


def test_questions_of_one_memory_are_read_one_at_a_time() -> None:
    inside: list[int] = []

    class Counting(ScriptedHarness):
        busy = 0

        def read(self, query: Filled) -> object:  # type: ignore[override]
            type(self).busy += 1
            inside.append(type(self).busy)
            context = super().read(query)
            type(self).busy -= 1
            return context

    task = tiny_task(Regime.SHARED)
    run(Counting, task=task, training=["bakery"], executor=ThreadExecutor(8))
    assert inside == [1] * 24


class Numbering(ScriptedHarness):
    """Tells how often it was read before."""

    yields_hits = False

    def __init__(self) -> None:
        super().__init__()
        self.count = 0

    def read(self, query: Filled) -> Context:
        self.count += 1
        return Context(f"read {self.count}")


def test_a_memory_that_reading_changes_is_read_in_the_order_of_the_questions() -> None:
    ready = threading.Barrier(4, timeout=10)

    class Reversed(ScriptedAgent):
        """Is done with the queries of a group in reverse order."""

        def __init__(self) -> None:
            super().__init__()
            self.done = [threading.Event() for _ in range(5)]
            self.done[4].set()

        def formulate(self, question: Question, schema: Schema, instruction: str) -> Filled:
            place = [q.id for q in asked].index(question.id)
            ready.wait()
            assert self.done[place + 1].wait(10)
            self.done[place].set()
            return super().formulate(question, schema, instruction)

    asked = TASK.questions[:4]
    cases = run(Numbering, Reversed(), questions=asked, executor=ThreadExecutor(4))
    assert [case.context for case in cases] == ["read 1", "read 2", "read 3", "read 4"]


def test_a_question_that_fails_before_it_reads_holds_nobody_up() -> None:
    class Mute(ScriptedAgent):
        def formulate(self, question: Question, schema: Schema, instruction: str) -> Filled:
            if question.id == TASK.questions[0].id:
                raise ModelError("no reply")
            return super().formulate(question, schema, instruction)

    cases = run(Numbering, Mute(), executor=ThreadExecutor(4))
    assert cases[0].error == "formulate: ModelError: no reply"
    assert [case.context for case in cases[1:4]] == ["read 1", "read 2", "read 3"]


# -- what a case records


def test_a_case_holds_the_whole_trace() -> None:
    text = "Which tools does the bakery have or need?"
    harness = ScriptedHarness({text: ["bakery:2:3", "bakery:1:1", "bakery:2:1"]})
    agent = ScriptedAgent({"bakery/tools": "kneading trough"})
    case = by_id(run(lambda: harness, agent, questions=TASK.questions[:4], trace_hits=2))[
        "bakery/tools"
    ]
    assert (case.group, case.category, case.question) == ("bakery", "list", text)
    assert case.gold == ("kneading trough, flour scale",)
    assert case.evidence == ("bakery:2:1", "bakery:2:3")
    assert case.query == {"query_text": text}
    assert case.context.splitlines()[0] == (
        "[3 April 2024] user: Next I want to buy a flour scale."
    )
    assert case.shown == 3
    assert case.hits is not None
    assert [hit.refs for hit in case.hits] == [("bakery:2:3",), ("bakery:1:1",)]
    assert [(hit.score, hit.source) for hit in case.hits] == [(1.0, "bakery:2"), (0.5, "bakery:1")]
    assert (case.answer, case.abstained, case.error) == ("kneading trough", False, None)
    assert list(case.timings) == ["formulate", "read", "respond", "score"]
    assert case.seconds == pytest.approx(sum(case.timings.values()))
    assert case.question_type == "list"


def test_a_very_long_context_is_recorded_in_part_but_scored_whole() -> None:
    first = TASK.episodes[0]
    long = replace(first, messages=(replace(first.messages[0], text="x" * 20_000), *first.messages))
    task = replace(TASK, episodes=(long,), questions=TASK.questions[:1])
    [case] = run(FullContext, task=task)
    # 21 before the 20,000, then three lines: 55, 77 and 43 with their line breaks.
    assert case.context.endswith("\n[196 more characters]")
    assert case.scores["evidence_in_text"] == 1.0


def test_scores_by_hand_and_recall_on_the_ranking_before_the_cut() -> None:
    text = "Which tools does the bakery have or need?"
    harness = ScriptedHarness({text: ["bakery:2:3", "bakery:1:1", "bakery:2:1"]})
    agent = ScriptedAgent({"bakery/tools": "kneading trough"})
    [case] = run(
        lambda: harness,
        agent,
        questions=[TASK.questions[2]],
        trace_hits=1,
        metrics=["token_f1", "recall@1", "recall@2", "recall@3", "mrr"],
    )
    # Two of the answer's two words are right, of the gold's four: F1 = 2·2 / (2 + 4).
    assert case.scores == {
        "token_f1": pytest.approx(2 / 3),
        "recall@1": 0.5,
        "recall@2": 0.5,
        "recall@3": 1.0,
        "mrr": 1.0,
        "evidence_in_text": 1.0,
    }


def test_every_context_has_evidence_in_its_text_and_rankings_have_recall_beside_it() -> None:
    [case] = run(NoMemory, questions=[TASK.questions[0]])
    assert case.hits is None
    assert case.scores == {"token_f1": 0.0, "evidence_in_text": 0.0}
    [ranked] = run(lambda: Recent(2), questions=[TASK.questions[0]])
    expected = {"token_f1": 0.0, "recall@1": 0.0, "recall@2": 0.0, "evidence_in_text": 0.0}
    assert ranked.scores == expected


def test_an_unusable_question_misses_ranking_metrics_only() -> None:
    first = TASK.questions[0]
    spoilt = LabelledQuestion(first.question, replace(first.gold, unusable="no such turn"))
    [case] = run(lambda: Recent(2), ScriptedAgent.knowing(TASK), questions=[spoilt])
    assert case.excluded == "no such turn"
    assert case.scores == {"token_f1": 1.0}
    assert (case.bank_evidence, case.pool_evidence) == (None, None)


def test_evidence_shares_tell_where_a_failure_began() -> None:
    cases = by_id(run(lambda: Recent(2), questions=TASK.questions[:4]))
    # Recent(2) considers 2:2 and 2:3 only; everything was written.
    assert (cases["bakery/tools"].bank_evidence, cases["bakery/tools"].pool_evidence) == (1.0, 0.5)
    assert (cases["bakery/door"].bank_evidence, cases["bakery/door"].pool_evidence) == (1.0, 0.0)
    assert (cases["bakery/sign"].bank_evidence, cases["bakery/sign"].pool_evidence) == (None, None)


def test_evidence_may_name_episodes() -> None:
    first = TASK.questions[0]
    whole = LabelledQuestion(first.question, replace(first.gold, evidence=("bakery:1", "bakery:2")))
    [case] = run(lambda: Recent(2), questions=[whole])
    assert (case.bank_evidence, case.pool_evidence) == (1.0, 0.5)
    assert case.scores["recall@1"] == 0.5


def test_a_harness_may_say_what_it_stored() -> None:
    class Forgetful(ScriptedHarness):
        def holds(self, refs: Collection[str]) -> Collection[str]:
            return {ref for ref in refs if ref != "bakery:2:3"}

    assert isinstance(Forgetful(), Holds)
    cases = by_id(run(Forgetful, questions=TASK.questions[:4]))
    assert cases["bakery/tools"].bank_evidence == 0.5
    assert cases["bakery/door"].bank_evidence == 1.0


# -- errors


def test_an_error_is_recorded_and_is_not_a_score() -> None:
    text = TASK.questions[0].question.text
    cases = by_id(run(lambda: FailingHarness(OSError("disk gone"), reads=[text])))
    failed = cases.pop("bakery/door")
    assert failed.error == "read: OSError: disk gone"
    assert failed.scores == {}
    assert failed.query == {"query_text": text}
    assert all(case.error is None and case.scores for case in cases.values())


class Broken(ScriptedHarness):
    """A memory that says of every read that it broke."""

    yields_hits = False

    def read(self, query: Filled) -> Context:
        return Context("", failure="read: KeyError: 'who'")


def test_a_memory_that_breaks_scores_zero_and_nobody_is_asked() -> None:
    agent = ScriptedAgent()
    cases = run(Broken, agent)
    assert len(cases) == len(TASK.questions)
    assert {case.failure for case in cases} == {"read: KeyError: 'who'"}
    assert all(case.error is None and case.answer == "" for case in cases)
    usable = next(case for case in cases if case.evidence and not case.excluded)
    assert usable.scores == {"token_f1": 0.0, "evidence_in_text": 0.0}
    assert "respond" not in {step for step, _ in agent.seen}
    fine = run(ScriptedHarness)[0]
    assert fine.failure is None


class Inventive(ScriptedHarness):
    """Asks agents in its own words; keeps what came to nothing under them."""

    yields_hits = False

    def __init__(self) -> None:
        super().__init__()
        self.noted: list[tuple[str, str, str | None]] = []
        self.written: list[str] = []

    def write(self, item: Filled, episode: Episode) -> None:
        self.written.append(episode.id)

    def unusable(self, step: str, problem: Exception, episode: Episode | None = None) -> str:
        self.noted.append((step, str(problem), episode.id if episode else None))
        return f"{step}: {problem}"


class Clumsy(ScriptedAgent):
    """Comes to nothing at one step, with one question or episode."""

    def __init__(self, step: str, at: str, problem: Exception) -> None:
        super().__init__()
        self._at = (step, at)
        self._problem = problem

    def _try(self, step: str, at: str) -> None:
        if (step, at) == self._at:
            raise self._problem

    def extract(self, episode: Episode, schema: Schema, instruction: str) -> Filled:
        self._try("extract", episode.id)
        return super().extract(episode, schema, instruction)

    def formulate(self, question: Question, schema: Schema, instruction: str) -> Filled:
        self._try("formulate", question.id)
        return super().formulate(question, schema, instruction)

    def respond(self, question: Question, *more: Any, **named: Any) -> Answer:
        self._try("respond", question.id)
        return super().respond(question, *more, **named)


CUT = ReplyError("it was cut off")
LONG = RequestRefusedError("the prompt is too long")


@pytest.mark.parametrize("problem", [CUT, LONG])
@pytest.mark.parametrize("step", ["formulate", "respond"])
def test_what_an_agent_cannot_use_of_a_memorys_own_words_is_the_memorys_failure(
    step: str, problem: Exception
) -> None:
    made: list[Inventive] = []

    def factory() -> Inventive:
        made.append(Inventive())
        return made[-1]

    cases = by_id(run(factory, Clumsy(step, "bakery/door", problem)))
    failed = cases.pop("bakery/door")
    assert failed.failure == f"{step}: {problem}"
    assert failed.error is None
    assert set(failed.scores.values()) == {0.0}
    assert all(case.failure is None for case in cases.values())
    assert [note for memory in made for note in memory.noted] == [(step, str(problem), None)]


def test_an_episode_that_no_item_comes_of_is_not_written_to_such_a_memory() -> None:
    memory = Inventive()
    agent = Clumsy("extract", "bakery:1", CUT)
    run(lambda: memory, agent, questions=TASK.questions[:1])
    assert memory.written == ["bakery:2"]
    assert memory.noted == [("extract", "it was cut off", "bakery:1")]


def test_with_other_memories_it_is_an_error_of_the_agent() -> None:
    cases = by_id(run(Numbering, Clumsy("respond", "bakery/door", CUT)))
    assert cases["bakery/door"].error == "respond: ReplyError: it was cut off"
    with pytest.raises(EvaluationFailedError, match="bakery/door: write: ReplyError"):
        run(Numbering, Clumsy("extract", "bakery:1", CUT))


def test_a_model_that_gives_no_reply_is_nobodys_words() -> None:
    cases = by_id(run(Inventive, Clumsy("respond", "bakery/door", ModelError("down"))))
    assert cases["bakery/door"].error == "respond: ModelError: down"


def test_too_many_errors_end_the_evaluation_and_keep_the_cases() -> None:
    texts = [TASK.questions[0].question.text, TASK.questions[4].question.text]
    with pytest.raises(RunError, match=r"2 of 24 .* bakery/door: read: OSError: gone") as caught:
        run(lambda: FailingHarness(OSError("gone"), reads=texts))
    assert isinstance(caught.value, EvaluationFailedError)
    assert [case.question_id for case in caught.value.cases] == [
        "bakery/door",
        "bakery/opened",
        "bakery/tools",
        "bakery/sign",
        "boathouse/door",
    ]


def test_a_memory_that_cannot_be_written_fails_every_question_of_its_group() -> None:
    def factory() -> Harness:
        return FailingHarness(ValueError("bad item"), writes=["library:2"])

    cases = run(factory, max_errors=0.2)
    failed = [case for case in cases if case.error]
    assert [case.group for case in failed] == ["library"] * 4
    assert {case.error for case in failed} == {"write: ValueError: bad item"}
    with pytest.raises(EvaluationFailedError):
        run(factory)


def test_a_failing_agent_is_an_error_too() -> None:
    agent = ScriptedAgent({"bakery/door": RuntimeError("no reply")})
    cases = by_id(run(Spies(), agent))
    assert cases["bakery/door"].error == "respond: RuntimeError: no reply"


@pytest.mark.parametrize("error", [KeyboardInterrupt(), BudgetExhaustedError("calls")])
@pytest.mark.parametrize("executor", [SerialExecutor(), ThreadExecutor(2)])
def test_interrupts_and_budgets_pass_and_memories_are_closed(
    error: BaseException, executor: SerialExecutor | ThreadExecutor
) -> None:
    spies = Spies()
    with pytest.raises(type(error)):
        run(spies, ScriptedAgent({"boathouse/door": error}), executor=executor, max_errors=1.0)
    assert {spy.closed for spy in spies.made} == {1}


def test_a_budget_that_runs_out_while_writing_passes() -> None:
    def factory() -> Harness:
        return FailingHarness(BudgetExhaustedError("tokens"), writes=["bakery:1"])

    with pytest.raises(BudgetExhaustedError):
        run(factory, max_errors=1.0)


def test_nothing_to_ask_and_unknown_metrics_are_refused() -> None:
    with pytest.raises(InputError, match="no question"):
        run(Spies(), questions=[])
    with pytest.raises(InputError, match="no metric 'recal'"):
        run(Spies(), metrics=["recal"])
    with pytest.raises(InputError, match="at least one metric"):
        run(Spies(), metrics=[])
    with pytest.raises(InputError, match="max_errors"):
        run(Spies(), max_errors=5)


# -- shared writes


class Reader(ScriptedHarness):
    """Reads a list of episodes it does not own."""

    def __init__(self, episodes: list[Episode], events: list[str]) -> None:
        super().__init__()
        self.kept = episodes
        self._events = events

    def write(self, item: Filled, episode: Episode) -> None:
        self._events.append(f"write {episode.id}")
        self.kept.append(episode)

    def close(self) -> None:
        self._events.append("close")


class SharingFactory:
    """Configurations with one write key share what was written."""

    def __init__(self, write_key: str, events: list[str]) -> None:
        self.write_key = write_key
        self._events = events
        self.attached: list[Reader] = []

    def __call__(self) -> Reader:
        return Reader([], self._events)

    def memory(self, harness: Harness) -> object:
        assert isinstance(harness, Reader)
        return harness.kept

    def attach(self, memory: object) -> Reader:
        assert isinstance(memory, list)
        self.attached.append(Reader(memory, []))
        return self.attached[-1]


def writes(events: list[str]) -> list[str]:
    return [event for event in events if event.startswith("write")]


def test_configurations_with_one_write_key_share_one_written_memory() -> None:
    events: list[str] = []
    first, second = SharingFactory("a", events), SharingFactory("a", events)
    assert isinstance(first, SharedWrites)
    with MemoryPool() as pool:
        run(first, memories=pool)
        assert len(writes(events)) == 12
        run(second, memories=pool, executor=ThreadExecutor(4))
        assert len(writes(events)) == 12
        read = sorted([e.id for e in reader.kept] for reader in second.attached)
        assert read == [[f"{group}:1", f"{group}:2"] for group in GROUPS]
        assert len(pool) == 6
        assert "close" not in events
    assert events.count("close") == 6


def test_another_write_key_writes_anew_and_can_be_discarded() -> None:
    events: list[str] = []
    with MemoryPool() as pool:
        run(SharingFactory("a", events), memories=pool)
        run(SharingFactory("b", events), memories=pool)
        assert len(writes(events)) == 24
        pool.discard("a")
        assert (events.count("close"), len(pool)) == (6, 6)
        run(SharingFactory("b", events), memories=pool)
        assert len(writes(events)) == 24


def test_a_memory_asked_for_from_many_threads_is_written_once() -> None:
    written = []

    def write(harness: Harness, agent: Agent) -> None:
        time.sleep(0.02)
        written.append(harness)

    with MemoryPool() as pool:
        factory = SharingFactory("a", [])
        ThreadExecutor(8).map(
            lambda _: pool.open(factory, "same", write, ScriptedAgent()), range(8)
        )
        assert (len(written), len(pool), len(factory.attached)) == (1, 1, 8)


def test_without_a_pool_every_evaluation_writes_its_own() -> None:
    events: list[str] = []
    for _ in range(2):
        run(SharingFactory("a", events))
    assert len(writes(events)) == 24
    assert events.count("close") == 12


def test_a_memory_whose_writing_failed_is_not_kept() -> None:
    class Flaky(SharingFactory):
        broken = True

        def __call__(self) -> Reader:
            if self.broken:
                raise OSError("no space")
            return super().__call__()

    factory = Flaky("a", [])
    with MemoryPool() as pool:
        cases = run(factory, memories=pool, max_errors=1.0)
        assert {case.error for case in cases} == {"write: OSError: no space"}
        factory.broken = False
        assert all(case.error is None for case in run(factory, memories=pool))


def test_each_configuration_is_charged_for_the_memory_it_reads_whoever_wrote_it() -> None:
    def calls(*order: str) -> dict[str, int]:
        agent, used = ScriptedAgent(), {}
        with MemoryPool(apart=True) as pool:
            for name in order:
                factory = SharingFactory("a" if name in ("first", "second") else name, [])
                report = measure(
                    TASK,
                    name,
                    factory,
                    agent,
                    metrics=METRICS,
                    memories=pool,
                    executor=ThreadExecutor(3),
                )
                used[name] = report.usage.roles["task"].calls
        return used

    # 12 episodes extracted, 24 questions formulated and answered.
    alone = {"first": 60, "second": 60, "other": 60}
    assert calls("first", "second", "other") == calls("other", "second", "first") == alone


def test_a_failed_writing_is_charged_too() -> None:
    class Broken(SharingFactory):
        def __call__(self) -> Reader:
            return Unwritable([], self._events)

    class Unwritable(Reader):
        def write(self, item: Filled, episode: Episode) -> None:
            raise OSError("no space")

    with MemoryPool(apart=True) as pool:
        report = measure(
            TASK,
            "broken",
            Broken("a", []),
            ScriptedAgent(),
            metrics=METRICS,
            memories=pool,
            max_errors=1.0,
        )
    assert report.usage.roles["task"].calls == 6  # the first episode of each group
