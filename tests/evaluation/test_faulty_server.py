"""A server that fails in every known way loses no episode and no question."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest
from pydantic import SecretStr

from memgene.agents.registry import make_agent
from memgene.core import Filled
from memgene.evaluation.executor import ThreadExecutor
from memgene.evaluation.measure import measure
from memgene.evaluation.report import HarnessReport
from memgene.harness.bank import BankHarness
from memgene.harness.registry import LoadedModels, make_factory
from memgene.llm.openai import OpenAILLM
from memgene.llm.retries import Backoff
from memgene.llm.roles import RoleModels
from memgene.testing import FaultyServer, tiny_task
from memgene.testing.llm import Behaviour, answers, closes, half_json, refuses, says, times_out

TASK = tiny_task()
FAULTS: dict[str, Callable[[], Behaviour]] = {
    "time-out": lambda: times_out(3.0),
    "429": lambda: refuses(429, headers={"Retry-After": "0"}),
    "500": lambda: refuses(500),
    "half a JSON": half_json,
    "half a JSON, cut off": lambda: half_json(cut_off=True),
    "closed connection": closes,
    "cut reply": lambda: answers("and on and on", finish="length"),
    "no choices": lambda: says(200, {"choices": []}),
    "empty reply": lambda: answers(""),
}


@dataclass
class Meeting:
    """A model behind a faulty server."""

    server: FaultyServer
    models: RoleModels


@pytest.fixture
def meet() -> Iterator[Callable[..., Meeting]]:
    opened: list[tuple[FaultyServer, OpenAILLM, RoleModels]] = []

    def make(script: list[Behaviour], then: Behaviour, retries: int = 3) -> Meeting:
        server = FaultyServer(script, then)
        llm = OpenAILLM(
            "m",
            base_url=server.url,
            api_key=SecretStr("sk-none"),
            timeout=1.0,
            backoff=Backoff(retries=retries, first=0.001),
        )
        models = RoleModels.of({"task": llm})
        opened.append((server, llm, models))
        return Meeting(server, models)

    yield make
    for server, llm, models in opened:
        models.close()
        llm.close()
        server.close()


def ask_all(meeting: Meeting, workers: int = 6) -> HarnessReport:
    return measure(
        TASK,
        "bm25",
        make_factory("bm25", embedder="hashing"),
        make_agent("llm", meeting.models),
        metrics=("token_f1",),
        executor=ThreadExecutor(workers),
        max_errors=1.0,
    )


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_in_passing_costs_no_question(fault: str, meet: Callable[..., Meeting]) -> None:
    report = ask_all(meet([FAULTS[fault]() for _ in range(2)], answers("bronze")), workers=1)
    assert [case.question_id for case in report.cases] == [q.id for q in TASK.questions]
    assert [case.error for case in report.cases] == [None] * len(TASK.questions)
    assert {case.answer for case in report.cases} == {"bronze"}


def test_faults_among_many_calls_at_once_cost_no_question(meet: Callable[..., Meeting]) -> None:
    passing = ("429", "500", "half a JSON", "closed connection", "no choices")
    script = [FAULTS[name]() for name in passing for _ in range(5)]
    report = ask_all(meet(script, answers("bronze"), retries=30))
    assert [case.question_id for case in report.cases] == [q.id for q in TASK.questions]
    assert [(case.error, case.answer) for case in report.cases] == [(None, "bronze")] * 24


def test_replies_that_stay_cut_are_errors_of_their_question_alone(
    meet: Callable[..., Meeting],
) -> None:
    script = [FAULTS["cut reply"]() for _ in range(3)]
    report = ask_all(meet(script, answers("bronze")), workers=1)
    first, *others = report.cases
    assert "no whole answer in 3 attempts" in str(first.error)
    assert [(case.error, case.answer) for case in others] == [(None, "bronze")] * 23


def test_a_fault_that_stays_is_an_error_of_every_question_not_a_wrong_answer(
    meet: Callable[..., Meeting],
) -> None:
    report = ask_all(meet([], refuses(500), retries=1))
    assert [case.question_id for case in report.cases] == [q.id for q in TASK.questions]
    assert all("respond: ModelError: openai/m" in str(case.error) for case in report.cases)
    assert all(case.scores == {} for case in report.cases)
    assert "token_f1" not in report.metrics or report.metrics["token_f1"].n == 0
    assert report.usage.roles["task"].calls == len(TASK.questions)


@pytest.mark.parametrize("fault", [name for name in FAULTS if name != "time-out"])
def test_an_episode_is_stored_whatever_the_extracting_server_does(
    fault: str, meet: Callable[..., Meeting]
) -> None:
    meeting = meet([], FAULTS[fault](), retries=1)
    factory = make_factory("bank-facts", embedder="hashing", models=LoadedModels(meeting.models))
    harness = factory()
    assert isinstance(harness, BankHarness)
    try:
        for episode in TASK.episodes[:2]:
            harness.write(Filled(harness.item_schema), episode)
        said = {m.id or "" for e in TASK.episodes[:2] for m in e.messages}
        assert set(harness.holds(said)) == said
    finally:
        harness.close()
