"""The public doubles do what their docstrings say."""

from __future__ import annotations

import pytest

from memgene.core import Answer, Context, Filled, Schema, SchemaField, metering
from memgene.harness.protocol import NO_ITEM, QUERY_TEXT
from memgene.tasks.task import Regime
from memgene.testing import FailingHarness, ScriptedAgent, ScriptedHarness, SpyHarness, tiny_task

TASK = tiny_task()
DOOR = TASK.questions[0].question
ITEM = Filled(NO_ITEM)


def query(text: str) -> Filled:
    return Filled(QUERY_TEXT, {"query_text": text})


def test_the_tiny_task_is_as_described() -> None:
    assert len(TASK.groups) == 6
    assert [q.id for q in TASK.questions[:4]] == [
        "bakery/door",
        "bakery/opened",
        "bakery/tools",
        "bakery/sign",
    ]
    assert [q.gold.answers for q in TASK.questions[:4]] == [
        ("bronze",),
        ("4 March 2024",),
        ("kneading trough, flour scale",),
        (),
    ]
    assert TASK.set_apart == {"unanswerable"}
    assert tiny_task(Regime.SHARED).regime is Regime.SHARED
    assert tiny_task() == TASK


def test_evidence_of_the_tiny_task_holds_what_the_answer_needs() -> None:
    told = {m.id: m.text for e in TASK.episodes for m in e.messages}
    for question in TASK.questions:
        if question.gold.category in ("fact", "list"):
            words = " ".join(told[ref] for ref in question.gold.evidence)
            for part in question.gold.answers[0].split(", "):
                assert part in words


def test_an_agent_answers_by_script_and_abstains_without_one() -> None:
    agent = ScriptedAgent({DOOR.id: "bronze"})
    other = TASK.questions[1].question
    with metering() as used:
        assert agent.respond(DOOR, Context(""), "") == Answer("bronze")
        assert agent.respond(other, Context(""), "") == Answer("", abstained=True)
    assert used.usage.roles["task"].calls == 2


def test_an_agent_raises_what_it_is_told_to() -> None:
    agent = ScriptedAgent({DOOR.id: OSError("gone")})
    with pytest.raises(OSError, match="gone"):
        agent.respond(DOOR, Context(""), "")


def test_an_agent_fills_schemas_by_type() -> None:
    types = ("str", "int", "float", "bool", "list[str]", "optional[str]")
    schema = Schema("All", tuple(SchemaField(t, t) for t in types))  # type: ignore[arg-type]
    agent = ScriptedAgent()
    assert dict(agent.formulate(DOOR, schema, "").values) == {
        "str": DOOR.text,
        "int": 0,
        "float": 0.0,
        "bool": False,
        "list[str]": [],
        "optional[str]": None,
    }
    assert agent.seen == [("formulate", DOOR)]
    assert agent.extract(TASK.episodes[0], NO_ITEM, "") == ITEM


def test_a_scripted_harness_ranks_what_was_written() -> None:
    harness = ScriptedHarness({"where": ["bakery:1:3", "library:1:1", "bakery:1:1"]})
    harness.write(ITEM, TASK.episodes[0])
    found = harness.read(query("where"))
    assert found.hits is not None
    assert [hit.refs[0] for hit in found.hits] == ["bakery:1:3", "bakery:1:1"]
    assert found.pool == ("bakery:1:1", "bakery:1:2", "bakery:1:3")
    assert harness.read(query("else")).hits == ()


def test_a_spy_keeps_what_it_was_given_and_passes_it_on() -> None:
    spy = SpyHarness(ScriptedHarness({"where": ["bakery:1:1"]}))
    spy.write(ITEM, TASK.episodes[0])
    assert spy.read(query("where")).shown == 1
    spy.close()
    assert (spy.items, spy.episodes, spy.queries) == ([ITEM], [TASK.episodes[0]], [query("where")])
    assert spy.closed == 1
    assert (spy.name, spy.item_schema, spy.query_schema) == ("scripted", NO_ITEM, QUERY_TEXT)


def test_a_failing_harness_fails_where_it_is_told_to() -> None:
    harness = FailingHarness(OSError("gone"), writes=["bakery:2"], reads=["where"])
    harness.write(ITEM, TASK.episodes[0])
    with pytest.raises(OSError, match="gone"):
        harness.write(ITEM, TASK.episodes[1])
    with pytest.raises(OSError, match="gone"):
        harness.read(query("where"))
    assert harness.read(query("when")).hits == ()
