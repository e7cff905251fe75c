"""Extract → write → read → respond → score through a real model of 135M parameters.

It loops, is cut off and invents. Whatever it says, no episode and no question may be lost and
nothing unfinished adopted; how well it answers is not looked at.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from memgene.agents.llm.agent import AgentSettings, LLMAgent
from memgene.core import Context, Episode, Filled, Instructions, Schema, SchemaField
from memgene.evaluation.case import Case
from memgene.evaluation.measure import measure
from memgene.evaluation.report import HarnessReport
from memgene.harness.bank import BankHarness
from memgene.harness.registry import LoadedModels, make_factory
from memgene.llm.llamacpp import LlamaCppLLM
from memgene.llm.protocol import LLM
from memgene.llm.roles import RoleModels
from memgene.settings import LLMRoles, LLMSettings
from memgene.tasks.task import Task
from memgene.testing import tiny_task

pytestmark = [pytest.mark.slow, pytest.mark.model]

TINY = tiny_task()
SHORT = AgentSettings(attempts=2, answer_tokens=32, record_tokens=96)  # it loops to any limit
METRICS = ("token_f1", "recall@10")
COMMAND = Path(__file__).with_name("smollm_command.py")


def one_group() -> Task:
    """An episode of three messages, and the two questions it answers."""
    return replace(TINY, episodes=TINY.episodes[:1], questions=TINY.questions[:2])


class NotesHarness:
    """Has the agent fill a record for every episode and a query for every question."""

    name = "notes"
    yields_hits = False
    thread_safe = True
    instructions = Instructions("Write what happened.", "Say what to look for.", "Be short.", "")
    item_schema = Schema(
        "Note",
        (
            SchemaField("summary", "str", "what happened, in one sentence"),
            SchemaField("things", "list[str]", "things that are named"),
        ),
    )
    query_schema = Schema("Lookup", (SchemaField("words", "list[str]", "words to look for"),))

    def __init__(self) -> None:
        self.items: list[Filled] = []

    def write(self, item: Filled, episode: Episode) -> None:
        self.items.append(item)

    def read(self, query: Filled) -> Context:
        return Context("\n".join(str(item.values["summary"]) for item in self.items))

    def close(self) -> None:
        pass


@pytest.fixture(scope="module")
def local(smollm2: Path) -> Iterator[LLM]:
    """The model in this process."""
    with closing(LlamaCppLLM("smollm2", context=2048, threads=1)) as llm:
        yield llm


def run(llm: LLM, factory_of: Callable[[RoleModels], Any], cache: Path) -> HarnessReport:
    task = one_group()
    with RoleModels.of({"task": llm}, cache=cache) as models:
        agent = LLMAgent(models.need("task", "this test"), SHORT)
        return measure(task, "real", factory_of(models), agent, metrics=METRICS, max_errors=1.0)


def nothing_is_lost(report: HarnessReport) -> None:
    cases: list[Case] = list(report.cases)
    assert [c.question_id for c in cases] == ["bakery/door", "bakery/opened"]
    for case in cases:
        assert (case.error is None) == ("token_f1" in case.scores), case
        if case.error is not None:
            assert "ReplyError" in case.error or "ModelError" in case.error
            assert case.answer == ""
    assert report.usage.roles["task"].calls > 0


def facts(models: RoleModels) -> Any:
    return make_factory("bank-facts", embedder="hashing", models=LoadedModels(models))


def test_facts_are_extracted_found_and_answered_from(local: LLM, tmp_path: Path) -> None:
    report = run(local, facts, tmp_path / "cache")
    nothing_is_lost(report)
    again = run(local, facts, tmp_path / "cache")
    assert {role: used.fresh for role, used in again.usage.roles.items() if used.fresh} == {}
    assert [(c.answer, c.error, c.scores) for c in again.cases] == [
        (c.answer, c.error, c.scores) for c in report.cases
    ]
    with RoleModels.of({"task": local}, cache=tmp_path / "cache") as models:
        harness: BankHarness = facts(models)()
        with closing(harness):
            for episode in one_group().episodes:
                harness.write(Filled(harness.item_schema), episode)
                assert harness.holds({episode.id}) == {episode.id}, "an episode was lost"
            said = {m.id for e in one_group().episodes for m in e.messages}
            for unit in harness.engine.bank.scan(None):
                assert set(unit.refs) <= said
                assert unit.content.strip()


def test_records_and_queries_are_filled_by_the_agent(local: LLM, tmp_path: Path) -> None:
    nothing_is_lost(run(local, lambda models: NotesHarness, tmp_path / "cache"))


def test_through_a_real_server(smollm2: Path, tmp_path: Path) -> None:
    import xllamacpp

    wanted = xllamacpp.CommonParams()
    wanted.model.path = str(smollm2)
    wanted.n_ctx, wanted.n_parallel = 2048, 1
    wanted.cpuparams.n_threads = wanted.cpuparams_batch.n_threads = 1
    wanted.verbosity = -1
    server = xllamacpp.Server(wanted)
    settings = LLMSettings(
        model="openai/smollm2", base_url=f"{server.listening_address}/v1", api_key="none"
    )
    roles = LLMRoles(task=settings, cache=str(tmp_path / "cache"))
    with RoleModels(roles) as models:
        agent = LLMAgent(models.need("task", "this test"), SHORT)
        report = measure(one_group(), "real", NotesHarness, agent, metrics=METRICS, max_errors=1.0)
    nothing_is_lost(report)
    assert report.usage.roles["task"].tokens_in > 0


def test_through_a_command(smollm2: Path, tmp_path: Path) -> None:
    command = shlex.join([sys.executable, str(COMMAND)])
    roles = LLMRoles(task=LLMSettings(model=f"command:{command}"), cache=str(tmp_path / "cache"))
    with RoleModels(roles) as models:
        agent = LLMAgent(models.need("task", "this test"), SHORT)
        factory = make_factory("bm25", embedder="hashing")
        report = measure(one_group(), "real", factory, agent, metrics=METRICS, max_errors=1.0)
    nothing_is_lost(report)
