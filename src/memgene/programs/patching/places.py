"""Where in a program the lines of a hunk stand: exactly, else but for blanks at the ends of lines,
else but for indentation that is off by the same amount everywhere."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

_TAB = 4
Find = Callable[[Sequence[str], Sequence[str]], list["Place"]]


@dataclass(frozen=True, slots=True)
class Place:
    """Where a hunk fits: index of its first line; where the program is indented in another way, by
    how many columns deeper it is than the hunk has it."""

    start: int
    shift: int | None = None


def indented(text: str, shift: int, tabs: bool) -> str | None:
    """A line moved by `shift` columns, with `tabs` or without; None where it does not stand that
    far in. Blank lines stay."""
    body = text.lstrip(" \t")
    if not body:
        return text
    width = _width(text) + shift
    if width < 0:
        return None
    return ("\t" * (width // _TAB) + " " * (width % _TAB) if tabs else " " * width) + body


def exact(source: Sequence[str], wanted: Sequence[str]) -> list[Place]:
    """Where the lines stand as they are."""
    return _equal(source, wanted, str)


def unpadded(source: Sequence[str], wanted: Sequence[str]) -> list[Place]:
    """Where they stand but for blanks at their ends."""
    return _equal(source, wanted, str.rstrip)


def _equal(source: Sequence[str], wanted: Sequence[str], seen: Callable[[str], str]) -> list[Place]:
    there, asked = [seen(line) for line in source], [seen(line) for line in wanted]
    return [Place(start) for start in _starts(there, asked)]


def shifted(source: Sequence[str], wanted: Sequence[str]) -> list[Place]:
    """Where they stand but for indentation that is off by one amount, the same on every line."""
    there, asked = [line.strip() for line in source], [line.strip() for line in wanted]
    found = []
    for start in _starts(there, asked):
        shifts = {
            _width(line) - _width(text)
            for line, text in zip(source[start : start + len(wanted)], wanted, strict=True)
            if text.strip()
        }
        if len(shifts) == 1:
            found.append(Place(start, shifts.pop()))
    return found


def _starts(there: list[str], asked: list[str]) -> list[int]:
    """Where one sequence stands in another."""
    size = len(asked)
    return [
        start
        for start in range(len(there) - size + 1)
        if there[start] == asked[0] and there[start : start + size] == asked
    ]


def _width(text: str) -> int:
    """Columns of indentation; a tab is worth four."""
    body = text.lstrip(" \t")
    return len(text[: len(text) - len(body)].replace("\t", " " * _TAB))


MEASURES: tuple[Find, ...] = (exact, unpadded, shifted)
"""From the strictest to the loosest."""
