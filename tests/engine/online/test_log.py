"""The log of feedback is read back as uses of the memory."""

from __future__ import annotations

from memgene.bank.protocol import Bank
from memgene.engine.credit.interaction import Exposure
from memgene.engine.online import FEEDBACK, LOG, Logged, read_log
from memgene.testing.banks import put


def log(bank: Bank, ids: list[str], reward: float, query: str | None, kind: str = LOG) -> int:
    with bank.lesson(kind):
        bank.touch(ids, reward, query, [1.0, *[0.25] * (len(ids) - 1)])
    return bank.lessons(1)[0].number


def test_each_feedback_is_read_as_it_was_given(bank: Bank) -> None:
    a, b = put(bank, "a", "b")
    first = log(bank, [a, b], 0.5, "one")
    second = log(bank, [b], 1.0, None, FEEDBACK)
    assert read_log(bank) == [
        Logged(first, "one", 0.5, (Exposure(a, 1.0), Exposure(b, 0.25)), applied=False),
        Logged(second, None, 1.0, (Exposure(b, 1.0),), applied=True),
    ]
    assert read_log(bank)[0].used == (a,)


def test_what_was_taken_back_is_not_in_it(bank: Bank) -> None:
    (a,) = put(bank, "a")
    first, _ = log(bank, [a], 0.5, "one"), log(bank, [a], 0.6, "two")
    bank.undo(bank.lessons(1)[0])
    third = log(bank, [a], 0.7, "three")
    assert [one.lesson for one in read_log(bank)] == [first, third]


def test_erased_memories_are_not_in_it(bank: Bank) -> None:
    a, b = put(bank, "a", "b")
    log(bank, [a, b], 0.5, "one")
    log(bank, [a], 0.5, "two")
    bank.delete([a])
    (one,) = read_log(bank)
    assert (one.query, one.exposed, one.used) == ("one", (Exposure(b, 0.25),), ())


def test_other_lessons_and_touches_without_a_lesson_are_not_in_it(bank: Bank) -> None:
    (a,) = put(bank, "a")
    assert read_log(bank) == []
    bank.touch([a], 1.0, "outside")
    with bank.lesson("learn"):
        bank.touch([a], 1.0, "inside of something else")
    number = log(bank, [a], 1.0, "one")
    bank.touch([a], 1.0, "outside")
    assert [one.lesson for one in read_log(bank)] == [number]
