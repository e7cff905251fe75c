"""What is told of failures on val questions, and what is not."""

from __future__ import annotations

import pytest

from memgene.evolution.programs.discreet import discreet
from memgene.evolution.programs.observed import Broken, Observed
from memgene.harness.program_log import UNUSABLE, ProgramLog, Violation

SOURCE = "first\nsecond = self.rows[query.who]\nthird\n"
SECRET = "Where did Ana hide the kayak?"


def broken(kind: str = "raised", message: str = "", detail: str = "", times: int = 1) -> Broken:
    return Broken("read", kind, message, detail, times)


def trace(line: int | str) -> str:
    return f'  File "program.py", line {line}, in read\n    {SECRET}\nKeyError: {SECRET!r}\n'


def test_a_known_exception_is_named_with_the_line_of_the_program() -> None:
    told = discreet([broken(message=f"KeyError: {SECRET!r}", detail=trace(2), times=4)], SOURCE)
    assert told == "4 times in read: it raised KeyError\n  line 2: second = self.rows[query.who]"


def test_failures_that_differ_in_words_alone_are_one_and_the_most_frequent_come_first() -> None:
    found = [
        broken("time", "killed, for it took more than 60 s"),
        *(broken(message=f"ValueError: {n} {SECRET}", detail=trace(3), times=n) for n in (1, 2)),
    ]
    assert discreet(found, SOURCE) == (
        "3 times in read: it raised ValueError\n  line 3: third\n\n"
        "in read: it took too long and was killed"
    )
    assert discreet([], SOURCE) == ""


@pytest.mark.parametrize(
    "found",
    [
        broken(message=f"{SECRET}: hidden in the name"),
        broken(message=SECRET),
        broken(message="KeyError: x", detail=trace(4)),
        broken(message="KeyError: x", detail=trace(0)),
        broken(message="KeyError: x", detail=trace("9" * 4000)),
        broken(message="KeyError: x", detail=trace(SECRET)),
        broken("output", f"read() must return a str, it returned {SECRET}"),
        broken("ended", f"raised SystemExit: {SECRET}"),
        broken("memory", f"out of memory: {SECRET}"),
        broken(SECRET, SECRET),
    ],
)
def test_nothing_that_a_worker_said_is_repeated(found: Broken) -> None:
    told = discreet([found], SOURCE)
    assert told
    assert "Ana" not in told
    assert "line" not in told


def test_what_was_seen_is_counted_the_most_frequent_first() -> None:
    log = ProgramLog()
    part = log.part()
    for _ in range(2):
        part.failed(Violation("read", "raised", "KeyError: 'a'", "trace"))
    part.failed(Violation("load", "time", "killed"))
    for _ in range(3):
        part.failed(Violation("extract", UNUSABLE, "ReplyError: cut"))
    seen = Observed.of(log)
    assert [(b.where, b.times) for b in seen.broken] == [("extract", 3), ("read", 2), ("load", 1)]
    assert [b.where for b in seen.faults] == ["read", "load"]
    assert Observed.from_json(seen.to_json()) == seen
