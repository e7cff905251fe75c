"""The journal: durable lines, torn ends, replay."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memgene.core import FixedClock, RunError
from memgene.evolution.event import Event
from memgene.evolution.events import (
    Evaluated,
    Interrupted,
    Promoted,
    Proposed,
    Resumed,
    Stopped,
    from_dict,
)
from memgene.evolution.journal import Journal, read_journal

CLOCK = FixedClock(datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC))
EVALUATED = Evaluated("001", "val", 3, 3, 0.5, 0, "abc", {"task": {"calls": 3.0}}, seconds=1.25)
EVENTS: list[Event] = [
    Proposed(1, "001", "000", "rule", {"window": 2, "per_type.when.context_k": 5}, "why", "d1g"),
    EVALUATED,
    Stopped(1, "rounds", "1 rounds"),
    Promoted("001", False),
]


def write(path: Path, events: list[Event] = EVENTS) -> None:
    journal = Journal(path, CLOCK)
    for event in events:
        journal.emit(event)
    journal.close()


def test_an_event_is_on_the_disk_when_emit_returns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[bytes] = []
    path = tmp_path / "journal.jsonl"
    journal = Journal(path, CLOCK)
    monkeypatch.setattr(os, "fsync", lambda handle: synced.append(path.read_bytes()))
    journal.emit(EVENTS[0])
    assert [line.count(b"\n") for line in synced] == [1]
    journal.close()


def test_every_line_has_format_number_and_time(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    write(path)
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert [line["seq"] for line in lines] == [0, 1, 2, 3]
    assert {line["format"] for line in lines} == {1}
    assert {line["time"] for line in lines} == {"2026-01-02T03:04:05.000+00:00"}
    assert lines[0]["event"] == "proposed"


def test_events_come_back_as_they_were_written(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    write(path)
    assert [entry.event for entry in read_journal(path)] == EVENTS


@settings(max_examples=25, deadline=None)
@given(st.data())
def test_a_file_cut_anywhere_in_its_last_line_is_repaired(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    path = tmp_path_factory.mktemp("torn") / "journal.jsonl"
    write(path)
    whole = path.read_bytes()
    third = len(whole) - len(whole.splitlines(keepends=True)[-1])
    cut = data.draw(st.integers(third, len(whole) - 1))
    path.write_bytes(whole[:cut])
    journal = Journal(path, CLOCK)
    assert journal.cut_bytes == cut - third
    for event in EVENTS:
        journal.emit(event)
    journal.close()
    assert path.read_bytes() == whole


def test_a_last_line_of_rubbish_is_cut(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    write(path)
    whole = path.read_bytes()
    path.write_bytes(whole + b'{"format": 1, "se\x00\x00\n')
    journal = Journal(path, CLOCK)
    journal.close()
    assert path.read_bytes() == whole


def test_damage_before_the_end_is_an_error_that_names_the_line(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    write(path)
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join([lines[0], "rubbish\n", *lines[2:]]))
    with pytest.raises(RunError, match=r"journal\.jsonl:2 is damaged"):
        Journal(path, CLOCK)
    path.write_text("".join([lines[0], *lines[2:]]))
    with pytest.raises(RunError, match="has number 2, expected 1"):
        list(read_journal(path))


def test_another_format_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    path.write_text('{"format": 9, "seq": 0, "time": "", "event": "promoted"}\n')
    with pytest.raises(RunError, match="format 9; this version reads 1"):
        list(read_journal(path))


def test_replay_meets_recorded_events_without_writing_them_again(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    write(path, EVENTS[:2])
    before = path.read_bytes()
    journal = Journal(path, CLOCK)
    assert journal.emit(EVENTS[0]) == EVENTS[0]
    assert journal.peek(Evaluated, candidate="001", split="val") == EVALUATED
    assert journal.peek(Evaluated, candidate="002") is None
    assert journal.peek(Promoted) is None
    journal.emit(EVENTS[1])
    assert not journal.replaying
    assert path.read_bytes() == before
    journal.emit(EVENTS[2])
    journal.close()
    assert [entry.event for entry in read_journal(path)] == EVENTS[:3]


def test_seconds_may_differ_in_replay_and_the_recorded_ones_are_returned(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    write(path, [EVALUATED])
    journal = Journal(path, CLOCK)
    assert journal.emit(replace(EVALUATED, seconds=99.0)).seconds == 1.25
    journal.close()


def test_a_replay_that_goes_another_way_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    write(path, [EVALUATED])
    journal = Journal(path, CLOCK)
    with pytest.raises(RunError, match="event 0 was"):
        journal.emit(replace(EVALUATED, score=0.25))
    journal.close()


def test_marks_of_a_session_are_no_part_of_the_replay(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    write(path, [EVENTS[0], Interrupted(1), Resumed(0, ("numpy was 1, now 2",)), EVENTS[1]])
    journal = Journal(path, CLOCK)
    journal.emit(Resumed())
    journal.emit(EVENTS[0])
    journal.emit(EVENTS[1])
    assert not journal.replaying
    journal.close()
    assert [entry.event.kind for entry in read_journal(path)] == [
        "proposed",
        "interrupted",
        "resumed",
        "evaluated",
        "resumed",
    ]


def test_unknown_events_and_fields_are_refused() -> None:
    with pytest.raises(RunError, match="unknown event 'dream'"):
        from_dict({"event": "dream"})
    with pytest.raises(RunError, match="does not fit this version"):
        from_dict({"event": "promoted", "candidate": "1", "colour": 2})
