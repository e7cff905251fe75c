"""The two example programs, in the sandbox."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from memgene.agents.offline import OfflineAgent
from memgene.core import Episode, Message, Question
from memgene.embed.hashing import HashingEmbedder
from memgene.harness.program import ProgramHarnessFactory
from memgene.programs.examples import example, example_names
from memgene.programs.gates import check
from memgene.programs.runtime import ProgramRuntime, RunningProgram
from memgene.testing import ScriptedLLM

TASK: dict[str, Any] = {
    "summary": "",
    "task_type": "",
    "target_object": "",
    "target_place": "",
    "required_state": "",
    "action_hint": "",
    "failure_mode": "",
    "keywords": [],
}
DIALOGUE: dict[str, Any] = {
    "summary": "",
    "participants": ["Anna", "Bob"],
    "organizations": [],
    "activities": [],
    "key_facts": [],
    "relation_facts": [],
    "named_entities": [],
}


def trajectory(goal: str, *actions: str, end: str = "The task is solved.") -> str:
    turns = [f"agent: {action}\nenvironment: Done." for action in actions]
    return "\n".join([f"environment: Your task is to: {goal}.", *turns, f"environment: {end}"])


@pytest.fixture(scope="module")
def runtime() -> Iterator[ProgramRuntime]:
    with ProgramRuntime(embedder=HashingEmbedder()) as made:
        yield made


@pytest.fixture
def cache(runtime: ProgramRuntime) -> Iterator[RunningProgram]:
    running = runtime.start(example("action-cache"))
    yield running
    running.close()


@pytest.fixture
def index(runtime: ProgramRuntime) -> Iterator[RunningProgram]:
    running = runtime.start(example("multi-signal"))
    yield running
    running.close()


def test_there_are_two() -> None:
    assert example_names() == ("action-cache", "multi-signal")


@pytest.mark.parametrize("name", example_names())
def test_they_pass_every_gate(name: str, runtime: ProgramRuntime) -> None:
    assert check(example(name), runtime) == ()


@pytest.mark.parametrize("name", example_names())
def test_the_offline_agent_can_use_them(name: str, runtime: ProgramRuntime) -> None:
    harness = ProgramHarnessFactory(example(name), runtime)()
    agent = OfflineAgent()
    text = "Your task is to: put a clean cup in shelf. We keep the cups there."
    episode = Episode("e", (Message(text, speaker="Anna"),), "g")
    harness.write(agent.extract(episode, harness.item_schema, ""), episode)
    question = Question("q", "put a clean cup in shelf", "g")
    query = agent.formulate(question, harness.query_schema, "")
    assert "cup" in harness.read(query).text
    harness.close()


def test_a_sparse_item_is_completed_from_the_text(cache: RunningProgram) -> None:
    text = trajectory(
        "put a clean cup in shelf",
        "go to table 2",
        "take cup 1 from table 2",
        "clean cup 1 with sink 1",
        "put cup 1 in/on shelf 3",
    )
    cache.write(TASK, text)
    assert cache.read({"query_text": "rinse some cup and put it in shelf"}).text == (
        "Task: put a clean cup in shelf\n"
        "Object: cup, place: shelf, state: clean\n"
        "Steps: take cup from table; clean cup with sink; put cup in/on shelf"
    )


def test_what_the_item_says_comes_before_the_text(cache: RunningProgram) -> None:
    told = TASK | {"target_object": "Mug", "required_state": "washed", "action_hint": "wash it"}
    cache.write(told, trajectory("put a cool cup in shelf"))
    text = cache.read({"query_text": "mug"}).text
    assert "Object: mug, place: shelf, state: clean\nSteps: wash it" in text


def test_object_place_and_state_outweigh_each_other_by_six_and_five(cache: RunningProgram) -> None:
    cache.write(TASK, trajectory("put a hot pan in oven"))  # object only: 6 and its words
    cache.write(TASK, trajectory("put a clean cup in shelf"))  # place and state: 10
    text = cache.read({"query_text": "put a clean pan in shelf"}).text
    assert text.index("clean cup") < text.index("hot pan")


def test_later_ones_come_first_among_equals_and_six_are_shown(cache: RunningProgram) -> None:
    for number in range(8):
        cache.write(TASK | {"action_hint": f"way {number}"}, trajectory("put a cup in shelf"))
    text = cache.read({"query_text": "put a cup in shelf"}).text
    shown = [line for line in text.splitlines() if line.startswith("Steps")]
    assert shown == [f"Steps: way {number}" for number in (7, 6, 5, 4, 3, 2)]


def test_steps_of_a_failed_attempt_are_not_shown(cache: RunningProgram) -> None:
    text = trajectory("put a cup in shelf", "take cup 1 from bin 1", end="The task was not solved.")
    cache.write(TASK, text)
    shown = cache.read({"query_text": "put a cup in shelf"}).text
    assert "Failed: it was not solved" in shown
    assert "bin" not in shown


def test_with_a_model_its_advice_is_returned() -> None:
    llm = ScriptedLLM(lambda request: f"1. {len(request.messages)} message, go to the shelf")
    with ProgramRuntime(llm=llm) as runtime:
        run = runtime.start(example("action-cache"))
        run.write(TASK, trajectory("put a cup in shelf"))
        found = run.read({"query_text": "put a cup in shelf"}).text
        assert found == "1. 1 message, go to the shelf"
        run.close()


def test_facts_stand_before_excerpts_each_under_its_date(index: RunningProgram) -> None:
    item = DIALOGUE | {"key_facts": ["Anna owns a plum orchard."]}
    index.write(item, "[8 May 2023, 1:56 pm]\nBob: Nice orchard!\nAnna: Thanks.")
    assert index.read({"query_text": "orchard"}).text == (
        "[8 May 2023] Anna owns a plum orchard.\n[8 May 2023]\nBob: Nice orchard!\nAnna: Thanks."
    )


def test_a_fact_that_repeats_a_line_says_who_spoke(index: RunningProgram) -> None:
    item = DIALOGUE | {"key_facts": ["I sail."]}
    index.write(item, "Anna: I sail. Often.")
    assert index.read({"query_text": "sail"}).text.startswith("Anna: I sail. Often.\n")


def test_at_most_two_excerpts_of_a_dialogue_are_shown(index: RunningProgram) -> None:
    index.write(DIALOGUE, "\n".join(f"Anna: plum {number} " + "tree " * 80 for number in range(5)))
    index.write(DIALOGUE, "Bob: a plum")
    text = index.read({"query_text": "plum tree"}).text
    assert text.count("Anna: plum") == 2
    assert "Bob: a plum" in text


def test_what_the_one_asked_about_said_comes_first(index: RunningProgram) -> None:
    index.write(DIALOGUE, "Bob: I like the sea.")
    index.write(DIALOGUE, "Anna: I like the sea.")
    for person in ("Anna", "Bob"):
        asked = {"query_text": f"What does {person} like?", "person": person}
        text = index.read(asked).text
        assert text.startswith(f"{person}: I like the sea.")
