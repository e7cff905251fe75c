"""The journal: every event of a run, one JSON line each, in order, durable; and its replay.

A resumed run repeats its decisions from the beginning. While the journal still holds events, each
one it produces must be the one on record (then nothing is written); after the last, new events are
appended. What is expensive (evaluations, fits) looks at `peek` first and takes what is there.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from memgene.core import Clock, RunError, SystemClock
from memgene.evolution.event import Event
from memgene.evolution.events import from_dict

FORMAT = 1
E = TypeVar("E", bound=Event)


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of the journal."""

    seq: int
    time: str
    event: Event


class Journal:
    """Append-only event log of one run. One writer (the run folder's lock sees to it).

    Opening cuts a torn last line, which `kill -9` may leave; `cut_bytes` says how much was cut.
    A damaged line elsewhere is a RunError.
    """

    def __init__(self, path: Path, clock: Clock | None = None) -> None:
        self._path = path
        self._clock = clock or SystemClock()
        existed = path.exists()
        self.cut_bytes = _cut_torn(path) if existed else 0
        recorded = list(read_journal(path)) if existed else []
        self._next_seq = len(recorded)
        self._recorded = [entry for entry in recorded if entry.event.replayed]
        self._position = 0
        self._file = path.open("a", encoding="utf-8")
        if not existed:
            sync_folder(path.parent)

    @property
    def replaying(self) -> bool:
        """Whether recorded events are left to be met again."""
        return self._position < len(self._recorded)

    def peek(self, kind: type[E], **expected: Any) -> E | None:
        """The next recorded event if it is of this kind with these values, else None."""
        if not self.replaying:
            return None
        event = self._recorded[self._position].event
        if isinstance(event, kind) and all(getattr(event, n) == v for n, v in expected.items()):
            return event
        return None

    def emit(self, event: E) -> E:
        """Record an event, or meet it again in replay; returns the event on record.

        Raises RunError when replay goes another way than the record: then code, data or a library
        changed since the run was started.
        """
        if event.replayed and self.replaying:
            entry = self._recorded[self._position]
            if not event.same(entry.event):
                raise RunError(
                    f"{self._path}: the run cannot be continued, event {entry.seq} was\n"
                    f"  {json.dumps(entry.event.to_dict())}\nand would now be\n"
                    f"  {json.dumps(event.to_dict())}\n"
                    "code, data or a library changed since; start a new run folder"
                )
            self._position += 1
            assert isinstance(entry.event, type(event))
            return entry.event
        self._append(event)
        return event

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _append(self, event: Event) -> None:
        line = {
            "format": FORMAT,
            "seq": self._next_seq,
            "time": self._clock.now().isoformat(timespec="milliseconds"),
            **event.to_dict(),
        }
        self._file.write(json.dumps(line, ensure_ascii=False, allow_nan=False) + "\n")
        self._file.flush()
        os.fsync(self._file.fileno())
        self._next_seq += 1


def read_journal(path: Path) -> Iterator[Entry]:
    """The whole lines of a journal, also of a run that is still going on (a torn end is left out).

    Raises RunError naming the line when one is damaged, out of order or of another format.
    """
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise RunError(f"there is no journal at {path}; is this a run folder?") from None
    for number, line in enumerate(data[: _whole(data)].splitlines(), start=1):
        try:
            values = json.loads(line)
            found, seq, time = values.pop("format"), values.pop("seq"), values.pop("time")
        except (ValueError, KeyError, AttributeError) as error:
            raise RunError(f"{path}:{number} is damaged: {error}") from error
        if found != FORMAT:
            raise RunError(f"{path}:{number} has format {found!r}; this version reads {FORMAT}")
        if seq != number - 1:
            raise RunError(f"{path}:{number} has number {seq}, expected {number - 1}")
        yield Entry(seq, time, from_dict(values))


def sync_folder(folder: Path) -> None:
    """Make renames and new names in a folder durable."""
    if os.name == "nt":  # Windows cannot open folders, and renames there are durable by themselves
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _cut_torn(path: Path) -> int:
    data = path.read_bytes()
    whole = _whole(data)
    if whole < len(data):
        with path.open("r+b") as file:
            file.truncate(whole)
            file.flush()
            os.fsync(file.fileno())
    return len(data) - whole


def _whole(data: bytes) -> int:
    """Length of the part made of whole lines: the last line counts only if it ends and parses."""
    end = data.rfind(b"\n") + 1
    start = data.rfind(b"\n", 0, max(end - 1, 0)) + 1
    try:
        if end:
            json.loads(data[start:end])
    except ValueError:
        return start
    return end
