"""A program as a harness: what it gets, and what its failures cost."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime
from typing import Any

import pytest

from memgene.agents.offline import OfflineAgent
from memgene.core import Answer, Context, Episode, Filled, Message, ModelError, Question, ReplyError
from memgene.harness.program import ProgramHarness, ProgramHarnessFactory, raw_text_of
from memgene.harness.program_log import (
    KEPT_LINE,
    KEPT_LINES,
    KEPT_MESSAGE,
    KEPT_WRITES,
    UNUSABLE,
    WriteExample,
)
from memgene.programs.program import Program, ProgramLimits
from memgene.programs.runtime import ProgramRuntime
from memgene.sandbox import FailureKind, GuestError
from memgene.testing import ScriptedLLM
from memgene.testing.programs import program_text

MAY = Episode(
    "may",
    (
        Message("I bought a red boat.", "m1", "Anna"),
        Message("Look!", "m2", "Anna", caption="a boat on a lake"),
        Message("(laughter)", "m3"),
    ),
    group="g",
    time=datetime(2023, 5, 8, 13, 56),
)
MAY_TEXT = """\
[8 May 2023, 1:56 pm]
Anna: I bought a red boat.
Anna: Look! (a boat on a lake)
(laughter)"""
Make = Callable[..., tuple[ProgramHarness, ProgramHarnessFactory]]


@pytest.fixture(scope="module")
def runtime() -> Iterator[ProgramRuntime]:
    with ProgramRuntime(limits=ProgramLimits(read_characters=200, call_seconds=0.5)) as made:
        yield made


@pytest.fixture
def make(runtime: ProgramRuntime) -> Iterator[Make]:
    opened: list[ProgramHarness] = []

    def made(**parts: str) -> tuple[ProgramHarness, ProgramHarnessFactory]:
        factory = ProgramHarnessFactory(Program(program_text(**parts)), runtime, "mine")
        opened.append(factory())
        return opened[-1], factory

    yield made
    for harness in opened:
        harness.close()


def write(harness: ProgramHarness, episode: Episode = MAY, **values: Any) -> None:
    harness.write(Filled(harness.item_schema, values), episode)


def read(harness: ProgramHarness, text: str = "which boat") -> Context:
    return harness.read(Filled(harness.query_schema, {"query_text": text}))


def test_the_raw_text_is_date_and_turns() -> None:
    assert raw_text_of(MAY) == MAY_TEXT
    undated = Episode("x", (Message("Hello.", speaker="Bob"),), group="g")
    assert raw_text_of(undated) == "Bob: Hello."


def test_item_and_text_reach_the_program_and_its_text_comes_back(make: Make) -> None:
    harness, _ = make(write="self.kept = item.summary + raw_text", read="return self.kept")
    write(harness, summary="S:")
    assert read(harness) == Context("S:" + MAY_TEXT)


def test_it_says_what_agents_need_to_know(make: Make) -> None:
    harness, _ = make(always_on="Dates matter.")
    assert harness.name == "mine"
    assert harness.instructions.response == "Answer in a few words."
    assert harness.instructions.always_on == "Dates matter."
    assert [f.name for f in harness.item_schema.fields] == ["summary"]
    assert [f.name for f in harness.query_schema.fields] == ["query_text"]
    assert not harness.yields_hits
    assert not harness.thread_safe


def test_the_offline_agent_answers_from_it(make: Make) -> None:
    harness, _ = make(read="return '\\n'.join(self.texts)")
    agent = OfflineAgent()
    write(harness, **agent.extract(MAY, harness.item_schema, "").values)
    colour = Question("q1", "What colour is Anna's boat?", "g")
    when = Question("q2", "When did Anna buy a boat?", "g")

    def answered(question: Question) -> Answer:
        query = agent.formulate(question, harness.query_schema, "")
        return agent.respond(question, harness.read(query), "", query=query)

    assert "red" in answered(colour).text
    assert answered(when).text == "8 May 2023"


def test_a_failed_write_is_recorded_and_writing_goes_on(make: Make) -> None:
    harness, factory = make(write="print('w')\nif item.summary: 1 / 0\nself.texts.append('boat')")
    write(harness, summary="x")
    write(harness)
    assert read(harness) == Context("boat", notes={"failed_writes": 1})
    [violation] = factory.log.violations
    assert (violation.where, violation.kind) == ("write", FailureKind.RAISED)
    assert violation.message == "ZeroDivisionError: division by zero"
    assert "if item.summary: 1 / 0" in violation.detail
    assert (violation.episode, violation.query) == ("may", None)


def test_a_failed_read_is_a_context_that_says_so(make: Make) -> None:
    harness, factory = make(read="return 'x' * 201")
    found = read(harness)
    assert found.text == ""
    assert found.failure is not None
    assert found.failure.startswith("read: read() returned 201 characters")
    assert found.notes == {"violation": "output", "where": "read"}
    [violation] = factory.log.violations
    assert (violation.episode, violation.query) == (None, {"query_text": "which boat"})


def test_after_a_fatal_failure_everything_fails_and_says_why(make: Make) -> None:
    harness, factory = make(write="while True: pass")
    for _ in range(3):
        write(harness)
    found = read(harness)
    assert found.failure is not None
    assert found.failure.startswith("write: ")
    assert found.notes == {"violation": "gone", "where": "write"}
    assert [v.kind for v in factory.log.violations] == [FailureKind.TIME]


def test_a_program_that_cannot_be_loaded_raises_and_is_recorded(runtime: ProgramRuntime) -> None:
    factory = ProgramHarnessFactory(Program("import os"), runtime)
    with pytest.raises(GuestError, match="cannot import 'os'"):
        factory()
    assert [v.where for v in factory.log.violations] == ["load"]


def test_a_failing_model_is_raised_for_the_evaluation_to_count() -> None:
    asks = "return self.toolkit.llm_completion('a')"
    with ProgramRuntime(llm=ScriptedLLM([ModelError("down")])) as runtime:
        factory = ProgramHarnessFactory(Program(program_text(read=asks)), runtime)
        harness = factory()
        with pytest.raises(ModelError, match="down"):
            read(harness)
        assert factory.log.violations == []


def test_what_agents_cannot_use_is_a_failure_of_the_programs_words(make: Make) -> None:
    harness, factory = make()
    cut = ReplyError("the reply was cut off")
    assert harness.unusable("extract", cut, MAY) == "extract: ReplyError: the reply was cut off"
    assert harness.unusable("respond", cut) == "respond: ReplyError: the reply was cut off"
    assert [(v.where, v.kind, v.message, v.episode) for v in factory.log.violations] == [
        ("extract", UNUSABLE, "ReplyError: the reply was cut off", "may"),
        ("respond", UNUSABLE, "ReplyError: the reply was cut off", None),
    ]
    assert read(harness).notes == {"failed_writes": 1}


def test_the_log_goes_by_first_episodes_and_not_by_who_was_quicker(make: Make) -> None:
    harness, factory = make(write="for i in range(90): print(item.summary, i)")
    other = factory()
    april = replace(MAY, id="april")
    for number in range(4):
        memory, episode = ((harness, MAY), (other, april))[number % 2]
        write(memory, episode, summary=f"s{number}")
    other.close()
    assert factory.log.writes == [
        WriteExample("april", MAY_TEXT, {"summary": "s1"}),
        WriteExample("april", MAY_TEXT, {"summary": "s3"}),
        WriteExample("may", MAY_TEXT, {"summary": "s0"}),
    ]
    assert len(factory.log.writes) == KEPT_WRITES
    assert len(factory.log.debug) == KEPT_LINES == 200
    assert factory.log.debug[-1] == "s2 89"
    assert factory.log.debug[0] == "s3 70"


FLOODS = """
self.toolkit.logger.logs = ["x" * 10_000] * 1_000
return type("T" * 100_000, (), {})() if query.query_text == "type" else ""
"""


def test_what_a_program_says_is_kept_in_part_however_much_it_is(make: Make) -> None:
    harness, factory = make(init="self.toolkit = toolkit", read=FLOODS)
    read(harness)
    assert len(factory.log.debug) == KEPT_LINES
    assert {len(line) for line in factory.log.debug} == {KEPT_LINE}
    failed = read(harness, "type").failure
    assert failed is not None
    assert len(failed) == len(factory.log.violations[0].message) == KEPT_MESSAGE
