"""What was learned from use can be taken back, and was told in one line a step."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest

from memgene import Memory
from memgene.core import InputError, NotFoundError
from memgene.embed import Embedder

FACTS = (
    "Trains leave from platform two.",
    "The chapel has a painted ceiling.",
    "Maria paints boats in Bergen.",
    "The bicycle stands in the garage.",
)
ASKED = (
    ("When do trains leave?", 0, 1.0),
    ("Who paints boats?", 2, 0.9),
    ("What is in the garage?", 3, 0.0),
    ("Do trains leave today?", 0, 0.4),
)


@pytest.fixture
def filled(memory: Memory) -> Memory:
    for fact in FACTS:
        memory.add(fact, user_id="ann")
    return memory


def ids(memory: Memory, user_id: str = "ann") -> list[str]:
    return [one.id for one in memory.get_all(user_id=user_id)]


def learned(memory: Memory, user_id: str = "ann") -> list[tuple[str, float]]:
    """Every value of every memory, as the bank has them."""
    return [
        (f"{v.unit_id} {v.cluster} {v.exposures}", v.q)
        for v in memory._bank.values(ids(memory, user_id))
    ]


def step(receipt: Any, name: str) -> Any:
    (found,) = [one for one in receipt if one.name == name]
    return found


# -- logging now and learning later
def test_feedback_that_was_only_logged_ends_in_the_same_values(static: Embedder) -> None:
    ended = []
    for at_once in (True, False):
        with Memory(embedder=static) as memory:
            for fact in FACTS:
                memory.add(fact, user_id="ann")
            for query, place, reward in ASKED:
                memory.feedback(ids(memory)[place], reward, query, apply=at_once)
            memory.feedback(memory.search("boats in Bergen", user_id="ann"), 0.2, apply=at_once)
            if not at_once:
                assert learned(memory) == []
            receipt = memory.learn()
            assert step(receipt, "feedback").changed == (0 if at_once else len(ASKED) + 1)
            ended.append((learned(memory), memory._bank.state("clusters")))
    assert ended[0] == ended[1]
    assert ended[0][0]


def test_logged_feedback_is_credited_once(filled: Memory) -> None:
    filled.feedback(ids(filled)[0], 1.0, "trains", apply=False)
    assert step(filled.learn(), "feedback").changed == 1
    assert step(filled.learn(), "feedback").changed == 0
    assert filled.get(ids(filled)[0]).utility == pytest.approx(0.65)
    filled.feedback(ids(filled)[0], 1.0, "trains", apply=False)
    assert step(filled.learn(), "feedback").changed == 1
    assert filled.get(ids(filled)[0]).utility == pytest.approx(0.755)


def test_what_another_bank_credited_counts_for_nothing(filled: Memory, static: Embedder) -> None:
    filled.feedback(ids(filled)[0], 1.0, apply=False)
    filled.learn()
    moved = io.StringIO()
    filled.export(moved)
    moved.seek(0)
    with Memory(embedder=static) as copy:
        copy.import_(moved)
        copy.feedback(ids(copy)[1], 1.0, apply=False)
        assert step(copy.learn(), "feedback").changed == 1
        assert copy.get(ids(copy)[1]).utility == pytest.approx(0.65)
        assert step(copy.learn(), "feedback").changed == 0


def test_a_memory_that_was_erased_meanwhile_teaches_nothing(filled: Memory) -> None:
    first, second, third, _ = ids(filled)
    result = filled.search("trains platform", user_id="ann")
    assert result[0].id == first
    filled.feedback(result, 1.0, apply=False)
    filled.feedback([first, second], 1.0, "chapel", apply=False)
    filled.feedback(first, 1.0, "trains", apply=False)
    filled.delete(first)
    receipt = filled.learn()
    # of the first feedback only memories are left that were merely shown
    assert step(receipt, "feedback").changed == 1
    assert filled.get(second).utility == pytest.approx(0.65)
    assert filled.get(third).utility == 0.5
    assert filled.verify().ok


def test_an_owner_learns_for_themselves(memory: Memory) -> None:
    (ann,) = memory.add("Ann likes pears.", user_id="ann")
    (bob,) = memory.add("Bob likes pears.", user_id="bob")
    memory.feedback(ann.id, 1.0, "pears", user_id="ann", apply=False)
    memory.feedback(bob.id, 1.0, "pears", user_id="bob", apply=False)
    memory.feedback([ann.id, bob.id], 0.0, "pears", apply=False)
    with pytest.raises(NotFoundError):
        memory.feedback(bob.id, 0.0, user_id="ann", apply=False)
    before = learned(memory, "bob")
    receipt = memory.learn(user_id="ann")
    assert memory.get(ann.id).utility == pytest.approx(0.65)
    assert (memory.get(bob.id).utility, learned(memory, "bob")) == (0.5, before)
    assert step(receipt, "feedback").figures["left"] == 2
    assert "owner" in step(receipt, "router").reason
    # what is left comes when it is learned for everyone, or for Bob
    assert step(memory.learn(user_id="bob"), "feedback").changed == 1
    assert memory.get(bob.id).utility == pytest.approx(0.65)
    assert step(memory.learn(), "feedback").changed == 1
    assert memory.get(ann.id).utility == pytest.approx(0.455)
    assert memory.get(bob.id).utility == pytest.approx(0.455)


def test_one_users_feedback_never_moves_anothers_values(memory: Memory) -> None:
    (ann,) = memory.add("Pears are in season.", user_id="ann")
    (bob,) = memory.add("Pears are in season.", user_id="bob")
    before = memory.search("pears", user_id="bob")
    for reward in (1.0, 0.0, 1.0):
        memory.feedback(memory.search("pears", user_id="ann"), reward, user_id="ann")
    memory.learn(user_id="ann", most=1)
    assert learned(memory, "ann")
    assert learned(memory, "bob") == []
    after = memory.search("pears", user_id="bob")
    assert [(hit.id, hit.score) for hit in after] == [(hit.id, hit.score) for hit in before]
    assert memory.get(bob.id).status == "active"
    assert memory.get(ann.id).status == "active"


# -- taking back
@pytest.fixture
def taught(filled: Memory) -> Memory:
    for number, (query, place, reward) in enumerate(ASKED):
        filled.feedback(ids(filled)[place], reward, query, apply=number != 2)
    return filled


def test_undo_takes_back_the_newest_lesson(taught: Memory) -> None:
    first = ids(taught)[0]
    assert taught.get(first).utility == pytest.approx(0.65 + 0.3 * (0.4 - 0.65))
    (undone,) = taught.undo()
    assert (undone.kind, undone.undone) == ("feedback", True)
    assert taught.get(first).utility == pytest.approx(0.65)
    assert [one.kind for one in taught.lessons()] == ["log", "feedback", "feedback"]
    assert [one.undone for one in taught.lessons(undone=True)] == [True, False, False, False]
    assert [e.event for e in taught.history(first)][-1] == "undo"


def test_undo_of_everything_restores_what_was(filled: Memory) -> None:
    def everything() -> str:
        written = io.StringIO()
        filled.export(written)
        return written.getvalue()

    before = everything()
    found = filled.search("trains", user_id="ann")
    for query, place, reward in ASKED:
        filled.feedback(ids(filled)[place], reward, query)
    filled.feedback(ids(filled)[1], 0.3, "chapel", apply=False)
    filled.learn(most=2)
    assert everything() != before
    undone = filled.undo(all=True)
    assert [one.kind for one in undone] == ["learn", "log", *["feedback"] * len(ASKED)]
    assert everything() == before
    again = filled.search("trains", user_id="ann")
    assert [(hit.id, hit.score) for hit in again] == [(hit.id, hit.score) for hit in found]
    assert filled.verify().ok
    with pytest.raises(NotFoundError, match="no lesson"):
        filled.undo()


def test_undo_to_a_lesson_keeps_it(taught: Memory) -> None:
    numbers = [one.number for one in taught.lessons()]
    undone = taught.undo(to=numbers[2])
    assert [one.number for one in undone] == numbers[:2]
    assert [one.number for one in taught.lessons()] == numbers[2:]


def test_undo_of_a_kind_takes_no_other(taught: Memory) -> None:
    with pytest.raises(InputError, match="not learn but feedback"):
        taught.undo("learn")
    assert len(taught.undo("feedback")) == 1
    assert taught.undo("feedback")[0].kind == "log"
    taught.feedback(ids(taught)[1], 1.0, apply=False)
    taught.learn()
    with pytest.raises(InputError, match="not feedback but learn"):
        taught.undo("feedback")
    assert taught.undo("learn")[0].kind == "learn"


def test_learning_can_be_done_again_after_it_was_taken_back(filled: Memory) -> None:
    first = ids(filled)[0]
    filled.feedback(first, 1.0, "trains", apply=False)
    filled.learn()
    once = learned(filled)
    filled.undo()
    assert filled.get(first).utility == 0.5
    assert step(filled.learn(), "feedback").changed == 1
    assert learned(filled) == once


def test_a_lesson_about_a_memory_that_changed_since_stands(taught: Memory) -> None:
    first = ids(taught)[0]
    taught.update(first, text="Trains leave from platform three.")
    before = learned(taught), taught.stats().version
    with pytest.raises(InputError):
        taught.undo(all=True)
    assert (learned(taught), taught.stats().version) == before


# -- the idle lesson as a whole
def test_learn_tells_each_step_and_why_nothing_came_of_it(taught: Memory) -> None:
    heard: list[tuple[int, int, str]] = []
    receipt = taught.learn(progress=lambda done, total, what: heard.append((done, total, what)))
    assert [one.name for one in receipt] == ["feedback", "router", "growth", "links"]
    assert "2 of the 50" in step(receipt, "router").reason
    assert "most=" in step(receipt, "growth").reason
    assert receipt.lesson == taught.lessons()[0].number
    assert list(receipt.model_dump()) == ["results", "lesson"]
    assert all(0 <= done <= total for done, total, _ in heard)
    assert (1, 1, "feedback") in heard


def test_learning_twice_changes_nothing_more(taught: Memory) -> None:
    taught.learn()
    version = taught.stats().version
    assert taught.learn().lesson is None
    assert taught.stats().version == version


def test_a_limit_archives_what_was_never_rewarded_then_the_least_valuable(filled: Memory) -> None:
    good, bad, *others = ids(filled)
    filled.feedback(good, 1.0)
    filled.feedback(bad, 0.0)
    assert step(filled.learn(most=3), "growth").changed == 1
    assert [filled.get(id).status for id in others] == ["archived", "active"]
    assert step(filled.learn(most=1), "growth").changed == 2
    assert [filled.get(id).status for id in (good, bad)] == ["active", "archived"]
    filled.undo("learn")
    assert filled.get(bad).status == "active"


def test_lessons_are_there_after_opening_again(path: Path, static: Embedder) -> None:
    with Memory(path, embedder=static) as memory:
        (added,) = memory.add("fact")
        memory.feedback(added.id, 1.0, "query")
    with Memory(path, embedder=static) as memory:
        assert memory.undo()[0].kind == "feedback"
        assert memory.get(added.id).utility == 0.5
