"""A hunk: lines that stand together in the program, and what becomes of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from enum import StrEnum


class Kind(StrEnum):
    """What becomes of a line."""

    KEEP = " "
    DROP = "-"
    ADD = "+"


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a hunk; `raw` is how it was written, mark and all."""

    kind: Kind
    text: str
    raw: str

    @property
    def unspaced(self) -> Line:
        """The line read as if the space that marks a kept line had been left out."""
        return replace(self, text=self.raw) if self.kind is Kind.KEEP else self


@dataclass(frozen=True, slots=True)
class Hunk:
    """Lines in order, the hints above them (`@@ def read`), whether they end the file, and how
    messages call it."""

    lines: tuple[Line, ...]
    name: str
    hints: tuple[str, ...] = ()
    at_end: bool = False

    @property
    def old(self) -> tuple[str, ...]:
        """The lines it expects in the program."""
        return tuple(line.text for line in self.lines if line.kind is not Kind.ADD)

    @property
    def new(self) -> tuple[str, ...]:
        """What stands there afterwards."""
        return tuple(line.text for line in self.lines if line.kind is not Kind.DROP)

    @property
    def changes(self) -> bool:
        """Whether it adds or drops anything."""
        return any(line.kind is not Kind.KEEP for line in self.lines)

    def readings(self) -> tuple[tuple[Hunk, ...], ...]:
        """How it may have been meant, in groups to be tried one after the other: as written or
        with kept lines that lack their leading space; then both without empty lines at the ends."""
        unspaced = replace(self, lines=tuple(line.unspaced for line in self.lines))
        written = (self,) if unspaced == self else (self, unspaced)
        trimmed = tuple(way for way in map(_without_empty_ends, written) if way.old)
        return (written,) if trimmed == written else (written, trimmed)


def replacement(old: Sequence[str], new: Sequence[str], name: str) -> Hunk:
    """The hunk that makes `new` of `old`, lines they share kept."""
    lines: list[Line] = []
    for tag, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag == "equal":
            lines += [Line(Kind.KEEP, text, text) for text in old[a:b]]
            continue
        lines += [Line(Kind.DROP, text, text) for text in old[a:b]]
        lines += [Line(Kind.ADD, text, text) for text in new[c:d]]
    return Hunk(tuple(lines), name)


def _without_empty_ends(hunk: Hunk) -> Hunk:
    """The hunk without kept lines at its ends that are empty."""
    first, last = 0, len(hunk.lines)
    while first < last and _is_empty(hunk.lines[first]):
        first += 1
    while last > first and _is_empty(hunk.lines[last - 1]):
        last -= 1
    return replace(hunk, lines=hunk.lines[first:last])


def _is_empty(line: Line) -> bool:
    return line.kind is Kind.KEEP and not line.text.strip()
