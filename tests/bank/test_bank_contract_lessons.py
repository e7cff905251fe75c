"""What every backend promises: states, edges that go, values at once, lessons."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime
from threading import Thread

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
from memgene.core import InputError, Scope
from memgene.testing.banks import everything, put

NOON = datetime(2024, 3, 1, 12, tzinfo=UTC)
TINY = EmbedderInfo("tiny", 2)
DENSE, SPARSE, TIME = RelationKind.DENSE, RelationKind.SPARSE, RelationKind.TIME


def newest(bank: Bank) -> Lesson:
    return bank.lessons(1)[0]


class TestRelationsAndValues:
    def test_an_edge_goes_by_its_kind_and_ends(self, bank: Bank) -> None:
        a, b, c = put(bank, "one", "two", "three")
        kept = Relation(DENSE, b, a, 0.5)
        bank.relate([Relation(DENSE, a, b, 0.25), Relation(TIME, a, c), kept])
        gone = [Relation(DENSE, a, b, 9.0), Relation(TIME, a, c), Relation(TIME, a, c)]
        assert bank.unrelate([*gone, Relation(SPARSE, a, b), Relation(DENSE, a, "nobody")]) == 2
        assert bank.relations([a, b, c]) == [kept]
        row = bank.history(a)[-2]
        assert row.event is Event.UNRELATE
        assert row.payload == {"kind": "dense", "target": b, "weight": 0.25}
        assert bank.unrelate(gone) == 0

    def test_the_last_of_two_weights_in_one_batch_stays(self, bank: Bank) -> None:
        a, b = put(bank, "one", "two")
        assert bank.relate([Relation(DENSE, a, b, w) for w in (0.5, 0.5, 0.75)]) == 2
        assert bank.relations([a]) == [Relation(DENSE, a, b, 0.75)]

    def test_the_last_of_two_values_in_one_batch_stays(self, bank: Bank) -> None:
        (a,) = put(bank, MemoryUnit("one", utility=0.25))
        bank.set_values([Value(a, "", 0.5, 1), Value(a, "", 0.5, 1), Value(a, "", 0.75, 2)])
        assert bank.values([a]) == [Value(a, "", 0.75, 2)]
        assert bank.get([a])[0].utility == 0.75
        assert [row.payload for row in bank.history(a)[1:]] == [
            {"cluster": "", "q": 0.5, "exposures": 1},
            {"cluster": "", "q": 0.75, "exposures": 2, "before": {"q": 0.5, "exposures": 1}},
        ]

    def test_all_values_in_order_and_within_a_scope(self, bank: Bank) -> None:
        ann, bo = Scope("ann"), Scope("bo")
        a, b, c = put(
            bank, *(MemoryUnit(t, scope=s) for t, s in zip("abc", (ann, bo, ann), strict=True))
        )
        values = [Value(c, "", 0.5), Value(a, "y", -1.0, 3), Value(a, "x", 2.0), Value(b, "", 1.0)]
        bank.set_values(values)
        bank.set_status([c], UnitStatus.ARCHIVED)
        assert bank.all_values() == [values[2], values[1], values[3], values[0]]
        assert bank.all_values(ann) == [values[2], values[1], values[0]]
        assert bank.all_values(Scope("nobody")) == []


class TestStates:
    def test_a_state_is_kept_replaced_and_dropped(self, bank: Bank) -> None:
        assert bank.state("router") is None
        bank.set_state("router", b"\x00\xff")
        bank.set_state("clusters", b"")
        assert (bank.state("router"), bank.state("clusters")) == (b"\x00\xff", b"")
        assert bank.states() == ["clusters", "router"]
        bank.set_state("router", b"new")
        bank.set_state("clusters", None)
        assert (bank.state("router"), bank.states()) == (b"new", ["router"])
        assert bank.verify() == []

    def test_the_history_keeps_what_was_there_before(self, bank: Bank) -> None:
        bank.set_state("router", b"old")
        bank.set_state("router", b"new")
        rows = bank.history("")
        assert [(row.event, row.unit_id) for row in rows] == [(Event.STATE, "")] * 2
        assert [row.payload for row in rows] == [
            {"name": "router", "before": None},
            {"name": "router", "before": "b2xk"},
        ]

    def test_a_state_counts_as_a_mutation_but_names_no_unit(self, bank: Bank) -> None:
        (a,) = put(bank, "one")
        before = bank.version()
        bank.set_state("router", b"new")
        bank.set_state("router", b"new")
        bank.set_state("unknown", None)
        assert bank.version() == before + 1
        assert bank.changed_since(before) == frozenset()
        assert bank.changed_since(0) == {a}

    @pytest.mark.parametrize("name", ["", "\ud800", "a\x00b"])
    def test_a_state_needs_a_name(self, bank: Bank, name: str) -> None:
        with pytest.raises(InputError, match="needs a name"):
            bank.set_state(name, b"x")
        assert bank.state(name) is None


class TestLessons:
    def test_a_lesson_spans_its_history(self, bank: Bank) -> None:
        a, b = put(bank, "one", "two")
        with bank.lesson("feedback"):
            bank.touch([a, b], 1.0, "which?")
            bank.set_values([Value(a, "", 0.75, 1)])
        put(bank, "three")
        with bank.lesson("learn"):
            bank.set_state("router", b"x")
        first, second = Lesson(1, "feedback", NOON, 3, 5), Lesson(2, "learn", NOON, 7, 7)
        assert bank.lessons() == [second, first]
        assert bank.lessons(1) == [second]
        assert bank.lessons(0) == []

    def test_nothing_is_kept_of_a_lesson_that_changed_nothing(self, bank: Bank) -> None:
        (a,) = put(bank, "one")
        with bank.lesson("feedback"):
            bank.get([a])
            bank.set_status([a], UnitStatus.ACTIVE)
        assert bank.lessons(undone=True) == []
        assert bank.version() == 1

    def test_a_lesson_is_whole_or_not_at_all(self, bank: Bank) -> None:
        (a,) = put(bank, "one")
        before = everything(bank)
        with suppress(ZeroDivisionError), bank.lesson("learn"):
            bank.touch([a], 1.0, None)
            bank.set_state("router", b"x")
            raise ZeroDivisionError
        assert everything(bank) == before
        assert bank.lessons(undone=True) == []
        assert bank.version() == 1

    def test_an_inner_failure_undoes_only_the_inner_part(self, bank: Bank) -> None:
        (a,) = put(bank, "one")
        before = everything(bank)
        with bank.lesson("learn"):
            bank.touch([a], 1.0, None)
            with suppress(ZeroDivisionError), bank.atomic():
                bank.set_state("router", b"x")
                raise ZeroDivisionError
        assert (newest(bank).first, newest(bank).last) == (2, 2)
        assert bank.undo(newest(bank)) == 1
        assert everything(bank) == before

    def test_lessons_do_not_nest_but_may_be_part_of_a_transaction(self, bank: Bank) -> None:
        (a,) = put(bank, "one")
        with bank.atomic():
            for kind in ("feedback", "learn"):
                with bank.lesson(kind):
                    bank.touch([a], 1.0, None)
        with (
            pytest.raises(InputError, match="do not nest"),
            bank.lesson("learn"),
            bank.lesson("feedback"),
        ):
            pass
        assert [lesson.kind for lesson in bank.lessons()] == ["learn", "feedback"]
        assert bank.get([a])[0].access_count == 2

    @pytest.mark.parametrize("kind", ["", "\ud800"])
    def test_a_lesson_says_what_taught(self, bank: Bank, kind: str) -> None:
        with pytest.raises(InputError, match="kind"), bank.lesson(kind):
            pass

    def test_a_lesson_refuses_what_cannot_be_taken_back(self, bank: Bank) -> None:
        bank.set_embedder(TINY)
        (a,) = put(bank, "one")
        with pytest.raises(InputError, match="archive the units"), bank.lesson("learn"):
            bank.delete([a])
        with pytest.raises(InputError, match="re-embedding"), bank.lesson("learn"):
            bank.replace_vectors(EmbedderInfo("other", 1), [a], np.ones((1, 1), np.float32))
        assert (bank.lessons(), bank.embedder()) == ([], TINY)
        assert bank.existing([a]) == {a}

    def test_threads_give_lessons_one_after_the_other(self, bank: Bank) -> None:
        ids = put(bank, *(f"fact {n}" for n in range(4)))
        before = everything(bank)

        def teach(unit_id: str) -> None:
            for n in range(10):
                with bank.lesson("feedback"):
                    bank.touch([unit_id], 1.0, None)
                    bank.set_values([Value(unit_id, "", n / 20, n)])

        threads = [Thread(target=teach, args=(unit_id,)) for unit_id in ids]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        lessons = bank.lessons()
        assert [lesson.last - lesson.first for lesson in lessons] == [1] * 40
        assert bank.verify() == []
        assert sum(map(bank.undo, lessons)) == 80
        assert everything(bank) == before
