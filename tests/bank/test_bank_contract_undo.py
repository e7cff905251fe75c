"""What every backend promises: a lesson that was taken back has left nothing but its history."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest

from memgene.bank import (
    Bank,
    EmbedderInfo,
    Event,
    Lesson,
    MemoryUnit,
    Relation,
    RelationKind,
    UnitStatus,
    Value,
)
from memgene.core import InputError, NotFoundError, Scope, content_hash
from memgene.testing.banks import everything, put

NOON = datetime(2024, 3, 1, 12, tzinfo=UTC)
TINY = EmbedderInfo("tiny", 2)
DENSE, SPARSE, TIME = RelationKind.DENSE, RelationKind.SPARSE, RelationKind.TIME


WORDS = ("tea", "graz", "linz", "東京")


def seen(bank: Bank) -> dict[str, Any]:
    return everything(bank, *WORDS)


def newest(bank: Bank) -> Lesson:
    return bank.lessons(1)[0]


LESSONS: dict[str, Callable[[Bank, list[str]], object]] = {
    "a new unit": lambda bank, ids: bank.add(
        [MemoryUnit("new tea", scope=Scope("new"))], np.array([[7, 8]], np.float32)
    ),
    "a unit handed in again": lambda bank, ids: bank.add(
        [MemoryUnit("I live in Graz", tags=("more",)), MemoryUnit("without a vector")],
        np.array([[7, 8], [9, 1]], np.float32),
    ),
    "another text": lambda bank, ids: bank.update(
        replace(bank.get([ids[1]])[0], content="Linz is nice", topics=("linz",), utility=0.1)
    ),
    "another text and vector": lambda bank, ids: bank.update(
        replace(bank.get([ids[0]])[0], content="Linz"), np.array([7, 8], np.float32)
    ),
    "another owner": lambda bank, ids: bank.update(
        replace(bank.get([ids[1]])[0], scope=Scope("someone"), event_time=None)
    ),
    "feedback": lambda bank, ids: [bank.touch(ids, 0.5, "why"), bank.touch(ids[:1], 1.0, None)],
    "values": lambda bank, ids: bank.set_values(
        [
            *(Value(i, "", n / 10, n) for n, i in enumerate(ids)),
            Value(ids[0], "", 0.9),
            Value(ids[1], "when", 4.0, 2),
            Value(ids[2], "where", 0.5),
        ]
    ),
    "edges": lambda bank, ids: [
        bank.relate([Relation(DENSE, ids[0], ids[1], 0.9), Relation(SPARSE, ids[2], ids[0])]),
        bank.unrelate([Relation(TIME, ids[1], ids[2]), Relation(SPARSE, ids[2], ids[0])]),
        bank.relate([Relation(DENSE, ids[0], ids[1], 0.2)]),
    ],
    "states": lambda bank, ids: [
        bank.set_state("router", b"second"),
        bank.set_state("router", None),
        bank.set_state("clusters", b"new"),
    ],
    "status": lambda bank, ids: [
        bank.set_status(ids[:2], UnitStatus.SUPERSEDED, ids[3]),
        bank.set_status(ids[:1], UnitStatus.ARCHIVED),
        bank.set_status(ids[2:3], UnitStatus.ACTIVE),
    ],
    "a successor": lambda bank, ids: [
        put(bank, MemoryUnit("Lena likes green tea", id="new", supersedes=ids[0])),
        bank.set_status(ids[:1], UnitStatus.SUPERSEDED, "new"),
        bank.relate([Relation(TIME, ids[0], "new"), Relation(DENSE, "new", ids[1])]),
        bank.set_values([Value("new", "", 0.9, 1), Value("new", "when", 0.9, 1)]),
        bank.touch(["new"], 1.0, None),
        bank.update(replace(bank.get(["new"])[0], content="Lena loves tea")),
    ],
    "units that trade texts": lambda bank, ids: [
        bank.update(replace(bank.get([ids[3]])[0], content="for a while")),
        bank.update(replace(bank.get([ids[2]])[0], content="without a vector", metadata={})),
        bank.update(replace(bank.get([ids[3]])[0], content="I live in Graz")),
    ],
    "a text that moves to a new unit": lambda bank, ids: [
        bank.update(replace(bank.get([ids[3]])[0], content="with something else")),
        put(bank, "without a vector"),
    ],
}

CHANGES: dict[str, Callable[[Bank, str], object]] = {
    "feedback": lambda bank, a: bank.touch([a], 1.0, None),
    "value": lambda bank, a: bank.set_values([Value(a, "when", 0.5)]),
    "update": lambda bank, a: bank.update(replace(bank.get([a])[0], tags=("x",))),
    "archive": lambda bank, a: bank.set_status([a], UnitStatus.ARCHIVED),
    "relate": lambda bank, a: bank.relate([Relation(TIME, a, "other")]),
    "reembed": lambda bank, a: bank.replace_vectors(
        EmbedderInfo("other", 1), [a], np.ones((1, 1), np.float32)
    ),
}


class TestUndo:
    @pytest.fixture
    def ids(self, bank: Bank) -> list[str]:
        """Four units with all that can hang on one."""
        bank.set_embedder(TINY)
        units = [
            MemoryUnit("Lena likes tea", scope=Scope("lena"), utility=0.125, topics=("tea",)),
            MemoryUnit("Graz is nice 東京", scope=Scope("lena", "a"), event_time=NOON, speaker="B"),
            MemoryUnit("I live in Graz", metadata={"k": [1, 2.5, None]}, last_accessed=NOON),
        ]
        ids = [r.id for r in bank.add(units, np.array([[1, 2], [3, 4], [5, 6]], np.float32))]
        ids += put(bank, "without a vector")
        bank.relate([Relation(DENSE, ids[0], ids[1], 0.1), Relation(TIME, ids[1], ids[2])])
        bank.set_values([Value(ids[1], "", 0.7, 2), Value(ids[1], "when", -3.0, 1)])
        bank.set_status([ids[2]], UnitStatus.ARCHIVED)
        bank.set_state("router", b"first")
        return ids

    @pytest.mark.parametrize("name", LESSONS)
    def test_everything_is_as_it_was(self, bank: Bank, ids: list[str], name: str) -> None:
        before, version = seen(bank), bank.version()
        with bank.lesson(name):
            LESSONS[name](bank, ids)
        lesson = newest(bank)
        assert seen(bank) != before
        assert bank.undo(lesson) == lesson.last - version
        assert seen(bank) == before
        assert bank.verify() == []

    def test_one_lesson_after_the_other(self, bank: Bank, ids: list[str]) -> None:
        former = []
        for name, teach in LESSONS.items():
            if name.startswith(("units that trade", "a text that moves")):
                continue
            former.append(seen(bank))
            with bank.lesson(name):
                teach(bank, ids)
        for lesson in bank.lessons():
            bank.undo(lesson)
            assert seen(bank) == former.pop()
            assert bank.verify() == []
        assert former == []

    def test_the_history_goes_on(self, bank: Bank, ids: list[str]) -> None:
        a = ids[0]
        with bank.lesson("learn"):
            bank.update(replace(bank.get([a])[0], content="changed"))
            (b,) = put(bank, "new")
            bank.set_state("router", None)
        lesson, version = newest(bank), bank.version()
        assert bank.undo(lesson) == 3
        state, new, old = (bank.history(i)[-1] for i in ("", b, a))
        assert (state.event, old.event, new.event) == (Event.UNDO, Event.UNDO, Event.DELETE)
        assert (state.seq, old.seq) == (version + 1, version + 3)
        assert old.payload == {"lesson": 1, "row": lesson.first}
        assert old.content_hash == content_hash("Lena likes tea")
        assert [(r.event, r.payload) for r in bank.history(b)] == [
            (Event.ADD, None),
            (Event.UNDO, None),
            (Event.DELETE, None),
        ]
        assert bank.changed_since(version) == {a, b}
        assert bank.lessons() == []
        assert bank.lessons(undone=True) == [replace(lesson, undone=True)]

    def test_the_newest_first_and_each_once(self, bank: Bank, ids: list[str]) -> None:
        for n in range(2):
            with bank.lesson("feedback"):
                bank.touch(ids, n, None)
        second, first = bank.lessons()
        with pytest.raises(InputError, match=r"take back lesson 2 \(feedback\) first"):
            bank.undo(first)
        bank.undo(second)
        for lesson in (second, replace(second, undone=True)):
            with pytest.raises(InputError, match="was taken back before"):
                bank.undo(lesson)
        bank.undo(first)

    def test_after_an_undo_learning_goes_on(self, bank: Bank, ids: list[str]) -> None:
        before = seen(bank)
        for _ in range(3):
            with bank.lesson("feedback"):
                bank.touch(ids, 1.0, None)
                bank.set_values([Value(ids[0], "", 1.0, 9)])
            bank.undo(newest(bank))
        assert seen(bank) == before
        assert [(x.number, x.undone) for x in bank.lessons(undone=True)] == [
            (3, True), (2, True), (1, True),
        ]  # fmt: skip

    def test_an_unknown_lesson(self, bank: Bank, ids: list[str]) -> None:
        with bank.lesson("feedback"):
            bank.touch(ids, 1.0, None)
        lesson = newest(bank)
        for other in (replace(lesson, number=7), replace(lesson, last=lesson.last + 1)):
            with pytest.raises(NotFoundError, match="no lesson"):
                bank.undo(other)

    def test_an_undo_is_no_part_of_a_lesson(self, bank: Bank, ids: list[str]) -> None:
        with bank.lesson("feedback"):
            bank.touch(ids, 1.0, None)
        with pytest.raises(InputError, match="a lesson is being given"), bank.lesson("learn"):
            bank.undo(newest(bank))

    @pytest.mark.parametrize("event", CHANGES)
    def test_what_something_else_changed_since_is_not_taken_back(
        self, bank: Bank, ids: list[str], event: str
    ) -> None:
        put(bank, MemoryUnit("any", id="other"))
        with bank.lesson("learn"):
            bank.set_values([Value(ids[0], "", 1.0, 9)])
        CHANGES[event](bank, ids[0])
        after, version = seen(bank), bank.version()
        with pytest.raises(InputError, match=rf"unit {ids[0]} was changed since .*\({event}\)"):
            bank.undo(newest(bank))
        assert (seen(bank), bank.version()) == (after, version)

    def test_a_state_that_was_set_since_is_not_taken_back(self, bank: Bank, ids: list[str]) -> None:
        with bank.lesson("learn"):
            bank.set_state("router", b"learned")
        bank.set_state("another", b"anything")
        bank.set_state("router", b"by hand")
        with pytest.raises(InputError, match="the state 'router' was changed since"):
            bank.undo(newest(bank))
        assert bank.state("router") == b"by hand"

    def test_changes_of_other_units_and_states_stay(self, bank: Bank, ids: list[str]) -> None:
        with bank.lesson("learn"):
            bank.set_values([Value(ids[0], "", 1.0, 9)])
            bank.set_state("router", b"learned")
        bank.touch([ids[1]], 1.0, None)
        bank.set_state("another", b"anything")
        (new,) = put(bank, "new")
        bank.undo(newest(bank))
        assert bank.get([ids[0]])[0].utility == 0.125
        assert bank.get([ids[1]])[0].access_count == 1
        assert (bank.state("router"), bank.state("another")) == (b"first", b"anything")
        assert bank.existing([new]) == {new}
        assert bank.verify() == []

    def test_what_the_lesson_said_before_may_have_been_said_since(
        self, bank: Bank, ids: list[str]
    ) -> None:
        with bank.lesson("learn"):
            bank.update(replace(bank.get([ids[3]])[0], content="with another text"))
        (new,) = put(bank, "without a vector")
        with pytest.raises(InputError, match=f"unit {new}, added since, says what"):
            bank.undo(newest(bank))
        bank.delete([new])
        bank.undo(newest(bank))
        assert bank.get([ids[3]])[0].content == "without a vector"
        assert bank.verify() == []


class TestUndoAndDeletion:
    def test_what_was_deleted_stays_deleted(self, bank: Bank) -> None:
        a, b, c = put(bank, "one", "two", "three")
        bank.relate([Relation(DENSE, c, b, 0.5)])
        before = bank.get([a])
        with bank.lesson("learn"):
            bank.set_values([Value(a, "", 1.0, 1), Value(b, "", 1.0, 1)])
            bank.relate([Relation(TIME, a, b), Relation(TIME, b, a), Relation(DENSE, a, c)])
            bank.unrelate([Relation(DENSE, c, b)])
            (new,) = put(bank, "four")
        bank.delete([b, new])
        assert bank.undo(newest(bank)) == 2
        assert bank.get([a, b, c, new])[:1] == before
        assert bank.existing([a, b, c, new]) == {a, c}
        assert bank.relations([a, c]) == bank.all_values() == []
        assert bank.verify() == []

    def test_a_unit_added_anew_is_another_unit(self, bank: Bank) -> None:
        a, b = put(bank, "one", "two")
        bank.relate([Relation(DENSE, b, a)])
        with bank.lesson("learn"):
            (new,) = put(bank, "three")
            bank.set_values([Value(a, "", 1.0, 1)])
            bank.unrelate([Relation(DENSE, b, a)])
        bank.delete([a, new])
        assert put(bank, "one", "three") == [a, new]
        bank.set_values([Value(a, "", 0.25, 1)])
        after = seen(bank)
        assert bank.undo(newest(bank)) == 0
        assert seen(bank) == after
        assert bank.lessons() == []
        assert bank.verify() == []

    def test_lineage_does_not_come_back_to_a_deleted_unit(self, bank: Bank) -> None:
        old, new, other = put(bank, "one", "two", "three")
        bank.set_status([old], UnitStatus.SUPERSEDED, new)
        with bank.lesson("learn"):
            bank.set_status([old], UnitStatus.SUPERSEDED, other)
        bank.delete([new])
        assert bank.undo(newest(bank)) == 1
        (unit,) = bank.get([old])
        assert (unit.status, unit.superseded_by) == (UnitStatus.SUPERSEDED, None)
        assert bank.verify() == []

    def test_a_lineage_that_deletion_has_mended_counts_as_changed(self, bank: Bank) -> None:
        old, new = put(bank, "one", "two")
        with bank.lesson("learn"):
            bank.set_status([old], UnitStatus.SUPERSEDED, new)
        bank.delete([new])
        with pytest.raises(InputError, match=rf"unit {old} was changed since .*\(update\)"):
            bank.undo(newest(bank))

    def test_units_outside_of_the_lesson_lose_what_led_to_its_units(self, bank: Bank) -> None:
        a, b = put(bank, "one", "two")
        with bank.lesson("learn"):
            (new,) = put(bank, "three")
        bank.set_status([a], UnitStatus.SUPERSEDED, new)
        bank.relate([Relation(TIME, b, new)])
        assert bank.undo(newest(bank)) == 1
        assert bank.get([a])[0].superseded_by is None
        assert bank.relations([b]) == []
        assert bank.verify() == []
